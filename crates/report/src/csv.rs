//! One row per cell, for spreadsheets and scripts.

use crate::wording;
use serde_json::{Value, json};
use stowplan_analysis::{Analysis, CellSummary, ComparisonOutcome, work_differences};
use stowplan_model::{Action, Workload};

/// How the header begins: by it a table of ours is told from a file that someone else wrote.
pub const START: &str = "study,scale,host,started,comparison,cell,";

/// The columns in the order of earlier versions, for scripts may count them: a name, units in it, and
/// where its field stands in a row that is written as JSON. Words and numbers are those of the JSON
/// report, so that both can be joined.
const COLUMNS: &str = include_str!("tables/csv.txt");

/// What is told of the latency of each operation of a mix.
const OF_ACTION: [&str; 7] = [
    "count", "p50_ns", "p90_ns", "p95_ns", "p99_ns", "p999_ns", "max_ns",
];

/// A cell as JSON, with what a table says of it that its summary does not have in these words.
fn row(
    machine: Option<&str>,
    analysis: &Analysis,
    comparison: &ComparisonOutcome,
    summary: &CellSummary,
) -> Value {
    let run = &analysis.run;
    let workload = &summary.cell.workload;
    let promise = summary.promise();
    let contrast = comparison.to_baseline(summary);
    let to_baseline = wording::to_baseline(comparison, summary);
    let found = &comparison.recommendation;
    let mut alternatives = found.alternatives.iter();
    let alternative = alternatives.find(|other| other.cell == summary.cell.id);
    let baseline = comparison.baseline().map(|cell| &cell.cell.id);
    // Where nothing is chosen, what to do stands with the baseline.
    let stands_here = found.choice.as_ref().or(baseline) == Some(&summary.cell.id);
    json!({
        "machine": machine,
        "study": run.plan.study.name,
        "scale": run.plan.scale,
        "host": run.environment.host,
        "started": run.started,
        "comparison": comparison.id,
        "metric": comparison.metric,
        "reliable": comparison.reliable,
        "measure": comparison.measure,
        "cell": summary,
        "store": summary.cell.store.to_string(),
        "per_transaction": workload.per_transaction.to_string(),
        "threads": workload.threads,
        "mix": mix(workload),
        "promise": promise,
        "delayed": promise.map(|claim| claim.delayed),
        "ratio": to_baseline.and_then(|(ratio, _)| ratio),
        "verdict": to_baseline.map(|(_, verdict)| verdict),
        "total": contrast.and_then(|contrast| contrast.total),
        "builds": contrast.and_then(|contrast| contrast.builds),
        "driver": summary.cell.driver,
        "ops_per_s": summary.time_ns.map(|time| 1e9 / time.estimate),
        "conflicts": (summary.rounds > 0).then_some(summary.conflicts),
        "other_work": other_work(comparison, summary),
        "recommendation": stands_here.then_some(found.kind),
        "alternative": alternative.map(|other| other.when),
    })
}

/// The proportions of a mix: `read=95 insert=5`.
fn mix(workload: &Workload) -> String {
    let mix = workload.mix.unwrap_or_default();
    let parts = mix
        .actions()
        .map(|action| format!("{action}={}", mix.parts(action)));
    parts.collect::<Vec<_>>().join(" ")
}

/// In what a cell that could be chosen does other work than the baseline: `order threads`.
fn other_work(comparison: &ComparisonOutcome, summary: &CellSummary) -> String {
    let mut rivals = comparison.rivals();
    let is_rival = rivals.any(|cell| cell.cell.id == summary.cell.id);
    let baseline = comparison.baseline().filter(|_| is_rival);
    let differences = baseline.map(|baseline| work_differences(summary, baseline));
    let differences = differences.unwrap_or_default().into_iter();
    let names = differences.map(|difference| difference.what.replace(' ', "-"));
    names.collect::<Vec<_>>().join(" ")
}

/// The cells as CSV (RFC 4180, but with plain line feeds): a header, then a row per cell. Empty
/// fields are unknown or do not apply.
#[must_use]
pub fn render(analysis: &Analysis) -> String {
    table(&columns(), rows(None, analysis))
}

/// Writes several results: their rows below one header, with one more column, `machine`.
pub(crate) fn of_machines<'a>(results: impl Iterator<Item = (&'a str, &'a Analysis)>) -> String {
    let mut columns = columns();
    columns.push(("machine".to_owned(), "/machine".to_owned()));
    let rows = results.flat_map(|(machine, analysis)| rows(Some(machine), analysis));
    table(&columns, rows)
}

/// The columns of a table, a line each: a name, and where its field stands.
pub(crate) fn columns_of(table: &str) -> Vec<(String, String)> {
    let columns = table.lines().filter_map(|line| line.split_once(' '));
    columns
        .map(|(name, place)| (name.to_owned(), place.trim().to_owned()))
        .collect()
}

/// The columns of every cell, then those of each action of a mix.
fn columns() -> Vec<(String, String)> {
    let of_actions = Action::ALL.into_iter().flat_map(|action| {
        OF_ACTION.map(|name| {
            let place = format!("/cell/latencies/{action}/{name}");
            (format!("{action}_{name}"), place)
        })
    });
    columns_of(COLUMNS).into_iter().chain(of_actions).collect()
}

/// Every cell of every comparison.
fn rows(machine: Option<&str>, analysis: &Analysis) -> impl Iterator<Item = Value> {
    let comparisons = analysis.comparisons.iter();
    comparisons.flat_map(move |comparison| {
        let cells = comparison.cells.iter();
        cells.map(move |summary| row(machine, analysis, comparison, summary))
    })
}

/// A table as CSV: `columns` have a name, and say where in a row that is written as JSON their field
/// stands, as a JSON pointer (RFC 6901).
pub(crate) fn table(columns: &[(String, String)], rows: impl Iterator<Item = Value>) -> String {
    let mut text = line(columns.iter().map(|(name, _)| name.clone()));
    for row in rows {
        let fields = columns.iter().map(|(_, place)| row.pointer(place));
        text.push_str(&line(
            fields.map(|field| field.map_or_else(String::new, shown)),
        ));
    }
    text
}

/// A number as short as reads back exactly; nothing for what is no number.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(is) => is.to_string(),
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(float) => float.to_string(),
            None => number.to_string(),
        },
        Value::Null | Value::Array(_) | Value::Object(_) => String::new(),
    }
}

fn line(fields: impl Iterator<Item = String>) -> String {
    let fields = fields.map(|field| quoted(&field));
    fields.collect::<Vec<_>>().join(",") + "\n"
}

/// A field in quotes if it needs them. A leading `=`, `+`, `-` or `@` in a text would be run as a
/// formula by spreadsheets; labels come from study files of others, so it gets an apostrophe.
fn quoted(field: &str) -> String {
    let is_formula = field.starts_with(['=', '+', '-', '@']) && field.parse::<f64>().is_err();
    let apostrophe = if is_formula { "'" } else { "" };
    let field = format!("{apostrophe}{field}");
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field
    }
}
