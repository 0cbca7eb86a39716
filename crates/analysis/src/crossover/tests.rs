//! What whole sweeps say.

use super::testing::{gap, letters, point, point_between, points};
use super::*;
use proptest::prelude::*;

/// The finding on these letters ([`points`]), in short; sizes in KiB.
fn said(letters: &str) -> String {
    let kb = |size: u64| size / 1024;
    let sizes = |findings: &[Finding]| -> Vec<u64> {
        findings.iter().map(|finding| kb(finding.size)).collect()
    };
    match crossover(&points(letters)) {
        Crossover::Zone {
            smaller,
            from,
            low,
            high,
            to,
            between,
        } => format!(
            "{smaller:?} {}-{}, {:?} {}-{}, between {:?}",
            kb(from),
            kb(low),
            smaller.other(),
            kb(high),
            kb(to),
            sizes(&between)
        ),
        Crossover::Throughout { winner, from, to } => {
            format!("{winner:?} throughout {}-{}", kb(from), kb(to))
        }
        Crossover::NeverSlower {
            side,
            from,
            to,
            wins,
        } => {
            let wins: Vec<u64> = wins.into_iter().map(kb).collect();
            format!(
                "{side:?} never slower {}-{}, wins {wins:?}",
                kb(from),
                kb(to)
            )
        }
        Crossover::Equivalent { from, to } => format!("equivalent {}-{}", kb(from), kb(to)),
        Crossover::NobodyWins { from, to, except } => format!(
            "nobody wins {}-{}, equivalent except {:?}",
            kb(from),
            kb(to),
            sizes(&except)
        ),
        Crossover::BothEnds {
            winner,
            from,
            to,
            except,
        } => format!(
            "{winner:?} {}-{} except {:?}",
            kb(from),
            kb(to),
            sizes(&except)
        ),
        Crossover::WinsBelow {
            winner,
            from,
            low,
            to,
            above,
        } => format!(
            "{winner:?} {}-{}, to {} no order: {:?}",
            kb(from),
            kb(low),
            kb(to),
            sizes(&above)
        ),
        Crossover::WinsAbove {
            winner,
            from,
            high,
            to,
            below,
        } => format!(
            "from {} no order: {:?}, {winner:?} {}-{}",
            kb(from),
            sizes(&below),
            kb(high),
            kb(to)
        ),
        Crossover::NoOrder { evidence } => format!("no order: {:?}", sizes(&evidence)),
    }
}

#[test]
fn the_zone_lies_between_the_runs_of_wins_at_both_ends() {
    assert_eq!(said("AAAaB"), "A 1-4, B 16-16, between [8]");
    assert_eq!(said("BB?=AAA"), "B 1-2, A 16-64, between [4, 8]");
    assert_eq!(said("AAABBB"), "A 1-4, B 8-32, between []");
}

#[test]
fn wins_inside_the_zone_move_neither_of_its_ends() {
    assert_eq!(said("AABABB"), "A 1-2, B 16-32, between [4, 8]");
    assert_eq!(
        said("A?AA?B.BB"),
        "A 1-1, B 128-256, between [2, 4, 8, 16, 32, 64]"
    );
}

#[test]
fn a_size_that_says_nothing_is_not_counted_as_a_win() {
    for nothing in [".", "!", "?", "=", "a"] {
        let sweep = format!("AA{nothing}ABB");
        assert_eq!(said(&sweep), "A 1-2, B 16-32, between [4, 8]", "{sweep}");
    }
}

#[test]
fn one_side_wins_throughout_only_if_it_wins_at_every_size() {
    assert_eq!(said("AAAA"), "A throughout 1-8");
    assert_eq!(said("B"), "B throughout 1-1");
    assert_eq!(said("AA.A"), "A 1-8 except [4]");
    assert_eq!(said("AAbA"), "A 1-8 except [4]");
    assert_eq!(said("B?!B"), "B 1-8 except [2, 4]");
}

#[test]
fn a_side_that_wins_leans_or_is_equivalent_everywhere_is_never_slower() {
    assert_eq!(said("AAa=="), "A never slower 1-16, wins [1, 2]");
    assert_eq!(said("A=A"), "A never slower 1-4, wins [1, 4]");
    assert_eq!(said("==bB"), "B never slower 1-8, wins [8]");
    assert_eq!(said("a=a"), "A never slower 1-4, wins []");
    assert_eq!(said("===="), "equivalent 1-8");
    // One size in doubt, or one that leans to the other side, and it is not shown.
    assert_eq!(said("AA?=="), "A 1-2, to 16 no order: [4, 8, 16]");
    assert_eq!(said("AAb=="), "A 1-2, to 16 no order: [4, 8, 16]");
}

#[test]
fn where_nobody_wins_the_sizes_that_are_not_equivalent_are_told() {
    assert_eq!(said("a=b"), "nobody wins 1-4, equivalent except [1, 4]");
    assert_eq!(said("==?="), "nobody wins 1-8, equivalent except [4]");
    assert_eq!(said(".b"), "nobody wins 1-2, equivalent except [1, 2]");
    assert_eq!(said("=A="), "A never slower 1-4, wins [2]");
    assert_eq!(said("=A?"), "no order: [1, 2, 4]");
}

#[test]
fn what_only_one_end_shows_is_said_of_that_end() {
    assert_eq!(said("AA?"), "A 1-2, to 4 no order: [4]");
    assert_eq!(said("AABA?"), "A 1-2, to 16 no order: [4, 8, 16]");
    assert_eq!(said(".BB"), "from 1 no order: [1], B 2-4");
    assert_eq!(said("?ABB"), "from 1 no order: [1, 2], B 4-8");
}

#[test]
fn an_order_that_changes_back_or_an_undecided_sweep_is_no_order() {
    assert_eq!(said("ABA"), "no order: [1, 2, 4]");
    assert_eq!(said("AA?BAA"), "no order: [1, 2, 4, 8, 16, 32]");
    assert_eq!(said("?AAAB?"), "no order: [1, 2, 4, 8, 16, 32]");
    assert_eq!(said("...!"), "no order: [1, 2, 4, 8]");
    assert_eq!(said(""), "no order: []");
}

#[test]
fn the_recorded_sweep_gives_a_zone_that_holds_its_three_roots() {
    // SQL over file with pages of 4096 bytes (METHOD "Crossover"); ends made up.
    let sweep = [
        (8, 0.7),
        (16, 0.79),
        (20, 1.04),
        (24, 1.08),
        (28, 0.98),
        (32, 1.05),
        (36, 1.12),
        (64, 1.3),
    ];
    let found = crossover(&sweep.map(|(kb, ratio)| point(kb, ratio)));
    let Crossover::Zone {
        smaller, low, high, ..
    } = found
    else {
        unreachable!("{found:?}")
    };
    assert_eq!((smaller, low, high), (Side::B, 16, 36));
}

#[test]
fn a_verdict_that_its_interval_does_not_bear_out_is_nobodys_win() {
    let contradictory = |verdict, low, high| SweepPoint {
        verdict,
        ..point_between(4096, low, high)
    };
    // An end at 1 is not beyond it.
    let contradictory = [
        contradictory(Verdict::Slower, 0.4, 0.6),
        contradictory(Verdict::Slower, 1.0, 1.3),
        contradictory(Verdict::Faster, 1.5, 2.0),
        contradictory(Verdict::Faster, 0.7, 1.0),
        contradictory(Verdict::SmallDifference, 0.9, 1.1),
        contradictory(Verdict::SmallDifference, 1.0, 1.1),
        contradictory(Verdict::SmallDifference, 0.9, 1.0),
    ];
    let without = SweepPoint {
        verdict: Verdict::Slower,
        ..gap(4096)
    };
    for odd in contradictory.into_iter().chain([without]) {
        assert_eq!(odd.standing(), Standing::Undecided, "{odd:?}");
    }
}

#[test]
fn two_points_of_one_size_must_agree() {
    let (won, lost) = (point(2048, 1.3), point(2048, 0.7));
    let ends = [point(1024, 1.5), point(4096, 1.4)];
    let agreeing = crossover(&[ends[0], won, won, ends[1]]);
    assert!(matches!(agreeing, Crossover::Throughout { .. }));
    let Crossover::BothEnds { except, .. } = crossover(&[ends[0], won, lost, ends[1]]) else {
        unreachable!()
    };
    assert_eq!(except[0].standing, Standing::Undecided);
}

#[test]
fn a_finding_is_written_with_its_kind() {
    let json = serde_json::to_value(crossover(&points("A?B"))).unwrap();
    let expected = serde_json::json!({
        "kind": "zone", "smaller": "a", "from": 1024, "low": 1024, "high": 4096, "to": 4096,
        "between": [{ "size": 2048, "standing": "undecided" }],
    });
    assert_eq!(json, expected);
    let standing = serde_json::to_value(Standing::Wins(Side::B)).unwrap();
    assert_eq!(standing, serde_json::json!({ "wins": "b" }));
}

fn mirrored(points: &[SweepPoint]) -> Vec<SweepPoint> {
    let mirror = |point: &SweepPoint| SweepPoint {
        estimate: point.estimate.map(|estimate| estimate.inverse()),
        verdict: point.verdict.inverse(),
        ..*point
    };
    points.iter().map(mirror).collect()
}

proptest! {
    #[test]
    fn a_winner_is_claimed_only_at_sizes_where_the_verdict_says_so(letters in letters()) {
        let points = points(&letters);
        let found = crossover(&points);
        for point in &points {
            let claimed = found.winner_at(point.size);
            prop_assert!(claimed.is_none() || claimed == point.standing().winner(), "{found:?}");
        }
    }

    #[test]
    fn beside_stretches_every_size_lies_within_what_they_leave_open(letters in letters()) {
        let points = points(&letters);
        let found = crossover(&points);
        let stretches = found.stretches();
        for point in points.iter().filter(|_| !stretches.is_empty()) {
            let within = |range: &SizeRange| (range.from..=range.to).contains(&point.size);
            let is_open = found.open().is_some_and(|open| within(&open));
            let is_won = stretches.iter().any(|(_, range)| within(range));
            prop_assert!(is_won || is_open, "{found:?}");
            prop_assert_eq!(is_won, found.winner_at(point.size).is_some(), "{:?}", found);
        }
    }

    #[test]
    fn both_ends_are_claimed_for_their_winners_unless_the_order_changes_back(letters in letters()) {
        let points = points(&letters);
        let found = crossover(&points);
        if !matches!(found, Crossover::NoOrder { .. }) {
            for end in [points.first(), points.last()].into_iter().flatten() {
                prop_assert_eq!(found.winner_at(end.size), end.standing().winner());
            }
        }
    }

    #[test]
    fn swapping_the_stores_swaps_the_sides_and_nothing_else(letters in letters()) {
        let points = points(&letters);
        let (found, swapped) = (crossover(&points), crossover(&mirrored(&points)));
        prop_assert_eq!(std::mem::discriminant(&found), std::mem::discriminant(&swapped));
        for point in &points {
            let expected = found.winner_at(point.size).map(Side::other);
            prop_assert_eq!(swapped.winner_at(point.size), expected);
        }
    }

    #[test]
    fn the_order_of_the_points_does_not_matter(
        (sorted, shuffled) in letters().prop_flat_map(|letters| {
            let points = points(&letters);
            (Just(points.clone()), Just(points).prop_shuffle())
        })
    ) {
        prop_assert_eq!(crossover(&sorted), crossover(&shuffled));
    }

    #[test]
    fn losing_a_figure_never_adds_a_claim_of_a_winner(letters in letters(), at in 0..12usize) {
        let whole = points(&letters);
        let mut holed = whole.clone();
        if let Some(point) = holed.get_mut(at) {
            *point = gap(point.size);
        }
        let (before, after) = (crossover(&whole), crossover(&holed));
        // What had no order because the other side won between may have one without that win.
        if !matches!(before, Crossover::NoOrder { .. }) {
            for point in &whole {
                let claimed = after.winner_at(point.size);
                let claimed_before = before.winner_at(point.size);
                prop_assert!(claimed.is_none() || claimed == claimed_before, "{before:?}, {after:?}");
            }
        }
    }
}
