//! All cells of a study that cannot be measured as they are written, for whoever wrote them.

use super::{
    PlanOptions, build_cell, needs_root, no_baseline, objection, other_question, same_question,
};
use crate::HarnessError;
use crate::drivers::Drivers;
use std::collections::BTreeMap;
use stowplan_model::{Cell, ComparisonSpec, Role, Study};

/// A cell that cannot be measured as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellFault {
    /// Which of the study's comparisons it is in, from 0.
    pub comparison: usize,
    /// Its name.
    pub cell: String,
    /// What [`super::plan`] says if it comes to this cell.
    pub message: String,
}

/// Every such cell of the comparisons that stand in the study itself; not of its matrices.
#[must_use]
pub fn cells_at_fault(study: &Study, drivers: &Drivers) -> Vec<CellFault> {
    let comparisons = study.comparisons.iter().enumerate();
    let found = comparisons.flat_map(|(index, spec)| {
        let faults = faults_of(study, spec, drivers).into_iter();
        faults.map(move |(cell, error)| CellFault {
            comparison: index,
            cell,
            message: error.to_string(),
        })
    });
    let found = found.collect();
    drivers.hang_up();
    found
}

/// The cells at fault of one comparison. Whether all answer the same question is asked where each could be
/// measured.
fn faults_of(
    study: &Study,
    spec: &ComparisonSpec,
    drivers: &Drivers,
) -> Vec<(String, HarnessError)> {
    let mut faults = Vec::new();
    let mut cells = Vec::new();
    for (key, cell) in &spec.cells {
        match build_cell(study, spec, key, cell, drivers) {
            Ok(cell) => cells.push(cell),
            // A driver that does not answer is at fault, and not what is written.
            Err(HarnessError::Worker { .. } | HarnessError::Interrupted) => return faults,
            Err(error) if error.is_refusal() => return faults,
            Err(error) => faults.push((key.clone(), error)),
        }
    }
    let options = PlanOptions::default();
    let (fit, unfit): (Vec<Cell>, Vec<Cell>) = cells
        .into_iter()
        .partition(|cell| objection(cell, study, &options).is_none());
    let is_baseline = |cell: &&Cell| cell.role == Role::Baseline;
    if let Some(baseline) = fit.iter().find(is_baseline) {
        let others = fit.iter().filter(|cell| !same_question(cell, baseline));
        faults.extend(others.map(|cell| (cell.key.clone(), other_question(spec, cell, baseline))));
    } else if let Some(baseline) = unfit.iter().find(is_baseline)
        && !needs_root(spec)
    {
        let reasons = unfit.iter().filter_map(|cell| {
            let reason = objection(cell, study, &options)?;
            Some((cell.label.clone(), reason))
        });
        let reasons: BTreeMap<String, String> = reasons.collect();
        faults.push((baseline.key.clone(), no_baseline(spec, reasons)));
    }
    faults
}
