//! Verdicts on slow operations: what of a block is compared where a comparison is about a percentile of its
//! operations, or about the slowest.
//!
//! The unit is the block, as it is for times: each gives one figure, and the ratios of rounds go the way of
//! all others, by the median and the interval of the sign test. That interval asks nothing of a distribution,
//! neither moments nor a density at the percentile, so that it holds for maxima of heavy tails as for
//! medians (docs/method.md, "Slow operations").

use crate::latency::decode;
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

#[cfg(test)]
mod tests;
