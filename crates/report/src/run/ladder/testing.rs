//! A made-up ladder.

use stowplan_analysis::{Interval, LadderOutcome, Metric, Step};
use stowplan_model::CellId;

/// A ladder with steps of these costs in nanoseconds, each of which takes the same alone, above
/// which this much is left.
pub(super) fn ladder(costs: &[f64], remainder: f64) -> LadderOutcome {
    let sum: f64 = costs.iter().sum();
    let whole = sum + remainder;
    LadderOutcome {
        id: "files".to_owned(),
        title: "Files".to_owned(),
        comparison: "reads".to_owned(),
        metric: Metric::Corrected,
        reliable: true,
        steps: costs.iter().map(|ns| step(*ns, whole)).collect(),
        whole: Some(interval(whole)),
        sum: Some(sum),
        remainder: Some(interval(remainder)),
        missing: Vec::new(),
    }
}

fn step(ns: f64, whole: f64) -> Step {
    Step {
        cell: CellId("reads/a".to_owned()),
        below: None,
        steps: vec!["a step".to_owned()],
        cost: interval(ns),
        share: ns / whole,
        isolated: Some(interval(ns)),
        calls: None,
    }
}

fn interval(estimate: f64) -> Interval {
    Interval {
        estimate,
        low: estimate - 10.0,
        high: estimate + 10.0,
    }
}
