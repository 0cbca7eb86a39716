//! All answers of a run at a glance: what to do, and why to believe it. What the answers are is
//! decided by the analysis.

use super::by_size::Sizes;
use super::questions;
use crate::document::{Block, Content, Item, Section, Text, paragraph, plain, strong};
use crate::{noise, value};
use stowplan_analysis::{Analysis, Answer, ComparisonOutcome};

/// An answer that is not of one comparison.
pub(crate) struct Row {
    /// Where the page has the details: the name of a section.
    pub(crate) target: String,
    /// The question.
    pub(crate) title: String,
    /// What to do, in a few words.
    pub(crate) answer: String,
}

/// What to do on this machine; nothing where nothing was asked.
pub(crate) fn section(analysis: &Analysis) -> Option<Block> {
    let questions = questions::questions(analysis);
    let mut blocks = questions::table(&questions, questions.len(), true);
    let items: Vec<Item> = by_size(analysis).iter().map(Row::item).collect();
    if !items.is_empty() {
        blocks.push(Content::List(items).into());
    }
    if blocks.is_empty() {
        return None;
    }
    if let Some(evidence) = evidence(analysis) {
        let why = strong("Why believe it?").then(plain(format!(" {evidence}")));
        blocks.push(paragraph(why));
    }
    let section = Section::new("What to do on this machine", blocks);
    Some(section.named("overview").in_contents("Answers").into())
}

impl Row {
    fn item(&self) -> Item {
        Item {
            title: plain(self.title.clone()).linked(&format!("#{}", self.target)),
            text: strong(value::capital(&self.answer)),
            ..Item::default()
        }
    }

    /// Both in a sentence.
    pub(crate) fn sentence(&self) -> Text {
        plain(format!("{}: ", self.title)).then(strong(&self.answer))
    }
}

/// What follows for each matrix and sweep, in reading order.
pub(crate) fn by_size(analysis: &Analysis) -> Vec<Row> {
    let rows = analysis.answers.iter().filter_map(|answer| {
        let Answer::BySize {
            id, a, b, complete, ..
        } = answer
        else {
            return None;
        };
        let mut found = analysis.by_size.iter();
        let sizes = Sizes::of(analysis, found.find(|found| found.id == *id)?);
        Some(Row {
            answer: sizes.answer(a, b, *complete),
            target: sizes.anchor(),
            title: sizes.title,
        })
    });
    rows.collect()
}

/// Which store takes the least space.
pub(crate) fn space(analysis: &Analysis) -> Option<Row> {
    let mut answers = analysis.answers.iter();
    let smallest = answers.find_map(|answer| match answer {
        Answer::Space { choice, .. } => Some(choice),
        _ => None,
    })?;
    Some(Row {
        target: "space".to_owned(),
        title: "Disk space, allocated".to_owned(),
        answer: format!("{smallest} takes the least"),
    })
}

/// What was done that makes the answers worth believing, in a sentence.
pub(crate) fn evidence(analysis: &Analysis) -> Option<String> {
    // Not those whose size was measured again: no answer rests on them.
    let comparisons = analysis.comparisons.iter();
    let comparisons: Vec<&ComparisonOutcome> = comparisons
        .filter(|comparison| !analysis.is_superseded(comparison))
        .collect();
    let cells = || comparisons.iter().flat_map(|comparison| &comparison.cells);
    let sum = |counts: &mut dyn Iterator<Item = u64>| counts.fold(0, u64::saturating_add);
    let operations = sum(&mut cells().map(|cell| cell.operations));
    let mut ratios = comparisons
        .iter()
        .flat_map(|comparison| &comparison.contrasts);
    if operations == 0 || ratios.all(|contrast| contrast.estimate.is_none()) {
        return None;
    }
    let verified = cells().filter_map(|cell| cell.verification.as_ref());
    let verified = sum(&mut verified.map(|found| found.values));
    let verified = match verified {
        0 => String::new(),
        verified => format!(
            "{} values were read back and compared; ",
            value::count(verified)
        ),
    };
    Some(format!(
        "{} {verified}{} operations were timed, in rounds of random order.",
        noise::sentence(&comparisons),
        value::count(operations)
    ))
}
