//! Made-up points of a sweep.

use super::SweepPoint;
use crate::{Estimate, Verdict, verdict};
use proptest::prelude::*;

/// δ of the default equivalence zone.
pub(crate) const ZONE: f64 = 0.048_790_164_169_432;

/// A point whose interval is this estimate within 1% either way.
pub(crate) fn point(size: u64, ratio: f64) -> SweepPoint {
    point_between(size, ratio / 1.01, ratio * 1.01)
}

/// A point with this interval and the verdict that belongs to it.
pub(crate) fn point_between(size: u64, low: f64, high: f64) -> SweepPoint {
    let (low, high) = (low.ln(), high.ln());
    let estimate = Estimate {
        estimate: f64::midpoint(low, high),
        low,
        high,
        n: 10,
    };
    SweepPoint {
        size,
        estimate: Some(estimate.to_ratio(0.0)),
        verdict: verdict(low, high, ZONE),
    }
}

/// A size that was not measured to the end.
pub(crate) fn gap(size: u64) -> SweepPoint {
    SweepPoint {
        size,
        estimate: None,
        verdict: Verdict::NoData,
    }
}

/// One point per letter at 1024, 2048, 4096 … bytes: `A` and `B` win, `a` and `b` lean, `=` is
/// equivalent, `?` unresolved, `!` of an unreliable session, `.` without a figure.
pub(crate) fn points(letters: &str) -> Vec<SweepPoint> {
    let sizes = (10..).map(|power| 1 << power);
    sizes
        .zip(letters.chars())
        .map(|(size, letter)| match letter {
            'A' => point_between(size, 1.2, 1.3),
            'B' => point_between(size, 1.0 / 1.3, 1.0 / 1.2),
            'a' => point_between(size, 1.02, 1.08),
            'b' => point_between(size, 1.0 / 1.08, 1.0 / 1.02),
            '=' => point_between(size, 0.98, 1.03),
            '?' => point_between(size, 0.9, 1.2),
            '!' => SweepPoint {
                verdict: Verdict::Unreliable,
                ..point_between(size, 1.2, 1.3)
            },
            _ => gap(size),
        })
        .collect()
}

/// Any sweep, as letters for [`points`].
pub(crate) fn letters() -> impl Strategy<Value = String> {
    // Wins more often than the rest, or most sweeps would have no order.
    let letter = prop_oneof![
        3 => Just('A'), 3 => Just('B'), 1 => Just('a'), 1 => Just('b'),
        1 => Just('='), 1 => Just('?'), 1 => Just('!'), 1 => Just('.'),
    ];
    proptest::collection::vec(letter, 0..12).prop_map(String::from_iter)
}
