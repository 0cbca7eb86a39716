//! Cells that need not be there, or are not everywhere.

use crate::drivers::Drivers;
use std::collections::BTreeMap;
use stowplan_model::{CellSpec, Plan};

/// Why a cell that need not be there is left out: its driver was not found, or has no such store here, as where a
/// library was not installed.
pub(super) fn left_out(spec: &CellSpec, drivers: &Drivers) -> Option<String> {
    let store = &spec.store;
    let missing = || drivers.not_found(store).or_else(|| drivers.refusal(store));
    spec.optional.then(missing).flatten()
}

/// Why cells of a plan's study are not in it that take what a machine need not have (drivers, file systems,
/// scanners), and how many for each reason.
pub(crate) fn left_out_cells(plan: &Plan) -> BTreeMap<&str, usize> {
    let mut reasons = BTreeMap::new();
    for comparison in &plan.comparisons {
        let mut specs = plan.study.comparisons.iter();
        let spec = specs.find(|spec| spec.id == comparison.id).into_iter();
        for spec in spec {
            let cells = spec.cells.values().filter(|cell| {
                let on = cell.on.is_some() || spec.on.is_some();
                cell.optional || on || !spec.scanned(cell).is_no()
            });
            for reason in cells.filter_map(|cell| comparison.not_applicable.get(&cell.name())) {
                *reasons.entry(reason.as_str()).or_default() += 1;
            }
        }
    }
    reasons
}
