//! What cells take besides time: disk space, writes and memory. One figure per run, without an
//! interval.

use super::sentences::name;
use crate::document::{
    Block, Cell, Detail, Fold, Table, TableBuilder, bullets, number, text_column,
};
use crate::format;
use stowplan_analysis::compare::{CellChange, Changes, ResourceChange};

/// Figures are told from this share on, unless everything is.
const WORTH_TELLING: f64 = 0.05;

/// A fold of what changed enough to be told; nothing if nothing did.
pub(super) fn told_fold(changes: &Changes) -> Option<Block> {
    let list = bullets(told_all(changes))?;
    Some(Fold::new("Disk space, writes and memory", vec![list]).into())
}

/// A fold of every figure, for those who ask; nothing without figures.
pub(super) fn all_fold(changes: &Changes) -> Option<Block> {
    let columns = [("disk", 7), ("sent per byte", 6), ("memory", 5)];
    let mut builders: Vec<TableBuilder<'_, CellChange>> =
        vec![text_column("in NEW", "", |cell: &CellChange| Cell::text(name(cell))).weighing(9)];
    builders.extend(
        columns
            .into_iter()
            .enumerate()
            .map(|(index, (title, weight))| {
                let help = "the figure in NEW, and how it differs from that in BASE";
                number(title, help, move |cell: &CellChange| {
                    figures(cell).get(index).map(field).unwrap_or_default()
                })
                .weighing(weight)
            }),
    );
    let table = Table::of(
        "What cells take besides time in NEW",
        builders,
        &changes.cells,
    );
    let has_figures = table.columns.len() > 1;
    let fold = Fold::new("What each cell takes besides time", vec![table.into()]);
    has_figures.then(|| Block::from(fold).at(Detail::All))
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

/// What cells take besides time, a sentence for each figure that changed enough to be told.
fn told_all(changes: &Changes) -> Vec<String> {
    let cells = changes.cells.iter();
    cells
        .flat_map(|cell| {
            figures(cell).into_iter().filter_map(move |figure| {
                let change = figure.change?;
                let worth = change.beyond_threshold || is_worth_telling(&change);
                worth.then(|| format!("{}: {}", name(cell), told(&figure, &change)))
            })
        })
        .collect()
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
