//! The forms of a document. A renderer knows blocks and no findings.

pub mod html;
pub mod markdown;
pub mod terminal;

use crate::document::{
    Bar, ChartRow, Fill, Line, LineKind, Plane, Point, PointShape, RowGroup, Rows, Shape,
};

/// A plane as text can show it: a row per point over the axis upwards. Points whose shapes are signs
/// say on which side they are; of others, bars show the size.
fn as_rows(plane: &Plane) -> Rows {
    let mut groups = Vec::new();
    for panel in &plane.panels {
        // A heading is that of all groups behind it.
        let mut heading = panel.title.clone();
        let drawn = |line: &&Line| line.kind != LineKind::Behind;
        groups.extend(panel.lines.iter().filter(drawn).map(|line| RowGroup {
            heading: std::mem::take(&mut heading),
            title: line.label.clone(),
            rows: line.points.iter().filter(is_named).map(point_row).collect(),
            ..RowGroup::default()
        }));
    }
    Rows {
        summary: plane.summary.clone(),
        axis: plane.y.clone(),
        groups,
        marks: plane.levels.clone(),
        legend: plane.legend.clone(),
    }
}

/// A point that only a drawing can show has no name.
fn is_named(point: &&Point) -> bool {
    !(point.label.is_empty() && point.value.is_empty())
}

fn point_row(point: &Point) -> ChartRow {
    let sign = match point.shape {
        Some(PointShape::Sign(sign)) => Some(sign),
        _ => None,
    };
    ChartRow {
        label: point.label.clone(),
        detail: String::new(),
        shape: match (point.y, sign) {
            (None, _) => Shape::Nothing,
            (Some(at), Some(_)) => Shape::Point(at),
            (Some(value), None) => Shape::Bar(Bar {
                value,
                fill: Fill::Ours,
            }),
        },
        interval: point.interval,
        value: point.value.clone(),
        spread: point.spread.clone(),
        number: point.y,
        sign,
        tooltip: point.tooltip.clone(),
    }
}

/// What a row is of, with what else there is to know of that.
fn detailed(row: &ChartRow) -> String {
    match row.detail.as_str() {
        "" => row.label.clone(),
        detail => format!("{} ({detail})", row.label),
    }
}
