//! Cells as every table and chart calls them, and puts them together.

use stowplan_analysis::CellSummary;
use stowplan_model::Role;

/// A cell's label with its part in the comparison, where that is not to be compared.
pub(crate) fn label(cell: &CellSummary) -> String {
    let label = &cell.cell.label;
    match cell.cell.role {
        Role::Control if !label.to_lowercase().contains("control") => format!("{label} (control)"),
        Role::Floor if !label.to_lowercase().contains("floor") => format!("{label} (floor)"),
        _ => label.clone(),
    }
}

/// Things with equal keys together, in the order in which the keys appear.
pub(crate) fn grouped<K: PartialEq, T>(things: impl Iterator<Item = (K, T)>) -> Vec<(K, Vec<T>)> {
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    for (key, thing) in things {
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, group)) => group.push(thing),
            None => groups.push((key, vec![thing])),
        }
    }
    groups
}
