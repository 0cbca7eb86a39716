//! The Bencher Metric Format, which Bencher and others read: benchmarks, measures, and a metric of
//! each with its bounds (<https://bencher.dev/docs/reference/bencher-metric-format>).

use crate::{sanitise, wording};
use serde::Serialize;
use std::collections::BTreeMap;
use stowplan_analysis::{Analysis, CellSummary, ComparisonOutcome};
use stowplan_model::{CellId, Role, Statistic};

/// A figure with its interval.
#[derive(Serialize)]
struct Metric {
    value: f64,
    lower_value: f64,
    upper_value: f64,
}

/// The measures of a benchmark: `latency` is one that Bencher has from the start, in nanoseconds, and
/// `ratio-to-baseline` the time over that of the baseline, which other machines and other days change least.
/// Where a comparison is by a percentile, that is `p99`, and the ratio of it `p99-ratio-to-baseline`.
type Measures = BTreeMap<String, Metric>;

/// The time of each cell and its ratio to the baseline, with their intervals. Benchmarks are called
/// `study/comparison/cell`, which no label and no run changes. A cell without data is left out, and
/// so are the controls, which are copies, and ratios of which nothing is claimed.
///
/// # Errors
/// None that is known: every key is a text.
pub fn render(analysis: &Analysis) -> Result<String, serde_json::Error> {
    let measured = measured(analysis);
    let benchmarks: BTreeMap<String, Measures> = measured
        .filter_map(|(comparison, cell)| {
            let name = name(analysis, &cell.cell.id);
            Some((name, measures(comparison, cell)?))
        })
        .collect();
    sanitise::pretty(&benchmarks)
}

/// Every cell that dashboards follow, with its comparison.
pub(crate) fn measured(
    analysis: &Analysis,
) -> impl Iterator<Item = (&ComparisonOutcome, &CellSummary)> {
    let comparisons = analysis.comparisons.iter();
    let cells = comparisons.flat_map(|c| c.cells.iter().map(move |cell| (c, cell)));
    cells.filter(|(_, cell)| !matches!(cell.cell.role, Role::Control | Role::Part))
}

/// `fasterthanfs/read/sql`
pub(crate) fn name(analysis: &Analysis, cell: &CellId) -> String {
    format!("{}/{cell}", analysis.run.plan.study.name)
}

fn measures(comparison: &ComparisonOutcome, cell: &CellSummary) -> Option<Measures> {
    let time = cell.time_ns?;
    let (ratio, _) = wording::to_baseline(comparison, cell).unzip();
    let ratio = ratio.flatten().filter(|_| comparison.reliable);
    let ratio = ratio.and_then(|ratio| metric([ratio.ratio, ratio.low, ratio.high]));
    let latency = metric([time.estimate, time.low, time.high])?;
    let mut measures = Measures::from([("latency".to_owned(), latency)]);
    let of = match comparison.measure {
        Statistic::Time => String::new(),
        measure => {
            let figure = cell.statistic_ns;
            let figure =
                figure.and_then(|figure| metric([figure.estimate, figure.low, figure.high]));
            measures.extend(figure.map(|figure| (measure.to_string(), figure)));
            format!("{measure}-")
        }
    };
    measures.extend(ratio.map(|ratio| (format!("{of}ratio-to-baseline"), ratio)));
    Some(measures)
}

fn metric(figures: [f64; 3]) -> Option<Metric> {
    let [value, lower_value, upper_value] = figures;
    figures.iter().all(|f| f.is_finite()).then_some(Metric {
        value,
        lower_value,
        upper_value,
    })
}
