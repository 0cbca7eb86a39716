//! One row per cell, for spreadsheets and scripts.
use stowplan_analysis::Analysis;
/// The cells as CSV (RFC 4180).
#[must_use]
pub fn render(_analysis: &Analysis) -> String {
    String::new()
}
