//! What drivers cost beside the times and ratios of a comparison. Nothing is subtracted from any.

use crate::document::{Block, Detail, Medium, bullets, notice, remark};
use crate::{findings, format, wording};
use stowplan_analysis::{Analysis, CellDriverCost, ComparisonOutcome, ContrastOutcome, Metric};
use stowplan_model::{CellId, Role};

/// More ratios between cells of two drivers than this are told only to those who ask for everything.
const RATIOS: usize = 4;

/// What the loops of the drivers of a comparison cost, and what that may be of ratios between cells of
/// two of them; nothing where the program itself hosts all.
pub(super) fn blocks(analysis: &Analysis, comparison: &ComparisonOutcome) -> Vec<Block> {
    let drivers = comparison.drivers();
    if !comparison.was_measured() || drivers.iter().all(|driver| driver.is_empty()) {
        return Vec::new();
    }
    let mut rivals = comparison.rivals().filter_map(|cell| cell.driver_cost);
    let counts = rivals.any(|cost| cost.share > Some(analysis.run.equivalence));
    let costs = costs(comparison);
    let costs = if counts { notice(costs) } else { remark(costs) };
    [costs]
        .into_iter()
        .chain(ratios(analysis, comparison))
        .collect()
}

/// What each driver costs; the table says it of each cell.
fn costs(comparison: &ComparisonOutcome) -> String {
    let (mut known, mut unknown) = (Vec::new(), Vec::new());
    for driver in comparison.drivers() {
        let name = match driver {
            "" => "the program's own loop",
            driver => driver,
        };
        match cost(comparison, driver) {
            Some(cost) => known.push(format!("{name} {cost}")),
            None => unknown.push(name.to_owned()),
        }
    }
    let mut sentences = Vec::new();
    if !known.is_empty() {
        sentences.push(format!(
            "Driver cost per operation, which every time here contains, and its share of a cell's \
             {}: {}.",
            time(comparison),
            wording::list(&known)
        ));
    }
    if of_cells(comparison).any(|(_, cost)| cost.at_least) {
        sentences.push(
            "“At least”, because it was measured with reads by one thread in one transaction, and \
             the loops of these cells do more."
                .to_owned(),
        );
    }
    if !unknown.is_empty() {
        let unknown = wording::list(&unknown);
        sentences.push(format!("The driver cost of {unknown} is not known."));
    }
    sentences.join(" ")
}

/// What shares are of: where that is no headline time, it is said.
fn time(comparison: &ComparisonOutcome) -> &'static str {
    let mut costs = of_cells(comparison).map(|(_, cost)| cost.of);
    let is_corrected = costs.any(|of| of == Some(Metric::Corrected));
    match (comparison.metric, is_corrected) {
        (Metric::Wall, true) => "corrected time where that is known, not of wall time",
        _ => "time",
    }
}

/// The driver and its cost of each cell that is compared with others.
fn of_cells(
    comparison: &ComparisonOutcome,
) -> impl Iterator<Item = (&str, CellDriverCost)> + Clone {
    let cells = comparison.cells.iter();
    let compared = cells.filter(|cell| !matches!(cell.cell.role, Role::Control | Role::Part));
    compared.filter_map(|cell| Some((cell.cell.driver.as_str(), cell.driver_cost?)))
}

/// `at least 232 ns (3.8% to 12%)`; nothing of a driver whose cost is not known.
fn cost(comparison: &ComparisonOutcome, driver: &str) -> Option<String> {
    let costs = of_cells(comparison).filter(|(of, _)| *of == driver);
    let mut costs = costs.map(|(_, cost)| cost);
    let ns = format::span(costs.clone().map(|cost| cost.ns), format::time)?;
    let shares = format::span(costs.clone().filter_map(|cost| cost.share), format::share);
    let shares = shares.map_or_else(String::new, |shares| format!(" ({shares})"));
    let at_least = if costs.any(|cost| cost.at_least) {
        "at least "
    } else {
        ""
    };
    Some(format!("{at_least}{ns}{shares}"))
}

/// A line for each ratio between cells of two drivers that shows a difference, those to the baseline
/// first.
fn ratios(analysis: &Analysis, comparison: &ComparisonOutcome) -> Vec<Block> {
    let baseline = comparison.baseline().map(|cell| &cell.cell.id);
    let (to_baseline, others): (Vec<_>, Vec<_>) =
        findings::between_stores(comparison).partition(|c| Some(&c.reference) == baseline);
    let all = to_baseline.into_iter().chain(others);
    let texts = all.filter_map(|contrast| {
        let text = of_ratio(comparison, contrast)?;
        Some(wording::sentence(analysis, &text))
    });
    let mut first: Vec<String> = texts.collect();
    let more = first.split_off(first.len().min(RATIOS));
    let hint = format!("{} more with --verbose.", more.len());
    let hint = (!more.is_empty()).then(|| remark(hint).only(Medium::Hint));
    let more = bullets(more).map(|more| more.at(Detail::Full));
    bullets(first).into_iter().chain(more).chain(hint).collect()
}

/// What the costs of two drivers may be of the difference between two cells.
fn of_ratio(comparison: &ComparisonOutcome, contrast: &ContrastOutcome) -> Option<String> {
    let cost = contrast.driver_cost?;
    let name = |id: &CellId| Some(wording::quoted(&comparison.cell(id)?.cell.label));
    let (mut slower, mut faster) = (name(&contrast.cell)?, name(&contrast.reference)?);
    if cost.of_ns < 0.0 {
        (slower, faster) = (faster, slower);
    }
    let [difference, between] = [cost.difference_ns, cost.of_ns].map(|ns| format::time(ns.abs()));
    let ids = [&contrast.cell, &contrast.reference];
    let mut costs = ids
        .into_iter()
        .filter_map(|id| comparison.cell(id)?.driver_cost);
    let perhaps_more = if costs.any(|cost| cost.at_least) {
        ", and perhaps more"
    } else {
        ""
    };
    let is = match cost.share {
        share if share < 0.0 => {
            return Some(format!(
                "{slower} took {between} longer than {faster}, though its driver costs {difference} \
                 less."
            ));
        }
        share if share <= 1.0 => format!(
            "{difference} ({}) may be their drivers'{perhaps_more}",
            format::percent(share)
        ),
        _ => format!("all may be their drivers', whose costs are {difference} apart"),
    };
    Some(format!(
        "{slower} took longer than {faster}: of the {between} between them, {is}."
    ))
}
