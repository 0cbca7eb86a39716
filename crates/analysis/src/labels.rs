//! Labels that tell the cells of a comparison apart. A cell to which the study gives no label is
//! called by its store, and so are others that use it in another way.

use crate::{WorkDifference, cell_differences};
use stowplan_model::{Cell, CellId, Comparison, Plan, Role};

/// Gives the cells of each comparison labels of which no two are the same. The control keeps that of
/// the cell that it is a copy of.
pub(crate) fn make_distinct(plan: &mut Plan) {
    for comparison in &mut plan.comparisons {
        for (original, label) in distinct_labels(comparison) {
            let key = comparison.cell(&original).map(|cell| cell.key.clone());
            for cell in &mut comparison.cells {
                if Some(&cell.key) == key.as_ref() {
                    cell.label.clone_from(&label);
                }
            }
        }
    }
}

/// Whether cells of some comparison have the same label.
pub(crate) fn are_ambiguous(plan: &Plan) -> bool {
    let mut comparisons = plan.comparisons.iter();
    comparisons.any(|comparison| !distinct_labels(comparison).is_empty())
}

/// The labels of the cells that have the same as one before them: what they do otherwise is added,
/// or their name in the study, if they do nothing otherwise.
fn distinct_labels(comparison: &Comparison) -> Vec<(CellId, String)> {
    let cells = comparison.cells.iter();
    let cells: Vec<&Cell> = cells.filter(|cell| cell.role != Role::Control).collect();
    let mut taken: Vec<String> = cells.iter().map(|cell| cell.label.clone()).collect();
    let mut labels = Vec::new();
    for (index, cell) in cells.iter().enumerate() {
        let mut before = cells.iter().take(index);
        let Some(first) = before.find(|other| other.label == cell.label) else {
            continue;
        };
        let differences = cell_differences(cell, first);
        let otherwise: Vec<String> = differences.iter().filter_map(in_words).collect();
        let mut label = format!("{}, {}", cell.label, otherwise.join(", "));
        if otherwise.is_empty() || taken.contains(&label) {
            label = format!("{} ({})", cell.label, cell.key);
        }
        taken.push(label.clone());
        labels.push((cell.id.clone(), label));
    }
    labels
}

/// What one does that the other does not, as a part of a label.
/// What tells a cell from another one, where that is clear by itself.
fn in_words(difference: &WorkDifference) -> Option<String> {
    let tells = difference.clear && difference.what != WorkDifference::SAMPLE;
    tells.then(|| difference.ours.clone())
}
