//! What the cells of a comparison promise for what they write.

use crate::{quantity, wording};
use stowplan_analysis::ComparisonOutcome;
use stowplan_model::{DurabilityClaim, Role};

/// `Durability: D0 none; D1 process-crash, atomic.`: what an acknowledged write survives, the weakest
/// promise first; nothing for reads. The table says which cell has which class, so that cells are
/// named only where two promises share one. Floors are no stores and promise nothing.
pub(super) fn of(comparison: &ComparisonOutcome) -> Option<String> {
    let groups = groups(comparison)?;
    let are_alike = groups.len() == 1;
    let texts = groups.iter().map(|(claim, labels)| {
        let class = quantity::short_class(claim);
        let shares = groups
            .iter()
            .any(|(other, _)| other != claim && quantity::short_class(other) == class);
        let labels = match (shares, are_alike) {
            (true, _) => format!(": {}", labels.join(", ")),
            (false, true) => " (all cells)".to_owned(),
            (false, false) => String::new(),
        };
        format!("{}{labels}", quantity::class(claim))
    });
    let texts: Vec<String> = texts.collect();
    (!texts.is_empty()).then(|| format!("Durability: {}.", texts.join("; ")))
}

/// Promises with the labels of the cells that keep them; nothing if any cell promises nothing,
/// because it only reads.
fn groups(comparison: &ComparisonOutcome) -> Option<Vec<(DurabilityClaim, Vec<String>)>> {
    let mut groups: Vec<(DurabilityClaim, Vec<String>)> = Vec::new();
    let is_store = |role| matches!(role, Role::Baseline | Role::Candidate);
    let cells = comparison.cells.iter();
    for cell in cells.filter(|cell| is_store(cell.cell.role)) {
        let claim = cell.promise()?;
        let label = wording::quoted(&cell.cell.label);
        match groups.iter_mut().find(|(known, _)| *known == claim) {
            Some((_, labels)) => labels.push(label),
            None => groups.push((claim, vec![label])),
        }
    }
    groups.sort_by_key(|(claim, _)| (claim.class, !claim.delayed, claim.atomic));
    Some(groups)
}
