//! How often something happens, with an exact interval.

use super::float;
use crate::Interval;

/// Each end of an interval misses with this probability at most.
const TAIL: f64 = 0.025;

/// The share of trials in which something happened, with the 95% interval of Clopper and Pearson (1934):
/// its ends are the rates at which so many, or more, and so many, or fewer, have a probability of 2.5%.
/// Nothing without a trial.
pub(super) fn share(count: u64, of: u64) -> Option<Interval> {
    let low = 1.0 - upper(of - count, of);
    (of > 0).then(|| Interval::new(float(count) / float(of), low, upper(count, of)))
}

/// The rate at which `count` or fewer have the probability of a tail, by halving.
fn upper(count: u64, of: u64) -> f64 {
    if count == of {
        return 1.0;
    }
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    for _ in 0..60 {
        let middle = low.midpoint(high);
        if at_most(count, of, middle) <= TAIL {
            high = middle;
        } else {
            low = middle;
        }
    }
    low.midpoint(high)
}

/// The probability of `most` or fewer in `of` trials of a rate above 0 and below 1: the sum of the
/// binomial terms, each from the one before, in logarithms so that none underflows.
fn at_most(most: u64, of: u64, rate: f64) -> f64 {
    let odds = rate.ln() - (-rate).ln_1p();
    let mut term = float(of) * (-rate).ln_1p();
    let mut sum = term.exp();
    for k in 0..most {
        term += float(of - k).ln() - float(k + 1).ln() + odds;
        sum += term.exp();
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::{Figure, FigureUnit, LimitStatus};
    use proptest::prelude::*;

    #[test]
    fn the_interval_is_that_of_clopper_and_pearson() {
        for (count, of, low, high) in [
            // R: binom.test(x, n)$conf.int
            (1, 10, 0.0025, 0.4450),
            (5, 10, 0.1871, 0.8129),
            (2, 76, 0.0032, 0.0918),
            // In closed form: 1 - 0.025^(1/n).
            (0, 10, 0.0, 0.3085),
            (0, 76, 0.0, 1.0 - 0.025_f64.powf(1.0 / 76.0)),
            (20, 20, 0.025_f64.powf(1.0 / 20.0), 1.0),
        ] {
            let share = share(count, of).unwrap();
            let off = [share.low - low, share.high - high].map(f64::abs);
            assert!(off[0] < 5e-5 && off[1] < 5e-5, "{count} of {of}: {share:?}");
        }
    }

    #[test]
    fn none_of_73_is_what_it_takes_to_show_five_percent_at_most() {
        for (count, of, status) in [
            (0, 71, LimitStatus::Unsure),
            (0, 73, LimitStatus::Met),
            (1, 73, LimitStatus::Unsure),
            (4, 73, LimitStatus::Missed),
            (0, 0, LimitStatus::Unknown),
        ] {
            let figure = Figure::new("", FigureUnit::ShareOfSessions, share(count, of));
            assert_eq!(figure.at_most(0.05).status, Some(status), "{count} of {of}");
        }
    }

    proptest! {
        #[test]
        fn an_interval_holds_its_estimate_and_misses_at_either_end_as_often_as_it_may(
            of in 1u64..200, part in 0.0..=1.0f64,
        ) {
            let count = (float(of) * part) as u64;
            let found = share(count, of).unwrap();
            prop_assert!(found.low <= found.estimate && found.estimate <= found.high);
            if count > 0 {
                prop_assert!((1.0 - at_most(count - 1, of, found.low) - TAIL).abs() < 1e-9);
            }
        }
    }
}
