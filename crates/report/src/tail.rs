//! Percentiles of the latency of single operations before they are drawn: a line per cell, for means
//! hide tails.

use crate::document::Scale;
use crate::table::{self, Table};
use crate::{format, quantity, wording};
use stowplan_analysis::{CellSummary, ComparisonOutcome, LatencySummary};
use stowplan_model::Role;

/// The percentiles that are marked and labelled.
const MARKS: [f64; 6] = [50.0, 90.0, 99.0, 99.9, 99.99, 99.999];

/// The percentiles of a comparison.
pub(crate) struct Tails {
    /// Title of the comparison.
    pub(crate) title: String,
    /// The axis across: the reciprocal of the share of operations beyond a percentile.
    pub(crate) x: Scale,
    /// The labelled percentiles: where they lie on that axis, and what they are called.
    pub(crate) marks: Vec<(f64, String)>,
    /// The axis of nanoseconds.
    pub(crate) y: Scale,
    /// At most as many lines together as can be told apart.
    pub(crate) planes: Vec<Plane>,
    /// Every figure.
    pub(crate) table: Table,
}

/// Lines in one drawing.
pub(crate) struct Plane {
    /// What they have in common; nothing if there is one plane only.
    pub(crate) heading: Option<String>,
    /// At least one.
    pub(crate) lines: Vec<Line>,
}

/// One cell.
pub(crate) struct Line {
    /// What it is, and what it promises where promises differ.
    pub(crate) label: String,
    /// By rising percentile; at least one.
    pub(crate) points: Vec<Point>,
}

/// One percentile.
pub(crate) struct Point {
    /// Where it lies on the axis across.
    pub(crate) x: f64,
    /// Nanoseconds.
    pub(crate) y: f64,
    /// Everything about it in a sentence, if it is a labelled one.
    pub(crate) tooltip: Option<String>,
}

/// The percentiles of a comparison, with at most so many lines in a plane; nothing if no cell has
/// any.
pub(crate) fn tails(comparison: &ComparisonOutcome, most: usize) -> Option<Tails> {
    let cells: Vec<&CellSummary> = comparison
        .cells
        .iter()
        .filter(|cell| !matches!(cell.cell.role, Role::Control | Role::Part))
        .filter(|cell| curve(cell).is_some())
        .collect();
    let points = || cells.iter().filter_map(|c| curve(c)).flatten();
    let last = points().map(|(percentile, _)| *percentile);
    let last = last.reduce(f64::max)?;
    let heights = points().map(|(_, ns)| nanoseconds(*ns));
    let (low, high) = heights.fold((f64::INFINITY, 0.0_f64), |(low, high), ns| {
        (low.min(ns), high.max(ns))
    });
    let marks = MARKS.into_iter().filter(|mark| *mark <= last);
    Some(Tails {
        title: comparison.title.clone(),
        x: Scale::logarithmic(across(50.0), across(last)),
        marks: marks
            .map(|mark| (across(mark), format!("{mark}%")))
            .collect(),
        y: Scale::logarithmic(low, high),
        planes: planes(comparison, &cells, most),
        table: table::tails(comparison),
    })
}

fn curve(cell: &CellSummary) -> Option<&[(f64, u64)]> {
    let curve = cell.latency.as_ref()?.curve.as_slice();
    (!curve.is_empty()).then_some(curve)
}

/// A percentile on the usual axis of tails, on which 90, 99 and 99.9 lie equally far apart.
fn across(percentile: f64) -> f64 {
    100.0 / (100.0 - percentile)
}

#[expect(clippy::cast_precision_loss, reason = "drawn")]
fn nanoseconds(ns: u64) -> f64 {
    // A logarithmic axis has no place for 0, which no clock measures either.
    ns.max(1) as f64
}

/// All cells together, or, if they are too many, those of each kind of store.
fn planes(comparison: &ComparisonOutcome, cells: &[&CellSummary], most: usize) -> Vec<Plane> {
    let lines = |cells: &[&CellSummary]| -> Vec<Line> {
        let cells = cells.iter();
        cells.filter_map(|cell| line(comparison, cell)).collect()
    };
    if cells.len() <= most {
        return vec![Plane {
            heading: None,
            lines: lines(cells),
        }];
    }
    let mut kinds: Vec<(&str, Vec<&CellSummary>)> = Vec::new();
    for cell in cells {
        let kind = cell.cell.store.kind.as_str();
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, cells)) => cells.push(cell),
            None => kinds.push((kind, vec![cell])),
        }
    }
    let chunks = kinds
        .iter()
        .flat_map(|(kind, cells)| cells.chunks(most).map(move |chunk| (*kind, chunk)));
    chunks
        .map(|(kind, cells)| Plane {
            heading: Some(kind.to_owned()),
            lines: lines(cells),
        })
        .collect()
}

fn line(comparison: &ComparisonOutcome, cell: &CellSummary) -> Option<Line> {
    let latency = cell.latency.as_ref()?;
    let label = label(comparison, cell);
    let points = curve(cell)?.iter().map(|(percentile, ns)| Point {
        x: across(*percentile),
        y: nanoseconds(*ns),
        tooltip: MARKS
            .contains(percentile)
            .then(|| tooltip(&label, latency, *percentile, *ns)),
    });
    Some(Line {
        points: points.collect(),
        label,
    })
}

/// The label of a cell; where promises differ, with its own beside it.
fn label(comparison: &ComparisonOutcome, cell: &CellSummary) -> String {
    let label = table::label(cell);
    let differ = !wording::promise_alike(comparison);
    match wording::claim(cell).filter(|_| differ && cell.cell.role != Role::Floor) {
        Some(claim) => format!("{label} ({})", quantity::short_class(&claim)),
        None => label,
    }
}

fn tooltip(label: &str, latency: &LatencySummary, percentile: f64, ns: u64) -> String {
    format!(
        "{label}: {percentile}% of {} operations took at most {}",
        format::count(latency.count),
        format::time(nanoseconds(ns))
    )
}
