//! What drivers cost, and what is only known in clock ticks.

use crate::export::row_of;
use crate::fixture;
use crate::holds::{lacks, says};
use crate::support::{PLAIN, VERBOSE, between, json, markdown, terminal};
use stowplan_analysis::{Analysis, CellDriverCost, CellSummary, Metric};
use stowplan_model::{DriverCost, HarnessCost};

/// The reads, `sql` and `blob` of which the driver `python` hosts, with a loop of this many nanoseconds.
pub(crate) fn with_python(python_ns: f64) -> Analysis {
    let mut analysis = fixture::analysis();
    analysis.comparisons.truncate(1);
    analysis.figures.clear();
    analysis.driver_costs = vec![DriverCost {
        driver: "python".to_owned(),
        tool: "Python 3.11.7".to_owned(),
        cost: HarnessCost {
            ratio_ns: python_ns,
            latency_ns: 2.0 * python_ns,
            blocks: 5,
            operations: 100_000,
        },
    }];
    for cell in &mut analysis.comparisons[0].cells {
        let hosted = matches!(cell.cell.key.as_str(), "sql" | "blob");
        if hosted {
            cell.cell.store = format!("python/{}", cell.cell.store).parse().unwrap();
            "python".clone_into(&mut cell.cell.driver);
            (cell.kernel_share, cell.kernel_share_resolution) = (f64::NAN, Some(0.4));
        }
        let ns = if hosted { python_ns } else { 6.2 };
        cell.driver_cost = Some(CellDriverCost {
            ns,
            at_least: false,
            share: Some(ns / cell.time_ns.unwrap().estimate),
            of: Some(Metric::Corrected),
        });
    }
    analysis
}

#[test]
fn the_cost_of_drivers_stands_beside_times_and_ratios_in_80_columns() {
    let text = terminal(&with_python(232.0), &PLAIN);
    insta::assert_snapshot!(between(&text, "Each comparison", "\nWarnings"));
}

#[test]
fn a_cost_of_reads_is_the_least_that_other_loops_cost() {
    let mut analysis = with_python(232.0);
    let cells = analysis.comparisons[0].cells.iter_mut();
    for cell in cells.filter(|cell| cell.cell.driver == "python") {
        let cost = cell.driver_cost.as_mut().unwrap();
        (cost.at_least, cost.share, cost.of) = (true, None, None);
    }
    assert_eq!(markdown(&analysis).matches("| ≥ 232 ns |").count(), 2);
}

#[test]
fn drivers_are_told_of_wherever_one_with_a_name_hosts_a_cell_and_nowhere_else() {
    let mut analysis = with_python(232.0);
    analysis.driver_costs.clear();
    let method = "What a driver does around each operation";
    says(&terminal(&analysis, &VERBOSE), [method]);
    lacks(
        &terminal(&fixture::analysis(), &VERBOSE),
        &["driver", "Driver"],
    );
}

#[test]
fn csv_and_json_have_the_fields_of_driver_costs() {
    let analysis = with_python(232.0);
    let row = row_of(&analysis, "reads/sql");
    assert_eq!(row["driver"], "python");
    assert_eq!(row["driver_cost_ns"], "232");
    assert!(row["driver_cost_share"].starts_with("0.0565"), "{row:?}");
    assert_eq!(row["driver_cost_metric"], "corrected");
    let json = json(&analysis);
    assert_eq!(json["driver_costs"][0]["tool"], "Python 3.11.7");
    let reads = &json["comparisons"][0];
    assert_eq!(reads["cells"][3]["driver_cost"]["ns"], 232.0);
}

#[test]
fn a_share_that_is_finer_than_clock_ticks_is_below_resolution() {
    let table = |change: fn(&mut CellSummary)| {
        let mut analysis = fixture::analysis();
        change(&mut analysis.comparisons[0].cells[0]);
        between(&markdown(&analysis), "| cell ", "\n\n").to_owned()
    };
    let below = |table: String| table.matches("below resolution").count();
    assert_eq!(below(table(|_| {})), 0);
    let finer = table(|it| (it.kernel_share, it.kernel_share_resolution) = (f64::NAN, Some(0.4)));
    assert_eq!(below(finer), 1);
    let known = table(|it| (it.kernel_share, it.kernel_share_resolution) = (0.8, Some(0.04)));
    says(&known, ["| 80% |"]);
    assert_eq!(below(known), 0);
}
