//! Figures: numbers of cells, alone or over what cells differ in, beside those that others published.

use super::Study;
use crate::CellId;
use crate::words::{data, words};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

words! {
    /// What a figure shows of each cell.
    #[derive(Default)]
    pub enum Measure {
        /// Headline time per operation, with its interval.
        #[default]
        Time = "time",
        /// Time of all operations of a block, as mean and standard error over the rounds.
        BlockTime = "block-time",
        /// Operations per second, with their interval.
        Throughput = "throughput",
        /// CPU time per operation.
        Cpu = "cpu",
        /// Largest resident set of a worker.
        PeakMemory = "peak-memory",
        /// Bytes allocated on disk.
        Footprint = "footprint",
        /// Bytes sent to storage per byte that the operations wrote.
        WriteAmplification = "write-amplification",
    }
}

data! {
    /// How an axis divides.
    #[derive(Copy, Eq)]
    pub enum Axis {
        /// From 0, in equal steps.
        Linear,
        /// In equal factors.
        Logarithmic,
    }

    /// A figure: numbers of cells, beside those that others published. What it shows follows from what is given:
    /// ratios [`Self::to`] a cell, lines over [`Self::x`], or bars of a quantity. Without comparisons it is a table
    /// of published times, or of published disk space, beside ours.
    #[derive(Default)]
    pub struct FigureSpec {
        /// Name, unique among the figures of the study.
        pub id: String,
        /// Title for people.
        pub title: String,
        /// Where what was published stands in the source.
        pub place: Option<String> = default,
        /// The comparisons, in reading order. Those that a scale leaves out are left out here too.
        pub comparisons: Vec<String> = default,
        /// Names of the cells drawn, in order; every cell unless given.
        pub cells: Vec<String> = default,
        /// Name of the cell, of its one comparison, that is 1.0.
        pub to: Option<String> = default,
        /// What lies across. A cell without it is drawn as a level. Both axes are logarithmic.
        pub x: Option<Across> = default,
        /// What is shown of each cell.
        pub measure: Measure = default,
        /// The axis of bars; logarithmic unless given if they differ by more than tenfold.
        pub axis: Option<Axis> = default,
        /// Where the published figures come from, in words.
        pub published_label: Option<String> = default,
        /// Published ratios, by keys of the study's systems.
        pub published_ratios: BTreeMap<String, f64> = default,
        /// How precisely they could be read: ± this much.
        pub published_precision: Option<f64> = default,
        /// What else was published.
        pub published: Vec<PublishedRow> = default,
    }

    /// What others published of something.
    #[derive(Default)]
    pub struct PublishedRow {
        /// What it is of; of a table nothing where the label of the cell says that.
        #[serde(alias = "what")]
        pub label: Option<String> = default,
        /// The comparison whose group of bars it stands in.
        pub comparison: Option<String> = default,
        /// The cell of ours that does the same; nothing where none does.
        pub cell: Option<CellId> = default,
        /// How many operations a time is of; of bars, as many as a block has.
        pub operations: Option<u64> = default,
        /// Seconds of all operations, the last commit included.
        pub seconds: Option<f64> = default,
        /// Its standard error, in seconds.
        pub error_seconds: Option<f64> = default,
        /// Seconds before the last commit.
        pub before_commit_seconds: Option<f64> = default,
        /// Bytes on disk.
        pub bytes: Option<u64> = default,
        /// Of how many values they are.
        pub count: Option<u64> = default,
    }
}

impl FigureSpec {
    /// Whether it is a table of published disk space beside ours.
    pub fn is_of_space(&self) -> bool {
        self.comparisons.is_empty() && self.measure == Measure::Footprint
    }
}

impl Study {
    /// The cells whose disk space the study asks about, with what was published of it.
    pub fn space(&self) -> impl Iterator<Item = &PublishedRow> + Clone {
        let tables = self.figures.iter().filter(|figure| figure.is_of_space());
        tables.flat_map(|table| &table.published)
    }
}

/// A study as a result holds it; one from before there were figures (0.2) has them by kind.
pub(crate) fn of_result<'de, D: Deserializer<'de>>(result: D) -> Result<Study, D::Error> {
    let mut study = Value::deserialize(result)?;
    if let Some(study) = study.as_object_mut() {
        add_figures(study);
    }
    Study::deserialize(study).map_err(D::Error::custom)
}

fn add_figures(study: &mut Map<String, Value>) {
    let mut taken = |kind: &str| match study.remove(kind) {
        Some(Value::Array(entries)) => entries,
        _ => Vec::new(),
    };
    let mut figures = taken("figure");
    for kind in ["chart", "bars", "lines", "published"] {
        figures.extend(taken(kind));
    }
    let space = taken("space");
    if !space.is_empty() {
        let (id, measure) = ("space", Measure::Footprint);
        figures.push(json!({ "id": id, "title": id, "measure": measure, "published": space }));
    }
    for figure in figures.iter_mut().filter_map(Value::as_object_mut) {
        let ratios = figure
            .contains_key("reference")
            .then_some(("published", "published_ratios"));
        let names = [
            ("reference", "to"),
            ("bars", "cells"),
            ("rows", "published"),
        ];
        for (before, now) in ratios.into_iter().chain(names) {
            if let Some(value) = figure.remove(before) {
                figure.insert(now.to_owned(), value);
            }
        }
        if let Some(comparison) = figure.remove("comparison") {
            figure.insert("comparisons".to_owned(), json!([comparison]));
        }
    }
    study.insert("figure".to_owned(), figures.into());
}

/// What a line chart has on its axis across: `operations`, `per_transaction`, `threads`, or the name of a setting.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(with = "String")
)]
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
    pub fn name(&self) -> &str {
        match self {
            Self::Operations => "operations",
            Self::PerTransaction => "per_transaction",
            Self::Threads => "threads",
            Self::Setting(name) => name,
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
