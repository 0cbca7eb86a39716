//! One row per cell, for spreadsheets and scripts.

use crate::wording;
use stowplan_analysis::{
    Analysis, BlockTime, CellSummary, ComparisonOutcome, CountSummary, Interval, LatencySummary,
    RatioEstimate, TotalOutcome, Verdict, work_differences,
};
use stowplan_model::{Action, Footprint, Workload};

/// How the header begins: by it a table of ours is told from a file that someone else wrote.
pub const START: &str = "study,scale,host,started,comparison,cell,";

/// A cell where it stands.
struct Row<'a> {
    analysis: &'a Analysis,
    comparison: &'a ComparisonOutcome,
    summary: &'a CellSummary,
}

/// The name of a column, units in it, and what a row has there.
type Column = (&'static str, fn(&Row<'_>) -> String);

/// What was measured, in the order of earlier versions: scripts may count columns.
const MEASURED: &[Column] = &[
    ("study", |row| row.analysis.run.plan.study.name.clone()),
    ("scale", |row| row.analysis.run.plan.scale.clone()),
    ("host", |row| row.analysis.run.environment.host.clone()),
    ("started", |row| row.analysis.run.started.clone()),
    ("comparison", |row| row.comparison.id.clone()),
    ("cell", |row| row.summary.cell.key.clone()),
    ("label", |row| row.summary.cell.label.clone()),
    ("role", |row| word(&row.summary.cell.role)),
    ("store", |row| row.summary.cell.store.to_string()),
    ("operation", |row| row.workload().operation.to_string()),
    ("order", |row| row.workload().order.to_string()),
    ("per_transaction", |row| {
        row.workload().per_transaction.to_string()
    }),
    ("delivery", |row| row.workload().delivery.to_string()),
    ("cache", |row| row.workload().cache.to_string()),
    ("durability", |row| {
        shown(row.summary.promise().map(|claim| claim.class))
    }),
    ("atomic", |row| {
        shown(row.summary.promise().map(|claim| claim.atomic))
    }),
    ("metric", |row| word(&row.comparison.metric)),
    ("reliable", |row| row.comparison.reliable.to_string()),
    ("rounds", |row| row.summary.rounds.to_string()),
    ("operations", |row| row.summary.operations.to_string()),
    ("time_ns", |row| row.time(|time| time.estimate)),
    ("time_low_ns", |row| row.time(|time| time.low)),
    ("time_high_ns", |row| row.time(|time| time.high)),
    ("wall_ns", |row| number(Some(row.summary.wall_ns))),
    ("cpu_ns", |row| number(Some(row.summary.cpu_ns))),
    ("kernel_share", |row| number(Some(row.summary.kernel_share))),
    ("drain_ns", |row| number(row.summary.drain_ns)),
    ("total_ns", |row| number(row.summary.total_ns)),
    ("ratio_to_baseline", |row| row.ratio(|ratio| ratio.ratio)),
    ("ratio_low", |row| row.ratio(|ratio| ratio.low)),
    ("ratio_high", |row| row.ratio(|ratio| ratio.high)),
    ("verdict", |row| {
        let contrast = row.to_baseline();
        contrast.map_or_else(String::new, |(_, verdict)| word(&verdict))
    }),
    ("multiple_of_floor", |row| {
        number(row.summary.multiple_of_floor.map(|ratio| ratio.ratio))
    }),
    ("p50_ns", |row| row.latency(|latency| latency.p50_ns)),
    ("p90_ns", |row| row.latency(|latency| latency.p90_ns)),
    ("p99_ns", |row| row.latency(|latency| latency.p99_ns)),
    ("p999_ns", |row| row.latency(|latency| latency.p999_ns)),
    ("max_ns", |row| row.latency(|latency| latency.max_ns)),
    ("bytes_per_op", |row| number(Some(row.summary.bytes))),
    ("read_calls_per_op", |row| number(row.summary.read_calls)),
    ("write_calls_per_op", |row| number(row.summary.write_calls)),
    ("storage_read_bytes_per_op", |row| {
        number(Some(row.summary.storage_read_bytes))
    }),
    ("storage_write_bytes_per_op", |row| {
        number(row.summary.storage_write_bytes)
    }),
    ("faults_per_op", |row| number(Some(row.summary.faults))),
    ("syncs_per_commit", |row| {
        number(Some(row.summary.syncs_per_commit))
    }),
    ("peak_memory_bytes", |row| {
        shown(row.summary.peak_memory_bytes)
    }),
    ("values_verified", |row| {
        shown(row.summary.verification.as_ref().map(|v| v.values))
    }),
    ("durability_delayed", |row| {
        shown(row.summary.promise().map(|claim| claim.delayed))
    }),
    ("threads", |row| row.workload().threads.to_string()),
    ("mix", |row| mix(row.workload())),
    ("ops_per_s", |row| row.time(|time| 1e9 / time.estimate)),
    ("conflicts", |row| {
        shown((row.summary.rounds > 0).then_some(row.summary.conflicts))
    }),
    ("p95_ns", |row| row.latency(|latency| latency.p95_ns)),
    ("write_amplification", |row| {
        number(row.summary.write_amplification)
    }),
    ("block_operations", |row| {
        shown(row.summary.block_time.map(|block| block.operations))
    }),
    ("block_extrapolated", |row| {
        shown(row.summary.block_time.map(|block| block.extrapolated))
    }),
    ("block_ns", |row| row.block(|block| Some(block.estimate_ns))),
    ("block_before_commit_ns", |row| {
        row.block(|block| block.before_commit_ns)
    }),
    ("block_mean_ns", |row| {
        row.block(|block| Some(block.mean_ns))
    }),
    ("block_standard_error_ns", |row| {
        row.block(|block| block.standard_error_ns)
    }),
    ("published_seconds", |row| {
        number(row.summary.cell.published_seconds)
    }),
    ("published_error_seconds", |row| {
        number(row.summary.published_error_seconds)
    }),
    ("commits_per_block", |row| number(Some(row.summary.commits))),
    ("last_commit_ns", |row| number(row.summary.last_commit_ns)),
    ("allocated_bytes", |row| {
        row.footprint(|taken| taken.allocated_bytes)
    }),
    ("apparent_bytes", |row| {
        row.footprint(|taken| taken.apparent_bytes)
    }),
    ("page_fill", |row| number(row.summary.page_fill)),
    ("system_calls_per_op", |row| {
        row.counts(|counts| Some(counts.calls.as_ref()?.total))
    }),
    ("device_reads_per_op", |row| {
        row.counts(|counts| Some(counts.device.as_ref()?.reads))
    }),
    ("device_flushes_per_op", |row| {
        row.counts(|counts| counts.device.as_ref()?.flushes)
    }),
    ("waits_per_op", |row| {
        row.counts(|counts| Some(counts.voluntary_switches))
    }),
];

/// What was decided.
const DECIDED: &[Column] = &[
    ("total_ratio_to_baseline", |row| {
        row.total(|total| number(Some(total.estimate.ratio)))
    }),
    ("total_ratio_low", |row| {
        row.total(|total| number(Some(total.estimate.low)))
    }),
    ("total_ratio_high", |row| {
        row.total(|total| number(Some(total.estimate.high)))
    }),
    ("total_verdict", |row| {
        row.total(|total| word(&total.verdict))
    }),
    ("other_work", |row| row.other_work()),
    ("recommendation", |row| row.recommendation()),
    ("alternative", |row| row.alternative()),
];

/// A figure of the latency of one operation of a mix.
type Percentile = fn(&LatencySummary) -> u64;

/// What is told of the latency of each operation of a mix.
const OF_ACTION: [(&str, Percentile); 7] = [
    ("count", |latency| latency.count),
    ("p50_ns", |latency| latency.p50_ns),
    ("p90_ns", |latency| latency.p90_ns),
    ("p95_ns", |latency| latency.p95_ns),
    ("p99_ns", |latency| latency.p99_ns),
    ("p999_ns", |latency| latency.p999_ns),
    ("max_ns", |latency| latency.max_ns),
];

impl Row<'_> {
    fn workload(&self) -> &Workload {
        &self.summary.cell.workload
    }

    fn time(&self, of: fn(Interval) -> f64) -> String {
        number(self.summary.time_ns.map(of))
    }

    fn to_baseline(&self) -> Option<(Option<RatioEstimate>, Verdict)> {
        wording::to_baseline(self.comparison, self.summary)
    }

    fn ratio(&self, of: fn(RatioEstimate) -> f64) -> String {
        number(self.to_baseline().and_then(|(ratio, _)| ratio).map(of))
    }

    fn latency(&self, of: fn(&LatencySummary) -> u64) -> String {
        shown(self.summary.latency.as_ref().map(of))
    }

    fn block(&self, of: fn(BlockTime) -> Option<f64>) -> String {
        number(self.summary.block_time.and_then(of))
    }

    fn footprint(&self, of: fn(Footprint) -> u64) -> String {
        shown(self.summary.block_footprint.map(of))
    }

    fn counts(&self, of: fn(&CountSummary) -> Option<f64>) -> String {
        number(self.summary.counts.as_ref().and_then(of))
    }

    fn total(&self, of: fn(TotalOutcome) -> String) -> String {
        let contrast = self.comparison.to_baseline(self.summary);
        let total = contrast.and_then(|contrast| contrast.total);
        total.map_or_else(String::new, of)
    }

    /// In what a cell that could be chosen does other work than the baseline: `order threads`.
    fn other_work(&self) -> String {
        let mut rivals = self.comparison.rivals();
        let is_rival = rivals.any(|cell| cell.cell.id == self.summary.cell.id);
        let Some(baseline) = self.comparison.baseline().filter(|_| is_rival) else {
            return String::new();
        };
        let differences = work_differences(self.summary, baseline).into_iter();
        let names = differences.map(|difference| difference.in_words().0.replace(' ', "-"));
        names.collect::<Vec<_>>().join(" ")
    }

    /// What to do, on the row of the cell that is chosen; where none is, on that of the baseline.
    fn recommendation(&self) -> String {
        let found = &self.comparison.recommendation;
        let baseline = self.comparison.baseline().map(|cell| &cell.cell.id);
        let stands_at = found.choice.as_ref().or(baseline);
        if stands_at == Some(&self.summary.cell.id) {
            word(&found.kind)
        } else {
            String::new()
        }
    }

    /// When to choose this cell instead.
    fn alternative(&self) -> String {
        let found = &self.comparison.recommendation.alternatives;
        let mut found = found.iter();
        let other = found.find(|other| other.cell == self.summary.cell.id);
        other.map_or_else(String::new, |other| word(&other.when))
    }
}

/// The cells as CSV (RFC 4180, but with plain line feeds): a header, then a row per cell. Empty
/// fields are unknown or do not apply.
#[must_use]
pub fn render(analysis: &Analysis) -> String {
    let mut text = row(header());
    text.extend(rows(analysis).map(row));
    text
}

/// The same of several results: their rows below one header, with one more column, `machine`.
pub(crate) fn of_machines<'a>(results: impl Iterator<Item = (&'a String, &'a Analysis)>) -> String {
    let mut text = row(header().chain(["machine".to_owned()]));
    for (machine, analysis) in results {
        text.extend(rows(analysis).map(|fields| row(fields.chain([machine.clone()]))));
    }
    text
}

/// Every action of a mix with everything that is told of its latency.
fn of_actions() -> impl Iterator<Item = (Action, &'static str, Percentile)> {
    let actions = Action::ALL.into_iter();
    actions.flat_map(|action| OF_ACTION.map(|(name, of)| (action, name, of)))
}

fn header() -> impl Iterator<Item = String> {
    let fixed = MEASURED.iter().chain(DECIDED);
    let fixed = fixed.map(|(name, _)| (*name).to_owned());
    fixed.chain(of_actions().map(|(action, name, _)| format!("{action}_{name}")))
}

/// The fields of every cell of every comparison.
fn rows(analysis: &Analysis) -> impl Iterator<Item = impl Iterator<Item = String>> {
    analysis.comparisons.iter().flat_map(move |comparison| {
        let cells = comparison.cells.iter();
        cells.map(move |summary| {
            fields(Row {
                analysis,
                comparison,
                summary,
            })
        })
    })
}

fn fields(row: Row<'_>) -> impl Iterator<Item = String> {
    let latencies = &row.summary.latencies;
    let of_actions = of_actions().map(move |(action, _, of)| shown(latencies.get(&action).map(of)));
    let fixed = MEASURED.iter().chain(DECIDED);
    fixed.map(move |(_, field)| field(&row)).chain(of_actions)
}

/// The proportions of a mix: `read=95 insert=5`.
fn mix(workload: &Workload) -> String {
    let mix = workload.mix.unwrap_or_default();
    let parts = mix
        .actions()
        .map(|action| format!("{action}={}", mix.parts(action)));
    parts.collect::<Vec<_>>().join(" ")
}

fn shown<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// A number as short as reads back exactly; nothing for what is no number.
pub(crate) fn number(value: Option<f64>) -> String {
    shown(value.filter(|value| value.is_finite()))
}

/// The name that the JSON report uses for a word, so that both can be joined.
pub(crate) fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

pub(crate) fn row(fields: impl IntoIterator<Item = String>) -> String {
    let fields = fields.into_iter().map(|field| quoted(&field));
    let mut line = fields.collect::<Vec<_>>().join(",");
    line.push('\n');
    line
}

/// A field in quotes if it needs them. A leading `=`, `+`, `-` or `@` in a text would be run as a
/// formula by spreadsheets; labels come from study files of others, so it gets an apostrophe.
fn quoted(field: &str) -> String {
    let is_formula = field.starts_with(['=', '+', '-', '@']) && field.parse::<f64>().is_err();
    let field = if is_formula {
        format!("'{field}")
    } else {
        field.to_owned()
    };
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field
    }
}
