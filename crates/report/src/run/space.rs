//! What stores take on disk.

use crate::columns::{self, Written};
use crate::document::{
    Axis, Block, Cell, ChartRow, Fill, Mark, MarkKind, RowGroup, Rows, Scale, Section, Table, Unit,
    Value, chapter, paragraph,
};
use crate::value::float;
use crate::{constituents, value};
use stowplan_analysis::{Analysis, SpaceRow};
use stowplan_model::format_bytes;

const CAPTION: &str =
    "Bytes allocated on disk per byte of the values; 1.0 would be the values alone.";

/// What the built stores take; of those that only matrices and sweeps use, where everything is asked
/// for. Nothing without any store.
pub(crate) fn section(analysis: &Analysis) -> Option<Block> {
    let (shown, of_parts) = constituents::space(analysis);
    let mut blocks = blocks(analysis, &shown);
    if !of_parts.is_empty() {
        let count = of_parts.len();
        let title = format!("Disk space of the {count} stores of matrices and sweeps");
        let fold = Section::fold(title, self::blocks(analysis, &of_parts));
        blocks.push(fold.into());
    }
    chapter("space", "Disk space", blocks)
}

fn blocks(analysis: &Analysis, rows: &[&SpaceRow]) -> Vec<Block> {
    if rows.is_empty() {
        return Vec::new();
    }
    let chart = vec![paragraph(CAPTION), chart(analysis, rows).into()];
    let figure = Section::figure("", "", chart);
    vec![figure.into(), table(rows).into()]
}

fn chart(analysis: &Analysis, rows: &[&SpaceRow]) -> Rows {
    let drawn = rows.iter().flat_map(|row| {
        let ours = overhead(row).map(|ratio| drawn(&row.label, ratio, Fill::Ours));
        let published = published_overhead(analysis, row);
        let published = published.map(|(what, ratio)| drawn(what, ratio, Fill::Published));
        ours.into_iter().chain(published)
    });
    let drawn: Vec<ChartRow> = drawn.collect();
    let ratios = drawn.iter().filter_map(|row| Some(row.value?.number));
    let ratios: Vec<f64> = ratios.chain([1.0]).collect();
    let scale = Scale::for_bars(&ratios, &[]);
    let axis = Axis::new("", scale, scale.ticks(), |at| Unit::Ratio.tick(at));
    Rows {
        marks: vec![Mark::new(1.0, MarkKind::Reference)],
        ..Rows::new("Disk space", axis, vec![RowGroup::of("", drawn)])
    }
}

fn drawn(label: &str, ratio: f64, fill: Fill) -> ChartRow {
    let published = fill == Fill::Published;
    ChartRow {
        detail: if published { "published" } else { "" }.to_owned(),
        ..ChartRow::bar(label, Some(Value::new(ratio, Unit::Thousandths)), fill)
    }
}

/// Allocated bytes per byte of values.
fn overhead(row: &SpaceRow) -> Option<f64> {
    let allocated = float(row.footprint.allocated_bytes);
    (row.value_bytes > 0).then(|| allocated / float(row.value_bytes))
}

/// The published bytes per byte of values, where they are of as many values: only then can they be
/// drawn beside ours.
fn published_overhead<'a>(analysis: &Analysis, row: &'a SpaceRow) -> Option<(&'a str, f64)> {
    let (what, bytes, values) = row.published.as_ref()?;
    let stored = row.value_bytes;
    let mut datasets = analysis.run.plan.datasets.values();
    let dataset = datasets.find(|dataset| Some(dataset.count) == *values)?;
    let asked = dataset.size.mean().saturating_mul(dataset.count);
    let comparable = stored.abs_diff(asked) < stored / 50;
    (comparable && stored > 0).then(|| (what.as_str(), float(*bytes) / float(stored)))
}

fn table(rows: &[&SpaceRow]) -> Table {
    let rows = rows.iter().map(|row| Written::new(*row, row));
    let rows: Vec<Written<&SpaceRow>> = rows.collect();
    let columns = columns::listed(include_str!("../tables/space.txt"), special);
    Table::of("Disk space", columns.collect(), &rows)
}

fn special(name: &str, row: &&SpaceRow) -> Cell {
    match name {
        "relative" => Cell::maybe(row.ratio, relative),
        "published" => published(row),
        "overhead" => Cell::maybe(overhead(row), |ratio| Unit::Thousandths.text(ratio)),
        _ => Cell::text(published_in_full(row)),
    }
}

/// Of the store that the others are related to, and of its published figure.
const REFERENCE: u64 = 1.0_f64.to_bits();

/// `+13%`, or `reference` for the store that the others are related to.
fn relative(ratio: f64) -> String {
    match ratio.to_bits() {
        REFERENCE => "reference".to_owned(),
        _ => value::difference(ratio),
    }
}

/// `1.23 GB (+20%)`, or `1.23 GB of 100,000 (+20%)` where ours is of another number of values.
fn published(row: &SpaceRow) -> Cell {
    let Some((_, bytes, values)) = &row.published else {
        return Cell::default();
    };
    let ratio = row.published_ratio.filter(|r| r.to_bits() != REFERENCE);
    let relative = ratio.map(|ratio| format!(" ({})", value::difference(ratio)));
    let relative = relative.unwrap_or_default();
    let values = values.filter(|_| !row.published_of_as_many);
    let values = values.map(|values| format!(" of {}", value::count(values)));
    let values = values.unwrap_or_default();
    let text = format!("{}{values}{relative}", format_bytes(*bytes));
    Cell::number(float(*bytes), text)
}

/// `directory, by du: 1,228,800,000 bytes, 100,000 values`
fn published_in_full(row: &SpaceRow) -> String {
    let Some((what, bytes, values)) = &row.published else {
        return String::new();
    };
    let what = match *what == row.label {
        true => String::new(),
        false => format!("{what}: "),
    };
    let values = values.map(|values| format!(", {} values", value::count(values)));
    let values = values.unwrap_or_default();
    format!("{what}{} bytes{values}", value::count(*bytes))
}
