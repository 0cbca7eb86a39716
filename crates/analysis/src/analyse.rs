//! From the records of a run to its findings.

use crate::{Analysis, StoppingRule};
use stowplan_model::Record;
use thiserror::Error;

/// Why records cannot be analysed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AnalysisError {
    /// The first record is not the run's header.
    #[error("the result does not begin with a run header; is it a result.jsonl of stowplan?")]
    NoHeader,
    /// The result was written by a later version.
    #[error(
        "the result has schema {found}, this program reads up to {known}; use a newer stowplan"
    )]
    Schema {
        /// Its schema.
        found: u32,
        /// The newest one that can be read.
        known: u32,
    },
}

/// Everything that can be said about a run. `rule` is the stopping rule that it was run by;
/// none: the one in its header.
///
/// # Errors
/// No header at the start, or one of a later schema.
pub fn analyse(records: &[Record], rule: Option<&StoppingRule>) -> Result<Analysis, AnalysisError> {
    let Some(Record::Run(run)) = records.first() else {
        return Err(AnalysisError::NoHeader);
    };
    let _ = rule;
    Ok(Analysis {
        run: run.clone(),
        comparisons: Vec::new(),
        charts: Vec::new(),
        space: Vec::new(),
        warnings: Vec::new(),
        harness_cost: None,
        preparation: Vec::new(),
        failures: Vec::new(),
        end: None,
    })
}
