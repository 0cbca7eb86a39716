//! The record of a run: `result.jsonl`, one record a line, appended and flushed as it happens.

use crate::{
    CellId, Environment, Extension, Footprint, Measurement, Plan, Settings, Verification, Warning,
};
use serde::{Deserialize, Serialize};

/// The version of the result format; a change that old readers would misread raises it.
pub const SCHEMA_VERSION: u32 = 1;

/// One line of `result.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
#[expect(
    clippy::large_enum_variant,
    reason = "the large one is the first line only"
)]
pub enum Record {
    /// The first line: what was planned, where, by which version.
    Run(RunHeader),
    /// Comparisons that the plan got while it ran.
    Extension(Extension),
    /// Something that spoils or qualifies the run.
    Warning(Warning),
    /// What the harness itself costs.
    HarnessCost(HarnessCost),
    /// How long preparing took.
    Preparation(PreparationRecord),
    /// What a store takes on disk.
    Footprint(FootprintRecord),
    /// Settings read back from an engine.
    Effective(EffectiveSettings),
    /// Every value was checked.
    Verification(Verification),
    /// One block.
    Measurement(Measurement),
    /// A cell that failed, and why; its earlier measurements do not count.
    Failure(CellFailure),
    /// The last line of a run that ended by itself or was interrupted in an orderly way.
    End(RunEnd),
    /// A record of a later version that this one does not know.
    #[serde(other)]
    Unknown,
}

/// What was planned, where, by which version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunHeader {
    /// [`SCHEMA_VERSION`].
    pub schema: u32,
    /// When the run began, RFC 3339.
    pub started: String,
    /// Seed of all orders and sequences.
    pub seed: u64,
    /// The plan.
    pub plan: Plan,
    /// The machine.
    pub environment: Environment,
    /// Half-width of the equivalence zone as a ratio, minus one: 0.05 is 5% (δ = ln 1.05).
    pub equivalence: f64,
    /// The most rounds a comparison gets.
    pub max_rounds: u32,
    /// Half-width of intervals that was asked for besides, as a ratio minus one.
    #[serde(default)]
    pub precision: Option<f64>,
}

/// What the harness costs per operation, measured with a store that does nothing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct HarnessCost {
    /// Per operation in a ratio block, nanoseconds of corrected time (median of blocks).
    pub ratio_ns: f64,
    /// Per operation in a latency block, nanoseconds of corrected time (median of blocks).
    pub latency_ns: f64,
    /// Blocks of each kind.
    pub blocks: u32,
    /// Operations per block.
    pub operations: u64,
}

/// How long preparing a dataset or a store took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PreparationRecord {
    /// What was prepared: `dataset NAME` or the name of an instance.
    pub what: String,
    /// Seconds.
    pub seconds: f64,
    /// Bytes of values written.
    pub bytes: u64,
    /// Values written.
    pub values: u64,
}

/// What a store takes on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FootprintRecord {
    /// Name of the instance.
    pub instance: String,
    /// Bytes and files.
    pub footprint: Footprint,
    /// Bytes of the values stored in it.
    pub value_bytes: u64,
    /// Whether this was measured after the workloads; otherwise right after building.
    pub after_workloads: bool,
}

/// Settings read back from an engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectiveSettings {
    /// The cell.
    pub cell: CellId,
    /// What the engine reports.
    pub settings: Settings,
}

/// A cell that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellFailure {
    /// The cell.
    pub cell: CellId,
    /// One line: what, which one, and the next step.
    pub message: String,
    /// The last lines of the worker's stderr.
    pub stderr: String,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunEnd {
    /// How.
    pub outcome: RunOutcome,
    /// Seconds since the start.
    pub seconds: f64,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunOutcome {
    /// Every comparison met its stopping rule or its cap.
    Complete,
    /// The time budget ended first.
    Budget,
    /// Ctrl-C or a termination signal.
    Interrupted,
}

/// Reads the lines of a result. A last line that was cut off is dropped: it is the one
/// measurement that an interruption may lose. Returns the records, and a message for each line
/// that could not be read, with its number.
#[must_use]
pub fn read_records(text: &str) -> (Vec<Record>, Vec<String>) {
    let mut records = Vec::new();
    let mut problems = Vec::new();
    let complete = text.ends_with('\n');
    let mut lines = text.lines().enumerate().peekable();
    while let Some((index, line)) = lines.next() {
        match serde_json::from_str(line) {
            Ok(record) => records.push(record),
            Err(_) if lines.peek().is_none() && !complete => {}
            Err(_) if line.trim().is_empty() => {}
            Err(error) => problems.push(format!("line {}: {error}", index + 1)),
        }
    }
    (records, problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end() -> String {
        let end = RunEnd {
            outcome: RunOutcome::Complete,
            seconds: 1.5,
        };
        serde_json::to_string(&Record::End(end)).unwrap()
    }

    #[test]
    fn a_cut_last_line_is_dropped_and_a_damaged_one_is_reported() {
        let line = end();
        let text = format!("{line}\nrubbish\n{}", &line[..line.len() - 3]);
        let (records, problems) = read_records(&text);
        assert_eq!(records.len(), 1);
        assert_eq!(problems.len(), 1);
        assert!(problems[0].starts_with("line 2:"), "{problems:?}");
    }

    #[test]
    fn a_record_of_a_later_version_is_kept_as_unknown() {
        let (records, problems) = read_records("{\"type\":\"hologram\",\"x\":1}\n");
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!(records, [Record::Unknown]);
    }
}
