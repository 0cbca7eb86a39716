//! The matrices of a study: one ratio per setting and size, and what the rows teach.

use crate::{
    ComparisonOutcome, ContrastOutcome, RatioEstimate, Rule, SettingSweep, SweepPoint, Verdict,
    rules_of_thumb,
};
use serde::Serialize;
use std::iter::once;
use stowplan_model::{CellFailure, CellId, MatrixSpec, Operation};

/// A matrix of the study with its numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MatrixOutcome {
    /// Its name in the study file.
    pub id: String,
    /// Title for people.
    pub title: String,
    /// What was done.
    pub operation: Operation,
    /// The setting of the internal store that the rows vary.
    pub row_setting: String,
    /// Rows: values of that setting, rising.
    pub rows: Vec<u64>,
    /// Columns: sizes of the values, bytes, rising.
    pub columns: Vec<u64>,
    /// The columns of which anything was measured, or that failed. The others are gaps of which
    /// the rules say nothing.
    pub measured: Vec<u64>,
    /// Whether inside and outside promise the same for what they wrote, in every column measured;
    /// true for reads.
    pub same_durability: bool,
    /// Label of the internal store at each row, for people; the setting is part of it.
    pub row_labels: Vec<String>,
    /// Label of the external store, for people.
    pub external_label: String,
    /// Cells by row, then column.
    pub cells: Vec<Vec<MatrixCell>>,
    /// Bytes on disk, allocated, per byte of the values: of the internal store at each row, then of the
    /// external one, each by column; nothing where it is not known.
    pub space: Vec<Vec<Option<f64>>>,
    /// What the published ratios are of; nothing without any.
    pub published_label: Option<String>,
    /// What the study says about it.
    pub note: Option<String>,
    /// One per row, in their order; side A is the internal store.
    pub rules: Vec<Rule>,
}

/// One cell of a matrix: the external store against the internal one at one setting and size.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MatrixCell {
    /// The cell of the internal store.
    pub cell: CellId,
    /// Time of the external store over time of the internal one: above 1 the internal one is
    /// faster. Nothing where the cell was not measured, or too rarely.
    pub estimate: Option<RatioEstimate>,
    /// The verdict on the external store's time over the internal one's: `Slower` says that the
    /// internal one is faster.
    pub verdict: Verdict,
    /// The published ratio.
    pub published: Option<f64>,
    /// Whether the column passed its A/A gate; true where it was not measured.
    pub reliable: bool,
}

/// The matrix, unless none of its columns has a figure.
pub(crate) fn matrix(
    spec: &MatrixSpec,
    comparisons: &[ComparisonOutcome],
    failures: &[&CellFailure],
    equivalence: f64,
) -> Option<MatrixOutcome> {
    let columns: Vec<Column<'_>> = spec
        .sizes
        .iter()
        .map(|size| Column::of(spec, *size, comparisons, failures))
        .collect();
    if !columns.iter().any(Column::has_figures) {
        return None;
    }
    let internal = spec.rows.iter().map(|row| {
        let space = |column: &Column<'_>| column.space(&spec.cell_id(*row, column.size));
        columns.iter().map(space).collect()
    });
    let external = columns.iter();
    let external = external.map(|column| column.space(&spec.external_id(column.size)));
    let space = internal.chain(once(external.collect())).collect();
    let cells = spec.rows.iter().map(|row| {
        let in_column = |column: &Column<'_>| column.cell(spec, *row);
        columns.iter().map(in_column).collect()
    });
    Some(MatrixOutcome {
        id: spec.id.clone(),
        title: spec.title.clone(),
        operation: spec.workload.complete().operation,
        row_setting: spec.row_setting.clone(),
        rows: spec.rows.clone(),
        columns: spec.sizes.clone(),
        measured: columns
            .iter()
            .filter(|column| column.outcome.is_some())
            .map(|column| column.size)
            .collect(),
        same_durability: columns.iter().all(|column| column.same_durability(spec)),
        row_labels: spec.rows.iter().map(|row| spec.row_label(*row)).collect(),
        external_label: spec.external_label(),
        cells: cells.collect(),
        space,
        published_label: spec.published.as_ref().map(|found| found.label.clone()),
        note: spec.note.clone(),
        rules: rules_of_thumb(&sweeps(spec, &columns), equivalence),
    })
}

/// One size of values, and what was found there, if it was planned and ran.
struct Column<'a> {
    size: u64,
    outcome: Option<&'a ComparisonOutcome>,
}

impl<'a> Column<'a> {
    fn of(
        spec: &MatrixSpec,
        size: u64,
        comparisons: &'a [ComparisonOutcome],
        failures: &[&CellFailure],
    ) -> Self {
        let id = spec.comparison_id(size);
        let mut ran = comparisons
            .iter()
            .filter(|outcome| outcome.was_measured() || outcome.has_failed(failures));
        Self {
            size,
            outcome: ran.find(|outcome| outcome.id == id),
        }
    }

    fn has_figures(&self) -> bool {
        self.outcome.is_some_and(ComparisonOutcome::was_measured)
    }

    /// Whether every row promises what the external store does; true where nothing was measured.
    fn same_durability(&self, spec: &MatrixSpec) -> bool {
        let mut rows = spec.rows.iter();
        rows.all(|row| {
            let contrast = self.contrast(spec, *row);
            contrast.is_none_or(|contrast| contrast.same_durability)
        })
    }

    /// External over internal, the way the matrix is read.
    fn contrast(&self, spec: &MatrixSpec, row: u64) -> Option<ContrastOutcome> {
        let internal = spec.cell_id(row, self.size);
        let external = spec.external_id(self.size);
        let contrasts = &self.outcome?.contrasts;
        contrasts
            .iter()
            .find(|c| c.cell == internal && c.reference == external)
            .map(ContrastOutcome::inverse)
    }

    /// Of the store of a cell, bytes on disk per byte of the values.
    fn space(&self, id: &CellId) -> Option<f64> {
        let mut cells = self.outcome?.cells.iter();
        cells.find(|cell| cell.cell.id == *id)?.space_per_value_byte
    }

    fn cell(&self, spec: &MatrixSpec, row: u64) -> MatrixCell {
        let contrast = self.contrast(spec, row);
        let published = spec.published.as_ref();
        MatrixCell {
            cell: spec.cell_id(row, self.size),
            estimate: contrast.as_ref().and_then(|contrast| contrast.estimate),
            verdict: contrast.map_or(Verdict::NoData, |contrast| contrast.verdict),
            published: published.and_then(|published| published.ratio(row, self.size)),
            reliable: self.outcome.is_none_or(|outcome| outcome.reliable),
        }
    }
}

/// The rows as sweeps over sizes. Sizes that were not measured are no points of them: a gap in
/// the data is not a gap in the order.
fn sweeps(spec: &MatrixSpec, columns: &[Column<'_>]) -> Vec<SettingSweep> {
    let sweep = |row: u64| SettingSweep {
        setting: row.to_string(),
        points: columns
            .iter()
            .filter_map(|column| {
                let contrast = column.contrast(spec, row)?;
                Some(SweepPoint::of(column.size, &contrast))
            })
            .collect(),
    };
    spec.rows.iter().map(|row| sweep(*row)).collect()
}
