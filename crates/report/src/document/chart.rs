//! Charts of two shapes: rows over one axis, and planes with two.

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

/// Rows of a label, a drawing and a value, over one axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    /// What it shows, for those who cannot see it.
    pub summary: String,
    /// The axis that all rows share.
    pub axis: Axis,
    /// What can be compared stands together.
    pub groups: Vec<RowGroup>,
    /// Lines over the whole height.
    pub marks: Vec<Mark>,
    /// What it is drawn with.
    pub legend: Vec<LegendEntry>,
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
    /// What it is of.
    pub label: String,
    /// What else there is to know of that; shown where there is room; may be empty.
    pub detail: String,
    /// Its value; nothing where there is no data.
    pub value: Option<Value>,
    /// How the value is drawn.
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
    /// An edge of the zone in which no difference matters.
    Edge,
    /// A published figure, or what is true.
    Level,
}

/// Drawings with two axes, which they share.
#[derive(Debug, Clone, PartialEq)]
pub struct Plane {
    /// What it shows, for those who cannot see it.
    pub summary: String,
    /// Across.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
    /// What stands above the drawing and what below it, where the two ends of the axis upwards mean
    /// something: `files faster`.
    pub ends: Option<(String, String)>,
    /// Drawings side by side.
    pub panels: Vec<Panel>,
    /// Areas, behind everything.
    pub areas: Vec<Area>,
    /// Lines over the whole width.
    pub levels: Vec<Mark>,
    /// What it is drawn with; the lines of each panel explain themselves.
    pub legend: Vec<LegendEntry>,
    /// Whether a terminal draws it, as rows; otherwise the table beside it has to do.
    pub on_terminal: bool,
}

/// One drawing of a plane.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// Its name within the page; empty if no link leads to it.
    pub id: String,
    /// Its heading; empty for none.
    pub title: String,
    /// Its lines.
    pub lines: Vec<Line>,
}

/// A line through points.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// What it is of; empty where the heading says it.
    pub label: String,
    /// How it is drawn.
    pub kind: LineKind,
    /// Its points, rising across.
    pub points: Vec<Point>,
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// One of several: each has colour, dashes and shape of its own.
    Series(usize),
    /// The only one.
    Only,
    /// Behind the others, pale, without its points.
    Behind,
    /// Its points only.
    Points,
}

/// One point.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Point {
    /// Across.
    pub x: f64,
    /// Upwards; nothing where there is no data, which interrupts the line.
    pub value: Option<Value>,
    /// Its shape, where it is not that of its line.
    pub shape: Option<PointShape>,
    /// Across, in words; empty where nobody can point at it.
    pub label: String,
    /// What else there is to know of it; may be empty.
    pub help: String,
}

/// The shape of a point: shapes differ, so that colour is not needed to tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PointShape {
    /// That of a sign.
    Sign(Sign),
    /// A circle.
    Ring,
    /// A small cross: from a sample, or undecided.
    Cross,
    /// A lozenge: where a line crosses another, which is no measurement.
    Crossing,
}

/// An area of a plane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Area {
    /// What it is.
    pub kind: AreaKind,
    /// Its ends across; nothing for the whole width.
    pub x: Option<(f64, f64)>,
    /// Its ends upwards; nothing for the whole height.
    pub y: Option<(f64, f64)>,
}

/// What an area is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AreaKind {
    /// In which no difference matters.
    Band,
    /// In which nothing is claimed.
    Unclaimed,
}

impl Rows {
    /// Rows without lines over them.
    pub fn new(summary: impl Into<String>, axis: Axis, groups: Vec<RowGroup>) -> Self {
        Self {
            summary: summary.into(),
            axis,
            groups,
            marks: Vec::new(),
            legend: Vec::new(),
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

    /// All of it in a sentence.
    pub(crate) fn sentence(&self) -> String {
        sentence(&self.label, self.value, &self.help)
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

/// What something is, and what else there is to know of it.
fn sentence(label: &str, value: Option<Value>, help: &str) -> String {
    let value = value.map_or(NO_DATA.to_owned(), |value| value.sentence());
    let said = [value.as_str(), help];
    let said: Vec<&str> = said.into_iter().filter(|text| !text.is_empty()).collect();
    format!("{label}: {}", said.join(", "))
}

impl Point {
    /// All of it in a sentence; empty where nobody can point at it.
    pub(crate) fn sentence(&self, line: &str) -> String {
        match (line, self.label.as_str()) {
            (_, "") => self.help.clone(),
            ("", label) => sentence(label, self.value, &self.help),
            (line, label) => sentence(&format!("{line}, {label}"), self.value, &self.help),
        }
    }
}

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

impl Panel {
    /// A drawing that no link leads to; its heading may be empty.
    pub fn new(title: impl Into<String>, lines: Vec<Line>) -> Self {
        Self {
            id: String::new(),
            title: title.into(),
            lines,
        }
    }
}

impl Plane {
    /// Drawings that a terminal leaves out.
    pub fn new(summary: impl Into<String>, x: Axis, y: Axis, panels: Vec<Panel>) -> Self {
        Self {
            summary: summary.into(),
            x,
            y,
            ends: None,
            panels,
            areas: Vec::new(),
            levels: Vec::new(),
            legend: Vec::new(),
            on_terminal: false,
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
