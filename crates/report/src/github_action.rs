//! What github-action-benchmark reads with `tool: customSmallerIsBetter`
//! (<https://github.com/benchmark-action/github-action-benchmark>): names with a value each.

use crate::{bmf, format, sanitise, wording};
use serde::Serialize;
use stowplan_analysis::{Analysis, CellSummary, ComparisonOutcome};

/// One benchmark.
#[derive(Serialize)]
struct Entry {
    name: String,
    unit: &'static str,
    value: f64,
    range: String,
    extra: String,
}

/// The time of each cell, in nanoseconds, smaller is better. `range` is its interval as a text,
/// `extra` what else there is to know. Names and cells are those of [`crate::bmf`].
///
/// # Errors
/// None that is known: every key is a text.
pub fn render(analysis: &Analysis) -> Result<String, serde_json::Error> {
    let measured = bmf::measured(analysis);
    let entries: Vec<Entry> = measured
        .filter_map(|(comparison, cell)| entry(analysis, comparison, cell))
        .collect();
    sanitise::pretty(&entries)
}

fn entry(analysis: &Analysis, comparison: &ComparisonOutcome, cell: &CellSummary) -> Option<Entry> {
    let time = cell.time_ns.filter(|time| time.estimate.is_finite())?;
    Some(Entry {
        name: bmf::name(analysis, &cell.cell.id),
        unit: "ns",
        value: time.estimate,
        range: format!("{:.1} to {:.1}", time.low, time.high),
        extra: extra(analysis, comparison, cell),
    })
}

/// The label, the rounds, the ratio to the baseline with its verdict, and where it was measured.
fn extra(analysis: &Analysis, comparison: &ComparisonOutcome, cell: &CellSummary) -> String {
    let mut lines = vec![cell.cell.label.clone(), format!("{} rounds", cell.rounds)];
    let ratio = wording::to_baseline(comparison, cell);
    if let (Some((Some(estimate), verdict)), Some(baseline)) = (ratio, comparison.baseline()) {
        lines.push(format!(
            "{} {} of {}: {}",
            format::ratio(estimate.ratio),
            format::interval(estimate.low, estimate.high).replace(format::NO_BREAK, " "),
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
