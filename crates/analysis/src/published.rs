//! Times that others published, each beside ours of as many operations.

use crate::figures::Figures;
use crate::{CellSummary, Interval};
use serde::Serialize;
use stowplan_model::{PublishedRow, Study};

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
    /// What was published.
    #[serde(flatten)]
    pub published: PublishedRow,
    /// What it is of.
    pub what: String,
    /// Our seconds of as many operations; nothing where the cell was not measured.
    pub ours_seconds: Option<Interval>,
    /// Our seconds before the last commit, where a block is one transaction.
    pub ours_before_commit_seconds: Option<f64>,
    /// How many operations a block of ours has, where they are not as many: ours is then scaled.
    pub scaled_from: Option<u64>,
}

impl Figures<'_> {
    /// Every table of published times of which anything was measured.
    pub(crate) fn published(&self) -> Vec<PublishedOutcome> {
        let specs = self.study.figures.iter();
        let tables = specs.filter(|spec| spec.comparisons.is_empty() && !spec.is_of_space());
        let tables = tables.map(|spec| PublishedOutcome {
            id: spec.id.clone(),
            title: spec.title.clone(),
            place: spec.place.clone(),
            rows: spec.published.iter().map(|row| self.time(row)).collect(),
        });
        let is_measured = |row: &PublishedTime| row.ours_seconds.is_some();
        tables
            .filter(|table| table.rows.iter().any(is_measured))
            .collect()
    }

    fn time(&self, row: &PublishedRow) -> PublishedTime {
        let outcomes = self.judged.iter().map(|(_, outcome)| outcome);
        let mut ours = outcomes.filter_map(|outcome| outcome.cell(row.cell.as_ref()?));
        time(row, self.study, ours.next())
    }
}

fn time(row: &PublishedRow, study: &Study, ours: Option<&CellSummary>) -> PublishedTime {
    const NS: f64 = 1e-9;
    let block = ours.and_then(|cell| cell.block_time);
    let operations = row.operations.unwrap_or_default();
    let per_operation = ours.and_then(|cell| cell.time_ns);
    let known = ours.map(|ours| ours.cell.label.clone());
    let called = || row.cell.as_ref().map(|cell| study.label_of(cell));
    let what = row.label.clone().or(known).or_else(called);
    PublishedTime {
        published: row.clone(),
        what: what.unwrap_or_default(),
        ours_seconds: per_operation.map(|time| time.times(operations as f64 * NS)),
        ours_before_commit_seconds: block
            .filter(|block| block.operations == operations)
            .and_then(|block| block.before_commit_ns)
            .map(|ns| ns * NS),
        scaled_from: block
            .map(|block| block.operations)
            .filter(|ours| *ours != operations),
    }
}
