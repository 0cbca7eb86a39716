//! What one comparison found, in sentences: which is fastest, what that means, and one sentence for
//! each ratio.

use crate::advice::{self, Advice};
use crate::{format, noise, wording};
use stowplan_analysis::{
    Analysis, Basis, Builds, CellSummary, ComparisonOutcome, ContrastOutcome, MIN_ROUNDS,
    PromiseDifference, RatioEstimate, Verdict,
};
use stowplan_model::{CellId, Operation, Role, Statistic};

/// What one comparison found, in sentences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Findings {
    /// Which is fastest, in a sentence.
    pub headline: String,
    /// What that means for the user, in a sentence.
    pub advice: String,
    /// One sentence per ratio of stores; none where the headline already says that nothing is
    /// claimed of any of them.
    pub statements: Vec<Statement>,
}

/// One verdict as a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The verdict.
    pub verdict: Verdict,
    /// Whether the ratio is to the baseline of the comparison.
    pub to_baseline: bool,
    /// The sentence.
    pub text: String,
}

/// The findings of one comparison.
#[must_use]
pub fn findings(analysis: &Analysis, comparison: &ComparisonOutcome) -> Findings {
    let advice = Advice::of(analysis, comparison);
    Findings {
        headline: headline(&advice, comparison),
        advice: advice.in_a_sentence(),
        statements: statements(analysis, comparison),
    }
}

/// Which is fastest, and by what if that is not the time of all operations.
fn headline(advice: &Advice<'_>, comparison: &ComparisonOutcome) -> String {
    match comparison.measure {
        Statistic::Time => advice.headline(),
        measure => format!("By the {}: {}", measure.in_words(), advice.headline()),
    }
}

fn statements(analysis: &Analysis, comparison: &ComparisonOutcome) -> Vec<Statement> {
    if !comparison.reliable {
        return Vec::new();
    }
    let baseline = comparison.baseline().map(|cell| &cell.cell.id);
    let statements = between_stores(comparison).map(|contrast| Statement {
        verdict: contrast.verdict,
        to_baseline: [&contrast.cell, &contrast.reference]
            .into_iter()
            .any(|id| Some(id) == baseline),
        text: statement(analysis, comparison, contrast),
    });
    statements.collect()
}

/// The ratios of cells that can be chosen.
pub(crate) fn between_stores(
    comparison: &ComparisonOutcome,
) -> impl Iterator<Item = &ContrastOutcome> {
    let is_store = |id: &CellId| {
        let role = comparison.cell(id).map(|cell| cell.cell.role);
        !matches!(role, Some(Role::Control | Role::Floor | Role::Part))
    };
    let contrasts = comparison.contrasts.iter();
    contrasts.filter(move |contrast| is_store(&contrast.cell) && is_store(&contrast.reference))
}

/// One ratio and its verdict as a sentence.
fn statement(
    analysis: &Analysis,
    comparison: &ComparisonOutcome,
    contrast: &ContrastOutcome,
) -> String {
    let (Some(cell), Some(reference)) = (
        comparison.cell(&contrast.cell),
        comparison.cell(&contrast.reference),
    ) else {
        return format!(
            "{} against {}: no verdict, because one of them was not measured.",
            contrast.cell, contrast.reference
        );
    };
    let label = &cell.cell.label;
    let other = &reference.cell.label;
    let Some(estimate) = contrast.estimate else {
        let because = no_data_because(analysis, cell, reference);
        return format!("{label} and {other}: no verdict, because {because}.");
    };
    let other = format!(
        "{other} ({})",
        format::time(wording::headline_time(reference))
    );
    let finding = match contrast.corrected {
        Some(corrected) if !corrected.agrees => {
            disagreement(&estimate, &corrected.estimate, &other)
        }
        _ => finding(analysis, contrast.verdict, &estimate, &other),
    };
    let promise = PromiseDifference::of(cell, reference).filter(|_| !contrast.same_durability);
    let promise = promise
        .as_ref()
        .map(advice::promise_difference)
        .unwrap_or_default();
    let operation = one(cell.cell.workload.operation);
    let time = format::time(wording::headline_time(cell));
    let pace = match cell.cell.workload.threads {
        _ if !comparison.measure.is_time() => format!("{} {time}", comparison.measure.in_words()),
        1 => format!("{time} per {operation}"),
        2 => format!("one {operation} per {time} (both threads together)"),
        number => format!(
            "one {operation} per {time} (all {} threads together)",
            format::count(number.into())
        ),
    };
    let rounds = format::counted(estimate.rounds, "round");
    let of = Basis::of(comparison, cell).map_or_else(String::new, |basis| {
        of_operations(comparison.measure, basis, operation)
    });
    let builds = contrast.builds.map_or_else(String::new, on_builds);
    let work = match wording::work_difference(cell, reference) {
        work if work.is_empty() => work,
        work => format!(" ({work})"),
    };
    let corrected = by_corrected_time(contrast);
    let flush = with_flush(contrast, cell, reference);
    format!("{label}: {pace}, {finding}, {rounds}{of}{builds}{promise}{work}.{corrected}{flush}")
}

/// ` of 2,500 reads (of 25,000 in all, 250 lie beyond it)`; beyond the slowest of each block lies none.
fn of_operations(measure: Statistic, basis: Basis, operation: &str) -> String {
    let count = format::count(basis.of_a_block);
    let all = format::count(basis.operations);
    let beyond = match measure {
        Statistic::Max => String::new(),
        _ => format!(", {} lie beyond it", format::count(basis.beyond)),
    };
    format!(" of {count} {operation}s (of {all} in all{beyond})")
}

/// What corrected time says besides, where it agrees.
fn by_corrected_time(contrast: &ContrastOutcome) -> String {
    let agreeing = contrast.corrected.filter(|corrected| corrected.agrees);
    agreeing.map_or_else(String::new, |corrected| {
        let (factor, ends) = above_one(&corrected.estimate);
        format!(" By corrected time: {factor} {ends}.")
    })
}

/// Where wall time says one thing, and corrected time does not.
fn disagreement(wall: &RatioEstimate, corrected: &RatioEstimate, other: &str) -> String {
    let (factor, ends) = above_one(wall);
    let (by_corrected, its_ends) = above_one(corrected);
    format!(
        "nothing is claimed against {other}, because wall and corrected time do not agree: {factor} \
         {ends} by wall time, {by_corrected} {its_ends} by corrected time"
    )
}

/// On how many builds of each store, and by how much they differ where they do: ` on 8 builds, which
/// differ by 5%`.
fn on_builds(builds: Builds) -> String {
    let count = format::counted(builds.count, "build");
    let differ = builds.deviation.filter(|_| builds.differ);
    let differ = differ.map_or_else(String::new, |deviation| {
        format!(", which differ by {}", noise::of_builds(deviation))
    });
    format!(" on {count}{differ}")
}

/// What remains to be done after the timer stopped can reverse a verdict on writes.
fn with_flush(contrast: &ContrastOutcome, cell: &CellSummary, reference: &CellSummary) -> String {
    let (Some(ours), Some(theirs)) = (cell.total_ns, reference.total_ns) else {
        return String::new();
    };
    let factor = contrast.total.map_or_else(String::new, |total| {
        let (factor, ends) = above_one(&total.estimate);
        format!(", {factor} {ends}")
    });
    format!(
        " Including the final flush to disk: {} against {}{factor}.",
        format::time(ours),
        format::time(theirs)
    )
}

/// `2.10 times as fast` or `1.25 times as long`, whichever is above 1, and `(2.06 to 2.15)`, the
/// interval of that factor.
fn above_one(ratio: &RatioEstimate) -> (String, String) {
    if ratio.ratio < 1.0 {
        (advice::times_as_fast(ratio), advice::ends(&ratio.inverse()))
    } else {
        let factor = format!("{} times as long", format::ratio(ratio.ratio));
        (factor, advice::ends(ratio))
    }
}

/// What one operation is called.
fn one(operation: Operation) -> &'static str {
    match operation {
        Operation::Mix => "operation",
        Operation::CreateTable => "table made",
        Operation::DropTable => "table dropped",
        operation => operation.name(),
    }
}

/// The ratio and what it means, in the direction in which it is above 1.
fn finding(analysis: &Analysis, verdict: Verdict, estimate: &RatioEstimate, other: &str) -> String {
    let zone = wording::zone(analysis);
    let (factor, ends) = above_one(estimate);
    match verdict {
        Verdict::Faster | Verdict::Slower => format!("{factor} {ends} as {other}"),
        Verdict::Equivalent => {
            format!("equivalent to {other} within {zone}: {factor} {ends}")
        }
        Verdict::SmallDifference => format!(
            "a small difference from {other}, perhaps below the {zone} that count: {factor} {ends}"
        ),
        Verdict::Unresolved => format!(
            "unresolved against {other}, needs more rounds or a quieter machine: {factor} {ends}"
        ),
        Verdict::Unreliable | Verdict::NoData => {
            format!("no verdict against {other}, too few rounds: {factor} {ends}")
        }
    }
}

fn no_data_because(analysis: &Analysis, cell: &CellSummary, reference: &CellSummary) -> String {
    let failed = [cell, reference].into_iter().find_map(|summary| {
        let mut failures = analysis.failures.iter();
        let failure = failures.find(|failure| failure.cell == summary.cell.id)?;
        Some((summary, failure))
    });
    let Some((summary, failure)) = failed else {
        let common = cell.rounds_in_common(reference);
        return format!("there are too few rounds ({common} of {MIN_ROUNDS}) to compare");
    };
    let message = failure.message.trim_end_matches('.');
    format!("{} failed: {message}", summary.cell.label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_the_slowest_operation_of_each_block_lies_none() {
        let basis = Basis {
            of_a_block: 2_500,
            operations: 25_000,
            beyond: 250,
        };
        assert_eq!(
            of_operations(Statistic::P99, basis, "read"),
            " of 2,500 reads (of 25,000 in all, 250 lie beyond it)"
        );
        assert_eq!(
            of_operations(Statistic::Max, basis, "read"),
            " of 2,500 reads (of 25,000 in all)"
        );
    }
}
