//! Several results for programs.

use super::Fleet;
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

pub(super) fn json(fleet: &Fleet<'_>) -> Result<String, serde_json::Error> {
    let document = Document {
        tool: "stowplan",
        document: "machines",
        schema: crate::json::SCHEMA_VERSION,
        outcome: &fleet.outcome,
    };
    let mut text = crate::sanitise::pretty(&document)?;
    text.push('\n');
    Ok(text)
}

pub(super) fn csv(fleet: &Fleet<'_>) -> String {
    let labels = fleet.machines().iter().map(|machine| &machine.label);
    let analyses = fleet.analyses.iter().map(|analysis| &**analysis);
    csv::of_machines(labels.zip(analyses))
}
