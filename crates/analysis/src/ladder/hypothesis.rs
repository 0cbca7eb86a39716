//! A claim that one cost is larger than another.

use super::{Cost, Measured, MissingRung, cost::Terms};
use crate::{CellSummary, Interval};
use serde::Serialize;
use stowplan_model::{CellId, DifferenceSpec, HypothesisSpec};

/// What became of a claim. Times are nanoseconds per operation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HypothesisOutcome {
    /// Its name in the study file.
    pub id: String,
    /// The claim, in a sentence.
    pub claim: String,
    /// Where it stands.
    pub source: Option<String>,
    /// The comparison whose cells test it.
    pub comparison: String,
    /// The cost that is said to be larger.
    pub larger: DifferenceOutcome,
    /// The cost that is said to be smaller.
    pub smaller: DifferenceOutcome,
    /// The cell of whose whole time the larger is a part, and that time.
    pub of: Option<(CellId, Interval)>,
    /// The larger less the smaller, per round.
    pub difference: Option<Cost>,
    /// The judgement.
    pub verdict: ClaimVerdict,
    /// Cells that it needs and that were not measured.
    pub missing: Vec<MissingRung>,
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
    pub cost: Option<Cost>,
}

/// The judgement on a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimVerdict {
    /// The interval of the difference lies above 0.
    Holds,
    /// It lies below 0.
    DoesNotHold,
    /// It contains 0.
    Undecided,
    /// The control failed: nothing is claimed.
    Unreliable,
    /// Too few rounds, or a cell is missing.
    NoData,
}

/// Tests the claim; nothing where its comparison was not measured at all.
pub(crate) fn hypothesis(
    spec: &HypothesisSpec,
    measured: Measured<'_>,
) -> Option<HypothesisOutcome> {
    if !measured.outcome.was_measured() {
        return None;
    }
    let mut missing = Vec::new();
    let larger = pair(&spec.larger, &measured, &mut missing);
    let smaller = pair(&spec.smaller, &measured, &mut missing);
    let difference = larger.as_ref().zip(smaller.as_ref());
    let terms = difference.map(|(larger, smaller)| larger.clone().minus(smaller));
    let difference = terms.as_ref().and_then(|terms| measured.cost(terms));
    let beside = terms.as_ref().and_then(|terms| measured.cost_beside(terms));
    let of = spec.of.as_ref();
    let of = of.and_then(|key| measured.measured(key).ok());
    Some(HypothesisOutcome {
        id: spec.id.clone(),
        claim: spec.claim.clone(),
        source: spec.source.clone(),
        comparison: measured.outcome.id.clone(),
        larger: outcome(&spec.larger, larger.as_ref(), &measured),
        smaller: outcome(&spec.smaller, smaller.as_ref(), &measured),
        of: of.and_then(|cell| Some((cell.cell.id.clone(), cell.time_ns?))),
        verdict: verdict(difference.as_ref(), beside, measured.outcome.reliable),
        difference,
        missing,
    })
}

fn pair<'a>(
    spec: &DifferenceSpec,
    measured: &Measured<'a>,
    missing: &mut Vec<MissingRung>,
) -> Option<Terms<'a>> {
    let mut found = |key: &String| -> Option<&'a CellSummary> {
        measured
            .measured(key)
            .map_err(|why| {
                missing.push(MissingRung {
                    cell: key.clone(),
                    step: spec.label.clone(),
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
fn verdict(difference: Option<&Cost>, beside: Option<Cost>, reliable: bool) -> ClaimVerdict {
    let both =
        |holds: fn(&Cost) -> bool, cost: &Cost| holds(cost) && beside.as_ref().is_none_or(holds);
    match difference {
        None => ClaimVerdict::NoData,
        Some(_) if !reliable => ClaimVerdict::Unreliable,
        Some(cost) if both(|cost| cost.low > 0.0, cost) => ClaimVerdict::Holds,
        Some(cost) if both(|cost| cost.high < 0.0, cost) => ClaimVerdict::DoesNotHold,
        Some(_) => ClaimVerdict::Undecided,
    }
}
