//! A drawing with two axes as one SVG. Across, positions are percentages, so that it stretches to
//! any width without distorting text or marks; down, they are pixels.

use super::element::escape;
use std::fmt::Write as _;

/// Height of the plane, in pixels.
const HEIGHT: f64 = 230.0;
/// How many lines of a plane have a shape, a pattern and a colour of their own.
pub(super) const SERIES: usize = 10;
/// Half the width of the caps of a whisker, in pixels.
const CAP: f64 = 4.0;

/// Nobody can point at a few pixels: around each point, this counts as the point.
const HIT: &str = "<circle class=\"hit\" r=\"12\"/>";

/// A drawing in the making. Positions are shares of the plane, 0 to 1, from its left and from its
/// bottom.
pub(super) struct Plot {
    title: String,
    shapes: String,
}

/// The shape of a point: shapes differ, so that colour is not needed to tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// A filled triangle, pointing up or down.
    Up,
    /// See `Up`.
    Down,
    /// A hollow triangle.
    HollowUp,
    /// See `HollowUp`.
    HollowDown,
    /// A circle.
    Ring,
    /// A small cross.
    Cross,
    /// A lozenge, for what is no measurement.
    Lozenge,
    /// The shape of the line with this number; those of the first [`SERIES`] all differ.
    Series(usize),
}

impl Plot {
    /// An empty plane; `title` says in words what it shows.
    pub(super) fn new(title: &str) -> Self {
        Self {
            title: escape(title),
            shapes: String::new(),
        }
    }

    /// An area.
    pub(super) fn area(&mut self, (left, right): (f64, f64), (low, high): (f64, f64), class: &str) {
        self.add(format_args!(
            "<rect class=\"{class}\" x=\"{}\" width=\"{}\" y=\"{}\" height=\"{}\"/>",
            across(left),
            across(right - left),
            down(high),
            px((high - low) * HEIGHT)
        ));
    }

    /// A line between two places.
    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str) {
        self.add(format_args!(
            "<line class=\"{class}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>",
            across(from.0),
            down(from.1),
            across(to.0),
            down(to.1)
        ));
    }

    /// A line through places.
    pub(super) fn path(&mut self, places: &[(f64, f64)], class: &str) {
        // In thousandths of the plane, stretched over it; strokes keep their width (see the style).
        let mut data = String::new();
        for (index, (x, y)) in places.iter().enumerate() {
            let step = if index == 0 { 'M' } else { 'L' };
            let (x, y) = (x.clamp(0.0, 1.0), 1.0 - y.clamp(0.0, 1.0));
            // Writing to a text cannot fail.
            let _ = write!(data, "{step}{:.1} {:.1}", x * 1e3, y * 1e3);
        }
        self.add(format_args!(
            "<svg class=\"paths\" viewBox=\"0 0 1000 1000\" preserveAspectRatio=\"none\" \
             width=\"100%\" height=\"{HEIGHT}\"><path class=\"{class}\" d=\"{data}\"/></svg>"
        ));
    }

    /// A point with its interval, if it has one.
    pub(super) fn point(
        &mut self,
        at: (f64, f64),
        ends: Option<(f64, f64)>,
        shape: Shape,
        tooltip: &str,
    ) {
        let whisker = ends.map_or_else(String::new, |(low, high)| {
            let (low, high) = ((at.1 - low) * HEIGHT, (at.1 - high) * HEIGHT);
            let cap = |y: f64| {
                let y = px(y);
                format!(
                    "<line class=\"whisker\" x1=\"-{CAP}\" x2=\"{CAP}\" y1=\"{y}\" y2=\"{y}\"/>"
                )
            };
            let (caps, low, high) = (format!("{}{}", cap(low), cap(high)), px(low), px(high));
            format!("<line class=\"whisker\" y1=\"{low}\" y2=\"{high}\"/>{caps}")
        });
        self.add(format_args!(
            "<svg class=\"at\" x=\"{}\" y=\"{}\"><title>{}</title>{HIT}{whisker}{}</svg>",
            across(at.0),
            down(at.1),
            escape(tooltip),
            shape.element()
        ));
    }

    /// A label below the plane.
    pub(super) fn label_below(&mut self, at: f64, text: &str) {
        self.add(format_args!(
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            across(at),
            HEIGHT + 18.0,
            escape(text)
        ));
    }

    /// A label to the left of the plane.
    pub(super) fn label_beside(&mut self, at: f64, text: &str) {
        self.add(format_args!(
            "<text x=\"-8\" y=\"{}\" dy=\".35em\" text-anchor=\"end\">{}</text>",
            down(at),
            escape(text)
        ));
    }

    /// A sign to the right of the plane.
    pub(super) fn label_behind(&mut self, at: f64, text: &str) {
        self.add(format_args!(
            "<text x=\"100%\" dx=\"4\" y=\"{}\" dy=\".35em\">{}</text>",
            down(at),
            escape(text)
        ));
    }

    /// The SVG element.
    pub(super) fn finish(self) -> String {
        format!(
            "<svg class=\"plane\" role=\"img\" height=\"{HEIGHT}\"><title>{}</title>{}</svg>",
            self.title, self.shapes
        )
    }

    fn add(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a text cannot fail.
        let _ = self.shapes.write_fmt(element);
    }
}

impl Shape {
    /// The shape around the origin.
    pub(super) fn element(self) -> &'static str {
        match self {
            Self::Up => "<path class=\"point above\" d=\"M0 -5L5 4H-5Z\"/>",
            Self::Down => "<path class=\"point below\" d=\"M0 5L5 -4H-5Z\"/>",
            Self::HollowUp => "<path class=\"point above hollow\" d=\"M0 -5L5 4H-5Z\"/>",
            Self::HollowDown => "<path class=\"point below hollow\" d=\"M0 5L5 -4H-5Z\"/>",
            Self::Ring => "<circle class=\"point hollow\" r=\"4\"/>",
            Self::Cross => "<path class=\"point cross\" d=\"M-4 -4L4 4M-4 4L4 -4\"/>",
            Self::Lozenge => "<path class=\"root\" d=\"M0 -4L4 0L0 4L-4 0Z\"/>",
            Self::Series(index) => match index % SERIES {
                0 => "<circle class=\"point s0\" r=\"4.5\"/>",
                1 => "<path class=\"point s1\" d=\"M-4 -4H4V4H-4Z\"/>",
                2 => "<path class=\"point s2\" d=\"M0 -5L5 4H-5Z\"/>",
                3 => "<path class=\"point s3 hollow\" d=\"M0 -5.5L5.5 0L0 5.5L-5.5 0Z\"/>",
                4 => "<circle class=\"point s4 hollow\" r=\"4.5\"/>",
                5 => "<path class=\"point s5 hollow\" d=\"M-4 -4H4V4H-4Z\"/>",
                6 => "<path class=\"point s6\" d=\"M0 5L5 -4H-5Z\"/>",
                7 => "<path class=\"point s7 cross\" d=\"M-4 -4L4 4M-4 4L4 -4\"/>",
                8 => "<path class=\"point s8 cross\" d=\"M0 -5.5V5.5M-5.5 0H5.5\"/>",
                _ => "<path class=\"point s9 hollow\" d=\"M0 -5L5 4H-5Z\"/>",
            },
        }
    }
}

fn across(position: f64) -> String {
    format!("{:.2}%", position.clamp(0.0, 1.0) * 100.0)
}

fn down(position: f64) -> String {
    px((1.0 - position.clamp(0.0, 1.0)) * HEIGHT)
}

fn px(pixels: f64) -> String {
    format!("{pixels:.1}")
}
