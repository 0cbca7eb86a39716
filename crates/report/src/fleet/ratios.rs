//! Each comparison: every ratio of every machine.

use super::Fleet;
use super::findings::{self, Findings};
use crate::document::{
    Block, Cell, Fold, Table, TableBuilder, Tone, anchor, chapter, number, paragraph, text_column,
    toned,
};
use crate::{format, quantity, wording};
use stowplan_analysis::{CellAcross, ComparisonAcross, Machine, OnMachine, Verdict};
use stowplan_model::Role;

/// A fold per comparison, for those who ask; those that matrices and sweeps are made of behind the
/// others, in a fold of their own.
pub(super) fn section(fleet: &Fleet<'_>) -> Option<Block> {
    let findings: Vec<Findings> = findings::all(fleet).collect();
    let comparisons = fleet.outcome.comparisons.iter();
    let (parts, singles): (Vec<_>, Vec<_>) = comparisons.partition(|c| c.part);
    let fold = |comparison| fold(fleet, comparison, &findings);
    let mut blocks: Vec<Block> = singles.into_iter().map(fold).collect();
    if !parts.is_empty() {
        let count = format::counted(parts.len(), "comparison");
        let title = format!("The {count} that matrices and sweeps are made of");
        let parts = Fold::new(title, parts.into_iter().map(fold).collect());
        blocks.push(parts.into());
    }
    chapter("comparisons", "Each comparison", blocks)
}

/// What was found, which text has said already, and every ratio.
fn fold(fleet: &Fleet<'_>, comparison: &ComparisonAcross, findings: &[Findings]) -> Block {
    let found = findings.iter().find(|found| found.id == comparison.id);
    let statements = found.map(Findings::statements).unwrap_or_default();
    let mut blocks: Vec<Block> = statements;
    let what = format!(
        "Time of each cell over that of {}, with its interval; of the baseline, time per operation.",
        comparison.baseline_label
    );
    blocks.push(paragraph(what));
    blocks.push(below_each_other(fleet, comparison).into());
    let fold = Fold {
        id: anchor("finding", &comparison.id),
        is_heading: true,
        ..Fold::new(&comparison.title, blocks)
    };
    fold.into()
}

/// A line of the table for text: a cell, or what one machine found of it.
struct Line<'a> {
    cell: &'a CellAcross,
    on: Option<(&'a Machine, &'a OnMachine)>,
}

/// A row per cell, and below it one per machine: lines of text have no room for a column per
/// machine. Those of a floor, which no one could choose, only for those who ask.
fn below_each_other(fleet: &Fleet<'_>, comparison: &ComparisonAcross) -> Table {
    let lines = comparison.cells.iter().flat_map(|cell| {
        let on = fleet.machines().iter().zip(&cell.on).map(Some);
        [None]
            .into_iter()
            .chain(on)
            .map(move |on| Line { cell, on })
    });
    let lines: Vec<Line<'_>> = lines.collect();
    let columns = columns(comparison);
    Table::of(&comparison.title, columns, &lines)
}

fn columns<'a>(comparison: &'a ComparisonAcross) -> Vec<TableBuilder<'a, Line<'a>>> {
    let name = |line: &Line<'_>| match line.on {
        Some((machine, _)) => Cell::text(format!("- {}", machine.label)),
        None => Cell::text(label(comparison, line.cell)),
    };
    let time = |line: &Line<'_>| {
        let time = line.on.and_then(|(_, on)| on.time_ns);
        Cell::maybe(time.map(|time| time.estimate), format::time)
    };
    let ratio = |line: &Line<'_>| {
        let estimate = line.on.and_then(|(_, on)| on.estimate);
        Cell::maybe(estimate.map(|e| e.ratio), format::ratio)
    };
    let interval = |line: &Line<'_>| {
        let estimate = line.on.and_then(|(_, on)| on.estimate);
        let interval = estimate.map(|e| format::interval(e.low, e.high));
        Cell::text(interval.unwrap_or_default())
    };
    let verdict = |line: &Line<'_>| match line.on {
        None => Cell::default(),
        Some((_, on)) => {
            let word = match line.cell.role {
                Role::Baseline if on.time_ns.is_some() => "baseline",
                _ => verdict(line.cell, on),
            };
            Cell::text(toned(word, Tone::of(on.verdict)))
        }
    };
    let versus = match format!("vs {}", comparison.baseline_label) {
        long if long.chars().count() > 16 => "vs baseline".to_owned(),
        versus => versus,
    };
    vec![
        text_column("cell and machine", "", name).weighing(9),
        number("time/op", "", time).weighing(5),
        number(format!("time {versus}"), "", ratio).weighing(8),
        text_column("interval", "", interval).weighing(10),
        text_column("verdict", "", verdict).weighing(7),
    ]
}

/// The verdict in a word; none of a floor.
fn verdict(cell: &CellAcross, on: &OnMachine) -> &'static str {
    match (cell.role, on.verdict) {
        (Role::Floor, Verdict::NoData) => wording::verdict(on.verdict),
        (Role::Floor, _) => "",
        _ => wording::verdict(on.verdict),
    }
}

/// A cell's label with its part in the comparison, and with its promise where promises differ: that
/// must stand beside the ratio.
fn label(comparison: &ComparisonAcross, cell: &CellAcross) -> String {
    let differ = comparison.cells.iter().any(|cell| !cell.same_durability);
    let promise = cell.durability.as_ref().filter(|_| differ);
    let promise = promise.map_or_else(String::new, |p| format!("; {}", quantity::class(p)));
    let says_floor = cell.label.to_lowercase().contains("floor");
    let part = match cell.role {
        Role::Baseline => " (baseline)",
        Role::Floor if !says_floor => " (floor)",
        _ => "",
    };
    format!("{}{part}{promise}", cell.label)
}
