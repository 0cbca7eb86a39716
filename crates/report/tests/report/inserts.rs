//! Runs that insert: totals beside the ratios, samples, published seconds, and time against rows.

use crate::fixture::{self, Draft, comparison};
use crate::support::{PLAIN, html, terminal};
use stowplan_analysis::{Analysis, ComparisonOutcome};
use stowplan_model::{
    AccessOrder, Comparison, Durability, Footprint, Operation, PerTransaction, Role, WorkloadSpec,
};

/// One comparison: its name, its rows, and how much longer a row takes than in the smallest.
const SIZES: [(&str, &str, u32, f64); 2] = [
    ("rows-10k", "10,000 rows", 10_000, 1.0),
    ("rows-1m", "1,000,000 rows", 1_000_000, 1.25),
];

/// Whether each row is a transaction, the time of a row, and what others published for 10,000.
const CELLS: [(&str, &str, bool, f64, Option<f64>); 4] = [
    ("one", "memory, one transaction", false, 276.0, Some(0.04)),
    ("control", "memory, one transaction", false, 277.0, None),
    ("each", "memory, transaction each", true, 801.0, Some(0.02)),
    ("disk-each", "disk, transaction each", true, 3.65e6, None),
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
            judged: Default::default(),
        })
        .collect();
    fixture::decided(analysis)
}

#[test]
fn shows_the_ratios_of_inserts_in_80_columns() {
    insta::assert_snapshot!(terminal(&analysis(), &PLAIN));
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
