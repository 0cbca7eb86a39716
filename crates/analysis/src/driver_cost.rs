//! What drivers cost: the loop that a driver puts around every operation is part of each time of its
//! cells. No time and no ratio is reduced by it; what is said here stands beside them, so that nobody
//! takes a loop for a store.

use crate::{
    Analysis, CellSummary, ComparisonOutcome, ContrastOutcome, Metric, RatioEstimate, Verdict,
    gathered::Gathered, judge::Judge, stopping, summary::location,
};
use serde::Serialize;
use std::collections::BTreeSet;
use stowplan_model::{BlockKind, Cell, CellId, Role, Warning, WarningKind};

/// What the loop of a cell's driver costs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CellDriverCost {
    /// Nanoseconds per operation, measured with a store that does nothing, in blocks like those of
    /// the cell; of several threads, which loop side by side, each operation has its part.
    pub ns: f64,
    /// What it is a part of: the time of the cell per operation. It is corrected time wherever that is
    /// known, as the cost is, also where the headline is wall time: a loop waits no longer for a CPU
    /// than what it surrounds.
    pub of_ns: f64,
    /// Which time that is.
    pub of: Metric,
    /// The cost's share of it, 0 to 1; above, the store takes less than the noise.
    pub share: f64,
}

/// What the costs of two drivers may be of the difference between two cells of theirs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ContrastDriverCost {
    /// Driver cost of the cell less that of the reference, nanoseconds per operation.
    pub difference_ns: f64,
    /// Time of the cell less that of the reference, each as [`CellDriverCost::of_ns`]: what the first is
    /// to be seen beside.
    pub of_ns: f64,
    /// The first over the second: the part of the difference that may be the drivers'. Below 0 the
    /// slower cell has the cheaper driver.
    pub share: f64,
    /// The ratio of what is left of both times without their driver costs; nothing where nothing is
    /// left. It describes: no verdict and no recommendation rests on it.
    pub ratio_without: Option<RatioEstimate>,
    /// The verdict that this ratio would have; nothing where none is claimed of the one measured.
    pub verdict_without: Option<Verdict>,
}

impl ContrastDriverCost {
    /// The same with numerator and denominator swapped.
    #[must_use]
    pub fn inverse(&self) -> Self {
        Self {
            difference_ns: -self.difference_ns,
            of_ns: -self.of_ns,
            share: self.share,
            ratio_without: self.ratio_without.map(|ratio| ratio.inverse()),
            verdict_without: self.verdict_without.map(Verdict::inverse),
        }
    }
}

impl ComparisonOutcome {
    /// The drivers of its cells by name, the program itself being the empty one; those of parts, which
    /// are compared with nothing, are not among them.
    #[must_use]
    pub fn drivers(&self) -> BTreeSet<&str> {
        let cells = self.cells.iter();
        let compared = cells.filter(|cell| cell.cell.role != Role::Part);
        compared.map(|cell| cell.cell.store.driver()).collect()
    }
}

impl ContrastOutcome {
    /// The verdict that the ratio would have without the costs of both drivers, where that is another
    /// one.
    #[must_use]
    pub fn verdict_without_drivers(&self) -> Option<Verdict> {
        let without = self.driver_cost?.verdict_without?;
        (without != self.verdict).then_some(without)
    }
}

/// What the driver of a cell costs beside its time, where both were measured.
pub(crate) fn of_cell(
    cell: &Cell,
    judge: &Judge<'_>,
    gathered: &Gathered<'_>,
) -> Option<CellDriverCost> {
    let cost = gathered.driver_cost(cell.store.driver())?;
    let is_latency = |block| block == BlockKind::Latency;
    let mut blocks = judge.blocks.of_cell(&cell.id);
    let per_loop = match blocks.next().is_some_and(|m| is_latency(m.block)) {
        true => cost.latency_ns,
        false => cost.ratio_ns,
    };
    let ns = per_loop / f64::from(cell.workload.threads.max(1));
    let mut blocks = judge.blocks.of_cell(&cell.id);
    let of = match blocks.all(|m| m.run_delay_ns.is_some()) {
        true => Metric::Corrected,
        false => Metric::Wall,
    };
    let logs = judge.blocks.log_times(&cell.id, of);
    let logs: Vec<f64> = logs.into_iter().map(|(_, log)| log).collect();
    let of_ns = location(&logs, of)?.estimate;
    Some(CellDriverCost {
        ns,
        of_ns,
        of,
        share: ns / of_ns,
    })
}

/// What the costs of the drivers of two cells may be of their ratio; nothing where one driver hosts
/// both, or a cost is not known. `zone` is δ of the verdicts.
pub(crate) fn of_contrast(
    contrast: &ContrastOutcome,
    cells: &[CellSummary],
    zone: f64,
) -> Option<ContrastDriverCost> {
    let find = |id: &CellId| cells.iter().find(|summary| summary.cell.id == *id);
    let (cell, reference) = (find(&contrast.cell)?, find(&contrast.reference)?);
    if cell.cell.store.driver() == reference.cell.store.driver() {
        return None;
    }
    let (ours, theirs) = (cell.driver_cost?, reference.driver_cost?);
    let (difference_ns, of_ns) = (ours.ns - theirs.ns, ours.of_ns - theirs.of_ns);
    let ratio_without = contrast.estimate.and_then(|ratio| {
        let left = |ratio: f64| (ratio * theirs.of_ns - ours.ns) / (theirs.of_ns - theirs.ns);
        let left = RatioEstimate {
            ratio: left(ratio.ratio),
            raw_low: left(ratio.raw_low),
            raw_high: left(ratio.raw_high),
            low: left(ratio.low),
            high: left(ratio.high),
            rounds: ratio.rounds,
        };
        (theirs.of_ns > theirs.ns && left.raw_low.min(left.low) > 0.0).then_some(left)
    });
    let verdict_without = match contrast.verdict {
        Verdict::Unreliable | Verdict::NoData => None,
        // Of times that are nothing but loops nothing is left to say.
        _ => Some(ratio_without.map_or(Verdict::Unresolved, |left| {
            stopping::verdict(left.low.ln(), left.high.ln(), zone)
        })),
    };
    Some(ContrastDriverCost {
        difference_ns,
        of_ns,
        share: difference_ns / of_ns,
        ratio_without,
        verdict_without,
    })
}

/// Where driver costs are a share of times that counts, and where verdicts are other ones for them.
pub(crate) fn warnings(analysis: &Analysis) -> Vec<Warning> {
    let comparisons: Vec<&ComparisonOutcome> = analysis
        .comparisons
        .iter()
        .filter(|comparison| !analysis.is_superseded(comparison))
        .collect();
    let costs = large_shares(&comparisons, analysis.run.equivalence);
    costs.into_iter().chain(changed(&comparisons)).collect()
}

/// A warning for each driver whose cost is, in the time of some cell that can be chosen, more than the
/// least difference that counts: so much alone can turn equivalent into slower.
fn large_shares(comparisons: &[&ComparisonOutcome], equivalence: f64) -> Vec<Warning> {
    let rivals = comparisons
        .iter()
        .flat_map(|comparison| comparison.rivals());
    let mut large: Vec<(&CellSummary, CellDriverCost)> = rivals
        .filter_map(|cell| Some((cell, cell.driver_cost?)))
        .filter(|(_, cost)| cost.share > equivalence)
        .collect();
    large.sort_by(|a, b| b.1.share.total_cmp(&a.1.share));
    let mut warnings = Vec::new();
    while let Some((worst, cost)) = large.first().copied() {
        let driver = worst.cell.store.driver();
        let all = large.len();
        large.retain(|(cell, _)| cell.cell.store.driver() != driver);
        warnings.push(large_share(worst, cost, all - large.len() - 1, equivalence));
    }
    warnings
}

fn large_share(
    worst: &CellSummary,
    cost: CellDriverCost,
    others: usize,
    equivalence: f64,
) -> Warning {
    let whose = match worst.cell.store.driver() {
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
    Warning {
        kind: WarningKind::Other,
        message: format!(
            "{whose} costs {:.0} ns per operation: {:.0}% of the time of {}{others}",
            cost.ns,
            cost.share * 100.0,
            worst.cell.id
        ),
        advice: "Ratios between cells of one driver are nearer to 1 for it, and those to cells of \
                 another driver are of both loops as well: measure larger values, or more work per \
                 operation."
            .to_owned(),
    }
}

/// A warning where a ratio between cells of two drivers would have another verdict without their costs.
fn changed(comparisons: &[&ComparisonOutcome]) -> Option<Warning> {
    let mut found = Vec::new();
    for comparison in comparisons {
        let is_rival = |id: &CellId| comparison.rivals().any(|cell| cell.cell.id == *id);
        let contrasts = comparison.contrasts.iter();
        let rivals = contrasts.filter(|c| is_rival(&c.cell) && is_rival(&c.reference));
        found.extend(rivals.filter_map(|c| Some((c, c.verdict_without_drivers()?))));
    }
    let ((first, without), others) = found.split_first()?;
    let others = match others.len() {
        0 => String::new(),
        1 => "; so does one other ratio".to_owned(),
        n => format!("; so do {n} other ratios"),
    };
    Some(Warning {
        kind: WarningKind::Other,
        message: format!(
            "{} against {} changes its verdict without what the loops of both drivers cost, from {} \
             to {}{others}",
            first.cell,
            first.reference,
            first.verdict.in_words(),
            without.in_words()
        ),
        advice: "Do not take it for a difference between stores alone.".to_owned(),
    })
}
