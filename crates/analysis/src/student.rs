//! What is estimated with few degrees of freedom: intervals and p values by Student's distribution.

use crate::estimate::{mean, variance};
use crate::interval::Interval;

/// A location as it is estimated, and how far it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Located {
    pub(crate) estimate: f64,
    /// Its standard error.
    error: f64,
    /// Degrees of freedom of that.
    freedom: f64,
}

impl Located {
    /// By the variances that add up to that of the estimate, each with its degrees of freedom
    /// (Satterthwaite 1946).
    pub(crate) fn by(estimate: f64, variances: &[(f64, f64)]) -> Self {
        let square: f64 = variances.iter().map(|(variance, _)| variance).sum();
        let uncertain = variances
            .iter()
            .map(|(variance, freedom)| variance.powi(2) / freedom);
        let freedom = square.powi(2) / uncertain.sum::<f64>();
        Self {
            estimate,
            error: square.sqrt(),
            // Without any variance there are none.
            freedom: if freedom.is_finite() { freedom } else { 1.0 },
        }
    }

    /// A mean. Nothing of fewer than two values, or where one is not finite.
    pub(crate) fn mean(values: &[f64]) -> Option<Self> {
        if values.len() < 2 || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let (n, freedom) = (values.len() as f64, values.len() as f64 - 1.0);
        let of_mean = variance(values) / n;
        Some(Self::by(mean(values), &[(of_mean, freedom)]))
    }

    /// How far it lies above another one that is known by other values, each with a variance of its own
    /// (Welch 1947).
    pub(crate) fn less(self, other: Self) -> Self {
        let variances = [self, other].map(|one| (one.error.powi(2), one.freedom));
        Self::by(self.estimate - other.estimate, &variances)
    }

    /// The estimate with its interval, which misses with the probability `alpha`.
    pub(crate) fn interval(self, alpha: f64) -> Interval {
        let reach = quantile(alpha, self.freedom) * self.error;
        Interval::around(self.estimate, reach)
    }

    /// Twice the probability of so large an estimate where the true one is `limit`; at most 1. Below
    /// `alpha` exactly where the interval that misses with that probability lies above the limit.
    pub(crate) fn p_above(self, limit: f64) -> f64 {
        let above = self.estimate - limit;
        if above > 0.0 {
            two_sided(above / self.error, self.freedom)
        } else {
            1.0
        }
    }
}

/// The probability that Student's t lies at least so far (0 or more) from 0, either way: the
/// regularised incomplete beta function `I_x(freedom/2, 1/2)` at `x = freedom/(freedom + t²)`
/// (DLMF 8.17; Abramowitz & Stegun 26.7.1).
pub(crate) fn two_sided(t: f64, freedom: f64) -> f64 {
    let x = freedom / t.mul_add(t, freedom);
    let (a, b) = (freedom / 2.0, 0.5);
    // The fraction converges fast on the side of the mean.
    if x <= 0.0 {
        0.0
    } else if x < (a + 1.0) / (a + b + 2.0) {
        beta(x, a, b)
    } else {
        1.0 - beta(1.0 - x, b, a)
    }
}

/// `I_x(a, b)` by its continued fraction (DLMF 8.17.22), evaluated as Lentz does; `x` from 0, and
/// below the mean of the distribution.
fn beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    let front = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p();
    let (mut fraction, mut upper, mut lower) = (1.0, 1.0, 0.0);
    for step in 0..FRACTION_TERMS {
        let m = f64::from(step / 2);
        let term = match step {
            0 => 1.0,
            _ if step % 2 == 0 => m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            _ => -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        };
        lower = 1.0 / away_from_0(1.0 + term * lower);
        upper = away_from_0(1.0 + term / upper);
        fraction *= upper * lower;
        if (upper * lower - 1.0).abs() < 1e-15 {
            break;
        }
    }
    front.exp() / a * (fraction - 1.0)
}

/// More than any argument here takes: a dozen is usual.
const FRACTION_TERMS: u32 = 500;

fn away_from_0(value: f64) -> f64 {
    if value.abs() < 1e-300 { 1e-300 } else { value }
}

/// The logarithm of the gamma function from 1/2 on: by Stirling's series (DLMF 5.11.1), from where that is exact
/// to 15 digits.
fn ln_gamma(z: f64) -> f64 {
    if z < 15.0 {
        return ln_gamma(z + 1.0) - z.ln();
    }
    let square = 1.0 / (z * z);
    let last = 1.0 / 1_260.0 - square * (1.0 / 1_680.0 - square / 1_188.0);
    let series = 1.0 / 12.0 - square * (1.0 / 360.0 - square * last);
    (z - 0.5) * z.ln() - z + 0.5 * std::f64::consts::TAU.ln() + series / z
}

/// How far from 0 Student's t lies with the probability `alpha` (above 0 and below 1), by halving.
pub(crate) fn quantile(alpha: f64, freedom: f64) -> f64 {
    let mut high = 1.0;
    while two_sided(high, freedom) > alpha && high < 1e12 {
        high *= 2.0;
    }
    let mut low = 0.0;
    for _ in 0..80 {
        let middle = f64::midpoint(low, high);
        if two_sided(middle, freedom) > alpha {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// How far NEW's mean lies above BASE's.
    fn shift(base: &[f64], new: &[f64]) -> Option<Located> {
        Some(Located::mean(new)?.less(Located::mean(base)?))
    }

    #[test]
    fn critical_values_are_those_of_published_tables() {
        // R: qt(1 - alpha / 2, df).
        for (alpha, freedom, expected) in [
            (0.05, 1.0, 12.7062),
            (0.05, 2.0, 4.3027),
            (0.05, 3.0, 3.1824),
            (0.05, 7.0, 2.3646),
            (0.05, 30.0, 2.0423),
            (0.01, 4.0, 4.6041),
            (0.002, 9.0, 4.2968),
        ] {
            let found = quantile(alpha, freedom);
            assert!((found - expected).abs() < 5e-5, "{alpha}, {freedom}");
            assert!((two_sided(found, freedom) - alpha).abs() < 1e-12);
        }
        assert_eq!(two_sided(0.0, 5.0), 1.0);
        assert_eq!(two_sided(f64::INFINITY, 4.0), 0.0);
    }

    /// The finite series for whole degrees of freedom (Abramowitz & Stegun 26.7.3 and 26.7.4).
    fn by_series(t: f64, freedom: u32) -> f64 {
        let angle = (t / f64::from(freedom).sqrt()).atan();
        let (sine, cosine) = angle.sin_cos();
        let odd = freedom % 2 == 1;
        let (mut exponent, mut term) = if odd { (1, cosine) } else { (0, 1.0) };
        let mut sum = 0.0;
        while exponent + 2 <= freedom {
            sum += term;
            term *= cosine * cosine * f64::from(exponent + 1) / f64::from(exponent + 2);
            exponent += 2;
        }
        match odd {
            true => 1.0 - std::f64::consts::FRAC_2_PI * (angle + sine * sum),
            false => 1.0 - sine * sum,
        }
    }

    #[test]
    fn the_distribution_is_that_of_the_finite_series_and_between_them_between() {
        for freedom in 1..40 {
            for t in [0.01, 0.3, 1.0, 2.5, 7.0, 30.0] {
                let of = |more: f64| two_sided(t, f64::from(freedom) + more);
                let (found, expected) = (of(0.0), by_series(t, freedom));
                assert!((found - expected).abs() < 1e-12, "{t}, {freedom}: {found}");
                assert!(of(0.5) < found && of(1.0) < of(0.5), "{t}, {freedom}");
            }
        }
    }

    #[test]
    fn the_interval_is_that_of_welch() {
        // By hand: means 2.5 and 7, variances 5/3 and 20/3, error sqrt(25/12), and (25/12)² over
        // ((5/12)² + (20/12)²)/3 are 75/17 degrees of freedom.
        let welch = shift(&[1.0, 2.0, 3.0, 4.0], &[4.0, 6.0, 8.0, 10.0]).unwrap();
        assert_eq!(welch.estimate, 4.5);
        assert!((welch.freedom - 75.0 / 17.0).abs() < 1e-12, "{welch:?}");
        let error = (25.0_f64 / 12.0).sqrt();
        assert!((welch.error - error).abs() < 1e-12);
        let (found, reach) = (welch.interval(0.05), quantile(0.05, 75.0 / 17.0) * error);
        assert!((found.low - (4.5 - reach)).abs() < 1e-9, "{found:?}");
        assert!((found.high - (4.5 + reach)).abs() < 1e-9, "{found:?}");
        // Between those of 5 and of 4 degrees.
        assert!((2.5706..2.7765).contains(&(reach / error)));
    }

    #[test]
    fn too_few_sessions_say_nothing_and_those_without_any_spread_have_an_interval_without_length() {
        assert_eq!(shift(&[1.0], &[1.0, 2.0]), None);
        assert_eq!(shift(&[1.0, 2.0], &[]), None);
        assert_eq!(shift(&[1.0, f64::NAN], &[1.0, 2.0]), None);
        let welch = shift(&[1.0; 3], &[2.0; 3]).unwrap();
        assert_eq!(welch.interval(0.05), Interval::new(1.0, 1.0, 1.0));
        assert_eq!((welch.p_above(0.5), welch.p_above(1.0)), (0.0, 1.0));
    }

    proptest! {
        #[test]
        fn the_p_value_is_below_alpha_exactly_where_the_interval_lies_above(
            a in proptest::collection::vec(-1.0..1.0f64, 2..9),
            b in proptest::collection::vec(-1.0..1.0f64, 2..9),
            limit in -0.5..0.5f64,
            alpha in 0.001..0.2f64,
        ) {
            let welch = shift(&a, &b).unwrap();
            let found = welch.interval(alpha);
            prop_assume!((found.low - limit).abs() > 1e-9);
            prop_assert_eq!(found.low > limit, welch.p_above(limit) < alpha);
        }
    }
}
