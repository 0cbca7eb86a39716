//! What the loops of drivers cost, beside times and ratios that contain it.

use crate::support::{block, comparison, id, outcome, records, rounds};
use stowplan_analysis::{Analysis, ContrastOutcome, Metric, Verdict, analyse};
use stowplan_model::{BlockKind, Comparison, DriverCost, HarnessCost, Measurement, Record, Role};

fn cost(ratio_ns: f64, latency_ns: f64) -> HarnessCost {
    HarnessCost {
        ratio_ns,
        latency_ns,
        blocks: 5,
        operations: 100_000,
    }
}

/// The program itself and the driver `python` with these costs of a loop, nanoseconds.
fn costs(own: f64, python: f64) -> [Record; 2] {
    let python = DriverCost {
        driver: "python".to_owned(),
        tool: "Python 3.11.7".to_owned(),
        cost: cost(python, 2.0 * python),
    };
    [
        Record::HarnessCost(cost(own, 2.0 * own)),
        Record::DriverCost(python),
    ]
}

/// `base` by the program itself, `other` by the driver `python`.
fn two_drivers() -> Comparison {
    let mut comparison = comparison(&["other"]);
    comparison.cells[2].store = "python/sqlite".parse().unwrap();
    comparison
}

fn found(comparison: &Comparison, blocks: &[Measurement], costs: &[Record]) -> Analysis {
    let mut all = records(comparison, blocks);
    all.extend(costs.iter().cloned());
    analyse(&all, None).unwrap()
}

/// Ten rounds in which both cells take so many nanoseconds per operation.
fn taking(base: f64, other: f64) -> Vec<Measurement> {
    rounds(&[("base", base), ("again", base), ("other", other)], 0..10)
}

fn contrast(analysis: &Analysis) -> &ContrastOutcome {
    &analysis.comparisons[0].contrasts[0]
}

#[test]
fn the_cost_of_its_driver_stands_beside_a_cells_time_and_is_subtracted_from_nothing() {
    let comparison = two_drivers();
    let blocks = taking(4_000.0, 6_000.0);
    let with = found(&comparison, &blocks, &costs(40.0, 240.0));
    let without = found(&comparison, &blocks, &[]);
    let cells = &with.comparisons[0].cells;
    let of = |place: usize| cells[place].driver_cost.unwrap();
    assert_eq!((of(0).ns, of(2).ns), (40.0, 240.0));
    assert!((of(0).share - 0.01).abs() < 0.001, "{:?}", of(0));
    assert!((of(2).share - 0.04).abs() < 0.001, "{:?}", of(2));
    let unknown = &without.comparisons[0];
    assert!(unknown.cells.iter().all(|cell| cell.driver_cost.is_none()));
    for (cell, other) in cells.iter().zip(&unknown.cells) {
        assert_eq!((cell.time_ns, cell.wall_ns), (other.time_ns, other.wall_ns));
    }
    let (ours, theirs) = (contrast(&with), contrast(&without));
    assert_eq!(
        (ours.estimate, ours.verdict),
        (theirs.estimate, theirs.verdict)
    );
    assert_eq!(theirs.driver_cost, None);
    assert_eq!(
        with.warnings, without.warnings,
        "4% is less than what counts"
    );
    assert_eq!(with.driver_costs[0].driver, "python");
}

#[test]
fn of_a_ratio_between_two_drivers_it_is_said_what_part_may_be_theirs() {
    let analysis = found(
        &two_drivers(),
        &taking(4_000.0, 6_000.0),
        &costs(40.0, 240.0),
    );
    let cost = contrast(&analysis).driver_cost.unwrap();
    assert!((cost.difference_ns - 200.0).abs() < 1e-9, "{cost:?}");
    assert!((cost.of_ns - 2_000.0).abs() < 40.0, "{cost:?}");
    assert!((cost.share - 0.1).abs() < 0.01, "{cost:?}");
    let left = cost.ratio_without.unwrap();
    assert!((left.ratio - 5_760.0 / 3_960.0).abs() < 0.02, "{left:?}");
    assert!(left.low < left.ratio && left.ratio < left.high, "{left:?}");
    assert_eq!(cost.verdict_without, Some(Verdict::Slower));
    assert_eq!(contrast(&analysis).verdict_without_drivers(), None);
    let inverse = contrast(&analysis).inverse().driver_cost.unwrap();
    assert!((inverse.of_ns + cost.of_ns).abs() < 1e-9 && inverse.share == cost.share);
    assert_eq!(inverse.verdict_without, Some(Verdict::Faster));
}

#[test]
fn between_cells_of_one_driver_nothing_is_said_of_their_difference() {
    let mut both = two_drivers();
    for cell in &mut both.cells {
        cell.store = "python/sqlite".parse().unwrap();
    }
    let analysis = found(&both, &taking(4_000.0, 6_000.0), &costs(40.0, 240.0));
    assert_eq!(contrast(&analysis).driver_cost, None);
    assert!(analysis.comparisons[0].cells[0].driver_cost.is_some());
}

#[test]
fn a_verdict_that_is_another_one_without_the_loops_is_a_warning() {
    let analysis = found(
        &two_drivers(),
        &taking(4_000.0, 4_400.0),
        &costs(40.0, 440.0),
    );
    let contrast = contrast(&analysis);
    assert_eq!(
        contrast.verdict,
        Verdict::Slower,
        "what was measured stands"
    );
    assert_eq!(
        contrast.verdict_without_drivers(),
        Some(Verdict::Equivalent)
    );
    let told = messages(&analysis);
    assert!(
        told.contains(
            "c/other against c/base changes its verdict without what the loops of both drivers \
             cost, from slower to equivalent"
        ),
        "{told}"
    );
}

#[test]
fn of_times_that_are_nothing_but_loops_nothing_is_left_to_compare() {
    let analysis = found(&two_drivers(), &taking(100.0, 400.0), &costs(120.0, 390.0));
    let cost = contrast(&analysis).driver_cost.unwrap();
    assert_eq!(cost.ratio_without, None);
    assert_eq!(cost.verdict_without, Some(Verdict::Unresolved));
}

fn messages(analysis: &Analysis) -> String {
    let messages = analysis.warnings.iter().map(|w| w.message.as_str());
    messages.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_share_above_the_equivalence_zone_is_a_warning_for_each_driver() {
    let warned = |python: f64| {
        let analysis = found(
            &two_drivers(),
            &taking(4_000.0, 6_000.0),
            &costs(40.0, python),
        );
        messages(&analysis)
    };
    assert!(!warned(280.0).contains("loop"), "{}", warned(280.0));
    let told = warned(600.0);
    assert!(
        told.contains(
            "The loop of driver python costs 600 ns per operation: 10% of the time of c/other"
        ),
        "{told}"
    );
    let own = messages(&found(
        &comparison(&["other", "third"]),
        &[taking(400.0, 800.0), rounds(&[("third", 500.0)], 0..10)].concat(),
        &costs(60.0, 1.0),
    ));
    let expected = "The program's own loop costs 60 ns per operation: 15% of the time of c/base, \
                    and more than 5% of that of 2 other cells";
    assert!(own.contains(expected), "{own}");
    assert_eq!(own.matches("loop").count(), 1, "{own}");
}

#[test]
fn what_cannot_be_chosen_is_no_reason_to_warn() {
    let mut parts = two_drivers();
    parts.cells[2].role = Role::Part;
    let analysis = found(&parts, &taking(4_000.0, 250.0), &costs(40.0, 240.0));
    assert_eq!(messages(&analysis), "");
    assert!(
        analysis.comparisons[0]
            .drivers()
            .iter()
            .all(|d| d.is_empty())
    );
}

#[test]
fn blocks_with_a_clock_reading_per_operation_have_the_cost_of_those() {
    let mut blocks = taking(4_000.0, 6_000.0);
    for block in &mut blocks {
        block.block = BlockKind::Latency;
    }
    let analysis = found(&two_drivers(), &blocks, &costs(40.0, 240.0));
    assert_eq!(
        analysis.comparisons[0].cells[2].driver_cost.unwrap().ns,
        480.0
    );
}

#[test]
fn a_share_is_of_corrected_time_also_where_the_headline_is_wall_time() {
    let mut blocks = taking(4_000.0, 6_000.0);
    for block in &mut blocks {
        // Half of the time it waited for a CPU, and other threads were busy.
        block.wall_ns *= 2;
        block.run_delay_ns = Some(block.wall_ns / 2);
        block.process_cpu_ns *= 2;
    }
    let analysis = found(&two_drivers(), &blocks, &costs(40.0, 240.0));
    let outcome = &analysis.comparisons[0];
    assert_eq!(outcome.metric, Metric::Wall);
    let cost = outcome.cells[2].driver_cost.unwrap();
    assert_eq!(cost.of, Metric::Corrected);
    assert!((cost.share - 0.04).abs() < 0.001, "{cost:?}");
    let contrast = contrast(&analysis).driver_cost.unwrap();
    assert!((contrast.share - 0.1).abs() < 0.01, "{contrast:?}");
    for block in &mut blocks {
        block.run_delay_ns = None;
    }
    let unknown = found(&two_drivers(), &blocks, &costs(40.0, 240.0));
    let cost = unknown.comparisons[0].cells[2].driver_cost.unwrap();
    assert_eq!(cost.of, Metric::Wall);
    assert!((cost.share - 0.02).abs() < 0.001, "{cost:?}");
}

#[test]
fn threads_that_loop_side_by_side_share_the_cost_of_the_loop() {
    let mut comparison = two_drivers();
    for cell in &mut comparison.cells {
        cell.workload.threads = 4;
    }
    let analysis = found(&comparison, &taking(4_000.0, 6_000.0), &costs(40.0, 240.0));
    assert_eq!(
        analysis.comparisons[0].cells[2].driver_cost.unwrap().ns,
        60.0
    );
}

/// The share of the kernel in blocks of so much CPU time, three quarters of it in the kernel, which was
/// read from outside.
fn kernel_share(block_ns: u64, outside: &[&str]) -> (f64, Option<f64>) {
    let blocks: Vec<Measurement> = (0..10)
        .map(|round| Measurement {
            user_ns: block_ns / 4,
            system_ns: block_ns - block_ns / 4,
            read_from_outside: outside.iter().map(|field| (*field).to_owned()).collect(),
            ..block("base", round, block_ns)
        })
        .collect();
    let found = outcome(&comparison(&[]), &blocks);
    let cell = found.cell(&id("base")).unwrap();
    (cell.kernel_share, cell.kernel_share_resolution)
}

#[test]
fn a_share_read_in_ticks_has_no_more_digits_than_they_carry() {
    let ticks = ["io", "system_ns"];
    assert_eq!(kernel_share(25_000_000, &["io"]), (0.75, None));
    let (share, off) = kernel_share(25_000_000, &ticks);
    assert!(share.is_nan(), "{share}");
    assert_eq!(off, Some(0.4));
    let (share, off) = kernel_share(250_000_000, &ticks);
    assert_eq!((share, off), (0.8, Some(0.04)));
    let (share, off) = kernel_share(2_500_000_000, &["user_ns"]);
    assert_eq!((share, off), (0.75, Some(0.004)));
    let (share, off) = kernel_share(0, &ticks);
    assert!(share.is_nan(), "{share}");
    assert_eq!(off, Some(1.0));
}
