//! What drivers cost: the loop that a driver puts around every operation is part of each time of its
//! cells. No time and no ratio is reduced by it; what is said here stands beside them, so that nobody
//! takes a loop for a store.

use crate::{
    CellDriverCost, CellSummary, ComparisonOutcome, Metric, blocks::location, gathered::Gathered,
    judge::Judge,
};
use stowplan_model::{BlockKind, Cell, Measurement, Warning, WarningKind, Workload};

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
    let logs = judge.shared.log_times(&cell.id, metric);
    let logs: Vec<f64> = logs.into_iter().map(|(_, log)| log).collect();
    let time = location(&logs, metric).filter(|_| cell.workload.threads <= 1)?;
    Some((metric, time.estimate))
}

/// A warning for each driver whose cost is, in the time of some cell that can be chosen, more than the
/// least difference that counts: so much alone can turn equivalent into slower.
pub(crate) fn warnings<'a>(
    comparisons: impl Iterator<Item = &'a ComparisonOutcome>,
    equivalence: f64,
) -> Vec<Warning> {
    let rivals = comparisons.flat_map(ComparisonOutcome::rivals);
    let mut large: Vec<(&CellSummary, CellDriverCost, f64)> = rivals
        .filter_map(|cell| Some((cell, cell.driver_cost?, cell.driver_cost?.share?)))
        .filter(|(_, _, share)| *share > equivalence)
        .collect();
    large.sort_by(|a, b| b.2.total_cmp(&a.2));
    let mut warnings = Vec::new();
    while let Some(worst) = large.first().copied() {
        let driver = worst.0.cell.driver.as_str();
        let all = large.len();
        large.retain(|(cell, ..)| cell.cell.driver.as_str() != driver);
        warnings.push(large_share(worst, all - large.len() - 1, equivalence));
    }
    warnings
}

fn large_share(
    (worst, cost, share): (&CellSummary, CellDriverCost, f64),
    others: usize,
    equivalence: f64,
) -> Warning {
    let whose = match worst.cell.driver.as_str() {
        "" => "The program's own loop".to_owned(),
        driver => format!("The loop of driver {driver}"),
    };
    let others = match others {
        0 => String::new(),
        n => format!(
            ", and more than {:.0}% of that of {n} other cell{}",
            equivalence * 100.0,
            if n == 1 { "" } else { "s" }
        ),
    };
    let time = match cost.of {
        Some(Metric::Corrected) => "corrected time",
        _ => "wall time",
    };
    let at_least = if cost.at_least { "at least " } else { "" };
    Warning {
        kind: WarningKind::Other,
        message: format!(
            "{whose} costs {at_least}{:.0} ns per operation: {at_least}{:.0}% of the {time} of {}{others}",
            cost.ns,
            share * 100.0,
            worst.cell.id
        ),
        advice: "Ratios between cells of one driver are nearer to 1 for it, and those to cells of \
                 another driver are of both loops as well: measure larger values, or more work per \
                 operation."
            .to_owned(),
    }
}
