//! Times that may be less than 0, in words.

use crate::{format, quantity};
use stowplan_analysis::{Cost, Interval, Quantity};
use stowplan_model::Measure;

/// A time in nanoseconds with its ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Time {
    pub(super) value: f64,
    pub(super) ends: (f64, f64),
}

impl From<&Interval> for Time {
    fn from(interval: &Interval) -> Self {
        Self {
            value: interval.estimate,
            ends: (interval.low, interval.high),
        }
    }
}

impl From<&Cost> for Time {
    fn from(cost: &Cost) -> Self {
        Self {
            value: cost.ns,
            ends: (cost.low, cost.high),
        }
    }
}

impl Time {
    /// `2.67 µs`
    pub(super) fn text(&self) -> String {
        if self.value == 0.0 {
            return "0 ns".to_owned();
        }
        minus(&format::time(self.value))
    }

    /// `[2.61, 2.72]`
    pub(super) fn spread(&self) -> String {
        let quantity = Quantity {
            value: self.value,
            ends: Some(self.ends),
        };
        minus(&quantity::spread(Measure::Time, &quantity))
    }

    /// Both.
    pub(super) fn whole(&self) -> String {
        format!("{} {}", self.text(), self.spread())
    }

    /// The time as a gain.
    pub(super) fn negated(&self) -> Self {
        Self {
            value: -self.value,
            ends: (-self.ends.1, -self.ends.0),
        }
    }
}

/// A share of the whole, which may be less than 0.
pub(super) fn share(share: f64) -> String {
    minus(&format::percent(share))
}

pub(super) fn minus(text: &str) -> String {
    text.replace('-', "−")
}
