//! Which comparisons stand for themselves: reports show a matrix or a sweep as a whole, and its
//! constituents only to those who ask. Which is which is said by the analysis.

use stowplan_analysis::{Analysis, ComparisonOutcome, MatrixOutcome, SpaceRow, SweepOutcome};
use stowplan_model::built_alike;

/// What stores take on disk: those that a comparison of its own uses or that the study asks for,
/// then those that only constituents use.
pub(crate) fn space(analysis: &Analysis) -> (Vec<&SpaceRow>, Vec<&SpaceRow>) {
    let constituents = analysis.constituents();
    let uses = |comparison: &ComparisonOutcome, row: &SpaceRow| {
        let mut cells = comparison.cells.iter();
        cells.any(|cell| built_alike(&cell.cell.instance) == row.instance)
    };
    let asked = &analysis.run.plan.study.space;
    analysis.space.iter().partition(|row| {
        let mut users = analysis.comparisons.iter().filter(|c| uses(c, row));
        let only_theirs =
            users.clone().next().is_some() && users.all(|c| constituents.contains(&c.id));
        !only_theirs || asked.iter().any(|asked| asked.label == row.label)
    })
}

/// The comparisons that a matrix puts together.
pub(crate) fn of_matrix<'a>(
    analysis: &'a Analysis,
    matrix: &MatrixOutcome,
) -> Vec<&'a ComparisonOutcome> {
    let ids = matrix.constituents();
    let comparisons = analysis.comparisons.iter();
    comparisons.filter(|c| ids.contains(&c.id)).collect()
}

/// The comparisons whose figures a sweep shows.
pub(crate) fn of_sweep<'a>(
    analysis: &'a Analysis,
    sweep: &SweepOutcome,
) -> Vec<&'a ComparisonOutcome> {
    let comparisons = analysis.comparisons.iter();
    comparisons
        .filter(|c| sweep.comparisons.contains(&c.id))
        .collect()
}
