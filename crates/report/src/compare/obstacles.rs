//! Why cells were not compared.

use super::sentences::differences;
use crate::cells::grouped;
use crate::document::{Block, Detail, Section, bullets, paragraph};
use stowplan_analysis::compare::{Changes, NotCompared, Obstacle};

/// So many cells of a reason are named before the rest is only counted.
const FEW: usize = 8;

/// A fold of the reasons, each with its cells; nothing where all were compared. Those beyond a few
/// are named to those who ask.
pub(super) fn fold(changes: &Changes) -> Option<Block> {
    let cells = changes.not_compared.iter();
    let groups =
        grouped(cells.map(|NotCompared { cell, reasons }| (reasons_of(reasons), cell.to_string())));
    let lines = groups.iter().map(|(reason, cells)| {
        let (shown, more) = cells.split_at(cells.len().min(FEW));
        let more = match more.len() {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        format!("{}{more}: {reason}", shown.join(", "))
    });
    let mut blocks = vec![bullets(lines)?];
    let more = groups.iter().filter_map(|(reason, cells)| {
        let more = cells.get(FEW..).filter(|more| !more.is_empty())?;
        let text = format!(
            "The others that were not compared ({reason}): {}.",
            more.join(", ")
        );
        Some(paragraph(text).at(Detail::Full))
    });
    blocks.extend(more);
    Some(Section::fold("Not compared", blocks).into())
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
