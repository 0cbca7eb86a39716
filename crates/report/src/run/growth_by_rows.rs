//! Time per row against the number of rows: what a cell takes where several comparisons insert
//! different numbers of rows.

use super::totals::rows_of;
use crate::cells::grouped;
use crate::columns::{Columns, float};
use crate::document::{
    Axis, Block, Detail, Line, LineKind, Medium, Panel, Plane, Point, PointShape, Scale, Section,
    Table, folded, paragraph,
};
use crate::{format, quantity};
use std::collections::BTreeSet;
use stowplan_analysis::{Analysis, CellSummary, Interval};
use stowplan_model::{CellId, Measure, Operation, Role, StoreSpec, Workload};

const TITLE: &str = "Time per row against rows";

const CAPTION: &str = "Across, the rows of a block; upwards, the time of each, its share of the \
                       commits included. Both axes are logarithmic. The bars are intervals, a cross is \
                       a figure from a sample, and the pale lines are the other cells.";

/// One cell over the number of rows.
struct Curve {
    /// What it is, and what it promises for what it wrote.
    title: String,
    /// By rising number of rows; at least two.
    points: Vec<Place>,
}

/// One number of rows.
#[derive(Clone, Copy)]
struct Place {
    rows: u64,
    /// Nanoseconds per row.
    time: Interval,
    /// Whether fewer rows were measured.
    sample: bool,
}

/// Every cell that inserts different numbers of rows in different comparisons, unless the study
/// draws it as a line already; nothing if there is none.
pub(crate) fn figure(analysis: &Analysis) -> Option<Block> {
    let curves = curves(analysis);
    if curves.is_empty() {
        return None;
    }
    let table = folded("All times with their intervals", table(&curves));
    // Without the drawing there is nothing across.
    let caption = paragraph(CAPTION).only(Medium::Page);
    let blocks = vec![caption, plane(&curves).into(), table];
    Some(Block::from(Section::figure("growth", TITLE, blocks)).at(Detail::All))
}

fn curves(analysis: &Analysis) -> Vec<Curve> {
    let comparisons = analysis.comparisons.iter();
    let cells = comparisons.flat_map(|comparison| &comparison.cells);
    let compared = cells.filter(|c| !matches!(c.cell.role, Role::Control | Role::Part));
    let inserts = compared.filter(|c| c.cell.workload.operation == Operation::Insert);
    let mut groups = grouped(inserts.map(|cell| (identity(cell), cell)));
    let drawn = drawn(analysis);
    groups.retain(|(_, cells)| !cells.iter().all(|cell| drawn.contains(&cell.cell.id)));
    let groups = groups.iter();
    groups.filter_map(|(_, cells)| curve(cells)).collect()
}

/// What is the same of cells that differ in nothing but the number of rows.
fn identity(cell: &CellSummary) -> (&str, &StoreSpec, Workload) {
    let workload = Workload {
        operations: None,
        sample_of: None,
        ..cell.cell.workload.clone()
    };
    (&cell.cell.key, &cell.cell.store, workload)
}

/// The cells whose time a chart of lines shows.
fn drawn(analysis: &Analysis) -> BTreeSet<&CellId> {
    let times = [Measure::Time, Measure::BlockTime, Measure::Throughput];
    let charts = analysis.lines.iter();
    let charts = charts.filter(|chart| times.contains(&chart.measure));
    let planes = charts.flat_map(|chart| &chart.planes);
    let points = planes
        .flat_map(|plane| &plane.lines)
        .flat_map(|line| &line.points);
    points.map(|point| &point.cell).collect()
}

/// The curve of a cell; nothing if it has data for less than two numbers of rows.
fn curve(group: &[&CellSummary]) -> Option<Curve> {
    let mut points: Vec<Place> = group.iter().filter_map(|cell| place(cell)).collect();
    points.sort_by_key(|point| point.rows);
    points.dedup_by_key(|point| point.rows);
    let first = group.first()?;
    let promise = first.promise();
    let promise = promise.map_or_else(String::new, |claim| format!(" (durability: {claim})"));
    (points.len() > 1).then(|| Curve {
        title: format!("{}{promise}", first.cell.label),
        points,
    })
}

fn place(cell: &CellSummary) -> Option<Place> {
    let time = cell.time_ns?;
    let is_usable = time.low > 0.0 && time.high.is_finite();
    let place = Place {
        rows: rows_of(cell)?,
        time,
        sample: cell.cell.workload.sample_of.is_some(),
    };
    is_usable.then_some(place)
}

fn plane(curves: &[Curve]) -> Plane {
    let places = || curves.iter().flat_map(|curve| &curve.points);
    let rows: BTreeSet<u64> = places().map(|place| place.rows).collect();
    let x = Axis {
        title: "rows".to_owned(),
        scale: Scale::over(rows.iter().map(|rows| float(*rows))),
        ticks: rows
            .iter()
            .map(|rows| (float(*rows), format::count(*rows)))
            .collect(),
    };
    let times = Scale::over(places().flat_map(|place| [place.time.low, place.time.high]));
    let tick = |at| quantity::tick(Measure::Time, at);
    let y = Axis::new("time per row", times, times.ticks(), tick);
    let panels = curves.iter().map(|curve| panel(curves, curve)).collect();
    Plane::new(TITLE, x, y, panels)
}

/// One cell, before the others.
fn panel(curves: &[Curve], own: &Curve) -> Panel {
    let others = curves.iter().filter(|other| !std::ptr::eq(*other, own));
    let mut lines: Vec<Line> = others.map(|other| line(other, LineKind::Behind)).collect();
    lines.push(line(own, LineKind::Only));
    Panel::new(&own.title, lines)
}

fn line(curve: &Curve, kind: LineKind) -> Line {
    Line {
        label: String::new(),
        kind,
        points: curve.points.iter().map(point).collect(),
    }
}

fn point(place: &Place) -> Point {
    let Interval {
        estimate,
        low,
        high,
    } = place.time;
    let [value, from, to] = [estimate, low, high].map(format::time);
    let rows = format::count(place.rows);
    let (shape, note) = match place.sample {
        true => (PointShape::Cross, ", from a sample"),
        false => (PointShape::Ring, ""),
    };
    Point {
        x: float(place.rows),
        y: Some(estimate),
        interval: Some((low, high)),
        shape: Some(shape),
        tooltip: format!("{rows} rows: {value} per row, interval {from} to {to}{note}"),
        label: rows,
        value,
        spread: format::between(&from, &to),
    }
}

/// Every number of every curve.
fn table(curves: &[Curve]) -> Table {
    type Row<'a> = (&'a Curve, &'a Place);
    let rows = curves.iter();
    let rows = rows.flat_map(|curve| curve.points.iter().map(move |place| (curve, place)));
    let rows: Vec<Row<'_>> = rows.collect();
    let make = Columns::<Row<'_>>::new();
    let columns = vec![
        make.text("cell", |row| row.0.title.clone())
            .help("what was timed"),
        make.count("rows", |row| Some(row.1.rows))
            .help("rows inserted by a block")
            .weighing(9),
        make.time("time per row", |row| Some(row.1.time.estimate))
            .weighing(8),
        make.time("from", |row| Some(row.1.time.low))
            .help("lower end of the interval")
            .weighing(7),
        make.time("to", |row| Some(row.1.time.high))
            .help("upper end of the interval")
            .weighing(7),
    ];
    Table::of(TITLE, columns, &rows)
}
