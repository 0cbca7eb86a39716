//! The report of one run: what each kind of finding shows, and in which order.
//!
//! What belongs here: a module for each kind of finding, which makes its blocks, and what of them one
//! screen has room for ([`screen`]). What does not: judging (that is `stowplan-analysis`), and drawing (that is
//! [`crate::render`]).

pub(crate) mod answers;
pub(crate) mod by_size;
mod comparison;
pub(crate) mod environment;
pub(crate) mod figures;
mod ladder;
mod ledger;
pub(crate) mod method;
mod percentiles;
mod place;
mod promises;
mod published;
mod questions;
mod screen;
mod space;
pub(crate) mod warnings;

use crate::document::{Block, Content, Document, Section, paragraph, plain};
pub use screen::screen;
use stowplan_analysis::Analysis;

/// The report of a run; `raw_result` is the text of its `result.jsonl`, which the page carries.
#[must_use]
pub fn document(analysis: &Analysis, raw_result: &str) -> Document {
    let mut blocks: Vec<Block> = warnings::ending(analysis).into_iter().collect();
    blocks.extend(warnings::notice(analysis));
    blocks.extend(place::section(analysis));
    blocks.extend(answers::section(analysis));
    blocks.extend(charts(analysis));
    blocks.extend(ladder::section(analysis));
    blocks.extend(published::section(analysis));
    blocks.extend(space::section(analysis));
    blocks.extend(comparison::section(analysis));
    blocks.extend(ledger::section(analysis));
    blocks.extend(environment::harness_cost(analysis));
    blocks.extend(environment::driver_costs(analysis));
    blocks.extend(circumstances(analysis));
    blocks.push(raw(raw_result));
    let study = &analysis.run.plan.study;
    Document {
        kind: "Stowplan report".to_owned(),
        title: study.title.clone(),
        question: plain(&study.question),
        byline: environment::byline(analysis),
        blocks,
    }
}

/// What any report of a run ends with: what qualifies it, where it was measured, and how.
#[must_use]
pub fn circumstances(analysis: &Analysis) -> Vec<Block> {
    let mut blocks: Vec<Block> = warnings::section(analysis).into_iter().collect();
    blocks.push(environment::section(analysis));
    blocks.push(method::section(analysis));
    blocks
}

/// Every drawing of the study, by size first: there the drawing is the answer.
fn charts(analysis: &Analysis) -> Option<Block> {
    let mut blocks = by_size::figures(analysis);
    blocks.extend(figures::figures(analysis));
    let title = if blocks.len() == 1 { "Chart" } else { "Charts" };
    let section = Section::new(title, blocks);
    let section = section.named("charts").in_contents("Charts");
    (!section.blocks.is_empty()).then(|| section.into())
}

/// The record of the run, to be saved from the page.
pub(crate) fn raw(raw_result: &str) -> Block {
    let file = crate::document::File {
        of: String::new(),
        name: "result.jsonl".to_owned(),
        content: raw_result.to_owned(),
    };
    let about =
        "Every block that was timed, enough to redo the analysis: stowplan report result.jsonl.";
    let blocks = vec![paragraph(about), Content::Files(vec![file]).into()];
    let section = Section::new("Raw result", blocks);
    let section = section.named("raw").in_contents("Raw result");
    section.into()
}
