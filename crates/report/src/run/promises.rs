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
    let is_shared = |claim: &DurabilityClaim| {
        let sharing = groups.iter();
        let sharing = sharing.filter(|(other, _)| class(other) == class(claim));
        sharing.count() > 1
    };
    sentence(&groups, is_shared)
}

/// `Durability: D0 none: “files, in place”; D1 process-crash, atomic: …`: the same with every cell
/// where they do not all promise the same.
pub(super) fn of_cells<'a>(cells: impl Iterator<Item = &'a CellSummary>) -> Option<String> {
    let groups = groups(cells.filter(|cell| cell.cell.role != Role::Floor))?;
    sentence(&groups, |_| true)
}

/// Each promise, with its cells where they have to be named.
fn sentence(groups: &[Promised], is_named: impl Fn(&DurabilityClaim) -> bool) -> Option<String> {
    let texts = groups.iter().map(|(claim, labels)| {
        let labels = match groups.len() {
            1 => ALL.to_owned(),
            _ if is_named(claim) => format!(": {}", labels.join(", ")),
            _ => String::new(),
        };
        format!("{}{labels}", wording::class(claim))
    });
    let texts: Vec<String> = texts.collect();
    (!texts.is_empty()).then(|| format!("Durability: {}.", texts.join("; ")))
}

/// A promise with the labels of the cells that keep it.
type Promised = (DurabilityClaim, Vec<String>);

/// All promises; nothing if any cell promises nothing, because it only reads.
fn groups<'a>(cells: impl Iterator<Item = &'a CellSummary>) -> Option<Vec<Promised>> {
    let claims = cells.map(|cell| Some((cell.promise()?, wording::quoted(&cell.cell.label))));
    let claims: Option<Vec<(DurabilityClaim, String)>> = claims.collect();
    let mut groups = grouped(claims?.into_iter());
    groups.sort_by_key(|(claim, _)| (claim.class, !claim.delayed, claim.atomic));
    Some(groups)
}
