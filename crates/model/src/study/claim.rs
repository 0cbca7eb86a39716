//! Claims: what a published study states, in its own words, and what would decide it.

use super::ladder::Place;
use super::{DifferenceSpec, Fault, Study};
use crate::{CellId, suggestion};
use serde::de::{SeqAccess, Visitor, value::SeqAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// A sentence of a published study that a run can decide. It has one of `test`, `order`, `best`, and
/// `larger` with `smaller`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClaimSpec {
    /// Name, unique among the claims of the study.
    pub id: String,
    /// What is claimed, in the words of the source; called `claim` in older files.
    #[serde(alias = "claim")]
    pub quote: String,
    /// Where it stands in the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The address of the source, where it is not that of the study.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// How its words were turned into bounds and cells, where they leave a choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Figures within bounds; the claim holds if each is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub test: Vec<TestSpec>,
    /// Cells from the one with the least time to the one with the most.
    #[serde(
        default,
        deserialize_with = "one_or_several",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub order: Vec<CellId>,
    /// Rows of a matrix, one of which takes the least time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best: Option<BestSpec>,
    /// The comparison whose cells test which of two costs is larger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison: Option<String>,
    /// The cost that is said to be larger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub larger: Option<DifferenceSpec>,
    /// The cost that is said to be smaller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smaller: Option<DifferenceSpec>,
    /// The cell of whose whole cost the larger is a part, for "2.7 of 6.0 µs".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
}

/// A figure and its bounds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TestSpec {
    /// The cells whose measures are added up; one, unless it is about a sum.
    #[serde(deserialize_with = "one_or_several")]
    pub of: Vec<CellId>,
    /// The cells whose sum it is divided by; none where the measure itself is the figure.
    #[serde(
        default,
        deserialize_with = "one_or_several",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub to: Vec<CellId>,
    /// What is measured of each.
    #[serde(default, skip_serializing_if = "ClaimMeasure::is_time")]
    pub measure: ClaimMeasure,
    /// The least that the figure is said to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// The most that it is said to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
}

/// What is measured of the cells of a claim.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
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

impl ClaimMeasure {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    fn is_time(&self) -> bool {
        *self == Self::Time
    }

    /// Whether it says something by itself, beside nothing else.
    #[must_use]
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

/// Rows of a matrix of which one is said to take the least time at each of some sizes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    #[must_use]
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
    #[must_use]
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

impl Study {
    /// Claims name cells of the study, and say what decides them.
    pub(super) fn check_claims(&self) -> Vec<Fault> {
        let known = self.names_of_cells();
        let mut seen = BTreeSet::new();
        let claims = self.claims.iter().enumerate();
        let claims = claims.map(|(index, claim)| {
            let place = Place::of("claim", index, &claim.id);
            place.check_id(&mut seen)?;
            self.check_claim(&place, claim, &known)
        });
        claims.filter_map(Result::err).collect()
    }

    /// The names of all cells, those of matrices among them.
    pub(super) fn names_of_cells(&self) -> BTreeSet<String> {
        let compared = self.comparisons.iter().flat_map(|comparison| {
            let keys = comparison.cells.keys();
            keys.map(|key| format!("{}/{key}", comparison.id))
        });
        let crossed = self.matrices.iter().flat_map(|matrix| {
            matrix.sizes.iter().flat_map(|size| {
                let comparison = matrix.comparison_id(*size);
                let beside = matrix.beside.keys();
                let beside = beside.map(move |key| format!("{comparison}/{key}"));
                let rows = matrix.rows.iter().map(|row| matrix.cell_id(*row, *size).0);
                rows.chain([matrix.external_id(*size).0]).chain(beside)
            })
        });
        compared.chain(crossed).collect()
    }

    fn check_claim(
        &self,
        place: &Place<'_>,
        claim: &ClaimSpec,
        known: &BTreeSet<String>,
    ) -> Result<(), Fault> {
        if claim.quote.trim().is_empty() {
            return Err(place.fault("quote", "give the words of the source"));
        }
        let Some(deciding) = claim.deciding() else {
            let wanted = "say what decides it: one of 'test', 'order', 'best', and 'larger' with \
                          'smaller' and 'comparison'";
            return Err(place.fault("id", wanted));
        };
        match deciding {
            Deciding::Tests(tests) => tests.iter().try_for_each(|test| test.check(place, known)),
            Deciding::Order([_]) => Err(place.fault("order", "an order has two cells at least")),
            Deciding::Order(cells) => are_known(place, "order", cells.iter(), known),
            Deciding::Best(best) => self.check_best(place, best),
            Deciding::Larger(comparison, larger, smaller) => {
                let cells = larger.cells().into_iter().chain(smaller.cells());
                self.check_cells(place, comparison, cells.chain(&claim.of))
            }
        }
    }

    fn check_best(&self, place: &Place<'_>, best: &BestSpec) -> Result<(), Fault> {
        let fault = |message: &str| Err(place.fault("best", message));
        let Some(matrix) = self.matrices.iter().find(|m| m.id == best.matrix) else {
            let ids = self.matrices.iter().map(|m| m.id.as_str());
            let near = suggestion(&best.matrix, ids);
            return fault(&format!("unknown matrix '{}'{near}", best.matrix));
        };
        let within = |numbers: &[u64], all: &[u64]| {
            !numbers.is_empty() && numbers.iter().all(|number| all.contains(number))
        };
        if !within(&best.rows, &matrix.rows) || !within(&best.among, &matrix.rows) {
            return fault("'rows' and 'among' must be rows of the matrix");
        }
        if best.among.iter().all(|row| best.rows.contains(row)) {
            return fault("'among' must have rows that are not the best");
        }
        if !within(&best.sizes, &matrix.sizes) {
            return fault("'sizes' must be sizes of the matrix");
        }
        Ok(())
    }
}

impl TestSpec {
    fn check(&self, place: &Place<'_>, known: &BTreeSet<String>) -> Result<(), Fault> {
        let fault = |message: &str| Err(place.fault("test", message));
        if self.of.is_empty() {
            return fault("'of' needs a cell");
        }
        if self.to.is_empty() && !self.measure.stands_alone() {
            return fault("give 'to', the cells that it is compared with");
        }
        if self.to.is_empty() && self.of.len() > 1 {
            return fault("without 'to' it is of one cell");
        }
        let bounds = [self.at_least, self.at_most];
        let is_bound = |bound: &f64| bound.is_finite() && *bound >= 0.0;
        if !bounds.iter().flatten().all(is_bound) {
            return fault("a bound is a number, 0 or more");
        }
        match bounds {
            [None, None] => return fault("give 'at_least', 'at_most' or both"),
            [Some(least), Some(most)] if least > most => {
                return fault("'at_least' is above 'at_most'");
            }
            _ => {}
        }
        are_known(place, "test", self.cells(), known)
    }
}

fn are_known<'a>(
    place: &Place<'_>,
    key: &str,
    mut cells: impl Iterator<Item = &'a CellId>,
    known: &BTreeSet<String>,
) -> Result<(), Fault> {
    match cells.find(|cell| !known.contains(&cell.0)) {
        None => Ok(()),
        Some(cell) => {
            let near = suggestion(&cell.0, known.iter().map(String::as_str));
            let whole = match cell.0.contains('/') {
                true => "",
                false => " (a cell is called COMPARISON/CELL)",
            };
            let name = cell.0.escape_debug();
            Err(place.fault(key, &format!("unknown cell '{name}'{near}{whole}")))
        }
    }
}

/// A cell, or a list of them.
fn one_or_several<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<CellId>, D::Error> {
    struct OneOrSeveral;

    impl<'de> Visitor<'de> for OneOrSeveral {
        type Value = Vec<CellId>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a cell (\"read/sql\") or a list of cells")
        }

        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
            Ok(vec![CellId(text.to_owned())])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
            Vec::deserialize(SeqAccessDeserializer::new(list))
        }
    }

    deserializer.deserialize_any(OneOrSeveral)
}

#[cfg(test)]
mod tests;
