//! Latency by what the operations of a mix did.

use crate::cells::label;
use crate::document::{Block, Cell, Detail, Table, TableBuilder, number, paragraph, text_column};
use crate::format;
use stowplan_analysis::{CellSummary, ComparisonOutcome, LatencySummary};
use stowplan_model::Action;

/// A cell, what its operations did, and how long they took.
type Row<'a> = (&'a CellSummary, Action, &'a LatencySummary);

/// The table and what it is of; nothing without mixes.
pub(super) fn blocks(comparison: &ComparisonOutcome) -> Vec<Block> {
    let cells = comparison.cells.iter();
    let rows = cells.flat_map(|cell| {
        let latencies = cell.latencies.iter();
        latencies.map(move |(action, summary)| (cell, *action, summary))
    });
    let rows: Vec<Row<'_>> = rows.collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let caption = format!("Latency by operation: {}", comparison.title);
    let table = Table::of(caption, columns(), &rows);
    let blocks = [paragraph("Latency by operation, wall time:"), table.into()];
    blocks.map(|block| block.at(Detail::Full)).into()
}

#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
fn columns<'a>() -> Vec<TableBuilder<'a, Row<'a>>> {
    let time = |title: &'static str, help: &'static str, get: fn(&LatencySummary) -> f64| {
        let cell = move |row: &Row<'_>| Cell::number(get(row.2), format::time(get(row.2)));
        number(title, help, cell).in_unit("ns")
    };
    vec![
        text_column("cell", "what was timed", |row: &Row<'_>| {
            Cell::text(label(row.0))
        }),
        text_column("operation", "what it did", |row: &Row<'_>| {
            Cell::text(row.1.name())
        })
        .weighing(10),
        text_column(
            "durability",
            "what an acknowledged write survives",
            |row: &Row<'_>| {
                let claim = row.0.promise();
                Cell::text(claim.map_or_else(String::new, |claim| claim.to_string()))
            },
        )
        .weighing(0),
        number("count", "operations timed singly", |row: &Row<'_>| {
            Cell::number(row.2.count as f64, format::count(row.2.count))
        }),
        time("mean", "", |l| l.mean_ns).weighing(2),
        time("p50", "half of them took at most this", |l| l.p50_ns as f64).weighing(6),
        time("p95", "95% of them took at most this", |l| l.p95_ns as f64).weighing(5),
        time("p99", "99% of them took at most this", |l| l.p99_ns as f64).weighing(7),
        time("p99.9", "99.9% of them took at most this", |l| {
            l.p999_ns as f64
        })
        .weighing(4),
        time("largest", "", |l| l.max_ns as f64).weighing(3),
    ]
}
