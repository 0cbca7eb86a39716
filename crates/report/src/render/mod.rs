//! The forms of a document. A renderer knows blocks and no findings.

pub mod html;
pub mod markdown;
pub mod terminal;

use crate::document::{
    AreaKind, Block, ChartRow, Content, Fold, Line, LineKind, Mark, MarkKind, Plane, Point,
    PointShape, RowGroup, Rows, Shape,
};

/// A plane as text can show it: a row per point over the axis upwards. Points whose shapes are signs
/// say on which side they are; of others, bars show the size.
pub(crate) fn as_rows(plane: &Plane) -> Rows {
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
    let bands = plane.areas.iter();
    let bands = bands.filter(|area| area.kind == AreaKind::Band);
    let edges = bands.filter_map(|area| area.y).flat_map(<[f64; 2]>::from);
    let edges = edges.map(|at| Mark::new(at, MarkKind::Edge));
    Rows {
        summary: plane.summary.clone(),
        axis: plane.y.clone(),
        groups,
        marks: plane.levels.iter().cloned().chain(edges).collect(),
        legend: plane.legend.clone(),
    }
}

fn is_named(point: &&Point) -> bool {
    !point.label.is_empty()
}

fn point_row(point: &Point) -> ChartRow {
    let sign = match point.shape {
        Some(PointShape::Sign(sign)) => Some(sign),
        _ => None,
    };
    ChartRow {
        label: point.label.clone(),
        value: point.value,
        shape: match sign {
            Some(_) => Shape::Point,
            None => Shape::default(),
        },
        sign,
        help: point.help.clone(),
        ..ChartRow::default()
    }
}

/// Whether they are about files, which only a page can carry.
fn carries_files(blocks: &[Block]) -> bool {
    let mut blocks = blocks.iter();
    blocks.any(|block| matches!(block.content, Content::Files(_)))
}

/// Whether a fold only repeats the figures of the drawing before it, each row of which text shows
/// with its figure.
fn is_told(before: &Content, fold: &Fold) -> bool {
    let is_drawn = match before {
        Content::Rows(_) => true,
        Content::Plane(plane) => plane.on_terminal,
        _ => false,
    };
    let is_table = |block: &Block| matches!(block.content, Content::Table(_));
    is_drawn && !fold.is_heading && fold.blocks.iter().all(is_table)
}
