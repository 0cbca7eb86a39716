//! The report of one run: what each kind of finding shows, and in which order.
//!
//! What belongs here: a module for each kind of finding, which makes its blocks, and which of them a
//! terminal has room for. What does not: judging (that is `stowplan-analysis`), and drawing (that is
//! [`crate::render`]).

pub(crate) mod answers;
mod bars;
pub(crate) mod charts;
mod comparison;
mod crossover;
pub(crate) mod environment;
mod growth_by_rows;
mod ladder;
mod ledger;
mod lines;
mod matrix;
pub(crate) mod method;
mod percentiles;
mod place;
mod promises;
mod published;
mod ratios;
mod sign_words;
mod space;
mod totals;
pub(crate) mod warnings;

use crate::document::{
    Block, Content, Detail, Document, Medium, Section, paragraph, plain, remark,
};
use stowplan_analysis::Analysis;

/// The report of a run; `raw_result` is the text of its `result.jsonl`, which the page carries.
#[must_use]
pub fn document(analysis: &Analysis, raw_result: &str) -> Document {
    let mut blocks = Vec::new();
    blocks.extend(warnings::ending(analysis).map(|block| block.at(Detail::Brief)));
    blocks.extend(warnings::notice(analysis));
    let ending = blocks.len();
    blocks.extend(source(analysis));
    blocks.extend(answers::section(analysis));
    blocks.extend(ledger::section(analysis));
    blocks.extend(figures(analysis));
    blocks.extend(published::left_out(analysis));
    blocks.extend(published::section(analysis));
    blocks.extend(ladder::section(analysis));
    blocks.extend(comparison::section(analysis));
    blocks.extend(comparison::left_out(analysis));
    blocks.extend(space::left_out(analysis));
    blocks.extend(space::section(analysis));
    blocks.extend(environment::harness_cost(analysis));
    blocks.extend(environment::driver_costs(analysis));
    blocks.extend(circumstances(analysis));
    blocks.push(raw(raw_result));
    let advice = place::section(analysis);
    if advice.is_some() {
        // Its answer is a screen of its own; the rest is for those who ask why.
        for block in &mut blocks[ending..] {
            block.detail = block.detail.max(Detail::Full);
        }
    }
    blocks.splice(0..0, advice);
    with_blocks(analysis, blocks)
}

/// What any report of a run ends with: what qualifies it, where it was measured, and how.
#[must_use]
pub fn circumstances(analysis: &Analysis) -> Vec<Block> {
    let mut blocks: Vec<Block> = warnings::section(analysis).into_iter().collect();
    blocks.push(environment::section(analysis));
    blocks.push(method::section(analysis));
    blocks
}

/// Only what a run comes to: its answers, and that there is something to know before believing
/// them. To be shown up to [`Detail::Brief`].
#[must_use]
pub fn brief(analysis: &Analysis) -> Document {
    let mut whole = document(analysis, "");
    let warnings = warnings::in_brief(analysis);
    whole
        .blocks
        .extend(warnings.map(|block| block.at(Detail::Brief)));
    whole
}

fn with_blocks(analysis: &Analysis, blocks: Vec<Block>) -> Document {
    let study = &analysis.run.plan.study;
    Document {
        kind: "Stowplan report".to_owned(),
        title: study.title.clone(),
        question: plain(&study.question),
        byline: environment::byline(analysis),
        blocks,
    }
}

/// Where the published study stands; the page has that in its byline.
fn source(analysis: &Analysis) -> Option<Block> {
    let source = analysis.run.plan.study.source.as_ref()?;
    let text = plain("Published: ").then(plain(source).linked(source));
    Some(paragraph(text).only(Medium::Text).at(Detail::Full))
}

/// Every drawing of the study, the one that answers its question first. A terminal has room for what
/// matrices and sweeps found; else for one, if neither ladders nor comparisons are shown.
fn figures(analysis: &Analysis) -> Vec<Block> {
    let by_size: Vec<Block> = matrix::figures(analysis)
        .into_iter()
        .chain(crossover::figures(analysis))
        .collect();
    let mut others: Vec<Block> = charts::figures(analysis)
        .into_iter()
        .chain(bars::figures(analysis))
        .chain(lines::figures(analysis))
        .chain(growth_by_rows::figure(analysis))
        .collect();
    let shows_more = !analysis.ladders.is_empty() || comparison::are_shown(analysis);
    let shown = usize::from(by_size.is_empty() && !shows_more);
    for figure in others.iter_mut().skip(shown) {
        figure.detail = figure.detail.max(Detail::Full);
    }
    let hidden = others.len().saturating_sub(shown);
    let blocks: Vec<Block> = by_size.into_iter().chain(others).collect();
    let is_any_shown = hidden < blocks.len();
    let title = if blocks.len() == 1 { "Chart" } else { "Charts" };
    let section = Section::new(title, blocks);
    let section = section.named("charts").in_contents("Charts");
    if section.blocks.is_empty() {
        return Vec::new();
    }
    let detail = match is_any_shown {
        true => Detail::Brief,
        false => Detail::Full,
    };
    let section = Block::from(section).at(detail);
    std::iter::once(section)
        .chain(left_out(hidden, is_any_shown))
        .collect()
}

/// How to see the charts that a terminal leaves out unless everything is asked for.
fn left_out(charts: usize, is_any_shown: bool) -> Option<Block> {
    let charts = match (charts, is_any_shown) {
        (0, _) => return None,
        (1, true) => "The other chart is".to_owned(),
        (1, false) => "A chart is".to_owned(),
        (_, true) => format!("{charts} more charts are"),
        (_, false) => format!("{charts} charts are"),
    };
    let text = format!("{charts} drawn with --verbose, and on the page.");
    Some(remark(text).only(Medium::Hint))
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
    Block::from(section).only(Medium::Page).at(Detail::All)
}
