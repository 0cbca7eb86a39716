//! Cells as every table and chart calls them.

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
