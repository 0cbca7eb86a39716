//! What drivers cost, and what is only known in clock ticks.

use crate::export::fields;
use crate::fixture;
use crate::support::{PLAIN, VERBOSE, between, html, markdown, seen_words, terminal, words};
use stowplan_analysis::{
    Analysis, CellDriverCost, CellSummary, ContrastDriverCost, Metric, RatioEstimate, Verdict,
};
use stowplan_model::{DriverCost, HarnessCost};
use stowplan_report::render::terminal::TerminalOptions;

/// The reads, `sql` and `blob` of which the driver `python` hosts, with a loop of this many nanoseconds.
pub(crate) fn with_python(python_ns: f64) -> Analysis {
    let mut analysis = fixture::analysis();
    analysis.comparisons.truncate(1);
    analysis.charts.clear();
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
        }
        if hosted {
            (cell.kernel_share, cell.kernel_share_resolution) = (f64::NAN, Some(0.4));
        }
        let ns = if hosted { python_ns } else { 6.2 };
        let of_ns = cell.time_ns.unwrap().estimate;
        cell.driver_cost = Some(CellDriverCost {
            ns,
            of_ns,
            of: Metric::Corrected,
            share: ns / of_ns,
        });
    }
    let cells = reads.cells.clone();
    let cell = |id| -> &CellSummary { cells.iter().find(|c| c.cell.id == id).unwrap() };
    for contrast in &mut reads.contrasts {
        let (ours, theirs) = (
            cell(contrast.cell.clone()),
            cell(contrast.reference.clone()),
        );
        if ours.cell.store.driver() == theirs.cell.store.driver() {
            continue;
        }
        let cost = |cell: &CellSummary| cell.driver_cost.unwrap().ns;
        let time = |cell: &CellSummary| cell.time_ns.unwrap().estimate;
        let difference_ns = cost(ours) - cost(theirs);
        let of_ns = time(ours) - time(theirs);
        contrast.driver_cost = Some(ContrastDriverCost {
            difference_ns,
            of_ns,
            share: difference_ns / of_ns,
            ratio_without: contrast.estimate,
            verdict_without: Some(contrast.verdict),
        });
    }
    analysis
}

#[test]
fn the_cost_of_drivers_stands_beside_times_and_ratios_in_80_columns() {
    insta::assert_snapshot!(terminal(&with_python(232.0), &PLAIN));
}

#[test]
fn the_same_is_told_in_40_columns_of_ascii() {
    let options = TerminalOptions {
        width: 40,
        unicode: false,
        ..PLAIN
    };
    insta::assert_snapshot!(terminal(&with_python(232.0), &options));
}

#[test]
fn every_form_tells_what_of_a_ratio_may_be_the_drivers() {
    let analysis = with_python(232.0);
    let all = "Driver cost per operation, which every time here contains, and its share of the time: \
               the program's own loop 6.20 ns (0.1% to 0.6%) and python 232 ns (5.7% to 6.4%).";
    let other_way = "“SQLite, prepared SELECT” and separate files: they are 4.52 µs apart, and the \
                     slower one has the cheaper driver, by 226 ns.";
    for text in [
        words(&terminal(&analysis, &VERBOSE)),
        words(&markdown(&analysis)),
        seen_words(&html(&analysis, "")),
    ] {
        assert!(text.contains(all), "{text}");
        assert!(text.contains(other_way), "{text}");
        assert!(
            text.contains("Driver python (Python 3.11.7) costs per operation: 232 ns in ratio"),
            "{text}"
        );
        assert!(text.contains("subtracted from nothing"), "{text}");
    }
}

#[test]
fn the_part_of_a_difference_that_may_be_the_drivers_is_a_share_of_it() {
    let analysis = with_python(232.0);
    let contrast = &analysis.comparisons[0].contrasts[1];
    let told = |cost| {
        let mut analysis = analysis.clone();
        analysis.comparisons[0].contrasts[1].driver_cost = Some(cost);
        words(&terminal(&analysis, &PLAIN))
    };
    let cost = ContrastDriverCost {
        difference_ns: 226.0,
        of_ns: 2_260.0,
        share: 0.1,
        ratio_without: contrast.estimate,
        verdict_without: Some(contrast.verdict),
    };
    let part = told(cost);
    assert!(
        part.contains("of the 2.26 µs between them, 226 ns (10%) may be their drivers'. "),
        "{part}"
    );
    let more = told(ContrastDriverCost {
        of_ns: 113.0,
        share: 2.0,
        ..cost
    });
    assert!(
        more.contains(
            "they are 113 ns apart, less than their drivers' costs, which are 226 ns apart. "
        ),
        "{more}"
    );
    let changed = told(ContrastDriverCost {
        ratio_without: Some(RatioEstimate {
            ratio: 1.02,
            low: 0.98,
            high: 1.06,
            ..cost.ratio_without.unwrap()
        }),
        verdict_without: Some(Verdict::Unresolved),
        ..cost
    });
    assert!(
        changed.contains(
            "Without driver costs the verdict would be unresolved and not faster, and the ratio 1.02 \
             [0.980, 1.06]."
        ),
        "{changed}"
    );
}

#[test]
fn a_cost_that_counts_must_not_be_overlooked() {
    let notice = |python_ns| {
        let page = html(&with_python(python_ns), "");
        let (before, _) = page.split_once("Driver cost per operation").unwrap();
        before.ends_with("class=\"notice\">")
    };
    assert!(
        notice(232.0),
        "it is 6.4% of a time, and 5% are what counts"
    );
    assert!(!notice(150.0));
}

#[test]
fn beside_wall_time_it_is_said_that_the_share_is_of_corrected_time() {
    let mut analysis = with_python(232.0);
    analysis.comparisons[0].metric = Metric::Wall;
    let text = words(&terminal(&analysis, &PLAIN));
    assert!(
        text.contains("and its share of the corrected time: the program's own loop"),
        "{text}"
    );
    assert!(
        text.contains("they are 4.52 µs of corrected time apart"),
        "{text}"
    );
}

#[test]
fn a_driver_that_did_not_measure_its_cost_is_said_to_be_unknown() {
    let mut analysis = with_python(232.0);
    for cell in &mut analysis.comparisons[0].cells {
        if cell.cell.store.driver() == "python" {
            cell.driver_cost = None;
        }
    }
    for contrast in &mut analysis.comparisons[0].contrasts {
        contrast.driver_cost = None;
    }
    let text = words(&terminal(&analysis, &PLAIN));
    assert!(
        text.contains(
            "and that of python is unknown, because it timed no store that does nothing."
        ),
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
    let csv = stowplan_report::csv::render(&analysis);
    let rows: Vec<Vec<String>> = csv.lines().map(fields).collect();
    let of = |name: &str| {
        let column = rows[0].iter().position(|title| title == name).unwrap();
        rows[4][column].as_str()
    };
    assert_eq!((of("driver"), of("driver_cost_ns")), ("python", "232"));
    assert!(of("driver_cost_share").starts_with("0.0565"), "{rows:?}");
    assert_eq!(of("driver_cost_difference_ns"), "225.8");
    assert_eq!(of("verdict_without_driver_cost"), "faster");
    let json = stowplan_report::json::render(&analysis).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["driver_costs"][0]["tool"], "Python 3.11.7");
    let reads = &json["comparisons"][0];
    assert_eq!(
        reads["contrasts"][1]["driver_cost"]["verdict_without"],
        "faster"
    );
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
