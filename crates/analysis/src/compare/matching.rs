//! Which cell of one result is which cell of the other, and why two of them cannot be compared.

use super::{Difference, MIN_SESSIONS, NotCompared, Unit};
use crate::{
    Analysis, CellSummary, ComparisonOutcome, Metric, TWICE_DIFFERED, cell_differences,
    estimate::MIN_ROUNDS,
};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use stowplan_model::{CellId, DatasetSpec, Origin, Role, Settings};

/// Why a cell cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Obstacle {
    /// Why, in words.
    pub reason: String,
    /// What is not the same, or how much each has of what is too little.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Difference>,
    /// Whether the same was asked of both, and only what was measured cannot be compared.
    pub of_measurement: bool,
}

impl Obstacle {
    fn of(reason: impl Into<String>, differences: Vec<Difference>, of_measurement: bool) -> Self {
        Self {
            reason: reason.into(),
            differences,
            of_measurement,
        }
    }
}

/// What something is called, and how it reads.
type Fact = (&'static str, String);

const PROMISE: &str = "durability promise";

/// A cell where it stands: its summary, its comparison, and the result of both.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) analysis: &'a Analysis,
    pub(super) comparison: &'a ComparisonOutcome,
    pub(super) cell: &'a CellSummary,
}

impl<'a> Place<'a> {
    /// Every cell that counts: no control, which is a copy of the baseline, none that only explains others, and
    /// none of a comparison that was measured again.
    pub(super) fn all(analysis: &'a Analysis) -> impl Iterator<Item = Self> {
        let comparisons = analysis.comparisons.iter();
        let comparisons = comparisons.filter(|comparison| !analysis.is_superseded(comparison));
        let of = move |comparison: &'a ComparisonOutcome| {
            comparison.cells.iter().map(move |cell| Self {
                analysis,
                comparison,
                cell,
            })
        };
        let cells = comparisons.flat_map(of);
        cells.filter(|place| !matches!(place.cell.cell.role, Role::Control | Role::Part))
    }

    pub(super) fn id(self) -> &'a CellId {
        &self.cell.cell.id
    }

    /// The build of its store that a round met.
    pub(super) fn build(self, round: u32) -> Option<u32> {
        self.cell.builds.get(&round).copied()
    }

    /// Why what was measured of it does not do.
    fn unusable(self) -> Option<String> {
        let mut failures = self.analysis.failures.iter();
        let failure = failures.find(|failure| failure.cell == *self.id());
        match (self.cell.rounds, failure) {
            (MIN_ROUNDS.., _) if self.comparison.reliable => None,
            (MIN_ROUNDS.., _) => Some(format!(
                "unreliable: {TWICE_DIFFERED} by more than noise explains"
            )),
            (_, Some(failure)) => Some(format!("failed: {}", failure.message)),
            (0, None) => Some("not measured".to_owned()),
            (few, None) => Some(format!("{few} rounds of at least {MIN_ROUNDS}")),
        }
    }

    /// The values that it holds; nothing where the plan does not tell.
    fn dataset(self) -> Option<Vec<Fact>> {
        let datasets = &self.analysis.run.plan.datasets;
        let DatasetSpec {
            count,
            size,
            content,
            seed,
            from,
        } = datasets.get(&self.cell.cell.dataset)?;
        let made_up = || "made up".to_owned();
        let place = |origin: &Origin| origin.place.display().to_string();
        Some(vec![
            ("values from", from.as_ref().map_or_else(made_up, place)),
            ("values", count.to_string()),
            ("sizes", size.to_string()),
            ("content", content.to_string()),
            ("seed", seed.to_string()),
        ])
    }

    /// What is shown of it where it differs: the store, the file system that it is on, and how often stores
    /// were built anew.
    fn shown(self) -> Vec<Fact> {
        let cell = &self.cell.cell;
        let on = match cell.on.as_str() {
            "" => "the work directory's",
            on => on,
        };
        let mut comparisons = self.analysis.run.plan.comparisons.iter();
        let plan = comparisons.find(|comparison| comparison.id == self.comparison.id);
        let rebuilt = match plan.and_then(|plan| plan.rebuild_every) {
            Some(rounds) => format!("every {rounds} rounds"),
            None => "never".to_owned(),
        };
        vec![
            ("store", cell.store.kind.clone()),
            ("on", on.to_owned()),
            ("stores built anew", rebuilt),
        ]
    }
}

/// Facts of the same names that do not read the same.
fn differences(base: Vec<Fact>, new: Vec<Fact>) -> Vec<Difference> {
    let both = base.into_iter().zip(new);
    let other = both.filter(|((_, base), (_, new))| base != new);
    other
        .map(|((what, base), (_, new))| Difference::of(what, Some(base), Some(new)))
        .collect()
}

/// One cell on both sides: in the sessions that have it, in their order, at least one of each.
#[derive(Debug, Clone)]
pub(super) struct Pair<'a> {
    pub(super) base: Vec<Place<'a>>,
    pub(super) new: Vec<Place<'a>>,
}

impl<'a> Pair<'a> {
    /// The cell in the first session of either side.
    pub(super) fn firsts(&self) -> (Place<'a>, Place<'a>) {
        (self.base[0], self.new[0])
    }

    /// Whether both are the same trivial code, so that what shifted is the machine's. A floor that was
    /// changed, or that the user paired with something else, is a cell like any other.
    pub(super) fn is_floor(&self) -> bool {
        let (base, new) = self.firsts();
        let floors = [base, new].map(|place| place.cell.cell.role == Role::Floor);
        floors == [true; 2] && base.id() == new.id() && shown_differences(base, new).is_empty()
    }
}

/// The pairs of cells to compare, in the order of BASE, and those that have no partner.
pub(super) struct Matching<'a> {
    pub(super) pairs: Vec<Pair<'a>>,
    pub(super) alone: Vec<NotCompared>,
}

/// Pairs the cells of two sides by name, except those that the user paired.
pub(super) fn matching<'a>(
    base: &[&'a Analysis],
    new: &[&'a Analysis],
    given: &[(CellId, CellId)],
) -> Matching<'a> {
    let mut others = cells_of(new);
    let by_hand: BTreeMap<&CellId, &CellId> = given.iter().map(|(a, b)| (a, b)).collect();
    let taken = |id: &&CellId| by_hand.values().any(|b| b == id);
    let (mut pairs, mut alone) = (Vec::new(), Vec::new());
    for base in cells_of(base) {
        let id = base[0].id();
        let by_name = Some(id).filter(|id| !taken(id));
        let partner = by_hand.get(id).copied().or(by_name);
        let mut ids = others.iter().map(|other| other[0].id());
        match ids.position(|other| Some(other) == partner) {
            Some(at) => pairs.push(Pair {
                base,
                new: others.remove(at),
            }),
            None => alone.push(without_partner(base[0], "NEW", new)),
        }
    }
    let rest = others.into_iter();
    alone.extend(rest.map(|other| without_partner(other[0], "BASE", base)));
    Matching { pairs, alone }
}

/// Every cell of the sessions of a side, in the order in which they first have it.
fn cells_of<'a>(sessions: &[&'a Analysis]) -> Vec<Vec<Place<'a>>> {
    let mut found: Vec<Vec<Place<'a>>> = Vec::new();
    for place in sessions.iter().flat_map(|session| Place::all(session)) {
        let same_session = |known: &Place<'_>| std::ptr::eq(known.analysis, place.analysis);
        let mut cells = found.iter_mut().filter(|cell| cell[0].id() == place.id());
        match cells.find(|cell| !cell.iter().any(same_session)) {
            Some(cell) => cell.push(place),
            None => found.push(vec![place]),
        }
    }
    found
}

/// A cell of one side, and why it has no partner on the other. One by its own name it would have
/// had, unless the user paired one of the two otherwise.
fn without_partner(place: Place<'_>, other: &str, others: &[&Analysis]) -> NotCompared {
    let mut namesakes = others.iter().flat_map(|other| Place::all(other));
    let mut comparisons = others.iter().flat_map(|other| &other.comparisons);
    let there = comparisons.find(|comparison| comparison.id == place.comparison.id);
    let why = there.and_then(|there| there.not_applicable.get(&place.cell.cell.label));
    let reason = match why {
        _ if namesakes.any(|other| other.id() == place.id()) => {
            "paired otherwise by --cells".to_owned()
        }
        Some(why) => format!("not applicable in {other}: {why}"),
        None => format!("not in {other}"),
    };
    NotCompared {
        cell: place.id().clone(),
        reasons: vec![Obstacle::of(reason, Vec::new(), false)],
    }
}

/// The pair with the sessions that can be compared, or why it cannot be. What was asked for comes first: of
/// cells that did different things, nobody asks how often they were measured. Of several sessions those are
/// left out in which the cell failed, has too few rounds, or is unreliable.
pub(super) fn comparable(pair: Pair<'_>, unit: Unit) -> Result<Pair<'_>, Vec<Obstacle>> {
    let asked = asked_obstacles(&pair);
    if !asked.is_empty() {
        return Err(asked);
    }
    let usable = match unit {
        Unit::Round => with_usable_rounds(pair)?,
        Unit::Session => with_usable_sessions(&pair)?,
    };
    let clock = |place: &Place<'_>| match place.comparison.metric {
        Metric::Corrected => "corrected time",
        Metric::Wall => "wall time",
    };
    let first = clock(&usable.base[0]);
    let mut clocks = usable.base.iter().chain(&usable.new).map(clock);
    match clocks.find(|clock| *clock != first) {
        Some(other) => {
            let [base, new] = [first, other].map(|clock| Some(clock.to_owned()));
            let clock = Difference::of("clock", base, new);
            Err(vec![Obstacle::of("another clock", vec![clock], true)])
        }
        None => Ok(usable),
    }
}

fn with_usable_rounds(pair: Pair<'_>) -> Result<Pair<'_>, Vec<Obstacle>> {
    let (base, new) = pair.firsts();
    let mut sides = vec![("BASE", base.unusable()), ("NEW", new.unusable())];
    if sides[0].1 == sides[1].1 {
        sides = vec![("both", base.unusable())];
    }
    let unusable = sides.into_iter().filter_map(|(side, why)| {
        let why = format!("{side}: {}", why?);
        Some(Obstacle::of(why, Vec::new(), true))
    });
    let unusable: Vec<Obstacle> = unusable.collect();
    if unusable.is_empty() {
        Ok(pair)
    } else {
        Err(unusable)
    }
}

fn with_usable_sessions<'a>(pair: &Pair<'a>) -> Result<Pair<'a>, Vec<Obstacle>> {
    let [base, new] = [&pair.base, &pair.new].map(|side| {
        let places = side.iter().copied();
        let usable = places.filter(|place| place.unusable().is_none());
        usable.collect::<Vec<Place<'a>>>()
    });
    if base.len().min(new.len()) >= MIN_SESSIONS {
        return Ok(Pair { base, new });
    }
    let reason = format!("too few sessions that can be used, of at least {MIN_SESSIONS} each");
    let [base, new] = [base, new].map(|side| Some(side.len().to_string()));
    let sessions = Difference::of("sessions", base, new);
    Err(vec![Obstacle::of(reason, vec![sessions], true)])
}

/// In what the sessions of a pair were asked for something else: the sides, and, what makes one no session of
/// the same program on the same data, those of a side.
fn asked_obstacles(pair: &Pair<'_>) -> Vec<Obstacle> {
    let (base, new) = pair.firsts();
    let cells = [base, new].map(|place| &place.cell.cell);
    // A floor is no store, and promises nothing that anyone would choose it for.
    let promises = cells.iter().any(|cell| cell.workload.operation.writes())
        && cells.iter().all(|cell| cell.role != Role::Floor);
    let mut between = work_differences(base, new);
    between.retain(|difference| promises || difference.what != PROMISE);
    let within = |side: &[Place<'_>]| {
        let mut others = side.iter().map(|other| {
            let mut found = work_differences(side[0], *other);
            found.extend(shown_differences(side[0], *other));
            found
        });
        others.find(|found| !found.is_empty()).unwrap_or_default()
    };
    let all = [
        ("not the same", between),
        (
            "the sessions of BASE did not do the same",
            within(&pair.base),
        ),
        ("the sessions of NEW did not do the same", within(&pair.new)),
    ];
    let all = all.into_iter().filter(|(_, found)| !found.is_empty());
    all.map(|(reason, found)| Obstacle::of(reason, found, false))
        .collect()
}

/// In what two cells did not do the same to the same data.
fn work_differences(base: Place<'_>, new: Place<'_>) -> Vec<Difference> {
    let datasets = base.dataset().zip(new.dataset());
    let mut found = datasets.map_or_else(Vec::new, |(base, new)| differences(base, new));
    let work = cell_differences(&base.cell.cell, &new.cell.cell).into_iter();
    found
        .extend(work.map(|found| Difference::of(found.what, Some(found.ours), Some(found.theirs))));
    let promise = |place: Place<'_>| {
        let promise = place.cell.cell.capabilities.durability;
        vec![(PROMISE, promise.to_string())]
    };
    found.extend(differences(promise(base), promise(new)));
    found
}

/// In what two cells that are compared all the same differ: what is shown of them, and their settings as asked
/// for and as the engine reports them.
pub(super) fn shown_differences(base: Place<'_>, new: Place<'_>) -> Vec<Difference> {
    let (ours, theirs) = (base.cell, new.cell);
    let mut found = differences(base.shown(), new.shown());
    found.extend(setting_differences(
        &ours.cell.settings,
        &theirs.cell.settings,
    ));
    let reported = ours.effective.as_ref().zip(theirs.effective.as_ref());
    let reported =
        reported.map_or_else(Vec::new, |(ours, theirs)| setting_differences(ours, theirs));
    for difference in reported {
        if !found.iter().any(|known| known.what == difference.what) {
            found.push(difference);
        }
    }
    found
}

/// Settings with different values, or that only one has.
fn setting_differences(base: &Settings, new: &Settings) -> Vec<Difference> {
    let names = base.iter().chain(new.iter()).map(|(name, _)| name);
    let names: BTreeSet<&str> = names.collect();
    let value = |settings: &Settings, name: &str| settings.get(name).map(ToString::to_string);
    let both = names
        .into_iter()
        .map(|name| (name, value(base, name), value(new, name)));
    both.filter(|(_, base, new)| base != new)
        .map(|(name, base, new)| Difference::of(name, base, new))
        .collect()
}
