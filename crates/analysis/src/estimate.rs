//! Locations of samples, with distribution-free intervals.

use crate::interval::{Interval, RatioEstimate};
use crate::wilcoxon;

/// The fewest differences for which an interval is given (METHOD "Ratios").
pub const MIN_ROUNDS: usize = 10;

/// A location with its interval. For ratios the unit is the natural logarithm of the ratio.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The location.
    pub estimate: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Number of values it rests on.
    pub n: usize,
}

impl Estimate {
    /// The Hodges–Lehmann estimate, the median of the Walsh averages `(x_i + x_j)/2, i ≤ j`
    /// (Hodges & Lehmann 1963), with the interval that inverts Wilcoxon's signed-rank test
    /// exactly (Hollander & Wolfe, §3.3). Nothing with fewer than [`MIN_ROUNDS`] values, more
    /// than [`wilcoxon::MAX_DIFFERENCES`], or a value that is not finite.
    #[must_use]
    pub fn hodges_lehmann(values: &[f64], alpha: f64) -> Option<Self> {
        let rank = wilcoxon::k(values.len(), alpha)?;
        Self::from_order_statistics(walsh_averages(values), rank, values)
    }

    /// The median with the interval that inverts the sign test exactly (Hollander & Wolfe,
    /// §3.6): for wall times, whose differences are bimodal, so that the Hodges–Lehmann interval
    /// is more than twice as wide (METHOD "Ratios"). Nothing where [`Self::hodges_lehmann`] gives
    /// nothing.
    #[must_use]
    pub fn median(values: &[f64], alpha: f64) -> Option<Self> {
        let rank = wilcoxon::sign_k(values.len(), alpha)?;
        Self::from_order_statistics(values.to_vec(), rank, values)
    }

    fn from_order_statistics(
        mut statistics: Vec<f64>,
        rank: usize,
        values: &[f64],
    ) -> Option<Self> {
        let n = values.len();
        if n < MIN_ROUNDS || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        statistics.sort_unstable_by(f64::total_cmp);
        Some(Self {
            estimate: median_of_sorted(&statistics)?,
            low: *statistics.get(rank - 1)?,
            high: *statistics.get(statistics.len() - rank)?,
            n,
        })
    }

    /// The interval widened by the noise floor on both sides (METHOD "Ratios").
    #[must_use]
    pub fn widened(&self, noise_floor: f64) -> (f64, f64) {
        (self.low - noise_floor, self.high + noise_floor)
    }

    /// Half the length of the interval.
    #[must_use]
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// The logarithmic estimate as a ratio, with its interval widened by `noise_floor`.
    #[must_use]
    pub fn to_ratio(&self, noise_floor: f64) -> RatioEstimate {
        let (low, high) = self.widened(noise_floor);
        RatioEstimate {
            ratio: self.estimate.exp(),
            low: low.exp(),
            high: high.exp(),
            rounds: self.n,
        }
    }
}

impl From<Estimate> for Interval {
    fn from(found: Estimate) -> Self {
        Self::new(found.estimate, found.low, found.high)
    }
}

impl Interval {
    /// The median of values with their range; nothing of nothing.
    pub(crate) fn range(values: &[f64]) -> Option<Self> {
        Some(Self::new(
            median(values.to_vec())?,
            values.iter().copied().reduce(f64::min)?,
            values.iter().copied().reduce(f64::max)?,
        ))
    }
}

/// The Hodges–Lehmann estimate: the median of all Walsh averages. Nothing of nothing.
pub(crate) fn hodges_lehmann(values: &[f64]) -> Option<f64> {
    median(walsh_averages(values))
}

/// Values of which those far off are drawn in (Huber, *Robust Statistics*, 1981, §6), and the variance that
/// one of them has in their location.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Winsorised {
    pub(crate) values: Vec<f64>,
    pub(crate) variance: f64,
    /// Degrees of freedom of that; at least 3.
    pub(crate) freedom: f64,
}

impl Winsorised {
    /// Draws in what lies further from the median than three deviations, as the median of distances
    /// tells them. What more than a fifth do is no exception: then nothing is far off, and neither is
    /// anything where more than half are the same.
    pub(crate) fn of(values: &[f64]) -> Self {
        /// The deviation of a normal distribution over the median of its distances, three times.
        const FAR: f64 = 3.0 * 1.4826;
        let middle = median(values.to_vec()).unwrap_or(0.0);
        let distances = values.iter().map(|value| (value - middle).abs()).collect();
        let far = median(distances).filter(|typical| *typical > 0.0);
        let far = far.map_or(f64::INFINITY, |typical| FAR * typical);
        let kept = |far: f64| {
            let near = values.iter().filter(|value| (*value - middle).abs() <= far);
            near.count() as f64
        };
        let n = values.len() as f64;
        let far = if kept(far) < 0.8 * n {
            f64::INFINITY
        } else {
            far
        };
        let kept = kept(far);
        let values: Vec<f64> = values
            .iter()
            .map(|value| value.clamp(middle - far, middle + far))
            .collect();
        Self {
            variance: variance(&values) * (n / kept).powi(2),
            freedom: (kept - 1.0).max(3.0),
            values,
        }
    }
}

/// The arithmetic mean; 0 of nothing.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The variance of what values are a sample of; 0 of a single one.
pub(crate) fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    squares / (values.len().max(2) - 1) as f64
}

/// The median; the mean of the middle two of an even number. Nothing of nothing.
#[must_use]
pub(crate) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    median_of_sorted(&values)
}

fn median_of_sorted(sorted: &[f64]) -> Option<f64> {
    let upper = *sorted.get(sorted.len() / 2)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = *sorted.get(sorted.len() / 2 - 1)?;
    Some((lower + upper) / 2.0)
}

/// Means of all pairs of values, each value paired with itself too.
fn walsh_averages(values: &[f64]) -> Vec<f64> {
    values
        .iter()
        .enumerate()
        .flat_map(|(i, a)| values[i..].iter().map(move |b| (a + b) / 2.0))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn estimate_and_interval_are_order_statistics_of_the_walsh_averages() {
        let values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 20.0];
        let found = Estimate::hodges_lehmann(&values, 0.05).unwrap();
        let pairs = (0..10).flat_map(|i| (i..10).map(move |j| (i, j)));
        let walsh = pairs.map(|(i, j)| f64::midpoint(values[i], values[j]));
        let mut walsh: Vec<f64> = walsh.collect();
        walsh.sort_by(f64::total_cmp);
        // n = 10, alpha = 0.05: critical value 8, so k = 9, counted from 1, of 55.
        let expected = (walsh[8], walsh[27], walsh[55 - 9]);
        assert_eq!((found.low, found.estimate, found.high), expected);
        assert_eq!(found.half_width(), (walsh[55 - 9] - walsh[8]) / 2.0);
    }

    #[test]
    fn the_median_interval_runs_between_order_statistics() {
        let values: Vec<f64> = (1..=20).map(f64::from).collect();
        let found = Estimate::median(&values, 0.05).unwrap();
        // n = 20, alpha = 0.05: k = 6, so the 6th and the 15th value.
        let told = (found.low, found.estimate, found.high, found.n);
        assert_eq!(told, (6.0, 10.5, 15.0, 20));
    }

    type Estimator = fn(&[f64], f64) -> Option<Estimate>;
    const ESTIMATORS: [Estimator; 2] = [Estimate::hodges_lehmann, Estimate::median];

    #[test]
    fn too_few_values_or_one_that_is_not_finite_give_nothing_and_a_wild_one_moves_little() {
        for estimator in ESTIMATORS {
            assert_eq!(estimator(&[1.0; 9], 0.05), None);
            let mut values: Vec<f64> = (0..20).map(|i| f64::from(i) / 1000.0).collect();
            let before = estimator(&values, 0.0207).unwrap();
            values[7] = 1e6;
            let after = estimator(&values, 0.0207).unwrap();
            let moved = (after.estimate - before.estimate).abs();
            assert!(moved < 0.002 && after.high < 0.02, "{after:?}");
            values[7] = f64::NAN;
            assert_eq!(estimator(&values, 0.05), None);
        }
    }

    fn sample() -> impl Strategy<Value = Vec<f64>> {
        proptest::collection::vec(-3.0..3.0f64, 10..40)
    }

    proptest! {
        #[test]
        fn swapping_the_cells_mirrors_estimate_and_interval_exactly(values in sample()) {
            let swapped: Vec<f64> = values.iter().map(|d| -d).collect();
            for estimator in ESTIMATORS {
                let [a, b] = [&values, &swapped].map(|v| estimator(v, 0.0207).unwrap());
                prop_assert_eq!((a.estimate, a.low, a.high), (-b.estimate, -b.high, -b.low));
            }
        }

        #[test]
        fn a_constant_factor_shifts_the_logarithm_and_nothing_else(
            values in sample(), shift in -2.0..2.0f64,
        ) {
            let shifted: Vec<f64> = values.iter().map(|d| d + shift).collect();
            for estimator in ESTIMATORS {
                let [a, b] = [&values, &shifted].map(|v| estimator(v, 0.0207).unwrap());
                prop_assert!((a.estimate + shift - b.estimate).abs() < 1e-12);
                prop_assert!((a.low + shift - b.low).abs() < 1e-12);
                prop_assert!((a.high + shift - b.high).abs() < 1e-12);
            }
        }

        #[test]
        fn widening_moves_both_ends_outwards_by_the_floor(
            values in sample(), floor in 0.0..0.1f64,
        ) {
            let found = Estimate::hodges_lehmann(&values, 0.0207).unwrap();
            let (plain, ratio) = (found.to_ratio(0.0), found.to_ratio(floor));
            prop_assert!((plain.low / ratio.low - floor.exp()).abs() < 1e-12);
            prop_assert!((ratio.high / plain.high - floor.exp()).abs() < 1e-12);
            prop_assert!(ratio.low <= ratio.ratio && ratio.ratio <= ratio.high);
        }
    }
}
