//! What drivers cost, and what is only known in clock ticks.

use crate::export::row_of;
use crate::fixture;
use crate::support::{PLAIN, VERBOSE, between, json, markdown, terminal, words};
use stowplan_analysis::{Analysis, CellDriverCost, Metric};
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
    let reads = &mut analysis.comparisons[0];
    for cell in &mut reads.cells {
        let hosted = matches!(cell.cell.key.as_str(), "sql" | "blob");
        if hosted {
            cell.cell.store = format!("python/{}", cell.cell.store).parse().unwrap();
            "python".clone_into(&mut cell.cell.driver);
        }
        if hosted {
            (cell.kernel_share, cell.kernel_share_resolution) = (f64::NAN, Some(0.4));
        }
        let ns = if hosted { python_ns } else { 6.2 };
        let of_ns = cell.time_ns.unwrap().estimate;
        cell.driver_cost = Some(CellDriverCost {
            ns,
            at_least: false,
            share: Some(ns / of_ns),
            of: Some(Metric::Corrected),
        });
    }
    analysis
}

#[test]
fn the_cost_of_drivers_stands_beside_times_and_ratios_in_80_columns() {
    insta::assert_snapshot!(terminal(&with_python(232.0), &PLAIN));
}

#[test]
fn a_cost_of_reads_is_the_least_that_other_loops_cost() {
    let mut analysis = with_python(232.0);
    let reads = &mut analysis.comparisons[0];
    for cell in &mut reads.cells {
        let cost = cell.driver_cost.as_mut().unwrap();
        cost.at_least = cell.cell.driver.as_str() == "python";
        if cost.at_least {
            (cost.share, cost.of) = (None, None);
        }
    }
    assert_eq!(markdown(&analysis).matches("| ≥ 232 ns |").count(), 2);
}

#[test]
fn the_method_tells_of_drivers_wherever_one_with_a_name_hosts_a_cell() {
    let mut analysis = with_python(232.0);
    analysis.driver_costs.clear();
    let text = words(&terminal(&analysis, &VERBOSE));
    assert!(
        text.contains("What a driver does around each operation"),
        "{text}"
    );
}

#[test]
fn where_the_program_hosts_all_cells_nothing_is_said_of_drivers() {
    let text = terminal(&fixture::analysis(), &VERBOSE);
    assert!(!text.to_lowercase().contains("driver"), "{text}");
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
    let mut analysis = fixture::analysis();
    let kernel = |analysis: &Analysis| {
        let text = markdown(analysis);
        between(&text, "| cell ", "\n\n").to_owned()
    };
    assert!(!kernel(&analysis).contains("below resolution"));
    let cell = &mut analysis.comparisons[0].cells[0];
    (cell.kernel_share, cell.kernel_share_resolution) = (f64::NAN, Some(0.4));
    let table = kernel(&analysis);
    assert_eq!(table.matches("below resolution").count(), 1, "{table}");
    let cell = &mut analysis.comparisons[0].cells[0];
    (cell.kernel_share, cell.kernel_share_resolution) = (0.8, Some(0.04));
    let table = kernel(&analysis);
    assert!(
        table.contains("| 80% |") && !table.contains("below"),
        "{table}"
    );
}
