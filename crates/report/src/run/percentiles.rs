//! Latency percentiles of single operations: a line per cell, for means hide what is rare and slow.

use crate::cells;
use crate::document::{
    Axis, Block, Cell, Detail, Fold, Line, LineKind, Medium, Panel, Plane, Point, Scale, Section,
    Table, TableBuilder, anchor, number, paragraph, text_column,
};
use crate::{format, quantity, wording};
use stowplan_analysis::{CellSummary, ComparisonOutcome, LatencySummary};
use stowplan_model::{Measure, Role};

/// The percentiles that are marked and labelled.
const MARKS: [f64; 6] = [50.0, 90.0, 99.0, 99.9, 99.99, 99.999];

/// Lines of one drawing that can be told apart.
const TOLD_APART: usize = 10;

const CAPTION: &str = "Across, the share of operations that took at most as long as the line is high; \
                       wall time, logarithmic axis. A line ends where fewer than ten operations lie \
                       beyond it.";

/// The percentiles of a comparison; nothing if no cell has any.
pub(crate) fn figure(comparison: &ComparisonOutcome) -> Option<Block> {
    let cells: Vec<&CellSummary> = comparison
        .cells
        .iter()
        .filter(|cell| !matches!(cell.cell.role, Role::Control | Role::Part))
        .filter(|cell| curve(cell).is_some())
        .collect();
    let plane = plane(comparison, &cells)?;
    let table = Fold::new("All percentiles", vec![table(comparison).into()]);
    // Without the drawing there is nothing across.
    let caption = paragraph(CAPTION).only(Medium::Page);
    let blocks = vec![caption, plane.into(), table.into()];
    let id = anchor("percentiles", &comparison.id);
    let figure = Section::figure(id, "Latency of single operations", blocks);
    Some(Block::from(figure).at(Detail::All))
}

fn curve(cell: &CellSummary) -> Option<&[(f64, u64)]> {
    let curve = cell.latency.as_ref()?.curve.as_slice();
    (!curve.is_empty()).then_some(curve)
}

fn plane(comparison: &ComparisonOutcome, cells: &[&CellSummary]) -> Option<Plane> {
    let points = || cells.iter().filter_map(|cell| curve(cell)).flatten();
    let last = points().map(|(percentile, _)| *percentile);
    let last = last.reduce(f64::max)?;
    let heights = points().map(|(_, ns)| nanoseconds(*ns));
    let (low, high) = heights.fold((f64::INFINITY, 0.0_f64), |(low, high), ns| {
        (low.min(ns), high.max(ns))
    });
    let y = Scale::logarithmic(low, high);
    let marks = MARKS.into_iter().filter(|mark| *mark <= last);
    Some(Plane {
        summary: format!("Latency percentiles: {}", comparison.title),
        x: Axis {
            title: String::new(),
            scale: Scale::logarithmic(across(50.0), across(last)),
            ticks: marks
                .map(|mark| (across(mark), format!("{mark}%")))
                .collect(),
        },
        y: Axis::new("", y, y.ticks(), |at| quantity::tick(Measure::Time, at)),
        ends: None,
        panels: panels(comparison, cells),
        areas: Vec::new(),
        levels: Vec::new(),
        legend: Vec::new(),
        on_terminal: false,
    })
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
fn panels(comparison: &ComparisonOutcome, cells: &[&CellSummary]) -> Vec<Panel> {
    let panel = |title: &str, cells: &[&CellSummary]| Panel {
        id: String::new(),
        title: title.to_owned(),
        lines: cells
            .iter()
            .enumerate()
            .filter_map(|(index, cell)| line(comparison, cell, index))
            .collect(),
    };
    if cells.len() <= TOLD_APART {
        return vec![panel("", cells)];
    }
    let mut kinds: Vec<(&str, Vec<&CellSummary>)> = Vec::new();
    for cell in cells {
        let kind = cell.cell.store.kind.as_str();
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, cells)) => cells.push(cell),
            None => kinds.push((kind, vec![cell])),
        }
    }
    let chunks = kinds.iter().flat_map(|(kind, cells)| {
        let chunks = cells.chunks(TOLD_APART);
        chunks.map(move |chunk| (*kind, chunk))
    });
    chunks.map(|(kind, cells)| panel(kind, cells)).collect()
}

fn line(comparison: &ComparisonOutcome, cell: &CellSummary, index: usize) -> Option<Line> {
    let count = cell.latency.as_ref()?.count;
    let label = label(comparison, cell);
    let points = curve(cell)?.iter().map(|(percentile, ns)| {
        let value = format::time(nanoseconds(*ns));
        let tooltip = format!(
            "{label}: {percentile}% of {} operations took at most {value}",
            format::count(count)
        );
        Point {
            x: across(*percentile),
            y: Some(nanoseconds(*ns)),
            interval: None,
            shape: None,
            label: format!("{percentile}%"),
            value,
            spread: String::new(),
            tooltip: if MARKS.contains(percentile) {
                tooltip
            } else {
                String::new()
            },
        }
    });
    Some(Line {
        points: points.collect(),
        kind: LineKind::Series(index),
        label,
    })
}

/// The label of a cell; where promises differ, with its own beside it.
fn label(comparison: &ComparisonOutcome, cell: &CellSummary) -> String {
    let label = cells::label(cell);
    let differ = !wording::promise_alike(comparison);
    match cell
        .promise()
        .filter(|_| differ && cell.cell.role != Role::Floor)
    {
        Some(claim) => format!("{label} ({})", quantity::short_class(&claim)),
        None => label,
    }
}

/// A cell and its latencies.
type Row<'a> = (&'a CellSummary, &'a LatencySummary);

/// A row for each cell that has any.
fn table(comparison: &ComparisonOutcome) -> Table {
    let rows = comparison.cells.iter();
    let rows: Vec<Row<'_>> = rows
        .filter_map(|cell| Some((cell, cell.latency.as_ref()?)))
        .collect();
    let caption = format!("Latency: {}", comparison.title);
    Table::of(caption, columns(), &rows)
}

#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
fn columns<'a>() -> Vec<TableBuilder<'a, Row<'a>>> {
    let time = |title: &'static str, help: &'static str, get: fn(&LatencySummary) -> f64| {
        let cell = move |row: &Row<'_>| Cell::number(get(row.1), format::time(get(row.1)));
        number(title, help, cell).in_unit("ns")
    };
    let help = "at most this";
    vec![
        text_column("cell", "what was timed", |row: &Row<'_>| {
            Cell::text(cells::label(row.0))
        }),
        number("count", "operations timed singly", |row: &Row<'_>| {
            Cell::number(row.1.count as f64, format::count(row.1.count))
        }),
        time("mean", "", |l| l.mean_ns).weighing(2),
        time("p50", help, |l| l.p50_ns as f64).weighing(4),
        time("p90", help, |l| l.p90_ns as f64).weighing(2),
        time("p95", help, |l| l.p95_ns as f64).weighing(2),
        time("p99", help, |l| l.p99_ns as f64).weighing(5),
        time("p99.9", help, |l| l.p999_ns as f64).weighing(4),
        number(
            "p99.99",
            "at most this; empty where too few operations lie beyond it",
            |row: &Row<'_>| {
                let mut curve = row.1.curve.iter();
                let point = curve.find(|(known, _)| known.to_bits() == 99.99_f64.to_bits());
                Cell::maybe(point.map(|(_, ns)| *ns as f64), format::time)
            },
        )
        .in_unit("ns")
        .weighing(3),
        time("largest", "", |l| l.max_ns as f64).weighing(3),
    ]
}
