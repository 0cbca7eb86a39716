//! What cells asked of the system, per operation.

use super::call;
use crate::cells::label;
use crate::columns::{self, Written};
use crate::document::{Cell, Table};
use crate::value;
use stowplan_analysis::{CellSummary, ComparisonOutcome, CountSummary};
use stowplan_model::{CallCounter, Role};

type Row<'a> = (&'a CellSummary, &'a CountSummary);

/// A row per cell that was counted but the control; nothing if none was. The names of the calls are
/// the last to go where there is little room.
pub(super) fn table(comparison: &ComparisonOutcome) -> Option<Table> {
    let cells = comparison.cells.iter();
    let cells = cells.filter(|cell| cell.cell.role != Role::Control);
    let rows = cells.filter_map(|cell| {
        let counts = cell.counts.as_ref()?;
        Some(Written::new((cell, counts), counts))
    });
    let rows: Vec<Written<Row<'_>>> = rows.collect();
    let columns = columns::listed(include_str!("../../tables/counts.txt"), special);
    let title = &comparison.title;
    let caption = format!("Asked of the system, per operation: {title}");
    (!rows.is_empty()).then(|| Table::of(caption, columns, &rows))
}

fn special(name: &str, (cell, counts): &Row<'_>) -> Cell {
    let by = counts.calls.as_ref().map(|calls| calls.by);
    match name {
        "cell" => Cell::text(label(cell)),
        // strace stops what it looks at twice for each call.
        "waits" if by == Some(CallCounter::Strace) => Cell::default(),
        "waits" => Cell::number(
            counts.voluntary_switches,
            value::per_operation(counts.voluntary_switches),
        ),
        _ => {
            let calls = counts.calls.iter().flat_map(|calls| &calls.frequent);
            let calls = calls.map(|(name, often)| call(name, *often));
            Cell::text(calls.collect::<Vec<_>>().join(", "))
        }
    }
}
