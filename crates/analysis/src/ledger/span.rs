//! Locations with intervals, put together where cells were not measured in the same rounds.
//!
//! The interval of a sum or of a difference is recovered from those of its parts (MOVER: Zou & Donner
//! 2008, *Statistics in Medicine* 27, 1693): the distances from estimate to end are added in quadrature,
//! each end by itself, so that intervals need not be symmetric. It has the level of its parts where
//! they are independent, which rounds of different comparisons are.

use crate::Interval;

impl Interval {
    /// An estimate with the ends of its interval.
    pub(super) fn new(estimate: f64, low: f64, high: f64) -> Self {
        Self {
            estimate,
            low,
            high,
        }
    }

    /// This one and an independent other one.
    pub(super) fn sum(self, other: Self) -> Self {
        let estimate = self.estimate + other.estimate;
        Self {
            estimate,
            low: estimate - (self.estimate - self.low).hypot(other.estimate - other.low),
            high: estimate + (self.high - self.estimate).hypot(other.high - other.estimate),
        }
    }

    /// This one less an independent other one.
    pub(super) fn less(self, other: Self) -> Self {
        self.sum(Self {
            estimate: -other.estimate,
            low: -other.high,
            high: -other.low,
        })
    }

    /// This one over another, neither below 0: from the least that both allow to the most.
    pub(super) fn over(self, other: Self) -> Self {
        Self {
            estimate: self.estimate / other.estimate,
            low: self.low / other.high,
            high: self.high / other.low,
        }
    }

    /// Both ends moved outwards.
    pub(super) fn widened(self, by: f64) -> Self {
        Self {
            low: self.low - by,
            high: self.high + by,
            ..self
        }
    }

    /// By a function that rises.
    pub(super) fn by(self, rising: fn(f64) -> f64) -> Self {
        Self {
            estimate: rising(self.estimate),
            low: rising(self.low),
            high: rising(self.high),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn interval() -> impl Strategy<Value = Interval> {
        (0.1..100.0f64, 0.0..1.0f64, 0.0..1.0f64).prop_map(|(estimate, below, above)| Interval {
            estimate,
            low: estimate * (1.0 - below / 2.0),
            high: estimate * (1.0 + above),
        })
    }

    #[test]
    fn ends_add_up_in_quadrature_each_by_itself() {
        let a = Interval::new(10.0, 7.0, 11.0);
        let b = Interval::new(20.0, 16.0, 25.0);
        assert_eq!(a.sum(b), Interval::new(30.0, 25.0, 30.0 + 26.0_f64.sqrt()));
        let less = b.less(a);
        assert_eq!(less.estimate, 10.0);
        assert!((less.low - (10.0 - 17.0_f64.sqrt())).abs() < 1e-12);
        assert!((less.high - (10.0 + 34.0_f64.sqrt())).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn a_sum_is_no_narrower_than_its_parts_and_no_wider_than_their_ends(
            a in interval(), b in interval(),
        ) {
            let sum = a.sum(b);
            prop_assert!(sum.high - sum.estimate + 1e-9 >= (a.high - a.estimate).max(b.high - b.estimate));
            prop_assert!(sum.high <= a.high + b.high + 1e-9 && sum.low >= a.low + b.low - 1e-9);
            prop_assert_eq!(a.sum(b), b.sum(a));
        }

        #[test]
        fn a_quotient_turned_round_is_the_inverse(a in interval(), b in interval()) {
            let quotient = a.by(f64::ln).less(b.by(f64::ln)).by(f64::exp);
            let inverse = b.by(f64::ln).less(a.by(f64::ln)).by(f64::exp);
            for (x, y) in [(quotient.low, inverse.high), (quotient.estimate, inverse.estimate), (quotient.high, inverse.low)] {
                prop_assert!((x * y - 1.0).abs() < 1e-9);
            }
        }
    }
}
