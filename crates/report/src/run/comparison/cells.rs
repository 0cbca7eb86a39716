//! The table of the cells of a comparison: everything that was measured of them, the most important
//! columns with the highest weights.

use super::verdict_tone;
use crate::cells::label;
use crate::document::{Cell, Detail, Table, TableBuilder, Tone, number, text_column};
use crate::{format, quantity, wording};
use stowplan_analysis::{CellSummary, ComparisonOutcome, LatencySummary, RatioEstimate, Verdict};
use stowplan_model::{Operation, Role};

/// Longer labels have no room in a title.
const LABEL: usize = "baseline".len();

type Column<'a> = TableBuilder<'a, &'a CellSummary>;

/// The cells that can be chosen, the floors, and, where everything is asked for, the control: what it
/// shows is said in the line about noise.
pub(super) fn table(comparison: &ComparisonOutcome) -> Table {
    let mut columns = vec![name()];
    columns.extend(class(comparison));
    columns.extend(times());
    columns.extend(verdicts(comparison));
    columns.extend(latencies());
    columns.push(multiple_of_floor());
    columns.extend(resources());
    columns.extend(calls());
    columns.extend(evidence());
    columns.push(durability());
    let cells = comparison.cells.iter();
    let cells: Vec<&CellSummary> = cells.filter(|c| c.cell.role != Role::Part).collect();
    let table = Table::of(
        format!("All numbers: {}", comparison.title),
        columns,
        &cells,
    );
    table.with_details(&cells, |cell| match cell.cell.role {
        Role::Control => Detail::Full,
        _ => Detail::Normal,
    })
}

/// The cells that only explain others: what they took, without any verdict; nothing if there are
/// none.
pub(super) fn parts(comparison: &ComparisonOutcome) -> Option<Table> {
    let cells = comparison.cells.iter();
    let parts: Vec<&CellSummary> = cells.filter(|c| c.cell.role == Role::Part).collect();
    let mut columns = vec![name()];
    columns.extend(times());
    columns.extend(latencies());
    columns.push(multiple_of_floor());
    columns.extend(resources());
    columns.extend(calls());
    columns.extend(evidence());
    let caption = format!("Parts: {}", comparison.title);
    (!parts.is_empty()).then(|| Table::of(caption, columns, &parts))
}

fn name<'a>() -> Column<'a> {
    text_column("cell", "what was timed", |cell: &&CellSummary| {
        Cell::text(label(cell))
    })
}

/// Where promises differ, each figure has its own beside it.
fn class<'a>(comparison: &ComparisonOutcome) -> Option<Column<'a>> {
    let help = "what an acknowledged write survives, from D0, not even kill -9, to D3, power loss";
    let column = text_column("class", help, |cell: &&CellSummary| {
        let claim = cell.promise().filter(|_| cell.cell.role != Role::Floor);
        claim.map_or_else(Cell::default, |claim| Cell {
            help: claim.to_string(),
            ..Cell::text(quantity::short_class(&claim))
        })
    });
    (!wording::promise_alike(comparison)).then(|| column.weighing(10))
}

fn durability<'a>() -> Column<'a> {
    let help = "what an acknowledged write survives";
    let column = text_column("durability", help, |cell: &&CellSummary| {
        Cell::text(
            cell.promise()
                .map_or_else(String::new, |claim| claim.to_string()),
        )
    });
    column.weighing(0)
}

/// Times, of which the share of the final flush to disk is a part or is not.
fn times<'a>() -> Vec<Column<'a>> {
    vec![
        time(
            "time/op",
            "headline time of one operation, by the metric of the comparison",
            |cell| Some(wording::headline_time(cell)),
        )
        .weighing(8),
        number(
            "ops/s",
            "operations per second, all threads together",
            |cell: &&CellSummary| Cell::maybe(rate(cell), quantity::rate),
        )
        .weighing(6),
        time(
            "+ flush",
            "time of one operation, including the final flush to disk",
            |cell| cell.total_ns,
        )
        .weighing(5),
    ]
}

/// Operations per second, where that is how people think of it: of mixes and of several threads.
fn rate(cell: &CellSummary) -> Option<f64> {
    let workload = &cell.cell.workload;
    let asked = workload.threads > 1 || workload.operation == Operation::Mix;
    let time = cell.time_ns.filter(|_| asked)?;
    Some(1e9 / time.estimate)
}

fn verdicts(comparison: &ComparisonOutcome) -> Vec<Column<'_>> {
    let estimate = move |cell: &CellSummary| wording::to_baseline(comparison, cell)?.0;
    let baseline = comparison
        .baseline()
        .map_or("baseline", |cell| &cell.cell.label);
    let is_short = baseline.chars().count() <= LABEL;
    vec![
        number(
            format!("time vs {}", if is_short { baseline } else { "baseline" }),
            format!("time of the cell over time of the baseline, {baseline}; below 1 is faster"),
            move |cell: &&CellSummary| {
                if cell.cell.role == Role::Baseline {
                    return Cell::number(1.0, "1.00".to_owned());
                }
                Cell::maybe(estimate(cell).map(|e| e.ratio), format::ratio)
            },
        )
        .weighing(7),
        number(
            "interval",
            "interval of that ratio, widened by the noise floor",
            move |cell: &&CellSummary| {
                estimate(cell).map_or_else(Cell::default, |e| {
                    Cell::number(e.low, format::interval(e.low, e.high))
                })
            },
        )
        .weighing(9),
        // It has the factor in it, and means nothing without the class where promises differ.
        text_column(
            "verdict",
            "against the baseline",
            move |cell: &&CellSummary| verdict(comparison, cell),
        )
        .weighing(11),
    ]
}

fn verdict(comparison: &ComparisonOutcome, cell: &CellSummary) -> Cell {
    match (cell.cell.role, wording::to_baseline(comparison, cell)) {
        (Role::Baseline, _) => Cell::text("baseline").in_tone(Tone::Faint),
        // No one could choose it.
        (Role::Floor, _) => Cell::text("floor").in_tone(Tone::Faint),
        (_, Some((estimate, verdict))) => {
            Cell::text(with_factor(verdict, estimate)).in_tone(verdict_tone(verdict))
        }
        (_, None) => Cell::default(),
    }
}

/// The verdict, with the factor in the direction in which it is above 1.
fn with_factor(verdict: Verdict, estimate: Option<RatioEstimate>) -> String {
    match (verdict, estimate) {
        (Verdict::Faster, Some(e)) => format!("{}× as fast", format::ratio(1.0 / e.ratio)),
        (Verdict::Slower, Some(e)) => format!("{}× as long", format::ratio(e.ratio)),
        _ => wording::verdict(verdict).to_owned(),
    }
}

fn latencies<'a>() -> Vec<Column<'a>> {
    vec![
        latency("p50", "median latency of single operations", |l| l.p50_ns).weighing(2),
        latency("p95", "95% of the operations took at most this", |l| {
            l.p95_ns
        })
        .weighing(0),
        latency("p99", "99% of the operations took at most this", |l| {
            l.p99_ns
        })
        .weighing(4),
        latency("p99.9", "99.9% of the operations took at most this", |l| {
            l.p999_ns
        }),
    ]
}

fn multiple_of_floor<'a>() -> Column<'a> {
    number(
        "× floor",
        "time over the time of the cheapest conceivable way to do the same work",
        |cell: &&CellSummary| Cell::maybe(cell.multiple_of_floor.map(|e| e.ratio), format::ratio),
    )
    .weighing(3)
}

fn resources<'a>() -> Vec<Column<'a>> {
    vec![
        time(
            "wall/op",
            "wall time of one operation: median of rounds",
            |cell| Some(cell.wall_ns),
        ),
        time(
            "flush/op",
            "bringing the written data to rest: checkpoint, close, syncfs",
            |cell| cell.drain_ns,
        ),
        time("CPU/op", "CPU time of one operation", |cell| {
            Some(cell.cpu_ns)
        }),
        counted("kernel", "share of the CPU time in the kernel", |cell| {
            Cell::number(cell.kernel_share, format::percent(cell.kernel_share))
        }),
        bytes("bytes/op", "bytes delivered or written", |cell| {
            Some(cell.bytes)
        }),
        bytes("storage read/op", "bytes fetched from storage", |cell| {
            Some(cell.storage_read_bytes)
        }),
        bytes("storage written/op", "bytes sent to storage", |cell| {
            cell.storage_write_bytes
        }),
        counted(
            "write ampl.",
            "bytes sent to storage, bringing the data to rest included, per byte that the operations \
             wrote",
            |cell| Cell::maybe(cell.write_amplification, format::ratio),
        ),
        #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
        bytes("peak memory", "largest resident set of a worker", |cell| {
            cell.peak_memory_bytes.map(|bytes| bytes as f64)
        }),
    ]
}

#[expect(clippy::cast_precision_loss, reason = "only sorted by")]
fn calls<'a>() -> Vec<Column<'a>> {
    vec![
        counted("read calls/op", "read-like system calls", |cell| {
            Cell::maybe(cell.read_calls, format::per_operation)
        }),
        counted("write calls/op", "write-like system calls", |cell| {
            Cell::maybe(cell.write_calls, format::per_operation)
        }),
        counted(
            "conflicts",
            "transactions that the engine refused because of another one and that were tried again",
            |cell| match cell.conflicts {
                0 => Cell::default(),
                count => Cell::number(count as f64, format::count(count)),
            },
        ),
        counted(
            "syncs/commit",
            "sync calls per committed transaction",
            |cell| {
                let writes = cell.cell.workload.operation.writes();
                let syncs = writes.then_some(cell.syncs_per_commit);
                Cell::maybe(syncs, format::per_operation)
            },
        ),
        counted("faults/op", "page faults", |cell| {
            Cell::number(cell.faults, format::per_operation(cell.faults))
        }),
    ]
}

#[expect(clippy::cast_precision_loss, reason = "only sorted by")]
fn evidence<'a>() -> Vec<Column<'a>> {
    vec![
        counted("rounds", "rounds measured", |cell| {
            Cell::number(cell.rounds as f64, cell.rounds.to_string())
        }),
        counted("operations", "operations timed", |cell| {
            Cell::number(cell.operations as f64, format::count(cell.operations))
        }),
        counted(
            "values verified",
            "values read back afterwards and compared byte for byte",
            verified,
        ),
    ]
}

#[expect(clippy::cast_precision_loss, reason = "only sorted by")]
fn verified(cell: &CellSummary) -> Cell {
    let Some(found) = &cell.verification else {
        return Cell::default();
    };
    let overwritten = match found.overwritten {
        0 => String::new(),
        count => format!(" ({} overwritten)", format::count(count)),
    };
    let text = format!("{}{overwritten}", format::count(found.values));
    Cell::number(found.values as f64, text)
}

/// A column of times that only those see who ask for everything, unless it is given another weight.
fn time<'a>(
    title: &'static str,
    help: &'static str,
    get: fn(&CellSummary) -> Option<f64>,
) -> Column<'a> {
    let cell = move |cell: &&CellSummary| Cell::maybe(get(cell), format::time);
    number(title, help, cell).in_unit("ns").weighing(0)
}

#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
fn latency<'a>(
    title: &'static str,
    help: &'static str,
    get: fn(&LatencySummary) -> u64,
) -> Column<'a> {
    let cell = move |cell: &&CellSummary| {
        let latency = cell.latency.as_ref();
        Cell::maybe(latency.map(|latency| get(latency) as f64), format::time)
    };
    number(title, help, cell).in_unit("ns")
}

/// A column of bytes that only those see who ask for everything.
fn bytes<'a>(
    title: &'static str,
    help: &'static str,
    get: fn(&CellSummary) -> Option<f64>,
) -> Column<'a> {
    let cell = move |cell: &&CellSummary| Cell::maybe(get(cell), format::bytes);
    number(title, help, cell).in_unit("B").weighing(0)
}

/// A column of counts that only those see who ask for everything.
fn counted<'a>(
    title: &'static str,
    help: &'static str,
    get: fn(&CellSummary) -> Cell,
) -> Column<'a> {
    let cell = move |cell: &&CellSummary| get(cell);
    number(title, help, cell).weighing(0)
}
