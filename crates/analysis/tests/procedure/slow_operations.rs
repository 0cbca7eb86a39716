//! Comparisons about slow operations, and beside neighbours.

use crate::support::{RULE, cell_mut, comparison, histogram, id, outcome, ten};
use stowplan_analysis::{Basis, ComparisonOutcome, Kind, Metric, Verdict, undecided};
use stowplan_model::{Comparison, Measurement, NeighbourKind, Neighbours, Statistic};

/// `x` takes as long as `base` in all, and its slowest operations three times as long. With a jitter
/// from round to round.
fn stalling() -> Vec<Measurement> {
    let mut blocks = ten(&[("x", 10_000.0)]);
    for block in &mut blocks {
        let slow = if block.cell == id("x") {
            30_000
        } else {
            10_000
        };
        let slow = slow + u64::from(block.round) * 20;
        let all = (1..=980).chain(std::iter::repeat_n(slow, 20));
        block.latency = Some(histogram(all));
    }
    blocks
}

fn about(measure: Statistic) -> Comparison {
    Comparison {
        measure,
        ..comparison(&["x"])
    }
}

/// Operations of a block of `x`, of all, and those beyond what is told.
fn basis(found: &ComparisonOutcome) -> (u64, u64, u64) {
    let basis = Basis::of(found, found.cell(&id("x")).unwrap()).unwrap();
    (basis.of_a_block, basis.operations, basis.beyond)
}

#[test]
fn a_comparison_about_slow_operations_claims_what_their_mean_does_not_show() {
    let blocks = stalling();
    for (measure, metric, verdict) in [
        (Statistic::Time, Metric::Corrected, Verdict::Equivalent),
        (Statistic::P50, Metric::Wall, Verdict::Equivalent),
        (Statistic::P99, Metric::Wall, Verdict::Slower),
        (Statistic::Max, Metric::Wall, Verdict::Slower),
    ] {
        let found = outcome(&about(measure), &blocks);
        let contrast = &found.contrasts[0];
        let told = (found.metric, contrast.verdict);
        assert_eq!(told, (metric, verdict), "{measure}");
        assert_eq!(contrast.total, None);
        assert_eq!(undecided(&about(measure), &blocks, &RULE), []);
        let mean = found.cell(&id("x")).unwrap().time_ns.unwrap().estimate;
        assert!((9_800.0..10_200.0).contains(&mean), "{mean}");
    }
    let found = outcome(&about(Statistic::P99), &blocks);
    let p99 = found.cell(&id("x")).unwrap().statistic_ns.unwrap().estimate;
    assert!((29_000.0..31_000.0).contains(&p99), "{p99}");
    assert_eq!(basis(&found), (1_000, 10_000, 100));
}

#[test]
fn blocks_that_do_not_tell_their_operations_are_no_rounds_of_such_a_comparison() {
    let mut blocks = stalling();
    for block in blocks.iter_mut().filter(|block| block.round == 3) {
        block.latency = None;
    }
    let found = outcome(&about(Statistic::Max), &blocks);
    assert_eq!(found.contrasts[0].verdict, Verdict::NoData);
    assert_eq!(found.cell(&id("x")).unwrap().rounds, 9);
    assert_eq!(basis(&found), (1_000, 9_000, 9));
}

/// All of the second cell's blocks waited for a CPU for half of their time.
fn beside(neighbours: Option<Neighbours>) -> ComparisonOutcome {
    let mut planned = comparison(&["x"]);
    cell_mut(&mut planned, "x").workload.beside = neighbours;
    let mut blocks = ten(&[("x", 20_000.0)]);
    for block in blocks.iter_mut().filter(|block| block.cell == id("x")) {
        block.run_delay_ns = Some(block.wall_ns / 2);
        block.thread_cpu_ns = block.wall_ns / 2;
        block.process_cpu_ns = block.thread_cpu_ns;
    }
    outcome(&planned, &blocks)
}

#[test]
fn beside_neighbours_waiting_is_part_of_the_answer_and_nobody_chooses_them() {
    let found = beside(Some(Neighbours {
        compute_threads: 2,
        memory: false,
        kind: NeighbourKind::Processes,
    }));
    assert_eq!((found.metric, found.sleeps), (Metric::Wall, false));
    assert_eq!(found.contrasts[0].verdict, Verdict::Slower);
    let ratio = found.contrasts[0].estimate.unwrap().ratio;
    assert!((1.9..2.1).contains(&ratio), "{ratio}");
    assert_eq!(found.rivals().count(), 1);
    assert_eq!(found.recommendation.kind, Kind::Open);
    assert_eq!(found.fastest, None);
    let found = beside(None);
    assert_eq!(found.metric, Metric::Corrected);
    assert_eq!(found.contrasts[0].verdict, Verdict::Equivalent);
}
