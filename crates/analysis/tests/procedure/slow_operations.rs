//! Comparisons about slow operations, and beside neighbours.

use crate::support::{RULE, comparison, histogram, id, outcome, ten};
use stowplan_analysis::{Basis, Kind, Metric, Verdict, undecided};
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

#[test]
fn a_comparison_about_slow_operations_claims_what_their_mean_does_not_show() {
    let blocks = stalling();
    for (measure, verdict) in [
        (Statistic::Time, Verdict::Equivalent),
        (Statistic::P50, Verdict::Equivalent),
        (Statistic::P99, Verdict::Slower),
        (Statistic::Max, Verdict::Slower),
    ] {
        let found = outcome(&about(measure), &blocks);
        let contrast = &found.contrasts[0];
        assert_eq!(contrast.verdict, verdict, "{measure}: {contrast:?}");
        assert_eq!(contrast.total, None);
        assert_eq!(undecided(&about(measure), &blocks, &RULE), []);
        let x = found.cell(&id("x")).unwrap();
        let mean = x.time_ns.unwrap().estimate;
        assert!((9_800.0..10_200.0).contains(&mean), "{mean}");
        if measure == Statistic::P99 {
            let p99 = x.statistic_ns.unwrap().estimate;
            assert!((29_000.0..31_000.0).contains(&p99), "{p99}");
            let basis = Basis::of(&found, x).unwrap();
            let told = (basis.of_a_block, basis.operations, basis.beyond);
            assert_eq!(told, (1_000, 10_000, 100));
        }
        let metric = if measure.is_time() {
            Metric::Corrected
        } else {
            Metric::Wall
        };
        assert_eq!(found.metric, metric);
    }
}

#[test]
fn blocks_that_do_not_tell_their_operations_are_no_rounds_of_such_a_comparison() {
    let mut blocks = stalling();
    for block in blocks.iter_mut().filter(|block| block.round == 3) {
        block.latency = None;
    }
    let found = outcome(&about(Statistic::Max), &blocks);
    assert_eq!(found.contrasts[0].verdict, Verdict::NoData);
    let x = found.cell(&id("x")).unwrap();
    assert_eq!(x.rounds, 9);
    let basis = Basis::of(&found, x).unwrap();
    let told = (basis.of_a_block, basis.operations, basis.beyond);
    assert_eq!(told, (1_000, 9_000, 9));
}

/// All of the second cell's blocks waited for a CPU for half of their time.
fn beside(neighbours: Option<Neighbours>) -> (Comparison, Vec<Measurement>) {
    let mut planned = comparison(&["x"]);
    for cell in planned.cells.iter_mut().filter(|cell| cell.id == id("x")) {
        cell.workload.beside = neighbours;
    }
    let mut blocks = ten(&[("x", 20_000.0)]);
    for block in blocks.iter_mut().filter(|block| block.cell == id("x")) {
        block.run_delay_ns = Some(block.wall_ns / 2);
        block.thread_cpu_ns = block.wall_ns / 2;
        block.process_cpu_ns = block.thread_cpu_ns;
    }
    (planned, blocks)
}

#[test]
fn beside_neighbours_waiting_is_part_of_the_answer() {
    let two = Neighbours {
        compute_threads: 2,
        memory: false,
        kind: NeighbourKind::Processes,
    };
    let (planned, blocks) = beside(Some(two));
    let found = outcome(&planned, &blocks);
    assert_eq!((found.metric, found.sleeps), (Metric::Wall, false));
    assert_eq!(found.contrasts[0].verdict, Verdict::Slower);
    let ratio = found.contrasts[0].estimate.unwrap().ratio;
    assert!((1.9..2.1).contains(&ratio), "{ratio}");
    let (planned, blocks) = beside(None);
    let found = outcome(&planned, &blocks);
    assert_eq!(found.metric, Metric::Corrected);
    assert_eq!(found.contrasts[0].verdict, Verdict::Equivalent);
}

#[test]
fn nobody_chooses_what_is_busy_beside_a_cell() {
    let one = Neighbours {
        compute_threads: 1,
        memory: true,
        kind: NeighbourKind::Threads,
    };
    let (planned, blocks) = beside(Some(one));
    let found = outcome(&planned, &blocks);
    assert_eq!(found.rivals().count(), 1);
    assert_eq!(found.recommendation.kind, Kind::Open);
    assert_eq!(found.fastest, None);
}
