//! Which of several sweeps compares best, such as those of a matrix under one page size each.

use super::{SizeRange, Standing, SweepPoint, distinct};
use crate::{RatioEstimate, Verdict};

/// Where each of several sweeps leads: its widened interval lies above those of all others by more
/// than the equivalence zone (0.05: by more than 5%; intersection–union, as for
/// [`crate::ComparisonOutcome::fastest`]). It is also the fastest there if store B was the same in
/// all of them; ratios alone cannot tell whether it was.
///
/// Only sizes measured in all sweeps are compared, for sizes added around one zone say nothing about
/// another sweep; a range ends at a size where one has no figure or an unreliable one.
#[must_use]
pub fn leads(sweeps: &[Vec<SweepPoint>], equivalence: f64) -> Vec<Vec<SizeRange>> {
    let rows: Vec<Vec<SweepPoint>> = sweeps.iter().map(|points| distinct(points)).collect();
    let sizes = rows.first().into_iter().flatten().map(|point| point.size);
    let common = sizes.filter(|size| rows.iter().all(|row| at(*size, row).is_some()));
    let best = common.map(|size| (size, best_at(size, &rows, equivalence)));
    let best: Vec<(u64, Option<usize>)> = best.collect();
    let ranges = |row: usize| {
        let runs = best.chunk_by(|a, b| a.1 == b.1);
        let led = runs.filter(|run| run[0].1 == Some(row));
        led.map(|run| SizeRange {
            from: run[0].0,
            to: run[run.len() - 1].0,
        })
        .collect()
    };
    (0..rows.len()).map(ranges).collect()
}

fn at(size: u64, row: &[SweepPoint]) -> Option<&SweepPoint> {
    row.iter().find(|point| point.size == size)
}

/// The one sweep whose interval at `size` lies above those of all others by more than the
/// equivalence zone; nothing without others, or if one of them has none.
fn best_at(size: u64, rows: &[Vec<SweepPoint>], equivalence: f64) -> Option<usize> {
    let intervals: Vec<RatioEstimate> = rows
        .iter()
        .map(|row| at(size, row).and_then(usable))
        .collect::<Option<_>>()?;
    let margin = 1.0 + equivalence;
    let beats = |a: usize, b: usize| intervals[a].low > intervals[b].high * margin;
    let mut all = 0..intervals.len();
    let best = all.find(|a| (0..intervals.len()).all(|b| *a == b || beats(*a, b)));
    best.filter(|_| intervals.len() > 1)
}

/// The interval of a point that may be compared with others: one that its verdict rests on, which that
/// of a session without a passed gate does not.
fn usable(point: &SweepPoint) -> Option<RatioEstimate> {
    let decided = point.standing() != Standing::Undecided;
    let estimate = point.estimate;
    estimate.filter(|_| decided || point.verdict == Verdict::Unresolved)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crossover::testing::{gap, point, point_between};

    /// A sweep of points of these sizes, with these ratios.
    fn row(sizes: &[u64], ratios: &[f64]) -> Vec<SweepPoint> {
        let points = sizes.iter().zip(ratios);
        points.map(|(size, ratio)| point(*size, *ratio)).collect()
    }

    fn range(from: u64, to: u64) -> SizeRange {
        SizeRange { from, to }
    }

    const SIZES: [u64; 5] = [10, 20, 64, 100, 200];

    /// Two page sizes whose lead changes at 64, where the intervals overlap.
    fn matrix() -> Vec<Vec<SweepPoint>> {
        let ratios = [[1.8, 1.5, 1.00, 0.7, 0.6], [1.6, 1.4, 1.01, 0.9, 0.8]];
        ratios.map(|ratios| row(&SIZES, &ratios)).into()
    }

    #[test]
    fn a_setting_leads_where_its_interval_lies_above_all_others() {
        let mut matrix = matrix();
        let expected = [vec![range(10, 20)], vec![range(100, 200)], vec![]];
        assert_eq!(leads(&matrix, 0.05), expected[..2]);
        // A size that was not measured under every setting is left out.
        matrix[0].push(point(15, 1.6));
        matrix[1].extend([point(5, 9.0), point(15, 1.5)]);
        matrix.push(row(&SIZES, &[0.5; 5]));
        assert_eq!(leads(&matrix, 0.05), expected);
        // One rival whose interval overlaps keeps a setting from leading.
        matrix.push(row(&SIZES, &[1.79, 1.2, 1.0, 0.7, 0.6]));
        assert_eq!(leads(&matrix, 0.05)[0], [range(20, 20)]);
    }

    #[test]
    fn a_lead_within_the_equivalence_zone_is_none() {
        // Intervals reach 1% either way.
        for (ratio, led) in [(1.5 * 1.06, false), (1.5 * 1.08, true)] {
            let matrix = [row(&[10], &[ratio]), row(&[10], &[1.5])];
            assert_eq!(!leads(&matrix, 0.05)[0].is_empty(), led, "{ratio}");
        }
        let between = |low: f64, high: f64| {
            let mut point = point(10, low);
            point.verdict = Verdict::Unresolved;
            if let Some(estimate) = &mut point.estimate {
                (estimate.low, estimate.high) = (low, high);
            }
            vec![point]
        };
        for (low, led) in [(1.25, 1), (1.0, 0)] {
            let matrix = [between(low, 5.0), between(0.25, 0.5)];
            assert_eq!(leads(&matrix, 1.0)[0].len(), led, "{low}");
        }
    }

    #[test]
    fn a_range_ends_where_a_setting_has_no_figure_or_an_unreliable_one() {
        let unreliable = SweepPoint {
            verdict: Verdict::Unreliable,
            ..point(20, 1.4)
        };
        for odd in [gap(20), unreliable] {
            let sizes = [10, 20, 30, 40];
            let better = row(&sizes, &[1.8, 1.5, 1.4, 1.3]);
            let mut worse = row(&sizes, &[1.6, 1.4, 1.2, 1.1]);
            worse[1] = odd;
            let expected = [range(10, 10), range(30, 40)];
            assert_eq!(leads(&[better, worse], 0.05)[0], expected, "{odd:?}");
        }
        // An unresolved interval is an interval all the same.
        let matrix = [row(&[10], &[1.8]), vec![point_between(10, 0.9, 1.2)]];
        assert_eq!(leads(&matrix, 0.05)[0], [range(10, 10)]);
    }

    #[test]
    fn a_single_setting_has_nothing_to_lead() {
        assert_eq!(leads(&[row(&[10, 20], &[1.8, 0.5])], 0.05), [[]]);
        assert!(leads(&[], 0.05).is_empty());
    }
}
