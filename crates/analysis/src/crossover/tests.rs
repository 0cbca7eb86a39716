//! What whole sweeps say.

use super::testing::{gap, letters, point, point_between, points};
use super::*;
use proptest::prelude::*;

/// The runs on these letters ([`points`]), sizes in KiB, each with `!` if its win is claimed.
fn said(letters: &str) -> String {
    let run = |run: &Run| {
        let letter = match run.standing {
            Standing::Wins(Side::A) => 'A',
            Standing::Wins(Side::B) => 'B',
            Standing::Leans(Side::A) => 'a',
            Standing::Leans(Side::B) => 'b',
            Standing::Equivalent => '=',
            Standing::Undecided => '?',
        };
        let claimed = if run.claimed { "!" } else { "" };
        let [from, to] = [run.sizes.from, run.sizes.to].map(|size| size / 1024);
        format!("{letter}{claimed} {from}-{to}")
    };
    let found = crossover(&points(letters));
    found.runs.iter().map(run).collect::<Vec<_>>().join(", ")
}

#[test]
fn the_zone_lies_between_the_runs_of_wins_at_both_ends() {
    assert_eq!(said("AAAaB"), "A! 1-4, a 8-8, B! 16-16");
    assert_eq!(said("BB?=AAA"), "B! 1-2, ? 4-4, = 8-8, A! 16-64");
    assert_eq!(said("AAABBB"), "A! 1-4, B! 8-32");
}

#[test]
fn wins_inside_the_zone_move_neither_of_its_ends() {
    assert_eq!(said("AABABB"), "A! 1-2, B 4-4, A 8-8, B! 16-32");
    let open = crossover(&points("A?AA?B.BB")).open();
    let (from, to) = (1 << 10, 128 << 10);
    assert_eq!(open, Some(SizeRange { from, to }));
}

#[test]
fn a_size_that_says_nothing_is_not_counted_as_a_win() {
    for nothing in [".", "!", "?", "=", "a"] {
        let sweep = format!("AA{nothing}ABB");
        let claims: Vec<_> = crossover(&points(&sweep)).claims().collect();
        let range = |from: u64, to: u64| SizeRange {
            from: from << 10,
            to: to << 10,
        };
        let expected = [(Side::A, range(1, 2)), (Side::B, range(16, 32))];
        assert_eq!(claims, expected, "{sweep}");
    }
}

#[test]
fn where_the_other_side_wins_nowhere_and_both_ends_are_won_every_win_is_claimed() {
    assert_eq!(said("AAAA"), "A! 1-8");
    assert_eq!(said("B"), "B! 1-1");
    assert_eq!(said("AA.A"), "A! 1-2, ? 4-4, A! 8-8");
    assert_eq!(said("AAbA"), "A! 1-2, b 4-4, A! 8-8");
    assert_eq!(said("B?!B"), "B! 1-1, ? 2-4, B! 8-8");
}

#[test]
fn of_a_side_that_is_never_slower_every_win_is_claimed() {
    assert_eq!(said("AAa=="), "A! 1-2, a 4-4, = 8-16");
    assert_eq!(said("A=A"), "A! 1-1, = 2-2, A! 4-4");
    assert_eq!(said("=A="), "= 1-1, A! 2-2, = 4-4");
    assert_eq!(said("==bB"), "= 1-2, b 4-4, B! 8-8");
    // One size in doubt, or one that leans to the other side, and it is not shown.
    for letters in ["AA?==", "AAb=="] {
        let found = crossover(&points(letters));
        assert!(!found.is_never_slower(Side::A));
        assert_eq!(found.open().map(|open| open.from), Some(2 << 10));
    }
    assert_eq!(said("=A?"), "= 1-1, A 2-2, ? 4-4");
}

#[test]
fn what_only_one_end_shows_is_claimed_of_that_end() {
    assert_eq!(said("AA?"), "A! 1-2, ? 4-4");
    assert_eq!(said("AABA?"), "A! 1-2, B 4-4, A 8-8, ? 16-16");
    assert_eq!(said(".BB"), "? 1-1, B! 2-4");
    assert_eq!(said("?ABB"), "? 1-1, A 2-2, B! 4-8");
}

#[test]
fn an_order_that_changes_back_or_an_undecided_sweep_is_no_order() {
    assert_eq!(said("ABA"), "A 1-1, B 2-2, A 4-4");
    assert_eq!(said("AA?BAA"), "A 1-2, ? 4-4, B 8-8, A 16-32");
    assert_eq!(said("?AAAB?"), "? 1-1, A 2-8, B 16-16, ? 32-32");
    assert_eq!(said("...!"), "? 1-8");
    assert_eq!(said(""), "");
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
    let (from, to) = (16, 36);
    assert_eq!(found.winner_at(8), Some(Side::B));
    assert_eq!(found.open(), Some(SizeRange { from, to }));
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
    assert_eq!(agreeing.runs.len(), 1);
    let found = crossover(&[ends[0], won, lost, ends[1]]);
    assert_eq!(found.runs[1].standing, Standing::Undecided);
}

#[test]
fn a_run_is_written_with_its_sizes() {
    let json = serde_json::to_value(crossover(&points("A?"))).unwrap();
    let expected = serde_json::json!({ "runs": [
        { "from": 1024, "to": 1024, "standing": { "wins": "a" }, "claimed": true },
        { "from": 2048, "to": 2048, "standing": "undecided", "claimed": false },
    ] });
    assert_eq!(json, expected);
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
    fn runs_hold_every_size_and_what_is_open_holds_no_claim(letters in letters()) {
        let points = points(&letters);
        let found = crossover(&points);
        for point in &points {
            let within = |range: &SizeRange| (range.from..=range.to).contains(&point.size);
            let inside = |range: &SizeRange| range.from < point.size && point.size < range.to;
            prop_assert!(found.runs.iter().any(|run| within(&run.sizes)), "{found:?}");
            let is_open = found.open().is_some_and(|open| inside(&open));
            prop_assert!(!is_open || found.winner_at(point.size).is_none(), "{found:?}");
        }
    }

    #[test]
    fn both_ends_are_claimed_for_their_winners_unless_the_order_changes_back(letters in letters()) {
        let points = points(&letters);
        let found = crossover(&points);
        if found.claims().next().is_some() {
            for end in [points.first(), points.last()].into_iter().flatten() {
                prop_assert_eq!(found.winner_at(end.size), end.standing().winner());
            }
        }
    }

    #[test]
    fn swapping_the_stores_swaps_the_sides_and_nothing_else(letters in letters()) {
        let points = points(&letters);
        let (found, swapped) = (crossover(&points), crossover(&mirrored(&points)));
        prop_assert_eq!(found.open(), swapped.open());
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
        if before.claims().next().is_some() {
            for point in &whole {
                let claimed = after.winner_at(point.size);
                let claimed_before = before.winner_at(point.size);
                prop_assert!(claimed.is_none() || claimed == claimed_before, "{before:?}, {after:?}");
            }
        }
    }
}
