//! A cost in nanoseconds per operation, as a sum of cells' times in the same round.

use crate::estimate::median;
use crate::{ALPHA_PER_LOOK, Estimate, Interval, Metric, blocks::Blocks};
use std::collections::BTreeMap;
use stowplan_model::CellId;

/// Cells and how often the time of each counts; less than 0: it is taken away.
#[derive(Debug, Clone, Default)]
pub(crate) struct Terms<'a> {
    of: BTreeMap<&'a CellId, f64>,
}

impl<'a> Terms<'a> {
    /// What `cell` costs more than `without`.
    pub(crate) fn difference(cell: &'a CellId, without: &'a CellId) -> Self {
        let mut terms = Self::default();
        terms.add(cell, 1.0);
        terms.add(without, -1.0);
        terms
    }

    fn add(&mut self, cell: &'a CellId, often: f64) {
        *self.of.entry(cell).or_default() += often;
        self.of.retain(|_, often| *often != 0.0);
    }
}

/// The cost over the rounds that all cells have, with the exact interval of its rounds; nothing
/// with fewer rounds than an interval needs, or without any term.
///
/// The noise floor φ bounds how far a *ratio* of two times can be off by drift that an interval does
/// not see. What is added and what is taken away are two such times, so their difference can be
/// off by `e^φ − 1` of the larger of them: of 6 µs less 3 µs, 1% is 60 ns and not 30.
pub(super) fn cost(
    blocks: &Blocks<'_>,
    terms: &Terms<'_>,
    metric: Metric,
    noise_floor: f64,
) -> Option<Interval> {
    let times: Vec<(BTreeMap<u32, f64>, f64)> = terms
        .of
        .iter()
        .map(|(cell, often)| (times(blocks, cell, metric), *often))
        .collect();
    let (first, _) = times.first()?;
    let complete = |round: &&u32| times.iter().all(|(of, _)| of.contains_key(round));
    let rounds: Vec<u32> = first.keys().filter(complete).copied().collect();
    let per_round: Vec<f64> = rounds
        .iter()
        .map(|round| times.iter().map(|(of, often)| of[round] * often).sum())
        .collect();
    let estimate = Estimate::hodges_lehmann(&per_round, ALPHA_PER_LOOK)?;
    let side = |sign: f64| -> Option<f64> {
        let shares = times.iter().filter(|(_, often)| often * sign > 0.0);
        let typical = |(of, often): &(BTreeMap<u32, f64>, f64)| {
            Some(median(rounds.iter().map(|r| of[r]).collect())? * often.abs())
        };
        shares.map(typical).sum()
    };
    let widening = noise_floor.exp_m1() * side(1.0)?.max(side(-1.0)?);
    let (low, high) = estimate.widened(widening);
    Some(Interval::new(estimate.estimate, low, high))
}

/// Nanoseconds per operation by round.
fn times(blocks: &Blocks<'_>, cell: &CellId, metric: Metric) -> BTreeMap<u32, f64> {
    let logs = blocks.log_times(cell, metric).into_iter();
    logs.map(|(round, log)| (round, log.exp())).collect()
}
