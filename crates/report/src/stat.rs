//! `stat` of what kvtest knows: its lines, and below them what a survey says.

use crate::document::{Block, Content, Detail, Document};
use crate::survey;
use serde::Serialize;
use stowplan_model::Survey;

/// Columns of what stands before a number, as kvtest prints it.
const NAME: usize = 20;

/// A database of blobs, or a directory of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stat {
    /// Version of the program that looked.
    pub tool_version: String,
    /// Where it lies.
    pub place: String,
    /// What lies there: `database`, `dir` or `tree`.
    pub held: &'static str,
    /// Of a database.
    pub pages: Option<Pages>,
    /// What it holds; nothing where it is too damaged for that.
    pub survey: Option<Survey>,
}

/// The pages of a database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pages {
    /// Bytes of each.
    pub page_size: u64,
    /// How many there are, free ones included.
    pub page_count: u64,
    /// How many hold nothing.
    pub free: u64,
    /// Faults that `PRAGMA integrity_check` found, or the single line `ok`.
    pub integrity: Vec<String>,
}

/// One JSON document.
///
/// # Errors
/// Serialising fails; it does not.
pub fn json(stat: &Stat) -> Result<String, serde_json::Error> {
    crate::json::of("stat", stat)
}

/// kvtest's lines, then the survey.
#[must_use]
pub fn document(stat: &Stat) -> Document {
    let lines = Block::from(Content::Verbatim(kvtest_lines(stat))).at(Detail::Answer);
    let mut document = stat
        .survey
        .as_ref()
        .map(survey::document)
        .unwrap_or_default();
    document.kind = "Stowplan stat".to_owned();
    document.title.clone_from(&stat.place);
    document.blocks.insert(0, lines);
    document
}

fn kvtest_lines(stat: &Stat) -> String {
    let values = stat.survey.iter().flat_map(|survey| {
        [
            ("Number of entries:", survey.values),
            ("Average value size:", survey.mean()),
            ("Minimum value size:", survey.smallest),
            ("Maximum value size:", survey.largest),
        ]
    });
    let pages = stat.pages.iter().flat_map(|pages| {
        [
            ("Page-size:", pages.page_size),
            ("Page-count:", pages.page_count),
            ("Freelist-count:", pages.free),
        ]
    });
    let numbers = values.chain(pages);
    let numbers = numbers.map(|(name, value)| format!("{name:<NAME$}{value:8}\n"));
    let messages = stat.pages.iter().flat_map(|pages| &pages.integrity);
    let messages = messages.map(|text| format!("{:<NAME$}{text}\n", "Integrity-check:"));
    numbers.chain(messages).collect()
}
