//! Claims: what a published study states, in its own words, and what would decide it.

use super::{DifferenceSpec, Study};
use crate::CellId;
use crate::words::data;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeSet;

data! {
    /// A sentence of a published study that a run can decide. It has one of `test`, `order`, `best`, and
    /// `larger` with `smaller`.
    #[derive(Default)]
    pub struct ClaimSpec {
        /// Name, unique among the claims of the study.
        pub id: String,
        /// What is claimed, in the words of the source; called `claim` in older files.
        #[serde(alias = "claim")]
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
        /// Rows of a matrix, one of which takes the least time.
        pub best: Option<BestSpec> = default,
        /// The comparison whose cells test which of two costs is larger.
        pub comparison: Option<String> = default,
        /// The cost that is said to be larger.
        pub larger: Option<DifferenceSpec> = default,
        /// The cost that is said to be smaller.
        pub smaller: Option<DifferenceSpec> = default,
        /// The cell of whose whole cost the larger is a part, for "2.7 of 6.0 µs".
        pub of: Option<String> = default,
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
        /// What is measured of each.
        pub measure: ClaimMeasure = default,
        /// The least that the figure is said to be.
        pub at_least: Option<f64> = default,
        /// The most that it is said to be.
        pub at_most: Option<f64> = default,
    }

    /// What is measured of the cells of a claim.
    #[derive(Copy, Default, Eq)]
    pub enum ClaimMeasure {
        /// Time per operation.
        #[default]
        Time,
        /// Time of all operations of a block, or of as many as it stands for.
        BlockTime,
        /// CPU time per operation, all threads.
        Cpu,
        /// Operations per second.
        Throughput,
        /// Bytes allocated on disk: after a block that filled a store, else right after building.
        Footprint,
        /// Share of the bytes of leaf pages that are in use, 0 to 1.
        PageFill,
        /// The same of the leaf pages of indexes.
        IndexFill,
        /// CPU time over the time of the timed operations without the wait for a CPU, 0 to 1 of one thread.
        CpuShare,
        /// Sync calls for each transaction.
        SyncsPerCommit,
    }

    /// Rows of a matrix of which one is said to take the least time at each of some sizes.
    #[derive(Default)]
    pub struct BestSpec {
        /// The matrix.
        pub matrix: String,
        /// The rows, of which one is said to be the best.
        pub rows: Vec<u64>,
        /// All rows that are compared; one that a run lacks leaves the claim undecided, unless it fails.
        pub among: Vec<u64>,
        /// The sizes, in bytes.
        pub sizes: Vec<u64>,
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

/// What of a claim decides it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Deciding<'a> {
    /// Figures within bounds.
    Tests(&'a [TestSpec]),
    /// Cells from the fastest to the slowest.
    Order(&'a [CellId]),
    /// The best rows of a matrix.
    Best(&'a BestSpec),
    /// Which of two costs is larger, in this comparison.
    Larger(&'a str, &'a DifferenceSpec, &'a DifferenceSpec),
}

impl ClaimSpec {
    /// What decides it; nothing where that is nothing, or more than one thing.
    pub fn deciding(&self) -> Option<Deciding<'_>> {
        let tests = (!self.test.is_empty()).then_some(Deciding::Tests(&self.test));
        let order = (!self.order.is_empty()).then_some(Deciding::Order(&self.order));
        let best = self.best.as_ref().map(Deciding::Best);
        let sides = self.larger.as_ref().zip(self.smaller.as_ref());
        let larger = self.comparison.as_ref().zip(sides);
        let larger = larger.map(|(id, (larger, smaller))| Deciding::Larger(id, larger, smaller));
        let mut found = [tests, order, best, larger].into_iter().flatten();
        match (found.next(), found.next()) {
            (Some(one), None) => Some(one),
            _ => None,
        }
    }

    /// The cells that it needs, each once; those of matrices at any of the sizes and rows of `study`.
    pub fn cells(&self, study: &Study) -> BTreeSet<CellId> {
        match self.deciding() {
            Some(Deciding::Tests(tests)) => {
                let tests = tests.iter();
                tests.flat_map(TestSpec::cells).cloned().collect()
            }
            Some(Deciding::Order(cells)) => cells.iter().cloned().collect(),
            Some(Deciding::Best(best)) => best.cells(study),
            Some(Deciding::Larger(comparison, larger, smaller)) => {
                let keys = larger.cells().into_iter().chain(smaller.cells());
                let keys = keys.chain(&self.of);
                keys.map(|key| CellId(format!("{comparison}/{key}")))
                    .collect()
            }
            None => BTreeSet::new(),
        }
    }
}

impl TestSpec {
    /// The cells that it needs.
    pub fn cells(&self) -> impl Iterator<Item = &CellId> {
        self.of.iter().chain(&self.to)
    }
}

impl BestSpec {
    fn cells(&self, study: &Study) -> BTreeSet<CellId> {
        let Some(matrix) = study.matrices.iter().find(|m| m.id == self.matrix) else {
            return BTreeSet::new();
        };
        let rows: BTreeSet<u64> = self.rows.iter().chain(&self.among).copied().collect();
        let cells = self.sizes.iter().flat_map(|size| {
            let rows = rows.iter();
            rows.map(|row| matrix.cell_id(*row, *size))
        });
        cells.collect()
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
mod tests;
