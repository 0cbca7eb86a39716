//! A cost in nanoseconds per operation: the difference of two cells' times in the same round.

use crate::estimate::median;
use crate::{ALPHA_PER_LOOK, Estimate, Interval, Metric, blocks::Blocks};
use std::collections::BTreeMap;
use stowplan_model::CellId;

/// What `cell` takes more than `without`, over the rounds that both have, with the exact interval of its
/// rounds; nothing with fewer rounds than an interval needs.
///
/// The noise floor φ bounds how far a *ratio* of two times can be off by drift that an interval does
/// not see, so their difference can be off by `e^φ − 1` of the larger of them: of 6 µs less 3 µs, 1% is
/// 60 ns and not 30.
pub(super) fn cost(
    blocks: &Blocks<'_>,
    (cell, without): (&CellId, &CellId),
    metric: Metric,
    noise_floor: f64,
) -> Option<Interval> {
    let less: BTreeMap<u32, f64> = blocks.log_times(without, metric).into_iter().collect();
    let both = blocks.log_times(cell, metric).into_iter();
    let both = both.filter_map(|(round, log)| Some((log.exp(), less.get(&round)?.exp())));
    let (more, less): (Vec<f64>, Vec<f64>) = both.unzip();
    let differences: Vec<f64> = more
        .iter()
        .zip(&less)
        .map(|(more, less)| more - less)
        .collect();
    let estimate = Estimate::hodges_lehmann(&differences, ALPHA_PER_LOOK)?;
    let larger = median(more)?.max(median(less)?);
    let (low, high) = estimate.widened(noise_floor.exp_m1() * larger);
    Some(Interval::new(estimate.estimate, low, high))
}
