//! One comparison: what was found, its numbers, and the settings of its cells.

mod by_operation;
mod cells;
mod drivers;
mod settings;

use super::{answers, percentiles, promises, totals};
use crate::cells::grouped;
use crate::document::{
    Block, Detail, Fold, Item, Medium, Tone, anchor, bullets, chapter, faint, folded, listed,
    paragraph, plain, remark, strong,
};
use crate::findings::{self, Statement};
use crate::{constituents, format, noise, wording};
use stowplan_analysis::{Analysis, Basis, ComparisonOutcome};
use stowplan_model::{Role, Statistic};

/// Up to so many comparisons are open from the start.
const FEW: usize = 6;
/// More sentences than this are folded: the table says the same.
const SENTENCES: usize = 8;
/// More ways in which work differs than this are too many for a look.
const DIFFERENCES: usize = 4;
/// Comparisons of more lines than this are too many for a terminal where there are charts.
const LINES: usize = 70;
/// Lines that a comparison takes beside its cells: heading, titles, promises, differences.
const LINES_BESIDE: usize = 8;

const HINT: &str = "Times are per operation. A click on a column title sorts; its meaning shows when \
                    it is pointed at or reached by keyboard.";

/// Each comparison that stands for itself, and what matrices and sweeps are made of where everything
/// is asked for; nothing if nothing was compared.
pub(crate) fn section(analysis: &Analysis) -> Option<Block> {
    if analysis.comparisons.is_empty() {
        return None;
    }
    let singles = constituents::singles(analysis);
    let open = singles.len() <= FEW;
    let mut blocks = vec![remark(HINT).only(Medium::Page)];
    blocks.extend(singles.iter().map(|comparison| {
        let detail = Detail::normal_if(comparison.was_measured());
        fold(analysis, comparison, open).at(detail)
    }));
    blocks.extend(unmeasured(&singles));
    blocks.extend(of_parts(analysis));
    let detail = Detail::normal_if(are_shown(analysis));
    chapter("comparisons", "Each comparison", blocks).map(|block| block.at(detail))
}

/// Which of these have nothing to show; nothing where all were measured.
fn unmeasured(comparisons: &[&ComparisonOutcome]) -> Option<Block> {
    let left_out = comparisons.iter().filter(|c| !c.was_measured());
    let titles: Vec<&str> = left_out.map(|c| c.title.as_str()).collect();
    let text = format!("Not measured: {}.", titles.join("; "));
    (!titles.is_empty()).then(|| remark(text).only(Medium::Hint))
}

/// How to see the comparisons that a terminal leaves out unless everything is asked for; nothing if
/// it leaves out none.
pub(crate) fn left_out(analysis: &Analysis) -> Option<Block> {
    let singles = constituents::singles(analysis).len();
    let all = analysis.comparisons.len();
    let made_of = " that this is made of";
    let (what, which, left_out) = match (are_shown(analysis), singles) {
        (true, singles) => ("The", made_of, all - singles),
        (false, 0) => ("The", made_of, all),
        (false, _) => ("The numbers of the", "", all),
    };
    let comparisons = format::counted(left_out, "comparison");
    let text = format!("{what} {comparisons}{which} are shown with --verbose.");
    (left_out > 0).then(|| remark(text).only(Medium::Hint))
}

/// Whether a terminal has room for the comparisons, or they are all there is.
pub(crate) fn are_shown(analysis: &Analysis) -> bool {
    let singles = constituents::singles(analysis);
    let cells = singles.iter().flat_map(|comparison| &comparison.cells);
    let cells = cells.filter(|c| !matches!(c.cell.role, Role::Control | Role::Part));
    let lines = cells.count() + singles.len() * LINES_BESIDE;
    let has_charts =
        !(analysis.charts.is_empty() && analysis.bars.is_empty() && analysis.lines.is_empty());
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
    let comparisons = format::counted(folds.len(), "comparison");
    let elsewhere = format!(
        "The page and the formats for programs have also the {comparisons} that matrices and sweeps \
         are made of."
    );
    let title = format!("The {comparisons} that matrices and sweeps are made of");
    vec![
        remark(elsewhere).only(Medium::Markdown).at(Detail::Full),
        Block::from(Fold::new(title, folds)).at(Detail::All),
    ]
}

/// Everything about one comparison in one place.
pub(crate) fn fold(analysis: &Analysis, comparison: &ComparisonOutcome, open: bool) -> Block {
    let (badge, found) = answers::in_a_line(analysis, comparison);
    let fold = Fold {
        id: anchor("finding", &comparison.id),
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
    let found = findings::findings(analysis, comparison);
    let mut blocks = vec![
        paragraph(strong(found.headline)).at(Detail::Full),
        // The answers say it, too.
        paragraph(found.advice).at(Detail::Full),
    ];
    blocks.extend(statements(&found.statements));
    blocks.push(remark(metric(comparison)).at(Detail::Full));
    blocks.push(cells::table(comparison).into());
    blocks.extend(basis(comparison).map(remark));
    blocks.extend(rounds_of_times(comparison).map(remark));
    blocks.extend(differing_builds(comparison).map(remark));
    blocks.extend(not_applicable(comparison));
    blocks.extend(promises::of(comparison).map(paragraph));
    blocks.extend(differences(comparison));
    blocks.extend(drivers::blocks(analysis, comparison));
    // The answers say how noisy it was; of a session that is not reliable, more must be said.
    let detail = Detail::normal_if(!comparison.reliable);
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
    let detail = Detail::normal_if(differences.len() <= DIFFERENCES);
    let blocks = differences.into_iter().map(remark);
    blocks.map(move |block| block.at(detail))
}

/// Which time the ratios are of, and how long blocks waited for a CPU.
fn metric(comparison: &ComparisonOutcome) -> String {
    let delay = comparison.delay_share.map_or_else(String::new, |share| {
        let share = format::percent(share);
        format!(" Blocks waited for a CPU for {share} of their time.")
    });
    format!("Ratios are of {}.{delay}", wording::metric(comparison))
}

/// Of which rounds times are, where some cell has more.
fn rounds_of_times(comparison: &ComparisonOutcome) -> Option<String> {
    let fewer = comparison.cells.iter().filter(|c| c.time_rounds < c.rounds);
    let rounds = fewer.map(|cell| cell.time_rounds).max()?;
    Some(format!(
        "Times and what an operation takes are of the {} that all ratios rest on.",
        format::counted(rounds, "round")
    ))
}

/// What ≠ beside a number of builds means, where it stands in the table.
fn differing_builds(comparison: &ComparisonOutcome) -> Option<&'static str> {
    let mut builds = comparison.contrasts.iter().filter_map(|c| c.builds);
    builds.any(|builds| builds.differ).then_some(
        "≠: builds of a store differ by more than rounds on the same one, and the interval is widened \
         for it.",
    )
}

/// From how many operations something is said of slow ones.
fn basis(comparison: &ComparisonOutcome) -> Option<String> {
    let basis = Basis::of(comparison, comparison.baseline()?)?;
    let beyond = match comparison.measure {
        Statistic::Max => String::new(),
        _ => format!(", {} of them beyond it", format::count(basis.beyond)),
    };
    Some(format!(
        "The ratios are of the {} of each block of {}: the median of rounds. {} of the baseline in \
         all{beyond}.",
        comparison.measure.in_words(),
        format::counted(basis.of_a_block, "operation"),
        format::counted(basis.operations, "operation"),
    ))
}

/// A sentence for each ratio, those to the baseline first.
fn statements(statements: &[Statement]) -> impl Iterator<Item = Block> {
    let (first, more): (Vec<_>, Vec<_>) = statements.iter().partition(|s| s.to_baseline);
    let blocks = [sentences(first, "", SENTENCES), sentences(more, " more", 0)];
    let blocks = blocks.into_iter().flatten();
    blocks.map(|block| block.at(Detail::Full))
}

/// These sentences, folded where there are more than `open`.
fn sentences(statements: Vec<&Statement>, what: &str, open: usize) -> Option<Block> {
    let items = statements.into_iter().map(|statement| {
        let word = wording::verdict(statement.verdict);
        Item::of(&statement.text).with_badge(word, Tone::of(statement.verdict))
    });
    let count = items.len();
    let s = if count == 1 { "" } else { "s" };
    let title = format!("{count}{what} ratio{s} in sentences");
    let list = listed(items.collect())?;
    match count > open {
        true => Some(folded(title, list)),
        false => Some(list),
    }
}

/// Cells that a store cannot do, those with the same reason together.
fn not_applicable(comparison: &ComparisonOutcome) -> Option<Block> {
    let cells = comparison.not_applicable.iter();
    let reasons = grouped(cells.map(|(cell, why)| (why.as_str(), cell.as_str())));
    let reasons = reasons.into_iter();
    bullets(reasons.map(|(why, cells)| {
        plain(cells.join("; ")).then(faint(format!(": not applicable: {why}")))
    }))
}

/// The cells that only explain others.
fn parts_of(comparison: &ComparisonOutcome) -> Vec<Block> {
    let caption = "Parts, which only explain others and are compared with nothing:";
    let parts = cells::parts(comparison).into_iter();
    let blocks = parts.flat_map(|parts| [paragraph(caption), parts.into()]);
    blocks.map(|block| block.at(Detail::Full)).collect()
}
