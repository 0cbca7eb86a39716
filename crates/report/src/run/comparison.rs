//! One comparison: what was found, its numbers, and the settings of its cells.

mod cells;
mod every_ratio;
mod settings;

use super::{percentiles, promises};
use crate::advice::Advice;
use crate::cells::grouped;
use crate::document::{
    Badge, Block, Look, Section, Tone, anchor, bullets, chapter, faint, paragraph, plain, remark,
    strong,
};
use crate::{noise, value, wording};
use stowplan_analysis::{Analysis, Basis, ComparisonOutcome, Kind};
use stowplan_model::Statistic;

/// Each comparison that stands for itself, and those that matrices and sweeps are made of; nothing if
/// nothing was compared.
pub(crate) fn section(analysis: &Analysis) -> Option<Block> {
    let parts = analysis.constituents();
    let comparisons = analysis.comparisons.iter();
    let (parts, singles): (Vec<_>, Vec<_>) = comparisons.partition(|c| parts.contains(&c.id));
    let fold = |comparison| fold(analysis, comparison);
    let mut blocks: Vec<Block> = singles.into_iter().map(fold).collect();
    if !parts.is_empty() {
        let comparisons = value::counted(parts.len(), "comparison");
        let title = format!("The {comparisons} that matrices and sweeps are made of");
        blocks.push(Section::fold(title, parts.into_iter().map(fold).collect()).into());
    }
    chapter("comparisons", "Each comparison", blocks)
}

/// Everything about one comparison in one place.
fn fold(analysis: &Analysis, comparison: &ComparisonOutcome) -> Block {
    let advice = Advice::of(analysis, comparison);
    let mut found = strong(advice.phrase(wording::quoted));
    let how_much = advice.by_how_much();
    if !how_much.is_empty() {
        found = found.then(faint(format!(" {how_much}")));
    }
    let fold = Section {
        id: anchor("finding", &comparison.id),
        look: Look::Finding,
        badge: Some(badge(comparison.recommendation.kind)),
        found,
        ..Section::new(&comparison.title, blocks(analysis, comparison, &advice))
    };
    fold.into()
}

/// What was decided, in a word or two.
fn badge(kind: Kind) -> Badge {
    let (word, tone) = match kind {
        Kind::Use | Kind::Stay => ("fastest", Tone::Good),
        Kind::Prefer => ("faster", Tone::Good),
        Kind::Keep => ("none faster", Tone::Plain),
        Kind::Equivalent => ("equivalent", Tone::Plain),
        Kind::Smallest => ("smallest", Tone::Good),
        Kind::BySize => ("by size", Tone::Good),
        Kind::Depends => ("it depends", Tone::Warning),
        Kind::Open => ("no verdict", Tone::Warning),
    };
    let word = word.to_owned();
    Badge { word, tone }
}

fn blocks(analysis: &Analysis, comparison: &ComparisonOutcome, advice: &Advice<'_>) -> Vec<Block> {
    let mut blocks = vec![paragraph(advice.in_a_sentence())];
    blocks.push(remark(metric(comparison)));
    blocks.push(cells::table(comparison).into());
    blocks.extend(basis(comparison).map(remark));
    blocks.extend(differing_builds(comparison).map(remark));
    blocks.extend(bullets(every_ratio::remarks(analysis, comparison)));
    blocks.extend(every_ratio::table(comparison));
    blocks.extend(not_applicable(comparison));
    blocks.extend(promises::of(comparison).map(paragraph));
    blocks.extend(
        wording::work_differences(comparison)
            .into_iter()
            .map(remark),
    );
    blocks.push(remark(noise::sentence(&[comparison])));
    blocks.extend(parts_of(comparison));
    blocks.extend(percentiles::by_operation(comparison));
    blocks.extend(percentiles::figure(comparison));
    blocks.push(settings::fold(comparison));
    blocks
}

/// Which time the ratios are of, and how long blocks waited for a CPU.
fn metric(comparison: &ComparisonOutcome) -> String {
    let delay = comparison.delay_share.map_or_else(String::new, |share| {
        let share = value::percent(share);
        format!(" Blocks waited for a CPU for {share} of their time.")
    });
    format!("Ratios are of {}.{delay}", wording::metric(comparison))
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
        _ => format!(", {} of them beyond it", value::count(basis.beyond)),
    };
    Some(format!(
        "The ratios are of the {} of each block of {}: the median of rounds. {} of the baseline in \
         all{beyond}.",
        comparison.measure.in_words(),
        value::counted(basis.of_a_block, "operation"),
        value::counted(basis.operations, "operation"),
    ))
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
    parts
        .flat_map(|parts| [paragraph(caption), parts.into()])
        .collect()
}
