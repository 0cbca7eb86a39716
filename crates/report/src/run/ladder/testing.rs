//! A made-up ladder.

use std::collections::BTreeMap;
use stowplan_analysis::{
    Agreement, Cost, Interval, Isolated, IsolatedSum, LadderOutcome, Metric, Step,
};
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
        isolated: Some(IsolatedSum {
            sum: interval(sum),
            remainder: interval(remainder),
            without: Vec::new(),
        }),
        missing: Vec::new(),
    }
}

fn step(ns: f64, whole: f64) -> Step {
    Step {
        cell: CellId("reads/a".to_owned()),
        below: None,
        steps: vec!["a step".to_owned()],
        cost: Cost {
            ns,
            raw_low: ns - 10.0,
            raw_high: ns + 10.0,
            low: ns - 10.0,
            high: ns + 10.0,
            rounds: 20,
        },
        share: ns / whole,
        isolated: Some(Isolated {
            cost: interval(ns),
            parts: BTreeMap::new(),
            agreement: Agreement::Agrees,
        }),
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
