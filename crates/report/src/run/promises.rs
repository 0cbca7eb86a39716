//! What cells promise for what they write.

use crate::cells::grouped;
use crate::wording;
use stowplan_analysis::{CellSummary, ComparisonOutcome};
use stowplan_model::{DurabilityClaim, Role};

/// Whose promise it is, where all promise the same.
const ALL: &str = " (all cells)";

/// `Durability: D0 none; D1 process-crash, atomic.`: what an acknowledged write survives, the weakest
/// promise first; nothing for reads. The table says which cell has which class, so that cells are
/// named only where two promises share one. Floors are no stores and promise nothing.
pub(super) fn of(comparison: &ComparisonOutcome) -> Option<String> {
    let is_store = |cell: &&CellSummary| matches!(cell.cell.role, Role::Baseline | Role::Candidate);
    let groups = groups(comparison.cells.iter().filter(is_store))?;
    let class = |claim: &DurabilityClaim| wording::short_class(claim);
    let texts = groups.iter().map(|(claim, labels)| {
        let sharing = groups
            .iter()
            .filter(|(other, _)| class(other) == class(claim));
        let labels = match (sharing.count() > 1, groups.len()) {
            (true, _) => format!(": {}", labels.join(", ")),
            (false, 1) => ALL.to_owned(),
            (false, _) => String::new(),
        };
        format!("{}{labels}", wording::class(claim))
    });
    sentence(texts.collect())
}

/// `Durability: D0 none: “files, in place”; D1 process-crash, atomic: …`: the same with every cell
/// where they do not all promise the same.
pub(super) fn of_cells<'a>(cells: impl Iterator<Item = &'a CellSummary>) -> Option<String> {
    let groups = groups(cells.filter(|cell| cell.cell.role != Role::Floor))?;
    let texts = groups.iter().map(|(claim, labels)| {
        let labels = match groups.len() {
            1 => ALL.to_owned(),
            _ => format!(": {}", labels.join(", ")),
        };
        format!("{}{labels}", wording::class(claim))
    });
    sentence(texts.collect())
}

fn sentence(texts: Vec<String>) -> Option<String> {
    (!texts.is_empty()).then(|| format!("Durability: {}.", texts.join("; ")))
}

/// Promises with the labels of the cells that keep them; nothing if any cell promises nothing,
/// because it only reads.
fn groups<'a>(
    cells: impl Iterator<Item = &'a CellSummary>,
) -> Option<Vec<(DurabilityClaim, Vec<String>)>> {
    let claims = cells.map(|cell| Some((cell.promise()?, wording::quoted(&cell.cell.label))));
    let claims: Option<Vec<(DurabilityClaim, String)>> = claims.collect();
    let mut groups = grouped(claims?.into_iter());
    groups.sort_by_key(|(claim, _)| (claim.class, !claim.delayed, claim.atomic));
    Some(groups)
}
