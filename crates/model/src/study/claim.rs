//! Claims: what a published study states, in its own words, and what would decide it.

use crate::CellId;
use crate::words::{data, words};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::collections::BTreeSet;

words! {
    /// What is measured of the cells of a claim.
    #[derive(Default)]
    pub enum ClaimMeasure {
        /// Time per operation.
        #[default]
        Time = "time",
        /// Time of all operations of a block, or of as many as it stands for.
        BlockTime = "block-time",
        /// CPU time per operation, all threads.
        Cpu = "cpu",
        /// Operations per second.
        Throughput = "throughput",
        /// Bytes allocated on disk: after a block that filled a store, else right after building.
        Footprint = "footprint",
        /// Share of the bytes of leaf pages that are in use, 0 to 1.
        PageFill = "page-fill",
        /// Share of the bytes of leaf pages of indexes that are in use, 0 to 1.
        IndexFill = "index-fill",
        /// CPU time over the time of the timed operations without the wait for a CPU, 0 to 1 of one thread.
        CpuShare = "cpu-share",
        /// Sync calls for each transaction.
        SyncsPerCommit = "syncs-per-commit",
    }
}

data! {
    /// A sentence of a published study that a run can decide. It has `test` or `order`.
    #[derive(Default)]
    pub struct ClaimSpec {
        /// Name, unique among the claims of the study.
        pub id: String,
        /// What is claimed, in the words of the source.
        pub quote: String,
        /// Where it stands in the source.
        pub place: Option<String> = default,
        /// The address of the source, where it is not that of the study.
        pub source: Option<String> = default,
        /// How its words were turned into bounds and cells, where they leave a choice.
        pub note: Option<String> = default,
        /// Figures within bounds; the claim holds if each is.
        pub test: Vec<TestSpec> = default,
        /// Cells from the one with the least time to the one with the most.
        #[serde(deserialize_with = "one_or_several")]
        pub order: Vec<CellId> = default,
    }

    /// A figure and its bounds.
    #[derive(Default)]
    pub struct TestSpec {
        /// The cells whose measures are added up; one, unless it is about a sum.
        #[serde(deserialize_with = "one_or_several")]
        pub of: Vec<CellId>,
        /// The cells whose sum it is divided by; none where the measure itself is the figure.
        #[serde(deserialize_with = "one_or_several")]
        pub to: Vec<CellId> = default,
        /// Cells that will do in the place of `to`: it is enough that the figure is within its bounds to either.
        #[serde(deserialize_with = "one_or_several")]
        pub or_to: Vec<CellId> = default,
        /// What is measured of each.
        pub measure: ClaimMeasure = default,
        /// The least that the figure is said to be.
        pub at_least: Option<f64> = default,
        /// The most that it is said to be.
        pub at_most: Option<f64> = default,
    }
}

impl ClaimMeasure {
    /// Whether it says something by itself, beside nothing else.
    pub fn stands_alone(self) -> bool {
        matches!(
            self,
            Self::Throughput
                | Self::PageFill
                | Self::IndexFill
                | Self::CpuShare
                | Self::SyncsPerCommit
        )
    }
}

impl ClaimSpec {
    /// The figures that decide it: those that it gives, or of an order each cell beside the one before it, which
    /// is said to take no longer.
    pub fn tests(&self) -> Cow<'_, [TestSpec]> {
        if self.order.is_empty() {
            return Cow::Borrowed(&self.test);
        }
        let neighbours = self.order.windows(2).map(|pair| TestSpec {
            of: vec![pair[1].clone()],
            to: vec![pair[0].clone()],
            at_least: Some(1.0),
            ..TestSpec::default()
        });
        Cow::Owned(neighbours.collect())
    }

    /// The cells that it needs, each once.
    pub fn cells(&self) -> BTreeSet<CellId> {
        let tests = self.tests();
        tests.iter().flat_map(TestSpec::cells).cloned().collect()
    }
}

impl TestSpec {
    /// The cells that it needs.
    pub fn cells(&self) -> impl Iterator<Item = &CellId> {
        self.of.iter().chain(&self.to).chain(&self.or_to)
    }
}

/// A cell, or a list of them.
fn one_or_several<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<CellId>, D::Error> {
    #[derive(Deserialize)]
    #[serde(
        untagged,
        expecting = "expected a cell (\"read/sql\") or a list of cells"
    )]
    enum Cells {
        One(CellId),
        Several(Vec<CellId>),
    }

    Ok(match Cells::deserialize(deserializer)? {
        Cells::One(cell) => vec![cell],
        Cells::Several(cells) => cells,
    })
}

#[cfg(test)]
pub(super) mod tests;
