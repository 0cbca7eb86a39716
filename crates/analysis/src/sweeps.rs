//! Sweeps over the size of values: their comparisons put together.

use crate::{ComparisonOutcome, SweepOutcome, SweepPoint, Verdict, crossover, interpolated_roots};
use stowplan_model::{Comparison, Plan, Role, Sweep};

/// One outcome per sweep of the plan of which something was measured.
pub(crate) fn outcomes(plan: &Plan, comparisons: &[ComparisonOutcome]) -> Vec<SweepOutcome> {
    let sweeps = plan.sweeps.iter();
    sweeps
        .filter_map(|sweep| outcome(sweep, plan, comparisons))
        .collect()
}

fn outcome(sweep: &Sweep, plan: &Plan, comparisons: &[ComparisonOutcome]) -> Option<SweepOutcome> {
    let all = plan.comparisons.iter().zip(comparisons);
    let mut members: Vec<(u64, &Comparison, &ComparisonOutcome)> = all
        .filter_map(|(planned, outcome)| Some((sweep.size_of(planned)?, planned, outcome)))
        .collect();
    // Of a size that was measured again, only the later comparison counts.
    members.reverse();
    members.sort_by_key(|(size, ..)| *size);
    members.dedup_by_key(|(size, ..)| *size);
    let points: Vec<SweepPoint> = members
        .iter()
        .map(|(size, planned, outcome)| point(*size, planned, outcome))
        .collect();
    let (_, first, _) = members.first()?;
    let mut durabilities = first.cells.iter().map(|cell| cell.capabilities.durability);
    let reference = durabilities.next()?;
    let workload = first.with_role(Role::Baseline)?.workload.clone();
    Some(SweepOutcome {
        sweep: sweep.clone(),
        same_durability: !workload.operation.writes() || durabilities.all(|d| d == reference),
        workload,
        finding: crossover(&points),
        roots: interpolated_roots(&points),
        points,
    })
}

/// B over A at one size; without data if it was not measured.
fn point(size: u64, planned: &Comparison, outcome: &ComparisonOutcome) -> SweepPoint {
    let of_b = |cell: &&crate::ContrastOutcome| {
        let b = planned.with_role(Role::Candidate);
        b.is_some_and(|b| b.id == cell.cell)
    };
    match outcome.contrasts.iter().find(of_b) {
        Some(contrast) => SweepPoint::of(size, contrast),
        None => SweepPoint {
            size,
            estimate: None,
            verdict: Verdict::NoData,
        },
    }
}
