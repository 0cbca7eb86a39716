//! The report as Markdown: `summary.md`.
use stowplan_analysis::Analysis;
/// The report as one Markdown document.
#[must_use]
pub fn render(_analysis: &Analysis) -> String {
    String::new()
}
