//! What of the times of operations a comparison is about.

use crate::words::words;

words! {
    /// The figure of each block whose ratios are a comparison's verdicts.
    #[derive(Default, PartialOrd, Ord)]
    pub enum Statistic {
        /// The time of all operations: their mean.
        #[default]
        Time = "time",
        /// The median of the operations of a block.
        P50 = "p50",
        /// What one operation in ten exceeds.
        P90 = "p90",
        /// What one operation in a hundred exceeds.
        P99 = "p99",
        /// What one operation in a thousand exceeds.
        P999 = "p999",
        /// The slowest operation of a block.
        Max = "max",
    }
}

impl Statistic {
    /// Its name for people.
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
    pub fn is_time(&self) -> bool {
        *self == Self::Time
    }

    /// The share of a block's operations that take no longer; nothing for the time of all.
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
