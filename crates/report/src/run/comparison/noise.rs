//! What the two identical cells of a comparison showed, and what follows for its ratios.

use crate::{format, wording};
use stowplan_analysis::{ComparisonOutcome, MIN_ROUNDS};
use stowplan_model::Role;

/// From this factor on, percentages say less than the factor.
const FACTOR: f64 = 2.0;

/// The noise in a sentence.
pub(super) fn of(comparison: &ComparisonOutcome) -> String {
    let Some(control) = &comparison.control else {
        return format!("Noise is unknown: {}.", too_few_rounds(comparison));
    };
    let estimate = &control.estimate;
    let widened = format::percent(comparison.noise_floor.exp() - 1.0);
    let consequence = if comparison.reliable {
        format!("; every interval is widened by {widened} for noise")
    } else {
        format!(
            ": too much for any claim from the ratios shown, whose intervals are widened by {widened}"
        )
    };
    format!(
        "Noise: measuring the same thing twice differed by {} (control {} {}){consequence}; {}.",
        apart(estimate.ratio),
        format::ratio(estimate.ratio),
        format::interval(estimate.low, estimate.high),
        rounds(comparison)
    )
}

/// By how much the larger exceeds the smaller: `1.3%`, or `15.2×` where percentages mislead.
fn apart(ratio: f64) -> String {
    let factor = ratio.max(1.0 / ratio);
    if factor >= FACTOR {
        return format!("{}×", format::ratio(factor));
    }
    format::percent(wording::away_from_one(ratio))
}

fn too_few_rounds(comparison: &ComparisonOutcome) -> String {
    let cells = comparison.cells.iter();
    let controls = cells.filter(|cell| cell.cell.role == Role::Control);
    let rounds = controls.map(|cell| cell.rounds).max();
    match rounds.filter(|rounds| *rounds < MIN_ROUNDS) {
        Some(rounds) => format!("too few rounds ({rounds} of {MIN_ROUNDS}) to compare"),
        None => "the control has too few rounds".to_owned(),
    }
}

/// How many rounds the ratios rest on.
fn rounds(comparison: &ComparisonOutcome) -> String {
    let ratios = comparison.contrasts.iter();
    let counts = ratios.filter_map(|contrast| Some(contrast.estimate.as_ref()?.rounds));
    wording::range_of_rounds(&counts.collect::<Vec<usize>>())
}

#[cfg(test)]
mod tests {
    use super::apart;

    #[test]
    fn a_difference_that_doubles_is_a_factor() {
        assert_eq!(apart(1.013), "1.3%");
        assert_eq!(apart(1.0 / 1.5), "50%");
        assert_eq!(apart(0.0658), "15.2×");
    }
}
