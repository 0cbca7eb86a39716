//! What all operations of a block take, as mean and standard error over rounds: how studies that
//! repeat a whole run report it. Beside it stands our own estimate.

use crate::{
    Interval, Metric,
    blocks::time_ns,
    estimate::{mean, median, variance},
};
use serde::Serialize;
use stowplan_model::{Cell, Measurement};

/// The time of all operations of a block, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BlockTime {
    /// The operations that the times are of.
    pub operations: u64,
    /// Whether fewer were measured: a sample, extrapolated.
    pub extrapolated: bool,
    /// Arithmetic mean over rounds.
    pub mean_ns: f64,
    /// Standard error of that mean: the rounds' sample deviation over the root of their number;
    /// nothing with a single round.
    pub standard_error_ns: Option<f64>,
    /// Headline time per operation times the operations; the estimate that verdicts go with.
    pub estimate_ns: f64,
    /// The estimate without the one commit that ends the block; nothing where there are several commits
    /// or the block is a sample.
    pub before_commit_ns: Option<f64>,
}

/// The block time of a cell by the metric of its comparison; nothing without blocks.
pub(crate) fn block_time(
    cell: &Cell,
    blocks: &[&Measurement],
    metric: Metric,
    time_ns_per_operation: Option<Interval>,
    last_commit_ns: Option<f64>,
) -> Option<BlockTime> {
    let operations = operations(cell, blocks)?;
    let scaled =
        |m: &&Measurement| time_ns(m, metric) as f64 / m.operations as f64 * operations as f64;
    let times: Vec<f64> = blocks.iter().map(scaled).collect();
    if times.is_empty() {
        return None;
    }
    let extrapolated = cell.workload.sample_of.is_some();
    let estimate_ns = time_ns_per_operation?.estimate * operations as f64;
    let commit = last_commit_ns.filter(|_| !extrapolated);
    Some(BlockTime {
        operations,
        extrapolated,
        mean_ns: mean(&times),
        standard_error_ns: standard_error(&times),
        estimate_ns,
        before_commit_ns: commit.map(|commit| (estimate_ns - commit).max(0.0)),
    })
}

/// The operations that a block stands for: those that the workload fixes, or else those of the
/// median block.
fn operations(cell: &Cell, blocks: &[&Measurement]) -> Option<u64> {
    let fixed = cell.workload.operations.map(u64::from);
    let median = || median(blocks.iter().map(|m| m.operations as f64).collect());
    cell.workload
        .sample_of
        .or(fixed)
        .or_else(|| median().map(|operations| operations.round() as u64))
}

/// The standard error of the mean; nothing of fewer than two values.
pub(crate) fn standard_error(values: &[f64]) -> Option<f64> {
    let of_mean = variance(values) / values.len() as f64;
    (values.len() > 1).then(|| of_mean.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_error_is_that_of_the_textbook() {
        // Deviation of the sample 2, 4, 4, 4, 5, 5, 7, 9: the root of 32 / 7.
        let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert!((mean(&values) - 5.0).abs() < 1e-12);
        let expected = (32.0_f64 / 7.0).sqrt() / 8.0_f64.sqrt();
        assert!((standard_error(&values).unwrap() - expected).abs() < 1e-12);
        assert_eq!(standard_error(&[3.0]), None);
        assert_eq!(standard_error(&[]), None);
    }
}
