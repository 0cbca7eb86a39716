//! Several results for programs.

use super::Report;
use crate::csv;
use serde::Serialize;
use stowplan_analysis::MachinesOutcome;

#[derive(Serialize)]
struct Document<'a> {
    tool: &'static str,
    document: &'static str,
    schema: u32,
    #[serde(flatten)]
    outcome: &'a MachinesOutcome,
}

pub(super) fn json(report: &Report<'_>) -> Result<String, serde_json::Error> {
    let document = Document {
        tool: "stowplan",
        document: "machines",
        schema: crate::json::SCHEMA_VERSION,
        outcome: &report.outcome,
    };
    let mut text = crate::steering::pretty(&document)?;
    text.push('\n');
    Ok(text)
}

pub(super) fn csv(report: &Report<'_>) -> String {
    let labels = report.outcome.machines.iter().map(|machine| &machine.label);
    let analyses = report.analyses.iter().map(|analysis| &**analysis);
    csv::of_machines(labels.zip(analyses))
}
