//! Claims that one cost is larger than another, each the difference of two cells.

use super::{ClaimVerdict, MissingCell};
use crate::ladder::{Measured, Terms};
use crate::{CellSummary, Interval};
use serde::Serialize;
use stowplan_model::{CellId, DifferenceSpec};

/// The two costs of a claim. Times are nanoseconds per operation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CostsOutcome {
    /// The cost that is said to be larger.
    pub larger: DifferenceOutcome,
    /// The cost that is said to be smaller.
    pub smaller: DifferenceOutcome,
    /// The cell of whose whole time the larger is a part, and that time.
    pub of: Option<(CellId, Interval)>,
    /// The larger less the smaller, per round.
    pub difference: Option<Interval>,
}

/// A cost as the difference of two cells.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DifferenceOutcome {
    /// What it is, in words.
    pub label: String,
    /// The cell that has it.
    pub cell: String,
    /// The cell that has everything but this.
    pub without: String,
    /// What it costs.
    pub cost: Option<Interval>,
}

impl CostsOutcome {
    /// What would be compared.
    pub(super) fn unmeasured(larger: &DifferenceSpec, smaller: &DifferenceSpec) -> Self {
        let side = |spec: &DifferenceSpec| DifferenceOutcome {
            label: spec.label.clone(),
            cell: spec.cell.clone(),
            without: spec.without.clone(),
            cost: None,
        };
        Self {
            larger: side(larger),
            smaller: side(smaller),
            of: None,
            difference: None,
        }
    }
}

/// Compares the costs. It is decided per round, so that what both are measured above cancels.
pub(super) fn compare(
    (larger, smaller): (&DifferenceSpec, &DifferenceSpec),
    of: Option<&String>,
    measured: &Measured<'_>,
    missing: &mut Vec<MissingCell>,
) -> (CostsOutcome, ClaimVerdict) {
    let more = pair(larger, measured, missing);
    let less = pair(smaller, measured, missing);
    let terms = more.as_ref().zip(less.as_ref());
    let terms = terms.map(|(more, less)| more.clone().minus(less));
    let difference = terms.as_ref().and_then(|terms| measured.cost(terms));
    let beside = terms.as_ref().and_then(|terms| measured.cost_beside(terms));
    let whole = of.and_then(|key| measured.measured(key).ok());
    let verdict = verdict(difference.as_ref(), beside, measured.outcome.reliable);
    let costs = CostsOutcome {
        larger: outcome(larger, more.as_ref(), measured),
        smaller: outcome(smaller, less.as_ref(), measured),
        of: whole.and_then(|cell| Some((cell.cell.id.clone(), cell.time_ns?))),
        difference,
    };
    (costs, verdict)
}

fn pair<'a>(
    spec: &DifferenceSpec,
    measured: &Measured<'a>,
    missing: &mut Vec<MissingCell>,
) -> Option<Terms<'a>> {
    let mut found = |key: &String| -> Option<&'a CellSummary> {
        measured
            .measured(key)
            .map_err(|why| {
                missing.push(MissingCell {
                    cell: key.clone(),
                    why,
                });
            })
            .ok()
    };
    let (cell, without) = (found(&spec.cell), found(&spec.without));
    Some(Terms::difference(&cell?.cell.id, &without?.cell.id))
}

fn outcome(
    spec: &DifferenceSpec,
    terms: Option<&Terms<'_>>,
    measured: &Measured<'_>,
) -> DifferenceOutcome {
    DifferenceOutcome {
        label: spec.label.clone(),
        cell: spec.cell.clone(),
        without: spec.without.clone(),
        cost: terms.and_then(|terms| measured.cost(terms)),
    }
}

/// `beside`: the difference by corrected time, where the headline is wall time because blocks sleep; a
/// judgement needs both.
fn verdict(
    difference: Option<&Interval>,
    beside: Option<Interval>,
    reliable: bool,
) -> ClaimVerdict {
    let both = |holds: fn(&Interval) -> bool, cost: &Interval| {
        holds(cost) && beside.as_ref().is_none_or(holds)
    };
    match difference {
        None => ClaimVerdict::NoData,
        Some(_) if !reliable => ClaimVerdict::Unreliable,
        Some(cost) if both(|cost| cost.low > 0.0, cost) => ClaimVerdict::Holds,
        Some(cost) if both(|cost| cost.high < 0.0, cost) => ClaimVerdict::Fails,
        Some(_) => ClaimVerdict::Undecided,
    }
}
