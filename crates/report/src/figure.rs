//! Figures: a drawing of rows or a plane, what must be known of it, and the same as a table.

use crate::columns::Columns;
use crate::document::{
    Axis, Block, ChartRow, Fill, RowGroup, Rows, Scale, Section, Unit, Value, folded, notice,
    paragraph,
};
use crate::document::{Cell, Plane, Table};
use crate::render::as_rows;
use stowplan_analysis::PublishedRatio;

/// A figure before it is put together.
pub(crate) struct Figure {
    /// Its name within the page.
    pub(crate) id: String,
    /// Its heading.
    pub(crate) title: String,
    /// How to read it.
    pub(crate) about: String,
    /// What must not be overlooked.
    pub(crate) notices: Vec<String>,
    /// What stands below; may be empty.
    pub(crate) below: String,
}

impl Figure {
    /// The figure of rows.
    pub(crate) fn of_rows(self, rows: Rows) -> Block {
        let logarithmic = match rows.axis.scale.is_logarithmic() {
            true => " Logarithmic axis: equal distances are equal factors.",
            false => "",
        };
        let about = format!("{}{logarithmic}", self.about);
        let table = table(&rows);
        self.drawn(about, rows.into(), table)
    }

    /// The figure of a plane.
    pub(crate) fn of_plane(self, plane: Plane) -> Block {
        let table = table(&as_rows(&plane));
        self.drawn(self.about.clone(), plane.into(), table)
    }

    fn drawn(&self, about: String, drawing: Block, table: Table) -> Block {
        let mut blocks = vec![paragraph(about)];
        blocks.extend(self.notices.iter().map(notice));
        blocks.extend([drawing, folded("All figures", table)]);
        blocks.push(paragraph(&self.below));
        Section::figure(&self.id, &self.title, blocks).into()
    }
}

/// Every value that is drawn, in the order of the drawing.
fn table(rows: &Rows) -> Table {
    type Line<'a> = (&'a str, &'a str, &'a ChartRow);
    let mut heading = "";
    let mut lines: Vec<Line<'_>> = Vec::new();
    for group in &rows.groups {
        if !group.heading.is_empty() {
            heading = &group.heading;
        }
        let of_it = group.rows.iter();
        lines.extend(of_it.map(|row| (heading, group.title.as_str(), row)));
    }
    let unit = lines.iter().find_map(|(.., row)| Some(row.value?.unit));
    let unit = unit.map_or("", Unit::name);
    let make = Columns::<Line<'_>>::new();
    let columns = vec![
        make.text("cell", |line| line.2.label.clone())
            .help("what it is of"),
        make.text("group", |line| line.0.to_owned()),
        make.text("of", |line| line.1.to_owned())
            .help("the line, what an acknowledged write survives, or who published it"),
        make.number("value", |line| Cell::value(line.2.value))
            .in_unit(unit),
        make.number("spread", |line| Cell::spread(line.2.value))
            .help("an interval, or a standard error")
            .in_unit(unit),
    ];
    Table::of(&rows.summary, columns, &lines)
}

/// Rows of ratios to a reference, which is 1.
pub(crate) fn axis_of_ratios(title: String, groups: &[RowGroup], more: Option<f64>) -> Axis {
    let (values, mut ends) = extent(groups);
    ends.extend(more);
    let scale = Scale::for_bars(&values, &ends);
    Axis::new(title, scale, scale.ticks(), |at| Unit::Ratio.tick(at))
}

/// The values of rows, and the ends of their intervals.
pub(crate) fn extent(groups: &[RowGroup]) -> (Vec<f64>, Vec<f64>) {
    let values = || {
        groups
            .iter()
            .flat_map(|group| &group.rows)
            .filter_map(|row| row.value)
    };
    let ends = values().filter_map(|value| value.ends());
    (
        values().map(|value| value.number).collect(),
        ends.flat_map(<[f64; 2]>::from).collect(),
    )
}

/// What others published, if anything.
pub(crate) fn published(label: Option<&str>, rows: Vec<ChartRow>) -> Option<RowGroup> {
    let label = label.map_or_else(String::new, |label| format!(": {label}"));
    (!rows.is_empty()).then(|| RowGroup::of(format!("Published{label}"), rows))
}

/// Published ratios, which could be read to so much.
pub(crate) fn published_ratios(
    label: Option<&str>,
    ratios: &[PublishedRatio],
    precision: Option<f64>,
) -> Option<RowGroup> {
    let rows = ratios.iter().map(|found| {
        let value = Value::new(found.ratio, Unit::Ratio).give_or_take(precision);
        ChartRow {
            detail: found.description.clone(),
            help: "as published".to_owned(),
            ..ChartRow::bar(&found.system, Some(value), Fill::Published)
        }
    });
    published(label, rows.collect())
}

/// Marks of an axis: at most six, and not only one.
pub(crate) fn ticks(scale: &Scale) -> Vec<f64> {
    let mut ticks = scale.ticks();
    if ticks.len() < 3 && scale.is_logarithmic() {
        ticks = scale.fine_ticks();
    }
    let step = ticks.len().div_ceil(6).max(1);
    ticks.into_iter().step_by(step).collect()
}
