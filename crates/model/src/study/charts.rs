//! Charts of measured quantities: bars over several comparisons, and lines over what cells differ in.

use crate::words::{data, words};
use serde::{Deserialize, Serialize};

words! {
    /// What a chart shows of each cell.
    #[derive(Default)]
    pub enum Measure {
        /// Headline time per operation, with its interval.
        #[default]
        Time = "time",
        /// Time of all operations of a block, as mean and standard error over the rounds.
        BlockTime = "block-time",
        /// Operations per second, with their interval.
        Throughput = "throughput",
        /// CPU time per operation.
        Cpu = "cpu",
        /// Largest resident set of a worker.
        PeakMemory = "peak-memory",
        /// Bytes allocated on disk.
        Footprint = "footprint",
        /// Bytes sent to storage per byte that the operations wrote.
        WriteAmplification = "write-amplification",
    }
}

data! {
    /// How an axis divides.
    #[derive(Copy, Eq)]
    pub enum Axis {
        /// From 0, in equal steps.
        Linear,
        /// In equal factors.
        Logarithmic,
    }

    /// Bars of one quantity: a group for each comparison, in it a bar for each cell, those that keep the
    /// same durability promise together.
    pub struct BarsSpec {
        /// Name, unique among the charts of the study.
        pub id: String,
        /// Title for people.
        pub title: String,
        /// The comparisons, in reading order. Those that a scale leaves out are left out here too.
        pub comparisons: Vec<String>,
        /// Names of the cells drawn, in order; every cell unless given.
        pub cells: Vec<String> | default,
        /// What is shown of each.
        pub measure: Measure | default,
        /// The axis; logarithmic unless given if the bars differ by more than tenfold.
        pub axis: Option<Axis> | default,
        /// Where the published figures come from, in words.
        pub published_label: Option<String> | default,
        /// Published figures of what is no cell here.
        pub published: Vec<PublishedBar> | default,
    }

    /// What others published of a system that is not measured here.
    pub struct PublishedBar {
        /// The comparison whose group it stands in.
        pub comparison: String,
        /// What it was.
        pub label: String,
        /// Seconds of as many operations as a block of that comparison has.
        pub seconds: f64,
        /// Standard error of that, in seconds.
        pub error_seconds: Option<f64> | default,
    }

    /// Lines of one quantity against what cells differ in: cells that are the same otherwise are one
    /// line. Both axes are logarithmic.
    pub struct LinesSpec {
        /// Name, unique among the charts of the study.
        pub id: String,
        /// Title for people.
        pub title: String,
        /// The comparisons whose cells are its points.
        pub comparisons: Vec<String>,
        /// Names of the cells drawn; every cell unless given. One without what is across is drawn as a
        /// level.
        pub cells: Vec<String> | default,
        /// What lies across.
        pub x: Across,
        /// What is shown upwards.
        pub measure: Measure | default,
    }
}

/// What a line chart has on its axis across: `operations`, `per_transaction`, `threads`, or the name of a setting.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(with = "String")
)]
#[serde(from = "String", into = "String")]
pub enum Across {
    /// Operations of a block, or those that it is a sample of.
    Operations,
    /// Operations per transaction.
    PerTransaction,
    /// Threads.
    Threads,
    /// A setting of the stores, by name, whose values are numbers.
    Setting(String),
}

impl From<String> for Across {
    fn from(name: String) -> Self {
        let name = name.replace('-', "_");
        match name.as_str() {
            "operations" => Self::Operations,
            "per_transaction" => Self::PerTransaction,
            "threads" => Self::Threads,
            _ => Self::Setting(name),
        }
    }
}

impl From<Across> for String {
    fn from(across: Across) -> Self {
        across.name().to_owned()
    }
}

impl Across {
    /// Its name in study files.
    pub fn name(&self) -> &str {
        match self {
            Self::Operations => "operations",
            Self::PerTransaction => "per_transaction",
            Self::Threads => "threads",
            Self::Setting(name) => name,
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
