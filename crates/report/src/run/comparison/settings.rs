//! The settings of the cells of a comparison.

use crate::cells::label;
use crate::columns::{listed, rows};
use crate::document::{Block, Cell, Table, folded};
use crate::wording;
use stowplan_analysis::{CellSummary, ComparisonOutcome};

/// Settings as asked and as the engines report them, a row per cell.
pub(super) fn fold(comparison: &ComparisonOutcome) -> Block {
    let special = |name: &str, cell: &&CellSummary| match name {
        "cell" => Cell::text(label(cell)),
        "store" => Cell::text(cell.cell.store.to_string()),
        "workload" => Cell::text(wording::task(&cell.cell.workload, "")),
        "effective" => Cell::text(effective(cell)),
        _ => Cell::text(not_taken(cell)),
    };
    let columns = listed(include_str!("../../tables/settings.txt"), special);
    let caption = format!("Settings: {}", comparison.title);
    let table = Table::of(caption, columns, &rows(&comparison.cells));
    let title = "Settings of each cell, as asked for and as the engines report them";
    folded(title, table)
}

fn effective(cell: &CellSummary) -> String {
    let settings = cell.effective.as_ref();
    settings.map_or_else(
        || "not reported".to_owned(),
        |settings| settings.to_string().replace(',', ", "),
    )
}

fn not_taken(cell: &CellSummary) -> String {
    let effective = cell.effective.as_ref();
    let differences = effective.map(|effective| cell.cell.settings.differences(effective));
    let differences = differences.into_iter().flatten();
    let texts = differences.map(|(name, asked, got)| format!("{name}: asked {asked}, got {got}"));
    texts.collect::<Vec<String>>().join("; ")
}
