//! Two results of different sessions against each other: versions, commits, settings, machines.
//!
//! Within a session cells are compared pair by pair, round by round, so that what the machine does
//! in a round falls out. Between two sessions nothing is paired: the time of a cell in NEW over its
//! time in BASE also holds what the machine did in between. Three things stand against that, all of
//! them in docs/compare.md with the experiment that they rest on:
//!
//! * the interval of the shift knows the builds that the rounds of either session met, and is
//!   widened by the noise floors of *both* runs,
//! * and by what the *floor* cells, the same trivial code on the same bytes, or without any most of the
//!   other cells shifted between the two sessions;
//! * beside it stands the ratio to the baseline, in which what both cells share cancels.
//!
//! Of several sessions on each side the session is the unit: what two sessions of the same program
//! differ by is then measured, and not allowed for.

mod family;
mod judge;
mod machine;
mod matching;
mod turns;

use crate::{Analysis, Interval, Metric};
pub use family::judge_together;
use judge::{Shifted, drift_is_measured, leaves_open};
pub use machine::EnvironmentChange;
pub use matching::Obstacle;
use matching::{Matching, Pair, Place, comparable, matching};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use stowplan_model::{CellId, Measure, Role, suggestion};
use thiserror::Error;
pub use turns::Turns;

/// Fewest sessions on each side that tell how far two of the same program lie apart.
pub const MIN_SESSIONS: usize = 2;

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

/// What an interval rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// The rounds of one session on each side: what differs between sessions is allowed for.
    Round,
    /// The sessions of both sides, several on each: what differs between them is measured.
    Session,
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
    /// What intervals rest on.
    pub unit: Unit,
    /// Sessions of BASE.
    pub base_sessions: usize,
    /// Sessions of NEW.
    pub new_sessions: usize,
    /// In which order they ran.
    pub turns: Turns,
    /// Whether all ran on the same machine: host, kernel, CPU, file system and device.
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
    /// How many cells decide together whether anything regressed, see [`judge_together`].
    pub family: usize,
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

    /// The cells whose change decides, each with that and the verdict on it; none where nothing
    /// decides.
    pub fn judged(&self) -> impl Iterator<Item = (&CellChange, Change, ChangeVerdict)> {
        let decides = (self.decides != Decides::Nothing).then_some(self.decides);
        self.cells.iter().filter_map(move |cell| {
            let (change, verdict) = cell.decisive(decides?)?;
            Some((cell, change, verdict))
        })
    }

    /// How many of the cells that decide would be told apart though nothing changed, if each interval
    /// missed as often as it may. They are widened, so that fewer are.
    #[must_use]
    pub fn expected_false(&self) -> f64 {
        self.judged().count() as f64 * ALPHA
    }

    /// The cells of which it is open whether they regressed: the interval of what decides is too wide
    /// to tell, among them those of a difference that may be more than the threshold, or lies
    /// above the threshold by no more than chance does to one of so many; or what was measured is not
    /// good enough for an interval.
    pub fn unresolved(&self) -> impl Iterator<Item = &CellId> {
        let open = self.judged();
        let open = open.filter(|(cell, change, verdict)| self.is_open(cell, change, *verdict));
        let left_out = self
            .not_compared
            .iter()
            .filter(|left_out| left_out.is_open());
        let left_out = left_out.map(|left_out| &left_out.cell);
        open.map(|(cell, _, _)| &cell.new).chain(left_out)
    }

    /// How many cells were checked: of these it is not open whether they regressed.
    #[must_use]
    pub fn checked(&self) -> usize {
        let judged = self.judged();
        let told = judged.filter(|(cell, change, verdict)| !self.is_open(cell, change, *verdict));
        told.count()
    }

    fn is_open(&self, cell: &CellChange, change: &Change, verdict: ChangeVerdict) -> bool {
        let by_chance = verdict == ChangeVerdict::Slower && !cell.regression;
        let threshold = self.threshold.map_or(0.0, f64::ln_1p);
        by_chance || leaves_open(verdict, change.high.ln(), threshold)
    }
}

/// A ratio of NEW to BASE with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Change {
    /// Estimate: the exponential of a difference of logarithms. By rounds of Hodges and Lehmann's estimates, by
    /// sessions of the means of both sides.
    pub ratio: f64,
    /// Lower end of the 95% interval (Welch's), before widening.
    pub raw_low: f64,
    /// Upper end of it.
    pub raw_high: f64,
    /// Lower end, widened: the one to show.
    pub low: f64,
    /// Upper end, widened.
    pub high: f64,
    /// By what it is widened for the noise within the sessions, as a natural logarithm: by rounds the
    /// noise floors of both, by sessions nothing.
    pub noise_floor: f64,
    /// By what the lower end is widened besides, as a natural logarithm of at least 0: the machine
    /// may have become slower by this between the sessions.
    pub drift_slower: f64,
    /// By what the upper end is widened besides: the machine may have become faster by this.
    pub drift_faster: f64,
    /// The p value that it became slower by more than the threshold: the least `alpha` with which the
    /// widened interval, of `1 − alpha` instead of 95%, would lie above it. So it is two-sided, and at
    /// most 5% exactly where the lower end lies above the threshold.
    pub p_slower: f64,
    /// Rounds of BASE that it rests on, of all sessions.
    pub base_rounds: usize,
    /// Rounds of NEW.
    pub new_rounds: usize,
    /// Sessions of BASE.
    pub base_sessions: usize,
    /// Sessions of NEW.
    pub new_sessions: usize,
}

/// How one floor shifted between the sessions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FloorShift {
    /// Its name in BASE.
    pub cell: CellId,
    /// Time in NEW over time in BASE, widened for the noise only.
    pub time: Change,
    /// The change of its ratio to the baseline, where that is the same in both.
    pub ratio: Option<Change>,
}

/// The judgement on a change, in the order in which they are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeVerdict {
    /// The whole interval lies above the threshold; without one, above 1.
    Slower,
    /// The whole interval lies below the threshold's inverse; without one, below 1.
    Faster,
    /// The interval excludes 1 and reaches across the threshold: a difference, maybe of more than that.
    Differs,
    /// The interval excludes 1 and lies within the threshold.
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
    /// Time per operation in BASE, nanoseconds: of several sessions the geometric mean of their times,
    /// with Student's interval.
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
    /// The p value of what decides, adjusted for all cells that are judged together by Holm's method;
    /// nothing for a cell that decides nothing.
    pub adjusted_p: Option<f64>,
    /// Whether it counts as a regression: its interval lies above the threshold, and it does so by
    /// more than chance does to one of so many.
    pub regression: bool,
    /// In what it differs though it has the same name: store and settings.
    pub differences: Vec<Difference>,
    /// What it takes besides time, where both results know it: bytes allocated on disk, bytes sent to storage
    /// per byte written, and the largest resident set of a worker in bytes. One figure per run (of several
    /// the median), without an interval: nothing regresses by it.
    pub resources: BTreeMap<&'static str, ResourceChange>,
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

/// What a cell takes besides time, as it is called in [`CellChange::resources`].
pub(crate) const RESOURCES: [(&str, Measure); 3] = [
    ("allocated_bytes", Measure::Footprint),
    ("write_amplification", Measure::WriteAmplification),
    ("peak_memory_bytes", Measure::PeakMemory),
];

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

impl NotCompared {
    /// Whether both results did the same, and only what was measured does not do.
    fn is_open(&self) -> bool {
        self.reasons.iter().all(|reason| reason.of_measurement)
    }
}

/// Why results cannot be compared as the user asked for.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PairingError {
    /// These numbers of sessions make no comparison.
    #[error(
        "BASE has {base} and NEW {new} of the results: give one each, or at least two each, whose \
         spread tells what sessions of the same program differ by"
    )]
    Sessions {
        /// Sessions of BASE.
        base: usize,
        /// Sessions of NEW.
        new: usize,
    },
    /// No cell has this name.
    #[error("{side} has no cell '{name}'{suggestion}")]
    Unknown {
        /// In which result it was looked for.
        side: &'static str,
        /// The name as given.
        name: String,
        /// `; did you mean …?` or empty.
        suggestion: String,
    },
    /// One cell is paired more than once.
    #[error("'{name}' of {side} is paired twice; pair it once")]
    Repeated {
        /// Of which result.
        side: &'static str,
        /// Its name.
        name: String,
    },
}

/// Whether two results are of one run: begun in the same second, with the same seed, the machine being
/// in the same state, and with the same first time of a cell. (In a fleet, several machines may have one name
/// and begin in the same second; no two blocks last equally long.)
#[must_use]
pub fn same_run(a: &Analysis, b: &Analysis) -> bool {
    let header = |analysis: &Analysis| {
        let run = &analysis.run;
        (run.started.clone(), run.seed, run.environment.clone())
    };
    let firsts = |analysis: &Analysis| -> BTreeSet<(CellId, u32, u64)> {
        let firsts = analysis.cells().filter_map(|cell| {
            let (round, log) = cell.series.first()?;
            Some((cell.cell.id.clone(), *round, log.to_bits()))
        });
        firsts.collect()
    };
    let (ours, theirs) = (firsts(a), firsts(b));
    let in_common = ours.is_empty() || theirs.is_empty() || !ours.is_disjoint(&theirs);
    header(a) == header(b) && in_common
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
    compare_sessions(&[base], &[new], question)
}

/// Compares the sessions of two sides cell by cell: one on each side by their rounds, or several by
/// what they differ by among themselves.
///
/// # Errors
/// No session on a side, or one on one and several on the other; a name in the question that no cell
/// of its side has, or that stands there twice.
pub fn compare_sessions(
    base: &[&Analysis],
    new: &[&Analysis],
    question: &Question,
) -> Result<Changes, PairingError> {
    let unit = unit(base.len(), new.len())?;
    check_names(base, new, &question.cells)?;
    let turns = Turns::of(base, new);
    let environment = machine::changes(base, new);
    let same_machine = !environment.iter().any(|change| change.another_machine);
    let Matching { pairs, alone } = matching(base, new, &question.cells);
    let mut not_compared: Vec<NotCompared> = Vec::new();
    let mut cells = Vec::new();
    for pair in pairs {
        let cell = pair.base[0].id().clone();
        match comparable(pair, unit) {
            Ok(pair) if pair.is_floor() => {}
            Ok(pair) => cells.extend(Shifted::of(pair, unit)),
            Err(reasons) => not_compared.push(NotCompared { cell, reasons }),
        }
    }
    not_compared.extend(alone);
    let sessions = base.iter().chain(new);
    let zone = sessions.map(|session| session.run.equivalence);
    let zone = zone.fold(0.0, f64::max);
    let floors = floors(base, new, unit);
    let mut changes = Changes {
        unit,
        base_sessions: base.len(),
        new_sessions: new.len(),
        turns,
        same_machine,
        decides: decides(same_machine, question),
        threshold: question.threshold,
        zone: zone.min(question.threshold.unwrap_or(zone)),
        drift_assumed: floors.is_empty() && !drift_is_measured(unit, turns),
        family: 0,
        environment,
        floors: floors.iter().map(|floor| floor.floor(unit)).collect(),
        cells: Vec::new(),
        not_compared,
    };
    let of_cell = |cell: &Shifted<'_>| cell.change(&changes, &floors, &cells);
    changes.cells = cells.iter().map(of_cell).collect();
    judge_together(std::slice::from_mut(&mut changes));
    Ok(changes)
}

fn unit(base: usize, new: usize) -> Result<Unit, PairingError> {
    match (base, new) {
        (1, 1) => Ok(Unit::Round),
        _ if base.min(new) >= MIN_SESSIONS => Ok(Unit::Session),
        _ => Err(PairingError::Sessions { base, new }),
    }
}

/// The floors: by their names, whatever the user had them compared with.
fn floors<'a>(base: &[&'a Analysis], new: &[&'a Analysis], unit: Unit) -> Vec<Shifted<'a>> {
    let floors = matching(base, new, &[]).pairs.into_iter();
    let floors = floors.filter(Pair::is_floor);
    let floors = floors.filter_map(|pair| comparable(pair, unit).ok());
    floors.filter_map(|pair| Shifted::of(pair, unit)).collect()
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
    base: &[&Analysis],
    new: &[&Analysis],
    given: &[(CellId, CellId)],
) -> Result<(), PairingError> {
    let mut seen = BTreeSet::new();
    let names = given
        .iter()
        .flat_map(|(ours, theirs)| [("BASE", base, ours), ("NEW", new, theirs)]);
    for (side, sessions, name) in names {
        let known = sessions.iter().flat_map(|session| Place::all(session));
        let known: Vec<Place<'_>> = known.collect();
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
