//! Sweeps over the size of values: their comparisons put together.

use crate::{ComparisonOutcome, Crossover, SweepPoint, Verdict, crossover};
use serde::Serialize;
use stowplan_model::{CellFailure, Comparison, Plan, Role, Sweep, Workload};

/// Two stores compared at many sizes of values.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SweepOutcome {
    /// The sweep, with the names of its stores.
    pub sweep: Sweep,
    /// What was done to them.
    pub workload: Workload,
    /// Whether both promise the same for what they wrote; true for reads.
    pub same_durability: bool,
    /// The sizes of which anything was measured, rising; a ratio is time of B over time of A. A
    /// size that ran and failed has no figure; one that was only planned is no point.
    pub points: Vec<SweepPoint>,
    /// The comparison that each point comes from, in the order of the points.
    pub comparisons: Vec<String>,
    /// Comparisons that ran and count for nothing: their sizes were measured again.
    pub superseded: Vec<String>,
    /// Comparisons that were planned and never ran.
    pub unmeasured: Vec<String>,
    /// Every size that was planned, measured or not, rising.
    pub planned: Vec<u64>,
    /// Bytes that the stores A and B took on disk, allocated, per byte of the values, in the order of the
    /// points; nothing where it is not known.
    pub space: Vec<[Option<f64>; 2]>,
    /// What they say together.
    pub finding: Crossover,
}

/// One outcome per sweep of the plan.
pub(crate) fn outcomes(
    plan: &Plan,
    comparisons: &[ComparisonOutcome],
    failures: &[&CellFailure],
) -> Vec<SweepOutcome> {
    let sweeps = plan.sweeps.iter();
    sweeps
        .filter_map(|sweep| outcome(sweep, plan, comparisons, failures))
        .collect()
}

/// A comparison of a sweep.
struct Member<'a> {
    size: u64,
    planned: &'a Comparison,
    outcome: &'a ComparisonOutcome,
    failed: bool,
}

impl Member<'_> {
    /// Bytes on disk per byte of the values, of A and of B.
    fn space(&self) -> [Option<f64>; 2] {
        [Role::Baseline, Role::Candidate].map(|role| {
            let cell = self.planned.with_role(role)?;
            let mut summaries = self.outcome.cells.iter();
            let of_it = summaries.find(|summary| summary.cell.id == cell.id)?;
            of_it.space_per_value_byte
        })
    }

    /// Whether anything came of it; else it was only planned.
    fn ran(&self) -> bool {
        self.outcome.was_measured() || self.failed
    }
}

fn outcome(
    sweep: &Sweep,
    plan: &Plan,
    comparisons: &[ComparisonOutcome],
    failures: &[&CellFailure],
) -> Option<SweepOutcome> {
    let all = plan.comparisons.iter().zip(comparisons);
    let mut members: Vec<Member<'_>> = all
        .filter_map(|(planned, outcome)| {
            Some(Member {
                size: sweep.size_of(planned)?,
                planned,
                outcome,
                failed: outcome.has_failed(failures),
            })
        })
        .collect();
    members.sort_by_key(|member| member.size);
    let first = members.first()?.planned;
    let workload = first.with_role(Role::Baseline)?.workload.clone();
    let (mut points, mut space) = (Vec::new(), Vec::new());
    let (mut of_points, mut superseded, mut unmeasured) = (Vec::new(), Vec::new(), Vec::new());
    for same in members.chunk_by(|a, b| a.size == b.size) {
        let chosen = chosen(same);
        points.extend(chosen.map(point));
        space.extend(chosen.map(Member::space));
        of_points.extend(chosen.map(|member| member.planned.id.clone()));
        for member in same {
            let id = &member.planned.id;
            if chosen.is_some_and(|chosen| chosen.planned.id == *id) {
                continue;
            }
            let list = if member.ran() {
                &mut superseded
            } else {
                &mut unmeasured
            };
            list.push(id.clone());
        }
    }
    let mut planned: Vec<u64> = members.iter().map(|member| member.size).collect();
    planned.dedup();
    let mut contrasts = members.iter().flat_map(|member| &member.outcome.contrasts);
    Some(SweepOutcome {
        sweep: sweep.clone(),
        same_durability: contrasts.all(|contrast| contrast.same_durability),
        workload,
        finding: crossover(&points),
        points,
        space,
        comparisons: of_points,
        superseded,
        unmeasured,
        planned,
    })
}

/// Of the comparisons of one size, in running order, the one that counts: the last that has
/// rounds, else one that failed. A repetition that is only planned replaces nothing.
fn chosen<'a, 'b>(same: &'b [Member<'a>]) -> Option<&'b Member<'a>> {
    let mut later_first = same.iter().rev();
    later_first
        .find(|member| member.outcome.was_measured())
        .or_else(|| same.iter().find(|member| member.failed))
}

/// B over A at one size; without data if it ran and gave none.
fn point(member: &Member<'_>) -> SweepPoint {
    let of_b = |cell: &&crate::ContrastOutcome| {
        let b = member.planned.with_role(Role::Candidate);
        b.is_some_and(|b| b.id == cell.cell)
    };
    match member.outcome.contrasts.iter().find(of_b) {
        Some(contrast) => SweepPoint::of(member.size, contrast),
        None => SweepPoint {
            size: member.size,
            estimate: None,
            verdict: Verdict::NoData,
        },
    }
}
