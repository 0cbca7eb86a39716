//! What the loops of drivers cost, beside times and ratios that contain it.

use crate::sessions::messages;
use crate::support::{block, comparison, id, outcome, records, rounds};
use stowplan_analysis::{Analysis, ContrastOutcome, Metric, analyse};
use stowplan_model::{
    BlockKind, Comparison, DriverCost, HarnessCost, Measurement, Operation, PerTransaction, Record,
    Role, Workload,
};

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
    "python".clone_into(&mut comparison.cells[2].driver);
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

fn is_near(share: Option<f64>, expected: f64) -> bool {
    share.is_some_and(|share| (share - expected).abs() < expected / 20.0)
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
    assert!(is_near(of(0).share, 0.01), "{:?}", of(0));
    assert!(is_near(of(2).share, 0.04), "{:?}", of(2));
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
    assert_eq!(
        with.warnings, without.warnings,
        "4% is less than what counts"
    );
    assert_eq!(with.driver_costs[0].driver, "python");
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
            "The loop of driver python costs 600 ns per operation: 10% of the corrected time of c/other"
        ),
        "{told}"
    );
    let own = messages(&found(
        &comparison(&["other", "third"]),
        &[taking(400.0, 800.0), rounds(&[("third", 500.0)], 0..10)].concat(),
        &costs(60.0, 1.0),
    ));
    let expected =
        "The program's own loop costs 60 ns per operation: 15% of the corrected time of c/base";
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
fn costs_and_the_times_beside_them_are_of_one_metric() {
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
    assert!(is_near(cost.share, 0.04), "{cost:?}");
    assert_eq!(cost.of, Some(Metric::Corrected));
    let share = |blocks: &[Measurement]| {
        let analysis = found(&two_drivers(), blocks, &costs(40.0, 240.0));
        analysis.comparisons[0].cells[2].driver_cost.unwrap().share
    };
    for block in &mut blocks {
        block.run_delay_ns = None;
    }
    assert!(is_near(share(&blocks), 0.02), "{:?}", share(&blocks));
    for block in blocks.iter_mut().filter(|block| block.round == 3) {
        block.run_delay_ns = Some(0);
    }
    assert_eq!(share(&blocks), None, "only one block tells");
}

#[test]
fn of_other_work_than_that_of_the_measured_loop_the_cost_is_the_least() {
    let with = |change: fn(&mut Workload)| {
        let mut comparison = two_drivers();
        for cell in &mut comparison.cells {
            change(&mut cell.workload);
        }
        found(&comparison, &taking(4_000.0, 6_000.0), &costs(40.0, 240.0))
    };
    let cost = |analysis: &Analysis| analysis.comparisons[0].cells[2].driver_cost.unwrap();
    assert!(!cost(&with(|_| ())).at_least);
    assert!(cost(&with(|work| work.operation = Operation::Overwrite)).at_least);
    let short = with(|work| work.per_transaction = PerTransaction::Operations(1));
    assert!(cost(&short).at_least && is_near(cost(&short).share, 0.04));
    let threads = with(|work| work.threads = 4);
    assert_eq!((cost(&threads).ns, cost(&threads).at_least), (240.0, true));
    assert_eq!(cost(&threads).share, None, "they loop side by side");
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
