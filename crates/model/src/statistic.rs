//! What of the times of operations a comparison is about.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The figure of each block whose ratios are a comparison's verdicts.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Statistic {
    /// The time of all operations: their mean.
    #[default]
    Time,
    /// The median of the operations of a block.
    P50,
    /// What one operation in ten exceeds.
    P90,
    /// What one operation in a hundred exceeds.
    P99,
    /// What one operation in a thousand exceeds.
    P999,
    /// The slowest operation of a block.
    Max,
}

impl Statistic {
    /// Its name in study files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P99 => "p99",
            Self::P999 => "p999",
            Self::Max => "max",
        }
    }

    /// Its name for people.
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::P50 => "median operation",
            Self::P90 => "90th percentile",
            Self::P99 => "99th percentile",
            Self::P999 => "99.9th percentile",
            Self::Max => "slowest operation",
        }
    }

    /// Whether it is the time of all operations.
    #[must_use]
    pub fn is_time(&self) -> bool {
        *self == Self::Time
    }

    /// The share of a block's operations that take no longer; nothing for the time of all.
    #[must_use]
    pub fn share(self) -> Option<f64> {
        match self {
            Self::Time => None,
            Self::P50 => Some(0.5),
            Self::P90 => Some(0.9),
            Self::P99 => Some(0.99),
            Self::P999 => Some(0.999),
            Self::Max => Some(1.0),
        }
    }

    /// The fewest operations of a block that has it: with fewer, a percentile would be the slowest
    /// operation.
    #[must_use]
    pub fn least_operations(self) -> u64 {
        match self {
            Self::Time | Self::Max => 1,
            Self::P50 => 2,
            Self::P90 => 10,
            Self::P99 => 100,
            Self::P999 => 1_000,
        }
    }
}

impl fmt::Display for Statistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
