//! How things are drawn, and what that says: the classes of fills, lines and points, and legends.

use super::table::shade_class;
use crate::document::shade::{DEEPEST, begins};
use crate::document::{ChartRow, Fill, Key, LegendEntry, MarkKind, RowGroup, Sign};
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
fn key(key: Key) -> Markup {
    let class = match key {
        Key::Fill(fill) => format!("fill {}", fill_class(fill)),
        Key::Mark(mark) => mark_class(mark).to_owned(),
        Key::Interval => "whisker".to_owned(),
        Key::Band => "band".to_owned(),
        Key::Unclaimed => "unclaimed".to_owned(),
        Key::Point(sign) => return drawn(&of_sign(sign)),
        Key::Sign(sign) => {
            return html! { b.sign aria-hidden="true" { (sign.glyph()) } " " };
        }
        Key::Shades => return shades(),
    };
    html! { i class={ "key " (class) } {} }
}

fn drawn(shapes: &Markup) -> Markup {
    html! {
        svg class="plane key" viewBox="-16 -8 32 16" aria-hidden="true" { (shapes) }
    }
}

/// How a line of this number among those of its plane is drawn, beside its name.
pub(super) fn line_key(number: usize) -> Markup {
    drawn(&html! {
        line class=(series(number)) x1="-16" x2="16" {}
        (PreEscaped(POINTS[number % SERIES]))
    })
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

/// How a line through points looks; one that needs no name is the only one.
pub(super) fn line_class(number: usize, line: &RowGroup) -> String {
    match line.title.as_str() {
        "" => "curve own".to_owned(),
        _ => series(number),
    }
}

fn series(number: usize) -> String {
    format!("curve s{}", number % SERIES)
}

/// A point of a line, around the origin: its sign, or the shape of its line.
pub(super) fn point(row: &ChartRow, number: usize, line: &RowGroup) -> Markup {
    match row.sign {
        Some(sign) => of_sign(sign),
        None if line.title.is_empty() => PreEscaped(RING.to_owned()),
        None => PreEscaped(POINTS[number % SERIES].to_owned()),
    }
}

/// Shapes differ, so that colour is not needed to tell them apart.
fn of_sign(sign: Sign) -> Markup {
    let shape = match sign {
        Sign::Above => UP,
        Sign::Below => DOWN,
        Sign::JustAbove => HOLLOW_UP,
        Sign::JustBelow => HOLLOW_DOWN,
        Sign::Even => RING,
        Sign::Open | Sign::Unreliable | Sign::Nothing => CROSS,
    };
    PreEscaped(shape.to_owned())
}

const UP: &str = "<path class=\"point above\" d=\"M0 -5L5 4H-5Z\"/>";
const DOWN: &str = "<path class=\"point below\" d=\"M0 5L5 -4H-5Z\"/>";
const HOLLOW_UP: &str = "<path class=\"point above hollow\" d=\"M0 -5L5 4H-5Z\"/>";
const HOLLOW_DOWN: &str = "<path class=\"point below hollow\" d=\"M0 5L5 -4H-5Z\"/>";
const RING: &str = "<circle class=\"point hollow\" r=\"4\"/>";
const CROSS: &str = "<path class=\"point cross\" d=\"M-4 -4L4 4M-4 4L4 -4\"/>";
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
