//! Drawings with two axes. Across, positions are percentages, so that a drawing stretches to any
//! width without distorting text or marks; down, they are pixels.

use super::element::{heading, percent, with_room};
use super::key::{key, legend, line_class, mark_class, point, point_of_line};
use crate::document::{
    Area, AreaKind, Axis, Key, Line, LineKind, Panel, Plane, Point, Scale, Value,
};
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

/// The drawings side by side; `id` makes a name one that no other element has.
pub(super) fn plane(
    plane: &Plane,
    level: u8,
    mut id: impl FnMut(&str) -> Option<String>,
) -> Markup {
    html! {
        div.planes {
            @for found in &plane.panels {
                div id=[id(&found.id)] { (panel(found, plane, level)) }
            }
        } "\n"
        (legend(&plane.legend))
    }
}

fn panel(panel: &Panel, plane: &Plane, level: u8) -> Markup {
    let above = match &plane.ends {
        Some((above, _)) => above,
        None => &plane.y.title,
    };
    html! {
        @if !panel.title.is_empty() { (heading(level, &html! { (panel.title) })) }
        div.plot style=(room_beside(plane)) {
            @if !above.is_empty() { p { "↑ " (above) } }
            (drawing(panel, plane))
            @if !plane.x.title.is_empty() { p.across { (plane.x.title) " →" } }
            @if let Some((_, below)) = &plane.ends { p { "↓ " (below) } }
        }
        (lines_legend(panel))
    }
}

/// The labels to the left need room, by their length.
fn room_beside(plane: &Plane) -> String {
    let labels = plane.y.ticks.iter().map(|(_, label)| label.chars().count());
    format!("--beside:{}", labels.max().unwrap_or(0))
}

/// What the lines are, unless the heading says it.
fn lines_legend(panel: &Panel) -> Markup {
    let labelled = |line: &&Line| !line.label.is_empty() && line.kind != LineKind::Behind;
    let mut labels = panel.lines.iter().filter(labelled).peekable();
    html! {
        @if labels.peek().is_some() {
            p.legend { @for line in labels { span { (key(Key::Line(line.kind))) (line.label) } } }
        }
    }
}

fn drawing(panel: &Panel, plane: &Plane) -> Markup {
    let drawn = Drawing {
        x: plane.x.scale,
        y: plane.y.scale,
    };
    html! {
        svg class="plane" role="img" height=(HEIGHT) {
            title { (plane.summary) @if !panel.title.is_empty() { ": " (panel.title) } }
            @for area in &plane.areas { (drawn.area(*area)) }
            (drawn.beside(&plane.y))
            (drawn.below(&plane.x))
            @for mark in &plane.levels {
                (drawn.level(mark.at, mark_class(mark.kind), &mark.sign))
            }
            @for line in &panel.lines { (drawn.curves(line)) }
            @for line in &panel.lines { (drawn.points(line)) }
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

    fn area(self, area: Area) -> Markup {
        let class = match area.kind {
            AreaKind::Band => "band",
            AreaKind::Unclaimed => "unclaimed",
        };
        let position = |scale: Scale, ends: Option<(f64, f64)>| {
            ends.map_or((0.0, 1.0), |(low, high)| {
                (scale.position(low), scale.position(high))
            })
        };
        let (left, right) = position(self.x, area.x);
        let (low, high) = position(self.y, area.y);
        html! {
            rect class=(class) x=(percent(left)) width=(percent(right - left))
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
    fn curves(self, line: &Line) -> Markup {
        let stretches = line.points.split(|point| point.value.is_none());
        html! {
            @if line.kind != LineKind::Points {
                @for points in stretches.filter(|points| points.len() > 1) {
                    (self.curve(points, &line_class(line.kind)))
                }
            }
        }
    }

    fn curve(self, points: &[Point], class: &str) -> Markup {
        // In thousandths of the plane, stretched over it; strokes keep their width (see the style).
        let mut path = String::new();
        for point in points {
            let step = if path.is_empty() { 'M' } else { 'L' };
            let x = self.x.position(point.x) * 1e3;
            let y = (1.0
                - self
                    .y
                    .position(point.value.map_or(f64::NAN, |value| value.number)))
                * 1e3;
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

    /// The points at which one can point; those of pale lines are not drawn.
    fn points(self, line: &Line) -> Markup {
        html! {
            @if line.kind != LineKind::Behind {
                @for found in &line.points {
                    @let said = found.sentence(&line.label);
                    @if let Some(value) = found.value.filter(|_| !said.is_empty()) {
                        (self.point(found, value, line.kind, &said))
                    }
                }
            }
        }
    }

    fn point(self, found: &Point, value: Value, kind: LineKind, said: &str) -> Markup {
        let shape = found.shape.map_or_else(|| point_of_line(kind), point);
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
