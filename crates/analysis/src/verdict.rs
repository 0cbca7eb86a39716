//! The judgement on a ratio, by its interval and the zone of equivalence.

use crate::interval::RatioEstimate;
use serde::Serialize;

/// The judgement on a ratio of times, by interval and equivalence zone (docs/method.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The whole interval lies below the zone: the cell takes less time.
    Faster,
    /// The whole interval lies above the zone.
    Slower,
    /// The whole interval lies within the zone.
    Equivalent,
    /// The interval excludes 1 but overlaps the zone's edge.
    SmallDifference,
    /// The interval contains 1 and reaches beyond the zone.
    Unresolved,
    /// The control failed: nothing is claimed.
    Unreliable,
    /// Fewer than ten rounds, or a cell failed.
    NoData,
}

impl Verdict {
    /// Whether it answers the question: more rounds would not change it.
    pub(crate) fn is_decided(self) -> bool {
        matches!(self, Self::Faster | Self::Slower | Self::Equivalent)
    }

    /// The verdict on the inverse ratio.
    #[must_use]
    pub fn inverse(self) -> Self {
        match self {
            Self::Faster => Self::Slower,
            Self::Slower => Self::Faster,
            symmetric => symmetric,
        }
    }
}

/// The verdict on an interval of `ln(x_B / x_A)`, given δ (METHOD "Ratios"). An
/// interval inside the zone is equivalent even where it excludes 0.
#[must_use]
pub fn verdict(low: f64, high: f64, zone: f64) -> Verdict {
    if high < -zone {
        Verdict::Faster
    } else if low > zone {
        Verdict::Slower
    } else if low >= -zone && high <= zone {
        Verdict::Equivalent
    } else if low > 0.0 || high < 0.0 {
        Verdict::SmallDifference
    } else {
        Verdict::Unresolved
    }
}

/// Whether a ratio by another time bears out a verdict by the headline's `estimate`: a difference if
/// its interval excludes 1 on the same side, equivalence unless it lies outside the zone. Otherwise
/// nothing is claimed.
pub(crate) fn bears_out(
    verdict: Verdict,
    estimate: &RatioEstimate,
    other: &RatioEstimate,
    zone: f64,
) -> bool {
    match verdict {
        Verdict::Faster | Verdict::Slower | Verdict::SmallDifference if estimate.ratio < 1.0 => {
            other.high < 1.0
        }
        Verdict::Faster | Verdict::Slower | Verdict::SmallDifference => other.low > 1.0,
        Verdict::Equivalent => other.low.ln() <= zone && other.high.ln() >= -zone,
        Verdict::Unresolved | Verdict::Unreliable | Verdict::NoData => true,
    }
}
