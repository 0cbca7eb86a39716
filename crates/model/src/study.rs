//! Study files: TOML that names datasets, comparisons, charts and published figures.

mod charts;
mod fault;
mod finite;
mod ladder;
mod matrix;
mod strict;

pub use charts::{Across, Axis, BarsSpec, LinesSpec, Measure, PublishedBar};
use fault::Fault;
pub use ladder::{DifferenceSpec, HypothesisSpec, LadderSpec, RungSpec};
pub use matrix::{MatrixScale, MatrixSpec, PublishedMatrix};

use crate::size::size_or_text;
use crate::{CellId, DatasetSpec, StoreSpec, WorkloadSpec, parse_size, suggestion};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use thiserror::Error;

/// A study as its file gives it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Study {
    /// Name on the command line.
    pub name: String,
    /// Title for people.
    pub title: String,
    /// What it asks, in a sentence or two.
    pub question: String,
    /// Where the published study stands.
    #[serde(default)]
    pub source: Option<String>,
    /// Memory that each store may use for caching, in bytes, unless its spec says otherwise.
    #[serde(default = "default_memory_budget", deserialize_with = "size_or_text")]
    pub memory_budget: u64,
    /// Drivers by name, which host stores of their own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub drivers: BTreeMap<String, DriverSpec>,
    /// Datasets by name, at the seed's scale.
    #[serde(default)]
    pub datasets: BTreeMap<String, DatasetSpec>,
    /// What other scales change.
    #[serde(default)]
    pub scales: BTreeMap<String, ScaleSpec>,
    /// What is compared, in running order.
    #[serde(rename = "comparison", default)]
    pub comparisons: Vec<ComparisonSpec>,
    /// Matrices of settings and sizes, which [`Study::expanded`] turns into comparisons that run
    /// after the others.
    #[serde(rename = "matrix", default)]
    pub matrices: Vec<MatrixSpec>,
    /// What is drawn, in reading order.
    #[serde(rename = "chart", default)]
    pub charts: Vec<ChartSpec>,
    /// Bars of measured quantities, in reading order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bars: Vec<BarsSpec>,
    /// Lines of measured quantities, in reading order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<LinesSpec>,
    /// Costs taken apart, in reading order.
    #[serde(rename = "ladder", default, skip_serializing_if = "Vec::is_empty")]
    pub ladders: Vec<LadderSpec>,
    /// Claims that the steps of ladders test, in reading order.
    #[serde(rename = "hypothesis", default, skip_serializing_if = "Vec::is_empty")]
    pub hypotheses: Vec<HypothesisSpec>,
    /// Systems whose published figures the charts show: key and description.
    #[serde(default)]
    pub systems: BTreeMap<String, String>,
    /// Published figures of disk space.
    #[serde(default)]
    pub space: Vec<PublishedSpace>,
}

fn default_memory_budget() -> u64 {
    4 << 20
}

/// A program that hosts stores.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DriverSpec {
    /// The program and its arguments. What names a file beside the study lies there.
    pub command: Vec<String>,
}

/// What a scale changes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScaleSpec {
    /// What it is for, in a few words.
    #[serde(default)]
    pub about: String,
    /// Number of values, by dataset.
    #[serde(default)]
    pub count: BTreeMap<String, u64>,
    /// Operations per block where the comparison fixes them, by comparison.
    #[serde(default)]
    pub operations: BTreeMap<String, u32>,
    /// The most rounds.
    pub max_rounds: Option<u32>,
    /// Comparisons and matrices left out at this scale.
    #[serde(default)]
    pub skip: Vec<String>,
    /// Changes to matrices, by name.
    #[serde(default)]
    pub matrix: BTreeMap<String, MatrixScale>,
}

/// Cells that are measured in the same rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparisonSpec {
    /// Name, unique in the study.
    pub id: String,
    /// Title for people.
    pub title: String,
    /// The dataset.
    pub dataset: String,
    /// The workload; cells may differ in single points.
    #[serde(default)]
    pub workload: WorkloadSpec,
    /// Which cell the others are compared with.
    pub baseline: String,
    /// The most rounds; 40 unless given.
    #[serde(default)]
    pub max_rounds: Option<u32>,
    /// After how many rounds its stores are built anew, so that what building leaves to chance
    /// (where files lie, how they came into the page cache) is part of the noise that is seen, and
    /// writes do not age them; never unless given.
    #[serde(default)]
    pub rebuild_every: Option<u32>,
    /// Where the published seconds of its cells come from, in words.
    #[serde(default)]
    pub published_label: Option<String>,
    /// Cells by name.
    pub cells: BTreeMap<String, CellSpec>,
}

/// One cell as a study file gives it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellSpec {
    /// The store.
    pub store: StoreSpec,
    /// The driver that hosts it; once a study is read, its name stands in `store`.
    #[serde(default, skip_serializing)]
    pub driver: Option<String>,
    /// Name for people; by default the store spec.
    #[serde(default)]
    pub label: Option<String>,
    /// Whether it is the floor: the cheapest conceivable way to do the same work.
    #[serde(default)]
    pub floor: bool,
    /// Whether it only explains other cells, as a rung of a ladder or by what a primitive costs by
    /// itself: it gets no verdict.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub part: bool,
    /// Where its workload differs.
    #[serde(default)]
    pub workload: WorkloadSpec,
    /// Seconds that others published for as many operations as a block has, or stands for.
    #[serde(default)]
    pub published_seconds: Option<f64>,
    /// Standard error of that, in seconds, where it was published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_error_seconds: Option<f64>,
}

/// One chart: bars of ratios to a reference, beside published ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChartSpec {
    /// Name, unique in the study.
    pub id: String,
    /// Title for people.
    pub title: String,
    /// The comparison whose cells it shows.
    pub comparison: String,
    /// The cell that is 1.0.
    pub reference: String,
    /// The cells drawn, in order.
    pub bars: Vec<String>,
    /// The published ratios, by system.
    #[serde(default)]
    pub published: BTreeMap<String, f64>,
    /// What the published figure compares, in words.
    #[serde(default)]
    pub published_label: Option<String>,
    /// How precisely the published bars could be read, as an absolute difference of the ratio.
    #[serde(default)]
    pub published_precision: Option<f64>,
}

/// A published figure of disk space, beside which ours is shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PublishedSpace {
    /// Comparison and cell whose instance it is compared with: `comparison/cell`.
    pub cell: CellId,
    /// What was measured.
    pub label: String,
    /// Published bytes; none where the source gives none.
    #[serde(default)]
    pub bytes: Option<u64>,
    /// Number of values the published figure is for.
    #[serde(default)]
    pub count: Option<u64>,
}

/// What is wrong with a study file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum StudyError {
    /// The text is not TOML, or not of the study's shape.
    #[error("{file}:{line}:{column}: {message}{suggestion}")]
    Parse {
        /// The file's name.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong.
        message: String,
        /// `; did you mean …?` or empty.
        suggestion: String,
    },
    /// A name refers to nothing.
    #[error("{file}: {place}: unknown {what} '{name}'{suggestion}")]
    UnknownName {
        /// The file's name.
        file: String,
        /// Where it stands.
        place: String,
        /// What the name should be of.
        what: &'static str,
        /// The name.
        name: String,
        /// `; did you mean …?` or empty.
        suggestion: String,
    },
    /// A value makes no sense.
    #[error("{file}: {place}: {message}")]
    Invalid {
        /// The file's name.
        file: String,
        /// Where it stands.
        place: String,
        /// What is wrong.
        message: String,
    },
}

impl StudyError {
    /// The same error with line and column, where the name can be found in the text.
    fn located_in(mut self, text: &str) -> Self {
        if let Self::UnknownName { file, name, .. } = &mut self {
            let quoted = text.find(&format!("\"{name}\"")).map(|at| at + 1);
            if let Some(offset) = quoted.or_else(|| text.find(&*name)) {
                let (line, column) = line_and_column(text, offset);
                *file = format!("{file}:{line}:{column}");
            }
        }
        self
    }
}

impl Study {
    /// Reads a study from TOML and checks that its names refer to something.
    ///
    /// # Errors
    /// A mistake, with file, line and column where the text itself is at fault.
    pub fn parse(text: &str, file: &str) -> Result<Self, StudyError> {
        refuse_unknown_keys(text, file)?;
        let mut study: Self =
            toml::from_str(text).map_err(|error| parse_error(&error, text, file))?;
        study.name_drivers();
        study.check(file).map_err(|error| error.located_in(text))?;
        let located = |fault: Fault| fault.located_in(text, file);
        study.check_bars_and_lines().map_err(located)?;
        study.check_ladders().map_err(located)?;
        study.check_matrices().map_err(located)?;
        refuse_what_is_no_number(text, file)?;
        Ok(study)
    }

    /// Puts the drivers of cells into the specs of their stores.
    fn name_drivers(&mut self) {
        let compared = self.comparisons.iter_mut();
        let compared = compared.flat_map(|comparison| comparison.cells.values_mut());
        let crossed = self.matrices.iter_mut().flat_map(|matrix| {
            let beside = matrix.beside.values_mut();
            [&mut matrix.internal, &mut matrix.external]
                .into_iter()
                .chain(beside)
        });
        for cell in compared.chain(crossed) {
            if let Some(driver) = cell.driver.take() {
                cell.store = cell.store.clone().of_driver(&driver);
            }
        }
    }

    /// Names become parts of file names and of cell names, so they are plain.
    fn check_names(&self, file: &str) -> Result<(), StudyError> {
        let datasets = self.datasets.keys().map(|name| ("dataset", name));
        let comparisons = self.comparisons.iter().map(|c| ("comparison", &c.id));
        let cells = self.comparisons.iter().flat_map(|c| c.cells.keys());
        let charts = self.charts.iter().map(|chart| ("chart", &chart.id));
        let scales = self.scales.keys().map(|name| ("scale", name));
        let drivers = self.drivers.keys().map(|name| ("driver", name));
        let matrices = self.matrices.iter();
        let settings = matrices.map(|matrix| ("row_setting", &matrix.row_setting));
        let mut names = std::iter::once(("study", &self.name))
            .chain(datasets)
            .chain(drivers)
            .chain(settings)
            .chain(comparisons)
            .chain(cells.map(|name| ("cell", name)))
            .chain(charts)
            .chain(scales);
        match names.find(|(_, name)| !is_plain(name)) {
            None => Ok(()),
            Some((what, name)) => Err(StudyError::Invalid {
                file: file.to_owned(),
                place: format!("{what} '{}'", name.escape_debug()),
                message: "a name must consist of letters, digits, '-' and '_', at most 64 of them"
                    .to_owned(),
            }),
        }
    }

    fn check(&self, file: &str) -> Result<(), StudyError> {
        self.check_names(file)?;
        let invalid = |place: String, message: String| StudyError::Invalid {
            file: file.to_owned(),
            place,
            message,
        };
        if self.comparisons.is_empty() && self.matrices.is_empty() {
            let message = "it compares nothing: give it a [[comparison]] or a [[matrix]]";
            return Err(invalid(
                format!("study '{}'", self.name),
                message.to_owned(),
            ));
        }
        for (name, dataset) in &self.datasets {
            let place = format!("datasets.{name}");
            dataset
                .size
                .check()
                .map_err(|m| invalid(place.clone(), m))?;
            if dataset.count == 0 {
                return Err(invalid(place, "count must be at least 1".to_owned()));
            }
        }
        for comparison in &self.comparisons {
            let place = format!("comparison '{}'", comparison.id);
            self.known(
                file,
                &place,
                "dataset",
                &comparison.dataset,
                self.datasets.keys(),
            )?;
            let cells = comparison.cells.keys();
            self.known(file, &place, "cell", &comparison.baseline, cells)?;
            if self
                .comparisons
                .iter()
                .filter(|c| c.id == comparison.id)
                .count()
                > 1
            {
                return Err(invalid(place, "this id is used twice".to_owned()));
            }
        }
        self.check_charts(file)?;
        self.check_scales(file)
    }

    fn check_charts(&self, file: &str) -> Result<(), StudyError> {
        for chart in &self.charts {
            let place = format!("chart '{}'", chart.id);
            let ids = self.comparisons.iter().map(|c| &c.id);
            self.known(file, &place, "comparison", &chart.comparison, ids)?;
            for cells in self.comparisons.iter().filter(|c| c.id == chart.comparison) {
                for cell in chart.bars.iter().chain([&chart.reference]) {
                    self.known(file, &place, "cell", cell, cells.cells.keys())?;
                }
            }
            for system in chart.published.keys() {
                self.known(file, &place, "system", system, self.systems.keys())?;
            }
        }
        Ok(())
    }

    fn check_scales(&self, file: &str) -> Result<(), StudyError> {
        for (name, scale) in &self.scales {
            let place = format!("scales.{name}");
            for dataset in scale.count.keys() {
                self.known(file, &place, "dataset", dataset, self.datasets.keys())?;
            }
            let ids = || self.comparisons.iter().map(|c| &c.id);
            let matrices = || self.matrices.iter().map(|matrix| &matrix.id);
            for comparison in scale.operations.keys() {
                self.known(file, &place, "comparison", comparison, ids())?;
            }
            for skipped in &scale.skip {
                let all = ids().chain(matrices());
                self.known(file, &place, "comparison or matrix", skipped, all)?;
            }
            for matrix in scale.matrix.keys() {
                self.known(file, &place, "matrix", matrix, matrices())?;
            }
        }
        Ok(())
    }

    #[expect(clippy::unused_self, reason = "reads as a question to the study")]
    fn known<'a>(
        &self,
        file: &str,
        place: &str,
        what: &'static str,
        name: &str,
        known: impl Iterator<Item = &'a String> + Clone,
    ) -> Result<(), StudyError> {
        if known.clone().any(|candidate| candidate == name) {
            return Ok(());
        }
        Err(StudyError::UnknownName {
            file: file.to_owned(),
            place: place.to_owned(),
            what,
            name: name.to_owned(),
            suggestion: suggestion(name, known.map(String::as_str)),
        })
    }
}

/// Whether a name is fit for names of files and cells.
fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    // Names of files have an end.
    (1..=64).contains(&name.len()) && name.chars().all(plain)
}

/// A key that means nothing is mostly one that was mistyped.
fn refuse_unknown_keys(text: &str, file: &str) -> Result<(), StudyError> {
    match strict::unknown_key::<Study>(text) {
        None => Ok(()),
        Some(key) => Err(parse_error_at(&key.message, key.offset, text, file)),
    }
}

/// The study stands in the first line of its result, which could not be read then.
fn refuse_what_is_no_number(text: &str, file: &str) -> Result<(), StudyError> {
    match finite::no_number(text) {
        None => Ok(()),
        Some((offset, written)) => {
            let message = format!("{written} is no number that a result can hold");
            Err(parse_error_at(&message, offset, text, file))
        }
    }
}

fn parse_error(error: &toml::de::Error, text: &str, file: &str) -> StudyError {
    let offset = error.span().map_or(0, |span| span.start);
    parse_error_at(error.message(), offset, text, file)
}

fn parse_error_at(message: &str, offset: usize, text: &str, file: &str) -> StudyError {
    let (line, column) = line_and_column(text, offset);
    let message = in_words(
        &message.trim().replace('\n', "; "),
        &text[offset.min(text.len())..],
    );
    StudyError::Parse {
        file: file.to_owned(),
        line,
        column,
        suggestion: suggestion_for(&message),
        message,
    }
}

/// What the parser says, for people who do not program in its language. `at` is the text from the
/// mistake on.
fn in_words(message: &str, at: &str) -> String {
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    let value = at.split(|c| !word(c)).next().unwrap_or_default();
    if message.starts_with("string values must be quoted") && parse_size(value).is_ok() {
        return format!(
            "'{value}' is no number; a size with a unit stands in quotes (\"{value}\"), other numbers \
             are written out"
        );
    }
    let types = ["u64", "u32", "u16", "u8", "usize"];
    match message.rsplit_once("expected ") {
        Some((said, wanted)) if types.contains(&wanted) => {
            format!("{said}expected a whole number, 0 or more")
        }
        Some((said, "f64" | "f32")) => format!("{said}expected a number"),
        _ => message.to_owned(),
    }
}

/// Line and column, from 1, of a byte of the text.
fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..offset.min(text.len())];
    let line_start = before.rfind('\n').map_or(0, |index| index + 1);
    (
        before.matches('\n').count() + 1,
        before[line_start..].chars().count() + 1,
    )
}

/// serde lists what it expected between back quotes; the first quoted word is the wrong one.
fn suggestion_for(message: &str) -> String {
    if !message.starts_with("unknown ") {
        return String::new();
    }
    let mut quoted = message.split('`').skip(1).step_by(2);
    quoted
        .next()
        .map(|wrong| suggestion(wrong, quoted))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STUDY: &str = r#"
name = "t"
title = "T"
question = "?"
[datasets.blobs]
count = 10
size = { distribution = "uniform", min = 1, max = 2 }
[[comparison]]
id = "reads"
title = "reads"
dataset = "blobs"
baseline = "dir"
[comparison.cells]
dir = { store = "files:layout=dir" }
sql = { store = "sqlite" }
"#;

    #[test]
    fn a_study_is_read() {
        let study = Study::parse(STUDY, "t.toml").unwrap();
        assert_eq!(
            study.comparisons[0].cells["dir"].store.to_string(),
            "files:layout=dir"
        );
    }

    #[test]
    fn a_size_is_a_number_of_bytes_or_text_with_a_unit() {
        for (written, bytes) in [
            ("2_048", 2_048),
            ("\"5k\"", 5_000),
            ("\"1.5 MiB\"", 1_572_864),
        ] {
            let text = STUDY.replace("max = 2", &format!("max = {written}"));
            let text = format!("memory_budget = {written}\n{text}");
            let study = Study::parse(&text, "t.toml").unwrap();
            assert_eq!(study.datasets["blobs"].size.largest(), bytes, "{written}");
            assert_eq!(study.memory_budget, bytes, "{written}");
        }
    }

    #[test]
    fn a_number_that_is_none_is_refused_in_words() {
        for (right, wrong, told) in [
            (
                "max = 2",
                "max = 5k",
                "'5k' is no number; a size with a unit stands in quotes (\"5k\")",
            ),
            (
                "max = 2",
                "max = \"5 potatoes\"",
                "unknown suffix 'potatoes'",
            ),
            ("max = 2", "max = -1", "0 or more"),
            (
                "count = 10",
                "count = \"many\"",
                "expected a whole number, 0 or more",
            ),
            (
                "count = 10",
                "count = -1",
                "expected a whole number, 0 or more",
            ),
        ] {
            let text = STUDY.replace(right, wrong);
            let message = Study::parse(&text, "t.toml").unwrap_err().to_string();
            assert!(message.contains(told), "{wrong}: {message}");
            assert!(!message.contains("u64"), "{message}");
        }
    }

    #[test]
    fn a_mistyped_key_is_reported_with_line_column_and_the_nearest_key() {
        let text = STUDY.replace("baseline", "baselin");
        let message = Study::parse(&text, "t.toml").unwrap_err().to_string();
        assert!(message.starts_with("t.toml:12:1:"), "{message}");
        assert!(message.contains("did you mean 'baseline'?"), "{message}");
    }

    #[test]
    fn a_name_that_refers_to_nothing_is_reported_with_the_nearest_one() {
        let text = STUDY.replace("baseline = \"dir\"", "baseline = \"dri\"");
        let message = Study::parse(&text, "t.toml").unwrap_err().to_string();
        assert!(message.starts_with("t.toml:12:13:"), "{message}");
        assert!(
            message.contains("unknown cell 'dri'; did you mean 'dir'?"),
            "{message}"
        );
    }

    #[test]
    fn a_name_that_could_lead_out_of_a_directory_is_refused() {
        let long = "a".repeat(65);
        let names = [
            "../up", "/etc", "a/b", "a b", "", ".", "..", "a.b", "con.", "ä", &long,
        ];
        for name in names {
            let text = STUDY
                .replace("[datasets.blobs]", &format!("[datasets.\"{name}\"]"))
                .replace("dataset = \"blobs\"", &format!("dataset = \"{name}\""));
            let message = Study::parse(&text, "t.toml").unwrap_err().to_string();
            assert!(
                message.contains("must consist of letters"),
                "{name}: {message}"
            );
        }
    }

    #[test]
    fn the_name_of_a_study_is_as_plain_as_those_in_it() {
        let text = STUDY.replace("name = \"t\"", "name = \"../../x\"");
        let message = Study::parse(&text, "t.toml").unwrap_err().to_string();
        assert!(message.contains("study '../../x'"), "{message}");
    }

    #[test]
    fn an_inverted_size_range_is_refused() {
        let text = STUDY.replace("min = 1", "min = 3");
        let message = Study::parse(&text, "t.toml").unwrap_err().to_string();
        assert!(
            message.contains("datasets.blobs") && message.contains("above"),
            "{message}"
        );
    }

    proptest! {
        #[test]
        fn garbage_is_an_error_and_never_a_panic(text in "\\PC{0,200}") {
            prop_assert!(Study::parse(&text, "t.toml").is_err());
        }

        #[test]
        fn a_damaged_study_never_panics(at in 0usize..STUDY.len(), with in "\\PC{0,3}") {
            let mut text = STUDY.to_owned();
            if text.is_char_boundary(at) {
                text.insert_str(at, &with);
            }
            let _ = Study::parse(&text, "t.toml");
        }
    }
}
