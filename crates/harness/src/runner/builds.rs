//! Two builds of each store at a time, which the rounds of a comparison take turns on: what one build
//! costs to read is no property of its store (METHOD "Builds").

use super::Runner;
use super::checks::Checks;
use super::clock::STORES;
use crate::plan::{self, has_builds};
use crate::{HarnessError, Result};
use std::collections::BTreeSet;
use std::time::Duration;
use stowplan_analysis::builds_differ;
use stowplan_dataset::room;
use stowplan_model::{CacheState, Cell, Comparison, Plan, Role};

/// Rounds on the same two builds of each store.
const ROUNDS_ON_TWO: u32 = 10;
/// Rounds on the same build, where there is no room for two.
const ROUNDS_ON_ONE: u32 = 5;
/// Rounds after which no others are built: there are eight of each store.
const LAST_ROUND: u32 = 40;

/// Stores that take longer to build, all of a comparison together, are not built anew where they differ:
/// with four of 1 GB each that took a minute, and most of it was spent three times on one comparison.
const LONGEST_ANEW: Duration = Duration::from_secs(20);

/// A store that takes longer to build is built once: on a disk where 10,000 files took 5 s, the reads of
/// `fasterthanfs` with two builds of each store had come to their tenth round after four and a half minutes.
const LONGEST_TWICE: Duration = Duration::from_secs(10);

/// In which two of five pairs of rounds a store that is not the baseline's changes the turn: all ten
/// choices. By any of them a store meets both builds of the baseline in four and six of ten rounds, and no
/// two are each other's opposite, so that any two of eleven stores meet in all four combinations within
/// ten rounds. The first four have one pair in common, so that of the first five stores any two meet
/// in four and six rounds, too.
const CHANGED: [[u32; 2]; 10] = [
    [0, 3],
    [1, 3],
    [2, 3],
    [3, 4],
    [0, 4],
    [1, 4],
    [0, 2],
    [2, 4],
    [1, 2],
    [0, 1],
];

/// Whether a cell is measured on its second build in a round. The baseline takes turns, its control is always on
/// the other one, and other stores change the turn in some pairs of rounds.
fn takes_second(comparison: &Comparison, cell: &Cell, round: u32) -> bool {
    let before = |other: &&Cell| other.instance != cell.instance;
    let before = comparison.cells.iter().take_while(before);
    let stores: BTreeSet<&str> = before.map(|other| &*other.instance).collect();
    // The baseline's is the first, and does not change it.
    let others = stores.len().checked_sub(1);
    let changes =
        others.is_some_and(|other| CHANGED[other % CHANGED.len()].contains(&(round / 2 % 5)));
    let other_one = u32::from(cell.role == Role::Control);
    (round + u32::from(changes) + other_one) % 2 == 1
}

impl Runner<'_> {
    /// Notes whether two builds of each store have room, on the disk and, where they should stay warm,
    /// in memory.
    pub(super) fn look_for_room(&mut self, index: usize) -> Result<()> {
        let left = Plan {
            comparisons: self.plan.comparisons[index..].to_vec(),
            ..self.plan.clone()
        };
        // On each file system; images are there already.
        let mut fits = true;
        for on in plan::file_systems_of(&left).into_iter().chain([""]) {
            // Of one that could not be made nothing is built.
            if let Ok(root) = self.pool.root_on(on) {
                let both = plan::bytes_on(&left, self.options.keep, 2, on);
                fits &= both <= room::free_bytes(root)?;
            }
        }
        let mut seen = BTreeSet::new();
        let first = left
            .comparisons
            .first()
            .into_iter()
            .flat_map(|first| &first.cells);
        let warm = first.filter(|cell| {
            let is_warm = cell.workload.cache == CacheState::Warm;
            is_warm && has_builds(cell) && seen.insert(&cell.instance)
        });
        let in_memory: u64 = warm
            .map(|cell| self.plan.dataset_bytes(&cell.dataset))
            .sum();
        self.two_builds = fits && in_memory.saturating_mul(5) / 2 <= self.memory_bytes;
        Ok(())
    }

    /// Builds a cell's store a second time, where there is room and it does not take long.
    pub(super) fn prepare_second(&mut self, cell: &Cell, checks: &mut Checks) -> Result<()> {
        let takes_long = self.pool.of(cell).took > LONGEST_TWICE;
        if !self.two_builds || takes_long || !has_builds(cell) {
            return Ok(());
        }
        let second = cell.on_second();
        match self.prepare_instance(&second) {
            Err(error) if error.is_lack_of_room() => {
                self.two_builds = false;
                self.pool.forget(&second)?;
                Ok(())
            }
            Err(error) => Err(error),
            Ok(()) => self.check_build(cell, &second, checks),
        }
    }

    /// A cell on its store, and on the second build where there is one.
    pub(super) fn builds_of(&self, cell: &Cell) -> Vec<Cell> {
        let mut builds = Vec::from(cell.on_both());
        builds.retain(|on| on.instance == cell.instance || self.pool.of(on).is_there);
        builds
    }

    /// The comparison with its writers on the second build of a store of which others read both: what is
    /// read is as it was built.
    pub(super) fn with_roles(&self, comparison: &Comparison) -> Comparison {
        let mut comparison = comparison.clone();
        let second = |cell: &Cell| {
            let mut others = self.plan.cells();
            self.two_builds
                && cell.shares_writes()
                && self.pool.of(cell).took <= LONGEST_TWICE
                && others.any(|other| other.instance == cell.instance && has_builds(other))
        };
        for cell in &mut comparison.cells {
            if second(cell) {
                *cell = cell.on_second();
            }
        }
        comparison
    }

    /// The cell on the build that it is measured on in a round.
    pub(super) fn on_build(&self, comparison: &Comparison, cell: &Cell, round: u32) -> Cell {
        let second = cell.on_second();
        let there = has_builds(cell) && self.pool.of(&second).is_there;
        match there && takes_second(comparison, cell, round) {
            true => second,
            false => cell.clone(),
        }
    }

    /// Whether the rounds to come should have other builds, when this session has measured so many.
    pub(super) fn wants_builds(&self, comparison: &Comparison, done: u32) -> bool {
        if let Some(rounds) = comparison.rebuild_every {
            return done.is_multiple_of(rounds);
        }
        let rounds = if self.two_builds {
            ROUNDS_ON_TWO
        } else {
            ROUNDS_ON_ONE
        };
        let at_an_end = done > 0 && done < LAST_ROUND && done.is_multiple_of(rounds);
        // One build alone says nothing about others.
        let only_one = !self.two_builds && done == rounds;
        // Who gave a time has the rounds of two builds, whose difference is in the interval: five builds of
        // 1 GB more were a third of what `fasterthanfs` wrote in three minutes.
        let has_time = self.options.budget.is_none();
        let soon = || has_time && self.building_takes(comparison) <= LONGEST_ANEW;
        let recorded = &self.recorded;
        let differ = || {
            let measured = recorded.measured(comparison);
            builds_differ(
                &recorded.going_on(comparison),
                &measured,
                &self.options.rule,
            )
        };
        at_an_end && (only_one || soon() && differ())
    }

    /// How long building all stores of a comparison took.
    fn building_takes(&self, comparison: &Comparison) -> Duration {
        let mut seen = BTreeSet::new();
        let both = comparison.cells.iter().flat_map(Cell::on_both);
        let builds = both.filter(|cell| seen.insert(cell.instance.clone()));
        builds.map(|cell| self.pool.of(&cell).took).sum()
    }

    /// Builds the stores of cells anew, checks and warms them; before the `first` round those that were
    /// written to when it was found out how long blocks are.
    pub(super) fn rebuild(
        &mut self,
        comparison: &Comparison,
        active: &[&Cell],
        first: bool,
    ) -> Result<()> {
        let mut done = BTreeSet::new();
        let mut checks = Checks::default();
        for cell in active {
            let build = self.pool.of(cell);
            let fresh = first && build.is_there && !build.is_written;
            // Not one that takes long, or that is large and has one build for that, unless the study says so.
            let soon = build.took <= LONGEST_TWICE && has_builds(cell);
            let stays =
                fresh || self.skipped(cell) || !(soon || comparison.rebuild_every.is_some());
            if stays || !done.insert(&cell.instance) {
                continue;
            }
            if let Err(error) = self.build_anew(cell, &mut checks) {
                self.all_on_it_failed(active, cell, error)?;
            }
        }
        self.settle(checks, &mut |runner, cell, error| {
            runner.all_on_it_failed(active, cell, error)
        })
    }

    fn build_anew(&mut self, cell: &Cell, checks: &mut Checks) -> Result<()> {
        for on in self.builds_of(cell) {
            self.pool.forget(&on)?;
            self.during(STORES, |runner| {
                runner.pool.build(&on, &mut |_, _| ())?;
                runner.pool.warm_one(&on)
            })?;
            self.check_build(cell, &on, checks)?;
        }
        Ok(())
    }

    /// Has a build checked; what is written is checked when it was written.
    pub(super) fn check_build(
        &mut self,
        cell: &Cell,
        on: &Cell,
        checks: &mut Checks,
    ) -> Result<()> {
        match on.workload.operation.writes() {
            true => Ok(()),
            false => self.check(cell, on, checks),
        }
    }

    /// All cells on a store fail that could not be built.
    pub(super) fn all_on_it_failed(
        &mut self,
        active: &[&Cell],
        built: &Cell,
        error: HarnessError,
    ) -> Result<()> {
        if !error.is_of_a_store() {
            return Err(error);
        }
        let (message, stderr) = error.split();
        active
            .iter()
            .filter(|cell| cell.instance == built.instance)
            .try_for_each(|cell| self.cell_failed(cell, HarnessError::worker(&message, &stderr)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_size::tests::cell;
    use std::collections::BTreeMap;
    use stowplan_model::CellId;

    fn comparison() -> Comparison {
        let mut base = cell("files");
        base.role = Role::Baseline;
        let control = Cell {
            id: CellId(format!("{}#2", base.id)),
            role: Role::Control,
            ..base.clone()
        };
        let others = ["sqlite", "flat", "files:layout=tree", "sqlar"].map(|name| Cell {
            instance: format!("d.{name}"),
            id: CellId(format!("c/{name}")),
            role: Role::Candidate,
            ..base.clone()
        });
        Comparison {
            id: "c".to_owned(),
            title: "C".to_owned(),
            cells: [base, control].into_iter().chain(others).collect(),
            contrasts: Vec::new(),
            not_applicable: BTreeMap::new(),
            measure: Default::default(),
            rebuild_every: None,
            published_label: None,
            max_rounds: 40,
            judged: Default::default(),
        }
    }

    #[test]
    fn the_control_is_never_on_the_build_of_the_baseline() {
        let comparison = comparison();
        for round in 0..40 {
            let at = |cell: usize| takes_second(&comparison, &comparison.cells[cell], round);
            assert_ne!(at(0), at(1), "round {round}");
        }
    }

    /// In how many of ten rounds two cells are on each pair of builds.
    fn met(comparison: &Comparison, one: &Cell, other: &Cell) -> BTreeMap<(bool, bool), u32> {
        let mut met = BTreeMap::new();
        for round in 0..10 {
            let first = |cell| !takes_second(comparison, cell, round);
            *met.entry((first(one), first(other))).or_default() += 1;
        }
        met
    }

    #[test]
    fn each_build_has_as_many_rounds_as_the_other_and_meets_both_of_any_other_store() {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
        let mut comparison = comparison();
        let base = comparison.cells[0].clone();
        comparison.cells.truncate(2);
        comparison.cells.extend(names.map(|name| Cell {
            instance: format!("d.{name}"),
            id: CellId(format!("c/{name}")),
            role: Role::Candidate,
            ..base.clone()
        }));
        let stores: Vec<&Cell> = [&base].into_iter().chain(&comparison.cells[2..]).collect();
        for (place, one) in stores.iter().enumerate() {
            for (further, other) in stores.iter().enumerate().skip(place + 1) {
                let met = met(&comparison, one, other);
                assert_eq!(met.len(), 4, "{} and {}: {met:?}", one.id, other.id);
                let first = met[&(true, true)] + met[&(true, false)];
                assert_eq!(first, 5, "{} and {}: {met:?}", one.id, other.id);
                let fewest = met.values().min();
                let evenly = place == 0 || further < 5;
                assert!(!evenly || fewest == Some(&2), "{}: {met:?}", other.id);
            }
        }
    }

    #[test]
    fn cells_that_share_a_store_meet_the_same_build() {
        let comparison = comparison();
        let sharing = Cell {
            id: CellId("c/another".to_owned()),
            role: Role::Candidate,
            ..comparison.cells[0].clone()
        };
        for round in 0..10 {
            let of_base = takes_second(&comparison, &comparison.cells[0], round);
            assert_eq!(takes_second(&comparison, &sharing, round), of_base);
        }
    }

    #[test]
    fn a_second_build_lies_elsewhere_and_is_known_by_its_name() {
        let cell = cell("files");
        let second = cell.on_second();
        assert_eq!((&second.id, &second.settings), (&cell.id, &cell.settings));
        assert_ne!(second.instance, cell.instance);
        assert!(second.is_on_second() && !cell.is_on_second());
    }
}
