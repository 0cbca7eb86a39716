//! One row of a chart as a small SVG. Positions across are percentages, so that it stretches to
//! any width; heights are pixels around the middle, so that nothing is distorted and a row beside
//! a long label may be higher.

use super::element::escape;
use std::fmt::Write as _;

/// Height of a bar, in pixels.
const BAR: f64 = 16.0;
/// Half the height of the caps of a whisker, in pixels.
const CAP: f64 = 5.0;

/// A drawing in the making. Positions are shares of the width, 0 to 1.
pub(super) struct Row {
    title: String,
    /// What reaches over the whole height, behind the shapes.
    background: String,
    /// What lies around the middle: heights are relative to it.
    shapes: String,
    /// What reaches over the whole height, in front of the shapes.
    foreground: String,
}

impl Row {
    /// An empty row; `title` says in words what it shows.
    pub(super) fn new(title: &str) -> Self {
        Self {
            title: escape(title),
            background: String::new(),
            shapes: String::new(),
            foreground: String::new(),
        }
    }

    /// A line over the whole height, behind what is drawn.
    pub(super) fn line_behind(&mut self, at: f64, class: &str) {
        self.background.push_str(&upright(at, class));
    }

    /// A line over the whole height, in front of what is drawn.
    pub(super) fn line_before(&mut self, at: f64, class: &str) {
        self.foreground.push_str(&upright(at, class));
    }

    /// A bar between two positions.
    pub(super) fn bar(&mut self, from: f64, to: f64, class: &str) {
        let (left, right) = (from.min(to), from.max(to));
        self.add(format_args!(
            "<rect class=\"{class}\" x=\"{}\" width=\"{}\" y=\"{}\" height=\"{BAR}\"/>",
            share(left),
            share(right - left),
            -BAR / 2.0
        ));
    }

    /// An interval.
    pub(super) fn whisker(&mut self, low: f64, high: f64) {
        let (low, high) = (share(low), share(high));
        self.add(format_args!(
            "<line class=\"whisker\" x1=\"{low}\" x2=\"{high}\"/>"
        ));
        for end in [low, high] {
            self.add(format_args!(
                "<line class=\"whisker\" x1=\"{end}\" x2=\"{end}\" y1=\"{}\" y2=\"{}\"/>",
                -CAP, CAP
            ));
        }
    }

    /// The SVG element.
    pub(super) fn finish(self) -> String {
        format!(
            "<svg class=\"track\" role=\"img\"><title>{}</title>{}\
             <svg y=\"50%\" overflow=\"visible\">{}</svg>{}</svg>",
            self.title, self.background, self.shapes, self.foreground
        )
    }

    fn add(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a text cannot fail.
        let _ = self.shapes.write_fmt(element);
    }
}

fn upright(at: f64, class: &str) -> String {
    let at = share(at);
    format!("<line class=\"{class}\" x1=\"{at}\" x2=\"{at}\" y1=\"0\" y2=\"100%\"/>")
}

/// The labels below the rows of a chart.
pub(super) fn axis(labels: &[(f64, String)]) -> String {
    let texts: String = labels
        .iter()
        .map(|(at, label)| {
            // A label at an end of the axis would be cut in half.
            let anchor = match *at {
                at if at < 0.03 => "start",
                at if at > 0.97 => "end",
                _ => "middle",
            };
            let at = share(*at);
            let label = escape(label);
            format!("<text x=\"{at}\" y=\"14\" text-anchor=\"{anchor}\">{label}</text>")
        })
        .collect();
    format!("<svg class=\"axis\" aria-hidden=\"true\" height=\"20\">{texts}</svg>")
}

fn share(position: f64) -> String {
    format!("{:.2}%", position.clamp(0.0, 1.0) * 100.0)
}
