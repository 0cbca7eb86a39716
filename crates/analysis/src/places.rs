//! Whether where directories lie shows in what files cost.

use crate::{ComparisonOutcome, judge::Judge};
use std::collections::BTreeSet;
use stowplan_model::{Cell, Role, Warning, WarningKind};

/// Builds of a store that writes files which differ, where they lie in several places: what making a
/// file costs depends on where its directory lies (METHOD "The place of a directory").
pub(crate) fn warning(judge: &Judge<'_>, outcome: &ComparisonOutcome) -> Option<Warning> {
    let differ = |cell: &Cell| {
        let mut contrasts = outcome.contrasts.iter();
        contrasts.any(|contrast| {
            let of_cell = contrast.cell == cell.id || contrast.reference == cell.id;
            of_cell && contrast.builds.is_some_and(|builds| builds.differ)
        })
    };
    let cells = judge.comparison.cells.iter();
    let cells = cells.filter(|cell| cell.role != Role::Control && makes_files(cell));
    let found: Vec<String> = cells
        .filter(|cell| differ(cell))
        .filter_map(|cell| {
            let blocks = judge.blocks.of_cell(&cell.id);
            let places: BTreeSet<u64> = blocks.filter_map(|block| block.place).collect();
            (places.len() > 1).then(|| format!("'{}' ({} places)", cell.label, places.len()))
        })
        .collect();
    (!found.is_empty()).then(|| Warning {
        kind: WarningKind::Other,
        message: format!(
            "comparison {}: builds differ, and those of {} are directories in several places of the disk: \
             what making a file costs depends on where its directory lies, and on what was deleted there \
             in the last minute",
            outcome.id,
            found.join(", ")
        ),
        advice: "Take the ratio for that of a directory anywhere on this disk: its interval is of all \
                 these places."
            .to_owned(),
    })
}

/// Whether a cell's store keeps its values in files of their own, and writes them.
fn makes_files(cell: &Cell) -> bool {
    cell.store.name().starts_with("files") && cell.workload.operation.writes()
}
