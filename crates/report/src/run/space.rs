//! What stores take on disk.

use crate::columns;
use crate::document::{Block, Cell, Table, Unit, chapter, folded};
use crate::value;
use crate::value::float;
use stowplan_analysis::{Analysis, ComparisonOutcome, SpaceRow};
use stowplan_model::{built_alike, format_bytes};

/// What the built stores take; of those that only matrices and sweeps use, where everything is asked
/// for. Nothing without any store.
pub(crate) fn section(analysis: &Analysis) -> Option<Block> {
    let (shown, of_parts) = apart(analysis);
    let mut blocks: Vec<Block> = (!shown.is_empty())
        .then(|| table(&shown))
        .into_iter()
        .collect();
    if !of_parts.is_empty() {
        let count = of_parts.len();
        let title = format!("Disk space of the {count} stores of matrices and sweeps");
        blocks.push(folded(title, table(&of_parts)));
    }
    chapter("space", "Disk space", blocks)
}

/// What stores take on disk: those that a comparison of its own uses or that the study asks for,
/// then those that only constituents of matrices and sweeps use.
fn apart(analysis: &Analysis) -> (Vec<&SpaceRow>, Vec<&SpaceRow>) {
    let constituents = analysis.constituents();
    let uses = |comparison: &ComparisonOutcome, row: &SpaceRow| {
        let mut cells = comparison.cells.iter();
        cells.any(|cell| built_alike(&cell.cell.instance) == row.instance)
    };
    let asked = &analysis.run.plan.study.space;
    analysis.space.iter().partition(|row| {
        let mut users = analysis.comparisons.iter().filter(|c| uses(c, row));
        let only_theirs =
            users.clone().next().is_some() && users.all(|c| constituents.contains(&c.id));
        !only_theirs || asked.iter().any(|asked| asked.label == row.label)
    })
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
