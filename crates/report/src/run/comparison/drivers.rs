//! What drivers cost beside the times and ratios of a comparison. Nothing is subtracted from any.

use crate::document::{Block, Detail, Text, Tone, bullets, notice, plain, remark, toned};
use crate::{findings, format, wording};
use stowplan_analysis::{
    Analysis, CellSummary, ComparisonOutcome, ContrastDriverCost, ContrastOutcome, Verdict,
};
use stowplan_model::Role;

/// More ratios to the baseline by another driver than this are told only to those who ask for
/// everything, and all ratios between other cells.
const RATIOS: usize = 4;

/// What the loops of the drivers of a comparison cost, and what that may be of ratios between cells of
/// two of them; nothing where the program itself hosts all.
pub(super) fn blocks(analysis: &Analysis, comparison: &ComparisonOutcome) -> Vec<Block> {
    let drivers = comparison.drivers();
    if !comparison.was_measured() || drivers.iter().all(|driver| driver.is_empty()) {
        return Vec::new();
    }
    let costs = drivers.into_iter().map(|driver| cost(comparison, driver));
    let costs = wording::list(&costs.collect::<Vec<_>>());
    let time = time(comparison);
    let text = format!(
        "Driver cost per operation, which every time here contains, and its share of the {time}: {costs}."
    );
    let ratios: Vec<(&ContrastOutcome, Text)> = findings::between_stores(comparison)
        .filter_map(|contrast| Some((contrast, of_ratio(analysis, comparison, contrast)?)))
        .collect();
    let baseline = comparison.baseline().map(|cell| &cell.cell.id);
    let is_to_baseline = |contrast: &ContrastOutcome| Some(&contrast.reference) == baseline;
    let to_baseline = ratios.iter().filter(|(ratio, _)| is_to_baseline(ratio));
    let has_room = to_baseline.count() <= RATIOS;
    let (first, more): (Vec<_>, Vec<_>) = ratios.into_iter().partition(|(ratio, _)| {
        let changes = ratio.verdict_without_drivers().is_some();
        changes || has_room && is_to_baseline(ratio)
    });
    let list = |ratios: Vec<(_, Text)>| bullets(ratios.into_iter().map(|(_, text)| text));
    let more = list(more).map(|more| more.at(Detail::Full));
    let lists = list(first).into_iter().chain(more);
    let mut rivals = comparison.rivals().filter_map(|cell| cell.driver_cost);
    let counts = rivals.any(|cost| cost.share > analysis.run.equivalence);
    let costs = if counts { notice(text) } else { remark(text) };
    [costs].into_iter().chain(lists).collect()
}

/// `python 232 ns (3.8% to 12%)`
fn cost(comparison: &ComparisonOutcome, driver: &str) -> String {
    let name = match driver {
        "" => "the program's own loop",
        driver => driver,
    };
    let is_compared = |role| !matches!(role, Role::Control | Role::Part);
    let cells = comparison.cells.iter();
    let costs = cells
        .filter(|cell| cell.cell.store.driver() == driver && is_compared(cell.cell.role))
        .filter_map(|cell| cell.driver_cost);
    let ns = format::span(costs.clone().map(|cost| cost.ns), format::time);
    let shares = format::span(costs.map(|cost| cost.share), format::share);
    match ns.zip(shares) {
        Some((ns, shares)) => format!("{name} {ns} ({shares})"),
        None => format!("that of {name} is unknown, because it timed no store that does nothing"),
    }
}

/// The time that driver costs are set beside: that of the comparison, or corrected time where it is
/// known and the comparison goes by wall time.
fn time(comparison: &ComparisonOutcome) -> &'static str {
    let mut costs = comparison.cells.iter().filter_map(|cell| cell.driver_cost);
    let is_other = costs.any(|cost| cost.of != comparison.metric);
    if is_other { "corrected time" } else { "time" }
}

/// What the costs of two drivers may be of the difference between two cells.
fn of_ratio(
    analysis: &Analysis,
    comparison: &ComparisonOutcome,
    contrast: &ContrastOutcome,
) -> Option<Text> {
    let cost = contrast.driver_cost?;
    let cell = comparison.cell(&contrast.cell)?;
    let reference = comparison.cell(&contrast.reference)?;
    let name = |cell: &CellSummary| wording::quoted(&cell.cell.label);
    let part = part(&cost, time(comparison));
    let text = format!("{} and {}: {part}.", name(cell), name(reference));
    let text = plain(wording::sentence(analysis, &text));
    Some(match contrast.verdict_without_drivers() {
        None => text,
        Some(without) => text.then(toned(
            format!(" {}", changed(contrast.verdict, without, &cost)),
            Tone::Warning,
        )),
    })
}

/// `of the 2.20 µs between them, 189 ns (8.6%) may be the drivers'`
fn part(cost: &ContrastDriverCost, time: &str) -> String {
    let [difference, between] = [cost.difference_ns, cost.of_ns].map(|ns| format::time(ns.abs()));
    let between = match time {
        "time" => between,
        other => format!("{between} of {other}"),
    };
    match cost.share {
        share if share < 0.0 => format!(
            "they are {between} apart, and the slower one has the cheaper driver, by {difference}"
        ),
        share if share <= 1.0 => format!(
            "of the {between} between them, {difference} ({}) may be their drivers'",
            format::percent(share)
        ),
        _ => format!(
            "they are {between} apart, less than their drivers' costs, which are {difference} apart"
        ),
    }
}

/// `Without driver costs the verdict would be equivalent and not slower, and the ratio 1.02 [0.98,
/// 1.06].`
fn changed(verdict: Verdict, without: Verdict, cost: &ContrastDriverCost) -> String {
    let (verdict, without) = (verdict.in_words(), without.in_words());
    let ratio = cost.ratio_without.map_or_else(String::new, |ratio| {
        let interval = format::interval(ratio.low, ratio.high);
        format!(", and the ratio {} {interval}", format::ratio(ratio.ratio))
    });
    format!("Without driver costs the verdict would be {without} and not {verdict}{ratio}.")
}
