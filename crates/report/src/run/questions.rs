//! The questions of a study that are no matter of sizes, with their answers in a table.

use crate::advice::Advice;
use crate::document::{
    Block, Cell, Table, Text, anchor, faint, number, plain, remark, strong, text_column,
};
use crate::{value, wording};
use stowplan_analysis::{Analysis, Answer, ComparisonOutcome};
use stowplan_model::format_bytes;

/// From so many questions on, a title takes one line.
const MANY: usize = 6;
/// So long a title may be then.
const TITLE: usize = 36;

/// A row of the table of answers.
pub(super) struct Question {
    /// Where the page has the details: the name of a section.
    target: String,
    title: String,
    /// What the baseline takes, and what is chosen.
    base: String,
    chosen: String,
    answer: Text,
    /// By how much it is ahead.
    factor: String,
    /// What the baseline is called.
    baseline: Option<String>,
}

pub(super) fn questions(analysis: &Analysis) -> Vec<Question> {
    let answers = analysis.answers.iter();
    answers
        .filter_map(|answer| match answer {
            Answer::Comparison { id, .. } => Some(compared(analysis, analysis.comparison(id)?)),
            Answer::Space { choice, others, .. } => {
                let bytes = |label: &str| {
                    let mut rows = analysis.space.iter();
                    let row = rows.find(|row| row.label == label)?;
                    Some(format_bytes(row.footprint.allocated_bytes))
                };
                let next = others.iter().filter(|other| other.ratio.is_finite());
                let next = next.min_by(|a, b| a.ratio.total_cmp(&b.ratio));
                Some(Question {
                    target: "space".to_owned(),
                    title: "Disk space".to_owned(),
                    base: next.and_then(|next| bytes(&next.label)).unwrap_or_default(),
                    chosen: bytes(choice)?,
                    answer: plain(choice),
                    factor: next
                        .map_or_else(String::new, |next| value::difference(1.0 / next.ratio)),
                    baseline: None,
                })
            }
            Answer::BySize { .. } => None,
        })
        .collect()
}

fn compared(analysis: &Analysis, comparison: &ComparisonOutcome) -> Question {
    let found = &comparison.recommendation;
    let advice = Advice::of(analysis, comparison);
    let baseline = comparison.baseline();
    let chosen = found.chosen(comparison);
    let time = |cell| value::maybe(cell, |cell| value::time(wording::headline_time(cell)));
    let phrase = advice.phrase(str::to_owned);
    Question {
        target: anchor("finding", &comparison.id),
        title: comparison.title.clone(),
        base: time(baseline),
        chosen: chosen.map_or_else(String::new, |chosen| time(Some(chosen))),
        answer: match found.open {
            Some(_) => faint(phrase),
            None => strong(phrase),
        },
        factor: advice.by_how_much(),
        baseline: baseline.map(|cell| cell.cell.label.clone()),
    }
}

/// The first of the questions with their answers, and how many there are besides. A page has links to
/// the details, and long titles.
pub(super) fn table(questions: &[Question], rows: usize, on_page: bool) -> Vec<Block> {
    let shown = &questions[..questions.len().min(rows)];
    let mut names = shown
        .iter()
        .filter_map(|question| question.baseline.as_ref());
    let name = names.next().filter(|name| name.chars().count() <= 12);
    let name = name.filter(|name| names.all(|other| other == *name));
    let base = name.map_or("baseline", String::as_str);
    let title = |question: &Question| match questions.len() >= MANY {
        _ if on_page => plain(&question.title).linked(&format!("#{}", question.target)),
        true => plain(wording::shortened(&question.title, TITLE)),
        false => plain(&question.title),
    };
    let columns = vec![
        text_column("question", "", |q: &Question| Cell::text(title(q))),
        number(base, "", |q: &Question| Cell::text(&q.base)).weighing(2),
        number("chosen", "", |q: &Question| Cell::text(&q.chosen)).weighing(2),
        text_column("answer", "", |q: &Question| Cell::text(q.answer.clone())).weighing(6),
        text_column("ahead by", "", |q: &Question| Cell::text(&q.factor)).weighing(6),
    ];
    let more = questions.len() - shown.len();
    let table = (!shown.is_empty()).then(|| Table::of("", columns, shown).into());
    let more = (more > 0).then(|| remark(format!("and {}", value::counted(more, "more question"))));
    table.into_iter().chain(more).collect()
}
