//! Where the time of a session goes, and how much of it each comparison has.

use super::Runner;
use super::builds::on_second;
use super::rounds::RoundProgress;
use crate::plan::has_builds;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use stowplan_analysis::LOOKS;
use stowplan_model::{Cell, Comparison, Phases};

/// What the runner is busy with: where its time is counted.
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

    /// What was spent until the phase that it is in.
    pub(super) fn so_far(&self) -> Phases {
        self.spent
    }

    /// What was spent until now.
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
        /// Of the budget: the block that was begun when it ends, and the report.
        const END: f64 = 0.03;
        let budget = self.options.budget?.as_secs_f64() * (1.0 - END);
        let removal = self.pool.there_bytes() * self.building_pace() * REMOVAL;
        Some(budget - self.started.elapsed().as_secs_f64() - removal)
    }

    /// Seconds for a byte of a store, by what building and checking took so far in this session.
    pub(super) fn building_pace(&self) -> f64 {
        /// Where nothing is known yet.
        const TYPICAL: f64 = 1.0 / 250e6;
        let spent = self.clock.so_far();
        let bytes = self.pool.made_bytes;
        match bytes > 0.0 {
            true => (spent.datasets + spent.stores + spent.verification) / bytes,
            false => TYPICAL,
        }
    }

    /// Seconds for what would have to be built for comparisons.
    pub(super) fn building_seconds(&self, comparisons: &[Comparison]) -> f64 {
        let mut seen = BTreeSet::new();
        let mut bytes = 0.0;
        for comparison in comparisons {
            let placed = self.with_roles(comparison);
            for cell in &placed.cells {
                let second = Some(on_second(cell)).filter(|_| self.two_builds && has_builds(cell));
                for on in std::iter::once(cell.clone()).chain(second) {
                    if !self.pool.serves(&on) && seen.insert(on.instance.clone()) {
                        bytes += self.dataset_bytes(cell);
                    }
                }
            }
        }
        bytes * self.building_pace()
    }

    /// Seconds for building a comparison's stores once more.
    pub(super) fn again_seconds(&self, comparison: &Comparison) -> f64 {
        let cells = comparison.cells.iter();
        let stores: BTreeMap<_, _> = cells
            .flat_map(|cell| [cell.clone(), on_second(cell)])
            .filter(|cell| self.pool.of(cell).is_there)
            .map(|cell| (cell.instance.clone(), self.dataset_bytes(&cell)))
            .collect();
        stores.values().sum::<f64>() * self.building_pace()
    }

    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(super) fn dataset_bytes(&self, cell: &Cell) -> f64 {
        match cell.workload.changes_keys() {
            true => 0.0,
            false => self.plan.dataset_bytes(&cell.dataset) as f64,
        }
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
            .filter(|comparison| !self.decided_earlier(comparison))
            .cloned()
            .collect()
    }

    /// When a comparison must end: its share of the time that is left, by what its rounds are
    /// likely to take; in its first ten rounds, without which it has no interval, later.
    pub(super) fn deadline(
        &self,
        comparison: &Comparison,
        index: usize,
    ) -> Option<impl Fn(u32) -> Instant + use<>> {
        let now = Instant::now();
        let left = Duration::from_secs_f64(self.time_left()?.max(0.0));
        let here = self.seconds_of(std::slice::from_ref(comparison), LOOKS[0]);
        #[expect(clippy::cast_precision_loss, reason = "few")]
        let followers = here * self.expected as f64;
        // Who goes back to one has all that is left.
        let later = match self.open.contains_key(&comparison.id) {
            true => Vec::new(),
            false => self.later(index),
        };
        let after = self.seconds_of(&later, LOOKS[0]) + followers;
        let (share, most) = share_of(left, here, after, self.again_seconds(comparison));
        Some(move |round: u32| now + if round < LOOKS[0] { most } else { share })
    }

    /// Does something as a part of a phase.
    pub(super) fn during<T>(&mut self, phase: Phase, work: impl FnOnce(&mut Self) -> T) -> T {
        let around = self.clock.enter(Some(phase));
        let done = work(self);
        self.clock.enter(around);
        done
    }

    /// The rounds of this comparison up to the next look at the pace so far, and what the plan
    /// estimates for the comparisons to come.
    pub(super) fn eta_seconds(&self, progress: &RoundProgress<'_>) -> f64 {
        let elapsed = progress.began.elapsed().as_secs_f64();
        let rounds = progress.until.saturating_sub(progress.counted + 1);
        let estimate = progress.expected.left(elapsed, progress.done, rounds);
        self.time_left()
            .map_or(estimate, |left| estimate.min(left.max(0.0)))
    }
}

/// What a comparison may take of the time that is left, and what its first ten rounds may, given
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

/// What the plan estimates, in seconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expected {
    /// For a round of this comparison.
    pub(super) round: f64,
    /// For the comparisons to come.
    pub(super) later: f64,
}

impl Expected {
    /// Seconds that are left with so many rounds to come here, when `done` rounds and a part of one
    /// took `elapsed`. What is to come elsewhere is off as much as what was measured here: a machine
    /// whose syncs take ten times the plan's does so in each comparison. Nothing is known before a
    /// whole round.
    fn left(self, elapsed: f64, done: u32, rounds: u32) -> f64 {
        if done == 0 || self.round <= 0.0 {
            let here = elapsed.max(self.round) * f64::from(rounds);
            return here + self.later;
        }
        let pace = elapsed / f64::from(done + 1);
        pace * f64::from(rounds) + self.later * (pace / self.round)
    }
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
    fn what_is_to_come_is_off_as_much_as_what_was_measured() {
        let expected = Expected {
            round: 2.0,
            later: 100.0,
        };
        let left = expected.left(40.0, 1, 3);
        assert!((left - (60.0 + 1_000.0)).abs() < 1e-9, "{left}");
        // A part of a round says nothing yet, unless it took longer than the whole should.
        assert!((expected.left(0.5, 0, 3) - 106.0).abs() < 1e-9);
        assert!((expected.left(10.0, 0, 3) - 130.0).abs() < 1e-9);
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
