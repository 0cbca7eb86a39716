//! Where the time of a session goes, and how much of it each comparison has.

use super::Runner;
use crate::plan::has_builds;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use stowplan_analysis::LOOKS;
use stowplan_model::{Cell, Comparison, Phases};

/// A thing that the runner is busy with: where its time is counted.
pub(super) type Phase = fn(&mut Phases) -> &mut f64;

pub(super) const DATASETS: Phase = |spent| &mut spent.datasets;
pub(super) const STORES: Phase = |spent| &mut spent.stores;
pub(super) const PILOTS: Phase = |spent| &mut spent.pilots;
pub(super) const ROUNDS: Phase = |spent| &mut spent.rounds;
pub(super) const COUNTING: Phase = |spent| &mut spent.counting;
pub(super) const VERIFICATION: Phase = |spent| &mut spent.verification;
pub(super) const REMOVAL: Phase = |spent| &mut spent.removal;

/// A stopwatch that is always in one phase: what is done within another phase counts for the inner
/// one only, so that the phases add up to the session.
#[derive(Debug)]
pub(super) struct PhaseClock {
    /// Nothing: none of them.
    now: Option<Phase>,
    since: Instant,
    spent: Phases,
}

impl PhaseClock {
    pub(super) fn start() -> Self {
        Self {
            now: None,
            since: Instant::now(),
            spent: Phases::default(),
        }
    }

    /// Goes over to another phase; returns the one until now.
    pub(super) fn enter(&mut self, phase: Option<Phase>) -> Option<Phase> {
        let now = Instant::now();
        if let Some(seconds) = self.now {
            *seconds(&mut self.spent) += now.duration_since(self.since).as_secs_f64();
        }
        self.since = now;
        std::mem::replace(&mut self.now, phase)
    }

    /// Returns what was spent until the phase that it is in.
    pub(super) fn so_far(&self) -> Phases {
        self.spent
    }

    /// Returns what was spent until now.
    pub(super) fn spent(&mut self) -> Phases {
        self.enter(self.now);
        self.spent
    }
}

impl Runner<'_> {
    pub(super) fn time_is_over(&self) -> bool {
        self.time_left().is_some_and(|left| left <= 0.0)
    }

    /// Seconds of the budget that are left for measuring: what is there takes time to be removed.
    pub(super) fn time_left(&self) -> Option<f64> {
        /// Of the time of building: assumed, between databases, which go at once, and files one by one.
        const REMOVAL: f64 = 0.4;
        /// Of the budget: by what the last block outlasts the one before it, and the report.
        const END: f64 = 0.03;
        let budget = self.options.budget?.as_secs_f64() * (1.0 - END);
        let removal = self.pool.took().as_secs_f64() * self.building_pace() * REMOVAL;
        Some(budget - self.started.elapsed().as_secs_f64() - removal)
    }

    /// What building took with its datasets and checks, against building alone, so far in this session.
    fn building_pace(&self) -> f64 {
        let spent = self.clock.so_far();
        let building = self.pool.prices.seconds();
        match building > 0.0 {
            true => (spent.datasets + spent.stores + spent.verification) / building,
            false => 1.0,
        }
    }

    /// Seconds for what would have to be built for comparisons.
    pub(super) fn building_seconds(&self, comparisons: &[Comparison]) -> f64 {
        let placed = comparisons
            .iter()
            .map(|comparison| self.with_roles(comparison));
        let cells = placed.flat_map(|comparison| comparison.cells);
        let builds = cells.flat_map(|cell| {
            let second = Some(cell.on_second()).filter(|_| self.two_builds && has_builds(&cell));
            std::iter::once(cell).chain(second)
        });
        self.seconds_to_build(builds.filter(|cell| !self.pool.serves(cell)))
    }

    /// Seconds for building a comparison's stores once more.
    pub(super) fn again_seconds(&self, comparison: &Comparison) -> f64 {
        let builds = comparison.cells.iter().flat_map(Cell::on_both);
        self.seconds_to_build(builds.filter(|cell| self.pool.of(cell).is_there))
    }

    /// Seconds for building the stores of cells, each once.
    fn seconds_to_build(&self, cells: impl Iterator<Item = Cell>) -> f64 {
        let built = cells.filter(|cell| !cell.workload.changes_keys());
        let stores = built.map(|cell| (cell.instance.clone(), cell.dataset));
        let stores = BTreeMap::from_iter(stores);
        let seconds = stores.values().map(|dataset| {
            let values = self.plan.datasets.get(dataset).map_or(0, |spec| spec.count);
            let bytes = self.plan.dataset_bytes(dataset);
            self.pool.prices.of(values, bytes)
        });
        seconds.sum::<f64>() * self.building_pace()
    }

    /// Seconds for so many rounds of comparisons, and for what has to be built for them, by what rounds took so far
    /// against what was thought of them.
    pub(super) fn seconds_of(&self, comparisons: &[Comparison], rounds: u32) -> f64 {
        let rounds = self.rounds_seconds(comparisons, rounds);
        self.building_seconds(comparisons) + rounds * self.rounds_pace
    }

    /// Seconds that so many rounds of comparisons are thought to take: typical ones, and what pilots said beyond.
    pub(super) fn rounds_seconds(&self, comparisons: &[Comparison], rounds: u32) -> f64 {
        let beyond = comparisons.iter().map(|comparison| {
            let each = self.beyond.get(&comparison.id).copied().unwrap_or(0.0);
            each * f64::from(rounds.min(self.cap(comparison)))
        });
        crate::plan::rounds_seconds(comparisons, rounds) + beyond.sum::<f64>()
    }

    /// The comparisons after one that are still to be measured.
    pub(super) fn later(&self, index: usize) -> Vec<Comparison> {
        let later = self.plan.comparisons.iter().skip(index + 1);
        later
            .filter(|comparison| !self.standing(comparison).is_over())
            .cloned()
            .collect()
    }

    /// When a comparison must end: its share of the time that is left, by what its rounds are
    /// likely to take; in its first ten rounds, without which it has no interval, later.
    pub(super) fn deadline(&self, comparison: &Comparison, index: usize) -> Option<Deadline> {
        let now = Instant::now();
        let left = Duration::from_secs_f64(self.time_left()?.max(0.0));
        let here = self.seconds_of(std::slice::from_ref(comparison), LOOKS[0]);
        #[expect(clippy::cast_precision_loss, reason = "few")]
        let followers = here * self.expected as f64;
        // Who goes back to one has all that is left.
        let later = match self.open.contains(&comparison.id) {
            true => Vec::new(),
            false => self.later(index),
        };
        let after = self.seconds_of(&later, LOOKS[0]) + followers;
        let (share, most) = share_of(left, here, after, self.again_seconds(comparison));
        Some(Deadline {
            share: now + share,
            first_look: now + most,
        })
    }

    /// Does something as a part of a phase.
    pub(super) fn during<T>(&mut self, phase: Phase, work: impl FnOnce(&mut Self) -> T) -> T {
        let around = self.clock.enter(Some(phase));
        let done = work(self);
        self.clock.enter(around);
        done
    }

    /// Bounds seconds by those that are left of the time.
    pub(super) fn in_time_left(&self, seconds: f64) -> f64 {
        let left = self.time_left();
        left.map_or(seconds, |left| seconds.min(left.max(0.0)))
    }
}

/// When a comparison must end.
pub(super) struct Deadline {
    share: Instant,
    /// While it has no interval.
    first_look: Instant,
}

impl Deadline {
    /// That of one of which so many rounds count.
    pub(super) fn after(&self, counted: u32) -> Instant {
        match counted < LOOKS[0] {
            true => self.first_look,
            false => self.share,
        }
    }
}

/// Computes what a comparison may take of the time that is left, and what its first ten rounds may, given
/// the seconds that its own ten rounds and those of all after it are likely to take, and those of building
/// its stores again, which is what coming back to it would cost: what others can spare of as much it has at
/// once. Its ten rounds leave the others what these need for theirs, or half of all: one that takes much
/// longer than was thought would otherwise leave them nothing.
fn share_of(left: Duration, here: f64, after: f64, again: f64) -> (Duration, Duration) {
    let all = here + after;
    let part = if all > 0.0 { here / all } else { 1.0 };
    let seconds = |seconds| Duration::try_from_secs_f64(seconds).unwrap_or(left);
    let spared = left.saturating_sub(seconds(after));
    let share = left.mul_f64(part);
    let share = share.max(spared.min(share.saturating_add(seconds(again))));
    // Where there is too little for all, what comes first is answered, and not everything begun.
    let first = seconds(here).min(left).max(left / 2);
    (share, share.max(spared).max(first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::sleep;
    use std::time::Duration;

    fn seconds(share: (Duration, Duration)) -> (f64, f64) {
        (share.0.as_secs_f64(), share.1.as_secs_f64())
    }

    #[test]
    fn ten_rounds_may_take_what_the_others_do_not_need_for_theirs() {
        let left = Duration::from_secs(60);
        assert_eq!(seconds(share_of(left, 5.0, 25.0, 0.0)), (10.0, 35.0));
        assert_eq!(
            seconds(share_of(left, 5.0, 45.0, 0.0)),
            (6.0, 30.0),
            "half of all at least"
        );
        assert_eq!(
            seconds(share_of(left, 5.0, 25.0, 20.0)),
            (30.0, 35.0),
            "building again would cost more"
        );
        assert_eq!(
            seconds(share_of(left, 5.0, 25.0, 40.0)),
            (35.0, 35.0),
            "the others have their first look"
        );
        assert_eq!(
            seconds(share_of(left, 5.0, 0.0, 0.0)),
            (60.0, 60.0),
            "the last"
        );
        assert_eq!(
            seconds(share_of(left, 30.0, 90.0, 0.0)),
            (15.0, 30.0),
            "too little for all: the first one gets its ten rounds"
        );
        assert_eq!(seconds(share_of(left, 0.0, 0.0, 0.0)), (60.0, 60.0));
        assert_eq!(seconds(share_of(Duration::ZERO, 1.0, 1.0, 1.0)), (0.0, 0.0));
        let forever = share_of(left, 1.0, f64::INFINITY, 1.0);
        assert_eq!(seconds(forever), (0.0, 30.0));
    }

    #[test]
    fn what_is_done_within_another_phase_counts_once() {
        let began = Instant::now();
        let mut clock = PhaseClock::start();
        let rest = clock.enter(Some(|spent| &mut spent.rounds));
        let rounds = clock.enter(Some(|spent| &mut spent.stores));
        sleep(Duration::from_millis(20));
        assert!(clock.enter(rounds).is_some());
        clock.enter(rest);
        sleep(Duration::from_millis(20));
        let spent = clock.spent();
        let all: f64 = spent.named().iter().map(|(_, seconds)| seconds).sum();
        assert!(spent.stores >= 0.02, "{spent:?}");
        assert!(all <= began.elapsed().as_secs_f64() - 0.02, "{spent:?}");
        assert!((spent.pilots - 0.0).abs() < f64::EPSILON, "{spent:?}");
    }
}
