//! The shift between two independent samples: the estimate of Hodges and Lehmann, and the interval
//! that inverts the test of Mann, Whitney and Wilcoxon exactly.

use crate::{estimate::median, interval::Interval, wilcoxon::rank_within};

/// The largest sample for which the exact distribution is computed. Comparisons have at most 40
/// rounds; the cap bounds the work on a file that claims more (100 and 100: 0.1 s).
pub const MAX_SAMPLE: usize = 100;

/// All differences `y − x` between two independent samples, and how often chance has so many of them on
/// one side.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Differences {
    sorted: Vec<f64>,
    /// The null distribution of the Mann–Whitney statistic of samples of these sizes.
    chance: Vec<f64>,
    estimate: f64,
}

impl Differences {
    /// Nothing if a sample is empty, above [`MAX_SAMPLE`], or has a value that is not finite.
    pub(super) fn of(base: &[f64], new: &[f64]) -> Option<Self> {
        let finite = base.iter().chain(new).all(|value| value.is_finite());
        if !finite || base.len().max(new.len()) > MAX_SAMPLE {
            return None;
        }
        let pairs = new.iter().flat_map(|y| base.iter().map(move |x| y - x));
        let mut differences: Vec<f64> = pairs.collect();
        differences.sort_unstable_by(f64::total_cmp);
        Some(Self {
            estimate: median(differences.clone())?,
            sorted: differences,
            chance: distribution(base.len(), new.len()),
        })
    }

    /// How far the second sample lies above the first: the median of all differences (Hodges &
    /// Lehmann 1963).
    pub(super) fn estimate(&self) -> f64 {
        self.estimate
    }

    /// That with the interval `[d_(k), d_(mn+1−k)]` of the sorted differences that inverts the
    /// Mann–Whitney test (Moses 1965; Hollander & Wolfe, *Nonparametric Statistical Methods*, §4.3).
    /// It holds for any two distributions of the same shape, and with ties it covers more, not less.
    ///
    /// Nothing if a sample is too small for an interval at this `alpha`.
    pub(super) fn shift(&self, alpha: f64) -> Option<Interval> {
        let rank = rank_within(&self.chance, alpha)?;
        Some(Interval {
            estimate: self.estimate,
            low: *self.sorted.get(rank - 1)?,
            high: *self.sorted.get(self.sorted.len() - rank)?,
        })
    }

    /// Twice the probability of so large a shift where the true one is `limit`, at most 1: at most
    /// `alpha` exactly where the interval of [`Self::shift`] at that `alpha` lies above the limit, so that
    /// it is the least `alpha` of such an interval.
    pub(super) fn p_above(&self, limit: f64) -> f64 {
        let not_above = self.sorted.partition_point(|found| *found <= limit);
        let tail: f64 = self.chance.iter().take(not_above + 1).sum();
        (2.0 * tail).min(1.0)
    }
}

/// The rank `k`, from 1, of the differences that bound the interval: the largest with
/// `P(U ≤ k − 1) ≤ alpha/2` under the null distribution of the Mann–Whitney statistic `U` of
/// samples of `m` and `n` values.
#[must_use]
pub fn k(m: usize, n: usize, alpha: f64) -> Option<usize> {
    if m > MAX_SAMPLE || n > MAX_SAMPLE {
        return None;
    }
    rank_within(&distribution(m, n), alpha)
}

/// `P(U = u)` for `u` from 0 to `m·n`, where `U` counts the pairs in which the first sample's value
/// is above the second's. The largest of all values is of the first sample with probability
/// `m/(m+n)`, and is then above all `n` of the second, so that
/// `P_{m,n}(u) = m/(m+n) · P_{m−1,n}(u − n) + n/(m+n) · P_{m,n−1}(u)` (Mann & Whitney 1947).
/// All terms are positive, so rounding stays far from deciding a table value.
fn distribution(m: usize, n: usize) -> Vec<f64> {
    // `row[j]` is the distribution of `i` and `j` values; without values of one kind U is 0.
    let mut row: Vec<Vec<f64>> = vec![vec![1.0]; n + 1];
    for i in 1..=m {
        row[0] = vec![1.0];
        for j in 1..=n {
            row[j] = with_largest(&row[j], &row[j - 1], i, j);
        }
    }
    row.swap_remove(n)
}

/// The distribution of `i` and `j` values from that with one value fewer of the first kind, and
/// that with one fewer of the second.
#[expect(clippy::cast_precision_loss, reason = "at most 200")]
fn with_largest(fewer_first: &[f64], fewer_second: &[f64], i: usize, j: usize) -> Vec<f64> {
    let first = i as f64 / (i + j) as f64;
    let mut next = vec![0.0; i * j + 1];
    for (u, probability) in fewer_first.iter().enumerate() {
        next[u + j] += first * probability;
    }
    for (u, probability) in fewer_second.iter().enumerate() {
        next[u] += (1.0 - first) * probability;
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shift(base: &[f64], new: &[f64], alpha: f64) -> Option<Interval> {
        Differences::of(base, new)?.shift(alpha)
    }

    #[test]
    fn critical_values_are_those_of_published_tables() {
        // Two-sided; Milton 1964 and the tables of Siegel (1956), in which the critical value is
        // the largest U with P(U <= u) at most alpha/2: k − 1.
        let table = [
            (0.05, 4, 4, 0),
            (0.05, 5, 5, 2),
            (0.05, 8, 8, 13),
            (0.05, 9, 20, 48),
            (0.05, 10, 10, 23),
            (0.05, 10, 15, 39),
            (0.05, 10, 20, 55),
            (0.05, 12, 12, 37),
            (0.05, 15, 15, 64),
            (0.05, 15, 20, 90),
            (0.05, 20, 20, 127),
            (0.02, 10, 10, 19),
            (0.02, 20, 20, 114),
            (0.01, 10, 10, 16),
            (0.01, 15, 15, 51),
            (0.01, 20, 20, 105),
        ];
        for (alpha, m, n, expected) in table {
            let critical = |m, n| k(m, n, alpha).map(|k| k - 1);
            assert_eq!(critical(m, n), Some(expected), "{m} and {n}, alpha={alpha}");
            assert_eq!(critical(n, m), Some(expected), "{n} and {m}, alpha={alpha}");
        }
    }

    #[test]
    fn the_distribution_is_that_of_counting_every_arrangement() {
        // All ways to choose which 4 of 9 ranks are the first sample's.
        let (m, n) = (4, 5);
        let mut counts = vec![0u32; m * n + 1];
        let mut total = 0;
        for chosen in 0u32..1 << (m + n) {
            if chosen.count_ones() as usize != m {
                continue;
            }
            let of_first = |rank: &usize| chosen >> rank & 1 == 1;
            let above = |rank: usize| (0..rank).filter(|lower| !of_first(lower)).count();
            let u: usize = (0..m + n).filter(of_first).map(above).sum();
            counts[u] += 1;
            total += 1;
        }
        for (u, probability) in distribution(m, n).into_iter().enumerate() {
            let counted = f64::from(counts[u]) / f64::from(total);
            assert!((probability - counted).abs() < 1e-15, "u={u}");
        }
    }

    #[test]
    fn probabilities_sum_to_one_and_are_symmetric() {
        for (m, n) in [(1, 1), (10, 40), (40, 40), (MAX_SAMPLE, MAX_SAMPLE)] {
            let distribution = distribution(m, n);
            let sum: f64 = distribution.iter().sum();
            assert!((sum - 1.0).abs() < 1e-12, "{m} and {n}: {sum}");
            let mirrored = distribution.iter().rev();
            for (a, b) in distribution.iter().zip(mirrored) {
                assert!((a - b).abs() <= 1e-12 * a, "{m} and {n}");
            }
        }
    }

    #[test]
    fn the_interval_runs_between_order_statistics_of_all_differences() {
        let base: Vec<f64> = (0..10).map(f64::from).collect();
        let new: Vec<f64> = (0..10).map(|i| f64::from(i * i)).collect();
        let found = shift(&base, &new, 0.05).unwrap();
        let mut all: Vec<f64> = Vec::new();
        for y in &new {
            all.extend(base.iter().map(|x| y - x));
        }
        all.sort_by(f64::total_cmp);
        // Critical value 23, so k = 24, counted from 1.
        assert_eq!((found.low, found.high), (all[23], all[100 - 24]));
        assert_eq!(found.estimate, f64::midpoint(all[49], all[50]));
    }

    #[test]
    fn too_few_or_too_many_values_or_one_that_is_not_finite_give_nothing() {
        let some = [1.0; 12];
        assert_eq!(shift(&some[..3], &[1.0; 3], 0.05), None);
        assert_eq!(shift(&[], &some, 0.05), None);
        assert_eq!(shift(&some, &[], 0.05), None);
        assert_eq!(shift(&some, &[1.0; MAX_SAMPLE + 1], 0.05), None);
        assert_eq!(shift(&[1.0; MAX_SAMPLE + 1], &some, 0.05), None);
        assert!(shift(&some, &[1.0; MAX_SAMPLE], 0.05).is_some());
        assert!(shift(&[1.0; MAX_SAMPLE], &some, 0.05).is_some());
        assert_eq!(shift(&[f64::NAN; 12], &some, 0.05), None);
    }

    fn sample() -> impl Strategy<Value = Vec<f64>> {
        proptest::collection::vec(-3.0..3.0f64, 10..40)
    }

    proptest! {
        #[test]
        fn swapping_the_samples_mirrors_estimate_and_interval(a in sample(), b in sample()) {
            let (there, back) = (shift(&a, &b, 0.05).unwrap(), shift(&b, &a, 0.05).unwrap());
            prop_assert_eq!(there.estimate, -back.estimate);
            prop_assert_eq!((there.low, there.high), (-back.high, -back.low));
            prop_assert!(there.low <= there.estimate && there.estimate <= there.high);
        }

        #[test]
        fn the_p_value_is_at_most_alpha_exactly_where_the_interval_lies_above(
            a in sample(), b in sample(), limit in -1.0..1.0f64, alpha in 0.001..0.2f64,
        ) {
            let differences = Differences::of(&a, &b).unwrap();
            let (found, p) = (differences.shift(alpha).unwrap(), differences.p_above(limit));
            prop_assert_eq!(found.low > limit, p <= alpha, "{:?}, p {}", found, p);
        }

        #[test]
        fn adding_to_one_sample_moves_the_shift_by_as_much(a in sample(), b in sample(), by in -2.0..2.0f64) {
            let moved: Vec<f64> = b.iter().map(|value| value + by).collect();
            let (before, after) = (shift(&a, &b, 0.05).unwrap(), shift(&a, &moved, 0.05).unwrap());
            for (before, after) in [(before.estimate, after.estimate), (before.low, after.low), (before.high, after.high)] {
                prop_assert!((before + by - after).abs() < 1e-12);
            }
        }
    }
}
