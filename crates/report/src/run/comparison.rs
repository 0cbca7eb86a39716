//! One comparison: what was found, its numbers, and the settings of its cells.

mod by_operation;
mod cells;
mod promises;
mod settings;

use super::{answers, percentiles, totals};
use crate::document::{
    self, Block, Detail, Fold, Item, List, ListStyle, Medium, Section, Tone, bullets, faint,
    paragraph, plain, remark, strong,
};
use crate::findings::{self, Statement};
use crate::{constituents, format, noise, wording};
use stowplan_analysis::{Analysis, ComparisonOutcome, Verdict};
use stowplan_model::Role;

/// Up to so many comparisons are open from the start.
const FEW: usize = 6;
/// More sentences than this are folded: the table says the same.
const SENTENCES: usize = 8;
/// More ways in which work differs than this are too many for a look.
const DIFFERENCES: usize = 4;
/// Comparisons of more lines than this are too many for a terminal where there are charts.
const LINES: usize = 70;
/// Lines that a comparison takes beside its cells: heading, advice, titles, promises, noise.
const LINES_BESIDE: usize = 8;

const HINT: &str = "Times are per operation. A click on a column title sorts; its meaning shows when \
                    it is pointed at or reached by keyboard.";

/// Each comparison that stands for itself, and what matrices and sweeps are made of where everything
/// is asked for; nothing if nothing was compared.
pub(crate) fn section(analysis: &Analysis) -> Vec<Block> {
    if analysis.comparisons.is_empty() {
        return Vec::new();
    }
    let singles = constituents::singles(analysis);
    let open = singles.len() <= FEW;
    let mut blocks = vec![remark(HINT).only(Medium::Page)];
    blocks.extend(singles.iter().map(|c| fold(analysis, c, open)));
    blocks.extend(of_parts(analysis));
    let section = Section::new("Each comparison", blocks);
    let section = section.named("comparisons").in_contents("Each comparison");
    let detail = if are_shown(analysis) {
        Detail::Normal
    } else {
        Detail::Full
    };
    vec![Block::from(section).at(detail)]
}

/// How to see the comparisons that a terminal leaves out unless everything is asked for; nothing if
/// it leaves out none.
pub(crate) fn left_out(analysis: &Analysis) -> Option<Block> {
    let singles = constituents::singles(analysis);
    let all = analysis.comparisons.len();
    let text = match are_shown(analysis) {
        true if all == singles.len() => return None,
        true => format!(
            "The {} that this is made of are shown with --verbose.",
            wording::comparisons(all - singles.len())
        ),
        false if all == 0 => return None,
        false if singles.is_empty() => format!(
            "The {} that this is made of are shown with --verbose.",
            wording::comparisons(all)
        ),
        false => format!(
            "The numbers of the {} are shown with --verbose.",
            wording::comparisons(all)
        ),
    };
    Some(remark(text).only(Medium::Hint))
}

/// Whether a terminal has room for the comparisons, or they are all there is.
pub(crate) fn are_shown(analysis: &Analysis) -> bool {
    let singles = constituents::singles(analysis);
    let lines = |comparison: &ComparisonOutcome| {
        let cells = comparison.cells.iter();
        let shown = cells.filter(|c| !matches!(c.cell.role, Role::Control | Role::Part));
        shown.count() + LINES_BESIDE
    };
    let lines: usize = singles.iter().map(|comparison| lines(comparison)).sum();
    let has_charts = !(analysis.charts.is_empty()
        && analysis.bars.is_empty()
        && analysis.lines.is_empty());
    let has_room = analysis.ladders.is_empty() && (lines <= LINES || !has_charts);
    !singles.is_empty() && has_room
}

/// The comparisons that matrices and sweeps are made of, and where they are if they are left out.
fn of_parts(analysis: &Analysis) -> Vec<Block> {
    let parts = analysis.constituents();
    let comparisons = analysis.comparisons.iter();
    let folds: Vec<Block> = comparisons
        .filter(|comparison| parts.contains(&comparison.id))
        .map(|comparison| fold(analysis, comparison, false))
        .collect();
    if folds.is_empty() {
        return Vec::new();
    }
    let comparisons = wording::comparisons(folds.len());
    let elsewhere = format!(
        "The page and the formats for programs have also the {comparisons} that matrices and sweeps \
         are made of."
    );
    let title = format!("The {comparisons} that matrices and sweeps are made of");
    vec![
        remark(elsewhere).only(Medium::Text).at(Detail::Full),
        Block::from(Fold::new(title, folds)).at(Detail::All),
    ]
}

/// Everything about one comparison in one place.
pub(crate) fn fold(analysis: &Analysis, comparison: &ComparisonOutcome, open: bool) -> Block {
    let (badge, found) = answers::in_a_line(analysis, comparison);
    let fold = Fold {
        id: document::anchor("finding", &comparison.id),
        title: plain(&comparison.title),
        is_heading: true,
        badge: Some(badge),
        found,
        open,
        blocks: blocks(analysis, comparison),
    };
    fold.into()
}

fn blocks(analysis: &Analysis, comparison: &ComparisonOutcome) -> Vec<Block> {
    let found = findings::findings_of(analysis, comparison);
    let mut blocks = vec![
        paragraph(strong(found.headline)).at(Detail::Full),
        // The answers say it, too.
        paragraph(found.advice).at(Detail::Full),
    ];
    blocks.extend(statements(&found.statements));
    blocks.push(remark(metric(comparison)).at(Detail::Full));
    blocks.push(cells::table(comparison).into());
    blocks.extend(not_applicable(comparison));
    blocks.extend(promises::of(comparison).map(paragraph));
    blocks.extend(differences(comparison));
    // The answers say how noisy it was; of a session that is not reliable, more must be said.
    let detail = match comparison.reliable {
        true => Detail::Full,
        false => Detail::Normal,
    };
    blocks.push(remark(noise::of_comparison(comparison)).at(detail));
    blocks.extend(parts_of(comparison));
    blocks.extend(totals::blocks(analysis, comparison));
    blocks.extend(by_operation::blocks(comparison));
    blocks.extend(percentiles::figure(comparison));
    blocks.push(settings::fold(comparison));
    blocks
}

/// Where cells do not do quite the same work; many ways of that are told only to those who ask for
/// everything, because labels tell them too.
fn differences(comparison: &ComparisonOutcome) -> impl Iterator<Item = Block> {
    let differences = wording::work_differences(comparison);
    let detail = match differences.len() {
        0..=DIFFERENCES => Detail::Normal,
        _ => Detail::Full,
    };
    let blocks = differences.into_iter().map(remark);
    blocks.map(move |block| block.at(detail))
}

/// Which time the ratios are of, and how long blocks waited for a CPU.
fn metric(comparison: &ComparisonOutcome) -> String {
    let delay = comparison.delay_share.map_or_else(String::new, |share| {
        let share = format::percent(share);
        format!(" Blocks waited for a CPU for {share} of their time.")
    });
    format!(
        "Ratios are of {}.{delay}",
        wording::metric(comparison.metric)
    )
}

/// A sentence for each ratio, those to the baseline first.
fn statements(statements: &[Statement]) -> Vec<Block> {
    let (first, more): (Vec<_>, Vec<_>) = statements.iter().partition(|s| s.to_baseline);
    let folded = |count: usize, what: &str, list: Block| {
        let s = if count == 1 { "" } else { "s" };
        let title = format!("{count}{what} ratio{s} in sentences");
        Block::from(Fold::new(title, vec![list]))
    };
    let counts = (first.len(), more.len());
    let first = sentences(first).map(|list| match counts.0 {
        0..=SENTENCES => list,
        count => folded(count, "", list),
    });
    let more = sentences(more).map(|list| folded(counts.1, " more", list));
    let blocks = first.into_iter().chain(more);
    blocks.map(|block| block.at(Detail::Full)).collect()
}

fn sentences(statements: Vec<&Statement>) -> Option<Block> {
    let items = statements.into_iter().map(|statement| {
        let word = wording::verdict(statement.verdict);
        Item::of(&statement.text).with_badge(word, verdict_tone(statement.verdict))
    });
    let list = List {
        style: ListStyle::Bullets,
        items: items.collect(),
    };
    (!list.items.is_empty()).then(|| list.into())
}

fn verdict_tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Faster => Tone::Good,
        Verdict::Slower => Tone::Bad,
        Verdict::Equivalent | Verdict::SmallDifference => Tone::Plain,
        Verdict::Unresolved | Verdict::Unreliable | Verdict::NoData => Tone::Warning,
    }
}

/// Cells that a store cannot do.
fn not_applicable(comparison: &ComparisonOutcome) -> Option<Block> {
    let cells = comparison.not_applicable.iter();
    bullets(cells.map(|(cell, why)| plain(cell).then(faint(format!(": not applicable: {why}")))))
}

/// The cells that only explain others.
fn parts_of(comparison: &ComparisonOutcome) -> Vec<Block> {
    let Some(parts) = cells::parts(comparison) else {
        return Vec::new();
    };
    let caption = paragraph("Parts, which only explain others and are compared with nothing:");
    vec![
        caption.at(Detail::Full),
        Block::from(parts).at(Detail::Full),
    ]
}
