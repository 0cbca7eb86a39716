//! What drivers cost beside the times and ratios of a comparison. Nothing is subtracted from any.

use crate::document::{Block, Detail, Tone, bullets, plain, remark, toned};
use crate::{findings, format, wording};
use stowplan_analysis::{
    Analysis, CellSummary, ComparisonOutcome, ContrastDriverCost, ContrastOutcome, Verdict,
};

/// More ratios between cells of two drivers than this are told only to those who ask for everything.
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
    let text = format!("Driver cost, which is part of every time here: {costs}.");
    let ratios: Vec<(&ContrastOutcome, Block)> = findings::between_stores(comparison)
        .filter_map(|contrast| Some((contrast, of_ratio(analysis, comparison, contrast)?)))
        .collect();
    let shown = ratios.len() <= RATIOS;
    let ratios = ratios.into_iter().map(|(contrast, block)| {
        let changes = contrast.verdict_without_drivers().is_some();
        block.at(Detail::normal_if(shown || changes))
    });
    [remark(text)].into_iter().chain(ratios).collect()
}

/// `python 232 ns per operation (3.8% to 12% of the times of its cells)`
fn cost(comparison: &ComparisonOutcome, driver: &str) -> String {
    let name = match driver {
        "" => "the program's own loop",
        driver => driver,
    };
    let cells = comparison.cells.iter();
    let costs = cells
        .filter(|cell| cell.cell.store.driver() == driver)
        .filter_map(|cell| cell.driver_cost);
    let range = |of: fn(f64) -> String, values: &mut dyn Iterator<Item = f64>| {
        let ends = values.map(|value| (value, value));
        let ends = ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
        let (least, most) = (of(ends.0), of(ends.1));
        Some(match least == most {
            true => most,
            false => format!("{least} to {most}"),
        })
    };
    let ns = range(format::time, &mut costs.clone().map(|cost| cost.ns));
    let shares = range(format::percent, &mut costs.map(|cost| cost.share));
    match ns.zip(shares) {
        Some((ns, shares)) => format!("{name} {ns} per operation ({shares} of the time)"),
        None => format!("{name} an unknown time, because it measured no store that does nothing"),
    }
}

/// What the costs of two drivers may be of the difference between two cells.
fn of_ratio(
    analysis: &Analysis,
    comparison: &ComparisonOutcome,
    contrast: &ContrastOutcome,
) -> Option<Block> {
    let cost = contrast.driver_cost?;
    let cell = comparison.cell(&contrast.cell)?;
    let reference = comparison.cell(&contrast.reference)?;
    let name = |cell: &CellSummary| wording::quoted(&cell.cell.label);
    let part = part(&cost);
    let text = format!("{} and {}: {part}.", name(cell), name(reference));
    let text = plain(wording::sentence(analysis, &text));
    let text = match contrast.verdict_without_drivers() {
        None => text,
        Some(without) => text.then(toned(
            format!(" {}", changed(contrast.verdict, without, &cost)),
            Tone::Warning,
        )),
    };
    bullets([text])
}

/// `of the 2.20 µs between them, 189 ns (8.6%) may be the drivers'`
fn part(cost: &ContrastDriverCost) -> String {
    let time = |ns: f64| format::time(ns.abs());
    let (difference, between) = (time(cost.difference_ns), time(cost.of_ns));
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

/// `Without it the ratio would be 1.02 [0.98, 1.06], equivalent and not slower.`
fn changed(verdict: Verdict, without: Verdict, cost: &ContrastDriverCost) -> String {
    let (verdict, without) = (verdict.in_words(), without.in_words());
    let ratio = cost.ratio_without.map_or_else(String::new, |ratio| {
        let interval = format::interval(ratio.low, ratio.high);
        format!(
            "the ratio would be {} {interval}, and ",
            format::ratio(ratio.ratio)
        )
    });
    let verdict = format!("the verdict {without} and not {verdict}");
    format!("Without driver costs {ratio}{verdict}.")
}
