//! Where the threads of a block wait for each other.

use crate::{DriverError, Result};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A barrier that can be given up: nobody waits for a thread that has failed.
pub(crate) struct Barrier {
    size: usize,
    state: Mutex<State>,
    changed: Condvar,
    given_up: AtomicBool,
}

#[derive(Default)]
struct State {
    arrived: usize,
    /// How often all have met.
    met: u64,
    failure: Option<DriverError>,
}

impl Barrier {
    /// For so many threads.
    pub(crate) fn of(size: usize) -> Self {
        Self {
            size,
            state: Mutex::default(),
            changed: Condvar::new(),
            given_up: AtomicBool::new(false),
        }
    }

    /// Waits until all are here.
    ///
    /// # Errors
    /// One of them has failed.
    pub(crate) fn wait(&self) -> Result<()> {
        let mut state = self.state();
        let round = state.met;
        state.arrived += 1;
        if state.arrived == self.size {
            state.arrived = 0;
            state.met += 1;
            self.changed.notify_all();
            return Ok(());
        }
        while state.met == round {
            if self.given_up.load(Ordering::Relaxed) {
                return Err(DriverError::invalid("another thread of the block failed"));
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        Ok(())
    }

    /// Gives up, for a reason; the first one counts.
    pub(crate) fn fail(&self, error: DriverError) {
        let mut state = self.state();
        state.failure.get_or_insert(error);
        self.given_up.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// Set once it was given up.
    pub(crate) fn given_up(&self) -> &AtomicBool {
        &self.given_up
    }

    /// Why it was given up, if it was.
    pub(crate) fn failure(&self) -> Option<DriverError> {
        self.state().failure.take()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn all_meet_again_and_again() {
        let barrier = Barrier::of(4);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..200).for_each(|_| barrier.wait().unwrap()));
            }
        });
        assert!(barrier.failure().is_none());
    }

    #[test]
    fn nobody_waits_for_one_that_failed() {
        let barrier = Barrier::of(3);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| assert!(barrier.wait().is_err()));
            }
            barrier.fail(DriverError::invalid("first"));
            barrier.fail(DriverError::invalid("second"));
        });
        assert!(barrier.given_up().load(Ordering::Relaxed));
        assert_eq!(barrier.failure().unwrap().to_string(), "first");
    }
}
