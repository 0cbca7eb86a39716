//! A run on one screen: the table of answers, the main picture, what is not decided, and where the
//! rest is. The whole report is [`super::document`].

use super::{answers, crossover, figures, ladder, ledger, matrix, place, warnings};
use crate::advice::Advice;
use crate::claims;
use crate::document::{
    Block, Cell, Detail, Document, Section, Table, Text, anchor, bullets, faint, number, paragraph,
    plain, remark, strong, text_column,
};
use crate::{noise, value, wording};
use stowplan_analysis::{Analysis, Answer, ClaimVerdict, ComparisonOutcome};
use stowplan_model::{Role, SizeDistribution, format_bytes};

/// From so many questions on, a title takes one line.
const MANY: usize = 6;
/// So long a title may be then.
const TITLE: usize = 36;
/// A picture of fewer rows says too little.
const LEAST_PICTURE: usize = 4;

/// What a run comes to; `rows` is how many rows its table and its picture have together, at most.
#[must_use]
pub fn screen(analysis: &Analysis, rows: usize) -> Document {
    let study = &analysis.run.plan.study;
    let answer = |block: Block| block.at(Detail::Answer);
    let mut blocks: Vec<Block> = warnings::ending(analysis).map(answer).into_iter().collect();
    if let Some(advice) = place::blocks(analysis) {
        // It says where the rest is.
        blocks.extend(advice);
    } else {
        blocks.insert(0, remark(context(analysis)));
        // What stands together, with an empty line behind it.
        blocks = vec![answer(Section::new("", blocks).into())];
        let questions = questions(analysis);
        let table = table(&questions, rows, false);
        let taken = questions.len().min(rows);
        let table: Vec<Block> = table.into_iter().map(answer).collect();
        blocks.push(answer(Section::new("", table).into()));
        let by_size = answers::by_size(analysis);
        let said = bullets(by_size.iter().map(answers::Row::sentence)).into_iter();
        let said = said.chain(article(analysis).map(paragraph)).map(answer);
        blocks.push(answer(Section::new("", said.collect()).into()));
        let left = rows - taken;
        blocks.extend(picture(analysis, left).filter(|_| left >= LEAST_PICTURE));
        blocks.extend(noise_of_all(analysis).map(remark));
        blocks.extend(warnings::in_a_line(analysis).map(answer));
        blocks.push(remark("Everything: --verbose, and the page."));
    }
    Document {
        kind: "Stowplan report".to_owned(),
        title: study.title.clone(),
        blocks,
        ..Document::default()
    }
}

/// `100,000 values of 8 kB to 12 kB · ext4 · 2 CPUs · scale quick · 58 s`
fn context(analysis: &Analysis) -> String {
    let run = &analysis.run;
    let mut datasets = run.plan.datasets.values();
    let only = datasets.next().filter(|_| datasets.next().is_none());
    let values = only.map(|set| {
        let size = match set.size {
            SizeDistribution::Uniform { min, max } => {
                format!("of {} to {}", format_bytes(min), format_bytes(max))
            }
            ref size => format!("of {}", format_bytes(size.mean())),
        };
        format!("{} values {size}", value::count(set.count))
    });
    let system = Some(run.environment.file_system.kind.clone());
    let took = analysis.end.as_ref().map(|end| end.seconds.round());
    let parts = [
        values,
        system.filter(|kind| !kind.is_empty()),
        Some(value::counted(run.environment.cpus, "CPU")),
        Some(format!("scale {}", run.plan.scale)),
        took.map(duration),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// `58 s`, `3 min 29 s`
fn duration(seconds: f64) -> String {
    match (seconds / 60.0).floor() {
        0.0 => format!("{seconds:.0} s"),
        minutes => format!("{minutes:.0} min {:.0} s", seconds % 60.0),
    }
}

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
            Answer::Comparison { id, .. } => {
                let mut comparisons = analysis.comparisons.iter();
                Some(compared(
                    analysis,
                    comparisons.find(|found| found.id == *id)?,
                ))
            }
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
            Answer::Matrix { .. } | Answer::Sweep { .. } => None,
        })
        .collect()
}

fn compared(analysis: &Analysis, comparison: &ComparisonOutcome) -> Question {
    let found = &comparison.recommendation;
    let advice = Advice::of(analysis, comparison);
    let baseline = comparison.baseline();
    let chosen = found.chosen(comparison);
    let chosen = chosen.filter(|chosen| chosen.cell.role != Role::Baseline);
    let time = |cell| value::maybe(cell, |cell| value::time(wording::headline_time(cell)));
    let phrase = advice.phrase_with(str::to_owned);
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
        true => plain(shortened(&question.title, TITLE)),
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

/// As many whole words as fit, and that there are more.
fn shortened(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let mut short = String::new();
    for word in text.split(' ') {
        if short.chars().count() + word.chars().count() + 2 > width {
            break;
        }
        short = format!("{short}{}{word}", if short.is_empty() { "" } else { " " });
    }
    match short.is_empty() {
        true => text.chars().take(width - 1).chain(['…']).collect(),
        false => format!("{}…", short.trim_end_matches([',', ':', ';'])),
    }
}

/// What became of the claims of the article, in a line.
fn article(analysis: &Analysis) -> Option<String> {
    let verdicts = ledger::verdicts(analysis);
    let mut tested = verdicts.iter().filter(|v| **v != ClaimVerdict::NoData);
    tested.next()?;
    Some(format!("The article: {}", claims::summary(&verdicts)))
}

/// What shows the answer best, in so many rows.
fn picture(analysis: &Analysis, rows: usize) -> Option<Block> {
    ladder::picture(analysis, rows)
        .or_else(|| matrix::picture(analysis, rows))
        .or_else(|| crossover::picture(analysis, rows))
        .or_else(|| figures::picture(analysis, rows))
}

/// `Noise: identical cells differed by 0.3% to 4%.`
fn noise_of_all(analysis: &Analysis) -> Option<String> {
    let comparisons = analysis.comparisons.iter();
    let comparisons: Vec<&ComparisonOutcome> = comparisons
        .filter(|comparison| !analysis.is_superseded(comparison))
        .collect();
    let noise = noise::noise(&comparisons)?;
    let open = comparisons.iter().filter(|found| !found.reliable).count();
    let open = match open {
        0 => String::new(),
        open => format!("; too much in {}", value::counted(open, "comparison")),
    };
    Some(format!("Noise: identical cells differed by {noise}{open}."))
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn a_long_title_ends_with_a_whole_word() {
        assert_eq!(shortened("Read: 200 rows", 20), "Read: 200 rows");
        assert_eq!(shortened("Read: 200 rows, defaults", 17), "Read: 200 rows…");
        assert_eq!(shortened("wwwwwwwwwwwwww", 6), "wwwww…");
    }
}
