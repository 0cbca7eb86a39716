//! What github-action-benchmark reads with `tool: customSmallerIsBetter`
//! (<https://github.com/benchmark-action/github-action-benchmark>): names with a value each.

use crate::sanitise;
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
/// that of a benchmark more, `…/p99`. `range` is its interval as a text, `extra` its
/// label and rounds. Benchmarks are called `study/comparison/cell`, which no label and no run
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
        (name.clone(), cell.time_ns),
        (format!("{name}/{measure}"), by_percentile),
    ];
    figures.into_iter().filter_map(|(name, time)| {
        let time = time.filter(|time| time.estimate.is_finite())?;
        Some(Entry {
            name,
            unit: "ns",
            value: time.estimate,
            range: format!("{:.1} to {:.1}", time.low, time.high),
            extra: format!("{}, {} rounds", cell.cell.label, cell.rounds),
        })
    })
}
