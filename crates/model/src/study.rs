//! Study files: TOML that names datasets, comparisons, figures and what was published.

mod check;
mod claim;
pub(crate) mod figure;
mod file;
mod ladder;
mod like;
mod matrix;
mod read;

pub use claim::{ClaimMeasure, ClaimSpec, TestSpec};
pub use figure::{Across, Axis, FigureSpec, Measure, PublishedRow};
pub use file::{Reading, StudyError, StudyFile};
pub use ladder::{LadderSpec, RungSpec};
pub use matrix::{MatrixScale, MatrixSpec, PublishedMatrix};

use crate::size::size_or_text;
use crate::words::data;
use crate::{
    CellId, DatasetSpec, PythonReads, Scanned, Statistic, StoreSpec, WholeSet, WorkloadSpec,
};

use std::collections::BTreeMap;
use std::path::PathBuf;

/// The most rounds that a comparison can have: the stopping rule ends there.
pub const MOST_ROUNDS: u32 = 40;

data! {
    /// A study as its file gives it.
    #[derive(Default)]
    pub struct Study {
        /// Name on the command line.
        pub name: String,
        /// Title for people.
        pub title: String,
        /// What it asks, in a sentence or two.
        pub question: String,
        /// Where the published study stands.
        pub source: Option<String> | default,
        /// Memory that each store may use for caching, in bytes, unless its spec says otherwise.
        #[serde(default = "default_memory_budget", deserialize_with = "size_or_text")]
        pub memory_budget: u64,
        /// Drivers by name, which host stores of their own.
        pub drivers: BTreeMap<String, DriverSpec> = default,
        /// Servers by name, which a run starts for the stores that ask for them.
        pub servers: BTreeMap<String, DriverSpec> = default,
        /// Datasets by name, at the scale `full`.
        pub datasets: BTreeMap<String, DatasetSpec> | default,
        /// What other scales change.
        pub scales: BTreeMap<String, ScaleSpec> | default,
        /// What is compared, in running order.
        #[serde(rename = "comparison")]
        pub comparisons: Vec<ComparisonSpec> | default,
        /// Matrices of settings and sizes, which [`Study::expanded`] turns into comparisons that run
        /// after the others.
        #[serde(rename = "matrix")]
        pub matrices: Vec<MatrixSpec> | default,
        /// What is drawn and listed, in reading order.
        #[serde(rename = "figure")]
        pub figures: Vec<FigureSpec> | default,
        /// Costs taken apart, in reading order.
        #[serde(rename = "ladder")]
        pub ladders: Vec<LadderSpec> = default,
        /// What the published study claims, in reading order.
        #[serde(rename = "claim")]
        pub claims: Vec<ClaimSpec> = default,
        /// Systems whose published ratios the figures show: key and description.
        pub systems: BTreeMap<String, String> | default,
        /// Whose data the study is about, and what is to be advised on it.
        pub advise: Option<AdviseSpec> = default,
    }

    /// What a study on the user's own data shall advise: whether it belongs into one database or into files.
    /// Its comparisons are known by their names ([`AdviseSpec::READ`] and so on); the baseline of each is files,
    /// and its other cells are SQLite, or small values in SQLite and larger ones in files.
    pub struct AdviseSpec {
        /// The directory or the database.
        pub place: PathBuf,
        /// Whether the values lie in a database now.
        pub in_database: bool | default,
        /// What it holds, in a sentence.
        pub about: String,
        /// Values of the place that can be measured.
        pub values: u64,
        /// Bytes of all that there are.
        pub bytes: u64,
        /// The largest of all, in bytes.
        pub largest: u64,
        /// Of a database, whether it is in WAL mode.
        pub wal: bool | default,
        /// Which share of what is done replaces values, 0 to 1, where the user says so: reads in memory and
        /// replacements are weighed by it.
        pub overwrites: Option<f64> = default,
        /// What of the place was not measured, or measured elsewhere, a sentence each.
        pub limits: Vec<String> = default,
        /// What work on all values takes, as far as it was measured.
        pub whole: Option<WholeSet> = default,
        /// What warm reads take a program in Python, where there is one.
        pub python: Option<PythonReads> = default,
    }

    /// A program that hosts stores, or starts a server.
    #[derive(Eq)]
    pub struct DriverSpec {
        /// The program and its arguments. What names a file beside the study lies there.
        pub command: Vec<String>,
    }

    /// What a scale changes.
    #[derive(Default)]
    pub struct ScaleSpec {
        /// What it is for, in a few words.
        pub about: String | default,
        /// Number of values, by dataset.
        pub count: BTreeMap<String, u64> | default,
        /// Operations per block where the comparison fixes them, by comparison.
        pub operations: BTreeMap<String, u32> | default,
        /// The most rounds.
        pub max_rounds: Option<u32>,
        /// Comparisons, matrices and cells (`comparison/cell`) left out at this scale.
        pub skip: Vec<String> | default,
        /// Changes to matrices, by name.
        pub matrix: BTreeMap<String, MatrixScale> | default,
    }

    /// Cells that are measured in the same rounds.
    #[derive(Default)]
    pub struct ComparisonSpec {
        /// Name, unique in the study.
        pub id: String,
        /// Title for people.
        pub title: String,
        /// The dataset.
        pub dataset: String,
        /// The workload; cells may differ in single points.
        pub workload: WorkloadSpec | default,
        /// Which cell the others are compared with.
        pub baseline: String,
        /// The most rounds; 40 unless given.
        pub max_rounds: Option<u32> | default,
        /// After how many rounds its stores are built anew, so that what building leaves to chance
        /// (where files lie, how they came into the page cache) is part of the noise that is seen, and
        /// writes do not age them; never unless given.
        pub rebuild_every: Option<u32> | default,
        /// What of the times of its operations its verdicts are about.
        pub measure: Statistic = default,
        /// The file system that its cells are on, unless they name one themselves; that of the work
        /// directory unless given.
        pub on: Option<String> = default,
        /// Where the published seconds of its cells come from, in words.
        pub published_label: Option<String> | default,
        /// What stands between stores and their files, where a cell does not say otherwise.
        pub scanned: Option<Scanned> = default,
        /// Cells by name.
        pub cells: BTreeMap<String, CellSpec>,
    }

    /// One cell as a study file gives it.
    #[derive(Default)]
    pub struct CellSpec {
        /// The store.
        pub store: StoreSpec,
        /// The driver that hosts it; once a study is read, its name stands in `store`.
        #[serde(skip_serializing)]
        pub driver: Option<String> | default,
        /// The server that it uses; once a study is read, the store's `url` names its variable.
        #[serde(skip_serializing)]
        pub server: Option<String> | default,
        /// Name for people; by default the store spec.
        pub label: Option<String> | default,
        /// The file system that its data is on, such as `xfs`: one that the run makes for itself, or a
        /// directory that the user names; that of the work directory unless given.
        pub on: Option<String> = default,
        /// Whether it is the floor: the cheapest conceivable way to do the same work.
        pub floor: bool | default,
        /// Whether it only explains other cells, as a rung of a ladder or by what a primitive costs by
        /// itself: it gets no verdict.
        pub part: bool = default,
        /// Whether it is left out, and that is said, where its driver is not found.
        pub optional: bool = default,
        /// Where its workload differs.
        pub workload: WorkloadSpec | default,
        /// What stands between the store and its files.
        pub scanned: Option<Scanned> = default,
        /// Seconds that others published for as many operations as a block has, or stands for.
        pub published_seconds: Option<f64> | default,
        /// Standard error of that, in seconds, where it was published.
        pub published_error_seconds: Option<f64> = default,
    }
}

impl AdviseSpec {
    /// The comparison of reads in memory.
    pub const READ: &'static str = "read";
    /// The comparison of reads from storage, with names in memory.
    pub const COLD: &'static str = "cold";
    /// The comparison of reads with nothing in memory.
    pub const BOOT: &'static str = "boot";
    /// The comparison of single replacements.
    pub const REPLACE: &'static str = "replace";
}

fn default_memory_budget() -> u64 {
    4 << 20
}

/// The variable of the environment that holds the URL of a server with this name.
pub fn server_variable(name: &str) -> String {
    format!("STOWPLAN_{}", name.to_uppercase().replace('-', "_"))
}

impl ComparisonSpec {
    /// The name of a cell within the study: `comparison/cell`.
    pub fn cell_name(&self, key: &str) -> String {
        format!("{}/{key}", self.id)
    }

    /// What stands between the store of one of its cells and its files.
    pub fn scanned(&self, cell: &CellSpec) -> Scanned {
        cell.scanned.or(self.scanned).unwrap_or_default()
    }

    /// Leaves out the cells among these names.
    pub fn leave_out(&mut self, names: &[String]) {
        let Self { id, cells, .. } = self;
        cells.retain(|key, _| !names.contains(&format!("{id}/{key}")));
    }
}

impl CellSpec {
    /// What it is called.
    pub fn name(&self) -> String {
        self.label.clone().unwrap_or_else(|| {
            let on = self.on.iter().map(|on| format!(" on {on}"));
            let scanned = self.scanned.iter().map(|scanned| format!(", {scanned}"));
            std::iter::once(self.store.to_string())
                .chain(on)
                .chain(scanned)
                .collect()
        })
    }
}

impl Study {
    /// Reads a study from TOML and checks that its names refer to something.
    ///
    /// # Errors
    /// Its mistakes, each with file, line and column.
    pub fn parse(text: &str, file: &str) -> Result<Self, StudyError> {
        match StudyFile::of(text, file).read() {
            Reading {
                study: Some(study),
                mistakes,
                ..
            } if mistakes.is_empty() => Ok(study),
            reading => Err(StudyError(reading.mistakes)),
        }
    }

    /// What a cell of its comparisons is called, measured or not.
    pub fn label_of(&self, cell: &CellId) -> String {
        let (comparison, key) = cell.0.split_once('/').unwrap_or((&cell.0, ""));
        let mut specs = self.comparisons.iter();
        let spec = specs.find(|spec| spec.id == comparison);
        match spec.and_then(|spec| spec.cells.get(key)) {
            Some(spec) => spec.name(),
            None => cell.0.clone(),
        }
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
            if let Some(server) = cell.server.take() {
                let variable = format!("${}", server_variable(&server));
                let settings = &mut cell.store.settings;
                settings.entry("url".to_owned()).or_insert(variable);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SizeDistribution, hostile};

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

    /// A study with keys of many a table.
    const KEYS: &str = r#"
name = "t"
title = "T"
question = "?"
[datasets.blobs]
count = 3_000
size = { distribution = "kvtest", size = 2, variance = 1 }
content = { kind = "compressible", ratio = 0.5 }
[[comparison]]
id = "reads"
title = "reads"
dataset = "blobs"
baseline = "dir"
workload = { mix = { read = 1, overwrite = 0 }, per_transaction = 10 }
[comparison.cells]
dir = { store = "files:layout=dir" }
sql = { store = "sqlite" }
[scales.quick]
count = { blobs = 0x10 }
[datasets.more]
count = 1
size = { distribution = "log-normal", median = 1, sigma = 1.5, max = 2 }
[systems]
phone = "A phone"
[[figure]]
id = "c"
title = "C"
comparisons = ["reads"]
to = "dir"
cells = ["sql"]
published_ratios = { phone = 1.25 }
published_precision = 0.125
"#;

    /// The study with other words.
    fn with(words: &[(&str, &str)]) -> Study {
        let mut text = STUDY.to_owned();
        for (word, instead) in words {
            assert!(text.contains(word), "{word}");
            text = text.replace(word, instead);
        }
        Study::parse(&text, "t.toml").unwrap()
    }

    #[test]
    fn a_study_is_read_and_reads_back_from_a_result_as_it_was_run() {
        let quick = "[scales.quick]\nskip = [\"reads/sql\"]\n[[comparison]]";
        let optional = ("sql = {", "sql = { optional = true,");
        let study = with(&[("[[comparison]]", quick), optional]);
        let cells = &study.comparisons[0].cells;
        assert_eq!(cells["dir"].store.to_string(), "files:layout=dir");
        assert!(cells["sql"].optional && !cells["dir"].optional);
        assert_eq!(study.scales["quick"].skip, ["reads/sql"]);
        let decided = claim::tests::STUDY.to_owned() + "order = [\"read/sql\", \"read/dir\"]\n";
        for text in [KEYS, &decided, figure::tests::STUDY, matrix::tests::STUDY] {
            assert!(hostile::study(text).is_some(), "{text}");
        }
    }

    /// A case a line: a text of the study, what stands there instead (at the end where there is no
    /// text), perhaps more of both, and parts of what is said; behind `only`, how its lines begin.
    #[test]
    fn each_mistake_is_told_with_its_place_and_in_these_words() {
        let mut study = "";
        for line in include_str!("study/mistakes.txt").lines() {
            let line = line.replace("\\n", "\n");
            let mut parts: Vec<&str> = line.split(" => ").collect();
            let said = parts.pop().unwrap();
            if parts.is_empty() {
                study = match said {
                    "# study" => STUDY,
                    "# keys" => KEYS,
                    "# figures" => figure::tests::STUDY,
                    "# claims" => claim::tests::STUDY,
                    "# matrix" => matrix::tests::STUDY,
                    "# like" => like::tests::STUDY,
                    other => panic!("{other}"),
                };
                continue;
            }
            let text = parts.chunks(2).fold(study.to_owned(), |text, change| {
                assert!(text.contains(change[0]), "{line}");
                match change[0] {
                    "" => text + change[1],
                    wrong => text.replacen(wrong, change[1], 1),
                }
            });
            let told = Study::parse(&text, "t.toml").unwrap_err().to_string();
            assert!(told.starts_with("t.toml:"), "{told}");
            let mut lines: Vec<&str> = told.lines().collect();
            lines.sort_unstable();
            let is_said = match said.strip_prefix("only ") {
                Some(begin) => {
                    let begin = begin.split(" & ").collect::<Vec<_>>();
                    let mut both = lines.iter().zip(&begin);
                    lines.len() == begin.len() && both.all(|(line, it)| line.starts_with(it))
                }
                None => said.split(" … ").all(|said| told.contains(said)),
            };
            assert!(is_said, "{told}\nshould have been\n{said}");
            // Nobody has to know how numbers are kept.
            assert!(!told.contains("u64"), "{told}");
        }
    }

    #[test]
    fn a_size_is_a_number_of_bytes_or_text_with_a_unit() {
        for (written, bytes) in [
            ("2_048", 2_048),
            ("\"5k\"", 5_000),
            ("\"1.5 MiB\"", 1_572_864),
        ] {
            let size = format!("max = {written}");
            let budget = format!("question = \"?\"\nmemory_budget = {written}");
            let study = with(&[("max = 2", &size), ("question = \"?\"", &budget)]);
            assert_eq!(study.datasets["blobs"].size.largest(), bytes, "{written}");
            assert_eq!(study.memory_budget, bytes, "{written}");
        }
    }

    #[test]
    fn a_server_is_the_url_of_a_store_that_names_none() {
        for (store, url) in [
            ("kv", "kv:url=$STOWPLAN_MY_OWN"),
            ("kv:url=$DSN", "kv:url=$DSN"),
        ] {
            let cell = format!("sql = {{ server = \"my-own\", store = \"{store}\"");
            let study = with(&[("sql = { store = \"sqlite\"", &cell)]);
            assert_eq!(study.comparisons[0].cells["sql"].store.to_string(), url);
        }
    }

    #[test]
    fn values_come_from_a_place_and_sizes_may_be_like_those_of_one() {
        let size = "size = { distribution = \"uniform\", min = 1, max = 2 }";
        let of = |count: &str, instead: &str| {
            let study = with(&[("count = 10", count), (size, instead)]);
            let written = serde_json::to_string(&study).unwrap();
            assert_eq!(serde_json::from_str::<Study>(&written).unwrap(), study);
            study.datasets["blobs"].clone()
        };
        let found = of("", "from = \"pictures\"");
        assert_eq!(found.from.unwrap().place, std::path::Path::new("pictures"));
        assert_eq!((found.count, found.size), (0, SizeDistribution::AsFound));
        let table = "from = { place = \"x.db\", table = \"t\", column = \"c\" }";
        let found = of("count = 5", table).from.unwrap();
        assert_eq!(found.column.as_deref(), Some("c"));
        let like = SizeDistribution::Like { like: "d".into() };
        assert_eq!(of("count = 5", "size = { like = \"d\" }").size, like);
    }

    #[test]
    fn a_name_that_could_lead_out_of_a_directory_is_refused() {
        let long = "a".repeat(65);
        for name in "../up|/etc|a/b|a b||.|..|a.b|con.|ä"
            .split('|')
            .chain([&*long])
        {
            let text = STUDY.replace("[datasets.blobs]", &format!("[datasets.\"{name}\"]"));
            let text = text.replace("dataset = \"blobs\"", &format!("dataset = \"{name}\""));
            let told = Study::parse(&text, "t.toml").unwrap_err().to_string();
            assert!(told.contains("must consist of letters"), "{name}: {told}");
        }
    }

    #[test]
    fn a_number_that_a_result_cannot_hold_is_refused_wherever_it_stands() {
        for (study, figures) in [
            (KEYS, "0.5 1.5 1.25 0.125"),
            (figure::tests::STUDY, "22.5 0.2 0.0258 0.0006"),
            (matrix::tests::STUDY, "1.5 0.2"),
        ] {
            for figure in figures.split(' ') {
                for no_number in ["nan", "-nan", "inf", "-inf"] {
                    let text = study.replacen(figure, no_number, 1);
                    assert_ne!(text, study, "{figure}");
                    assert!(hostile::study(&text).is_none(), "{figure} as {no_number}");
                }
            }
        }
        // Any other reads back to its last digit.
        let written = 1.410_629_300_418_966_1e19;
        let text = serde_json::to_string(&written).unwrap();
        assert_eq!(serde_json::from_str::<f64>(&text).unwrap(), written);
    }
}
