//! What cells asked of the system, per operation.

use super::call;
use crate::document::{Cell, Table, TableBuilder, number, text_column};
use crate::{cells, format};
use stowplan_analysis::{CellSummary, ComparisonOutcome, CountSummary, DevicePerOperation};
use stowplan_model::{CallCounter, Role};

type Row<'a> = (&'a CellSummary, &'a CountSummary);
type Columns<'a> = Vec<TableBuilder<'a, Row<'a>>>;

/// A row per cell that was counted but the control; nothing if none was. The names of the calls are
/// the last to go where there is little room.
pub(super) fn table(comparison: &ComparisonOutcome) -> Option<Table> {
    let cells = comparison.cells.iter();
    let cells = cells.filter(|cell| cell.cell.role != Role::Control);
    let rows: Vec<Row<'_>> = cells
        .filter_map(|cell| Some((cell, cell.counts.as_ref()?)))
        .collect();
    if rows.is_empty() {
        return None;
    }
    let title = &comparison.title;
    let caption = format!("Asked of the system, per operation: {title}");
    let columns = [calls(), storage(), system(), engine()];
    let columns = columns.into_iter().flatten().collect();
    Some(Table::of(caption, columns, &rows))
}

fn count<'a>(
    title: &'static str,
    help: &'static str,
    weight: u8,
    of: impl Fn(&CountSummary) -> Option<f64> + 'a,
) -> TableBuilder<'a, Row<'a>> {
    number(title, help, move |row: &Row<'_>| {
        Cell::maybe(of(row.1), format::per_operation)
    })
    .weighing(weight)
}

fn calls<'a>() -> Columns<'a> {
    let which = |row: &Row<'_>| {
        Cell::text(row.1.calls.as_ref().map_or_else(String::new, |calls| {
            let calls = calls.frequent.iter();
            let calls = calls.map(|(name, often)| call(name, *often));
            calls.collect::<Vec<_>>().join(", ")
        }))
    };
    let counter = |row: &Row<'_>| {
        let by = row.1.calls.as_ref().map(|calls| calls.by);
        Cell::text(by.map_or("", |by| match by {
            CallCounter::Tracepoint => "tracepoint",
            CallCounter::Strace => "strace",
        }))
    };
    vec![
        text_column("cell", "what was counted", |row: &Row<'_>| {
            Cell::text(cells::label(row.0))
        }),
        count("calls/op", "system calls of one operation", 9, |counts| {
            Some(counts.calls.as_ref()?.total)
        }),
        text_column(
            "which",
            "those of at least a hundredth of an operation",
            which,
        )
        .weighing(10),
        text_column("counted by", "", counter),
    ]
}

fn storage<'a>() -> Columns<'a> {
    fn device(counts: &CountSummary, of: fn(&DevicePerOperation) -> f64) -> Option<f64> {
        counts.device.as_ref().map(of)
    }
    vec![
        count(
            "reads/op",
            "read requests that the device completed, whoever asked",
            6,
            |counts| device(counts, |device| device.reads),
        ),
        number(
            "read/op",
            "bytes that the process had fetched from storage",
            |row: &Row<'_>| {
                let bytes = row.1.storage_read_bytes;
                Cell::number(bytes, format::bytes(bytes))
            },
        )
        .in_unit("B")
        .weighing(6),
        count(
            "writes/op",
            "write requests that the device completed, whoever asked",
            2,
            |counts| device(counts, |device| device.writes),
        ),
        number(
            "written/op",
            "bytes that the process sent to storage",
            |row: &Row<'_>| Cell::maybe(row.1.storage_write_bytes, format::bytes),
        )
        .in_unit("B")
        .weighing(2),
        count("syncs/op", "sync calls", 6, |counts| Some(counts.syncs)),
        count(
            "flushes/op",
            "flushes of the device's cache, whoever asked",
            2,
            |counts| counts.device.as_ref()?.flushes,
        ),
    ]
}

fn system<'a>() -> Columns<'a> {
    vec![
        count(
            "minor faults/op",
            "page faults served without I/O",
            2,
            |counts| Some(counts.minor_faults),
        ),
        count(
            "major faults/op",
            "page faults served with I/O",
            2,
            |counts| Some(counts.major_faults),
        ),
        count(
            "waits/op",
            "context switches that the process asked for",
            2,
            // strace stops what it looks at twice for each call.
            |counts| (!by_strace(counts)).then_some(counts.voluntary_switches),
        ),
    ]
}

fn by_strace(counts: &CountSummary) -> bool {
    let by = counts.calls.as_ref().map(|calls| calls.by);
    by == Some(CallCounter::Strace)
}

/// What SQLite tells of its page cache.
fn engine<'a>() -> Columns<'a> {
    let of = |name: &'static str| move |counts: &CountSummary| counts.engine.get(name).copied();
    vec![
        count(
            "hits/op",
            "pages found in the engine's own cache",
            4,
            of("Page cache hits"),
        ),
        count(
            "misses/op",
            "pages it had to read",
            4,
            of("Page cache misses"),
        ),
    ]
}
