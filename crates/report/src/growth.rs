//! Time per row against rows: what a cell takes where several comparisons insert different numbers
//! of rows.

use crate::document::Scale;
use crate::table::{Entry, Table, build, numeric};
use crate::{format, total, wording};
use std::collections::BTreeSet;
use stowplan_analysis::{Analysis, CellSummary, Interval};
use stowplan_model::{CellId, Measure, Operation, Role, StoreSpec, Workload};

/// Lines over common axes.
pub(crate) struct Growth {
    /// The axis of rows.
    pub(crate) rows: Scale,
    /// The axis of nanoseconds per row.
    pub(crate) times: Scale,
    /// At least one.
    pub(crate) lines: Vec<Line>,
}

/// One cell over the number of rows.
pub(crate) struct Line {
    /// What it is, and what it promises for what it wrote.
    pub(crate) title: String,
    /// By rising number of rows; at least two.
    pub(crate) points: Vec<Point>,
}

/// One number of rows.
pub(crate) struct Point {
    pub(crate) rows: u64,
    /// Nanoseconds per row.
    pub(crate) time: Interval,
    /// Whether fewer rows were measured.
    pub(crate) sample: bool,
    /// Everything about it in a few words.
    pub(crate) tooltip: String,
}

/// Every cell that inserts different numbers of rows in different comparisons, unless the study
/// draws it as a line already; nothing if there is none.
pub(crate) fn growth(analysis: &Analysis) -> Option<Growth> {
    let comparisons = analysis.comparisons.iter();
    let cells = comparisons.flat_map(|comparison| &comparison.cells);
    let mut groups: Vec<Vec<&CellSummary>> = Vec::new();
    for cell in cells.filter(|cell| inserts(cell)) {
        match groups.iter_mut().find(|group| same(group[0], cell)) {
            Some(group) => group.push(cell),
            None => groups.push(vec![cell]),
        }
    }
    let drawn = drawn(analysis);
    groups.retain(|group| !group.iter().all(|cell| drawn.contains(&cell.cell.id)));
    let lines: Vec<Line> = groups.iter().filter_map(|group| line(group)).collect();
    if lines.is_empty() {
        return None;
    }
    let points: Vec<&Point> = lines.iter().flat_map(|line| &line.points).collect();
    let rows = points.iter().map(|point| count(point.rows));
    let times = points.iter().flat_map(|p| [p.time.low, p.time.high]);
    Some(Growth {
        rows: axis(rows),
        times: axis(times),
        lines,
    })
}

/// The cells whose time a chart of lines shows.
fn drawn(analysis: &Analysis) -> BTreeSet<&CellId> {
    let times = [Measure::Time, Measure::BlockTime, Measure::Throughput];
    let charts = analysis.lines.iter();
    let charts = charts.filter(|chart| times.contains(&chart.measure));
    let lines = charts
        .flat_map(|chart| &chart.planes)
        .flat_map(|plane| &plane.lines);
    lines
        .flat_map(|line| &line.points)
        .map(|p| &p.cell)
        .collect()
}

fn axis(values: impl Iterator<Item = f64>) -> Scale {
    let (low, high) = values.fold((f64::INFINITY, 0.0_f64), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    Scale::logarithmic(low, high)
}

fn inserts(cell: &CellSummary) -> bool {
    let compared = !matches!(cell.cell.role, Role::Control | Role::Part);
    compared && cell.cell.workload.operation == Operation::Insert
}

/// Whether two cells are the same but for the number of rows.
fn same(one: &CellSummary, other: &CellSummary) -> bool {
    fn identity(cell: &CellSummary) -> (&str, &StoreSpec, Workload) {
        let workload = Workload {
            operations: None,
            sample_of: None,
            ..cell.cell.workload.clone()
        };
        (&cell.cell.key, &cell.cell.store, workload)
    }
    identity(one) == identity(other)
}

/// The line of a cell; nothing if it has data for less than two numbers of rows.
fn line(group: &[&CellSummary]) -> Option<Line> {
    let mut points: Vec<Point> = group.iter().filter_map(|cell| point(cell)).collect();
    points.sort_by_key(|point| point.rows);
    points.dedup_by_key(|point| point.rows);
    let first = group.first()?;
    let promise = wording::claim(first);
    let promise = promise.map_or_else(String::new, |claim| format!(" (durability: {claim})"));
    (points.len() > 1).then(|| Line {
        title: format!("{}{promise}", first.cell.label),
        points,
    })
}

fn point(cell: &CellSummary) -> Option<Point> {
    let rows = total::rows_of(cell)?;
    let time = cell.time_ns?;
    let usable = time.low > 0.0 && time.high.is_finite();
    let sample = cell.cell.workload.sample_of.is_some();
    let note = if sample { ", from a sample" } else { "" };
    usable.then(|| Point {
        rows,
        time,
        sample,
        tooltip: format!(
            "{} rows: {} per row, interval {} to {}{note}",
            format::count(rows),
            format::time(time.estimate),
            format::time(time.low),
            format::time(time.high)
        ),
    })
}

/// Every number of a line.
pub(crate) fn table(line: &Line) -> Table {
    let makers = vec![
        numeric("rows", "rows inserted by a block", |point: &Point| {
            Entry::number(count(point.rows), format::count(point.rows))
        }),
        numeric("time per row", "", |point: &Point| {
            Entry::number(point.time.estimate, format::time(point.time.estimate))
        })
        .in_unit("ns"),
        numeric("from", "lower end of the interval", |point: &Point| {
            Entry::number(point.time.low, format::time(point.time.low))
        })
        .in_unit("ns"),
        numeric("to", "upper end of the interval", |point: &Point| {
            Entry::number(point.time.high, format::time(point.time.high))
        })
        .in_unit("ns"),
    ];
    build(makers, &line.points)
}

#[expect(clippy::cast_precision_loss, reason = "drawn")]
pub(crate) fn count(rows: u64) -> f64 {
    rows as f64
}
