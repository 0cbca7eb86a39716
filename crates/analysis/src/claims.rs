//! How many ratios a study claims something of, and how many of these claims may be false.

use crate::{Analysis, Verdict};
use serde::Serialize;
use stowplan_model::CellId;

/// What each ratio may err by: the share of sessions in which its looks together exclude the truth.
pub const ERROR_OF_A_RATIO: f64 = 0.05;

/// The ratios of a study and what is claimed of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Claims {
    /// Ratios between cells that can be chosen which have a figure, in comparisons whose control was
    /// passed.
    pub ratios: usize,
    /// Those called faster, slower or a small difference.
    pub differences: usize,
    /// Those called equivalent.
    pub equivalent: usize,
    /// False claims of a difference to be expected at most, if no cell differed from another.
    pub false_at_most: f64,
}

impl Claims {
    /// Those of an analysis.
    #[must_use]
    pub fn of(analysis: &Analysis) -> Self {
        let mut claims = Self::default();
        let comparisons = analysis.comparisons.iter();
        for comparison in comparisons.filter(|c| c.reliable && !analysis.is_superseded(c)) {
            let is_store = |id: &CellId| comparison.stores().any(|cell| cell.cell.id == *id);
            let contrasts = comparison.contrasts.iter();
            for contrast in contrasts.filter(|c| is_store(&c.cell) && is_store(&c.reference)) {
                claims.ratios += usize::from(contrast.estimate.is_some());
                match contrast.verdict {
                    Verdict::Faster | Verdict::Slower | Verdict::SmallDifference => {
                        claims.differences += 1;
                    }
                    Verdict::Equivalent => claims.equivalent += 1,
                    Verdict::Unresolved | Verdict::Unreliable | Verdict::NoData => {}
                }
            }
        }
        claims.false_at_most = claims.ratios as f64 * ERROR_OF_A_RATIO;
        claims
    }
}
