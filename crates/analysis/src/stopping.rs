//! When to stop measuring.

use stowplan_model::{Comparison, Contrast, Measurement, RunHeader};

/// Rounds after which a contrast is looked at (METHOD "Stopping").
pub const LOOKS: [u32; 3] = [10, 20, 40];

/// What a contrast must meet before its cells may be dropped from later rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StoppingRule {
    /// Half-width of the equivalence zone as a ratio, minus one: 0.05 is 5% (δ = ln 1.05).
    pub equivalence: f64,
    /// The most rounds a comparison gets; its own cap and that of the procedure (40) hold too.
    pub max_rounds: u32,
    /// Half-width that the interval, before widening, must reach besides, as a ratio minus one
    /// (0.02 is 2%).
    pub precision: Option<f64>,
}

impl StoppingRule {
    /// The rule by which a recorded run was stopped.
    #[must_use]
    pub fn of(run: &RunHeader) -> Self {
        Self {
            equivalence: run.equivalence,
            max_rounds: run.max_rounds,
            precision: None,
        }
    }
}

/// The contrasts of a comparison that need further rounds, given all its measurements so far.
#[must_use]
pub fn undecided(
    comparison: &Comparison,
    measurements: &[Measurement],
    rule: &StoppingRule,
) -> Vec<Contrast> {
    let rounds = measurements.iter().map(|m| m.round + 1).max().unwrap_or(0);
    if rounds >= rule.max_rounds.min(comparison.max_rounds) {
        return Vec::new();
    }
    comparison.contrasts.clone()
}
