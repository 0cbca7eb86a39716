//! What github-action-benchmark reads with `tool: customSmallerIsBetter`
//! (<https://github.com/benchmark-action/github-action-benchmark>): names with a value each.

use crate::{sanitise, value, wording};
use serde::Serialize;
use stowplan_analysis::{Analysis, CellSummary, ComparisonOutcome};
use stowplan_model::Role;

/// One benchmark.
#[derive(Serialize)]
struct Entry {
    name: String,
    unit: &'static str,
    value: f64,
    range: String,
    extra: String,
}

/// The time of each cell, in nanoseconds, smaller is better, and where a comparison is by a percentile,
/// that of a benchmark more, `…/p99`. `range` is its interval as a text, `extra` what else there is to know,
/// the ratio with what is compared. Benchmarks are called `study/comparison/cell`, which no label and no run
/// changes. A cell without data is left out, and so are the controls, which are copies.
///
/// # Errors
/// None that is known: every key is a text.
pub fn render(analysis: &Analysis) -> Result<String, serde_json::Error> {
    let comparisons = analysis.comparisons.iter();
    let cells = comparisons.flat_map(|c| c.cells.iter().map(move |cell| (c, cell)));
    let entries: Vec<Entry> = cells
        .filter(|(_, cell)| !matches!(cell.cell.role, Role::Control | Role::Part))
        .flat_map(|(comparison, cell)| entries(analysis, comparison, cell))
        .collect();
    sanitise::pretty(&entries)
}

fn entries(
    analysis: &Analysis,
    comparison: &ComparisonOutcome,
    cell: &CellSummary,
) -> impl Iterator<Item = Entry> {
    let name = format!("{}/{}", analysis.run.plan.study.name, cell.cell.id);
    let measure = comparison.measure;
    let by_percentile = cell.statistic_ns.filter(|_| !measure.is_time());
    let figures = [
        (name.clone(), cell.time_ns, measure.is_time()),
        (format!("{name}/{measure}"), by_percentile, true),
    ];
    figures.into_iter().filter_map(move |(name, time, judged)| {
        let time = time.filter(|time| time.estimate.is_finite())?;
        Some(Entry {
            name,
            unit: "ns",
            value: time.estimate,
            range: format!("{:.1} to {:.1}", time.low, time.high),
            extra: extra(analysis, comparison, cell, judged),
        })
    })
}

/// The label, the rounds, the ratio to the baseline with its verdict where that is of this figure, and where
/// it was measured.
fn extra(
    analysis: &Analysis,
    comparison: &ComparisonOutcome,
    cell: &CellSummary,
    judged: bool,
) -> String {
    let mut lines = vec![cell.cell.label.clone(), format!("{} rounds", cell.rounds)];
    let ratio = wording::to_baseline(comparison, cell).filter(|_| judged);
    if let (Some((Some(estimate), verdict)), Some(baseline)) = (ratio, comparison.baseline()) {
        lines.push(format!(
            "{} {} of {}: {}",
            value::ratio(estimate.ratio),
            value::interval(estimate.low, estimate.high).replace(value::NO_BREAK, " "),
            baseline.cell.label,
            wording::verdict(verdict)
        ));
    }
    let run = &analysis.run;
    lines.push(format!(
        "stowplan {}, {}, scale {}",
        run.environment.tool_version, run.environment.host, run.plan.scale
    ));
    lines.join("\n")
}
