//! What drivers cost: the loop that a driver puts around every operation is part of each time of its
//! cells. No time and no ratio is reduced by it; what is said here stands beside them, so that nobody
//! takes a loop for a store.

use crate::{
    CellDriverCost, CellSummary, ComparisonOutcome, Metric,
    blocks::{location, logs},
    gathered::Gathered,
    judge::Judge,
};
use std::collections::BTreeSet;
use stowplan_model::{BlockKind, Cell, Measurement, Warning, Workload};

/// What the driver of a cell costs beside its time, where both were measured.
pub(crate) fn of_cell(
    cell: &Cell,
    judge: &Judge<'_>,
    gathered: &Gathered<'_>,
) -> Option<CellDriverCost> {
    let cost = gathered.driver_cost(&cell.driver)?;
    let blocks: Vec<&Measurement> = judge.blocks.of_cell(&cell.id).collect();
    blocks.first()?;
    let reads_the_clock =
        |block: &&Measurement| block.block == BlockKind::Latency || block.latency.is_some();
    let ns = match blocks.iter().any(reads_the_clock) {
        true => cost.latency_ns,
        false => cost.ratio_ns,
    };
    let looped = |work: &Workload| (work.operation, work.per_transaction, work.threads);
    let of = comparable_time(cell, judge, &blocks);
    Some(CellDriverCost {
        ns,
        at_least: looped(&cell.workload) != looped(&Workload::default()),
        share: of.map(|(_, of_ns)| ns / of_ns),
        of: of.map(|(metric, _)| metric),
    })
}

/// The metric of what the driver of a cell costs, and the time of the cell per operation by that.
fn comparable_time(
    cell: &Cell,
    judge: &Judge<'_>,
    blocks: &[&Measurement],
) -> Option<(Metric, f64)> {
    let knows = |m: &&Measurement| m.corrected_ns().is_some();
    let metric = match blocks.iter().filter(|m| knows(m)).count() {
        0 => Metric::Wall,
        count if count == blocks.len() => Metric::Corrected,
        _ => return None,
    };
    let times = judge.shared.log_times(&cell.id, metric);
    let time = location(&logs(&times), metric).filter(|_| cell.workload.threads <= 1)?;
    Some((metric, time.estimate))
}

/// A warning for each driver whose cost is, in the time of some cell that can be chosen, more than the
/// least difference that counts: so much alone can turn equivalent into slower. Of several cells the worst is named.
pub(crate) fn large<'a>(
    comparisons: impl Iterator<Item = &'a ComparisonOutcome>,
    equivalence: f64,
) -> Vec<Warning> {
    let rivals = comparisons.flat_map(ComparisonOutcome::rivals);
    let shares = rivals.filter_map(|cell| {
        let cost = cell.driver_cost?;
        Some((cell, cost, cost.share?))
    });
    let mut large: Vec<(&CellSummary, CellDriverCost, f64)> = shares.collect();
    large.retain(|(_, _, share)| *share > equivalence);
    large.sort_by(|a, b| b.2.total_cmp(&a.2));
    let mut told = BTreeSet::new();
    large.retain(|(cell, ..)| told.insert(&cell.cell.driver));
    large.into_iter().map(large_share).collect()
}

fn large_share((cell, cost, share): (&CellSummary, CellDriverCost, f64)) -> Warning {
    let whose = match cell.cell.driver.as_str() {
        "" => "The program's own loop".to_owned(),
        driver => format!("The loop of driver {driver}"),
    };
    let time = match cost.of {
        Some(Metric::Corrected) => "corrected time",
        _ => "wall time",
    };
    let at_least = if cost.at_least { "at least " } else { "" };
    let message = format!(
        "{whose} costs {at_least}{:.0} ns per operation: {at_least}{:.0}% of the {time} of {}",
        cost.ns,
        share * 100.0,
        cell.cell.id
    );
    Warning::other(
        message,
        "Ratios between cells of one driver are nearer to 1 for it, and those to cells of another \
         driver are of both loops as well: measure larger values, or more work per operation.",
    )
}
