//! Comparisons that are parts of a matrix or of a sweep: reports show the whole, and its parts
//! only to those who ask.

use crate::{format, wording};
use std::collections::BTreeSet;
use stowplan_analysis::{Analysis, ComparisonOutcome, MatrixOutcome, SpaceRow, SweepOutcome};

/// The comparisons that stand for themselves, in running order.
pub(crate) fn singles(analysis: &Analysis) -> Vec<&ComparisonOutcome> {
    let parts = parts(analysis);
    let comparisons = analysis.comparisons.iter();
    comparisons
        .filter(|comparison| !parts.contains(&comparison.id))
        .collect()
}

/// How many comparisons of the run are parts of something.
pub(crate) fn count(analysis: &Analysis) -> usize {
    let parts = parts(analysis);
    let comparisons = analysis.comparisons.iter();
    comparisons.filter(|c| parts.contains(&c.id)).count()
}

/// The names of all comparisons that are parts of something.
pub(crate) fn parts(analysis: &Analysis) -> BTreeSet<String> {
    let matrices = analysis.matrices.iter().flat_map(ids_of_matrix);
    let sweeps = analysis.sweeps.iter().flat_map(ids_of_sweep);
    matrices.chain(sweeps).collect()
}

/// What stores take on disk: those that a comparison of its own uses or that the study asks for,
/// then those that only parts use.
pub(crate) fn space(analysis: &Analysis) -> (Vec<&SpaceRow>, Vec<&SpaceRow>) {
    let parts = parts(analysis);
    let uses = |comparison: &ComparisonOutcome, row: &SpaceRow| {
        let mut cells = comparison.cells.iter();
        cells.any(|cell| cell.cell.instance == row.instance)
    };
    let asked = &analysis.run.plan.study.space;
    analysis.space.iter().partition(|row| {
        let mut users = analysis.comparisons.iter().filter(|c| uses(c, row));
        let of_parts = users.clone().next().is_some() && users.all(|c| parts.contains(&c.id));
        !of_parts || asked.iter().any(|asked| asked.label == row.label)
    })
}

/// The comparisons that a matrix puts together.
pub(crate) fn of_matrix<'a>(
    analysis: &'a Analysis,
    matrix: &MatrixOutcome,
) -> Vec<&'a ComparisonOutcome> {
    named(analysis, &ids_of_matrix(matrix))
}

/// The comparisons whose figures a sweep shows.
pub(crate) fn of_sweep<'a>(
    analysis: &'a Analysis,
    sweep: &SweepOutcome,
) -> Vec<&'a ComparisonOutcome> {
    named(analysis, &sweep.comparisons.iter().cloned().collect())
}

fn named<'a>(analysis: &'a Analysis, ids: &BTreeSet<String>) -> Vec<&'a ComparisonOutcome> {
    let comparisons = analysis.comparisons.iter();
    comparisons.filter(|c| ids.contains(&c.id)).collect()
}

/// A cell is called by its comparison and its row.
fn ids_of_matrix(matrix: &MatrixOutcome) -> BTreeSet<String> {
    let rows = matrix.rows.iter().zip(&matrix.cells);
    rows.flat_map(|(row, cells)| {
        let key = format!("/{row}");
        cells.iter().filter_map(move |cell| {
            let id = cell.cell.0.strip_suffix(&key)?;
            Some(id.to_owned())
        })
    })
    .collect()
}

/// Those that its figures come from, and those that were replaced or never ran.
fn ids_of_sweep(outcome: &SweepOutcome) -> impl Iterator<Item = String> {
    let ids = outcome.comparisons.iter();
    ids.chain(&outcome.superseded)
        .chain(&outcome.unmeasured)
        .cloned()
}

/// By how much identical cells differed in these comparisons: `0.2% to 1.3%`.
pub(crate) fn noise(comparisons: &[&ComparisonOutcome]) -> Option<String> {
    let mut found: Vec<f64> = comparisons
        .iter()
        .filter_map(|comparison| comparison.control.as_ref())
        .map(|control| wording::away_from_one(control.estimate.ratio))
        .collect();
    found.sort_by(f64::total_cmp);
    let (least, most) = (*found.first()?, *found.last()?);
    let (least, most) = (format::percent(least), format::percent(most));
    if least == most {
        return Some(most);
    }
    Some(format!("{least} to {most}"))
}

/// What the numbers of these comparisons rest on, in a line.
pub(crate) fn evidence(comparisons: &[&ComparisonOutcome], rounds: &[usize]) -> String {
    let rounds = wording::range_of_rounds(rounds);
    let widened = comparisons.iter().map(|comparison| comparison.noise_floor);
    let least = widened.fold(f64::INFINITY, f64::min);
    let noise = noise(comparisons).map_or_else(String::new, |noise| {
        let widened = format::percent(least.exp() - 1.0);
        format!(
            "; two identical cells differed by {noise}, and every interval is widened by at least \
             {widened} for noise"
        )
    });
    format!("Each ratio rests on {rounds}{noise}.")
}
