//! The settings of the cells of a comparison.

use crate::cells::label;
use crate::document::{Block, Cell, Detail, Fold, Table, TableBuilder, text_column};
use stowplan_analysis::{CellSummary, ComparisonOutcome};
use stowplan_model::PerTransaction;

/// Settings as asked and as the engines report them, a row per cell.
pub(super) fn fold(comparison: &ComparisonOutcome) -> Block {
    let cells: Vec<&CellSummary> = comparison.cells.iter().collect();
    let caption = format!("Settings: {}", comparison.title);
    let table = Table::of(caption, columns(), &cells);
    let title = "Settings of each cell, as asked for and as the engines report them";
    Block::from(Fold::new(title, vec![table.into()])).at(Detail::Full)
}

fn columns<'a>() -> Vec<TableBuilder<'a, &'a CellSummary>> {
    vec![
        text_column("cell", "", |cell: &&CellSummary| Cell::text(label(cell))),
        text_column("store", "as asked for", |cell: &&CellSummary| {
            Cell::text(cell.cell.store.to_string())
        })
        .weighing(5),
        text_column("workload", "", |cell: &&CellSummary| {
            Cell::text(workload(cell))
        })
        .weighing(5),
        text_column(
            "effective settings",
            "read back from the engine",
            |cell: &&CellSummary| Cell::text(effective(cell)),
        )
        .weighing(6),
        text_column(
            "not taken",
            "asked for, but reported otherwise",
            |cell: &&CellSummary| Cell::text(not_taken(cell)),
        )
        .weighing(6),
    ]
}

fn workload(cell: &CellSummary) -> String {
    let workload = &cell.cell.workload;
    let transactions = match workload.per_transaction {
        PerTransaction::All if !cell.cell.capabilities.transactions => {
            "no transactions (one batch)".to_owned()
        }
        per => per.to_string(),
    };
    let delivery = if workload.operation.writes() {
        String::new()
    } else {
        format!(", {}", workload.delivery)
    };
    let threads = match workload.threads {
        1 => String::new(),
        threads => format!(", {threads} threads"),
    };
    format!(
        "{} {}, {}, {transactions}{delivery}{threads}",
        workload.cache, workload.operation, workload.order
    )
}

fn effective(cell: &CellSummary) -> String {
    cell.effective.as_ref().map_or_else(
        || "not reported".to_owned(),
        |settings| settings.to_string().replace(',', ", "),
    )
}

fn not_taken(cell: &CellSummary) -> String {
    let differences = cell
        .effective
        .as_ref()
        .map(|effective| cell.cell.settings.differences(effective))
        .unwrap_or_default();
    let texts = differences
        .iter()
        .map(|(name, asked, got)| format!("{name}: asked {asked}, got {got}"));
    texts.collect::<Vec<String>>().join("; ")
}
