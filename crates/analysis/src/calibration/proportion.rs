//! How often something happened, with an exact interval.

use super::LimitStatus;
use crate::Interval;
use serde::Serialize;

/// Each end of an interval misses with this probability at most.
const TAIL: f64 = 0.025;

/// Something happened in so many of so many independent trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Proportion {
    /// Trials in which it did.
    pub count: u32,
    /// Trials.
    pub of: u32,
    /// The share of them, with the 95% interval of Clopper and Pearson (1934): its ends are the
    /// rates at which so many, or more, and so many, or fewer, have a probability of 2.5%.
    /// Nothing without a trial.
    pub share: Option<Interval>,
}

impl Proportion {
    /// Of trials that are true or false.
    pub(crate) fn of(trials: impl Iterator<Item = bool>) -> Self {
        let (mut count, mut of) = (0, 0);
        for happened in trials {
            of += 1;
            count += u32::from(happened);
        }
        Self::new(count, of)
    }

    pub(crate) fn new(count: u32, of: u32) -> Self {
        Self {
            count,
            of,
            share: (of > 0).then(|| Interval {
                estimate: f64::from(count) / f64::from(of),
                low: lower(count, of),
                high: upper(count, of),
            }),
        }
    }

    /// Whether the share is at most `most`.
    pub(crate) fn at_most(&self, most: f64) -> LimitStatus {
        LimitStatus::of(self.share, |value| value <= most)
    }

    /// Whether the share is at least `least`.
    pub(crate) fn at_least(&self, least: f64) -> LimitStatus {
        LimitStatus::of(self.share, |value| value >= least)
    }
}

/// The rate at which `count` or more have the probability of a tail.
fn lower(count: u32, of: u32) -> f64 {
    if count == 0 {
        return 0.0;
    }
    // Rises with the rate.
    root(|rate| 1.0 - at_most(count - 1, of, rate) >= TAIL)
}

/// The rate at which `count` or fewer have the probability of a tail.
fn upper(count: u32, of: u32) -> f64 {
    if count == of {
        return 1.0;
    }
    root(|rate| at_most(count, of, rate) <= TAIL)
}

/// Where a condition begins to hold between 0 and 1, by halving.
fn root(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    for _ in 0..60 {
        let middle = low.midpoint(high);
        if holds(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    low.midpoint(high)
}

/// The probability of `most` or fewer in `of` trials of a rate above 0 and below 1: the sum of the
/// binomial terms, each from the one before, in logarithms so that none underflows.
fn at_most(most: u32, of: u32, rate: f64) -> f64 {
    let odds = rate.ln() - (-rate).ln_1p();
    let mut term = f64::from(of) * (-rate).ln_1p();
    let mut sum = term.exp();
    for k in 0..most {
        term += f64::from(of - k).ln() - f64::from(k + 1).ln() + odds;
        sum += term.exp();
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn interval(count: u32, of: u32, low: f64, high: f64) {
        let share = Proportion::new(count, of).share.unwrap();
        assert!((share.low - low).abs() < 5e-5, "{count} of {of}: {share:?}");
        assert!(
            (share.high - high).abs() < 5e-5,
            "{count} of {of}: {share:?}"
        );
    }

    #[test]
    fn the_interval_is_that_of_clopper_and_pearson() {
        // R: binom.test(x, n)$conf.int
        interval(1, 10, 0.0025, 0.4450);
        interval(5, 10, 0.1871, 0.8129);
        interval(2, 76, 0.0032, 0.0918);
        // In closed form: 1 - 0.025^(1/n).
        interval(0, 10, 0.0, 0.3085);
        interval(0, 76, 0.0, 1.0 - 0.025_f64.powf(1.0 / 76.0));
        interval(20, 20, 0.025_f64.powf(1.0 / 20.0), 1.0);
    }

    #[test]
    fn none_of_73_is_what_it_takes_to_show_five_percent_at_most() {
        let status = |count, of| Proportion::new(count, of).at_most(0.05);
        assert_eq!(status(0, 71), LimitStatus::Unsure);
        assert_eq!(status(0, 73), LimitStatus::Met);
        assert_eq!(status(1, 73), LimitStatus::Unsure);
        assert_eq!(status(4, 73), LimitStatus::Missed);
        assert_eq!(status(0, 0), LimitStatus::Unknown);
    }

    proptest! {
        #[test]
        fn what_does_not_happen_mirrors_what_does(of in 1u32..200, share in 0.0..=1.0f64) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a test")]
            let count = (f64::from(of) * share) as u32;
            let does = Proportion::new(count, of).share.unwrap();
            let does_not = Proportion::new(of - count, of).share.unwrap();
            prop_assert!((does.low - (1.0 - does_not.high)).abs() < 1e-9);
            prop_assert!(does.low <= does.estimate && does.estimate <= does.high);
        }
    }
}
