//! Reports: an [`Analysis`](stowplan_analysis::Analysis) in, text out.
//!
//! What belongs here: wording, drawing and the formats of tables. What does not: judging (that
//! is `stowplan-analysis`; a verdict is only worded here), files, clocks, and asking the terminal
//! what it can do (width, colour and Unicode are parameters).

mod advice;
mod bars;
pub mod bmf;
pub mod calibration;
mod cells;
mod chart;
pub mod compare;
mod constituents;
mod crossover;
pub mod csv;
pub mod doctor;
pub mod document;
mod facts;
pub mod fleet;
mod format;
pub mod github_action;
mod growth;
pub mod html;
pub mod json;
pub mod kvtest;
mod ladder;
mod lines;
pub mod machines;
pub mod markdown;
mod matrix;
mod method;
mod noise;
mod overview;
mod parts;
mod quantity;
pub mod render;
pub mod run;
pub mod stat;
mod steering;
mod sweep;
mod table;
mod tail;
pub mod terminal;
mod total;
pub mod wording;

pub use format::{count, time};
pub use steering::steers;

/// Stands at the top of the Markdown and HTML reports: by it a report is told from a file that
/// someone else wrote.
pub const MARK: &str = "<!-- stowplan report -->";
