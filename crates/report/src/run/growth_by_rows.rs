//! Time per row against the number of rows: what a cell takes where several comparisons insert
//! different numbers of rows.

use super::totals::rows_of;
use crate::document::{
    Axis, Block, Cell, Detail, Fold, Line, LineKind, Medium, Panel, Plane, Point, PointShape,
    Scale, Section, Table, number, paragraph, text_column,
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
    let table = Fold::new(
        "All times with their intervals",
        vec![table(&curves).into()],
    );
    // Without the drawing there is nothing across.
    let caption = paragraph(CAPTION).only(Medium::Page);
    let blocks = vec![caption, plane(&curves).into(), table.into()];
    Some(Block::from(Section::figure("growth", TITLE, blocks)).at(Detail::All))
}

fn curves(analysis: &Analysis) -> Vec<Curve> {
    let comparisons = analysis.comparisons.iter();
    let cells = comparisons.flat_map(|comparison| &comparison.cells);
    let mut groups: Vec<Vec<&CellSummary>> = Vec::new();
    for cell in cells.filter(|cell| inserts(cell)) {
        match groups.iter_mut().find(|group| is_same(group[0], cell)) {
            Some(group) => group.push(cell),
            None => groups.push(vec![cell]),
        }
    }
    let drawn = drawn(analysis);
    groups.retain(|group| !group.iter().all(|cell| drawn.contains(&cell.cell.id)));
    groups.iter().filter_map(|group| curve(group)).collect()
}

fn inserts(cell: &CellSummary) -> bool {
    let compared = !matches!(cell.cell.role, Role::Control | Role::Part);
    compared && cell.cell.workload.operation == Operation::Insert
}

/// Whether two cells differ in nothing but the number of rows.
fn is_same(one: &CellSummary, other: &CellSummary) -> bool {
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
    let ticks = rows.iter().map(|rows| (count(*rows), format::count(*rows)));
    let ticks: Vec<(f64, String)> = ticks.collect();
    let times = scale(places().flat_map(|place| [place.time.low, place.time.high]));
    Plane {
        summary: TITLE.to_owned(),
        x: Axis {
            title: "rows".to_owned(),
            scale: scale(ticks.iter().map(|(at, _)| *at)),
            ticks,
        },
        y: Axis::new("time per row", times, times.ticks(), |at| {
            quantity::tick(Measure::Time, at)
        }),
        ends: None,
        panels: curves.iter().map(|curve| panel(curves, curve)).collect(),
        areas: Vec::new(),
        levels: Vec::new(),
        legend: Vec::new(),
        on_terminal: false,
    }
}

fn scale(values: impl Iterator<Item = f64>) -> Scale {
    let (low, high) = values.fold((f64::INFINITY, 0.0_f64), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    Scale::logarithmic(low, high)
}

/// One cell, before the others.
fn panel(curves: &[Curve], own: &Curve) -> Panel {
    let others = curves.iter().filter(|other| !std::ptr::eq(*other, own));
    let mut lines: Vec<Line> = others.map(|other| line(other, LineKind::Behind)).collect();
    lines.push(line(own, LineKind::Only));
    Panel {
        id: String::new(),
        title: own.title.clone(),
        lines,
    }
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
    let note = if place.sample { ", from a sample" } else { "" };
    Point {
        x: count(place.rows),
        y: Some(estimate),
        interval: Some((low, high)),
        shape: Some(if place.sample {
            PointShape::Cross
        } else {
            PointShape::Ring
        }),
        tooltip: format!("{rows} rows: {value} per row, interval {from} to {to}{note}"),
        label: rows,
        value,
        spread: format!("[{from}, {to}]"),
    }
}

/// Every number of every curve.
fn table(curves: &[Curve]) -> Table {
    type Row<'a> = (&'a str, Place);
    let rows = curves.iter().flat_map(|curve| {
        let points = curve.points.iter();
        points.map(|place| (curve.title.as_str(), *place))
    });
    let rows: Vec<Row<'_>> = rows.collect();
    let time = |title: &'static str, help: &'static str, get: fn(&Interval) -> f64| {
        let cell =
            move |row: &Row<'_>| Cell::number(get(&row.1.time), format::time(get(&row.1.time)));
        number(title, help, cell).in_unit("ns")
    };
    let columns = vec![
        text_column("cell", "what was timed", |row: &Row<'_>| Cell::text(row.0)),
        number("rows", "rows inserted by a block", |row: &Row<'_>| {
            Cell::number(count(row.1.rows), format::count(row.1.rows))
        })
        .weighing(9),
        time("time per row", "", |time| time.estimate).weighing(8),
        time("from", "lower end of the interval", |time| time.low).weighing(7),
        time("to", "upper end of the interval", |time| time.high).weighing(7),
    ];
    Table::of(TITLE, columns, &rows)
}

#[expect(clippy::cast_precision_loss, reason = "drawn")]
fn count(rows: u64) -> f64 {
    rows as f64
}
