//! Which cell of one result is which cell of the other, and why two of them cannot be compared.

use super::{Difference, MIN_SESSIONS, ResultSide, Unit};
use crate::{
    Analysis, CellSummary, ComparisonOutcome, Metric, WorkDifference, cell_differences,
    estimate::MIN_ROUNDS,
};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use stowplan_model::{Cell, CellId, DatasetSpec, Origin, Role, Settings};

/// Why a cell cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Obstacle {
    /// Which kind of reason it is.
    pub kind: ObstacleKind,
    /// The result that it is of, where it is of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<ResultSide>,
    /// What is not the same, or how much each has of what is too little.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Difference>,
    /// What happened, or what a store cannot do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// A kind of reasons for which cells are not compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObstacleKind {
    /// Only one of the results has it.
    OnlyIn,
    /// Both have it, and the user had one of them compared with another cell.
    PairedOtherwise,
    /// The store cannot do it with the settings of one of them.
    NotApplicable,
    /// The values are not the same bytes.
    Dataset,
    /// Something else was done.
    Workload,
    /// The page cache was in another state.
    CacheState,
    /// The store promised something else for what was written.
    Durability,
    /// It failed.
    Failed,
    /// There is no interval of so few rounds.
    TooFewRounds,
    /// One has corrected time, the other wall time only.
    Clock,
    /// Two identical cells differed by more than noise explains.
    Unreliable,
    /// The sessions of one side did not do the same.
    NotAlike,
    /// It failed, has too few rounds or is unreliable in so many sessions that too few are left.
    TooFewSessions,
}

impl From<ObstacleKind> for Obstacle {
    fn from(kind: ObstacleKind) -> Self {
        Self {
            kind,
            side: None,
            differences: Vec::new(),
            message: None,
        }
    }
}

impl ObstacleKind {
    fn on(self, side: ResultSide) -> Obstacle {
        Obstacle {
            side: Some(side),
            ..self.into()
        }
    }

    /// Nothing without a difference.
    fn by(self, differences: Vec<Difference>) -> Option<Obstacle> {
        (!differences.is_empty()).then(|| Obstacle {
            differences,
            ..self.into()
        })
    }

    /// So many of something on both sides.
    fn few(self, what: &str, [base, new]: [usize; 2]) -> Obstacle {
        let numbers = Difference::of(what, Some(base.to_string()), Some(new.to_string()));
        Obstacle {
            differences: vec![numbers],
            ..self.into()
        }
    }
}

impl Obstacle {
    /// Whether the same was asked of both, and only what was measured cannot be compared.
    pub(super) fn is_of_measurement(&self) -> bool {
        use ObstacleKind::{Clock, Failed, TooFewRounds, TooFewSessions, Unreliable};
        matches!(
            self.kind,
            Failed | TooFewRounds | Clock | Unreliable | TooFewSessions
        )
    }
}

/// A cell where it stands: its summary, its comparison, and the result of both.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) analysis: &'a Analysis,
    pub(super) comparison: &'a ComparisonOutcome,
    pub(super) cell: &'a CellSummary,
}

impl<'a> Place<'a> {
    /// Every cell that counts: no control, which is a copy of the baseline, and none of a
    /// comparison that was measured again.
    pub(super) fn all(analysis: &'a Analysis) -> Vec<Self> {
        let comparisons = analysis.comparisons.iter();
        let comparisons = comparisons.filter(|comparison| !analysis.is_superseded(comparison));
        let of = |comparison: &'a ComparisonOutcome| {
            comparison.cells.iter().map(move |cell| Self {
                analysis,
                comparison,
                cell,
            })
        };
        let cells = comparisons.flat_map(of);
        // What only explains others is not compared within a result, nor between results.
        cells
            .filter(|place| !matches!(place.cell.cell.role, Role::Control | Role::Part))
            .collect()
    }

    /// The cell of the same comparison with this role.
    pub(super) fn with_role(self, role: Role) -> Option<Self> {
        let mut cells = self.comparison.cells.iter();
        let cell = cells.find(|cell| cell.cell.role == role)?;
        Some(Self { cell, ..self })
    }

    pub(super) fn id(self) -> &'a CellId {
        &self.cell.cell.id
    }

    /// The build of its store that a round met.
    pub(super) fn build(self, round: u32) -> Option<u32> {
        self.cell.builds.get(&round).copied()
    }

    fn dataset(self) -> Option<&'a DatasetSpec> {
        let datasets = &self.analysis.run.plan.datasets;
        datasets.get(&self.cell.cell.dataset)
    }

    fn failure(self) -> Option<&'a str> {
        let mut failures = self.analysis.failures.iter();
        let failure = failures.find(|failure| failure.cell == *self.id())?;
        (self.cell.rounds < MIN_ROUNDS).then_some(&*failure.message)
    }

    /// What building the stores anew was asked for, in words.
    fn rebuilding(self) -> String {
        let mut comparisons = self.analysis.run.plan.comparisons.iter();
        let plan = comparisons.find(|comparison| comparison.id == self.comparison.id);
        match plan.and_then(|plan| plan.rebuild_every) {
            Some(rounds) => format!("every {rounds} rounds"),
            None => "never".to_owned(),
        }
    }
}

/// One cell in the sessions of a side that have it, in their order.
#[derive(Debug, Clone)]
pub(super) struct Sessions<'a> {
    pub(super) first: Place<'a>,
    more: Vec<Place<'a>>,
}

impl<'a> Sessions<'a> {
    fn of(places: Vec<Place<'a>>) -> Option<Self> {
        let mut places = places.into_iter();
        let first = places.next()?;
        let more = places.collect();
        Some(Self { first, more })
    }

    /// Another cell in each session; nothing if one of them does not have it.
    pub(super) fn each(places: impl Iterator<Item = Option<Place<'a>>>) -> Option<Self> {
        Self::of(places.collect::<Option<_>>()?)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = Place<'a>> {
        [self.first].into_iter().chain(self.more.iter().copied())
    }

    pub(super) fn len(&self) -> usize {
        self.more.len() + 1
    }

    /// Every cell of the sessions of a side, in the order in which they first have it.
    fn of_side(sessions: &[&'a Analysis]) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        for place in sessions.iter().flat_map(|session| Place::all(session)) {
            let same_session = |known: Place<'_>| std::ptr::eq(known.analysis, place.analysis);
            let mut cells = found
                .iter_mut()
                .filter(|cell| cell.first.id() == place.id());
            match cells.find(|cell| !cell.all().any(same_session)) {
                Some(cell) => cell.more.push(place),
                None => found.push(Self {
                    first: place,
                    more: Vec::new(),
                }),
            }
        }
        found
    }

    /// Those in which it was measured well enough to be compared.
    fn usable(&self) -> Vec<Place<'a>> {
        let usable = |place: &Place<'_>| {
            let measured = place.failure().is_none() && place.cell.rounds >= MIN_ROUNDS;
            measured && place.comparison.reliable
        };
        self.all().filter(usable).collect()
    }

    /// In what a session of a side differs from its first one, which makes it no session of the same
    /// program on the same data.
    fn not_alike(&self, side: ResultSide) -> Option<Obstacle> {
        let mut more = self.more.iter();
        let differences = more.find_map(|place| {
            let found = differences_within(self.first, *place);
            (!found.is_empty()).then_some(found)
        })?;
        Some(Obstacle {
            differences,
            ..ObstacleKind::NotAlike.on(side)
        })
    }
}

/// One cell on both sides.
#[derive(Debug, Clone)]
pub(super) struct Pair<'a> {
    pub(super) base: Sessions<'a>,
    pub(super) new: Sessions<'a>,
}

/// The pairs of cells to compare, in the order of BASE, and those that have no partner.
pub(super) struct Matching<'a> {
    pub(super) pairs: Vec<Pair<'a>>,
    pub(super) alone: Vec<(CellId, Vec<Obstacle>)>,
}

/// Pairs the cells of two sides by name, except those that the user paired.
pub(super) fn matching<'a>(
    base: &[&'a Analysis],
    new: &[&'a Analysis],
    given: &[(CellId, CellId)],
) -> Matching<'a> {
    let (cells, mut others) = (Sessions::of_side(base), Sessions::of_side(new));
    let by_hand: BTreeMap<&CellId, &CellId> = given.iter().map(|(a, b)| (a, b)).collect();
    let taken = |id: &CellId| by_hand.values().any(|b| *b == id);
    let mut found = Matching {
        pairs: Vec::new(),
        alone: Vec::new(),
    };
    for base in cells {
        let id = base.first.id();
        let partner = match by_hand.get(id) {
            Some(partner) => Some(*partner),
            None => Some(id).filter(|id| !taken(id)),
        };
        let mut ids = others.iter().map(|other| other.first.id());
        let at = ids.position(|other| Some(other) == partner);
        match at {
            Some(at) => found.pairs.push(Pair {
                base,
                new: others.remove(at),
            }),
            None => found.alone.push(alone(base.first, ResultSide::Base, new)),
        }
    }
    let rest = others.into_iter();
    let rest = rest.map(|other| alone(other.first, ResultSide::New, base));
    found.alone.extend(rest);
    found
}

/// A cell of one side, and why it has no partner on the other. One by its own name it would have
/// had, unless the user paired one of the two otherwise.
fn alone(place: Place<'_>, side: ResultSide, others: &[&Analysis]) -> (CellId, Vec<Obstacle>) {
    let mut namesakes = others.iter().flat_map(|other| Place::all(other));
    if namesakes.any(|other| other.id() == place.id()) {
        return (
            place.id().clone(),
            vec![ObstacleKind::PairedOtherwise.into()],
        );
    }
    let mut comparisons = others.iter().flat_map(|other| &other.comparisons);
    let there = comparisons.find(|comparison| comparison.id == place.comparison.id);
    let why = there.and_then(|there| there.not_applicable.get(&place.cell.cell.label));
    let obstacle = match why {
        Some(why) => Obstacle {
            message: Some(why.clone()),
            ..ObstacleKind::NotApplicable.on(side.other())
        },
        None => ObstacleKind::OnlyIn.on(side),
    };
    (place.id().clone(), vec![obstacle])
}

/// The pair with the sessions that can be compared, or why it cannot be. Of several sessions those
/// are left out in which the cell failed, has too few rounds, or is unreliable.
pub(super) fn comparable(pair: Pair<'_>, unit: Unit) -> Result<Pair<'_>, Vec<Obstacle>> {
    let (ours, theirs) = (pair.base.first, pair.new.first);
    let found = match unit {
        Unit::Round => obstacles(ours, theirs),
        Unit::Session => {
            let base = pair.base.not_alike(ResultSide::Base);
            let new = pair.new.not_alike(ResultSide::New);
            let within = base.into_iter().chain(new);
            asked_obstacles(ours, theirs)
                .into_iter()
                .chain(within)
                .collect()
        }
    };
    match unit {
        _ if !found.is_empty() => Err(found),
        Unit::Round => Ok(pair),
        Unit::Session => of_usable_sessions(&pair).map_err(|obstacle| vec![obstacle]),
    }
}

fn of_usable_sessions<'a>(pair: &Pair<'a>) -> Result<Pair<'a>, Obstacle> {
    let (base, new) = (pair.base.usable(), pair.new.usable());
    let left = [base.len(), new.len()];
    let too_few = ObstacleKind::TooFewSessions.few("sessions", left);
    if left.into_iter().min() < Some(MIN_SESSIONS) {
        return Err(too_few);
    }
    let first = base[0];
    let mut places = base.iter().chain(&new);
    match places.find_map(|place| other_clock(first, *place)) {
        Some(other) => Err(other),
        None => {
            let sides = Sessions::of(base).zip(Sessions::of(new));
            sides.map(|(base, new)| Pair { base, new }).ok_or(too_few)
        }
    }
}

/// That one has corrected time and the other does not.
fn other_clock(base: Place<'_>, new: Place<'_>) -> Option<Obstacle> {
    let clock = |place: Place<'_>| match place.comparison.metric {
        Metric::Corrected => "corrected time".to_owned(),
        Metric::Wall => "wall time".to_owned(),
    };
    ObstacleKind::Clock.by(differences([("clock", clock(base), clock(new))]))
}

/// Why these two cells cannot be compared; nothing if they can be. What was asked for comes first:
/// of cells that did different things, nobody asks how often they were measured.
fn obstacles(base: Place<'_>, new: Place<'_>) -> Vec<Obstacle> {
    let asked = asked_obstacles(base, new);
    if asked.is_empty() {
        measured_obstacles(base, new)
    } else {
        asked
    }
}

/// In what these two were asked for something else.
fn asked_obstacles(base: Place<'_>, new: Place<'_>) -> Vec<Obstacle> {
    let (ours, theirs) = (&base.cell.cell, &new.cell.cell);
    let work = cell_differences(ours, theirs).into_iter();
    let (cache, work): (Vec<_>, Vec<_>) =
        work.partition(|difference| matches!(difference, WorkDifference::Cache(_)));
    let worded = |all: Vec<WorkDifference>| all.into_iter().map(worded).collect();
    let asked = [
        ObstacleKind::Dataset.by(dataset_differences(base.dataset(), new.dataset())),
        ObstacleKind::Workload.by(worded(work)),
        ObstacleKind::CacheState.by(worded(cache)),
        other_promise(ours, theirs),
    ];
    asked.into_iter().flatten().collect()
}

/// In what two sessions of one side differ that ought to be the same in all of them.
fn differences_within(first: Place<'_>, other: Place<'_>) -> Vec<Difference> {
    let mut found = dataset_differences(first.dataset(), other.dataset());
    let (ours, theirs) = (&first.cell.cell, &other.cell.cell);
    let workloads = cell_differences(ours, theirs);
    found.extend(workloads.into_iter().map(worded));
    found.extend(promises(ours, theirs));
    found.extend(shown_differences(first, other));
    found
}

/// Whether two cells are the same trivial code, so that what shifted is the machine's. A floor that
/// was changed, or that the user paired with something else, is a cell like any other.
pub(super) fn is_floor(pair: &Pair<'_>) -> bool {
    let (base, new) = (pair.base.first, pair.new.first);
    let floors = [base, new]
        .iter()
        .all(|place| place.cell.cell.role == Role::Floor);
    floors && base.id() == new.id() && shown_differences(base, new).is_empty()
}

fn promises(base: &Cell, new: &Cell) -> Vec<Difference> {
    let [ours, theirs] = [base, new].map(|cell| cell.capabilities.durability.to_string());
    differences([("durability promise", ours, theirs)])
}

/// A floor is no store, and promises nothing that anyone would choose it for.
fn other_promise(base: &Cell, new: &Cell) -> Option<Obstacle> {
    let both = [base, new];
    let writes = both.iter().any(|cell| cell.workload.operation.writes());
    let stores = both.iter().all(|cell| cell.role != Role::Floor);
    let promises = promises(base, new);
    ObstacleKind::Durability
        .by(promises)
        .filter(|_| writes && stores)
}

fn measured_obstacles(base: Place<'_>, new: Place<'_>) -> Vec<Obstacle> {
    let sides = [(ResultSide::Base, base), (ResultSide::New, new)];
    let failed = sides.into_iter().filter_map(|(side, place)| {
        Some(Obstacle {
            message: Some(place.failure()?.to_owned()),
            ..ObstacleKind::Failed.on(side)
        })
    });
    let failed: Vec<Obstacle> = failed.collect();
    if !failed.is_empty() {
        return failed;
    }
    let rounds = [base.cell.rounds, new.cell.rounds];
    if rounds.into_iter().min() < Some(MIN_ROUNDS) {
        return vec![ObstacleKind::TooFewRounds.few("rounds", rounds)];
    }
    let sides = sides.into_iter();
    let unreliable = sides.filter(|(_, place)| !place.comparison.reliable);
    let unreliable = unreliable.map(|(side, _)| ObstacleKind::Unreliable.on(side));
    other_clock(base, new)
        .into_iter()
        .chain(unreliable)
        .collect()
}

fn dataset_differences(base: Option<&DatasetSpec>, new: Option<&DatasetSpec>) -> Vec<Difference> {
    let (Some(base), Some(new)) = (base, new) else {
        return Vec::new();
    };
    let DatasetSpec {
        count,
        size,
        content,
        seed,
        from,
    } = base;
    let of_others = |from: &Option<Origin>| match from {
        Some(origin) => origin.place.display().to_string(),
        None => "made up".to_owned(),
    };
    differences([
        ("values from", of_others(from), of_others(&new.from)),
        ("values", count.to_string(), new.count.to_string()),
        ("sizes", size.to_string(), new.size.to_string()),
        ("content", content.to_string(), new.content.to_string()),
        ("seed", seed.to_string(), new.seed.to_string()),
    ])
}

fn worded(difference: WorkDifference) -> Difference {
    let (what, base, new) = difference.in_words();
    Difference::of(what, Some(base), Some(new))
}

/// Those of (what, in BASE, in NEW) that are not the same.
fn differences<const N: usize>(all: [(&str, String, String); N]) -> Vec<Difference> {
    all.into_iter()
        .filter(|(_, base, new)| base != new)
        .map(|(what, base, new)| Difference::of(what, Some(base), Some(new)))
        .collect()
}

/// In what two cells that are compared all the same differ: the store, the file system that it is on, its
/// settings as asked for and as the engine reports them, and how often the stores were built anew.
pub(super) fn shown_differences(base: Place<'_>, new: Place<'_>) -> Vec<Difference> {
    let (ours, theirs) = (&base.cell.cell, &new.cell.cell);
    let mut found = differences([
        ("store", ours.store.kind.clone(), theirs.store.kind.clone()),
        ("on", on(ours), on(theirs)),
        ("stores built anew", base.rebuilding(), new.rebuilding()),
    ]);
    found.extend(setting_differences(
        Some(&ours.settings),
        Some(&theirs.settings),
    ));
    let reported = setting_differences(base.cell.effective.as_ref(), new.cell.effective.as_ref());
    for difference in reported {
        if !found.iter().any(|known| known.what == difference.what) {
            found.push(difference);
        }
    }
    found
}

/// The file system that a cell is on.
fn on(cell: &Cell) -> String {
    match cell.on.as_str() {
        "" => "the work directory's".to_owned(),
        on => on.to_owned(),
    }
}

/// Settings with different values, or that only one has; nothing where one side is not known.
fn setting_differences(base: Option<&Settings>, new: Option<&Settings>) -> Vec<Difference> {
    let (Some(base), Some(new)) = (base, new) else {
        return Vec::new();
    };
    let names = base.iter().chain(new.iter()).map(|(name, _)| name);
    let names: BTreeSet<&str> = names.collect();
    let value = |settings: &Settings, name: &str| settings.get(name).map(ToString::to_string);
    names
        .into_iter()
        .map(|name| (name, value(base, name), value(new, name)))
        .filter(|(_, base, new)| base != new)
        .map(|(name, base, new)| Difference::of(name, base, new))
        .collect()
}
