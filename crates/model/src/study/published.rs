//! Times that others published, beside which ours are shown as they are.

use crate::CellId;
use serde::{Deserialize, Serialize};

/// A table of times that others published.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PublishedSpec {
    /// Name, unique among these tables of the study.
    pub id: String,
    /// What was measured, where and when.
    pub title: String,
    /// Where it stands in the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Its rows.
    pub rows: Vec<PublishedRow>,
}

/// One published time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PublishedRow {
    /// What it is of; nothing where the label of the cell says that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// The cell of ours that does the same; nothing where none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<CellId>,
    /// How many operations it is of.
    pub operations: u64,
    /// Seconds of all operations, the last commit included.
    pub seconds: f64,
    /// Its standard error, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_seconds: Option<f64>,
    /// Seconds before the last commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_commit_seconds: Option<f64>,
}
