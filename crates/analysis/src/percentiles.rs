//! How far percentiles are known: operations of a block resemble each other, so whole blocks are drawn
//! again (Efron & Tibshirani, *An Introduction to the Bootstrap*, 1993, §8.6).

use hdrhistogram::Histogram;
use serde::Serialize;
use std::collections::BTreeMap;

/// The fewest blocks for which an interval is given.
const FEWEST_BLOCKS: usize = 5;
/// How often blocks are drawn.
const DRAWS: usize = 500;

/// How far a percentile is known: 95%, by drawing whole blocks again.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PercentileInterval {
    /// The percentile, such as 99.9.
    pub percentile: f64,
    /// Lower end, nanoseconds.
    pub low_ns: u64,
    /// Upper end, nanoseconds.
    pub high_ns: u64,
}

/// Intervals of percentiles (such as 99.9) of the operations of all blocks; none of fewer than five
/// blocks. The same blocks give the same intervals.
pub(crate) fn intervals(blocks: &[Histogram<u64>], percentiles: &[f64]) -> Vec<PercentileInterval> {
    if blocks.len() < FEWEST_BLOCKS {
        return Vec::new();
    }
    let counts = counts_by_value(blocks);
    let mut found: Vec<Vec<u64>> = vec![Vec::with_capacity(DRAWS); percentiles.len()];
    let mut state = 1;
    for _ in 0..DRAWS {
        let mut often = vec![0.0; blocks.len()];
        for _ in 0..blocks.len() {
            if let Some(drawn) = often.get_mut(below(&mut state, blocks.len())) {
                *drawn += 1.0;
            }
        }
        for (values, value) in found.iter_mut().zip(of_draw(&counts, &often, percentiles)) {
            values.push(value);
        }
    }
    let ends = found.into_iter().zip(percentiles);
    ends.filter_map(|(values, percentile)| ends_of(values, *percentile))
        .collect()
}

/// How many operations of each block took a value, by rising value.
fn counts_by_value(blocks: &[Histogram<u64>]) -> Vec<(u64, Vec<f64>)> {
    let mut counts: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for (index, block) in blocks.iter().enumerate() {
        for step in block.iter_recorded() {
            let of_value = counts.entry(step.value_iterated_to());
            let of_value = of_value.or_insert_with(|| vec![0.0; blocks.len()]);
            if let Some(count) = of_value.get_mut(index) {
                *count += step.count_since_last_iteration() as f64;
            }
        }
    }
    counts.into_iter().collect()
}

/// The percentiles of the operations of blocks that were drawn so often.
fn of_draw(counts: &[(u64, Vec<f64>)], often: &[f64], percentiles: &[f64]) -> Vec<u64> {
    let drawn = |of_value: &[f64]| -> f64 {
        let pairs = of_value.iter().zip(often);
        pairs.map(|(count, often)| count * often).sum()
    };
    let all: f64 = counts.iter().map(|(_, of_value)| drawn(of_value)).sum();
    let mut found = vec![0; percentiles.len()];
    let mut open = percentiles.iter().zip(&mut found).peekable();
    let mut below = 0.0;
    for (value, of_value) in counts {
        below += drawn(of_value);
        // A rounding must not move a percentile to the next operation.
        let reached = |percentile: f64| below >= all * percentile / 100.0 * (1.0 - 1e-12);
        while let Some((_, found)) = open.next_if(|(percentile, _)| reached(**percentile)) {
            *found = *value;
        }
    }
    found
}

fn ends_of(mut values: Vec<u64>, percentile: f64) -> Option<PercentileInterval> {
    values.sort_unstable();
    let beyond = DRAWS / 40;
    Some(PercentileInterval {
        percentile,
        low_ns: *values.get(beyond)?,
        high_ns: *values.get(values.len().checked_sub(beyond + 1)?)?,
    })
}

/// A number below `n`, by splitmix64 (Steele, Lea & Flood 2014).
pub(crate) fn below(state: &mut u64, n: usize) -> usize {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    usize::try_from((z ^ (z >> 31)) % n.max(1) as u64).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(values: impl IntoIterator<Item = u64>) -> Histogram<u64> {
        let mut histogram = Histogram::new(3).unwrap();
        let values = values.into_iter();
        values.for_each(|value| histogram.record(value).unwrap());
        histogram
    }

    #[test]
    fn one_block_with_a_stall_widens_the_tail_and_not_the_median_and_equal_ones_nothing() {
        let mut blocks: Vec<_> = (0..8).map(|_| block(1..=1000)).collect();
        let found = intervals(&blocks, &[50.0, 90.0, 99.0]).into_iter();
        let ends: Vec<_> = found.map(|p| (p.percentile, p.low_ns, p.high_ns)).collect();
        assert_eq!(ends, [(50.0, 500, 500), (90.0, 900, 900), (99.0, 990, 990)]);
        blocks[3] = block((1..=950).chain([1_000_000; 50]));
        let found = intervals(&blocks, &[50.0, 99.0, 99.9]);
        assert!(found[0].high_ns < 530, "{found:?}");
        let tail = found[2];
        assert!(tail.low_ns <= 1000 && tail.high_ns > 900_000, "{found:?}");
        // The same blocks have the same interval, and few none.
        assert_eq!(intervals(&blocks, &[50.0, 99.0, 99.9]), found);
        assert_eq!(intervals(&blocks[..4], &[50.0]), []);
    }

    /// The share of 200 made-up cells whose interval of the 90th percentile, from `number` blocks of
    /// 200 operations at levels of their own, holds the percentile of very many such blocks.
    fn coverage(number: usize) -> f64 {
        let mut state = 11;
        let mut block_of_200 = || {
            let base = 1_000 + 25 * below(&mut state, 16) as u64;
            let operations = (0..200).map(|_| base + 25 * below(&mut state, 40) as u64);
            operations.collect::<Vec<u64>>()
        };
        let mut all: Vec<u64> = (0..4_000).flat_map(|_| block_of_200()).collect();
        all.sort_unstable();
        let truth = all[all.len() * 9 / 10];
        let held = (0..200).filter(|_| {
            let blocks: Vec<_> = (0..number).map(|_| block(block_of_200())).collect();
            let found = intervals(&blocks, &[90.0])[0];
            found.low_ns <= truth && truth <= found.high_ns
        });
        held.count() as f64 / 200.0
    }

    #[test]
    fn intervals_hold_the_truth_in_at_least_85_percent_of_made_up_cells() {
        let found = [5, 13].map(coverage);
        eprintln!("coverage of 5 and of 13 blocks: {found:?}");
        assert!(found.iter().all(|held| *held >= 0.85), "{found:?}");
    }
}
