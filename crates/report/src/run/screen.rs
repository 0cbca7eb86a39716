//! A run on one screen: the table of answers, the main picture, what is not decided, and where the
//! rest is. The whole report is [`super::document`].

use super::{answers, by_size, figures, ladder, ledger, place, questions, warnings};
use crate::claims;
use crate::document::{Block, Detail, Document, Section, bullets, paragraph, remark};
use crate::{noise, value};
use stowplan_analysis::{Analysis, ClaimVerdict, ComparisonOutcome};
use stowplan_model::{SizeDistribution, format_bytes};

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
        let questions = questions::questions(analysis);
        let table = questions::table(&questions, rows, false);
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

/// `100,000 values of 8 kB to 12 kB · ext4 · 2 CPUs · scale quick · 58.0 s`
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
    let took = analysis.end.as_ref();
    let parts = [
        values,
        system.filter(|kind| !kind.is_empty()),
        Some(value::counted(run.environment.cpus, "CPU")),
        Some(format!("scale {}", run.plan.scale)),
        took.map(|end| value::seconds(end.seconds)),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
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
        .or_else(|| by_size::picture(analysis, rows))
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
