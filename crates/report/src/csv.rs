//! One row per cell, for spreadsheets and scripts.

use crate::wording;
use stowplan_analysis::{Analysis, CellSummary, ComparisonOutcome, RatioEstimate};
use stowplan_model::Workload;

/// How the header begins: by it a table of ours is told from a file that someone else wrote.
pub const START: &str = "study,scale,host,started,comparison,cell,";

/// The columns, units in their names.
const HEADER: [&str; 71] = [
    "study",
    "scale",
    "host",
    "started",
    "comparison",
    "cell",
    "label",
    "role",
    "store",
    "operation",
    "order",
    "per_transaction",
    "delivery",
    "cache",
    "durability",
    "atomic",
    "metric",
    "reliable",
    "rounds",
    "operations",
    "time_ns",
    "time_low_ns",
    "time_high_ns",
    "wall_ns",
    "cpu_ns",
    "kernel_share",
    "drain_ns",
    "total_ns",
    "ratio_to_baseline",
    "ratio_low",
    "ratio_high",
    "verdict",
    "multiple_of_floor",
    "p50_ns",
    "p90_ns",
    "p99_ns",
    "p999_ns",
    "max_ns",
    "bytes_per_op",
    "read_calls_per_op",
    "write_calls_per_op",
    "storage_read_bytes_per_op",
    "storage_write_bytes_per_op",
    "faults_per_op",
    "syncs_per_commit",
    "peak_memory_bytes",
    "values_verified",
    "durability_delayed",
    "threads",
    "mix",
    "ops_per_s",
    "conflicts",
    "p95_ns",
    "write_amplification",
    "block_operations",
    "block_extrapolated",
    "block_ns",
    "block_before_commit_ns",
    "block_mean_ns",
    "block_standard_error_ns",
    "published_seconds",
    "published_error_seconds",
    "commits_per_block",
    "last_commit_ns",
    "allocated_bytes",
    "apparent_bytes",
    "page_fill",
    "system_calls_per_op",
    "device_reads_per_op",
    "device_flushes_per_op",
    "waits_per_op",
];

/// The cells as CSV (RFC 4180, but with plain line feeds): a header, then a row per cell. Empty
/// fields are unknown or do not apply.
#[must_use]
pub fn render(analysis: &Analysis) -> String {
    let mut text = row(HEADER.map(str::to_owned));
    text.extend(rows(analysis).map(row));
    text
}

/// The same of several results: their rows below one header, with one more column, `machine`.
pub(crate) fn of_machines<'a>(results: impl Iterator<Item = (&'a String, &'a Analysis)>) -> String {
    let header = HEADER.map(str::to_owned).into_iter();
    let mut text = row(header.chain(["machine".to_owned()]));
    for (machine, analysis) in results {
        let rows = rows(analysis).map(|fields| row(fields.into_iter().chain([machine.clone()])));
        text.extend(rows);
    }
    text
}

/// The fields of every cell of every comparison.
fn rows(analysis: &Analysis) -> impl Iterator<Item = [String; HEADER.len()]> {
    analysis.comparisons.iter().flat_map(move |comparison| {
        let cells = comparison.cells.iter();
        cells.map(move |cell| fields(analysis, comparison, cell))
    })
}

fn fields(
    analysis: &Analysis,
    comparison: &ComparisonOutcome,
    summary: &CellSummary,
) -> [String; HEADER.len()] {
    let run = &analysis.run;
    let cell = &summary.cell;
    let workload = &cell.workload;
    let contrast = wording::to_baseline(comparison, summary);
    let ratio = |get: fn(&RatioEstimate) -> f64| {
        let estimate = contrast.and_then(|(estimate, _)| estimate);
        number(estimate.as_ref().map(get))
    };
    let claim = wording::claim(summary);
    let latency = summary.latency.as_ref();
    let time = summary.time_ns;
    let block = summary.block_time;
    let footprint = summary.block_footprint;
    let counts = summary.counts.as_ref();
    [
        run.plan.study.name.clone(),
        run.plan.scale.clone(),
        run.environment.host.clone(),
        run.started.clone(),
        comparison.id.clone(),
        cell.key.clone(),
        cell.label.clone(),
        word(&cell.role),
        cell.store.to_string(),
        workload.operation.to_string(),
        workload.order.to_string(),
        workload.per_transaction.to_string(),
        workload.delivery.to_string(),
        workload.cache.to_string(),
        claim.map_or_else(String::new, |claim| claim.class.to_string()),
        shown(claim.map(|claim| claim.atomic)),
        word(&comparison.metric),
        comparison.reliable.to_string(),
        summary.rounds.to_string(),
        summary.operations.to_string(),
        number(time.map(|time| time.estimate)),
        number(time.map(|time| time.low)),
        number(time.map(|time| time.high)),
        number(Some(summary.wall_ns)),
        number(Some(summary.cpu_ns)),
        number(Some(summary.kernel_share)),
        number(summary.drain_ns),
        number(summary.total_ns),
        ratio(|estimate| estimate.ratio),
        ratio(|estimate| estimate.low),
        ratio(|estimate| estimate.high),
        contrast.map_or_else(String::new, |(_, verdict)| word(&verdict)),
        number(summary.multiple_of_floor.map(|estimate| estimate.ratio)),
        shown(latency.map(|latency| latency.p50_ns)),
        shown(latency.map(|latency| latency.p90_ns)),
        shown(latency.map(|latency| latency.p99_ns)),
        shown(latency.map(|latency| latency.p999_ns)),
        shown(latency.map(|latency| latency.max_ns)),
        number(Some(summary.bytes)),
        number(summary.read_calls),
        number(summary.write_calls),
        number(Some(summary.storage_read_bytes)),
        number(summary.storage_write_bytes),
        number(Some(summary.faults)),
        number(Some(summary.syncs_per_commit)),
        shown(summary.peak_memory_bytes),
        shown(summary.verification.as_ref().map(|v| v.values)),
        shown(claim.map(|claim| claim.delayed)),
        workload.threads.to_string(),
        mix(workload),
        number(time.map(|time| 1e9 / time.estimate)),
        shown((summary.rounds > 0).then_some(summary.conflicts)),
        shown(latency.map(|latency| latency.p95_ns)),
        number(summary.write_amplification),
        shown(block.map(|block| block.operations)),
        shown(block.map(|block| block.extrapolated)),
        number(block.map(|block| block.estimate_ns)),
        number(block.and_then(|block| block.before_commit_ns)),
        number(block.map(|block| block.mean_ns)),
        number(block.and_then(|block| block.standard_error_ns)),
        number(cell.published_seconds),
        number(summary.published_error_seconds),
        number(Some(summary.commits)),
        number(summary.last_commit_ns),
        shown(footprint.map(|footprint| footprint.allocated_bytes)),
        shown(footprint.map(|footprint| footprint.apparent_bytes)),
        number(summary.page_fill),
        number(counts.and_then(|counts| Some(counts.calls.as_ref()?.total))),
        number(counts.and_then(|counts| Some(counts.device.as_ref()?.reads))),
        number(counts.and_then(|counts| counts.device.as_ref()?.flushes)),
        number(counts.map(|counts| counts.voluntary_switches)),
    ]
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
