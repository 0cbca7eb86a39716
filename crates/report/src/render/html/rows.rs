//! Charts of rows: a label, a drawing and a value each, over a common axis. Each drawing is a small
//! SVG: positions across are percentages, so that it stretches to any width; heights are pixels
//! around the middle, so that nothing is distorted and a row beside a long label may be higher.

use super::element::{heading, percent, text_anchor, with_room};
use super::key::{fill_class, legend, mark_class};
use crate::document::{Bar, ChartRow, Mark, RowGroup, Rows, Scale, Segment, Shape};
use maud::{Markup, html};

/// The name of the pattern of remainders.
pub(super) const HATCHING: &str = "hatching";

/// What is drawn around the middle of a row: its upper end and its height, in pixels.
type Lane = (f64, f64);
const BAR: Lane = (-8.0, 16.0);
const PIECES: Lane = (-10.0, 20.0);
/// Where thinner pieces lie below them.
const PIECES_ABOVE: Lane = (-15.0, 20.0);
const THIN: Lane = (9.0, 8.0);
/// Half the height of the caps of a whisker, in pixels.
const CAP: f64 = 5.0;
/// Characters that the axis has room for on a phone.
const CHARACTERS: f64 = 45.0;

/// The chart.
pub(super) fn rows(rows: &Rows, level: u8) -> Markup {
    let has_signs = rows.marks.iter().any(|mark| !mark.sign.is_empty());
    html! {
        div.rows role="group" aria-label=(rows.summary) {
            @if has_signs { (signs(&rows.axis.scale, &rows.marks)) }
            @for found in &rows.groups { (group(found, rows, level)) }
            (axis(rows))
        } "\n"
        (legend(&rows.legend))
    }
}

/// The pattern of remainders, which the style refers to.
pub(super) fn hatching() -> Markup {
    html! {
        svg.defs aria-hidden="true" width="0" height="0" {
            defs {
                pattern id=(HATCHING) width="6" height="6" patternUnits="userSpaceOnUse"
                    patternTransform="rotate(45)" {
                    line class="hatch" x1="0" y1="0" x2="0" y2="6" {}
                }
            }
        }
    }
}

fn group(group: &RowGroup, rows: &Rows, level: u8) -> Markup {
    html! {
        @if !group.heading.is_empty() { (heading(level, &html! { (group.heading) })) }
        @for notice in &group.notices { p.notice { (notice) } }
        @for remark in &group.remarks { p.hint { (remark) } }
        @if !group.title.is_empty() { div.group { (group.title) } }
        @for found in &group.rows { (row(found, rows)) }
    }
}

fn row(row: &ChartRow, rows: &Rows) -> Markup {
    let number = row.number.filter(|number| number.is_finite());
    html! {
        div.row data-value=[number] {
            div.label {
                (row.label)
                @if !row.detail.is_empty() { small { (row.detail) } }
            }
            div.drawing { (drawing(row, rows)) }
            div.value {
                b { (row.value) }
                @if !row.spread.is_empty() { " " span { (row.spread) } }
                @if let Some(sign) = row.sign {
                    " " i.sign aria-hidden="true" { (sign.glyph()) }
                }
            }
        } "\n"
    }
}

fn drawing(row: &ChartRow, rows: &Rows) -> Markup {
    let scale = &rows.axis.scale;
    let (shapes, lane) = match &row.shape {
        Shape::Nothing => (html! {}, BAR),
        Shape::Bar(found) => (bar(*found, scale), BAR),
        Shape::Point(at) => (dot(scale.position(*at)), BAR),
        Shape::Segments { pieces, thin } => {
            let lane = if thin.is_empty() {
                PIECES
            } else {
                PIECES_ABOVE
            };
            (segments(pieces, lane, thin, scale), lane)
        }
    };
    // Pieces explain themselves, each by its own title.
    let stacked = matches!(row.shape, Shape::Segments { .. });
    let said = if row.tooltip.is_empty() {
        format!("{}: {} {}", row.label, row.value, row.spread)
    } else {
        row.tooltip.clone()
    };
    html! {
        svg class={ "track" @if stacked { " stacked" } }
            role=(if stacked { "group" } else { "img" }) aria-label=[stacked.then_some(&said)] {
            @if !stacked { title { (said) } }
            @for (tick, _) in &rows.axis.ticks { (upright(scale.position(*tick), "grid")) }
            svg y="50%" overflow="visible" {
                (shapes)
                @if let Some(interval) = row.interval {
                    (whisker(interval, lane.0 + lane.1 / 2.0, scale))
                }
            }
            @for mark in &rows.marks { (upright(scale.position(mark.at), mark_class(mark.kind))) }
        }
    }
}

/// A line over the whole height.
fn upright(at: f64, class: &str) -> Markup {
    let at = percent(at);
    html! { line class=(class) x1=(at) x2=(at) y1="0" y2="100%" {} }
}

fn bar(bar: Bar, scale: &Scale) -> Markup {
    let (origin, end) = (scale.position(scale.origin()), scale.position(bar.value));
    let width = percent((end - origin).abs());
    html! {
        rect class=(fill_class(bar.fill)) x=(percent(origin.min(end))) width=(width) y=(BAR.0)
            height=(BAR.1) {}
    }
}

fn dot(at: f64) -> Markup {
    html! { circle class="dot" cx=(percent(at)) r="4.5" {} }
}

fn whisker((low, high): (f64, f64), middle: f64, scale: &Scale) -> Markup {
    let (low, high) = (percent(scale.position(low)), percent(scale.position(high)));
    html! {
        line class="whisker" x1=(low) x2=(high) y1=(middle) y2=(middle) {}
        @for end in [&low, &high] {
            line class="whisker" x1=(end) x2=(end) y1=(middle - CAP) y2=(middle + CAP) {}
        }
    }
}

fn segments(pieces: &[Segment], lane: Lane, thin: &[Segment], scale: &Scale) -> Markup {
    html! {
        @for found in pieces.iter().filter(has_length) { (piece(found, lane, scale)) }
        @for found in thin.iter().filter(has_length) { (piece(found, THIN, scale)) }
    }
}

/// At what has no length nobody can point.
#[expect(clippy::float_cmp, reason = "the same value")]
fn has_length(piece: &&Segment) -> bool {
    piece.from != piece.to
}

/// A piece that saves something is not drawn as one: a mark says where.
fn piece(piece: &Segment, (top, height): Lane, scale: &Scale) -> Markup {
    let (from, to) = (scale.position(piece.from), scale.position(piece.to));
    html! {
        svg class="part" x=(percent(from)) width=(percent(to - from)) y=(top) height=(height)
            overflow="visible" data-value=(piece.to - piece.from) {
            title { (piece.tooltip) }
            @if piece.to < piece.from {
                line class="saving" x1="0" x2="0" y1="-3" y2=(height + 3.0) {}
            } @else {
                rect class=(fill_class(piece.fill)) width="100%" height=(height) {}
            }
        }
    }
}

/// The labels below the rows.
fn axis(rows: &Rows) -> Markup {
    let scale = &rows.axis.scale;
    let ticks = rows.axis.ticks.iter();
    let ticks = ticks.map(|(at, label)| (scale.position(*at), label.as_str()));
    html! {
        (labels(&with_room(ticks, CHARACTERS)))
        @if !rows.axis.title.is_empty() {
            div.row.axis-row { div.drawing { p.across { (rows.axis.title) " →" } } }
        }
    }
}

/// The signs of lines, above the rows.
fn signs(scale: &Scale, marks: &[Mark]) -> Markup {
    let marks = marks.iter().filter(|mark| !mark.sign.is_empty());
    let mut marks: Vec<_> = marks
        .map(|mark| (scale.position(mark.at), mark.sign.as_str()))
        .collect();
    marks.sort_by(|a, b| a.0.total_cmp(&b.0));
    labels(&marks)
}

/// A row of labels where they belong.
fn labels(labels: &[(f64, &str)]) -> Markup {
    html! {
        div.row.axis-row {
            div.drawing {
                svg.axis aria-hidden="true" height="20" {
                    @for (at, label) in labels {
                        text x=(percent(*at)) y="14" text-anchor=(text_anchor(*at)) { (label) }
                    }
                }
            }
        }
    }
}
