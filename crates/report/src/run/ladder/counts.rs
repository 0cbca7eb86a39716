//! What cells asked of the system, per operation.

use super::call;
use crate::cells::label;
use crate::columns::Columns;
use crate::document::{Table, TableBuilder};
use stowplan_analysis::{CellSummary, ComparisonOutcome, CountSummary};
use stowplan_model::{CallCounter, Role};

type Row<'a> = (&'a CellSummary, &'a CountSummary);

/// A row per cell that was counted but the control; nothing if none was. The names of the calls are
/// the last to go where there is little room.
pub(super) fn table(comparison: &ComparisonOutcome) -> Option<Table> {
    let cells = comparison.cells.iter();
    let cells = cells.filter(|cell| cell.cell.role != Role::Control);
    let rows = cells.filter_map(|cell| Some((cell, cell.counts.as_ref()?)));
    let rows: Vec<Row<'_>> = rows.collect();
    let title = &comparison.title;
    let caption = format!("Asked of the system, per operation: {title}");
    (!rows.is_empty()).then(|| Table::of(caption, columns(), &rows))
}

fn columns<'a>() -> Vec<TableBuilder<'a, Row<'a>>> {
    let make = Columns::<Row<'_>>::new();
    let count = |title, get: fn(&CountSummary) -> Option<f64>| {
        make.per_operation(title, move |row| get(row.1))
    };
    // What SQLite tells of its page cache.
    let engine = |title, name| {
        let column = make.per_operation(title, move |row| row.1.engine.get(name).copied());
        column.weighing(4)
    };
    vec![
        make.text("cell", |row| label(row.0))
            .help("what was counted"),
        count("calls/op", |counts| Some(counts.calls.as_ref()?.total))
            .help("system calls of one operation")
            .weighing(9),
        make.text("which", |row| frequent(row.1))
            .help("those of at least a hundredth of an operation")
            .weighing(10),
        make.text("counted by", |row| counter(row.1).to_owned()),
        count("reads/op", |counts| Some(counts.device.as_ref()?.reads))
            .help("read requests that the device completed, whoever asked")
            .weighing(6),
        make.bytes("read/op", |row| Some(row.1.storage_read_bytes))
            .help("bytes that the process had fetched from storage")
            .weighing(6),
        count("writes/op", |counts| Some(counts.device.as_ref()?.writes))
            .help("write requests that the device completed, whoever asked")
            .weighing(2),
        make.bytes("written/op", |row| row.1.storage_write_bytes)
            .help("bytes that the process sent to storage")
            .weighing(2),
        count("syncs/op", |counts| Some(counts.syncs))
            .help("sync calls")
            .weighing(6),
        count("flushes/op", |counts| counts.device.as_ref()?.flushes)
            .help("flushes of the device's cache, whoever asked")
            .weighing(2),
        count("minor faults/op", |counts| Some(counts.minor_faults))
            .help("page faults served without I/O")
            .weighing(2),
        count("major faults/op", |counts| Some(counts.major_faults))
            .help("page faults served with I/O")
            .weighing(2),
        count("waits/op", waits)
            .help("context switches that the process asked for")
            .weighing(2),
        engine("hits/op", "Page cache hits").help("pages found in the engine's own cache"),
        engine("misses/op", "Page cache misses").help("pages it had to read"),
    ]
}

fn frequent(counts: &CountSummary) -> String {
    let calls = counts.calls.iter().flat_map(|calls| &calls.frequent);
    let calls = calls.map(|(name, often)| call(name, *often));
    calls.collect::<Vec<_>>().join(", ")
}

fn counter(counts: &CountSummary) -> &'static str {
    match counts.calls.as_ref().map(|calls| calls.by) {
        Some(CallCounter::Tracepoint) => "tracepoint",
        Some(CallCounter::Strace) => "strace",
        None => "",
    }
}

/// strace stops what it looks at twice for each call.
fn waits(counts: &CountSummary) -> Option<f64> {
    let by = counts.calls.as_ref().map(|calls| calls.by);
    (by != Some(CallCounter::Strace)).then_some(counts.voluntary_switches)
}
