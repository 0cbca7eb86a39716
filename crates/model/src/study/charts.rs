//! Charts of measured quantities: bars over several comparisons, and lines over what cells differ in.

use super::{Fault, Study, is_plain};
use crate::{StoreSpec, suggestion};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What a chart shows of each cell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Headline time per operation, with its interval.
    #[default]
    Time,
    /// Time of all operations of a block, as mean and standard error over the rounds.
    BlockTime,
    /// Operations per second, with their interval.
    Throughput,
    /// CPU time per operation.
    Cpu,
    /// Largest resident set of a worker.
    PeakMemory,
    /// Bytes allocated on disk.
    Footprint,
    /// Bytes sent to storage per byte that the operations wrote.
    WriteAmplification,
}

impl Measure {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Time,
        Self::BlockTime,
        Self::Throughput,
        Self::Cpu,
        Self::PeakMemory,
        Self::Footprint,
        Self::WriteAmplification,
    ];

    /// Its name in study files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::BlockTime => "block-time",
            Self::Throughput => "throughput",
            Self::Cpu => "cpu",
            Self::PeakMemory => "peak-memory",
            Self::Footprint => "footprint",
            Self::WriteAmplification => "write-amplification",
        }
    }
}

/// How an axis divides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Axis {
    /// From 0, in equal steps.
    Linear,
    /// In equal factors.
    Logarithmic,
}

/// Bars of one quantity: a group for each comparison, in it a bar for each cell, those that keep the
/// same durability promise together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BarsSpec {
    /// Name, unique among the charts of the study.
    pub id: String,
    /// Title for people.
    pub title: String,
    /// The comparisons, in reading order. Those that a scale leaves out are left out here too.
    pub comparisons: Vec<String>,
    /// Names of the cells drawn, in order; every cell unless given.
    #[serde(default)]
    pub cells: Vec<String>,
    /// What is shown of each.
    #[serde(default)]
    pub measure: Measure,
    /// The axis; logarithmic unless given if the bars differ by more than tenfold.
    #[serde(default)]
    pub axis: Option<Axis>,
    /// Where the published figures come from, in words.
    #[serde(default)]
    pub published_label: Option<String>,
    /// Published figures of what is no cell here.
    #[serde(default)]
    pub published: Vec<PublishedBar>,
}

/// What others published of a system that is not measured here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PublishedBar {
    /// The comparison whose group it stands in.
    pub comparison: String,
    /// What it was.
    pub label: String,
    /// Seconds of as many operations as a block of that comparison has.
    pub seconds: f64,
    /// Standard error of that, in seconds.
    #[serde(default)]
    pub error_seconds: Option<f64>,
}

/// What a line chart has on its axis across.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Across {
    /// Operations of a block, or those that it is a sample of.
    Operations,
    /// Operations per transaction.
    PerTransaction,
    /// Threads.
    Threads,
    /// A setting of the stores, by name, whose values are numbers.
    Setting(String),
}

impl From<String> for Across {
    fn from(name: String) -> Self {
        let name = name.replace('-', "_");
        match name.as_str() {
            "operations" => Self::Operations,
            "per_transaction" => Self::PerTransaction,
            "threads" => Self::Threads,
            _ => Self::Setting(name),
        }
    }
}

impl From<Across> for String {
    fn from(across: Across) -> Self {
        across.name().to_owned()
    }
}

impl Across {
    /// Its name in study files.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Operations => "operations",
            Self::PerTransaction => "per_transaction",
            Self::Threads => "threads",
            Self::Setting(name) => name,
        }
    }
}

/// Lines of one quantity against what cells differ in: cells that are the same otherwise are one
/// line. Both axes are logarithmic.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LinesSpec {
    /// Name, unique among the charts of the study.
    pub id: String,
    /// Title for people.
    pub title: String,
    /// The comparisons whose cells are its points.
    pub comparisons: Vec<String>,
    /// Names of the cells drawn; every cell unless given. One without what is across is drawn as a
    /// level.
    #[serde(default)]
    pub cells: Vec<String>,
    /// What lies across.
    pub x: Across,
    /// What is shown upwards.
    #[serde(default)]
    pub measure: Measure,
}

/// What a chart says of where it finds its cells.
struct Place<'a> {
    /// The key of the list: `bars` or `lines`.
    list: &'static str,
    index: usize,
    id: &'a str,
    comparisons: &'a [String],
    cells: &'a [String],
}

impl Place<'_> {
    fn fault(&self, key: &str, message: String) -> Fault {
        Fault {
            path: vec![self.list.to_owned(), self.index.to_string(), key.to_owned()],
            place: format!("{} '{}', {key}", self.list, self.id.escape_debug()),
            message,
        }
    }
}

impl Study {
    /// Checks every chart of bars and of lines.
    pub(super) fn check_bars_and_lines(&self) -> Vec<Fault> {
        let bars = self.bars.iter().enumerate().map(|(index, bars)| {
            let place = Place {
                list: "bars",
                index,
                id: &bars.id,
                comparisons: &bars.comparisons,
                cells: &bars.cells,
            };
            self.check_place(&place)?;
            bars.check_published(&place)
        });
        let lines = self.lines.iter().enumerate().map(|(index, lines)| {
            let place = Place {
                list: "lines",
                index,
                id: &lines.id,
                comparisons: &lines.comparisons,
                cells: &lines.cells,
            };
            self.check_place(&place)?;
            self.check_across(&place, &lines.x)
        });
        let mut found: Vec<Fault> = bars.chain(lines).filter_map(Result::err).collect();
        found.extend(self.check_published_cells());
        found
    }

    fn check_place(&self, place: &Place<'_>) -> Result<(), Fault> {
        if !is_plain(place.id) {
            let message = "a name must consist of letters, digits, '-' and '_'";
            return Err(place.fault("id", message.to_owned()));
        }
        if self.charts_called(place.id) > 1 {
            return Err(place.fault("id", "this id is used twice".to_owned()));
        }
        if place.comparisons.is_empty() {
            return Err(place.fault("comparisons", "give at least one".to_owned()));
        }
        let mut seen = BTreeSet::new();
        for id in place.comparisons {
            if !self.comparisons.iter().any(|known| known.id == *id) {
                let known = self.comparisons.iter().map(|known| known.id.as_str());
                let message = format!("unknown comparison '{id}'{}", suggestion(id, known));
                return Err(place.fault("comparisons", message));
            }
            if !seen.insert(id) {
                return Err(place.fault("comparisons", format!("'{id}' stands here twice")));
            }
        }
        let known = || self.specs_of(place).map(|(name, _)| name);
        match place
            .cells
            .iter()
            .find(|cell| !known().any(|name| name == *cell))
        {
            None => Ok(()),
            Some(cell) => {
                let hint = suggestion(cell, known());
                let message = format!("unknown cell '{cell}' in its comparisons{hint}");
                Err(place.fault("cells", message))
            }
        }
    }

    /// How many charts of any kind have this name.
    fn charts_called(&self, id: &str) -> usize {
        let charts = self.charts.iter().map(|chart| &chart.id);
        let bars = self.bars.iter().map(|bars| &bars.id);
        let lines = self.lines.iter().map(|lines| &lines.id);
        charts
            .chain(bars)
            .chain(lines)
            .filter(|known| *known == id)
            .count()
    }

    /// Names and stores of the cells of a chart's comparisons.
    fn specs_of<'a>(
        &'a self,
        place: &'a Place<'_>,
    ) -> impl Iterator<Item = (&'a str, &'a StoreSpec)> {
        let comparisons = self.comparisons.iter();
        let shown = comparisons.filter(|known| place.comparisons.contains(&known.id));
        let cells = shown.flat_map(|comparison| &comparison.cells);
        cells.map(|(name, cell)| (name.as_str(), &cell.store))
    }

    /// What lies across must be a word of workloads, or a setting that some cell gives.
    fn check_across(&self, place: &Place<'_>, across: &Across) -> Result<(), Fault> {
        let Across::Setting(setting) = across else {
            return Ok(());
        };
        let given = || self.specs_of(place).flat_map(|(_, store)| &store.settings);
        let values = || {
            given()
                .filter(|(name, _)| *name == setting)
                .map(|(_, value)| value)
        };
        if values().next().is_none() {
            let words = ["operations", "per_transaction", "threads"];
            let known = given().map(|(name, _)| name.as_str()).chain(words);
            let hint = suggestion(setting, known);
            let message = format!(
                "'{setting}' is neither operations, per_transaction nor threads, and no cell of \
                 its comparisons gives a setting of that name{hint}"
            );
            return Err(place.fault("x", message));
        }
        match values().find(|value| crate::parse_size(value).is_err()) {
            None => Ok(()),
            Some(value) => {
                let message = format!("'{setting}' has no numbers to draw: a cell gives '{value}'");
                Err(place.fault("x", message))
            }
        }
    }

    /// A published error belongs to published seconds.
    fn check_published_cells(&self) -> Vec<Fault> {
        let mut found = Vec::new();
        for (index, comparison) in self.comparisons.iter().enumerate() {
            for (name, cell) in &comparison.cells {
                let wrong = match (cell.published_seconds, cell.published_error_seconds) {
                    (None, Some(_)) => Some("it needs published_seconds".to_owned()),
                    (seconds, error) => not_seconds(seconds.into_iter().chain(error)),
                };
                if let Some(message) = wrong {
                    let path = ["comparison", &index.to_string(), "cells", name];
                    found.push(Fault {
                        path: path.map(str::to_owned).to_vec(),
                        place: format!("cell '{}/{name}', published_seconds", comparison.id),
                        message,
                    });
                }
            }
        }
        found
    }
}

/// What is wrong with published seconds, if anything is.
fn not_seconds(mut seconds: impl Iterator<Item = f64>) -> Option<String> {
    let wrong = seconds.find(|seconds| !seconds.is_finite() || *seconds < 0.0)?;
    Some(format!("{wrong} is no number of seconds"))
}

impl BarsSpec {
    fn check_published(&self, place: &Place<'_>) -> Result<(), Fault> {
        if !self.published.is_empty() && self.measure != Measure::BlockTime {
            let message = format!(
                "published figures are seconds of a block, which measure = \"block-time\" shows, \
                 and this one is \"{}\"",
                self.measure.name()
            );
            return Err(place.fault("published", message));
        }
        for bar in &self.published {
            if !self.comparisons.contains(&bar.comparison) {
                let known = self.comparisons.iter().map(String::as_str);
                let hint = suggestion(&bar.comparison, known);
                let message = format!("'{}' is none of its comparisons{hint}", bar.comparison);
                return Err(place.fault("published", message));
            }
            let figures = [bar.seconds].into_iter().chain(bar.error_seconds);
            if let Some(message) = not_seconds(figures) {
                return Err(place.fault("published", format!("'{}': {message}", bar.label)));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
