//! What stores take on disk.

use crate::columns;
use crate::document::{Block, Cell, Table, Unit, chapter, folded};
use crate::value;
use crate::value::float;
use stowplan_analysis::{Analysis, SpaceRow};
use stowplan_model::format_bytes;

/// So many stores are shown at once.
const MOST_ROWS: usize = 20;

/// What the built stores take; of many, as those of a matrix are, where everything is asked for. Nothing without any
/// store.
pub(crate) fn section(analysis: &Analysis) -> Option<Block> {
    let rows: Vec<&SpaceRow> = analysis.space.iter().collect();
    let block = match rows.len() {
        0 => None,
        1..=MOST_ROWS => Some(table(&rows)),
        many => Some(folded(format!("All {many} stores"), table(&rows))),
    };
    chapter("space", "Disk space", block.into_iter().collect())
}

/// Allocated bytes per byte of values.
fn overhead(row: &SpaceRow) -> Option<f64> {
    let allocated = float(row.footprint.allocated_bytes);
    (row.value_bytes > 0).then(|| allocated / float(row.value_bytes))
}

fn table(rows: &[&SpaceRow]) -> Block {
    let columns = columns::listed(include_str!("../tables/space.txt"), special);
    Table::of("Disk space", columns, &columns::rows(rows.iter().copied())).into()
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

/// `1.23 GB of 100,000 (+20%)`: of so many values.
fn published(row: &SpaceRow) -> Cell {
    let Some((_, bytes, values)) = &row.published else {
        return Cell::default();
    };
    let ratio = row.published_ratio.filter(|r| r.to_bits() != REFERENCE);
    let relative = ratio.map(|ratio| format!(" ({})", value::difference(ratio)));
    let relative = relative.unwrap_or_default();
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
