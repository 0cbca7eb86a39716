//! One cell measured in rounds, with nothing to compare it with.

use crate::blocks::{location, total};
use crate::latency::latency;
use crate::{Interval, LatencySummary, Metric, blocks::metric_of, blocks::time_ns};
use serde::Serialize;
use stowplan_model::{BlockKind, Measurement};

/// What one cell costs, over rounds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Repeated {
    /// Rounds.
    pub rounds: usize,
    /// Operations of a round.
    pub operations: u64,
    /// What the time is.
    pub metric: Metric,
    /// Nanoseconds per operation: Hodges and Lehmann's estimate over rounds with its 95% interval
    /// from 10 rounds on; below, the median and the range of the rounds.
    pub time_ns: Interval,
    /// Nanoseconds per operation of the round that took least.
    pub best_ns: f64,
    /// Nanoseconds per operation of the round that took most.
    pub worst_ns: f64,
    /// Bytes per operation.
    pub bytes: f64,
    /// Percentiles of single operations; nothing if none were timed singly.
    pub latency: Option<LatencySummary>,
    /// Latency histograms that could not be read.
    pub problems: Vec<String>,
}

/// Summarises the blocks of one cell. `metric` is the time that is wanted; without it, corrected
/// time where METHOD R8 allows it. `besides` is time that belongs to a block and lies outside its
/// timed window, nanoseconds. Nothing if there is no block timed as a whole.
#[must_use]
pub fn repeated(
    measurements: &[Measurement],
    metric: Option<Metric>,
    besides: impl Fn(&Measurement) -> u64,
) -> Option<Repeated> {
    let ratio = |m: &&Measurement| m.block == BlockKind::Ratio && m.operations > 0;
    let blocks: Vec<&Measurement> = measurements.iter().filter(ratio).collect();
    let metric = metric.unwrap_or_else(|| metric_of(blocks.iter().copied()));
    let each = |m: &&Measurement| {
        let time = time_ns(m, metric).saturating_add(besides(m));
        (time.max(1) as f64 / m.operations as f64).ln()
    };
    let logs: Vec<f64> = blocks.iter().map(each).collect();
    let best = logs.iter().copied().fold(f64::INFINITY, f64::min);
    let worst = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let operations = total(blocks.iter().map(|m| m.operations));
    let bytes = total(blocks.iter().map(|m| m.bytes));
    let mut problems = Vec::new();
    let all: Vec<&Measurement> = measurements.iter().collect();
    Some(Repeated {
        rounds: blocks.len(),
        operations: blocks.first()?.operations,
        metric,
        time_ns: location(&logs, metric)?,
        best_ns: best.exp(),
        worst_ns: worst.exp(),
        bytes: bytes as f64 / operations as f64,
        latency: latency(&all, &mut problems),
        problems,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(wall_ns: u64) -> Measurement {
        Measurement {
            operations: 100,
            bytes: 1_000,
            wall_ns,
            run_delay_ns: Some(0),
            ..Measurement::default()
        }
    }

    #[test]
    fn ten_rounds_give_an_interval_and_fewer_their_range_with_what_belongs_to_a_block_besides() {
        let rounds: Vec<_> = (1..=10).map(|n| block(n * 10_000)).collect();
        let all = repeated(&rounds, None, |_| 0).unwrap();
        let time = all.time_ns;
        assert!(time.low > 100.0 && time.high < 1_000.0, "{all:?}");
        let ends = [all.best_ns, all.worst_ns].map(f64::round);
        assert_eq!(ends, [100.0, 1_000.0]);
        let three = repeated(&rounds[..3], None, |_| 5_000).unwrap();
        let time = three.time_ns;
        let range = [time.low, time.estimate, time.high].map(|ns| (ns * 1e6).round() / 1e6);
        assert_eq!(range, [150.0, 250.0, 350.0]);
        let told = (three.rounds, three.operations, three.bytes);
        assert_eq!(told, (3, 100, 10.0));
    }

    #[test]
    fn a_block_without_operations_or_not_timed_as_a_whole_is_no_round() {
        let (mut empty, mut latency) = (block(10_000), block(1));
        empty.operations = 0;
        latency.block = BlockKind::Latency;
        let found = repeated(&[empty, block(10_000)], None, |_| 0).unwrap();
        assert_eq!((found.rounds, found.time_ns.high.round()), (1, 100.0));
        assert_eq!(repeated(&[latency], None, |_| 0), None);
    }
}
