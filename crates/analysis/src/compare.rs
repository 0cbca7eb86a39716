//! Two results of different sessions against each other: versions, commits, settings, machines.
//!
//! Within a session cells are compared pair by pair, round by round, so that what the machine does
//! in a round falls out. Between two sessions nothing is paired: the time of a cell in NEW over its
//! time in BASE also holds what the machine did in between. Three things stand against that, all of
//! them in docs/compare.md with the experiment that they rest on:
//!
//! * the interval of the unpaired shift is widened by the noise floors of *both* runs,
//! * and by what the *floor* cells, the same trivial code on the same bytes, may have shifted between
//!   the two sessions;
//! * beside it stands the ratio to the baseline, in which what both cells share cancels.

mod judge;
mod machine;
pub mod mann_whitney;
mod matching;

use crate::{Analysis, Interval, Metric};
use judge::{Criteria, floor_shift};
pub use machine::EnvironmentChange;
pub use matching::Obstacle;
use matching::{Matching, Place, is_floor, matching, obstacles};
use serde::Serialize;
use std::collections::BTreeSet;
use stowplan_model::{CellId, Role, suggestion};
use thiserror::Error;

/// Sessions are over when they are compared: there is one look, and no stopping rule to pay for.
const ALPHA: f64 = 0.05;

/// What is asked of two results.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Question {
    /// By how much a cell must take longer to count as a regression, as a ratio minus one (0.05 is
    /// 5%); nothing: by more than the noise floor.
    pub threshold: Option<f64>,
    /// What decides; nothing: time on the same machine.
    pub by: Option<Decides>,
    /// Cells of BASE with those of NEW that they are compared with; all others by their names.
    pub cells: Vec<(CellId, CellId)>,
}

/// What decides whether a cell regressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decides {
    /// Its time in NEW over its time in BASE.
    Time,
    /// Its ratio to the baseline in NEW over that in BASE.
    Ratio,
    /// Nothing: the machines differ, and no threshold says what would be too slow.
    Nothing,
}

/// One of the two results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResultSide {
    /// The one that is compared with.
    Base,
    /// The one that is compared.
    New,
}

impl ResultSide {
    /// Its name in messages and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Base => "BASE",
            Self::New => "NEW",
        }
    }

    /// The other one.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Base => Self::New,
            Self::New => Self::Base,
        }
    }
}

/// Something that reads otherwise in NEW than in BASE.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Difference {
    /// What.
    pub what: String,
    /// How it reads in BASE; nothing if it is not there or not known.
    pub base: Option<String>,
    /// How it reads in NEW.
    pub new: Option<String>,
}

impl Difference {
    fn of(what: &str, base: Option<String>, new: Option<String>) -> Self {
        Self {
            what: what.to_owned(),
            base,
            new,
        }
    }
}

/// Everything that can be said of NEW against BASE.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Changes {
    /// Whether both ran on the same machine: host, kernel, CPU, file system and device.
    pub same_machine: bool,
    /// What decides whether a cell regressed.
    pub decides: Decides,
    /// By how much it must take longer for that, as a ratio minus one; nothing: by more than the
    /// noise floor.
    pub threshold: Option<f64>,
    /// Differences up to this are none that matter, as a ratio minus one: the larger equivalence
    /// zone of the two runs, or the threshold where that is less.
    pub zone: f64,
    /// What changed around the measurements.
    pub environment: Vec<EnvironmentChange>,
    /// Whether what shifted between the sessions is assumed, because no floor tells.
    pub drift_assumed: bool,
    /// How the floors shifted: the same trivial code in both.
    pub floors: Vec<FloorShift>,
    /// The cells that were compared: regressions first, then by verdict, the largest change first.
    pub cells: Vec<CellChange>,
    /// The cells that were not, in the order of BASE, those of NEW last.
    pub not_compared: Vec<NotCompared>,
}

impl Changes {
    /// The cells that regressed.
    pub fn regressions(&self) -> impl Iterator<Item = &CellChange> {
        self.cells.iter().filter(|cell| cell.regression)
    }
}

/// A ratio of NEW to BASE with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Change {
    /// Estimate: the exponential of the two-sample Hodges–Lehmann shift of logarithms.
    pub ratio: f64,
    /// Lower end of the 95% interval of Mann and Whitney, before widening.
    pub raw_low: f64,
    /// Upper end of it.
    pub raw_high: f64,
    /// Lower end, widened: the one to show.
    pub low: f64,
    /// Upper end, widened.
    pub high: f64,
    /// By what it is widened for the noise within the sessions, as a natural logarithm: the noise
    /// floors of both.
    pub noise_floor: f64,
    /// By what the lower end is widened besides, as a natural logarithm of at least 0: the machine
    /// may have become slower by this between the sessions.
    pub drift_slower: f64,
    /// The same of the upper end: it may have become faster by this.
    pub drift_faster: f64,
    /// Rounds of BASE that it rests on.
    pub base_rounds: usize,
    /// Rounds of NEW.
    pub new_rounds: usize,
}

/// How one floor shifted between the sessions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FloorShift {
    /// Its name in BASE.
    pub cell: CellId,
    /// Its comparison in BASE.
    pub base_comparison: String,
    /// Its comparison in NEW.
    pub new_comparison: String,
    /// Time in NEW over time in BASE, widened for the noise only.
    pub time: Change,
    /// The same of its ratio to the baseline, where that is the same in both.
    pub ratio: Option<Change>,
}

/// The judgement on a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeVerdict {
    /// The whole interval lies above the threshold; without one, above 1.
    Slower,
    /// The whole interval lies below the threshold's inverse; without one, below 1.
    Faster,
    /// The interval excludes 1 and does not lie beyond the threshold.
    Small,
    /// The interval contains 1 and reaches beyond both the zone and the threshold.
    Unresolved,
    /// The interval contains 1 and lies within the threshold, and reaches beyond the zone: less than
    /// what was asked about, and not shown to be nothing.
    WithinThreshold,
    /// The interval contains 1 and lies within the zone.
    NoChange,
}

/// One cell in both results.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CellChange {
    /// Its name in BASE.
    pub base: CellId,
    /// Its name in NEW.
    pub new: CellId,
    /// Its name for people, in NEW.
    pub label: String,
    /// The title of its comparison, in NEW.
    pub title: String,
    /// What part it plays there.
    pub role: Role,
    /// Which time it is.
    pub metric: Metric,
    /// Time per operation in BASE, nanoseconds.
    pub base_time_ns: Option<Interval>,
    /// Time per operation in NEW, nanoseconds.
    pub new_time_ns: Option<Interval>,
    /// Time in NEW over time in BASE.
    pub time: Change,
    /// The verdict on that.
    pub time_verdict: ChangeVerdict,
    /// Its ratio to the baseline in NEW over that in BASE; nothing for the baseline itself, or
    /// where that is not the same in both.
    pub ratio: Option<Change>,
    /// The verdict on that.
    pub ratio_verdict: Option<ChangeVerdict>,
    /// Whether it counts as a regression, by what decides.
    pub regression: bool,
    /// In what it differs though it has the same name: store and settings.
    pub differences: Vec<Difference>,
    /// What it takes besides time.
    pub resources: Resources,
}

impl CellChange {
    /// The change that decides, with its verdict; where nothing decides, that of time. Nothing for
    /// a cell without a ratio where the ratio decides.
    #[must_use]
    pub fn decisive(&self, decides: Decides) -> Option<(Change, ChangeVerdict)> {
        match decides {
            Decides::Time | Decides::Nothing => Some((self.time, self.time_verdict)),
            Decides::Ratio => self.ratio.zip(self.ratio_verdict),
        }
    }
}

/// What a cell takes besides time, where both results know it. One figure per run, without an
/// interval: nothing regresses by it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Resources {
    /// Bytes allocated on disk.
    pub allocated_bytes: Option<ResourceChange>,
    /// Bytes sent to storage per byte written.
    pub write_amplification: Option<ResourceChange>,
    /// Largest resident set of a worker, bytes.
    pub peak_memory_bytes: Option<ResourceChange>,
}

/// One figure in both results.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ResourceChange {
    /// In BASE.
    pub base: f64,
    /// In NEW.
    pub new: f64,
    /// NEW over BASE.
    pub ratio: f64,
    /// Whether that is above the threshold or below its inverse; false without a threshold.
    pub beyond_threshold: bool,
}

/// A cell that was not compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NotCompared {
    /// Its name, in BASE where it is there.
    pub cell: CellId,
    /// Why; at least one reason.
    pub reasons: Vec<Obstacle>,
}

/// Why cells cannot be paired as the user asked for.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PairingError {
    /// No cell has this name.
    #[error("{} has no cell '{name}'{suggestion}", .side.name())]
    Unknown {
        /// In which result it was looked for.
        side: ResultSide,
        /// The name as given.
        name: String,
        /// `; did you mean …?` or empty.
        suggestion: String,
    },
    /// One cell is paired more than once.
    #[error("'{name}' of {} is paired twice; pair it once", .side.name())]
    Repeated {
        /// Of which result.
        side: ResultSide,
        /// Its name.
        name: String,
    },
}

/// Whether two results are of one run: begun in the same second, with the same seed, the machine being
/// in the same state, and with the same first time of the first cell that both measured. (In a fleet,
/// several machines may have one name and begin in the same second; no two blocks last equally long.)
#[must_use]
pub fn same_run(a: &Analysis, b: &Analysis) -> bool {
    let (ours, theirs) = (&a.run, &b.run);
    ours.started == theirs.started
        && ours.seed == theirs.seed
        && ours.environment == theirs.environment
        && !differ_at_first(a, b)
}

/// Whether the first cell that both measured took another time in its first round. Nothing is known
/// of results without a round.
fn differ_at_first(a: &Analysis, b: &Analysis) -> bool {
    let firsts = |analysis: &Analysis| {
        let cells = analysis.comparisons.iter().flat_map(|c| &c.cells);
        let first = cells.map(|cell| (cell.cell.id.clone(), cell.series.first().copied()));
        first.collect::<Vec<_>>()
    };
    let known = firsts(b);
    let both = |(id, ours): (CellId, Option<(u32, f64)>)| {
        let theirs = known.iter().find(|(other, _)| *other == id)?.1?;
        Some((ours?, theirs))
    };
    let mut pairs = firsts(a).into_iter().filter_map(both);
    pairs
        .next()
        .is_some_and(|(ours, theirs)| ours.0 != theirs.0 || ours.1.to_bits() != theirs.1.to_bits())
}

/// Compares two results cell by cell.
///
/// # Errors
/// A name in the question that no cell of its result has, or that stands there twice.
pub fn compare(
    base: &Analysis,
    new: &Analysis,
    question: &Question,
) -> Result<Changes, PairingError> {
    check_names(base, new, &question.cells)?;
    let environment = machine::changes(&base.run.environment, &new.run.environment);
    let same_machine = !environment.iter().any(|change| change.another_machine);
    let Matching { pairs, alone } = matching(base, new, &question.cells);
    let mut not_compared: Vec<NotCompared> = Vec::new();
    let mut comparable = Vec::new();
    for (ours, theirs) in pairs {
        let reasons = obstacles(ours, theirs);
        if reasons.is_empty() {
            comparable.push((ours, theirs));
        } else {
            let cell = ours.id().clone();
            not_compared.push(NotCompared { cell, reasons });
        }
    }
    let alone = alone.into_iter();
    not_compared.extend(alone.map(|(cell, reasons)| NotCompared { cell, reasons }));
    let floors = floors(base, new);
    let zone = base.run.equivalence.max(new.run.equivalence);
    let criteria = Criteria {
        decides: decides(same_machine, question),
        threshold: question.threshold,
        zone: zone.min(question.threshold.unwrap_or(zone)),
        floors: &floors,
    };
    let cells = comparable.into_iter();
    let cells = cells.filter(|(ours, theirs)| !is_floor(*ours, *theirs));
    let cells = cells.filter_map(|pair| criteria.cell(pair));
    let mut cells: Vec<CellChange> = cells.collect();
    cells.sort_by(|a, b| criteria.order(a, b));
    Ok(Changes {
        same_machine,
        decides: criteria.decides,
        threshold: criteria.threshold,
        zone: criteria.zone,
        drift_assumed: floors.is_empty(),
        environment,
        cells,
        not_compared,
        floors,
    })
}

/// How the floors shifted: by their names, whatever the user had them compared with.
fn floors(base: &Analysis, new: &Analysis) -> Vec<FloorShift> {
    let pairs = matching(base, new, &[]).pairs.into_iter();
    let floors = pairs
        .filter(|(ours, theirs)| is_floor(*ours, *theirs) && obstacles(*ours, *theirs).is_empty());
    floors.filter_map(floor_shift).collect()
}

fn decides(same_machine: bool, question: &Question) -> Decides {
    match question.by {
        Some(by) => by,
        None if same_machine || question.threshold.is_some() => Decides::Time,
        None => Decides::Nothing,
    }
}

/// Names that the user gave must be of cells, each once: a misspelt one would be compared with
/// nothing, and of two pairs with the same cell one would be dropped.
fn check_names(
    base: &Analysis,
    new: &Analysis,
    given: &[(CellId, CellId)],
) -> Result<(), PairingError> {
    let mut seen = BTreeSet::new();
    let names = given.iter().flat_map(|(ours, theirs)| {
        [
            (ResultSide::Base, base, ours),
            (ResultSide::New, new, theirs),
        ]
    });
    for (side, analysis, name) in names {
        let known = Place::all(analysis);
        let ids = known.iter().map(|place| &*place.id().0);
        if !ids.clone().any(|id| id == name.0) {
            return Err(PairingError::Unknown {
                side,
                name: name.0.clone(),
                suggestion: suggestion(&name.0, ids),
            });
        }
        if !seen.insert((side, name)) {
            let name = name.0.clone();
            return Err(PairingError::Repeated { side, name });
        }
    }
    Ok(())
}
