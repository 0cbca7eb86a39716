//! How far a comparison has come, for those who watch it. Nothing is concluded from it: that is for
//! the looks alone.

use crate::{
    RatioEstimate, StoppingRule,
    blocks::Blocks,
    stopping::{self, Noise},
};
use stowplan_model::{Comparison, Contrast, Measurement};

/// How far a contrast has come.
#[derive(Debug, Clone, PartialEq)]
pub struct Interim {
    /// The contrast.
    pub contrast: Contrast,
    /// Its ratio by all rounds so far, or by those that decided it, with the interval that a look would give it
    /// now; nothing with fewer than ten rounds.
    pub estimate: Option<RatioEstimate>,
    /// Whether it needs no further round.
    pub decided: bool,
}

/// The contrasts that were asked about, and those that [`crate::undecided`] names, with what is known of them.
#[must_use]
pub fn interim(
    comparison: &Comparison,
    measurements: &[Measurement],
    rule: &StoppingRule,
) -> Vec<Interim> {
    let blocks = Blocks::of(comparison, measurements);
    let noise = Noise::of(comparison, &blocks, rule);
    let asked = stopping::progress(comparison, &blocks, noise.metric, rule);
    let known = asked.into_iter().map(|(contrast, so_far)| {
        let found = noise.spread.estimate(&so_far.differences, so_far.alpha);
        Interim {
            contrast,
            estimate: found.map(|(estimate, _)| estimate.to_ratio(0.0)),
            decided: so_far.decided,
        }
    });
    known.collect()
}
