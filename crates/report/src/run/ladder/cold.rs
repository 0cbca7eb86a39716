//! Why cold reads rank as they do: what each takes from storage, and where its value lies.

use crate::cells::label;
use crate::columns;
use crate::document::{Block, Cell, Section, Table, remark};
use crate::value;
use stowplan_analysis::{ColdCell, ColdOutcome, ComparisonOutcome};
use stowplan_model::Role;

const TITLE: &str = "What a cold read takes from storage";

/// A row per cell, and how far the kernel reads ahead.
pub(super) fn section(comparison: &ComparisonOutcome, cold: &ColdOutcome) -> Block {
    let baseline = cold.cells.iter().find(|cell| cell.role == Role::Baseline);
    let special = |name: &str, cell: &&ColdCell| match name {
        "cell" => Cell::text(comparison.cell(&cell.cell).map_or_else(String::new, label)),
        "names" => Cell::maybe(cell.metadata_bytes, |bytes| {
            let doubt = if cell.metadata_proved { "" } else { " ?" };
            format!("{}{doubt}", value::bytes(bytes))
        }),
        _ => {
            let others = baseline.filter(|of| of.cell != cell.cell && of.storage_bytes > 0.0);
            let times = others.map(|of| cell.storage_bytes / of.storage_bytes);
            Cell::maybe(times, value::ratio)
        }
    };
    let columns = columns::listed(include_str!("../../tables/cold.txt"), special);
    let table = Table::of(TITLE, columns, &columns::rows(&cold.cells));
    let ahead = cold.read_ahead_bytes.map(|bytes| {
        remark(format!(
            "The kernel reads ahead up to {} KiB of this device where reads look sequential, and \
             around each page that a mapping lacks.",
            value::count(bytes / 1024)
        ))
    });
    let blocks = [Block::from(table)].into_iter().chain(ahead);
    Section::new(TITLE, blocks.collect()).into()
}
