//! Charts: rows over one axis, or points of a plane over two.

use super::{LegendEntry, Scale, Sign, Value};

/// An axis: where values lie, and which are marked.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What it shows; may be empty.
    pub title: String,
    /// Where values lie.
    pub scale: Scale,
    /// What is marked, rising: the value and its label. A renderer leaves out labels that have no
    /// room.
    pub ticks: Vec<(f64, String)>,
}

/// Rows of a label, a drawing and a value, over one axis. With a second one each group is a line
/// through points; a form without room for planes shows their rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    /// What it shows, for those who cannot see it.
    pub summary: String,
    /// The axis of the values, which all rows share.
    pub axis: Axis,
    /// The second axis of a plane.
    pub across: Option<Across>,
    /// What can be compared stands together. A heading begins another drawing of a plane.
    pub groups: Vec<RowGroup>,
    /// Lines over the whole height of rows, or the whole width of a plane.
    pub marks: Vec<Mark>,
    /// What it is drawn with.
    pub legend: Vec<LegendEntry>,
}

/// What lies across a plane, whose values rise upwards.
#[derive(Debug, Clone, PartialEq)]
pub struct Across {
    /// The axis.
    pub axis: Axis,
    /// What stands above the drawing and what below it, where the two ends of the axis upwards mean
    /// something: `files faster`.
    pub ends: Option<(String, String)>,
    /// From where to where nothing is claimed.
    pub unclaimed: Option<(f64, f64)>,
}

/// Rows below a heading.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RowGroup {
    /// A heading above, of what several groups have in common; empty where it is that of the group
    /// before, or none.
    pub heading: String,
    /// The heading; empty for none.
    pub title: String,
    /// What must not be overlooked.
    pub notices: Vec<String>,
    /// What else there is to know.
    pub remarks: Vec<String>,
    /// The rows.
    pub rows: Vec<ChartRow>,
}

/// One row: what it is of, its value, and how that is drawn.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ChartRow {
    /// What it is of; empty for a point of a plane at which nobody can point.
    pub label: String,
    /// What else there is to know of that; shown where there is room; may be empty.
    pub detail: String,
    /// Where it lies across a plane, rising within a group.
    pub x: f64,
    /// Its value; nothing where there is no data, which interrupts the line of a plane.
    pub value: Option<Value>,
    /// How the value is drawn in a row.
    pub shape: Shape,
    /// Who is ahead.
    pub sign: Option<Sign>,
    /// What else there is to know of the value, for those who point at it; may be empty.
    pub help: String,
}

/// How the value of a row is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// A bar from the origin of the axis.
    Bar(Fill),
    /// A point.
    Point,
    /// A piece as long as the value, which begins here.
    Piece(f64, Fill),
}

impl Default for Shape {
    fn default() -> Self {
        Self::Bar(Fill::default())
    }
}

/// How a bar or a piece is filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fill {
    /// Measured here.
    #[default]
    Ours,
    /// Measured here, without a claim.
    Uncertain,
    /// What the others are related to.
    Reference,
    /// The cheapest conceivable way, which is no store.
    Floor,
    /// Published.
    Published,
}

/// A line over the whole height of rows, or the whole width of a plane.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// Where it lies.
    pub at: f64,
    /// What it is.
    pub kind: MarkKind,
    /// A sign that names it beside the drawing; may be empty.
    pub sign: String,
}

/// What a line over the whole drawing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkKind {
    /// What values are related to: a ratio of 1.
    Reference,
    /// The cheapest conceivable way.
    Floor,
    /// An edge of the zone in which no difference matters; a plane has a band between two.
    Edge,
    /// A published figure, or what is true.
    Level,
}

impl Rows {
    /// Rows without lines over them.
    pub fn new(summary: impl Into<String>, axis: Axis, groups: Vec<RowGroup>) -> Self {
        Self {
            summary: summary.into(),
            axis,
            across: None,
            groups,
            marks: Vec::new(),
            legend: Vec::new(),
        }
    }

    /// Makes a plane of it, with this axis across.
    #[must_use]
    pub fn across(self, axis: Axis) -> Self {
        let across = Across {
            axis,
            ends: None,
            unclaimed: None,
        };
        Self {
            across: Some(across),
            ..self
        }
    }

    /// The first of the rows, so many at most, without what explains the drawing.
    #[must_use]
    pub fn first(mut self, mut rows: usize) -> Self {
        for group in &mut self.groups {
            group.rows.truncate(rows);
            rows -= group.rows.len();
        }
        self.groups.retain(|group| !group.rows.is_empty());
        self.legend.clear();
        self
    }
}

impl RowGroup {
    /// Rows below a heading, which may be empty.
    pub fn of(title: impl Into<String>, rows: Vec<ChartRow>) -> Self {
        Self {
            title: title.into(),
            rows,
            ..Self::default()
        }
    }
}

/// The groups, the first of them below this heading.
pub fn headed(heading: impl Into<String>, mut groups: Vec<RowGroup>) -> Vec<RowGroup> {
    if let Some(first) = groups.first_mut() {
        first.heading = heading.into();
    }
    groups
}

impl ChartRow {
    /// A bar, or that there is no data for one.
    pub fn bar(label: impl Into<String>, value: Option<Value>, fill: Fill) -> Self {
        Self {
            label: label.into(),
            value,
            shape: Shape::Bar(fill),
            ..Self::default()
        }
    }

    /// All of it in a sentence; `group` may be empty.
    pub(crate) fn sentence(&self, group: &str) -> String {
        let value = self
            .value
            .map_or(NO_DATA.to_owned(), |value| value.sentence());
        let said = [value.as_str(), &self.help];
        let said: Vec<&str> = said.into_iter().filter(|text| !text.is_empty()).collect();
        let comma = if group.is_empty() { "" } else { ", " };
        format!("{group}{comma}{}: {}", self.label, said.join(", "))
    }

    /// The label with its detail.
    pub(crate) fn detailed(&self) -> String {
        match self.detail.as_str() {
            "" => self.label.clone(),
            detail => format!("{} ({detail})", self.label),
        }
    }

    /// The value as text.
    pub(crate) fn text(&self) -> String {
        self.value.map_or(NO_DATA.to_owned(), |value| value.text())
    }

    /// What follows the value where there is room.
    pub(crate) fn spread(&self) -> String {
        self.value.map_or_else(String::new, |value| value.spread())
    }
}

/// What stands for a value that there is not.
const NO_DATA: &str = "no data";

impl Mark {
    /// A mark without a sign.
    #[must_use]
    pub fn new(at: f64, kind: MarkKind) -> Self {
        Self {
            at,
            kind,
            sign: String::new(),
        }
    }
}

impl Axis {
    /// An axis with marks at these values.
    pub fn new(
        title: impl Into<String>,
        scale: Scale,
        ticks: Vec<f64>,
        label: impl Fn(f64) -> String,
    ) -> Self {
        Self {
            title: title.into(),
            scale,
            ticks: ticks.into_iter().map(|at| (at, label(at))).collect(),
        }
    }
}
