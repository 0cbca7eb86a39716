//! The table of the cells of a comparison: everything that was measured of them, the most important
//! columns with the highest weights.

use crate::columns::{self, Columns, Written};
use crate::document::{Cell, Table, TableBuilder, Tone};
use crate::value::float;
use crate::{value, wording};
use stowplan_analysis::{CellDriverCost, CellSummary, ComparisonOutcome, RatioEstimate, Verdict};
use stowplan_model::{Operation, Role};

/// Longer labels have no room in a title.
const LABEL: usize = "baseline".len();

type Row<'a> = Written<&'a CellSummary>;
type Column<'a> = TableBuilder<'a, Row<'a>>;

/// The cells that can be chosen, the floors, and, where everything is asked for, the control: what it
/// shows is said in the line about noise.
pub(super) fn table(comparison: &ComparisonOutcome) -> Table {
    let rows = rows(comparison, |role| role != Role::Part);
    let mut columns = vec![make().name(|row| row.of)];
    columns.extend(class(comparison));
    columns.extend(statistic(comparison));
    columns.extend(times());
    columns.extend(corrected(comparison));
    columns.extend(driver_cost(comparison));
    columns.extend(verdicts(comparison));
    columns.extend(measured());
    columns.push(make().durability(|row| row.of).weighing(0));
    let caption = format!("All numbers: {}", comparison.title);
    Table::of(caption, columns, &rows)
}

/// The cells that only explain others: what they took, without any verdict; nothing if there are
/// none.
pub(super) fn parts(comparison: &ComparisonOutcome) -> Option<Table> {
    let parts = rows(comparison, |role| role == Role::Part);
    let name = [make().name(|row: &Row<'_>| row.of)].into_iter();
    let columns = name.chain(times()).chain(measured()).collect();
    let caption = format!("Parts: {}", comparison.title);
    (!parts.is_empty()).then(|| Table::of(caption, columns, &parts))
}

fn rows(comparison: &ComparisonOutcome, wanted: fn(Role) -> bool) -> Vec<Row<'_>> {
    let cells = comparison.cells.iter();
    let cells = cells.filter(|cell| wanted(cell.cell.role));
    cells.map(|cell| Written::new(cell, cell)).collect()
}

/// What makes a column of cells.
fn make<'a>() -> Columns<Row<'a>> {
    Columns::new()
}

/// Where promises differ, each figure has its own beside it.
fn class<'a>(comparison: &ComparisonOutcome) -> Option<Column<'a>> {
    let cell = |row: &Row<'_>| {
        let claim = row.of.promise().filter(|_| row.of.cell.role != Role::Floor);
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
    let of = |row: &Row<'_>| Some(row.of.statistic_ns?.estimate);
    let column = make().time(format!("{measure}/block"), of);
    (!measure.is_time()).then(|| column.help(help).weighing(9))
}

/// Times, of which the share of the final flush to disk is a part or is not.
fn times<'a>() -> impl Iterator<Item = Column<'a>> {
    columns::listed(include_str!("../../tables/times.txt"), special)
}

/// What was measured beside the headline time; most of it only those see who ask for everything.
fn measured<'a>() -> impl Iterator<Item = Column<'a>> {
    columns::listed(include_str!("../../tables/measured.txt"), special)
}

/// What is shown in words of its own.
fn special(name: &str, cell: &&CellSummary) -> Cell {
    let ns = |seconds: Option<f64>| Some(seconds? * 1e9);
    match name {
        "time-of" => Cell::maybe(Some(wording::mean_time(cell)), value::time),
        "rate" => Cell::maybe(rate(cell), value::rate),
        "kernel" => kernel_share(cell),
        "block" => {
            let error = cell.block_time.and_then(|time| time.standard_error_ns);
            with_error(cell.block_time.map(|time| time.mean_ns), error)
        }
        "published" => with_error(
            ns(cell.cell.published_seconds),
            ns(cell.published_error_seconds),
        ),
        "conflicts" if cell.conflicts > 0 => {
            Cell::number(float(cell.conflicts), value::count(cell.conflicts))
        }
        "syncs" if cell.cell.workload.operation.writes() => {
            Cell::maybe(Some(cell.syncs_per_commit), value::per_operation)
        }
        "verified" => verified(cell),
        _ => Cell::default(),
    }
}

/// Where blocks sleep, the headline is wall time, and corrected time stands beside it.
fn corrected<'a>(comparison: &ComparisonOutcome) -> Option<Column<'a>> {
    let column = make()
        .time("corrected/op", |row: &Row<'_>| row.of.corrected_ns)
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
    let ns = |row: &Row<'_>| figure(row.of, |cost| Some((cost.ns, value::time(cost.ns))));
    let share = |row: &Row<'_>| {
        figure(row.of, |cost| {
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
    let interval = move |row: &Row<'_>| {
        estimate(row.of).map_or_else(Cell::default, |e| {
            Cell::number(e.low, value::interval(e.low, e.high))
        })
    };
    let make = make();
    let (measure, words) = (comparison.measure, comparison.measure.in_words());
    vec![
        make.formatted(value::ratio, format!("{measure} vs {title}"), move |row| {
            ratio(row.of)
        })
        .help(format!(
            "{words} of the cell over {words} of the baseline, {baseline}; below 1 is faster"
        ))
        .weighing(7),
        make.number("interval", interval)
            .help("interval of that ratio")
            .weighing(9),
        make.number("builds", move |row| builds(comparison, row.of))
            .help(
                "builds of each store that the verdict rests on; ≠: they differ by more than rounds on \
                 the same builds, and the interval is widened for it",
            )
            .weighing(9),
        // It has the factor in it, and means nothing without the class where promises differ.
        make.cell("verdict", move |row| verdict(comparison, row.of))
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
