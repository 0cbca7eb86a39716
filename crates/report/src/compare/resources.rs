//! What cells take besides time: disk space, writes and memory. One figure per run, without an
//! interval.

use super::sentences::name;
use crate::document::{Block, bullets, folded};
use crate::value;
use stowplan_analysis::compare::{CellChange, Changes, ResourceChange, Resources};

/// Figures are told from this share on, unless everything is.
const WORTH_TELLING: f64 = 0.05;

/// What a figure is, how it is read, and how its numbers are written.
type Figure = (
    &'static str,
    fn(&Resources) -> Option<ResourceChange>,
    fn(f64) -> String,
);

const FIGURES: [Figure; 3] = [
    ("on disk", |found| found.allocated_bytes, value::bytes),
    (
        "bytes sent to storage per byte written",
        |found| found.write_amplification,
        value::ratio,
    ),
    (
        "of memory at most",
        |found| found.peak_memory_bytes,
        value::bytes,
    ),
];

/// A fold of what changed enough to be told, a sentence for each figure; nothing if nothing did.
pub(super) fn fold(changes: &Changes) -> Option<Block> {
    let told = changes.cells.iter().flat_map(|cell| {
        let figures = FIGURES.iter();
        figures.filter_map(|figure| told(cell, figure))
    });
    Some(folded("Disk space, writes and memory", bullets(told)?))
}

/// `read/sql: 10.0 MB → 12.0 MB on disk (+20%)`, if it changed enough.
fn told(cell: &CellChange, (what, of, show): &Figure) -> Option<String> {
    let change = of(&cell.resources)?;
    let worth_telling = change.ratio.ln().abs() >= WORTH_TELLING.ln_1p();
    let beyond = match change.beyond_threshold {
        true => ", beyond the threshold",
        false if worth_telling => "",
        false => return None,
    };
    let [base, new] = [change.base, change.new].map(show);
    let difference = value::difference(change.ratio);
    let name = name(cell);
    Some(format!(
        "{name}: {base} → {new} {what} ({difference}{beyond})"
    ))
}
