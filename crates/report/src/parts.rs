//! The old names of what [`crate::constituents`] and [`crate::noise`] have.

pub(crate) use crate::constituents::{count, of_matrix, of_sweep, singles, space};
pub(crate) use crate::noise::{evidence, noise};
use std::collections::BTreeSet;
use stowplan_analysis::Analysis;

/// The names of all comparisons that are constituents of something.
pub(crate) fn parts(analysis: &Analysis) -> BTreeSet<String> {
    analysis.constituents()
}
