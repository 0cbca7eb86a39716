//! What every drawing of rows has: the same as a table, the extent of its values, marks of its axis.

use crate::document::{Cell, ChartRow, RowGroup, Rows, Scale, Table, Unit, number, text_column};

/// Every value that is drawn, in the order of the drawing.
pub(crate) fn table(rows: &Rows) -> Table {
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
    let of = "the line, what an acknowledged write survives, or who published it";
    let spread = "an interval, or a standard error";
    let columns = vec![
        text_column("cell", "what it is of", |line: &Line<'_>| {
            Cell::text(&line.2.label)
        }),
        text_column("group", "", |line: &Line<'_>| Cell::text(line.0)),
        text_column("of", of, |line: &Line<'_>| Cell::text(line.1)),
        number("value", "", |line: &Line<'_>| Cell::value(line.2.value)).in_unit(unit),
        number("spread", spread, |line: &Line<'_>| {
            Cell::spread(line.2.value)
        })
        .in_unit(unit),
    ];
    Table::of(&rows.summary, columns, &lines)
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

/// Marks of an axis: at most six, and not only one.
pub(crate) fn ticks(scale: &Scale) -> Vec<f64> {
    let mut ticks = scale.ticks();
    if ticks.len() < 3 && scale.is_logarithmic() {
        ticks = scale.fine_ticks();
    }
    let step = ticks.len().div_ceil(6).max(1);
    ticks.into_iter().step_by(step).collect()
}
