//! Each comparison: every ratio of every machine.

use super::Fleet;
use super::findings::{self, Findings};
use crate::document::{
    Align, Block, Cell, Column, Detail, Fold, Medium, Row, Section, Sign, Table, Tone, anchor,
    number, paragraph, text_column, toned,
};
use crate::{format, quantity, wording};
use stowplan_analysis::{CellAcross, ComparisonAcross, OnMachine, Verdict};
use stowplan_model::Role;

/// A fold per comparison, for those who ask; those that matrices and sweeps are made of behind the others, in a fold of
/// their own.
pub(super) fn section(fleet: &Fleet<'_>) -> Option<Block> {
    let comparisons = &fleet.outcome.comparisons;
    if comparisons.is_empty() {
        return None;
    }
    let findings: Vec<Findings> = findings::all(fleet).collect();
    let (parts, singles): (Vec<_>, Vec<_>) = comparisons.iter().partition(|c| c.part);
    let fold = |comparison| fold(fleet, comparison, &findings);
    let mut blocks: Vec<Block> = singles.into_iter().map(fold).collect();
    if !parts.is_empty() {
        let count = wording::comparisons(parts.len());
        let title = format!("The {count} that matrices and sweeps are made of");
        let parts = Fold::new(title, parts.into_iter().map(fold).collect());
        blocks.push(Block::from(parts).at(Detail::All));
    }
    let section = Section::new("Each comparison", blocks).named("comparisons");
    let section = section.in_contents("Each comparison");
    Some(Block::from(section).at(Detail::Full))
}

/// What was found, which text has said already, and every ratio.
fn fold(fleet: &Fleet<'_>, comparison: &ComparisonAcross, findings: &[Findings]) -> Block {
    let found = findings.iter().find(|found| found.id == comparison.id);
    let statements = found.map(Findings::statements).unwrap_or_default();
    let statements = statements.into_iter();
    let mut blocks: Vec<Block> = statements.map(|block| block.only(Medium::Page)).collect();
    let what = format!(
        "Time of each cell over that of {}, with its interval; of the baseline, time per operation.",
        comparison.baseline_label
    );
    blocks.push(paragraph(what));
    blocks.push(Block::from(by_machine(fleet, comparison)).only(Medium::Page));
    blocks.push(Block::from(below_each_other(fleet, comparison)).only(Medium::Text));
    let fold = Fold {
        id: anchor("finding", &comparison.id),
        is_heading: true,
        open: true,
        ..Fold::new(&comparison.title, blocks)
    };
    fold.into()
}

/// A row per cell and a column per machine.
fn by_machine(fleet: &Fleet<'_>, comparison: &ComparisonAcross) -> Table {
    let mut columns = vec![text_column("cell", "", |cell: &CellAcross| {
        Cell::text(label(comparison, cell))
    })];
    let machines = fleet.machines().iter().enumerate();
    columns.extend(machines.map(|(place, machine)| {
        number(&machine.label, "", move |cell: &CellAcross| {
            cell.on
                .get(place)
                .map(|on| found(cell, on))
                .unwrap_or_default()
        })
    }));
    Table::of(&comparison.title, columns, &comparison.cells)
}

/// `0.476 [0.466, 0.487] faster`; of the baseline, its time.
fn found(cell: &CellAcross, on: &OnMachine) -> Cell {
    if cell.role == Role::Baseline {
        let time = on.time_ns.map(|time| format::time(time.estimate));
        let nothing = || wording::verdict(Verdict::NoData).to_owned();
        return Cell::text(time.unwrap_or_else(nothing));
    }
    let verdict = verdict(cell, on);
    let Some(estimate) = on.estimate else {
        return Cell::text(verdict);
    };
    let interval = format::interval(estimate.low, estimate.high);
    let text = format!("{} {interval} {verdict}", format::ratio(estimate.ratio));
    Cell {
        sign: (cell.role == Role::Candidate).then(|| Sign::of(on.verdict, Some(&estimate))),
        ..Cell::number(estimate.ratio, text.trim_end().to_owned())
    }
}

/// A row per cell, and below it one per machine: lines of text have no room for a column per
/// machine.
fn below_each_other(fleet: &Fleet<'_>, comparison: &ComparisonAcross) -> Table {
    let column = |title: &str, weight, align| Column {
        title: title.to_owned(),
        help: String::new(),
        unit: "",
        align,
        weight,
    };
    let versus = format!("vs {}", comparison.baseline_label);
    let ratio = if versus.chars().count() > 16 {
        "vs baseline"
    } else {
        &versus
    };
    let rows = comparison
        .cells
        .iter()
        .flat_map(|cell| rows(fleet, comparison, cell));
    Table {
        caption: comparison.title.clone(),
        columns: vec![
            column("cell and machine", 9, Align::Left),
            column("time/op", 5, Align::Right),
            column(&format!("time {ratio}"), 8, Align::Right),
            column("interval", 10, Align::Left),
            column("verdict", 7, Align::Left),
        ],
        rows: rows.collect(),
        is_heat_map: false,
    }
}

/// Those of a floor, which no one could choose, only for those who ask.
fn rows(fleet: &Fleet<'_>, comparison: &ComparisonAcross, cell: &CellAcross) -> Vec<Row> {
    let detail = match cell.role {
        Role::Floor => Detail::Full,
        _ => Detail::Normal,
    };
    let heading = [
        label(comparison, cell),
        String::new(),
        String::new(),
        String::new(),
        String::new(),
    ];
    let mut rows = vec![Row {
        detail,
        cells: heading.map(Cell::text).into(),
    }];
    let on = fleet.machines().iter().zip(&cell.on);
    rows.extend(on.map(|(machine, on)| Row {
        detail,
        cells: fields(&machine.label, cell, on).into(),
    }));
    rows
}

fn fields(machine: &str, cell: &CellAcross, on: &OnMachine) -> [Cell; 5] {
    let estimate = on.estimate;
    let interval = estimate.map(|e| format::interval(e.low, e.high));
    let verdict = match cell.role {
        Role::Baseline if on.time_ns.is_some() => "baseline",
        _ => verdict(cell, on),
    };
    [
        Cell::text(format!("- {machine}")),
        Cell::maybe(on.time_ns.map(|time| time.estimate), format::time),
        Cell::maybe(estimate.map(|e| e.ratio), format::ratio),
        Cell::text(interval.unwrap_or_default()),
        Cell::text(toned(verdict, Tone::of(on.verdict))),
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
