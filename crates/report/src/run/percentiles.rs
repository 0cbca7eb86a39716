//! Latency percentiles of single operations: a line per cell, for means hide what is rare and slow.

use crate::cells::{self, grouped};
use crate::columns::{self, Written};
use crate::document::{
    Axis, Block, Cell, ChartRow, Detail, Fill, RowGroup, Rows, Scale, Section, Table, Unit, Value,
    anchor, folded, headed, paragraph,
};
use crate::value;
use crate::value::float;
use stowplan_analysis::{CellSummary, ComparisonOutcome, LatencySummary};
use stowplan_model::{Action, Role};

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
    let plane = Block::from(plane(comparison, &cells)?).at(Detail::Page);
    let rows = comparison.cells.iter();
    let rows = rows.filter_map(|cell| Some((cell, None, cell.latency.as_ref()?)));
    let caption = format!("Latency: {}", comparison.title);
    let table = folded("All percentiles", table(caption, rows.collect()));
    let blocks = vec![paragraph(CAPTION), plane, table];
    let id = anchor("percentiles", &comparison.id);
    let figure = Section::figure(id, "Latency of single operations", blocks);
    Some(figure.into())
}

fn curve(cell: &CellSummary) -> Option<&[(f64, u64)]> {
    let curve = cell.latency.as_ref()?.curve.as_slice();
    (!curve.is_empty()).then_some(curve)
}

fn plane(comparison: &ComparisonOutcome, cells: &[&CellSummary]) -> Option<Rows> {
    let points = || cells.iter().filter_map(|cell| curve(cell)).flatten();
    let last = points().map(|(percentile, _)| *percentile);
    let last = last.reduce(f64::max)?;
    let y = Scale::over(points().map(|(_, ns)| nanoseconds(*ns)));
    let marks = MARKS.into_iter().filter(|mark| *mark <= last);
    let x = Axis {
        title: String::new(),
        scale: Scale::logarithmic(across(50.0), across(last)),
        ticks: marks.map(|at| (across(at), format!("{at}%"))).collect(),
    };
    let y = Axis::new("", y, y.ticks(), |at| Unit::Time.tick(at));
    let summary = format!("Latency percentiles: {}", comparison.title);
    Some(Rows::new(summary, y, lines(cells)).across(x))
}

/// A percentile on the usual axis of tails, on which 90, 99 and 99.9 lie equally far apart.
fn across(percentile: f64) -> f64 {
    100.0 / (100.0 - percentile)
}

/// A logarithmic axis has no place for 0, which no clock measures either.
fn nanoseconds(ns: u64) -> f64 {
    float(ns.max(1))
}

/// All cells in one drawing, or, if they are too many, those of each kind of store.
fn lines(cells: &[&CellSummary]) -> Vec<RowGroup> {
    let lines = |cells: &[&CellSummary]| -> Vec<RowGroup> {
        let lines = cells.iter().filter_map(|cell| line(cell));
        lines.collect()
    };
    if cells.len() <= TOLD_APART {
        return lines(cells);
    }
    let cells = cells.iter().copied();
    let kinds = grouped(cells.map(|cell| (cell.cell.store.kind.as_str(), cell)));
    let drawings = kinds.iter().flat_map(|(kind, cells)| {
        let drawings = cells.chunks(TOLD_APART);
        drawings.flat_map(|cells| headed(*kind, lines(cells)))
    });
    drawings.collect()
}

fn line(cell: &CellSummary) -> Option<RowGroup> {
    let of = format!(
        "of {} operations",
        value::count(cell.latency.as_ref()?.count)
    );
    let points = curve(cell)?.iter().map(|(percentile, ns)| {
        let (label, help) = match MARKS.contains(percentile) {
            true => (format!("{percentile}%"), of.clone()),
            false => (String::new(), String::new()),
        };
        let time = Value::new(nanoseconds(*ns), Unit::Time);
        ChartRow {
            x: across(*percentile),
            help,
            ..ChartRow::bar(label, Some(time), Fill::Ours)
        }
    });
    Some(RowGroup::of(cells::label(cell), points.collect()))
}

/// A cell, what its operations did where that is told apart, and how long they took.
type Row<'a> = (&'a CellSummary, Option<Action>, &'a LatencySummary);

/// Latency by what the operations of a mix did.
pub(super) fn by_operation(comparison: &ComparisonOutcome) -> Vec<Block> {
    let rows = comparison.cells.iter().flat_map(|cell| {
        let latencies = cell.latencies.iter();
        latencies.map(move |(action, latency)| (cell, Some(*action), latency))
    });
    let rows: Vec<Row<'_>> = rows.collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let caption = format!("Latency by operation: {}", comparison.title);
    let about = paragraph("Latency by operation, wall time:");
    vec![about, table(caption, rows).into()]
}

/// Every percentile, with what the drawing leaves out.
fn table(caption: String, rows: Vec<Row<'_>>) -> Table {
    let rows = rows.into_iter().map(|row| Written::new(row, row.2));
    let rows: Vec<Written<Row<'_>>> = rows.collect();
    let columns = columns::listed(include_str!("../tables/latency.txt"), special);
    Table::of(caption, columns, &rows)
}

/// What an operation did, `[1.21 µs, 1.30 µs]` of a percentile, and one that has no field.
fn special(name: &str, (cell, action, latency): &Row<'_>) -> Cell {
    let is = |known: f64, name: &str| name.parse() == Ok(known);
    match (name, name.strip_prefix('p')) {
        ("cell", _) => Cell::text(cells::label(cell)),
        ("action", _) => Cell::text(action.map_or("", Action::name)),
        (_, Some(percentile)) => {
            let mut curve = latency.curve.iter();
            let point = curve.find(|(known, _)| is(*known, percentile));
            Cell::maybe(point.map(|(_, ns)| float(*ns)), value::time)
        }
        (percentile, None) => {
            let mut intervals = latency.intervals.iter();
            let found = intervals.find(|found| is(found.percentile, percentile));
            found.map_or_else(Cell::default, |found| {
                let ends = [found.low_ns, found.high_ns].map(|ns| value::time(float(ns)));
                Cell::number(float(found.low_ns), format!("[{}]", ends.join(", ")))
            })
        }
    }
}
