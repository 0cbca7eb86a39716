//! Verdicts on slow operations: what of a block is compared where a comparison is about a percentile of its
//! operations, or about the slowest.
//!
//! The unit is the block, as it is for times: each gives one figure, and the ratios of rounds go the way of
//! all others, by the median and the interval of the sign test. That interval asks nothing of a distribution,
//! neither moments nor a density at the percentile, so that it holds for maxima of heavy tails as for
//! medians (docs/method.md, "Slow operations").

use crate::{CellSummary, ComparisonOutcome, summary::decode};
use serde::Serialize;
use stowplan_model::{Measurement, Statistic};

/// The figure of one block, in nanoseconds; nothing where it has fewer operations than that takes, or their
/// times were not taken or cannot be read.
pub(crate) fn of_block(block: &Measurement, measure: Statistic) -> Option<u64> {
    let share = measure.share()?;
    let histogram = decode(block.latency.as_ref()?).ok()?;
    if histogram.len() < measure.least_operations() {
        return None;
    }
    Some(match measure {
        Statistic::Max => histogram.max(),
        _ => histogram.value_at_quantile(share),
    })
}

/// From how many operations something is claimed of slow ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Basis {
    /// Operations of the median block.
    pub of_a_block: u64,
    /// Of all blocks together.
    pub operations: u64,
    /// Those of them that are expected beyond the percentile; of the slowest of each block, the blocks.
    pub beyond: u64,
}

impl Basis {
    /// That of a cell; nothing where times of all operations are compared, or nothing was measured.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number of operations"
    )]
    pub fn of(comparison: &ComparisonOutcome, cell: &CellSummary) -> Option<Self> {
        let share = comparison.measure.share()?;
        let rounds = cell.rounds as u64;
        let beyond = match comparison.measure {
            Statistic::Max => rounds,
            _ => (cell.operations as f64 * (1.0 - share)).round() as u64,
        };
        Some(Self {
            of_a_block: cell.operations.checked_div(rounds)?,
            operations: cell.operations,
            beyond,
        })
    }
}

#[cfg(test)]
mod tests;
