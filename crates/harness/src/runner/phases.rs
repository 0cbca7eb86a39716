//! Where the time of a session goes.

use std::time::Instant;
use stowplan_model::Phases;

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

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::sleep;
    use std::time::Duration;

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
