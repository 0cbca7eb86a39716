//! What cells asked of the system, per operation.

use super::call;
use crate::format;
use crate::table::{Entry, Maker, Table, build, label, numeric, textual};
use stowplan_analysis::{CellSummary, ComparisonOutcome, CountSummary, DevicePerOperation};
use stowplan_model::{CallCounter, Role};

type Row<'a> = (&'a CellSummary, &'a CountSummary);

/// A row per cell that was counted but the control; nothing if none was.
pub(super) fn table(comparison: &ComparisonOutcome) -> Option<Table> {
    let cells = comparison.cells.iter();
    let cells = cells.filter(|cell| cell.cell.role != Role::Control);
    let rows: Vec<Row<'_>> = cells
        .filter_map(|cell| Some((cell, cell.counts.as_ref()?)))
        .collect();
    if rows.is_empty() {
        return None;
    }
    let mut makers = calls();
    makers.extend(storage());
    makers.extend(system());
    makers.extend(engine());
    Some(build(makers, &rows))
}

fn count<'a>(
    title: &'static str,
    help: &'static str,
    of: impl Fn(&CountSummary) -> Option<f64> + 'a,
) -> Maker<'a, Row<'a>> {
    numeric(title, help, move |row: &Row<'_>| {
        Entry::maybe(of(row.1), format::per_operation)
    })
}

fn calls<'a>() -> Vec<Maker<'a, Row<'a>>> {
    vec![
        textual("cell", "what was counted", |row: &Row<'_>| {
            Entry::text(label(row.0))
        }),
        count("calls/op", "system calls of one operation", |counts| {
            Some(counts.calls.as_ref()?.total)
        }),
        textual(
            "which",
            "those of at least a hundredth of an operation",
            |row: &Row<'_>| {
                Entry::text(row.1.calls.as_ref().map_or_else(String::new, |calls| {
                    let calls = calls.frequent.iter();
                    let calls = calls.map(|(name, often)| call(name, *often));
                    calls.collect::<Vec<_>>().join(", ")
                }))
            },
        ),
        textual("counted by", "", |row: &Row<'_>| {
            let by = row.1.calls.as_ref().map(|calls| calls.by);
            Entry::text(by.map_or("", |by| match by {
                CallCounter::Tracepoint => "tracepoint",
                CallCounter::Strace => "strace",
            }))
        }),
    ]
}

fn storage<'a>() -> Vec<Maker<'a, Row<'a>>> {
    fn device(counts: &CountSummary, of: fn(&DevicePerOperation) -> f64) -> Option<f64> {
        counts.device.as_ref().map(of)
    }
    vec![
        count(
            "reads/op",
            "read requests that the device completed, whoever asked",
            |counts| device(counts, |device| device.reads),
        ),
        numeric(
            "read/op",
            "bytes that the process had fetched from storage",
            |row: &Row<'_>| {
                let bytes = row.1.storage_read_bytes;
                Entry::number(bytes, format::bytes(bytes))
            },
        )
        .in_unit("B"),
        count(
            "writes/op",
            "write requests that the device completed, whoever asked",
            |counts| device(counts, |device| device.writes),
        ),
        numeric(
            "written/op",
            "bytes that the process sent to storage",
            |row: &Row<'_>| Entry::maybe(row.1.storage_write_bytes, format::bytes),
        )
        .in_unit("B"),
        count("syncs/op", "sync calls", |counts| Some(counts.syncs)),
        count(
            "flushes/op",
            "flushes of the device's cache, whoever asked",
            |counts| counts.device.as_ref()?.flushes,
        ),
    ]
}

fn system<'a>() -> Vec<Maker<'a, Row<'a>>> {
    vec![
        count("minor faults/op", "page faults served without I/O", |c| {
            Some(c.minor_faults)
        }),
        count("major faults/op", "page faults served with I/O", |c| {
            Some(c.major_faults)
        }),
        count(
            "waits/op",
            "context switches that the process asked for",
            // strace stops what it looks at twice for each call.
            |c| (!by_strace(c)).then_some(c.voluntary_switches),
        ),
    ]
}

fn by_strace(counts: &CountSummary) -> bool {
    let by = counts.calls.as_ref().map(|calls| calls.by);
    by == Some(CallCounter::Strace)
}

/// What SQLite tells of its page cache.
fn engine<'a>() -> Vec<Maker<'a, Row<'a>>> {
    let of = |name: &'static str| move |counts: &CountSummary| counts.engine.get(name).copied();
    vec![
        count(
            "hits/op",
            "pages found in the engine's own cache",
            of("Page cache hits"),
        ),
        count("misses/op", "pages it had to read", of("Page cache misses")),
    ]
}
