//! What whole sweeps say.

use super::testing::{gap, letters, point, point_between, points};
use super::*;
use proptest::prelude::*;

/// The runs on these letters ([`points`]).
fn said(letters: &str) -> String {
    said_of(&points(letters))
}

/// The runs, sizes in KiB, each with `!` if its win is claimed.
fn said_of(points: &[SweepPoint]) -> String {
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
    let found = crossover(points);
    found.runs.iter().map(run).collect::<Vec<_>>().join(", ")
}

/// And wins inside the zone move neither of its ends.
#[test]
fn the_zone_lies_between_the_runs_of_wins_at_both_ends() {
    assert_eq!(said("AAAaB"), "A! 1-4, a 8-8, B! 16-16");
    assert_eq!(said("BB?=AAA"), "B! 1-2, ? 4-4, = 8-8, A! 16-64");
    assert_eq!(said("AAABBB"), "A! 1-4, B! 8-32");
    assert_eq!(said("AABABB"), "A! 1-2, B 4-4, A 8-8, B! 16-32");
    let open = crossover(&points("A?AA?B.BB")).open();
    let (from, to) = (1 << 10, 128 << 10);
    assert_eq!(open, Some(SizeRange { from, to }));
}

#[test]
fn a_win_is_claimed_of_all_of_an_order_and_of_ends_and_of_nothing_else() {
    for (sweep, expected) in [
        // A size that says nothing is not counted as a win.
        ("AA.ABB", "A! 1-2, ? 4-4, A 8-8, B! 16-32"),
        ("AA!ABB", "A! 1-2, ? 4-4, A 8-8, B! 16-32"),
        ("AA?ABB", "A! 1-2, ? 4-4, A 8-8, B! 16-32"),
        ("AA=ABB", "A! 1-2, = 4-4, A 8-8, B! 16-32"),
        ("AAaABB", "A! 1-2, a 4-4, A 8-8, B! 16-32"),
        // The other side wins nowhere, and both ends are won.
        ("AAAA", "A! 1-8"),
        ("B", "B! 1-1"),
        ("AA.A", "A! 1-2, ? 4-4, A! 8-8"),
        ("AAbA", "A! 1-2, b 4-4, A! 8-8"),
        ("B?!B", "B! 1-1, ? 2-4, B! 8-8"),
        // One side is never slower.
        ("AAa==", "A! 1-2, a 4-4, = 8-16"),
        ("A=A", "A! 1-1, = 2-2, A! 4-4"),
        ("=A=", "= 1-1, A! 2-2, = 4-4"),
        ("==bB", "= 1-2, b 4-4, B! 8-8"),
        ("=A?", "= 1-1, A 2-2, ? 4-4"),
        // Only one end shows something.
        ("AA?", "A! 1-2, ? 4-4"),
        ("AABA?", "A! 1-2, B 4-4, A 8-8, ? 16-16"),
        (".BB", "? 1-1, B! 2-4"),
        ("?ABB", "? 1-1, A 2-2, B! 4-8"),
        // The order changes back, or nothing is decided.
        ("ABA", "A 1-1, B 2-2, A 4-4"),
        ("AA?BAA", "A 1-2, ? 4-4, B 8-8, A 16-32"),
        ("?AAAB?", "? 1-1, A 2-8, B 16-16, ? 32-32"),
        ("...!", "? 1-8"),
        ("", ""),
    ] {
        assert_eq!(said(sweep), expected, "{sweep}");
    }
    // One size in doubt, or one that leans to the other side, and the order is open.
    for letters in ["AA?==", "AAb=="] {
        let found = crossover(&points(letters));
        assert!(!found.is_never_slower(Side::A));
        assert_eq!(found.open().map(|open| open.from), Some(2 << 10));
    }
}

#[test]
fn the_recorded_sweep_gives_a_zone_that_holds_its_three_roots() {
    // SQL over file with pages of 4096 bytes (METHOD "Crossover"); ends made up.
    let sizes = [8, 16, 20, 24, 28, 32, 36, 64].into_iter();
    let ratios = [0.7, 0.79, 1.04, 1.08, 0.98, 1.05, 1.12, 1.3];
    let points = sizes.zip(ratios).map(|(kb, ratio)| point(kb, ratio));
    let found = crossover(&points.collect::<Vec<_>>());
    let (from, to) = (16, 36);
    assert_eq!(found.winner_at(8), Some(Side::B));
    assert_eq!(found.open(), Some(SizeRange { from, to }));
}

#[test]
fn a_verdict_that_its_interval_does_not_bear_out_is_nobodys_win() {
    // An end at 1 is not beyond it.
    for (verdict, low, high) in [
        (Verdict::Slower, 0.4, 0.6),
        (Verdict::Slower, 1.0, 1.3),
        (Verdict::Faster, 1.5, 2.0),
        (Verdict::Faster, 0.7, 1.0),
        (Verdict::SmallDifference, 0.9, 1.1),
        (Verdict::SmallDifference, 1.0, 1.1),
        (Verdict::SmallDifference, 0.9, 1.0),
    ] {
        for odd in [point_between(4096, low, high), gap(4096)] {
            let odd = SweepPoint { verdict, ..odd };
            assert_eq!(odd.standing(), Standing::Undecided, "{odd:?}");
        }
    }
}

#[test]
fn two_points_of_one_size_must_agree() {
    let ends = [point(1024, 1.5), point(4096, 1.4)];
    for (ratio, said) in [(1.3, "A! 1-4"), (0.7, "A! 1-1, ? 2-2, A! 4-4")] {
        let twice = [point(2048, 1.3), point(2048, ratio)];
        assert_eq!(said_of(&[ends, twice].concat()), said);
    }
}

fn mirrored(point: &SweepPoint) -> SweepPoint {
    SweepPoint {
        estimate: point.estimate.map(|estimate| estimate.inverse()),
        verdict: point.verdict.inverse(),
        ..*point
    }
}

proptest! {
    /// What is open holds no claim, and both ends are claimed unless the order changes back.
    #[test]
    fn a_winner_is_claimed_only_at_sizes_where_the_verdict_says_so(letters in letters()) {
        let points = points(&letters);
        let found = crossover(&points);
        let ends = [points.first(), points.last()].map(|end| end.map(|point| point.size));
        for point in &points {
            let within = |range: &SizeRange| (range.from..=range.to).contains(&point.size);
            let inside = |range: SizeRange| range.from < point.size && point.size < range.to;
            prop_assert!(found.runs.iter().any(|run| within(&run.sizes)), "{found:?}");
            let claimed = found.winner_at(point.size);
            let winner = point.standing().winner();
            prop_assert!(claimed.is_none() || claimed == winner, "{found:?}");
            prop_assert!(claimed.is_none() || !found.open().is_some_and(inside), "{found:?}");
            let must = found.claims().next().is_some() && ends.contains(&Some(point.size));
            prop_assert!(!must || claimed == winner, "{found:?}");
        }
    }

    #[test]
    fn swapping_the_stores_swaps_the_sides_and_nothing_else(letters in letters()) {
        let points = points(&letters);
        let mirror: Vec<_> = points.iter().map(mirrored).collect();
        let (found, swapped) = (crossover(&points), crossover(&mirror));
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
