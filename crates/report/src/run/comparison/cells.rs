//! The table of the cells of a comparison: everything that was measured of them, the most important
//! columns with the highest weights.

use crate::cells::label;
use crate::columns;
use crate::document::{Cell, Table, Tone};
use crate::value::float;
use crate::{value, wording};
use stowplan_analysis::{CellDriverCost, CellSummary, ComparisonOutcome, RatioEstimate, Verdict};
use stowplan_model::{Operation, Role};

/// Longer labels have no room in a title.
const LABEL: usize = "baseline".len();

/// The cells that can be chosen, the floors, and, where everything is asked for, the control: what it
/// shows is said in the line about noise.
pub(super) fn table(comparison: &ComparisonOutcome) -> Table {
    of_roles(comparison, "All numbers", |role| role != Role::Part)
}

/// The cells that only explain others: what they took, without any verdict; nothing if there are
/// none.
pub(super) fn parts(comparison: &ComparisonOutcome) -> Option<Table> {
    let table = of_roles(comparison, "Parts", |role| role == Role::Part);
    (!table.rows.is_empty()).then_some(table)
}

fn of_roles(comparison: &ComparisonOutcome, what: &str, wanted: fn(Role) -> bool) -> Table {
    let cells = comparison.cells.iter();
    let cells = columns::rows(cells.filter(|cell| wanted(cell.cell.role)));
    let baseline = comparison
        .baseline()
        .map_or("baseline", |cell| &cell.cell.label);
    let is_short = baseline.chars().count() <= LABEL;
    let title = if is_short { baseline } else { "baseline" };
    let measure = comparison.measure;
    let special = |name: &str, cell: &&CellSummary| special(comparison, name, cell);
    let columns = columns::listed(include_str!("../../tables/cells.txt"), special).into_iter();
    // What drivers cost is to be compared where several host cells.
    let is_alone = comparison.drivers().len() < 2;
    let columns = columns.map(|column| {
        let column = match column.title() {
            "driver cost" | "driver share" if is_alone => column.weighing(0),
            _ => column,
        };
        let named = column.naming("{measure}", &measure.to_string());
        let named = named.naming("{measure in words}", measure.in_words());
        named
            .naming("{baseline}", title)
            .naming("{label}", baseline)
    });
    let caption = format!("{what}: {}", comparison.title);
    Table::of(caption, columns.collect(), &cells)
}

/// What is shown in words of its own.
fn special(comparison: &ComparisonOutcome, name: &str, cell: &CellSummary) -> Cell {
    let ns = |seconds: Option<f64>| Some(seconds? * 1e9);
    let estimate = || wording::to_baseline(comparison, cell)?.0;
    match name {
        "name" => Cell::text(label(cell)),
        // Where promises differ, each figure has its own beside it.
        "class" if !wording::promise_alike(comparison) => class(cell),
        // Where blocks sleep, the headline is wall time, and corrected time stands beside it.
        "corrected" if comparison.sleeps => Cell::maybe(cell.corrected_ns, value::time),
        "driver" => driver_cost(cell, |cost| Some((cost.ns, value::time(cost.ns)))),
        "share" => driver_cost(cell, |cost| {
            let share = cost.share?;
            Some((share, value::share(share)))
        }),
        "ratio" if cell.cell.role == Role::Baseline && cell.rounds > 0 => {
            Cell::number(1.0, value::ratio(1.0))
        }
        "ratio" => Cell::maybe(estimate().map(|found| found.ratio), value::ratio),
        "interval" => estimate().map_or_else(Cell::default, |found| {
            Cell::number(found.low, value::interval(found.low, found.high))
        }),
        "builds" => builds(comparison, cell),
        "verdict" => verdict(comparison, cell),
        "durability" => Cell::text(cell.promise().map_or_else(String::new, |p| p.to_string())),
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

fn class(cell: &CellSummary) -> Cell {
    let claim = cell.promise().filter(|_| cell.cell.role != Role::Floor);
    claim.map_or_else(Cell::default, |claim| Cell {
        help: claim.to_string(),
        ..Cell::text(wording::short_class(&claim))
    })
}

/// What the driver of a cell costs, or its share of the time.
fn driver_cost(cell: &CellSummary, of: fn(CellDriverCost) -> Option<(f64, String)>) -> Cell {
    let cost = cell.driver_cost.filter(|_| cell.cell.role != Role::Part);
    let at_least = cost.is_some_and(|cost| cost.at_least);
    let at_least = if at_least { "≥ " } else { "" };
    let found = cost.and_then(of);
    found.map_or_else(Cell::default, |(value, text)| {
        Cell::number(value, format!("{at_least}{text}"))
    })
}

/// Operations per second, where that is how people think of it: of mixes and of several threads.
fn rate(cell: &CellSummary) -> Option<f64> {
    let workload = &cell.cell.workload;
    let asked = workload.threads > 1 || workload.operation == Operation::Mix;
    let time = cell.time_ns.filter(|_| asked)?;
    Some(1e9 / time.estimate)
}

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
