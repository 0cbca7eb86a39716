//! What to do on this machine: the answers of a whole run, each to one question of its study.

use crate::{ComparisonOutcome, Kind, SizeRange, SpaceRow};
use serde::Serialize;
use stowplan_model::CellId;

/// An answer to one question of the study.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "of", rename_all = "kebab-case")]
pub enum Answer {
    /// Of a matrix or a sweep, by the size of values.
    BySize {
        /// Its name.
        id: String,
        /// What to do.
        kind: Kind,
        /// The sizes at which side A is faster, at every row; of a matrix, it is inside.
        a: Vec<SizeRange>,
        /// The sizes at which side B is.
        b: Vec<SizeRange>,
        /// Whether these are all its sizes.
        complete: bool,
    },
    /// Of a comparison; its `recommendation` says more.
    Comparison {
        /// Its name in the study file.
        id: String,
        /// What to do.
        kind: Kind,
        /// The cell that is chosen.
        choice: Option<CellId>,
    },
    /// Of disk space, among the stores that the study asks about.
    Space {
        /// What to do.
        kind: Kind,
        /// Label of the store that takes the least.
        choice: String,
        /// The others that hold the same values, by rising space.
        others: Vec<MoreSpace>,
    },
}

/// A store that takes more space than the one that takes the least.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MoreSpace {
    /// Its label.
    pub label: String,
    /// Allocated bytes over those of the one that takes the least.
    pub ratio: f64,
}

pub(crate) fn more_space(row: &SpaceRow, smallest: &SpaceRow) -> Option<MoreSpace> {
    Some(MoreSpace {
        label: row.label.clone(),
        ratio: row.ratio? / smallest.ratio?,
    })
}

pub(crate) fn of_comparison(comparison: &ComparisonOutcome) -> Answer {
    Answer::Comparison {
        id: comparison.id.clone(),
        kind: comparison.recommendation.kind,
        choice: comparison.recommendation.choice.clone(),
    }
}
