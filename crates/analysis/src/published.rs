//! Times that others published, each beside ours of as many operations.

use crate::{CellSummary, ComparisonOutcome, Interval};
use serde::Serialize;
use stowplan_model::{CellId, PublishedRow, PublishedSpec, Study};

/// A table of published times.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PublishedOutcome {
    /// Its name in the study file.
    pub id: String,
    /// What was measured, where and when.
    pub title: String,
    /// Where it stands in the source.
    pub place: Option<String>,
    /// Its rows.
    pub rows: Vec<PublishedTime>,
}

/// One published time, and ours.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PublishedTime {
    /// What it is of.
    pub what: String,
    /// The cell of ours that does the same, if one does.
    pub cell: Option<CellId>,
    /// How many operations it is of.
    pub operations: u64,
    /// Seconds of all operations, the last commit included.
    pub seconds: f64,
    /// Its standard error, in seconds.
    pub error_seconds: Option<f64>,
    /// Seconds before the last commit.
    pub before_commit_seconds: Option<f64>,
    /// Our seconds of as many operations; nothing where the cell was not measured.
    pub ours_seconds: Option<Interval>,
    /// Our seconds before the last commit, where a block is one transaction.
    pub ours_before_commit_seconds: Option<f64>,
    /// How many operations a block of ours has, where they are not as many: ours is then scaled.
    pub scaled_from: Option<u64>,
}

/// Every table of which anything was measured.
pub(crate) fn tables(study: &Study, comparisons: &[ComparisonOutcome]) -> Vec<PublishedOutcome> {
    let tables = study.published.iter();
    tables
        .map(|spec| table(spec, study, comparisons))
        .filter(|table| table.rows.iter().any(|row| row.ours_seconds.is_some()))
        .collect()
}

fn table(
    spec: &PublishedSpec,
    study: &Study,
    comparisons: &[ComparisonOutcome],
) -> PublishedOutcome {
    let find = |cell: &CellId| comparisons.iter().find_map(|known| known.cell(cell));
    let rows = spec.rows.iter().map(|row| {
        let ours = row.cell.as_ref().and_then(find);
        time(row, study, ours)
    });
    PublishedOutcome {
        id: spec.id.clone(),
        title: spec.title.clone(),
        place: spec.place.clone(),
        rows: rows.collect(),
    }
}

fn time(row: &PublishedRow, study: &Study, ours: Option<&CellSummary>) -> PublishedTime {
    const NS: f64 = 1e-9;
    let block = ours.and_then(|cell| cell.block_time);
    let operations = row.operations as f64 * NS;
    let per_operation = ours.and_then(|cell| cell.time_ns);
    PublishedTime {
        what: match (&row.what, ours, &row.cell) {
            (Some(what), _, _) => what.clone(),
            (None, Some(ours), _) => ours.cell.label.clone(),
            (None, None, Some(cell)) => study.label_of(cell),
            (None, None, None) => String::new(),
        },
        cell: row.cell.clone(),
        operations: row.operations,
        seconds: row.seconds,
        error_seconds: row.error_seconds,
        before_commit_seconds: row.before_commit_seconds,
        ours_seconds: per_operation.map(|time| time.times(operations)),
        ours_before_commit_seconds: block
            .filter(|block| block.operations == row.operations)
            .and_then(|block| block.before_commit_ns)
            .map(|ns| ns * NS),
        scaled_from: block
            .map(|block| block.operations)
            .filter(|ours| *ours != row.operations),
    }
}
