//! Which clock decides: where blocks sleep or sync, wall time, and corrected time has to agree.

use crate::support::{RULE, block, comparison, id, near, outcome, rounds, syncs};
use Verdict::{Equivalent, Slower, Unresolved};
use stowplan_analysis::{ComparisonOutcome, Metric, Verdict, undecided};
use stowplan_model::Measurement;

/// Rounds of the baseline, its control and `x`: microseconds of wall time per block, of which a part
/// was waiting for a CPU. All sleep for half of the rest.
fn sleeping(number: u32, [base, x]: [(f64, f64); 2]) -> Vec<Measurement> {
    let times = [("base", base.0), ("again", base.0), ("x", x.0)];
    let mut blocks = rounds(&times, 0..number);
    for block in &mut blocks {
        let (wall, delay) = if block.cell == id("x") { x } else { base };
        let delay = (block.wall_ns as f64 * delay / wall) as u64;
        block.run_delay_ns = Some(delay);
        block.thread_cpu_ns = (block.wall_ns - delay) / 2;
        block.process_cpu_ns = block.thread_cpu_ns;
        block.voluntary_switches = 10;
    }
    blocks
}

fn found(times: [(f64, f64); 2]) -> ComparisonOutcome {
    outcome(&comparison(&["x"]), &sleeping(10, times))
}

#[test]
fn what_is_slower_by_wall_time_and_faster_by_corrected_time_is_claimed_as_neither() {
    // 13 ms against 10, of which 5 waiting for a CPU: 8 against 10.
    let times = [(10_000.0, 0.0), (13_000.0, 5_000.0)];
    let found = found(times);
    let contrast = &found.contrasts[0];
    assert_eq!((found.metric, found.sleeps), (Metric::Wall, true));
    assert_eq!((contrast.verdict, &found.fastest), (Unresolved, &None));
    assert!(contrast.estimate.unwrap().low > 1.2);
    assert!(contrast.corrected.unwrap().estimate.high < 0.9);
    for number in [10, 20] {
        let open = undecided(&comparison(&["x"]), &sleeping(number, times), &RULE);
        assert_eq!(open.len(), 1, "more rounds may tell: {number}");
    }
}

#[test]
fn what_both_times_show_is_claimed_and_nothing_else() {
    for (base, x, verdict, agrees) in [
        ((10_000.0, 0.0), (10_000.0, 0.0), Equivalent, true),
        ((10_000.0, 3_000.0), (10_000.0, 0.0), Unresolved, false),
        // Slower by wall time, and by corrected time the other way round, not shown to be, and as well.
        ((10_000.0, 0.0), (13_000.0, 5_000.0), Unresolved, false),
        ((10_000.0, 0.0), (13_000.0, 3_000.0), Unresolved, false),
        ((10_000.0, 0.0), (15_000.0, 2_000.0), Slower, true),
    ] {
        let contrast = found([base, x]).contrasts.remove(0);
        let told = (contrast.verdict, contrast.corrected.unwrap().agrees);
        assert_eq!(told, (verdict, agrees), "{base:?} {x:?}");
    }
}

#[test]
fn the_ratio_is_that_of_wall_time_and_corrected_time_stands_beside_it() {
    let found = found([(10_000.0, 0.0), (15_000.0, 2_000.0)]);
    let contrast = &found.contrasts[0];
    let inverse = contrast.inverse().corrected.unwrap().estimate;
    near(contrast.estimate.unwrap().ratio, 1.5, 0.02);
    near(contrast.corrected.unwrap().estimate.ratio, 1.3, 0.02);
    near(inverse.ratio, 1.0 / 1.3, 0.02);
    assert_eq!(found.fastest, Some(id("base")));
    near(found.cells[2].corrected_ns.unwrap(), 13_000.0, 200.0);
    near(found.cells[2].time_ns.unwrap().estimate, 15_000.0, 200.0);
}

#[test]
fn one_cell_that_syncs_in_its_median_block_turns_the_whole_comparison_to_wall_time() {
    for (syncing, metric) in [
        (0, Metric::Corrected),
        (5, Metric::Corrected),
        (6, Metric::Wall),
    ] {
        let mut blocks = rounds(&[("base", 10.0), ("again", 10.0), ("x", 20.0)], 0..10);
        let of_x = blocks.iter_mut().filter(|m| m.cell == id("x"));
        of_x.take(syncing).for_each(|block| block.syncs = syncs(1));
        let found = outcome(&comparison(&["x"]), &blocks);
        assert_eq!(found.metric, metric, "{syncing}");
        assert_eq!(found.sleeps, metric == Metric::Wall);
        assert_eq!(found.contrasts[0].corrected.is_some(), found.sleeps);
    }
}

#[test]
fn a_block_sleeps_from_a_twentieth_of_its_time_on_if_it_asked_for_that() {
    for (asleep_ns, switches, outside, metric) in [
        (50_001, 1, "", Metric::Wall),
        (50_000, 1, "", Metric::Corrected),
        // The machine was taken away.
        (500_000, 0, "", Metric::Corrected),
        // Of more than the block.
        (500_000, 1, "thread_cpu_ns", Metric::Corrected),
    ] {
        let mut blocks = [block("base", 0, 1_000_000), block("again", 0, 1_000_000)];
        for block in &mut blocks {
            block.thread_cpu_ns -= asleep_ns;
            block.process_cpu_ns -= asleep_ns;
            block.voluntary_switches = switches;
            block.read_from_outside = vec![outside.to_owned()];
        }
        let found = outcome(&comparison(&[]), &blocks);
        assert_eq!(found.metric, metric, "{asleep_ns} {switches} {outside}");
    }
}
