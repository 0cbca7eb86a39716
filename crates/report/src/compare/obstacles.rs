//! Why cells were not compared.

use super::sentences::differences;
use crate::cells::grouped;
use crate::document::{Block, bullets, folded};
use stowplan_analysis::compare::{Changes, NotCompared, Obstacle};

/// A fold of the reasons, each with its cells; nothing where all were compared.
pub(super) fn fold(changes: &Changes) -> Option<Block> {
    let cells = changes.not_compared.iter();
    let groups =
        grouped(cells.map(|NotCompared { cell, reasons }| (reasons_of(reasons), cell.to_string())));
    let lines = groups.iter();
    let lines = lines.map(|(reason, cells)| format!("{}: {reason}", cells.join(", ")));
    Some(folded("Not compared", bullets(lines)?))
}

/// All reasons of one cell.
fn reasons_of(all: &[Obstacle]) -> String {
    let reasons = all.iter().map(|obstacle| {
        let differences = differences(&obstacle.differences);
        let colon = if differences.is_empty() { "" } else { ": " };
        format!("{}{colon}{differences}", obstacle.reason)
    });
    reasons.collect::<Vec<_>>().join("; ")
}
