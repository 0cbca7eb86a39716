//! Changes in tables, a row per cell.

use super::sentences::{interval, name, verdict};
use crate::document::{Block, Cell, Table, TableBuilder, number, text_column, toned};
use crate::value;
use stowplan_analysis::Interval;
use stowplan_analysis::compare::{CellChange, Changes, Decides, Unit};

/// What does not decide, and what its column is called.
fn other(decides: Decides) -> (Decides, &'static str) {
    match decides {
        Decides::Ratio => (Decides::Time, "time"),
        Decides::Time | Decides::Nothing => (Decides::Ratio, "ratio"),
    }
}

/// What a column of changes shows.
fn help(by: Decides) -> &'static str {
    match by {
        Decides::Ratio => "its ratio to the baseline in NEW over that in BASE: with a plus, slower",
        Decides::Time | Decides::Nothing => "time in NEW over time in BASE: with a plus, slower",
    }
}

/// Both times, the change that decides, and in short the other one; nothing without cells.
pub(super) fn decisive(changes: &Changes) -> Option<Block> {
    let by = changes.decides;
    let (other, other_title) = other(by);
    let name = |cell: &CellChange| Cell::text(name(cell));
    let ends = move |cell: &CellChange| {
        let change = cell.decisive(by).map(|(change, _)| interval(&change));
        Cell::text(change.unwrap_or_default())
    };
    let mut columns = vec![
        text_column("cell", "", name).weighing(11),
        timed("BASE", |cell| cell.base_time_ns).weighing(5),
        timed("NEW", |cell| cell.new_time_ns).weighing(6),
        changed_by("NEW/BASE", by).weighing(9),
        text_column("interval", "", ends).weighing(8),
    ];
    let verdict = |cell: &CellChange| {
        let (word, tone) = verdict(cell, by);
        Cell::text(toned(word, tone))
    };
    columns.push(text_column("verdict", "", verdict).weighing(10));
    columns.push(changed_by(other_title, other).weighing(4));
    columns.push(number("rounds", "of BASE, of NEW", rounds).weighing(0));
    if changes.unit == Unit::Session {
        columns.push(number("sessions", "of BASE, of NEW", sessions).weighing(3));
    }
    let caption = match by {
        Decides::Ratio => "ratio to the baseline vs BASE",
        Decides::Time | Decides::Nothing => "time vs BASE",
    };
    let table = Table::of(caption, columns, &changes.cells);
    (!changes.cells.is_empty()).then(|| table.into())
}

fn timed<'a>(title: &str, of: fn(&CellChange) -> Option<Interval>) -> TableBuilder<'a, CellChange> {
    let cell = move |cell: &CellChange| {
        let time = of(cell).map_or(f64::NAN, |time| time.estimate);
        Cell::number(time, value::time(time))
    };
    number(title, "time per operation", cell).in_unit("ns")
}

fn changed_by<'a>(title: &str, by: Decides) -> TableBuilder<'a, CellChange> {
    number(title, help(by), move |cell: &CellChange| {
        let change = cell.decisive(by).map(|(change, _)| change.ratio);
        Cell::maybe(change, value::difference)
    })
}

fn rounds(cell: &CellChange) -> Cell {
    let (base, new) = (cell.time.base_rounds, cell.time.new_rounds);
    Cell::text(format!("{base}, {new}"))
}

fn sessions(cell: &CellChange) -> Cell {
    let (base, new) = (cell.time.base_sessions, cell.time.new_sessions);
    Cell::text(format!("{base}, {new}"))
}
