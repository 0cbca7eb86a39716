//! What identical cells showed, in words: by how much measuring the same thing twice differed, and
//! what follows for the ratios.

use crate::{value, wording};
use stowplan_analysis::{Builds, ComparisonOutcome, TWICE_DIFFERED};

/// By how much the larger exceeds the smaller.
pub(crate) fn away_from_one(ratio: f64) -> f64 {
    ratio.max(1.0 / ratio) - 1.0
}

/// By how much identical cells were found to differ in these comparisons: `0.2% to 1.3%`.
pub(crate) fn noise(comparisons: &[&ComparisonOutcome]) -> Option<String> {
    let controls = comparisons.iter().filter_map(|c| c.control.as_ref());
    span(controls.map(|control| away_from_one(control.estimate.ratio)))
}

/// By how much identical cells may differ in the noisiest of these comparisons, as far as intervals of controls
/// reach: `5.7%`.
fn at_most(comparisons: &[&ComparisonOutcome]) -> String {
    let controls = comparisons.iter().filter_map(|c| c.control.as_ref());
    let ends = controls.flat_map(|control| [control.estimate.low, control.estimate.high]);
    value::by_how_much(ends.map(away_from_one).fold(0.0, f64::max))
}

/// `0.2%`, `0.2% to 1.3%`
pub(crate) fn span(parts: impl Iterator<Item = f64>) -> Option<String> {
    value::span(parts, value::by_how_much)
}

/// What identical cells of these comparisons showed, what follows for the ratios, and what those rest on, in a
/// sentence.
pub(crate) fn sentence(comparisons: &[&ComparisonOutcome]) -> String {
    let rests = format!(
        "{}{}",
        wording::rounds_of(comparisons),
        on_builds(comparisons)
    );
    // What was not measured is widened by nothing.
    let measured = comparisons.iter().filter(|c| c.control.is_some());
    let widened = span(measured.clone().map(|c| c.calibration - 1.0));
    let Some((noise, widened)) = noise(comparisons).zip(widened) else {
        return format!("Noise is unknown: the control has too few rounds; {rests}.");
    };
    let unreliable = measured.filter(|c| !c.reliable).count();
    let unclaimed = match (unreliable, comparisons.len()) {
        (0, _) => String::new(),
        (_, 1) => ": too much for any claim".to_owned(),
        (some, all) => format!(": too much for any claim in {some} of {all} comparisons"),
    };
    format!(
        "Noise: {TWICE_DIFFERED} by {noise}, and may by up to {}{unclaimed}; intervals are {widened} longer for it; \
         {rests}.",
        at_most(comparisons)
    )
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

/// That a session is unreliable, beside figures that claim something elsewhere.
pub(crate) fn unreliable() -> String {
    format!(
        "Session unreliable: {TWICE_DIFFERED} by more than noise explains, so nothing is claimed."
    )
}
