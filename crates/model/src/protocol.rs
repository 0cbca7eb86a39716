//! The worker protocol: one JSON document a line on the worker's stdin and stdout.
//!
//! ```text
//! worker  {"hello":{"protocol":"stowplan-worker","version":3,"tool":"0.1.0"}}
//! parent  {"prepare":{…job…}}
//! worker  {"ready":{"effective":{…}}}
//! parent  "go"
//! worker  {"measured":{…}} or {"verified":{…}} or {"built":{…}} or {"failed":{"message":"…"}};
//!         before that, for a long task, any number of {"progress":{…}}
//! parent  "bye"
//! ```
//!
//! A driver in another language is any program that speaks this (docs/driver-format.md).

use crate::{BlockKind, CellId, Measurement, Settings, StoreSpec, Verification, Workload};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use thiserror::Error;

/// The magic word of the greeting.
pub const PROTOCOL_NAME: &str = "stowplan-worker";
/// The version of the protocol; parent and worker must agree.
pub const PROTOCOL_VERSION: u32 = 3;

/// What the parent tells a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::large_enum_variant, reason = "a few of them exist at a time")]
pub enum ToWorker {
    /// Open the store and make everything ready.
    Prepare(Job),
    /// Do the task now.
    Go,
    /// Close the store and exit.
    Bye,
}

/// What a worker tells the parent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::large_enum_variant, reason = "a few of them exist at a time")]
pub enum FromWorker {
    /// The greeting, before anything else.
    Hello {
        /// [`PROTOCOL_NAME`].
        protocol: String,
        /// [`PROTOCOL_VERSION`].
        version: u32,
        /// Version of the worker's program.
        tool: String,
    },
    /// The store is open and the task prepared.
    Ready {
        /// Settings as the engine itself reports them.
        effective: Settings,
    },
    /// A block was timed.
    Measured(Measurement),
    /// Values were checked.
    Verified(Verification),
    /// A store was built.
    Built {
        /// Values in it.
        values: u64,
        /// Bytes of them.
        bytes: u64,
    },
    /// How far a long task is.
    Progress {
        /// Values done.
        done: u64,
        /// Values in all.
        total: u64,
    },
    /// The task failed; the worker exits.
    Failed {
        /// One line: what, which one, and the next step.
        message: String,
    },
}

/// Everything a worker needs to know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Job {
    /// The cell.
    pub cell: CellId,
    /// Its store, with every setting spelled out.
    pub store: StoreSpec,
    /// What is done.
    pub workload: Workload,
    /// Directory of the built store; for data that someone brought along, their own place.
    pub instance: PathBuf,
    /// Directory of the dataset; none for data that someone brought along, of which only keys and
    /// sizes are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dataset: Option<PathBuf>,
    /// File of versions: one little-endian u32 per key; 0 is the version the dataset holds. None
    /// where there is no dataset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub versions: Option<PathBuf>,
    /// What to do.
    pub task: Task,
}

/// What a worker does between `go` and its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// Time one block.
    Measure(BlockTask),
    /// Read every value untimed and compare it with what it must be.
    Verify,
    /// Build the store in the instance directory, which exists and is empty, and load the whole
    /// dataset into it.
    Build,
}

/// Which block is to be timed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockTask {
    /// How it is timed.
    pub block: BlockKind,
    /// The operation sequence: see docs/driver-format.md.
    pub sequence: PathBuf,
    /// First operation of the lead-in, an index into the sequence (which is cyclic).
    pub first: u64,
    /// Operations of the lead-in; the timed ones follow.
    pub lead_in: u64,
    /// Timed operations.
    pub operations: u64,
    /// Version that overwritten values get.
    pub version: u32,
    /// Where the bytes come from that are written.
    #[serde(default)]
    pub payloads: PayloadSource,
    /// Round, from 0.
    pub round: u32,
    /// Position within the round, from 0.
    pub position: u32,
}

/// Where the bytes come from that a block writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PayloadSource {
    /// They are generated before the clock starts.
    #[default]
    Prepared,
    /// They are drawn from SQLite's generator of randomness between two operations, within the
    /// time, as kvtest does. Nobody can check afterwards what was written.
    Timed,
}

/// Why a line of the protocol could not be read.
#[derive(Debug, Error)]
#[error("not a message of the worker protocol ({reason}): {line}")]
pub struct WireError {
    /// What the parser said.
    pub reason: String,
    /// The line, shortened.
    pub line: String,
}

/// One message as a line, without its newline.
#[must_use]
pub fn encode<T: Serialize>(message: &T) -> String {
    // Serialising these types cannot fail: they hold no maps with keys other than strings.
    serde_json::to_string(message).unwrap_or_default()
}

/// Reads one line.
///
/// # Errors
/// A line that is not a message; the error carries its first 120 characters.
pub fn decode<T: for<'de> Deserialize<'de>>(line: &str) -> Result<T, WireError> {
    serde_json::from_str(line.trim()).map_err(|error| WireError {
        reason: error.to_string(),
        line: line.trim().chars().take(120).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn messages_read_back_as_sent() {
        let message = FromWorker::Failed {
            message: "files: no such key 7".into(),
        };
        let line = encode(&message);
        assert!(!line.contains('\n'));
        assert_eq!(decode::<FromWorker>(&line).unwrap(), message);
        assert_eq!(encode(&ToWorker::Go), "\"go\"");
    }

    proptest! {
        #[test]
        fn garbage_is_an_error_and_never_a_panic(line in "\\PC{0,300}") {
            prop_assert!(decode::<FromWorker>(&line).is_err());
        }
    }
}
