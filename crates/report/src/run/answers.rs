//! All answers of a run at a glance: what to do, and why to believe it. What the answers are is
//! decided by the analysis.

use super::{crossover, questions};
use crate::document::{
    Block, Content, Item, Section, Text, anchor, faint, paragraph, plain, strong,
};
use crate::{constituents, noise, value, wording};
use stowplan_analysis::{
    Analysis, Answer, ComparisonOutcome, MatrixOutcome, SizeRange, SweepOutcome,
};
use stowplan_model::format_bytes;

/// An answer that is not of one comparison.
pub(crate) struct Row {
    /// Where the page has the details: the name of a section.
    pub(crate) target: String,
    /// The question.
    pub(crate) title: String,
    /// What to do, in a few words.
    pub(crate) answer: String,
    /// What it rests on.
    reason: String,
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
            note: faint(&self.reason),
            ..Item::default()
        }
    }

    /// Both in a sentence.
    pub(crate) fn sentence(&self) -> Text {
        plain(format!("{}: ", self.title)).then(strong(&self.answer))
    }
}

/// What follows for each matrix and sweep, in running order.
pub(crate) fn by_size(analysis: &Analysis) -> Vec<Row> {
    let rows = analysis.answers.iter().filter_map(|answer| match answer {
        Answer::Matrix {
            id,
            inside,
            outside,
            complete,
            ..
        } => {
            let outcome = analysis.matrices.iter().find(|matrix| matrix.id == *id)?;
            let answer = matrix_answer(outcome, (inside, outside), *complete);
            Some(matrix_row(analysis, outcome, answer))
        }
        Answer::Sweep { id, .. } => {
            let mut sweeps = analysis.sweeps.iter();
            let outcome = sweeps.find(|outcome| outcome.sweep.id == *id)?;
            Some(sweep_row(analysis, outcome))
        }
        Answer::Comparison { .. } | Answer::Space { .. } => None,
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
    let row = analysis.space.iter().find(|row| row.label == *smallest)?;
    let bytes = format_bytes(row.footprint.allocated_bytes);
    Some(Row {
        target: "space".to_owned(),
        title: "Disk space, allocated".to_owned(),
        answer: format!("{smallest} takes the least: {bytes}"),
        reason: String::new(),
    })
}

/// What holds at every row of a matrix.
fn matrix_row(analysis: &Analysis, outcome: &MatrixOutcome, answer: String) -> Row {
    let all = outcome.rows.len() * outcome.columns.len();
    let cells = outcome.cells.iter().flatten();
    let cells = match cells.filter(|cell| cell.estimate.is_some()).count() {
        found if found < all => format!("{found} of {all}"),
        found => found.to_string(),
    };
    let s = if all == 1 { "" } else { "s" };
    let reason = match &*outcome.rows {
        [] => String::new(),
        [only] => format!("{cells} ratio{s}, with {}", row_of(outcome, *only)),
        [first, .., last] => format!(
            "{cells} ratio{s}, {} to {}; below is a rule for each",
            row_of(outcome, *first),
            row_of(outcome, *last)
        ),
    };
    let noise = noise(&constituents::of_matrix(analysis, outcome));
    Row {
        answer,
        reason: format!("{reason}{}{noise}", unlike(outcome.same_durability)),
        target: anchor("matrix", &outcome.id),
        title: outcome.title.clone(),
    }
}

/// `pages of 8 KiB`
fn row_of(outcome: &MatrixOutcome, row: u64) -> String {
    crossover::setting(&outcome.row_setting, &[&row.to_string()])
}

/// `keep values of 10 kB inside and values of 1 MB outside; other sizes depend on …`
fn matrix_answer(
    outcome: &MatrixOutcome,
    (inside, outside): (&[SizeRange], &[SizeRange]),
    complete: bool,
) -> String {
    if !outcome.claims_anything() {
        return "no rule by size".to_owned();
    }
    if !outcome.same_durability {
        return "no choice by time alone: inside and outside promise different things".to_owned();
    }
    let setting = outcome.row_setting.replace(['-', '_'], " ");
    let mut found = Vec::new();
    for (ranges, place) in [(inside, "inside"), (outside, "outside")] {
        let texts = ranges.iter();
        let texts: Vec<String> = texts.map(|r| crossover::span(*r, value::size)).collect();
        if !texts.is_empty() {
            found.push(format!("values of {} {place}", wording::list(&texts)));
        }
    }
    if found.is_empty() {
        return format!("it depends on the {setting}: see the rules");
    }
    let rest = match (complete, outcome.rows.len()) {
        (true, _) => String::new(),
        (false, 1) => "; other sizes are open".to_owned(),
        (false, _) => format!("; other sizes depend on the {setting} or are open"),
    };
    format!("keep {}{rest}", wording::list(&found))
}

fn sweep_row(analysis: &Analysis, outcome: &SweepOutcome) -> Row {
    let found = crossover::in_short(analysis, outcome);
    let noise = noise(&constituents::of_sweep(analysis, outcome));
    Row {
        answer: if outcome.same_durability {
            found
        } else {
            format!("no choice by time alone, which says: {found}")
        },
        reason: format!(
            "{}{}{noise}",
            measured(outcome),
            unlike(outcome.same_durability)
        ),
        target: anchor("sweep", &outcome.sweep.id),
        title: crossover::title(outcome),
    }
}

/// `; noise up to 5.6%`; empty where nothing was timed, or too little.
fn noise(comparisons: &[&ComparisonOutcome]) -> String {
    noise::noise_at_most(comparisons).map_or_else(String::new, |noise| format!("; noise {noise}"))
}

/// What qualifies an answer whose stores promise different things.
fn unlike(same_durability: bool) -> &'static str {
    if same_durability {
        ""
    } else {
        "; they do not keep written data alike"
    }
}

/// `measured: 3 sizes, 1 KiB to 4 KiB; planned up to 1 MiB`: a size without a figure is planned.
fn measured(outcome: &SweepOutcome) -> String {
    let figures = crossover::measured(outcome);
    let planned = &outcome.planned;
    let (Some(low), Some(high)) = (planned.first(), planned.last()) else {
        return String::new();
    };
    let (low, high) = (*low, *high);
    let range = |from, to| crossover::span(SizeRange { from, to }, value::short_size);
    let (Some(from), Some(to)) = (figures.first(), figures.last()) else {
        return format!("measured: no size; planned: {}", range(low, high));
    };
    let more = match planned.len() - figures.len() {
        0 => String::new(),
        _ => format!("; planned: {}, {}", planned.len(), range(low, high)),
    };
    let sizes = value::counted(figures.len(), "size");
    format!("measured: {sizes}, {}{more}", range(*from, *to))
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
    let mut reasons = vec![format!(
        "{} in random order",
        wording::rounds_of(&comparisons)
    )];
    reasons.extend(noise_of_all(&comparisons));
    let verified = cells().filter_map(|cell| cell.verification.as_ref());
    let verified = sum(&mut verified.map(|found| found.values));
    if verified > 0 {
        let verified = value::count(verified);
        reasons.push(format!("{verified} values were read back and compared"));
    }
    reasons.push(format!(
        "{} operations were timed",
        value::count(operations)
    ));
    reasons.extend(unreliable_sessions(&comparisons));
    Some(format!("{}.", value::capital(&reasons.join("; "))))
}

/// `measuring the same thing twice may differ by up to 2% in the quietest comparison and 16% in the
/// noisiest; intervals are 13% to 50% longer for it`
fn noise_of_all(comparisons: &[&ComparisonOutcome]) -> Option<String> {
    let (least, most) = noise::range_of_noise(comparisons)?;
    let widened = noise::widening(comparisons)?;
    let noise = if least == most {
        most
    } else {
        format!("{least} in the quietest comparison and {most} in the noisiest")
    };
    Some(format!(
        "{} by up to {noise}{}; intervals are {widened} longer for it",
        noise::TWICE_MAY_DIFFER,
        noise::too_noisy(comparisons)
    ))
}

/// How many sessions failed their own control, so that nothing is claimed of them.
fn unreliable_sessions(comparisons: &[&ComparisonOutcome]) -> Option<String> {
    let unreliable = comparisons.iter().filter(|c| !c.reliable).count();
    let (session, was) = match unreliable {
        0 => return None,
        1 => ("session", "was"),
        _ => ("sessions", "were"),
    };
    Some(format!(
        "{unreliable} {session} {was} too noisy, and nothing is claimed of what was measured there"
    ))
}
