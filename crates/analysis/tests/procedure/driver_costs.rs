//! What the loops of drivers cost, beside times and ratios that contain it.

use crate::runs::{analysis_with, changed};
use crate::sessions::messages;
use crate::support::{block, comparison, id, outcome, rounds};
use stowplan_analysis::{CellDriverCost, Metric};
use stowplan_model::{
    BlockKind, Comparison, DriverCost, HarnessCost, Measurement, Operation, PerTransaction, Record,
    Role, Workload,
};

const EACH: PerTransaction = PerTransaction::Operations(1);

/// The program itself and the driver `python` with these costs of a loop, nanoseconds; twice as much
/// where it reads the clock.
fn costs(own: f64, python: f64) -> [Record; 2] {
    let cost = |ratio_ns| HarnessCost {
        ratio_ns,
        latency_ns: 2.0 * ratio_ns,
        blocks: 5,
        operations: 100_000,
    };
    let python = DriverCost {
        driver: "python".to_owned(),
        tool: "Python 3.11.7".to_owned(),
        cost: cost(python),
    };
    [Record::HarnessCost(cost(own)), Record::DriverCost(python)]
}

/// `base` by the program itself, `other` by the driver `python`.
fn two_drivers() -> Comparison {
    let mut comparison = comparison(&["other"]);
    comparison.cells[2].store = "python/sqlite".parse().unwrap();
    "python".clone_into(&mut comparison.cells[2].driver);
    comparison
}

/// Ten rounds in which both cells take so many nanoseconds per operation.
fn taking(base: f64, other: f64) -> Vec<Measurement> {
    rounds(&[("base", base), ("again", base), ("other", other)], 0..10)
}

/// Of a cell that takes 6 µs by a loop of 240 ns, and one of 4 µs by one of 40.
fn python(comparison: &Comparison, blocks: &[Measurement]) -> CellDriverCost {
    let found = analysis_with(comparison, blocks, costs(40.0, 240.0));
    found.comparisons[0].cells[2].driver_cost.unwrap()
}

fn is_near(share: Option<f64>, expected: f64) -> bool {
    share.is_some_and(|share| (share - expected).abs() < expected / 20.0)
}

#[test]
fn the_cost_of_its_driver_stands_beside_a_cells_time_and_is_subtracted_from_nothing() {
    let blocks = taking(4_000.0, 6_000.0);
    let with = analysis_with(&two_drivers(), &blocks, costs(40.0, 240.0));
    let mut without = analysis_with(&two_drivers(), &blocks, []);
    for (place, ns, share) in [(0, 40.0, 0.01), (1, 40.0, 0.01), (2, 240.0, 0.04)] {
        let cost = with.comparisons[0].cells[place].driver_cost;
        let unknown = &mut without.comparisons[0].cells[place].driver_cost;
        assert_eq!(std::mem::replace(unknown, cost), None);
        assert_eq!(cost.unwrap().ns, ns);
        assert!(is_near(cost.unwrap().share, share), "{cost:?}");
    }
    assert_eq!(with.comparisons, without.comparisons);
    // 4% is less than what counts.
    assert_eq!(with.warnings, without.warnings);
    assert_eq!(with.driver_costs[0].driver, "python");
}

#[test]
fn a_share_above_the_equivalence_zone_is_a_warning_for_each_driver() {
    let mut comparison = comparison(&["other", "third"]);
    "python".clone_into(&mut comparison.cells[2].driver);
    let blocks = [taking(4e3, 6e3), rounds(&[("third", 5e3)], 0..10)].concat();
    for (own, python, warned, whose, share, cell) in [
        (40.0, 280.0, 0, "", 0, ""),
        (40.0, 600.0, 1, "The loop of driver python", 10, "c/other"),
        (600.0, 1.0, 1, "The program's own loop", 15, "c/base"),
    ] {
        let said = messages(&analysis_with(&comparison, &blocks, costs(own, python)));
        let told =
            format!("{whose} costs 600 ns per operation: {share}% of the corrected time of {cell}");
        assert_eq!(said.matches("loop").count(), warned, "{said}");
        assert_eq!(said.matches(&told).count(), warned, "{said}");
    }
}

#[test]
fn what_cannot_be_chosen_is_no_reason_to_warn() {
    let mut parts = two_drivers();
    parts.cells[2].role = Role::Part;
    let found = analysis_with(&parts, &taking(4_000.0, 250.0), costs(40.0, 240.0));
    assert_eq!(messages(&found), "");
    assert_eq!(found.comparisons[0].drivers(), [""].into());
}

#[test]
fn costs_and_the_times_beside_them_are_of_one_metric() {
    let blocks = |wait: fn(&Measurement) -> Option<u64>| {
        changed(taking(4_000.0, 6_000.0), |block| {
            // Half of the time it waited for a CPU, and other threads were busy.
            block.wall_ns *= 2;
            block.run_delay_ns = wait(block);
            block.process_cpu_ns *= 2;
        })
    };
    let known = blocks(|block| Some(block.wall_ns / 2));
    assert_eq!(outcome(&two_drivers(), &known).metric, Metric::Wall);
    let cost = python(&two_drivers(), &known);
    assert!(is_near(cost.share, 0.04), "{cost:?}");
    assert_eq!(cost.of, Some(Metric::Corrected));
    let unknown = python(&two_drivers(), &blocks(|_| None));
    assert!(is_near(unknown.share, 0.02), "{unknown:?}");
    let one_tells = blocks(|block| (block.round == 3).then_some(0));
    assert_eq!(python(&two_drivers(), &one_tells).share, None);
    let timed = taking(4_000.0, 6_000.0);
    let timed = changed(timed, |block| block.block = BlockKind::Latency);
    let timed = python(&two_drivers(), &timed);
    assert_eq!(timed.ns, 480.0, "it reads the clock");
}

#[test]
fn of_other_work_than_that_of_the_measured_loop_the_cost_is_the_least() {
    type Change = fn(&mut Workload);
    let changes: [(Change, bool, bool); 4] = [
        (|_| (), false, true),
        (|work| work.operation = Operation::Overwrite, true, true),
        (|work| work.per_transaction = EACH, true, true),
        // They loop side by side.
        (|work| work.threads = 4, true, false),
    ];
    for (change, at_least, has_share) in changes {
        let mut comparison = two_drivers();
        let cells = comparison.cells.iter_mut();
        cells.for_each(|cell| change(&mut cell.workload));
        let cost = python(&comparison, &taking(4_000.0, 6_000.0));
        assert_eq!((cost.ns, cost.at_least), (240.0, at_least));
        assert_eq!(is_near(cost.share, 0.04), has_share, "{cost:?}");
        assert_eq!(cost.share.is_some(), has_share, "{cost:?}");
    }
}

/// Of blocks three quarters of whose CPU time is in the kernel.
#[test]
fn a_share_read_in_ticks_has_no_more_digits_than_they_carry() {
    let ticks = ["io", "system_ns"];
    for (ns, outside, share, off) in [
        (25_000_000, &ticks[..1], 0.75, None),
        (25_000_000, &ticks, f64::NAN, Some(0.4)),
        (250_000_000, &ticks, 0.8, Some(0.04)),
        (2_500_000_000, &["user_ns"], 0.75, Some(0.004)),
        (0, &ticks, f64::NAN, Some(1.0)),
    ] {
        let blocks = (0..10).map(|round| Measurement {
            user_ns: ns / 4,
            system_ns: ns - ns / 4,
            read_from_outside: outside.iter().map(|&field| field.to_owned()).collect(),
            ..block("base", round, ns)
        });
        let found = outcome(&comparison(&[]), &blocks.collect::<Vec<_>>());
        let cell = found.cell(&id("base")).unwrap();
        // Not a number is that in any bits.
        assert!(cell.kernel_share.total_cmp(&share).is_eq());
        assert_eq!(cell.kernel_share_resolution, off);
    }
}
