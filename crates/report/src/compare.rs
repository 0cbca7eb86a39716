//! One result against others: what `stowplan compare` prints.
//!
//! Verdicts come from [`stowplan_analysis::compare`]; here they are worded and set in tables.

mod json;
mod markdown;
mod terminal;
mod wording;

pub use json::{SCHEMA_VERSION, render as json};
pub use markdown::render as markdown;
pub use terminal::{brief, render};
pub use wording::other_machine;

use stowplan_analysis::{Analysis, compare::Changes};

/// A result, and what the user calls it.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// Its directory or file, as typed.
    pub name: &'a str,
    /// What was found in it.
    pub analysis: &'a Analysis,
}

/// BASE, and what each NEW changed against it.
#[derive(Debug)]
pub struct Compared<'a> {
    /// What the others are compared with.
    pub base: Source<'a>,
    /// The others, as typed; at least one.
    pub news: Vec<(Source<'a>, Changes)>,
}
