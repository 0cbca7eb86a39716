//! Cells, comparisons and the plan that a study expands to.

use crate::words::data;
use crate::{
    Capabilities, DatasetSpec, Scanned, Settings, Statistic, StoreSpec, Study, Workload,
    WorkloadSpec,
};

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// The name of a cell within a run: `comparison/cell`, unique.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct CellId(pub String);

impl fmt::Display for CellId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

data! {
    /// What part a cell plays in its comparison.
    #[derive(Copy, Eq, Hash)]
    pub enum Role {
        /// The one that others are compared with.
        Baseline,
        /// A second, identical copy of the baseline: what it shows is noise.
        Control,
        /// One that is compared.
        Candidate,
        /// The cheapest conceivable way to do the same work.
        Floor,
        /// A rung of a ladder, or what a primitive costs by itself: it explains other cells and is no
        /// answer, so it is compared with none.
        Part,
    }

    /// Store x workload x dataset: one thing that is timed.
    pub struct Cell {
        /// Unique name.
        pub id: CellId,
        /// Its name within the comparison, as the study file gives it (`sql`).
        pub key: String,
        /// Its name for people.
        pub label: String,
        /// What part it plays.
        pub role: Role,
        /// The store as asked for.
        pub store: StoreSpec,
        /// The driver that hosts it, which the spec need not name; empty: the program itself.
        pub driver: String = default,
        /// Every setting of the store with its value.
        pub settings: Settings,
        /// What the store can do with them.
        pub capabilities: Capabilities,
        /// What is done.
        pub workload: Workload,
        /// What stands between the store and its files.
        pub scanned: Scanned = default,
        /// The name of the dataset.
        pub dataset: String,
        /// The file system that its data is on; empty: that of the work directory.
        pub on: String = default,
        /// Seconds that others published for as many operations as a block has, or stands for.
        pub published_seconds: Option<f64> = default,
        /// Where the built store lies, on its file system; cells that agree in kind, dataset, layout
        /// settings and file system share one.
        pub instance: String,
    }

    /// A pair of cells whose ratio is wanted: `cell` over `reference`.
    #[derive(Eq, PartialOrd, Ord, Hash)]
    pub struct Contrast {
        /// The numerator.
        pub cell: CellId,
        /// The denominator: ratio 1 means as fast as this.
        pub reference: CellId,
    }

    /// Cells that are measured in the same rounds, and the ratios wanted of them.
    pub struct Comparison {
        /// Its name in the study file.
        pub id: String,
        /// Its name for people.
        pub title: String,
        /// The cells: baseline first, then its control.
        pub cells: Vec<Cell>,
        /// The ratios wanted: each cell over the baseline, and those that a chart asks for.
        pub contrasts: Vec<Contrast>,
        /// Cells that a store cannot do, with the reason: shown as "not applicable".
        pub not_applicable: BTreeMap<String, String>,
        /// What of the times of its operations its verdicts are about.
        pub measure: Statistic = default,
        /// After how many rounds its stores are built anew; nothing: never.
        pub rebuild_every: Option<u32> = default,
        /// Where the published seconds of its cells come from, in words.
        pub published_label: Option<String> = default,
        /// The most rounds it gets; at least 1, at most the cap of the stopping rule (40).
        pub max_rounds: u32,
        /// When its ratios were judged before. A reader of the record notes it; no record holds it.
        #[serde(skip)]
        pub judged: JudgedBefore,
    }

    /// A study, expanded and checked against what each store can do.
    pub struct Plan {
        /// The study, as read, at the chosen scale.
        #[serde(deserialize_with = "crate::study::figure::of_result")]
        pub study: Study,
        /// The scale: `quick`, `standard`, `full`, or another that the study names.
        pub scale: String,
        /// Datasets by name.
        pub datasets: BTreeMap<String, DatasetSpec>,
        /// Comparisons in the order in which they run.
        pub comparisons: Vec<Comparison>,
        /// Directories that the user named for file systems that cells are on, by the name of these; the
        /// run makes the others for itself.
        pub on: BTreeMap<String, PathBuf> = default,
        /// Sweeps over the size of values, whose comparisons are among the above.
        pub sweeps: Vec<Sweep> = default,
        /// What these sweeps are to find out, from which follows what is added to them.
        pub sought: Option<Sought> = default,
    }

    /// What is to be found out of two stores at many sizes of values.
    pub struct Sought {
        /// Store A, the baseline.
        pub a: StoreSpec,
        /// Store B.
        pub b: StoreSpec,
        /// What is done.
        pub workload: WorkloadSpec,
        /// Bytes of values at each size, as far as their number stays sensible.
        pub bytes: u64,
        /// Memory that each store may use for caching, bytes.
        pub memory_budget: u64,
        /// The most rounds of a comparison, where they are given.
        pub rounds: Option<u32>,
    }

    /// Two stores compared at many sizes of values. Further sizes are added while it runs.
    #[derive(Eq)]
    pub struct Sweep {
        /// Its name; the comparison of values of 4096 bytes is called `NAME-4096`.
        pub id: String,
        /// Store A, the baseline of each comparison, for people.
        pub a: String,
        /// Store B, for people.
        pub b: String,
    }

    /// Comparisons that a plan gets while it runs, and what they need.
    #[derive(Default)]
    pub struct Extension {
        /// Datasets by name.
        pub datasets: BTreeMap<String, DatasetSpec>,
        /// Comparisons in the order in which they run.
        pub comparisons: Vec<Comparison>,
    }
}

/// When the ratios of a comparison were judged by sessions that others followed: each of these was a chance
/// to err.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JudgedBefore {
    /// The most rounds that it was to get at first, where it was given more later.
    pub planned_rounds: Option<u32>,
    /// The first round that no session had begun, each time that one came to its end.
    pub ends: Vec<u32>,
}

impl Comparison {
    /// The cell with this name.
    pub fn cell(&self, id: &CellId) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.id == *id)
    }

    /// The first cell with this role.
    pub fn with_role(&self, role: Role) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.role == role)
    }
}

impl Plan {
    /// The first name that must not become part of a path: a dataset's or an instance's with other
    /// characters than letters, digits, `-`, `_`, `.` and `+`, none at all, or too many.
    pub fn name_unfit_for_paths(&self) -> Option<&str> {
        let datasets = self.datasets.keys();
        let of_cells = self.comparisons.iter().flat_map(|c| &c.cells);
        let of_cells = of_cells.flat_map(|cell| [&cell.dataset, &cell.instance]);
        datasets
            .chain(of_cells)
            .map(String::as_str)
            .find(|name| !is_fit_for_paths(name))
    }
}

/// What stands between the name of stores that are built alike and that of the one cell that has this
/// one of them for itself.
pub const OF_CELL: &str = ".+.";

/// What ends the name of a second build.
const SECOND: &str = "+second";

impl Cell {
    /// It on the second build of its store.
    #[must_use]
    pub fn on_second(&self) -> Self {
        Self {
            instance: format!("{}{SECOND}", self.instance),
            ..self.clone()
        }
    }

    /// It on either build of its store.
    pub fn on_both(&self) -> [Self; 2] {
        [self.clone(), self.on_second()]
    }

    /// The name of its store, whichever build of it it is on.
    pub fn store_name(&self) -> &str {
        self.instance.strip_suffix(SECOND).unwrap_or(&self.instance)
    }

    /// Whether its build is a second one.
    pub fn is_on_second(&self) -> bool {
        self.instance.ends_with(SECOND)
    }

    /// Whether it writes to a build of its store that others write to as well, each to keys of its own.
    pub fn shares_writes(&self) -> bool {
        self.workload.writes() && !self.workload.changes_keys() && !self.instance.contains(OF_CELL)
    }
}

/// The name that stores which are built alike have in common, given that of one.
pub fn built_alike(instance: &str) -> &str {
    instance
        .split_once(OF_CELL)
        .map_or(instance, |(alike, _)| alike)
}

fn is_fit_for_paths(name: &str) -> bool {
    // A name of a file has at most 255 bytes, and something stands before this.
    let fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+');
    (1..=240).contains(&name.len()) && name.chars().all(fit)
}

impl Sweep {
    /// The name of the comparison at a size in bytes.
    pub fn comparison(&self, size: u64) -> String {
        format!("{}-{size}", self.id)
    }

    /// The name of a comparison that measures a size again.
    pub fn comparison_again(&self, size: u64) -> String {
        format!("{}-{size}-again", self.id)
    }

    /// The size in bytes that the comparison of this name measures; nothing if it is none of its.
    pub fn size_of(&self, comparison: &str) -> Option<u64> {
        let size = comparison.strip_prefix(&self.id)?.strip_prefix('-')?;
        size.strip_suffix("-again").unwrap_or(size).parse().ok()
    }
}

impl Plan {
    /// Adds what it got while it ran.
    pub fn extend(&mut self, more: &Extension) {
        let datasets = more.datasets.iter();
        self.datasets
            .extend(datasets.map(|(name, spec)| (name.clone(), spec.clone())));
        self.comparisons.extend(more.comparisons.iter().cloned());
    }

    /// What of the times of its operations the verdicts on a cell are about.
    pub fn statistic_of(&self, cell: &CellId) -> Statistic {
        let id = cell.0.split('/').next().unwrap_or_default();
        let mut comparisons = self.comparisons.iter();
        let found = comparisons.find(|comparison| comparison.id == id);
        found.map_or(Statistic::Time, |comparison| comparison.measure)
    }

    /// Expected bytes of the values of a dataset.
    pub fn dataset_bytes(&self, dataset: &str) -> u64 {
        let bytes = |spec: &DatasetSpec| spec.count.saturating_mul(spec.size.mean());
        self.datasets.get(dataset).map_or(0, bytes)
    }

    /// Every cell of every comparison.
    pub fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.comparisons
            .iter()
            .flat_map(|comparison| &comparison.cells)
    }
}
