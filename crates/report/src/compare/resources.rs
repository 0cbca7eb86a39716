//! What cells take besides time: disk space, writes and memory. One figure per run, without an
//! interval.

use super::sentences::name;
use super::tables;
use crate::document::{Block, Cell, Detail, Table, bullets, folded, number};
use crate::format;
use stowplan_analysis::compare::{CellChange, Changes, ResourceChange};

/// Figures are told from this share on, unless everything is.
const WORTH_TELLING: f64 = 0.05;

/// A fold of what changed enough to be told; nothing if nothing did.
pub(super) fn told_fold(changes: &Changes) -> Option<Block> {
    let told = changes.cells.iter().flat_map(|cell| {
        figures(cell).into_iter().filter_map(move |figure| {
            let change = figure.change?;
            let worth = change.beyond_threshold || is_worth_telling(&change);
            worth.then(|| format!("{}: {}", name(cell), told(&figure, &change)))
        })
    });
    Some(folded("Disk space, writes and memory", bullets(told)?))
}

/// A fold of every figure, for those who ask; nothing without figures.
pub(super) fn all_fold(changes: &Changes) -> Option<Block> {
    let help = "the figure in NEW, and how it differs from that in BASE";
    let column = |(index, (title, weight)): (usize, (&'static str, u8))| {
        let cell = move |cell: &CellChange| figures(cell).get(index).map(field);
        number(title, help, move |of: &CellChange| {
            cell(of).unwrap_or_default()
        })
        .weighing(weight)
    };
    let mut columns = vec![tables::named("in NEW").weighing(9)];
    let titles = [("disk", 7), ("sent per byte", 6), ("memory", 5)];
    columns.extend(titles.into_iter().enumerate().map(column));
    let caption = "What cells take besides time in NEW";
    let table = Table::of(caption, columns, &changes.cells);
    let has_figures = table.columns.len() > 1;
    let fold = folded("What each cell takes besides time", table);
    has_figures.then(|| fold.at(Detail::All))
}

/// `12.0 MB, +20%`
fn field(figure: &Figure) -> Cell {
    figure.change.map_or_else(Cell::default, |change| {
        let difference = format::difference(change.ratio);
        Cell::number(
            change.new,
            format!("{}, {difference}", (figure.show)(change.new)),
        )
    })
}

/// A figure besides time.
struct Figure {
    what: &'static str,
    change: Option<ResourceChange>,
    show: fn(f64) -> String,
}

fn figures(cell: &CellChange) -> [Figure; 3] {
    let figure = |what, change, show| Figure { what, change, show };
    let resources = &cell.resources;
    [
        figure("on disk", resources.allocated_bytes, format::bytes),
        figure(
            "bytes sent to storage per byte written",
            resources.write_amplification,
            format::ratio,
        ),
        figure(
            "of memory at most",
            resources.peak_memory_bytes,
            format::bytes,
        ),
    ]
}

/// `10.0 MB → 12.0 MB on disk (+20%)`
fn told(figure: &Figure, change: &ResourceChange) -> String {
    let (base, new) = ((figure.show)(change.base), (figure.show)(change.new));
    let beyond = if change.beyond_threshold {
        ", beyond the threshold"
    } else {
        ""
    };
    let difference = format::difference(change.ratio);
    format!("{base} → {new} {} ({difference}{beyond})", figure.what)
}

fn is_worth_telling(change: &ResourceChange) -> bool {
    change.ratio.ln().abs() >= WORTH_TELLING.ln_1p()
}
