//! Latency by what the operations of a mix did.

use crate::columns::Columns;
use crate::document::{Block, Table, TableBuilder, paragraph};
use crate::value::float;
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
    vec![paragraph("Latency by operation, wall time:"), table.into()]
}

fn columns<'a>() -> Vec<TableBuilder<'a, Row<'a>>> {
    let make = Columns::<Row<'_>>::new();
    let time = |title, help, weight, get: fn(&LatencySummary) -> Option<f64>| {
        let column = make.time(title, move |row| get(row.2));
        column.help(help).weighing(weight)
    };
    vec![
        make.name(|row| row.0),
        make.text("operation", |row| row.1.name().to_owned())
            .help("what it did")
            .weighing(10),
        make.durability(|row| row.0).weighing(0),
        make.count("count", |row| Some(row.2.count))
            .help("operations timed singly"),
        time("mean", "", 2, |l| Some(l.mean_ns)),
        time("p50", "half of them took at most this", 6, |l| {
            l.p50_ns.map(float)
        }),
        time("p95", "95% of them took at most this", 5, |l| {
            l.p95_ns.map(float)
        }),
        time("p99", "99% of them took at most this", 7, |l| {
            l.p99_ns.map(float)
        }),
        time("p99.9", "99.9% of them took at most this", 4, |l| {
            l.p999_ns.map(float)
        }),
        time("largest", "", 3, |l| Some(float(l.max_ns))),
    ]
}
