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

/// By how much identical cells may differ, as far as the interval of the control reaches; above 0.
pub(crate) fn noise_of(comparison: &ComparisonOutcome) -> Option<f64> {
    let estimate = comparison.control.as_ref()?.estimate;
    let ends = [estimate.low, estimate.high].map(wording::away_from_one);
    Some(ends[0].max(ends[1]))
}

/// The same in these comparisons, the quietest and the noisiest.
pub(crate) fn range_of_noise(comparisons: &[&ComparisonOutcome]) -> Option<(String, String)> {
    range(comparisons.iter().filter_map(|c| noise_of(c)))
}

/// By how much identical cells may differ in the noisiest of these comparisons: `up to 1.3%`.
pub(crate) fn noise_at_most(comparisons: &[&ComparisonOutcome]) -> Option<String> {
    range_of_noise(comparisons).map(|(_, most)| format!("up to {most}"))
}

/// By how much identical cells were found to differ in these comparisons: `0.2% to 1.3%`.
pub(crate) fn noise(comparisons: &[&ComparisonOutcome]) -> Option<String> {
    let controls = comparisons.iter().filter_map(|c| c.control.as_ref());
    span(controls.map(|control| wording::away_from_one(control.estimate.ratio)))
}

/// By how much the intervals of these comparisons are widened for noise: `1%`, `1% to 5%`.
pub(crate) fn widening(comparisons: &[&ComparisonOutcome]) -> Option<String> {
    // What was not measured is widened by nothing.
    let measured = comparisons.iter().filter(|c| c.control.is_some());
    let widened = measured.map(|c| c.noise_floor.exp() - 1.0);
    span(widened)
}

/// `0.2%`, `0.2% to 1.3%`
fn span(parts: impl Iterator<Item = f64>) -> Option<String> {
    let (least, most) = range(parts)?;
    Some(if least == most {
        most
    } else {
        format!("{least} to {most}")
    })
}

/// The least and the most of these parts, as percentages.
fn range(parts: impl Iterator<Item = f64>) -> Option<(String, String)> {
    let mut found: Vec<f64> = parts.collect();
    found.sort_by(f64::total_cmp);
    let (least, most) = (*found.first()?, *found.last()?);
    Some((format::percent(least), format::percent(most)))
}

/// What the numbers of these comparisons rest on, in a line.
pub(crate) fn evidence(comparisons: &[&ComparisonOutcome], rounds: &[usize]) -> String {
    let rounds = wording::range_of_rounds(rounds);
    let noise = noise_at_most(comparisons).zip(widening(comparisons));
    let noise = noise.map_or_else(String::new, |(noise, widened)| {
        format!(
            "; two identical cells may differ by {noise}, and every interval is widened by \
             {widened} for noise"
        )
    });
    format!("Each ratio rests on {rounds}{noise}.")
}
