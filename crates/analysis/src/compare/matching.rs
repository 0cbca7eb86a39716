//! Which cell of one result is which cell of the other, and why two of them cannot be compared.

use super::{Difference, MIN_SESSIONS, ResultSide, Unit};
use crate::{
    Analysis, CellSummary, ComparisonOutcome, Metric, WorkDifference, cell_differences,
    estimate::MIN_ROUNDS,
};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use stowplan_model::{
    CacheState, Cell, CellId, DatasetSpec, DurabilityClaim, Origin, Role, Settings,
};

/// Why a cell cannot be compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Obstacle {
    /// Only one of the results has it.
    OnlyIn {
        /// Which one.
        side: ResultSide,
    },
    /// Both have it, and the user had one of them compared with another cell.
    PairedOtherwise,
    /// The store cannot do it with the settings of one of them.
    NotApplicable {
        /// Of which one.
        side: ResultSide,
        /// What it cannot do.
        why: String,
    },
    /// The values are not the same bytes.
    Dataset {
        /// In what they differ.
        differences: Vec<Difference>,
    },
    /// Something else was done.
    Workload {
        /// In what it differs.
        differences: Vec<Difference>,
    },
    /// The page cache was in another state.
    CacheState {
        /// In BASE.
        base: CacheState,
        /// In NEW.
        new: CacheState,
    },
    /// The store promised something else for what was written.
    Durability {
        /// In BASE.
        base: DurabilityClaim,
        /// In NEW.
        new: DurabilityClaim,
    },
    /// It failed.
    Failed {
        /// In which result.
        side: ResultSide,
        /// What happened.
        message: String,
    },
    /// There is no interval of so few rounds.
    TooFewRounds {
        /// Rounds in BASE.
        base: usize,
        /// Rounds in NEW.
        new: usize,
        /// The fewest for which there is one.
        needed: usize,
    },
    /// One has corrected time, the other wall time only.
    Clock {
        /// Time in BASE.
        base: Metric,
        /// Time in NEW.
        new: Metric,
    },
    /// Two identical cells differed by more than noise explains.
    Unreliable {
        /// In which result.
        side: ResultSide,
    },
    /// The sessions of one side did not do the same.
    NotAlike {
        /// Of which side.
        side: ResultSide,
        /// In what one of them differs from the first.
        differences: Vec<Difference>,
    },
    /// It failed, has too few rounds or is unreliable in so many sessions that too few are left.
    TooFewSessions {
        /// Sessions of BASE that are left.
        base: usize,
        /// Sessions of NEW.
        new: usize,
        /// The fewest of a side.
        needed: usize,
    },
}

impl Obstacle {
    /// Whether the same was asked of both, and only what was measured cannot be compared.
    pub(super) fn is_of_measurement(&self) -> bool {
        matches!(
            self,
            Self::Failed { .. }
                | Self::TooFewRounds { .. }
                | Self::Clock { .. }
                | Self::Unreliable { .. }
                | Self::TooFewSessions { .. }
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
        Some(Obstacle::NotAlike { side, differences })
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
        return (place.id().clone(), vec![Obstacle::PairedOtherwise]);
    }
    let mut comparisons = others.iter().flat_map(|other| &other.comparisons);
    let there = comparisons.find(|comparison| comparison.id == place.comparison.id);
    let why = there.and_then(|there| there.not_applicable.get(&place.cell.cell.label));
    let obstacle = match why {
        Some(why) => Obstacle::NotApplicable {
            side: side.other(),
            why: why.clone(),
        },
        None => Obstacle::OnlyIn { side },
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
    let too_few = Obstacle::TooFewSessions {
        base: base.len(),
        new: new.len(),
        needed: MIN_SESSIONS,
    };
    if base.len().min(new.len()) < MIN_SESSIONS {
        return Err(too_few);
    }
    let mut metrics = base.iter().chain(&new).map(|place| place.comparison.metric);
    let first = metrics.next();
    let other = metrics.find(|metric| Some(*metric) != first);
    if let Some((base, new)) = first.zip(other) {
        return Err(Obstacle::Clock { base, new });
    }
    let sides = Sessions::of(base).zip(Sessions::of(new));
    sides.map(|(base, new)| Pair { base, new }).ok_or(too_few)
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
    let mut asked = Vec::new();
    let datasets = dataset_differences(base.dataset(), new.dataset());
    if !datasets.is_empty() {
        asked.push(Obstacle::Dataset {
            differences: datasets,
        });
    }
    let workloads = workload_obstacles(&base.cell.cell, &new.cell.cell);
    if !workloads.is_empty() {
        asked.push(Obstacle::Workload {
            differences: workloads,
        });
    }
    let (ours, theirs) = (&base.cell.cell.workload, &new.cell.cell.workload);
    if ours.cache != theirs.cache {
        asked.push(Obstacle::CacheState {
            base: ours.cache,
            new: theirs.cache,
        });
    }
    asked.extend(other_promise(base, new));
    asked
}

/// In what two sessions of one side differ that ought to be the same in all of them.
fn differences_within(first: Place<'_>, other: Place<'_>) -> Vec<Difference> {
    let mut found = dataset_differences(first.dataset(), other.dataset());
    let (ours, theirs) = (&first.cell.cell, &other.cell.cell);
    let workloads = cell_differences(ours, theirs);
    found.extend(workloads.into_iter().map(worded));
    let promises = [ours, theirs].map(|cell| cell.capabilities.durability.to_string());
    let [was, is] = promises;
    found.extend(differences([("durability promise", was, is)]));
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

/// A floor is no store, and promises nothing that anyone would choose it for.
fn other_promise(base: Place<'_>, new: Place<'_>) -> Option<Obstacle> {
    let (a, b) = (&base.cell.cell, &new.cell.cell);
    let (ours, theirs) = (a.capabilities.durability, b.capabilities.durability);
    let promises = a.workload.operation.writes() || b.workload.operation.writes();
    let stores = a.role != Role::Floor && b.role != Role::Floor;
    (promises && stores && ours != theirs).then_some(Obstacle::Durability {
        base: ours,
        new: theirs,
    })
}

fn measured_obstacles(base: Place<'_>, new: Place<'_>) -> Vec<Obstacle> {
    let sides = [(ResultSide::Base, base), (ResultSide::New, new)];
    let failed = sides.into_iter().filter_map(|(side, place)| {
        let message = place.failure()?.to_owned();
        Some(Obstacle::Failed { side, message })
    });
    let failed: Vec<Obstacle> = failed.collect();
    if !failed.is_empty() {
        return failed;
    }
    let rounds = (base.cell.rounds, new.cell.rounds);
    if rounds.0.min(rounds.1) < MIN_ROUNDS {
        return vec![Obstacle::TooFewRounds {
            base: rounds.0,
            new: rounds.1,
            needed: MIN_ROUNDS,
        }];
    }
    let (ours, theirs) = (base.comparison.metric, new.comparison.metric);
    let mut found = Vec::new();
    if ours != theirs {
        found.push(Obstacle::Clock {
            base: ours,
            new: theirs,
        });
    }
    let unreliable = sides
        .into_iter()
        .filter(|(_, place)| !place.comparison.reliable);
    found.extend(unreliable.map(|(side, _)| Obstacle::Unreliable { side }));
    found
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

/// In what the workloads differ; the state of the page cache is an obstacle of its own.
fn workload_obstacles(base: &Cell, new: &Cell) -> Vec<Difference> {
    let all = cell_differences(base, new).into_iter();
    all.filter(|difference| !matches!(difference, WorkDifference::Cache(_)))
        .map(worded)
        .collect()
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
