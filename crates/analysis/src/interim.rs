//! How far a comparison has come, for those who watch it. Nothing is concluded from it: that is for
//! the looks alone.

use crate::{
    RatioEstimate, StoppingRule,
    blocks::Blocks,
    stopping::{self, Noise},
};
use stowplan_model::{Comparison, Contrast, Measurement};

/// A contrast that is not decided yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Interim {
    /// The contrast.
    pub contrast: Contrast,
    /// Its ratio by all rounds so far, with the interval that a look would give it now; nothing
    /// with fewer than ten rounds.
    pub estimate: Option<RatioEstimate>,
}

impl Interim {
    /// Half the width of the interval as a ratio minus one: 0.02 is ±2%.
    #[must_use]
    pub fn half_width(&self) -> Option<f64> {
        let estimate = self.estimate?;
        Some((estimate.high / estimate.low).sqrt() - 1.0)
    }
}

/// The contrasts that [`crate::undecided`] names, with what is known of them.
#[must_use]
pub fn interim(
    comparison: &Comparison,
    measurements: &[Measurement],
    rule: &StoppingRule,
) -> Vec<Interim> {
    let blocks = Blocks::of(comparison, measurements);
    let noise = Noise::of(comparison, &blocks, rule);
    let open = stopping::open(comparison, &blocks, noise.metric, rule);
    open.into_iter()
        .map(|(contrast, so_far)| {
            let found = noise.spread.estimate(&so_far.differences, so_far.alpha);
            Interim {
                contrast,
                estimate: found.map(|(estimate, _)| estimate.to_ratio(0.0)),
            }
        })
        .collect()
}
