//! How things are drawn, and what that says: the classes of fills, lines and points, and legends.

use super::table::shade_class;
use crate::document::shade::{DEEPEST, begins};
use crate::document::{Fill, Key, LegendEntry, LineKind, MarkKind, PointShape, Sign};
use crate::value;
use maud::{Markup, PreEscaped, html};

/// How many lines of a plane have a shape, a pattern and a colour of their own.
const SERIES: usize = 10;

/// The legend; nothing without entries.
pub(super) fn legend(entries: &[LegendEntry]) -> Markup {
    html! {
        @if !entries.is_empty() {
            p.legend {
                @for entry in entries { span { (key(entry.key)) (entry.text) } }
            } "\n"
        }
    }
}

/// How something is drawn, beside its explanation.
pub(super) fn key(key: Key) -> Markup {
    let class = match key {
        Key::Fill(fill) => format!("fill {}", fill_class(fill)),
        Key::Mark(mark) => mark_class(mark).to_owned(),
        Key::Interval => "whisker".to_owned(),
        Key::Band => "band".to_owned(),
        Key::Unclaimed => "unclaimed".to_owned(),
        Key::Line(kind) => return drawn(line_sample(kind)),
        Key::Point(shape) => return drawn(point(shape)),
        Key::Sign(sign) => {
            return html! { b.sign aria-hidden="true" { (sign.glyph()) } " " };
        }
        Key::Shades => return shades(),
    };
    html! { i class={ "key " (class) } {} }
}

fn drawn(shapes: Markup) -> Markup {
    html! {
        svg class="plane key" viewBox="-16 -8 32 16" aria-hidden="true" { (shapes) }
    }
}

fn line_sample(kind: LineKind) -> Markup {
    html! {
        @if kind != LineKind::Points {
            line class=(line_class(kind)) x1="-16" x2="16" {}
        }
        @if kind != LineKind::Behind { (point_of_line(kind)) }
    }
}

/// How a bar or a piece of one is filled.
pub(super) fn fill_class(fill: Fill) -> &'static str {
    match fill {
        Fill::Ours => "ours",
        Fill::Uncertain => "ours uncertain",
        Fill::Reference => "reference-bar",
        Fill::Floor => "floor-bar",
        Fill::Published => "published",
    }
}

/// How a line over the whole drawing looks.
pub(super) fn mark_class(mark: MarkKind) -> &'static str {
    match mark {
        MarkKind::Reference => "reference",
        MarkKind::Floor => "floor",
        MarkKind::Edge => "edge",
        MarkKind::Level => "level",
    }
}

/// How a line through points looks.
pub(super) fn line_class(kind: LineKind) -> String {
    match kind {
        LineKind::Series(index) => format!("curve s{}", index % SERIES),
        LineKind::Only | LineKind::Points => "curve own".to_owned(),
        LineKind::Behind => "curve others".to_owned(),
    }
}

/// A point around the origin.
pub(super) fn point(shape: PointShape) -> Markup {
    let shape = match shape {
        PointShape::Sign(Sign::Above) => UP,
        PointShape::Sign(Sign::Below) => DOWN,
        PointShape::Sign(Sign::JustAbove) => HOLLOW_UP,
        PointShape::Sign(Sign::JustBelow) => HOLLOW_DOWN,
        PointShape::Sign(Sign::Even) | PointShape::Ring => RING,
        PointShape::Sign(_) | PointShape::Cross => CROSS,
        PointShape::Crossing => LOZENGE,
    };
    PreEscaped(shape.to_owned())
}

/// The points of a line, where they have no shape of their own.
pub(super) fn point_of_line(kind: LineKind) -> Markup {
    let LineKind::Series(index) = kind else {
        return point(PointShape::Ring);
    };
    PreEscaped(POINTS[index % SERIES].to_owned())
}

const UP: &str = "<path class=\"point above\" d=\"M0 -5L5 4H-5Z\"/>";
const DOWN: &str = "<path class=\"point below\" d=\"M0 5L5 -4H-5Z\"/>";
const HOLLOW_UP: &str = "<path class=\"point above hollow\" d=\"M0 -5L5 4H-5Z\"/>";
const HOLLOW_DOWN: &str = "<path class=\"point below hollow\" d=\"M0 5L5 -4H-5Z\"/>";
const RING: &str = "<circle class=\"point hollow\" r=\"4\"/>";
const CROSS: &str = "<path class=\"point cross\" d=\"M-4 -4L4 4M-4 4L4 -4\"/>";
const LOZENGE: &str = "<path class=\"root\" d=\"M0 -4L4 0L0 4L-4 0Z\"/>";
/// Those of series all differ.
const POINTS: [&str; SERIES] = [
    "<circle class=\"point s0\" r=\"4.5\"/>",
    "<path class=\"point s1\" d=\"M-4 -4H4V4H-4Z\"/>",
    "<path class=\"point s2\" d=\"M0 -5L5 4H-5Z\"/>",
    "<path class=\"point s3 hollow\" d=\"M0 -5.5L5.5 0L0 5.5L-5.5 0Z\"/>",
    "<circle class=\"point s4 hollow\" r=\"4.5\"/>",
    "<path class=\"point s5 hollow\" d=\"M-4 -4H4V4H-4Z\"/>",
    "<path class=\"point s6\" d=\"M0 5L5 -4H-5Z\"/>",
    "<path class=\"point s7 cross\" d=\"M-4 -4L4 4M-4 4L4 -4\"/>",
    "<path class=\"point s8 cross\" d=\"M0 -5.5V5.5M-5.5 0H5.5\"/>",
    "<path class=\"point s9 hollow\" d=\"M0 -5L5 4H-5Z\"/>",
];

/// The shades from the deepest below 1 to the deepest above, with the ratios at which each begins.
fn shades() -> Markup {
    let label = |shade: i8| match (shade, begins(shade.abs())) {
        (0, _) => "≈ 1".to_owned(),
        (1.., factor) => value::ratio(factor),
        (_, factor) => value::ratio(1.0 / factor),
    };
    html! {
        span.scale {
            @for shade in -DEEPEST..=DEEPEST {
                span class={ "shade " (shade_class(Some(shade))) } { (label(shade)) }
            }
        }
    }
}
