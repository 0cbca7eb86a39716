//! Charts of rows: a label, a drawing and a value each, over a common axis. Each drawing is a small
//! SVG: positions across are percentages, so that it stretches to any width; heights are pixels
//! around the middle, so that nothing is distorted and a row beside a long label may be higher.

use super::element::{heading, percent, text_anchor, with_room};
use super::key::{fill_class, legend, mark_class};
use crate::document::{ChartRow, Fill, Mark, RowGroup, Rows, Scale, Shape, Value};
use maud::{Markup, html};

/// Half the height of a bar in pixels.
const HALF: f64 = 8.0;
/// Half the height of the caps of a whisker, in pixels.
const CAP: f64 = 5.0;
/// Characters that the axis has room for on a phone.
const CHARACTERS: f64 = 45.0;

/// The chart. Where headings part it, what stands below each is a drawing of its own, with its axis: they lie side by side
/// where there is room.
pub(super) fn rows(rows: &Rows, level: u8) -> Markup {
    let parts = rows.groups.chunk_by(|_, next| next.heading.is_empty());
    let parts = parts.map(|groups| part(groups, rows, level));
    let parts: Vec<Markup> = parts.collect();
    html! {
        @match parts.as_slice() {
            [whole] => (whole),
            several => div.parts { @for part in several { (part) } },
        }
        (legend(&rows.legend))
    }
}

fn part(groups: &[RowGroup], rows: &Rows, level: u8) -> Markup {
    let has_signs = rows.marks.iter().any(|mark| !mark.sign.is_empty());
    let heading = groups.iter().map(|group| group.heading.as_str());
    let heading: String = heading.collect();
    let label = match heading.as_str() {
        "" => rows.summary.clone(),
        heading => format!("{}: {heading}", rows.summary),
    };
    html! {
        div.rows role="group" aria-label=(label) {
            @if has_signs { (signs(&rows.axis.scale, &rows.marks)) }
            @for found in groups { (group(found, rows, level)) }
            (axis(rows))
        } "\n"
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
    let number = row.value.map(|value| value.number);
    let number = number.filter(|number| number.is_finite());
    let spread = row.spread();
    html! {
        div.row data-value=[number] {
            div.label {
                (row.label)
                @if !row.detail.is_empty() { small { (row.detail) } }
            }
            div.drawing { (drawing(row, rows)) }
            div.value {
                b { (row.text()) }
                @if !spread.is_empty() { " " span { (spread) } }
                @if let Some(sign) = row.sign {
                    " " i.sign aria-hidden="true" { (sign.glyph()) }
                }
            }
        } "\n"
    }
}

fn drawing(row: &ChartRow, rows: &Rows) -> Markup {
    let scale = &rows.axis.scale;
    html! {
        svg.track role="img" {
            title { (row.sentence("")) }
            @for (tick, _) in &rows.axis.ticks { (upright(scale.position(*tick), "grid")) }
            @if let Some(value) = &row.value {
                svg y="50%" overflow="visible" { (drawn(row.shape, value, scale)) }
            }
            @for mark in &rows.marks { (upright(scale.position(mark.at), mark_class(mark.kind))) }
        }
    }
}

/// A value with its interval.
fn drawn(shape: Shape, value: &Value, scale: &Scale) -> Markup {
    let at = scale.position(value.number);
    let from = match shape {
        Shape::Piece(from, _) => from,
        _ => 0.0,
    };
    html! {
        @match shape {
            Shape::Bar(fill) => (bar(scale.position(scale.origin()), at, fill)),
            Shape::Point => circle class="dot" cx=(percent(at)) r="4.5" {},
            Shape::Piece(from, _) if value.number < 0.0 => (upright_at(scale.position(from))),
            Shape::Piece(from, fill) => {
                (bar(scale.position(from), scale.position(from + value.number), fill))
            }
        }
        @if let Some((low, high)) = value.ends() { (whisker((from + low, from + high), scale)) }
    }
}

/// A line over the whole height.
/// Where something is saved: there is nothing else to draw of it.
fn upright_at(at: f64) -> Markup {
    let at = percent(at);
    html! { line class="saving" x1=(at) x2=(at) y1=(-HALF - 3.0) y2=(HALF + 3.0) {} }
}

fn upright(at: f64, class: &str) -> Markup {
    let at = percent(at);
    html! { line class=(class) x1=(at) x2=(at) y1="0" y2="100%" {} }
}

fn bar(from: f64, to: f64, fill: Fill) -> Markup {
    html! {
        rect class=(fill_class(fill)) x=(percent(from.min(to))) width=(percent((to - from).abs()))
            y=(-HALF) height=(2.0 * HALF) {}
    }
}

fn whisker((low, high): (f64, f64), scale: &Scale) -> Markup {
    let (low, high) = (percent(scale.position(low)), percent(scale.position(high)));
    html! {
        line class="whisker" x1=(low) x2=(high) y1="0" y2="0" {}
        @for end in [&low, &high] {
            line class="whisker" x1=(end) x2=(end) y1=(-CAP) y2=(CAP) {}
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
