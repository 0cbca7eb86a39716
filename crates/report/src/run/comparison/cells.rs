//! The table of the cells of a comparison: everything that was measured of them, the most important
//! columns with the highest weights.

use crate::columns::Columns;
use crate::document::{Cell, Table, TableBuilder, Tone};
use crate::value::float;
use crate::{value, wording};
use stowplan_analysis::{
    CellDriverCost, CellSummary, ComparisonOutcome, LatencySummary, RatioEstimate, Verdict,
};
use stowplan_model::{Operation, Role};

/// Longer labels have no room in a title.
const LABEL: usize = "baseline".len();

type Column<'a> = TableBuilder<'a, &'a CellSummary>;

/// The cells that can be chosen, the floors, and, where everything is asked for, the control: what it
/// shows is said in the line about noise.
pub(super) fn table(comparison: &ComparisonOutcome) -> Table {
    let cells = comparison.cells.iter();
    let cells: Vec<&CellSummary> = cells.filter(|c| c.cell.role != Role::Part).collect();
    let mut columns = vec![make().name(|cell| cell)];
    columns.extend(class(comparison));
    columns.extend(statistic(comparison));
    columns.extend(times());
    columns.extend(corrected(comparison));
    columns.extend(driver_cost(comparison));
    columns.extend(verdicts(comparison));
    columns.extend(measured());
    columns.push(make().durability(|cell| cell).weighing(0));
    let caption = format!("All numbers: {}", comparison.title);
    Table::of(caption, columns, &cells)
}

/// The cells that only explain others: what they took, without any verdict; nothing if there are
/// none.
pub(super) fn parts(comparison: &ComparisonOutcome) -> Option<Table> {
    let cells = comparison.cells.iter();
    let parts: Vec<&CellSummary> = cells.filter(|c| c.cell.role == Role::Part).collect();
    let columns = [vec![make().name(|cell| cell)], times(), measured()];
    let columns = columns.into_iter().flatten().collect();
    let caption = format!("Parts: {}", comparison.title);
    (!parts.is_empty()).then(|| Table::of(caption, columns, &parts))
}

/// What makes a column of cells.
fn make<'a>() -> Columns<&'a CellSummary> {
    Columns::new()
}

/// Where promises differ, each figure has its own beside it.
fn class<'a>(comparison: &ComparisonOutcome) -> Option<Column<'a>> {
    let cell = |cell: &&CellSummary| {
        let claim = cell.promise().filter(|_| cell.cell.role != Role::Floor);
        claim.map_or_else(Cell::default, |claim| Cell {
            help: claim.to_string(),
            ..Cell::text(wording::short_class(&claim))
        })
    };
    let help = "what an acknowledged write survives, from D0, not even kill -9, to D3, power loss";
    let column = make().cell("class", cell).help(help).weighing(10);
    (!wording::promise_alike(comparison)).then_some(column)
}

/// What is compared, where that is no time of all operations.
fn statistic<'a>(comparison: &ComparisonOutcome) -> Option<Column<'a>> {
    let measure = comparison.measure;
    let help = format!(
        "{} of the operations of a block: that of the median round",
        measure.in_words()
    );
    let of = |cell: &&CellSummary| Some(cell.statistic_ns?.estimate);
    let column = make().time(format!("{measure}/block"), of);
    (!measure.is_time()).then(|| column.help(help).weighing(9))
}

/// Times, of which the share of the final flush to disk is a part or is not.
fn times<'a>() -> Vec<Column<'a>> {
    let make = make();
    vec![
        make.time("time/op", |cell| Some(wording::mean_time(cell)))
            .help("headline time of one operation, by the metric of the comparison")
            .weighing(8),
        make.formatted(value::rate, "ops/s", |cell| rate(cell))
            .help("operations per second, all threads together")
            .weighing(6),
        make.time("+ flush", |cell| cell.total_ns)
            .help("time of one operation, including the final flush to disk")
            .weighing(5),
    ]
}

/// Where blocks sleep, the headline is wall time, and corrected time stands beside it.
fn corrected<'a>(comparison: &ComparisonOutcome) -> Option<Column<'a>> {
    let column = make()
        .time("corrected/op", |cell| cell.corrected_ns)
        .help("wall time of one operation less the wait for a CPU: median of rounds")
        .weighing(1);
    comparison.sleeps.then_some(column)
}

/// What the driver of each cell costs, and its share of the time; that is to be compared where several
/// drivers host cells.
fn driver_cost<'a>(comparison: &ComparisonOutcome) -> [Column<'a>; 2] {
    fn figure(cell: &CellSummary, of: fn(CellDriverCost) -> Option<(f64, String)>) -> Cell {
        let cost = cell.driver_cost.filter(|_| cell.cell.role != Role::Part);
        let at_least = cost.is_some_and(|cost| cost.at_least);
        let at_least = if at_least { "≥ " } else { "" };
        let found = cost.and_then(of);
        found.map_or_else(Cell::default, |(value, text)| {
            Cell::number(value, format!("{at_least}{text}"))
        })
    }
    let weight = |weight| match comparison.drivers().len() > 1 {
        true => weight,
        false => 0,
    };
    let ns = |cell: &&CellSummary| figure(cell, |cost| Some((cost.ns, value::time(cost.ns))));
    let share = |cell: &&CellSummary| {
        figure(cell, |cost| {
            let share = cost.share?;
            Some((share, value::share(share)))
        })
    };
    [
        make()
            .number("driver cost", ns)
            .help(
                "what the loop of its driver costs per operation, with a store that does nothing; ≥: \
                 measured with reads by one thread in one transaction, and the loop of the cell does \
                 more",
            )
            .in_unit("ns")
            .weighing(weight(4)),
        make()
            .number("driver share", share)
            .help("share of that cost in the time of the cell, which contains it: in corrected time where that is known")
            .weighing(weight(8)),
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
    let title = if is_short { baseline } else { "baseline" };
    let ratio = move |cell: &CellSummary| match cell.cell.role {
        Role::Baseline => (cell.rounds > 0).then_some(1.0),
        _ => estimate(cell).map(|e| e.ratio),
    };
    let interval = move |cell: &&CellSummary| {
        estimate(cell).map_or_else(Cell::default, |e| {
            Cell::number(e.low, value::interval(e.low, e.high))
        })
    };
    let make = make();
    let (measure, words) = (comparison.measure, comparison.measure.in_words());
    vec![
        make.formatted(value::ratio, format!("{measure} vs {title}"), move |c| {
            ratio(c)
        })
        .help(format!(
            "{words} of the cell over {words} of the baseline, {baseline}; below 1 is faster"
        ))
        .weighing(7),
        make.number("interval", interval)
            .help("interval of that ratio")
            .weighing(9),
        make.number("builds", move |cell| builds(comparison, cell))
            .help(
                "builds of each store that the verdict rests on; ≠: they differ by more than rounds on \
                 the same builds, and the interval is widened for it",
            )
            .weighing(9),
        // It has the factor in it, and means nothing without the class where promises differ.
        make.cell("verdict", move |cell| verdict(comparison, cell))
            .help("against the baseline")
            .weighing(11),
    ]
}

#[expect(clippy::cast_precision_loss, reason = "a number of builds")]
fn builds(comparison: &ComparisonOutcome, cell: &CellSummary) -> Cell {
    let contrast = comparison.to_baseline(cell);
    let builds = contrast.and_then(|contrast| contrast.builds);
    builds.map_or_else(Cell::default, |builds| {
        let differ = if builds.differ { " ≠" } else { "" };
        Cell::number(builds.count as f64, format!("{}{differ}", builds.count))
    })
}

fn verdict(comparison: &ComparisonOutcome, cell: &CellSummary) -> Cell {
    match (cell.cell.role, wording::to_baseline(comparison, cell)) {
        (Role::Baseline, _) => Cell::text("baseline").in_tone(Tone::Faint),
        // No one could choose it.
        (Role::Floor, _) => Cell::text("floor").in_tone(Tone::Faint),
        (_, Some((estimate, verdict))) => {
            Cell::text(with_factor(verdict, estimate)).in_tone(Tone::of(verdict))
        }
        (_, None) => Cell::default(),
    }
}

/// The verdict, with the factor in the direction in which it is above 1.
fn with_factor(verdict: Verdict, estimate: Option<RatioEstimate>) -> String {
    match (verdict, estimate) {
        (Verdict::Faster, Some(e)) => format!("{}× as fast", value::ratio(1.0 / e.ratio)),
        (Verdict::Slower, Some(e)) => format!("{}× as long", value::ratio(e.ratio)),
        _ => wording::verdict(verdict).to_owned(),
    }
}

/// What was measured beside the headline time; most of it only those see who ask for everything.
fn measured<'a>() -> Vec<Column<'a>> {
    let columns = [latencies(), server(), resources(), calls(), evidence()];
    columns.into_iter().flatten().collect()
}

fn latencies<'a>() -> Vec<Column<'a>> {
    let make = make();
    let latency = |title, get: fn(&LatencySummary) -> Option<u64>| {
        make.time(title, move |cell| {
            cell.latency.as_ref().and_then(get).map(float)
        })
    };
    vec![
        latency("p50", |l| l.p50_ns)
            .help("median latency of single operations")
            .weighing(2),
        latency("p95", |l| l.p95_ns)
            .help("95% of the operations took at most this")
            .weighing(0),
        latency("p99", |l| l.p99_ns)
            .help("99% of the operations took at most this")
            .weighing(4),
        latency("p99.9", |l| l.p999_ns).help("99.9% of the operations took at most this"),
        make.formatted(value::ratio, "× floor", |cell| {
            cell.multiple_of_floor.map(|e| e.ratio)
        })
        .help("time over the time of the cheapest conceivable way to do the same work")
        .weighing(3),
    ]
}

fn server<'a>() -> Vec<Column<'a>> {
    let make = make();
    let columns = [
        make.bytes("sent/op", |cell| cell.server.sent_bytes)
            .help("bytes that went to the server, without what the network adds"),
        make.bytes("received/op", |cell| cell.server.received_bytes)
            .help("bytes that came from the server, without what the network adds"),
        make.time("server CPU/op", |cell| cell.server.cpu_ns)
            .help("CPU time of the processes of a server that the run has started"),
    ];
    columns.map(|column| column.weighing(3)).into()
}

fn resources<'a>() -> Vec<Column<'a>> {
    let make = make();
    let columns = [
        make.time("wall/op", |cell| Some(cell.wall_ns))
            .help("wall time of one operation: median of rounds"),
        make.time("flush/op", |cell| cell.drain_ns)
            .help("the final flush to disk: checkpoint, close, syncfs"),
        make.time("CPU/op", |cell| Some(cell.cpu_ns))
            .help("CPU time of one operation"),
        make.number("kernel", |cell| kernel_share(cell)).help(
            "share of the CPU time in the kernel; below resolution, it is known in clock ticks \
                 only, and a block has too few of them",
        ),
        make.bytes("bytes/op", |cell| Some(cell.bytes))
            .help("bytes delivered or written"),
        make.bytes("storage read/op", |cell| Some(cell.storage_read_bytes))
            .help("bytes fetched from storage"),
        make.bytes("storage written/op", |cell| cell.storage_write_bytes)
            .help("bytes sent to storage"),
        make.formatted(value::ratio, "write ampl.", |cell| {
            cell.write_amplification
        })
        .help(
            "bytes sent to storage, the final flush included, per byte that the operations wrote",
        ),
        make.number("block ± error", |cell: &&CellSummary| {
            let time = cell.block_time;
            let error = time.and_then(|time| time.standard_error_ns);
            with_error(time.map(|time| time.mean_ns), error)
        })
        .help("time of all operations of a block: mean of the rounds and its standard error"),
        make.number("published", |cell: &&CellSummary| {
            let ns = |seconds: Option<f64>| Some(seconds? * 1e9);
            with_error(
                ns(cell.cell.published_seconds),
                ns(cell.published_error_seconds),
            )
        })
        .help("what others published for as many, with its standard error where they gave one"),
        make.formatted(value::ratio, "bytes/value byte", |cell| {
            cell.space_per_value_byte
        })
        .help("bytes allocated on disk per byte of the values"),
        make.formatted(value::percent, "page fill", |cell| cell.page_fill)
            .help("used share of leaf pages"),
        make.formatted(value::percent, "index fill", |cell| cell.index_fill)
            .help("used share of leaf pages of indexes"),
        make.bytes("peak memory", |cell| cell.peak_memory_bytes.map(float))
            .help("largest resident set of a worker"),
    ];
    columns.map(|column| column.weighing(0)).into()
}

/// `22.5 s ± 218 ms`
fn with_error(ns: Option<f64>, error: Option<f64>) -> Cell {
    let error = error.map_or_else(String::new, |error| format!(" ± {}", value::time(error)));
    Cell::maybe(ns, |ns| format!("{}{error}", value::time(ns)))
}

fn kernel_share(cell: &CellSummary) -> Cell {
    match cell.kernel_share_resolution {
        Some(_) if cell.kernel_share.is_nan() => Cell::text(value::BELOW_RESOLUTION),
        _ => Cell::number(cell.kernel_share, value::percent(cell.kernel_share)),
    }
}

fn calls<'a>() -> Vec<Column<'a>> {
    let make = make();
    let syncs = |cell: &CellSummary| {
        let writes = cell.cell.workload.operation.writes();
        writes.then_some(cell.syncs_per_commit)
    };
    let columns = [
        make.per_operation("read calls/op", |cell| cell.read_calls)
            .help("read-like system calls"),
        make.per_operation("write calls/op", |cell| cell.write_calls)
            .help("write-like system calls"),
        make.count("conflicts", |cell| {
            Some(cell.conflicts).filter(|count| *count > 0)
        })
        .help(
            "transactions that the engine refused because of another one and that were tried again",
        ),
        make.per_operation("syncs/commit", move |cell| syncs(cell))
            .help("sync calls per committed transaction"),
        make.per_operation("faults/op", |cell| Some(cell.faults))
            .help("page faults"),
    ];
    columns.map(|column| column.weighing(0)).into()
}

fn evidence<'a>() -> Vec<Column<'a>> {
    let make = make();
    let columns = [
        make.count("rounds", |cell| Some(cell.rounds as u64))
            .help("rounds measured"),
        make.count("operations", |cell| Some(cell.operations))
            .help("operations timed"),
        make.number("values verified", |cell| verified(cell))
            .help("values read back afterwards and compared byte for byte"),
    ];
    columns.map(|column| column.weighing(0)).into()
}

fn verified(cell: &CellSummary) -> Cell {
    let Some(found) = &cell.verification else {
        return Cell::default();
    };
    let overwritten = match found.overwritten {
        0 => String::new(),
        count => format!(" ({} overwritten)", value::count(count)),
    };
    let text = format!("{}{overwritten}", value::count(found.values));
    Cell::number(float(found.values), text)
}
