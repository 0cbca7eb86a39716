//! The report for a terminal.
use stowplan_analysis::Analysis;
/// What the terminal can do and how much is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalOptions {
    /// Columns; a value below 40 counts as 40.
    pub width: usize,
    /// Whether to colour with ANSI sequences.
    pub colour: bool,
    /// Whether to draw with Unicode characters; otherwise everything is ASCII, except names that
    /// the study gives.
    pub unicode: bool,
    /// Whether to add settings, environment and preparation.
    pub verbose: bool,
}
/// The report as text.
#[must_use]
pub fn render(_analysis: &Analysis, _options: &TerminalOptions) -> String {
    String::new()
}
