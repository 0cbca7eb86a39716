//! Times that others published, beside which ours are shown as they are.

use super::ladder::Place;
use super::{Fault, Study};
use crate::{CellId, suggestion};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

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

impl Study {
    /// Published times are of cells that there are, and of something.
    pub(super) fn check_published(&self) -> Vec<Fault> {
        let known = self.names_of_cells();
        let mut seen = BTreeSet::new();
        let tables = self.published.iter().enumerate();
        let tables = tables.map(|(index, table)| {
            let place = Place::of("published", index, &table.id);
            place.check_id(&mut seen)?;
            let rows = table.rows.iter();
            rows.map(|row| row.check(&known))
                .find_map(Result::err)
                .map_or(Ok(()), |message| Err(place.fault("rows", &message)))
        });
        tables.filter_map(Result::err).collect()
    }
}

impl PublishedRow {
    fn check(&self, known: &BTreeSet<String>) -> Result<(), String> {
        let times = [
            Some(self.seconds),
            self.error_seconds,
            self.before_commit_seconds,
        ];
        let is_time = |time: &f64| time.is_finite() && *time >= 0.0;
        if self.operations == 0 || !times.iter().flatten().all(is_time) {
            return Err("a time is of 1 operation at least, and 0 seconds or more".to_owned());
        }
        match &self.cell {
            None if self.what.is_none() => Err("give 'cell', or 'what' it is of".to_owned()),
            Some(cell) if !known.contains(&cell.0) => {
                let near = suggestion(&cell.0, known.iter().map(String::as_str));
                let name = cell.0.escape_debug();
                Err(format!("unknown cell '{name}'{near}"))
            }
            _ => Ok(()),
        }
    }
}
