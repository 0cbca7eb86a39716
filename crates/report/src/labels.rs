//! Labels that tell cells apart. A cell to which the study gives no label is called by its store,
//! and so are others that use it in another way.

use crate::format;
use std::borrow::Cow;
use std::collections::BTreeMap;
use stowplan_analysis::{Analysis, CellSummary, ComparisonOutcome};
use stowplan_model::{CellId, Delivery, Role, Workload};

/// The analysis, in which no two cells of a comparison have the same label. The control keeps that
/// of the baseline: it is the same.
pub(crate) fn told_apart(analysis: &Analysis) -> Cow<'_, Analysis> {
    let comparisons = analysis.comparisons.iter();
    let labels: BTreeMap<CellId, String> = comparisons.flat_map(new_labels).collect();
    if labels.is_empty() {
        return Cow::Borrowed(analysis);
    }
    let mut analysis = analysis.clone();
    for comparison in &mut analysis.comparisons {
        for summary in &mut comparison.cells {
            if let Some(label) = labels.get(&summary.cell.id) {
                summary.cell.label.clone_from(label);
            }
        }
    }
    let specs = &analysis.run.plan.study.charts;
    for chart in &mut analysis.charts {
        for bar in &mut chart.bars {
            if let Some(label) = labels.get(&bar.cell) {
                bar.label.clone_from(label);
            }
        }
        let spec = specs.iter().find(|spec| spec.id == chart.id);
        let reference = spec.map(|spec| CellId(format!("{}/{}", spec.comparison, spec.reference)));
        if let Some(label) = reference.and_then(|id| labels.get(&id)) {
            chart.reference.clone_from(label);
        }
    }
    Cow::Owned(analysis)
}

/// The labels of the cells that have the same as one before them: what they do otherwise is added,
/// or their name in the study, if they do nothing otherwise.
fn new_labels(comparison: &ComparisonOutcome) -> Vec<(CellId, String)> {
    let cells = comparison.cells.iter();
    let cells: Vec<&CellSummary> = cells.filter(|c| c.cell.role != Role::Control).collect();
    let mut taken: Vec<String> = cells.iter().map(|c| c.cell.label.clone()).collect();
    let mut labels = Vec::new();
    for (index, summary) in cells.iter().enumerate() {
        let cell = &summary.cell;
        let mut before = cells.iter().take(index);
        let Some(first) = before.find(|other| other.cell.label == cell.label) else {
            continue;
        };
        let otherwise = otherwise(&cell.workload, &first.cell.workload);
        let mut label = format!("{}, {}", cell.label, otherwise.join(", "));
        if otherwise.is_empty() || taken.contains(&label) {
            label = format!("{} ({})", cell.label, cell.key);
        }
        taken.push(label.clone());
        labels.push((cell.id.clone(), label));
    }
    labels
}

/// What one workload does that the other does not.
fn otherwise(workload: &Workload, other: &Workload) -> Vec<String> {
    let rows = |workload: &Workload| workload.rows_per_statement.unwrap_or(1);
    let mut words = Vec::new();
    if workload.per_transaction != other.per_transaction {
        words.push(workload.per_transaction.to_string());
    }
    if rows(workload) != rows(other) {
        let rows = format::count(rows(workload).into());
        words.push(format!("{rows} rows by each statement"));
    }
    if workload.order != other.order {
        words.push(format!("{} order", workload.order));
    }
    if workload.delivery != other.delivery {
        let delivery = match workload.delivery {
            Delivery::Copy => "copied",
            Delivery::InPlace => "lent in place",
        };
        words.push(delivery.to_owned());
    }
    words
}
