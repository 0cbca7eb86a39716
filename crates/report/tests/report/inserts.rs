//! Runs that insert: totals beside the ratios, samples, published seconds, and time against rows.

use crate::fixture::{self, Draft, comparison};
use crate::support::{PLAIN, VERBOSE, element, html, markdown, terminal};
use stowplan_analysis::{
    Analysis, ComparisonOutcome, LinePlane, LinePoint, LinesOutcome, MeasuredLine, Quantity,
};
use stowplan_model::{
    AccessOrder, Across, Comparison, Durability, Footprint, Measure, Operation, PerTransaction,
    Role, WorkloadSpec,
};
use stowplan_report::render::terminal::TerminalOptions;

/// One comparison: its name, its rows, and how much longer a row takes than in the smallest.
const SIZES: [(&str, &str, u32, f64); 2] = [
    ("rows-10k", "10,000 rows", 10_000, 1.0),
    ("rows-1m", "1,000,000 rows", 1_000_000, 1.25),
];

/// Whether each row is a transaction, the time of a row, and what others published for 10,000.
type Cell = (&'static str, &'static str, bool, f64, Option<f64>);

const CELLS: [Cell; 4] = [
    ("one", "memory, one transaction", false, 276.0, Some(0.04)),
    ("control", "memory, one transaction", false, 277.0, None),
    ("each", "memory, transaction each", true, 801.0, Some(0.02)),
    (
        "disk-each",
        "disk, transaction each",
        true,
        3_650_000.0,
        None,
    ),
];

fn inserts((id, title, rows, factor): (&'static str, &'static str, u32, f64)) -> ComparisonOutcome {
    let sampled = |key: &str| key == "disk-each" && rows > 10_000;
    let drafts = CELLS.map(|(key, label, each, nanoseconds, _)| Draft {
        comparison: id,
        claim: match key {
            "disk-each" => (Durability::Durable, true),
            _ => (Durability::None, false),
        },
        workload: WorkloadSpec {
            operation: Some(Operation::Insert),
            order: Some(AccessOrder::Ascending),
            per_transaction: each.then_some(PerTransaction::Operations(1)),
            operations: Some(if sampled(key) { 1_000 } else { rows }),
            sample_of: sampled(key).then_some(rows.into()),
            ..WorkloadSpec::default()
        },
        role: match key {
            "one" => Role::Baseline,
            "control" => Role::Control,
            _ => Role::Candidate,
        },
        ..Draft::read(key, label, "sqlite", nanoseconds * factor)
    });
    let mut outcome = comparison(id, title, &drafts, 1.003, &[]);
    for (cell, (key, _, each, _, published)) in outcome.cells.iter_mut().zip(CELLS) {
        let measured = cell.cell.workload.operations.unwrap();
        cell.commits = if each { f64::from(measured) } else { 1.0 };
        cell.last_commit_ns = (!each).then_some(21_700.0 * factor);
        cell.page_fill = Some(0.992);
        cell.cell.published_seconds = published.filter(|_| rows == 10_000);
        cell.block_footprint = (key == "disk-each").then_some(Footprint {
            apparent_bytes: u64::from(measured) * 40,
            allocated_bytes: u64::from(measured) * 40 + 8_192,
            files: 1,
            directories: 1,
        });
    }
    for contrast in &mut outcome.contrasts {
        contrast.same_durability = !contrast.cell.0.ends_with("disk-each");
    }
    outcome
}

/// A run of nothing but inserts.
pub(crate) fn analysis() -> Analysis {
    let mut analysis = fixture::empty("Inserts");
    analysis.comparisons = SIZES.map(inserts).into();
    let comparisons = analysis.comparisons.iter();
    analysis.run.plan.comparisons = comparisons
        .map(|outcome| Comparison {
            id: outcome.id.clone(),
            title: outcome.title.clone(),
            cells: outcome.cells.iter().map(|cell| cell.cell.clone()).collect(),
            contrasts: Vec::new(),
            not_applicable: outcome.not_applicable.clone(),
            measure: Default::default(),
            rebuild_every: None,
            published_label: Some("a machine of 2011, seconds with the commit".to_owned()),
            max_rounds: 20,
        })
        .collect();
    fixture::decided(analysis)
}

#[test]
fn shows_totals_beside_the_ratios_in_80_columns() {
    insta::assert_snapshot!(terminal(&analysis(), &PLAIN));
}

#[test]
fn shows_the_same_in_ascii_and_the_rest_when_verbose() {
    let options = TerminalOptions {
        unicode: false,
        ..VERBOSE
    };
    let text = terminal(&analysis(), &options);
    let start = text.find("Totals of 1,000,000 rows").unwrap();
    let end = start + text[start..].find("Settings of each cell").unwrap();
    insta::assert_snapshot!(&text[start..end]);
}

#[test]
fn a_total_is_rows_times_the_time_of_a_row() {
    let analysis = analysis();
    let page = html(&analysis, "");
    let document = markdown(&analysis);
    // 276 ns × 10,000, the same without its commit of 21.7 µs, 345 ns × 1,000,000, and a sample.
    for total in ["2.76 ms", "2.74 ms", "345 ms", "~76 min 3 s"] {
        assert!(page.contains(&format!(">{total}</td>")), "{total}");
        assert!(document.contains(&format!("| {total} |")), "{total}");
    }
    for cell in analysis.comparisons.iter().flat_map(|c| &c.cells) {
        let workload = &cell.cell.workload;
        let rows = workload
            .sample_of
            .unwrap_or_else(|| workload.operations.unwrap().into());
        let seconds = cell.time_ns.unwrap().estimate * rows as f64 / 1e9;
        let sort = format!("data-sort=\"{seconds}\"");
        assert!(page.contains(&sort), "{sort}");
    }
}

#[test]
fn every_other_number_of_the_totals_is_in_the_page_and_in_the_document() {
    let page = html(&analysis(), "");
    let document = markdown(&analysis());
    for text in [
        "to last row",
        "with commit",
        "page fill",
        "40.0 ms",
        "20.0 ms",
        "1,000,000",
        "99%",
        "Published: a machine of 2011, seconds with the commit.",
        "extrapolated from a sample: “disk, transaction each” from 1,000 rows; commits,",
    ] {
        assert!(page.contains(text), "{text}");
        assert!(document.contains(text), "{text}");
    }
    for bytes in [408_192, 48_192] {
        let bytes = stowplan_model::format_bytes(bytes);
        assert!(
            page.contains(&bytes) && document.contains(&bytes),
            "{bytes}"
        );
    }
}

#[test]
fn other_work_has_no_totals() {
    let analysis = fixture::analysis();
    assert!(!terminal(&analysis, &PLAIN).contains("Totals"));
    assert!(!html(&analysis, "").contains("Totals"));
}

#[test]
fn a_cell_that_failed_has_no_total() {
    let mut analysis = analysis();
    let cell = &mut analysis.comparisons[0].cells[2];
    (cell.time_ns, cell.wall_ns, cell.commits) = (None, f64::NAN, f64::NAN);
    let page = html(&analysis, "");
    assert!(!page.contains("NaN"));
    assert!(!page.contains(">10,000</td><td class=\"number\">0"));
}

#[test]
fn time_per_row_is_drawn_against_rows_with_every_number() {
    let analysis = analysis();
    let page = html(&analysis, "");
    for text in [
        "<h4>memory, one transaction (durability: none)</h4>",
        "10,000 rows: 276 ns per row, interval 268 ns to 287 ns<",
        "1,000,000 rows: 345 ns per row, interval 335 ns to 359 ns<",
        "<h4>disk, transaction each (durability: durable, atomic)</h4>",
        "1,000,000 rows: 4.56 ms per row, interval 4.43 ms to 4.75 ms, from a sample<",
    ] {
        assert!(page.contains(text), "{text}");
    }
    let drawn = element(&page, "growth");
    let planes = drawn.matches("<svg class=\"plane\"").count();
    assert_eq!(planes, 3, "all but the control");
    let mut single = analysis;
    single.comparisons.truncate(1);
    assert!(!html(&single, "").contains("id=\"growth\""));
}

#[test]
fn what_the_study_draws_as_lines_is_not_drawn_again() {
    let mut analysis = analysis();
    let drawn = |analysis: &Analysis| html(analysis, "").contains("id=\"growth\"");
    let cells = analysis.comparisons.iter().flat_map(|c| &c.cells);
    let points: Vec<LinePoint> = cells
        .map(|cell| LinePoint {
            x: 1,
            cell: cell.cell.id.clone(),
            sample: false,
            quantity: Quantity {
                value: 1.0,
                ends: None,
            },
        })
        .collect();
    analysis.lines.push(LinesOutcome {
        id: "rows".to_owned(),
        title: "Rows".to_owned(),
        x: Across::Operations,
        measure: Measure::Throughput,
        planes: vec![LinePlane {
            durability: None,
            lines: vec![MeasuredLine {
                label: "all".to_owned(),
                points,
            }],
        }],
        levels: Vec::new(),
        unreliable: Vec::new(),
    });
    assert!(!drawn(&analysis));
    analysis.lines[0].measure = Measure::PeakMemory;
    assert!(drawn(&analysis), "memory is no time");
    analysis.lines[0].measure = Measure::Throughput;
    analysis.lines[0].planes[0].lines[0].points.pop();
    assert!(drawn(&analysis), "a line has a cell that the chart has not");
}
