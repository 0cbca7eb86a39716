//! Reports: an [`Analysis`](stowplan_analysis::Analysis) in, text out.
//!
//! What belongs here: wording, drawing and the formats of tables. What does not: judging (that
//! is `stowplan-analysis`; a verdict is only worded here), files, clocks, and asking the terminal
//! what it can do (width, colour and Unicode are parameters).

mod advice;
pub mod calibration;
mod cells;
pub mod claims;
mod columns;
pub mod compare;
pub mod crash;
pub mod csv;
pub mod doctor;
pub mod document;
mod facts;
mod figure;
pub mod fleet;
pub mod github_action;
mod histogram;
pub mod json;
pub mod kvtest;
mod noise;
pub mod render;
pub mod run;
mod sanitise;
pub mod shell;
pub mod stat;
pub mod survey;
mod value;
pub mod wording;
mod words;

pub use sanitise::steers;
pub use value::{count, time};

/// Stands at the top of the Markdown and HTML reports: by it a report is told from a file that
/// someone else wrote.
pub const MARK: &str = "<!-- stowplan report -->";
