//! A location with its interval, and what is done with intervals.
//!
//! The interval of a sum or of a difference is recovered from those of its parts (MOVER: Zou & Donner
//! 2008, *Statistics in Medicine* 27, 1693): the distances from estimate to end are added in quadrature,
//! each end by itself, so that intervals need not be symmetric. It has the level of its parts where
//! they are independent, which rounds of different comparisons are.

use serde::Serialize;

/// A location with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// Estimate.
    pub estimate: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// An estimated ratio of times with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RatioEstimate {
    /// Estimate of the ratio: that of Hodges and Lehmann.
    pub ratio: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Rounds it rests on.
    pub rounds: usize,
}

impl RatioEstimate {
    /// The estimate of the inverse ratio.
    #[must_use]
    pub fn inverse(&self) -> Self {
        Self {
            ratio: 1.0 / self.ratio,
            low: 1.0 / self.high,
            high: 1.0 / self.low,
            rounds: self.rounds,
        }
    }

    /// Whether the whole interval lies on one side of 1.
    #[must_use]
    pub fn excludes_one(&self) -> bool {
        self.low > 1.0 || self.high < 1.0
    }
}

impl Interval {
    /// An estimate with the ends of its interval.
    pub(crate) fn new(estimate: f64, low: f64, high: f64) -> Self {
        Self {
            estimate,
            low,
            high,
        }
    }

    /// A figure with a reach to either side.
    pub(crate) fn around(estimate: f64, reach: f64) -> Self {
        Self::new(estimate, estimate - reach, estimate + reach)
    }

    /// This one and an independent other one.
    pub(crate) fn sum(self, other: Self) -> Self {
        let estimate = self.estimate + other.estimate;
        Self {
            estimate,
            low: estimate - (self.estimate - self.low).hypot(other.estimate - other.low),
            high: estimate + (self.high - self.estimate).hypot(other.high - other.estimate),
        }
    }

    /// This one less an independent other one.
    pub(crate) fn less(self, other: Self) -> Self {
        self.sum(other.times(-1.0))
    }

    /// This one and another that may be off to the same side: ends are added to ends.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self::new(
            self.estimate + other.estimate,
            self.low + other.low,
            self.high + other.high,
        )
    }

    /// Multiplies by a factor; one below 0 turns the ends round.
    pub(crate) fn times(self, factor: f64) -> Self {
        let (a, b) = (self.low * factor, self.high * factor);
        Self::new(self.estimate * factor, a.min(b), a.max(b))
    }

    /// This one over another, neither below 0: from the least that both allow to the most.
    pub(crate) fn over(self, other: Self) -> Self {
        Self {
            estimate: self.estimate / other.estimate,
            low: self.low / other.high,
            high: self.high / other.low,
        }
    }

    /// Both ends moved outwards.
    pub(crate) fn widened(self, by: f64) -> Self {
        Self {
            low: self.low - by,
            high: self.high + by,
            ..self
        }
    }

    /// By a function that rises.
    pub(crate) fn by(self, rising: fn(f64) -> f64) -> Self {
        Self::new(rising(self.estimate), rising(self.low), rising(self.high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
