//! What spoils or qualifies a run: warnings and failed cells.

use crate::document::{
    self, Block, Content, Section, Tone, bullets, paragraph, plain, strong, toned,
};
use crate::{value, wording};
use stowplan_analysis::{Analysis, RunWarning};
use stowplan_model::CellFailure;

/// Every warning and every failed cell; nothing if there is none.
pub(crate) fn section(analysis: &Analysis) -> Option<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    // What is missing weighs more than what qualifies the rest.
    blocks.extend(analysis.failures.iter().flat_map(failure));
    let warnings = analysis.warnings.iter();
    let all = bullets(warnings.map(|warning| whole(analysis, warning)));
    blocks.extend(all);
    let section = Section::new("Warnings", blocks);
    let section = section.named("warnings").in_contents("Warnings");
    (!section.blocks.is_empty()).then(|| section.into())
}

/// A warning, of which sessions it is, and what to do about it.
fn whole(analysis: &Analysis, warning: &RunWarning) -> String {
    let message = warning.message.trim_end_matches('.');
    let message = format!("{message}{}", sessions(analysis, warning));
    wording::with_advice(&message, &warning.advice)
}

/// ` (in sessions 1 and 3)`: of which sessions a warning is; empty where it is of the run.
fn sessions(analysis: &Analysis, warning: &RunWarning) -> String {
    let numbers: Vec<String> = warning.sessions.iter().map(usize::to_string).collect();
    let figure = match warning.is_of_the_moment() {
        true => ", the figure of the last",
        false => "",
    };
    match numbers.as_slice() {
        [] => String::new(),
        [only] => format!(" (in session {only})"),
        all if all.len() == analysis.sessions => {
            format!(" (in all {} sessions{figure})", all.len())
        }
        some => format!(" (in sessions {}{figure})", wording::list(some)),
    }
}

/// The first sentence of a text, without its full stop, and the others.
fn sentences(text: &str) -> (&str, &str) {
    let (first, rest) = text.split_once(". ").unwrap_or((text, ""));
    (first.trim_end_matches('.'), rest)
}

/// Which cell, why, and the last that it printed.
fn failure(failure: &CellFailure) -> Vec<Block> {
    let name = strong(format!("{} failed:", failure.cell));
    let mut blocks = vec![paragraph(name.then(format!(" {}", failure.message)))];
    let output = failure.stderr.trim_end();
    if !output.is_empty() {
        blocks.push(Content::Verbatim(output.to_owned()).into());
    }
    blocks
}

/// How many there are, for the top of the page; nothing if there are none.
pub(crate) fn notice(analysis: &Analysis) -> Option<Block> {
    let mut text = plain("This run has ");
    let counts = counts(analysis);
    for (index, count) in counts.iter().enumerate() {
        if index > 0 {
            text = text.then(" and ");
        }
        text = text.then(plain(count).linked("#warnings"));
    }
    let found = !counts.is_empty();
    found.then(|| document::notice(text.then(".")))
}

/// What must be known before anything else: that the run is not whole.
pub(crate) fn ending(analysis: &Analysis) -> Option<Block> {
    wording::ending(analysis).map(document::notice)
}

/// `3 warnings: the disk was busy; …`: that there is something to know before believing the outcome,
/// and the first of it.
pub(crate) fn in_a_line(analysis: &Analysis) -> Option<Block> {
    let first = match (analysis.failures.first(), analysis.warnings.first()) {
        (Some(failure), _) => {
            let (message, _) = sentences(&failure.message);
            format!("{} failed: {message}", failure.cell)
        }
        (None, Some(warning)) => {
            let (message, _) = sentences(&warning.message);
            format!("{message}{}", sessions(analysis, warning))
        }
        (None, None) => return None,
    };
    let more = match analysis.warnings.len() + analysis.failures.len() {
        1 => ".",
        _ => "; …",
    };
    let counts = wording::list(&counts(analysis));
    let text = format!("{counts}: {first}{more}");
    Some(paragraph(toned(text, Tone::Warning)))
}

/// `1 failed cell`, `2 warnings`
fn counts(analysis: &Analysis) -> Vec<String> {
    let counts = [
        (analysis.failures.len(), "failed cell"),
        (analysis.warnings.len(), "warning"),
    ];
    let found = counts.into_iter().filter(|(count, _)| *count > 0);
    found
        .map(|(count, what)| value::counted(count, what))
        .collect()
}
