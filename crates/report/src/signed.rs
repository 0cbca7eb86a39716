//! Times in nanoseconds that may be less than 0, in words.

use crate::{format, quantity};
use stowplan_analysis::{Cost, Interval, Quantity};
use stowplan_model::Measure;

/// What a step costs.
pub(crate) fn of(cost: &Cost) -> Interval {
    Interval {
        estimate: cost.ns,
        low: cost.low,
        high: cost.high,
    }
}

/// `2.67 µs`
pub(crate) fn text(time: &Interval) -> String {
    if time.estimate == 0.0 {
        return "0 ns".to_owned();
    }
    minus(&format::time(time.estimate))
}

/// `[2.61, 2.72]`
pub(crate) fn spread(time: &Interval) -> String {
    let quantity = Quantity {
        value: time.estimate,
        ends: Some((time.low, time.high)),
    };
    minus(&quantity::spread(Measure::Time, &quantity))
}

/// Both.
pub(crate) fn whole(time: &Interval) -> String {
    format!("{} {}", text(time), spread(time))
}

/// A share of the whole, which may be less than 0.
pub(crate) fn share(share: f64) -> String {
    minus(&format::percent(share))
}

pub(crate) fn minus(text: &str) -> String {
    text.replace('-', "−")
}
