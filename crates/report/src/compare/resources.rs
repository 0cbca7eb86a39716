//! What cells take besides time: disk space, writes and memory. One figure per run, without an
//! interval.

use super::sentences::name;
use super::tables;
use crate::document::{Block, Cell, Detail, Table, bullets, folded, number};
use crate::value;
use stowplan_analysis::compare::{CellChange, Changes, ResourceChange, Resources};

/// Figures are told from this share on, unless everything is.
const WORTH_TELLING: f64 = 0.05;

/// A figure besides time.
struct Figure {
    /// The title of its column, and how important that is.
    title: &'static str,
    weight: u8,
    /// What it is, behind its value.
    what: &'static str,
    of: fn(&Resources) -> Option<ResourceChange>,
    show: fn(f64) -> String,
}

const FIGURES: [Figure; 3] = [
    Figure {
        title: "disk",
        weight: 7,
        what: "on disk",
        of: |resources| resources.allocated_bytes,
        show: value::bytes,
    },
    Figure {
        title: "sent per byte",
        weight: 6,
        what: "bytes sent to storage per byte written",
        of: |resources| resources.write_amplification,
        show: value::ratio,
    },
    Figure {
        title: "memory",
        weight: 5,
        what: "of memory at most",
        of: |resources| resources.peak_memory_bytes,
        show: value::bytes,
    },
];

/// A fold of what changed enough to be told, a sentence for each figure; nothing if nothing did.
pub(super) fn told_fold(changes: &Changes) -> Option<Block> {
    let told = changes.cells.iter().flat_map(|cell| {
        let figures = FIGURES.iter();
        figures.filter_map(|figure| Some(format!("{}: {}", name(cell), figure.told(cell)?)))
    });
    Some(folded("Disk space, writes and memory", bullets(told)?))
}

/// A fold of every figure, for those who ask; nothing without figures.
pub(super) fn all_fold(changes: &Changes) -> Option<Block> {
    let help = "the figure in NEW, and how it differs from that in BASE";
    let figures = FIGURES.iter().map(|figure| {
        number(figure.title, help, |cell| figure.field(cell)).weighing(figure.weight)
    });
    let named = tables::named("in NEW").weighing(9);
    let columns = [named].into_iter().chain(figures).collect();
    let caption = "What cells take besides time in NEW";
    let table = Table::of(caption, columns, &changes.cells);
    let has_figures = table.columns.len() > 1;
    let fold = folded("What each cell takes besides time", table);
    has_figures.then(|| fold.at(Detail::Full))
}

impl Figure {
    /// `12.0 MB, +20%`
    fn field(&self, cell: &CellChange) -> Cell {
        (self.of)(&cell.resources).map_or_else(Cell::default, |change| {
            let difference = value::difference(change.ratio);
            let text = format!("{}, {difference}", (self.show)(change.new));
            Cell::number(change.new, text)
        })
    }

    /// `10.0 MB → 12.0 MB on disk (+20%)`, if it changed enough.
    fn told(&self, cell: &CellChange) -> Option<String> {
        let change = (self.of)(&cell.resources)?;
        let worth_telling = change.ratio.ln().abs() >= WORTH_TELLING.ln_1p();
        let beyond = match change.beyond_threshold {
            true => ", beyond the threshold",
            false if worth_telling => "",
            false => return None,
        };
        let [base, new] = [change.base, change.new].map(self.show);
        let difference = value::difference(change.ratio);
        Some(format!(
            "{base} → {new} {} ({difference}{beyond})",
            self.what
        ))
    }
}
