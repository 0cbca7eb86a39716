//! What identical cells showed, in words: by how much measuring the same thing twice differed, and
//! what follows for the ratios.

use crate::value::{self, Value};
use crate::wording;
use stowplan_analysis::{Builds, ComparisonOutcome, Kind, MIN_ROUNDS, TWICE_DIFFERED};
use stowplan_model::Role;

/// By how much the larger exceeds the smaller.
pub(crate) fn away_from_one(ratio: f64) -> f64 {
    ratio.max(1.0 / ratio) - 1.0
}

/// By how much identical cells may differ, as far as the interval of the control reaches; above 0.
fn noise_of(comparison: &ComparisonOutcome) -> Option<f64> {
    let estimate = comparison.control.as_ref()?.estimate;
    let ends = [estimate.low, estimate.high].map(away_from_one);
    Some(ends[0].max(ends[1]))
}

/// The same in these comparisons, the quietest and the noisiest.
pub(crate) fn range_of_noise(comparisons: &[&ComparisonOutcome]) -> Option<(String, String)> {
    value::ends(
        comparisons.iter().filter_map(|c| noise_of(c)),
        value::by_how_much,
    )
}

/// By how much identical cells may differ in the noisiest of these comparisons: `up to 1.3%`.
pub(crate) fn noise_at_most(comparisons: &[&ComparisonOutcome]) -> Option<String> {
    range_of_noise(comparisons).map(|(_, most)| format!("up to {most}"))
}

/// By how much identical cells were found to differ in these comparisons: `0.2% to 1.3%`.
pub(crate) fn noise(comparisons: &[&ComparisonOutcome]) -> Option<String> {
    let controls = comparisons.iter().filter_map(|c| c.control.as_ref());
    span(controls.map(|control| away_from_one(control.estimate.ratio)))
}

/// By how much the intervals of these comparisons are longer for what controls show: `13%`, `13% to 50%`.
pub(crate) fn widening(comparisons: &[&ComparisonOutcome]) -> Option<String> {
    // What was not measured is widened by nothing.
    let measured = comparisons.iter().filter(|c| c.control.is_some());
    let widened = measured.map(|c| c.calibration - 1.0);
    span(widened)
}

/// `: too noisy to decide`, where the same thing took twice as long and nothing was decided.
pub(crate) fn too_noisy(comparisons: &[&ComparisonOutcome]) -> &'static str {
    let noisiest = comparisons
        .iter()
        .filter_map(|c| Some((c, noise_of(c)?)))
        .max_by(|a, b| a.1.total_cmp(&b.1));
    let is_open = |found: &ComparisonOutcome| found.recommendation.kind == Kind::Open;
    match noisiest {
        Some((comparison, part)) if part >= 1.0 && is_open(comparison) => ": too noisy to decide",
        _ => "",
    }
}

/// `0.2%`, `0.2% to 1.3%`
pub(crate) fn span(parts: impl Iterator<Item = f64>) -> Option<String> {
    value::span(parts, value::by_how_much)
}

/// What is said of how far the interval of a control reaches, before that; of its estimate it is
/// [`TWICE_DIFFERED`].
pub(crate) const TWICE_MAY_DIFFER: &str = "measuring the same thing twice may differ";

/// What the numbers of these comparisons rest on, in a line.
pub(crate) fn evidence(comparisons: &[&ComparisonOutcome], rounds: &[usize]) -> String {
    let rounds = wording::range_of_rounds(rounds);
    let builds = on_builds(comparisons);
    let noise = noise_at_most(comparisons).zip(widening(comparisons));
    let noise = noise.map_or_else(String::new, |(noise, widened)| {
        format!(
            "; {TWICE_MAY_DIFFER} by {noise}{}, and every interval is {widened} longer for it",
            too_noisy(comparisons)
        )
    });
    format!("Each ratio rests on {rounds}{builds}{noise}.")
}

/// On how many builds of each store the ratios of these comparisons rest, and by how much builds differ
/// where they do: ` on 2 to 8 builds of each store, which differ by up to 5%`; nothing where no result
/// tells.
fn on_builds(comparisons: &[&ComparisonOutcome]) -> String {
    let contrasts = comparisons.iter().flat_map(|found| &found.contrasts);
    let builds: Vec<Builds> = contrasts.filter_map(|contrast| contrast.builds).collect();
    let counts = builds.iter().map(|builds| builds.count);
    let Some((fewest, most)) = counts.clone().min().zip(counts.max()) else {
        return String::new();
    };
    let count = match fewest == most {
        true => value::counted(most, "build"),
        false => format!("{fewest} to {}", value::counted(most, "build")),
    };
    let differing = builds.iter().filter(|builds| builds.differ);
    let most = differing
        .filter_map(|builds| builds.deviation)
        .max_by(f64::total_cmp);
    let differ = most.map_or_else(String::new, |deviation| {
        format!(", which differ by {}", of_builds(deviation))
    });
    format!(" on {count} of each store{differ}")
}

/// By how much builds differ that do, from the deviation of the logarithms of their times.
pub(crate) fn of_builds(deviation: f64) -> String {
    match value::by_how_much(deviation.exp_m1()) {
        zero if zero == "0%" => "less than their rounds show".to_owned(),
        share => format!("up to {share}"),
    }
}

/// What makes a session unreliable.
pub(crate) fn beyond_noise() -> String {
    format!("{TWICE_DIFFERED} by more than noise explains")
}

/// That a session is unreliable, beside figures that claim something elsewhere.
pub(crate) fn unreliable() -> String {
    format!(
        "Session unreliable: {}, so nothing is claimed.",
        beyond_noise()
    )
}

/// What two identical cells of a comparison showed, and what follows for its ratios.
pub(crate) fn of_comparison(comparison: &ComparisonOutcome) -> String {
    let Some(control) = &comparison.control else {
        return format!("Noise is unknown: {}.", too_few_rounds(comparison));
    };
    let estimate = &control.estimate;
    let widened = value::by_how_much(comparison.calibration - 1.0);
    let consequence = if comparison.reliable {
        format!("; intervals are {widened} longer for it")
    } else {
        format!(
            ": too much for any claim from the ratios shown, whose intervals are {widened} longer for it"
        )
    };
    format!(
        "Noise: {TWICE_DIFFERED} by {} (control {}){consequence}; {}{}.",
        value::by_how_much(away_from_one(estimate.ratio)),
        Value::from(estimate).whole(),
        wording::rounds_of(&[comparison]),
        on_builds(&[comparison])
    )
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
