//! When contrasts count as decided, and on which rounds a verdict then rests.

use crate::support::{RULE, block, comparison, contrast, outcome, rounds, run};
use proptest::prelude::*;
use std::ops::Range;
use stowplan_analysis::{
    ContrastOutcome, LOOKS, RatioEstimate, StoppingRule, Verdict, interim, undecided, verdict,
};
use stowplan_model::{Comparison, Contrast, JudgedBefore, Measurement};

/// Times in microseconds per block; `base` and its control take 10 ms.
fn measured(other: f64, number: Range<u32>) -> Vec<Measurement> {
    let times = [("base", 10_000.0), ("again", 10_000.0), ("other", other)];
    rounds(&times, number)
}

/// The only comparison here that has `other` alone, with so many rounds at most.
fn other(max_rounds: u32) -> Comparison {
    let mut comparison = comparison(&["other"]);
    comparison.max_rounds = max_rounds;
    comparison
}

fn open(measurements: &[Measurement]) -> Vec<Contrast> {
    undecided(&other(40), measurements, &RULE)
}

fn found(measurements: &[Measurement]) -> ContrastOutcome {
    outcome(&other(40), measurements).contrasts.remove(0)
}

#[test]
fn a_difference_at_the_edge_of_the_zone_is_measured_up_to_the_cap() {
    // What the run asks for, what the comparison has, rounds with the contrast open, and the first without.
    for (asked, of_comparison, still_open, decided) in [
        (40, 40, [10, 19, 20, 30, 39], 40),
        (15, 40, [10, 11, 12, 13, 14], 15),
        (40, 12, [2, 3, 9, 10, 11], 12),
        (3, 40, [0, 1, 1, 2, 2], 3),
        // A cap above the last look adds none.
        (1000, 1000, [10, 19, 20, 30, 39], 40),
    ] {
        let rule = StoppingRule {
            max_rounds: asked,
            ..RULE
        };
        let open = |n| undecided(&other(of_comparison), &measured(10_500.0, 0..n), &rule).len();
        assert_eq!(still_open.map(open), [1; 5], "{asked}, {of_comparison}");
        assert_eq!(open(decided), 0, "{asked}, {of_comparison}");
    }
    assert_eq!(LOOKS, [10, 20, 40]);
}

#[test]
fn no_look_is_taken_between_the_looks() {
    // At ten rounds not slower beyond doubt, which so early takes more than later; with each further one surer.
    let time = (500..1_500).map(|more| 10_000.0 + f64::from(more));
    let (open_at_ten, decided): (Vec<f64>, Vec<f64>) =
        time.partition(|time| open(&measured(*time, 0..10)).len() == 1);
    // Or the last that is open is not at the edge.
    assert!(!decided.is_empty());
    let time = *open_at_ten.last().unwrap();
    assert_eq!(open(&measured(time, 0..19)).len(), 1);
    assert!(open(&measured(time, 0..20)).is_empty());
}

/// The length of the interval of a ratio at the edge of the zone after so many rounds, of at most `max_rounds`.
fn length(max_rounds: u32, judged: JudgedBefore, rounds: u32) -> f64 {
    let mut comparison = other(max_rounds);
    comparison.judged = judged;
    let found = outcome(&comparison, &measured(10_500.0, 0..rounds));
    let estimate = found.contrasts[0].estimate.unwrap();
    (estimate.high / estimate.low).ln()
}

/// The same of a run that ended after so many rounds and went on.
fn ended(ends: &[u32], rounds: u32) -> f64 {
    let judged = JudgedBefore {
        planned_rounds: None,
        ends: ends.to_vec(),
    };
    length(40, judged, rounds)
}

#[test]
fn little_is_spent_early_and_the_rest_by_whoever_comes_to_an_end() {
    let decides = |max_rounds: u32, time: f64| {
        undecided(&other(max_rounds), &measured(time, 0..10), &RULE).is_empty()
    };
    // Where ten rounds are all there are, they decide at once what they leave open where forty are to come.
    let times = (0..100).map(|part| 10_500.0 + f64::from(part));
    assert!(times.clone().all(|time| decides(10, time)));
    let open = times.filter(|time| !decides(40, *time)).count();
    assert!(open > 10, "{open}");
    let alone = length(10, JudgedBefore::default(), 10);
    for rounds in [10, 14] {
        // No other look follows a run that ends here.
        let ended = ended(&[], rounds);
        assert!(ended < 1.1 * alone, "{rounds}: {ended}, {alone}");
    }
}

#[test]
fn whoever_looks_more_often_than_planned_pays_for_it() {
    let raised = JudgedBefore {
        planned_rounds: Some(10),
        ends: vec![10],
    };
    let plain = |max_rounds| length(max_rounds, JudgedBefore::default(), max_rounds);
    assert!(length(20, raised.clone(), 20) > 1.2 * plain(20));
    // A run that ended in between and went on, once and twice.
    let (once, twice) = (ended(&[14], 40), ended(&[14, 30], 40));
    assert!(once > 1.2 * plain(40));
    assert!(twice > once, "{twice}, {once}");
    let same = |a: f64, b: f64| assert_eq!(a.to_bits(), b.to_bits());
    // What was planned is judged as it was, whatever came later, and what was judged before it ended.
    same(length(20, raised, 10), plain(10));
    same(ended(&[14], 14), ended(&[], 14));
    // What ended before anything could be judged costs nothing, and neither does the same end twice.
    same(ended(&[9], 40), plain(40));
    same(ended(&[14, 14], 40), once);
}

#[test]
fn what_was_decided_at_a_look_stays_decided_and_keeps_its_interval() {
    let mut blocks = measured(20_000.0, 0..10);
    let ratio =
        |found: &ContrastOutcome| found.estimate.map(|e: RatioEstimate| (e.ratio, e.rounds));
    let before = found(&blocks);
    blocks.extend(measured(5_000.0, 10..23));
    assert!(open(&blocks).is_empty());
    let after = found(&blocks);
    assert_eq!(after.estimate.unwrap().rounds, 10);
    assert_eq!(ratio(&after), ratio(&before));
    assert_eq!(after.verdict, Verdict::Slower);
}

#[test]
fn a_look_is_replayed_with_what_was_known_then_even_if_the_machine_got_busy_later() {
    let mut blocks = measured(11_000.0, 0..15);
    assert!(open(&blocks[..30]).is_empty(), "10% slower, floor 1%");
    for later in &mut blocks[30..] {
        later.wall_ns *= 3;
        later.run_delay_ns = Some(later.wall_ns / 3 * 2);
    }
    assert!(open(&blocks).is_empty());
    for later in &mut blocks[30..] {
        later.run_delay_ns = None;
    }
    assert!(open(&blocks).is_empty(), "later rounds have wall time only");
}

#[test]
fn the_rounds_of_a_verdict_are_those_that_both_cells_have() {
    let mut blocks = measured(20_000.0, 0..12);
    let lost = [("c/other", 3), ("c/base", 5)];
    blocks.retain(|m| !lost.contains(&(&*m.cell.0, m.round)));
    assert_eq!(found(&blocks).estimate.unwrap().rounds, 10);
    // With nine nothing is decided, however large the difference.
    blocks.retain(|m| m.round < 11);
    assert_eq!(open(&blocks).len(), 1);
    assert_eq!(found(&blocks).estimate, None);
}

#[test]
fn paired_rounds_are_matched_by_number_and_not_by_position() {
    // A drift by a factor of e over ten rounds, the same for both cells. Were the lists matched
    // by position after a block of either was lost, ratios would be off by 10%.
    let drift = |key: &str, factor: f64| {
        let time = |r| ((f64::from(r) / 10.0).exp() * factor * 1e6) as u64;
        (0..12).map(|r| block(key, r, time(r))).collect::<Vec<_>>()
    };
    for lost in ["c/other", "c/base"] {
        let mut blocks = [drift("base", 1.0), drift("again", 1.0), drift("other", 2.0)].concat();
        blocks.retain(|m| !(m.cell.0 == lost && m.round == 0));
        let estimate = found(&blocks).estimate.unwrap();
        assert!((estimate.ratio - 2.0).abs() < 1e-3, "{estimate:?}");
    }
}

#[test]
fn a_block_measured_again_replaces_the_earlier_one() {
    let mut blocks = measured(20_000.0, 0..10);
    let again = measured(10_000.0, 0..10).into_iter();
    blocks.extend(again.filter(|m| m.cell.0 == "c/other"));
    assert_eq!(found(&blocks).verdict, Verdict::Equivalent);
}

#[test]
fn an_asked_for_precision_keeps_a_decided_contrast_in_the_rounds() {
    for (precision, open) in [(0.0001, 1), (0.05, 0)] {
        let rule = StoppingRule {
            precision: Some(precision),
            ..RULE
        };
        let found = undecided(&other(40), &measured(20_000.0, 0..10), &rule);
        assert_eq!(found.len(), open, "{precision}");
    }
}

#[test]
fn cells_of_decided_contrasts_drop_out_and_the_others_go_on() {
    let comparison = comparison(&["other", "edge"]);
    let equal = [("base", 10_000.0), ("again", 10_000.0)];
    let cells = [&equal[..], &[("other", 20_000.0), ("edge", 10_500.0)]].concat();
    let left = undecided(&comparison, &rounds(&cells, 0..10), &RULE);
    assert_eq!(left, [contrast("edge", "base")]);
    let found = run(&comparison, &rounds(&cells, 0..40));
    let measured: Vec<usize> = found.cells.iter().map(|cell| cell.rounds).collect();
    assert_eq!(measured, [40, 40, 10, 40]);
    assert_eq!(found.contrasts[1].estimate.unwrap().rounds, 40);
    // A control that differs keeps everything in the rounds.
    let cells = [("base", 10_000.0), ("again", 10_400.0), ("other", 20_000.0)];
    assert_eq!(open(&rounds(&cells, 0..10)).len(), 1);
}

#[test]
fn the_control_is_asked_about_only_if_there_is_nothing_else() {
    let mut both = other(40);
    both.contrasts.push(contrast("again", "base"));
    let open = undecided(&both, &measured(20_000.0, 0..5), &RULE);
    assert_eq!(open, [contrast("other", "base")]);
    let mut alone = comparison(&[]);
    alone.contrasts.push(contrast("again", "base"));
    let open = |again: f64, number: u32| {
        let blocks = rounds(&[("base", 10_000.0), ("again", again)], 0..number);
        undecided(&alone, &blocks, &RULE).len()
    };
    // Equivalent, and unreliable.
    assert_eq!((open(10_000.0, 5), open(10_000.0, 10)), (1, 0));
    assert_eq!((open(10_400.0, 39), open(10_400.0, 40)), (1, 0));
}

#[test]
fn a_control_that_lacks_the_rounds_for_an_estimate_is_open_once_nothing_else_is() {
    let capped = StoppingRule {
        max_rounds: 10,
        ..RULE
    };
    let plan = other(40);
    let mut blocks = measured(20_000.0, 0..9);
    blocks.extend(rounds(&[("base", 10_000.0), ("other", 20_000.0)], 9..10));
    let [open, begun] = [&blocks[..], &blocks[..27]].map(|b| undecided(&plan, b, &capped));
    assert_eq!(open, [contrast("again", "base")]);
    assert_eq!(begun, [contrast("other", "base")]);
    let known = interim(&plan, &blocks, &capped).into_iter();
    let known: Vec<_> = known.map(|k| (k.decided, k.estimate.is_some())).collect();
    assert_eq!(known, [(true, true), (false, false)]);
    // Nothing is claimed without it.
    assert!(!outcome(&plan, &blocks).reliable);
    blocks.extend(rounds(&[("base", 10_000.0), ("again", 10_000.0)], 10..11));
    assert!(undecided(&plan, &blocks, &capped).is_empty());
}

#[test]
fn what_a_failed_cell_measured_decides_nothing_once_it_is_left_out() {
    // Its other threads would turn the whole comparison to wall time, by which nothing that
    // waited is decided; the analysis drops its blocks, and both must stop at the same look.
    let mut blocks = measured(11_000.0, 0..10);
    for block in &mut blocks {
        let waited = [0, 6_000_000][(block.round as usize + block.cell.0.len()) % 2];
        block.wall_ns += waited;
        block.run_delay_ns = Some(waited);
    }
    let mut failed = rounds(&[("bad", 5_000.0)], 0..9);
    for block in &mut failed {
        block.process_cpu_ns = 2 * block.wall_ns;
    }
    blocks.extend(failed);
    assert!(open(&blocks).is_empty());
    let mut with_cell = comparison(&["other", "bad"]);
    with_cell.contrasts.retain(|c| c.cell.0 == "c/other");
    assert_eq!(undecided(&with_cell, &blocks, &RULE).len(), 1);
}

#[test]
fn verdicts_are_those_of_the_method() {
    use Verdict::{Equivalent, Faster, Slower, SmallDifference, Unresolved};
    let zone = 1.05_f64.ln();
    for (low, high, expected) in [
        (0.10, 0.20, Slower),
        (-0.20, -0.10, Faster),
        (-0.01, 0.02, Equivalent),
        (0.01, 0.02, Equivalent),
        (-zone, zone, Equivalent),
        (0.01, 0.10, SmallDifference),
        (zone, 0.10, SmallDifference),
        (-0.10, -zone, SmallDifference),
        (-0.01, 0.10, Unresolved),
        (-0.10, 0.10, Unresolved),
        (0.0, 0.10, Unresolved),
        (-0.10, 0.0, Unresolved),
    ] {
        assert_eq!(verdict(low, high, zone), expected, "[{low}, {high}]");
    }
}

proptest! {
    #[test]
    fn swapping_the_cells_swaps_the_verdict(low in -0.2..0.2f64, width in 0.0..0.2f64) {
        let (high, zone) = (low + width, 1.05_f64.ln());
        prop_assert_eq!(verdict(low, high, zone).inverse(), verdict(-high, -low, zone));
    }
}
