//! Comparisons that are constituents of a whole: the columns of a matrix, the sizes of a sweep.
//! Reports show the whole, and its constituents only to those who ask; and they keep the baseline
//! that the whole is read with.

use crate::{Analysis, ComparisonOutcome, MatrixOutcome, SweepOutcome};
use std::collections::BTreeSet;
use stowplan_model::Plan;

/// The comparisons of a plan that are constituents of a matrix or of a sweep.
pub(crate) fn planned(plan: &Plan) -> BTreeSet<String> {
    let matrices = plan.study.matrices.iter();
    let of_matrices = matrices.flat_map(|matrix| {
        let sizes = matrix.sizes.iter();
        sizes.map(|size| matrix.comparison_id(*size))
    });
    let of_sweeps = plan.comparisons.iter().filter(|comparison| {
        let mut sweeps = plan.sweeps.iter();
        sweeps.any(|sweep| sweep.size_of(comparison).is_some())
    });
    let of_sweeps = of_sweeps.map(|comparison| comparison.id.clone());
    of_matrices.chain(of_sweeps).collect()
}

impl Analysis {
    /// The comparisons that are constituents of a matrix or of a sweep that has an outcome. A matrix
    /// without any figure has none: then its comparisons stand for themselves, with what failed.
    #[must_use]
    pub fn constituents(&self) -> BTreeSet<String> {
        let matrices = self.matrices.iter().flat_map(MatrixOutcome::constituents);
        let sweeps = self.sweeps.iter().flat_map(SweepOutcome::constituents);
        matrices.chain(sweeps).collect()
    }

    /// Whether a comparison counts for nothing because its size was measured again.
    #[must_use]
    pub fn is_superseded(&self, comparison: &ComparisonOutcome) -> bool {
        let mut sweeps = self.sweeps.iter();
        sweeps.any(|sweep| sweep.superseded.contains(&comparison.id))
    }
}

impl MatrixOutcome {
    /// The comparisons that it puts together. A cell is called by its comparison and its row.
    #[must_use]
    pub fn constituents(&self) -> BTreeSet<String> {
        let rows = self.rows.iter().zip(&self.cells);
        rows.flat_map(|(row, cells)| {
            let key = format!("/{row}");
            let ids = cells.iter();
            ids.filter_map(move |cell| Some(cell.cell.0.strip_suffix(&key)?.to_owned()))
        })
        .collect()
    }
}

impl SweepOutcome {
    /// The comparisons that its figures come from, and those that were replaced or never ran.
    #[must_use]
    pub fn constituents(&self) -> BTreeSet<String> {
        let ids = self.comparisons.iter();
        ids.chain(&self.superseded)
            .chain(&self.unmeasured)
            .cloned()
            .collect()
    }
}
