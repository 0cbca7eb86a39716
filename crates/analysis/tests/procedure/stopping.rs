//! When contrasts count as decided, and on which rounds a verdict then rests.

use crate::support::{RULE, block, comparison, contrast, outcome, rounds, run};
use proptest::prelude::*;
use stowplan_analysis::{LOOKS, StoppingRule, Verdict, interim, undecided, verdict};
use stowplan_model::{Contrast, JudgedBefore, Measurement};

/// Times in microseconds per block; `base` and its control take 10 ms.
fn measured(other: f64, number: std::ops::Range<u32>) -> Vec<Measurement> {
    rounds(
        &[("base", 10_000.0), ("again", 10_000.0), ("other", other)],
        number,
    )
}

fn open(measurements: &[Measurement]) -> Vec<Contrast> {
    undecided(&comparison(&["other"]), measurements, &RULE)
}

#[test]
fn nothing_is_decided_before_the_tenth_round_however_large_the_difference() {
    for n in 0..10 {
        let expected = [contrast("other", "base")];
        assert_eq!(open(&measured(50_000.0, 0..n)), expected, "{n} rounds");
    }
    assert!(open(&measured(50_000.0, 0..10)).is_empty());
}

#[test]
fn a_difference_at_the_edge_of_the_zone_is_measured_up_to_the_cap() {
    for n in [10, 19, 20, 30, 39] {
        assert_eq!(open(&measured(10_500.0, 0..n)).len(), 1, "{n} rounds");
    }
    assert!(open(&measured(10_500.0, 0..40)).is_empty());
}

#[test]
fn no_look_is_taken_between_the_looks() {
    // At ten rounds not slower beyond doubt, which so early takes more than later; with each further one surer.
    let time = (500..1_500).map(|more| 10_000.0 + f64::from(more));
    let (open_at_ten, decided): (Vec<f64>, Vec<f64>) =
        time.partition(|time| open(&measured(*time, 0..10)).len() == 1);
    assert!(
        !decided.is_empty(),
        "the last of those that are open is not at the edge"
    );
    let time = *open_at_ten.last().unwrap();
    assert_eq!(open(&measured(time, 0..19)).len(), 1);
    assert!(open(&measured(time, 0..20)).is_empty());
}

/// The length of the interval of a ratio at the edge of the zone after so many rounds, of at most `max_rounds`.
fn length(max_rounds: u32, judged: JudgedBefore, rounds: u32) -> f64 {
    let mut comparison = comparison(&["other"]);
    (comparison.max_rounds, comparison.judged) = (max_rounds, judged);
    let found = outcome(&comparison, &measured(10_500.0, 0..rounds));
    let estimate = found.contrasts[0].estimate.unwrap();
    (estimate.high / estimate.low).ln()
}

fn before(ends: &[u32]) -> JudgedBefore {
    JudgedBefore {
        planned_rounds: None,
        ends: ends.to_vec(),
    }
}

#[test]
fn little_is_spent_early_and_the_rest_by_whoever_comes_to_an_end() {
    let decides = |max_rounds: u32, time: f64| {
        let mut comparison = comparison(&["other"]);
        comparison.max_rounds = max_rounds;
        undecided(&comparison, &measured(time, 0..10), &RULE).is_empty()
    };
    // Where ten rounds are all there are, they decide at once what they leave open where forty are to come.
    let times = (0..100).map(|part| 10_500.0 + f64::from(part));
    assert!(times.clone().all(|time| decides(10, time)));
    let open = times.filter(|time| !decides(40, *time)).count();
    assert!(open > 10, "{open}");
    let alone = length(10, JudgedBefore::default(), 10);
    for rounds in [10, 14] {
        // No other look follows a run that ends here.
        let ended = length(40, JudgedBefore::default(), rounds);
        assert!(ended < 1.1 * alone, "{rounds}: {ended}, {alone}");
    }
}

#[test]
fn whoever_looks_more_often_than_planned_pays_for_it() {
    let raised = JudgedBefore {
        planned_rounds: Some(10),
        ends: vec![10],
    };
    // What was planned is judged as it was, whatever came later.
    let alone = length(10, JudgedBefore::default(), 10);
    assert_eq!(length(20, raised.clone(), 10).to_bits(), alone.to_bits());
    let whole = length(20, JudgedBefore::default(), 20);
    assert!(length(20, raised, 20) > 1.2 * whole);
    // A run that ended in between and went on, once and twice.
    let once = length(40, before(&[14]), 40);
    let twice = length(40, before(&[14, 30]), 40);
    assert!(once > 1.2 * length(40, JudgedBefore::default(), 40));
    assert!(twice > once, "{twice}, {once}");
    assert_eq!(
        length(40, before(&[14]), 14).to_bits(),
        length(40, JudgedBefore::default(), 14).to_bits()
    );
    // What ended before anything could be judged costs nothing, and neither does the same end twice.
    assert_eq!(
        length(40, before(&[9]), 40).to_bits(),
        length(40, JudgedBefore::default(), 40).to_bits()
    );
    assert_eq!(
        length(40, before(&[14, 14]), 40).to_bits(),
        length(40, before(&[14]), 40).to_bits()
    );
}

#[test]
fn what_was_decided_at_a_look_stays_decided_and_keeps_its_interval() {
    let mut blocks = measured(20_000.0, 0..10);
    let before = outcome(&comparison(&["other"]), &blocks);
    blocks.extend(measured(5_000.0, 10..23));
    assert!(open(&blocks).is_empty());
    let after = outcome(&comparison(&["other"]), &blocks);
    let estimate = after.contrasts[0].estimate.unwrap();
    assert_eq!(estimate.rounds, 10);
    assert_eq!(
        Some(estimate.ratio),
        before.contrasts[0].estimate.map(|e| e.ratio)
    );
    assert_eq!(after.contrasts[0].verdict, Verdict::Slower);
}

#[test]
fn a_look_is_replayed_with_what_was_known_then_even_if_the_machine_got_busy_later() {
    let mut blocks = measured(11_000.0, 0..10);
    assert!(open(&blocks).is_empty(), "10% slower, floor 1%");
    for mut later in measured(11_000.0, 10..15) {
        later.wall_ns *= 3;
        later.run_delay_ns = Some(later.wall_ns / 3 * 2);
        blocks.push(later);
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
    blocks.retain(|m| !(m.cell.0 == "c/other" && m.round == 3));
    blocks.retain(|m| !(m.cell.0 == "c/base" && m.round == 5));
    let found = outcome(&comparison(&["other"]), &blocks);
    assert_eq!(found.contrasts[0].estimate.unwrap().rounds, 10);
    blocks.retain(|m| m.round < 11);
    assert_eq!(open(&blocks).len(), 1, "nine paired rounds");
    assert_eq!(
        outcome(&comparison(&["other"]), &blocks).contrasts[0].estimate,
        None
    );
}

#[test]
fn paired_rounds_are_matched_by_number_and_not_by_position() {
    // A drift by a factor of e over ten rounds, the same for both cells. Were the lists matched
    // by position after a block of either was lost, ratios would be off by 10%.
    let drift = |key: &str, factor: f64| {
        (0..12)
            .map(move |r| block(key, r, ((f64::from(r) / 10.0).exp() * factor * 1e6) as u64))
            .collect::<Vec<_>>()
    };
    for lost in ["c/other", "c/base"] {
        let mut blocks = [drift("base", 1.0), drift("again", 1.0), drift("other", 2.0)].concat();
        blocks.retain(|m| !(m.cell.0 == lost && m.round == 0));
        let found = outcome(&comparison(&["other"]), &blocks);
        let estimate = found.contrasts[0].estimate.unwrap();
        assert!((estimate.ratio - 2.0).abs() < 1e-3, "{estimate:?}");
    }
}

#[test]
fn a_block_measured_again_replaces_the_earlier_one() {
    let mut blocks = measured(20_000.0, 0..10);
    let again: Vec<Measurement> = measured(10_000.0, 0..10);
    blocks.extend(again.into_iter().filter(|m| m.cell.0 == "c/other"));
    let found = outcome(&comparison(&["other"]), &blocks);
    assert_eq!(found.contrasts[0].verdict, Verdict::Equivalent);
}

#[test]
fn a_smaller_cap_is_the_last_look() {
    let rule = StoppingRule {
        max_rounds: 15,
        ..RULE
    };
    let comparison = comparison(&["other"]);
    let open = |n| undecided(&comparison, &measured(10_500.0, 0..n), &rule).len();
    assert_eq!((open(10), open(14), open(15)), (1, 1, 0));
    let rule = StoppingRule {
        max_rounds: 3,
        ..RULE
    };
    let open = |n| undecided(&comparison, &measured(50_000.0, 0..n), &rule).len();
    assert_eq!((open(2), open(3)), (1, 0));
}

#[test]
fn the_cap_of_the_comparison_holds_too() {
    let mut capped = comparison(&["other"]);
    capped.max_rounds = 12;
    let open = |n| undecided(&capped, &measured(10_500.0, 0..n), &RULE).len();
    assert_eq!((open(11), open(12)), (1, 0));
}

#[test]
fn a_cap_above_the_last_look_does_not_add_looks() {
    let mut comparison = comparison(&["other"]);
    comparison.max_rounds = 1000;
    let rule = StoppingRule {
        max_rounds: 1000,
        ..RULE
    };
    assert!(undecided(&comparison, &measured(10_500.0, 0..40), &rule).is_empty());
    assert_eq!(LOOKS, [10, 20, 40]);
}

#[test]
fn an_asked_for_precision_keeps_a_decided_contrast_in_the_rounds() {
    let rule = StoppingRule {
        precision: Some(0.0001),
        ..RULE
    };
    let comparison = comparison(&["other"]);
    assert_eq!(
        undecided(&comparison, &measured(20_000.0, 0..10), &rule).len(),
        1
    );
    let rule = StoppingRule {
        precision: Some(0.05),
        ..RULE
    };
    assert!(undecided(&comparison, &measured(20_000.0, 0..10), &rule).is_empty());
}

#[test]
fn a_control_that_differs_keeps_everything_in_the_rounds() {
    let cells = [("base", 10_000.0), ("again", 10_400.0), ("other", 20_000.0)];
    assert_eq!(open(&rounds(&cells, 0..10)).len(), 1);
    let found = run(&comparison(&["other"]), &rounds(&cells, 0..40));
    assert!(!found.reliable);
    assert_eq!(found.contrasts[0].verdict, Verdict::Unreliable);
}

#[test]
fn cells_of_decided_contrasts_drop_out_and_the_others_go_on() {
    let comparison = comparison(&["other", "edge"]);
    let cells = [
        ("base", 10_000.0),
        ("again", 10_000.0),
        ("other", 20_000.0),
        ("edge", 10_500.0),
    ];
    let open = undecided(&comparison, &rounds(&cells, 0..10), &RULE);
    assert_eq!(open, [contrast("edge", "base")]);
    let found = run(&comparison, &rounds(&cells, 0..40));
    let rounds: Vec<usize> = found.cells.iter().map(|cell| cell.rounds).collect();
    assert_eq!(rounds, [40, 40, 10, 40]);
    assert_eq!(found.contrasts[1].estimate.unwrap().rounds, 40);
}

#[test]
fn the_control_is_asked_about_only_if_there_is_nothing_else() {
    let mut both = comparison(&["other"]);
    both.contrasts.push(contrast("again", "base"));
    let open = undecided(&both, &measured(20_000.0, 0..5), &RULE);
    assert_eq!(open, [contrast("other", "base")]);
    let mut alone = comparison(&[]);
    alone.contrasts.push(contrast("again", "base"));
    let open = |blocks: &[Measurement]| undecided(&alone, blocks, &RULE).len();
    assert_eq!(open(&measured(20_000.0, 0..5)), 1);
    assert_eq!(open(&measured(20_000.0, 0..10)), 0, "equivalent");
    let differing = [("base", 10_000.0), ("again", 10_400.0)];
    assert_eq!(open(&rounds(&differing, 0..39)), 1, "unreliable so far");
    assert_eq!(open(&rounds(&differing, 0..40)), 0);
}

#[test]
fn a_control_that_lacks_the_rounds_for_an_estimate_is_open_once_nothing_else_is() {
    let capped = StoppingRule {
        max_rounds: 10,
        ..RULE
    };
    let plan = comparison(&["other"]);
    let mut blocks = measured(20_000.0, 0..9);
    blocks.extend(rounds(&[("base", 10_000.0), ("other", 20_000.0)], 9..10));
    let [open, begun] = [&blocks[..], &blocks[..27]].map(|b| undecided(&plan, b, &capped));
    assert_eq!(open, [contrast("again", "base")]);
    assert_eq!(begun, [contrast("other", "base")]);
    let known = interim(&plan, &blocks, &capped);
    let known: Vec<_> = known
        .iter()
        .map(|k| (k.decided, k.estimate.is_some()))
        .collect();
    assert_eq!(known, [(true, true), (false, false)]);
    let found = outcome(&plan, &blocks);
    assert!(!found.reliable, "nothing is claimed without it");
    let again = [("base", 10_000.0), ("again", 10_000.0)];
    blocks.extend(rounds(&again, 10..11));
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
    assert!(undecided(&comparison(&["other"]), &blocks, &RULE).is_empty());
    let mut with_cell = comparison(&["other", "bad"]);
    with_cell.contrasts.retain(|c| c.cell.0 == "c/other");
    assert_eq!(undecided(&with_cell, &blocks, &RULE).len(), 1);
}

#[test]
fn verdicts_are_those_of_the_method() {
    let zone = 1.05_f64.ln();
    let table = [
        ((-0.20, -0.10), Verdict::Faster),
        ((0.10, 0.20), Verdict::Slower),
        ((-0.01, 0.02), Verdict::Equivalent),
        ((0.01, 0.02), Verdict::Equivalent),
        ((-zone, zone), Verdict::Equivalent),
        ((0.01, 0.10), Verdict::SmallDifference),
        ((-0.10, -0.01), Verdict::SmallDifference),
        ((-0.01, 0.10), Verdict::Unresolved),
        ((-0.10, 0.10), Verdict::Unresolved),
        ((zone, 0.10), Verdict::SmallDifference),
        ((-0.10, -zone), Verdict::SmallDifference),
        ((0.0, 0.10), Verdict::Unresolved),
        ((-0.10, 0.0), Verdict::Unresolved),
    ];
    for ((low, high), expected) in table {
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
