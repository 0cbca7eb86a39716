//! Drawings with two axes. Across, positions are percentages, so that a drawing stretches to any
//! width without distorting text or marks; down, they are pixels.

use super::element::{heading, percent, with_room};
use super::key::{legend, line_class, line_key, mark_class, point};
use crate::document::{Across, Axis, ChartRow, MarkKind, RowGroup, Rows, Scale, Value};
use maud::{Markup, html};
use std::fmt::Write as _;

/// Height of a plane, in pixels.
const HEIGHT: f64 = 230.0;
/// Lines that its height has room for.
const LINES: f64 = 14.0;
/// Characters that its width has room for on a phone.
const CHARACTERS: f64 = 42.0;
/// Half the width of the caps of a whisker, in pixels.
const CAP: f64 = 4.0;
/// Nobody can point at a few pixels: around each point, so many count as the point.
const REACH: f64 = 12.0;

/// A line of a drawing: its number among all of the plane, and its points.
type Line<'a> = (usize, &'a RowGroup);

/// The drawings side by side.
pub(super) fn plane(rows: &Rows, across: &Across, level: u8) -> Markup {
    let lines: Vec<Line<'_>> = rows.groups.iter().enumerate().collect();
    let panels = lines.chunk_by(|_, next| next.1.heading.is_empty());
    html! {
        div.planes {
            @for lines in panels { div { (panel(lines, rows, across, level)) } }
        } "\n"
        (legend(&rows.legend))
    }
}

fn panel(lines: &[Line<'_>], rows: &Rows, across: &Across, level: u8) -> Markup {
    let title = &lines[0].1.heading;
    let above = match &across.ends {
        Some((above, _)) => above,
        None => &rows.axis.title,
    };
    html! {
        @if !title.is_empty() { (heading(level, &html! { (title) })) }
        div.plot style=(room_beside(&rows.axis)) {
            @if !above.is_empty() { p { "↑ " (above) } }
            (drawing(lines, rows, across))
            @if !across.axis.title.is_empty() { p.across { (across.axis.title) " →" } }
            @if let Some((_, below)) = &across.ends { p { "↓ " (below) } }
        }
        (lines_legend(lines))
    }
}

/// The labels to the left need room, by their length.
fn room_beside(axis: &Axis) -> String {
    let labels = axis.ticks.iter().map(|(_, label)| label.chars().count());
    format!("--beside:{}", labels.max().unwrap_or(0))
}

/// What the lines are, unless the heading says it.
fn lines_legend(lines: &[Line<'_>]) -> Markup {
    let mut labelled = lines
        .iter()
        .filter(|(_, line)| !line.title.is_empty())
        .peekable();
    html! {
        @if labelled.peek().is_some() {
            p.legend {
                @for (number, line) in labelled { span { (line_key(*number)) (line.title) } }
            }
        }
    }
}

fn drawing(lines: &[Line<'_>], rows: &Rows, across: &Across) -> Markup {
    let title = &lines[0].1.heading;
    let drawn = Drawing {
        x: across.axis.scale,
        y: rows.axis.scale,
    };
    let (edges, levels): (Vec<_>, Vec<_>) = rows
        .marks
        .iter()
        .partition(|mark| mark.kind == MarkKind::Edge);
    html! {
        svg class="plane" role="img" height=(HEIGHT) {
            title { (rows.summary) @if !title.is_empty() { ": " (title) } }
            @if let Some(ends) = across.unclaimed { (drawn.unclaimed(ends)) }
            @if let [low, high] = edges.as_slice() { (drawn.band(low.at, high.at)) }
            (drawn.beside(&rows.axis))
            (drawn.below(&across.axis))
            @for mark in levels { (drawn.level(mark.at, mark_class(mark.kind), &mark.sign)) }
            @for line in lines { (drawn.curves(*line)) }
            @for line in lines { (drawn.points(*line)) }
        }
    }
}

/// Where values lie: across as percentages, down in pixels.
#[derive(Clone, Copy)]
struct Drawing {
    x: Scale,
    y: Scale,
}

impl Drawing {
    fn across(self, value: f64) -> String {
        percent(self.x.position(value))
    }

    fn down(self, value: f64) -> f64 {
        tenths((1.0 - self.y.position(value)) * HEIGHT)
    }

    /// The area, over the whole height, in which nothing is claimed.
    fn unclaimed(self, (from, to): (f64, f64)) -> Markup {
        let (left, right) = (self.x.position(from), self.x.position(to));
        html! {
            rect class="unclaimed" x=(percent(left)) width=(percent(right - left)) y="0"
                height=(HEIGHT) {}
        }
    }

    /// The zone, over the whole width, in which no difference matters.
    fn band(self, low: f64, high: f64) -> Markup {
        let (low, high) = (self.y.position(low), self.y.position(high));
        html! {
            rect class="band" x="0" width="100%"
                y=(tenths((1.0 - high) * HEIGHT)) height=(tenths((high - low) * HEIGHT)) {}
        }
    }

    /// The marks of the axis upwards, with labels to the left of the plane.
    fn beside(self, axis: &Axis) -> Markup {
        let labels = axis.ticks.iter().map(|(at, _)| (self.y.position(*at), ""));
        let shown: Vec<f64> = with_room(labels, LINES)
            .into_iter()
            .map(|(at, _)| at)
            .collect();
        html! {
            @for (at, label) in &axis.ticks {
                (self.level(*at, "grid", ""))
                @if shown.contains(&self.y.position(*at)) {
                    text x="-8" y=(self.down(*at)) dy=".35em" text-anchor="end" { (label) }
                }
            }
        }
    }

    /// The marks of the axis across, with labels below the plane.
    fn below(self, axis: &Axis) -> Markup {
        let ticks = axis.ticks.iter();
        let labels = ticks.map(|(at, label)| (self.x.position(*at), label.as_str()));
        let labels: Vec<(f64, &str)> = labels.collect();
        html! {
            @for (at, _) in &labels {
                line class="grid" x1=(percent(*at)) y1="0" x2=(percent(*at)) y2=(HEIGHT) {}
            }
            @for (at, label) in with_room(labels.iter().copied(), CHARACTERS) {
                text x=(percent(at)) y=(HEIGHT + 18.0) text-anchor="middle" { (label) }
            }
        }
    }

    /// A line over the whole width, with its sign to the right of the plane.
    fn level(self, at: f64, class: &str, sign: &str) -> Markup {
        let at = self.down(at);
        html! {
            line class=(class) x1="0" y1=(at) x2="100%" y2=(at) {}
            @if !sign.is_empty() { text x="100%" dx="4" y=(at) dy=".35em" { (sign) } }
        }
    }

    /// The line through its points; a point without data interrupts it.
    fn curves(self, (number, line): Line<'_>) -> Markup {
        let stretches = line.rows.split(|point| point.value.is_none());
        html! {
            @for points in stretches.filter(|points| points.len() > 1) {
                (self.curve(points, &line_class(number, line)))
            }
        }
    }

    fn curve(self, points: &[ChartRow], class: &str) -> Markup {
        // In thousandths of the plane, stretched over it; strokes keep their width (see the style).
        let mut path = String::new();
        for point in points {
            let step = if path.is_empty() { 'M' } else { 'L' };
            let x = self.x.position(point.x) * 1e3;
            let value = point.value.map_or(f64::NAN, |value| value.number);
            let y = (1.0 - self.y.position(value)) * 1e3;
            // Writing to a text cannot fail.
            let _ = write!(path, "{step}{x:.1} {y:.1}");
        }
        html! {
            svg class="paths" viewBox="0 0 1000 1000" preserveAspectRatio="none" width="100%"
                height=(HEIGHT) {
                path class=(class) d=(path) {}
            }
        }
    }

    /// The points at which one can point.
    fn points(self, (number, line): Line<'_>) -> Markup {
        let named = line.rows.iter().filter(|point| !point.label.is_empty());
        html! {
            @for found in named {
                @if let Some(value) = found.value {
                    (self.point(found, value, point(found, number, line), &found.sentence(&line.title)))
                }
            }
        }
    }

    fn point(self, found: &ChartRow, value: Value, shape: Markup, said: &str) -> Markup {
        let y = self.down(value.number);
        html! {
            svg class="at" x=(self.across(found.x)) y=(y) {
                title { (said) }
                circle class="hit" r=(REACH) {}
                @if let Some((low, high)) = value.ends() {
                    (whisker(self.down(low) - y, self.down(high) - y))
                }
                (shape)
            }
        }
    }
}

/// An interval around the origin.
fn whisker(low: f64, high: f64) -> Markup {
    let (low, high) = (tenths(low), tenths(high));
    html! {
        line class="whisker" y1=(low) y2=(high) {}
        @for end in [low, high] {
            line class="whisker" x1=(-CAP) x2=(CAP) y1=(end) y2=(end) {}
        }
    }
}

/// Pixels to a tenth.
fn tenths(pixels: f64) -> f64 {
    (pixels * 10.0).round() / 10.0
}
