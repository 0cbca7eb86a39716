//! How many bytes are on their way from readers to the writer.

use crate::source::ROOM;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Bytes that may be on their way.
const MOST: u64 = ROOM;
/// What the batch that is written next may have beyond that: everything else waits for it.
const FIRST_MOST: u64 = MOST + (40 << 20);

/// Readers take, the writer gives back.
#[derive(Debug, Default)]
pub(super) struct Budget {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    taken: u64,
    /// The batch that is written next.
    first: u64,
    stopped: bool,
}

impl Budget {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until so many bytes are free; false if all shall end.
    pub(super) fn take(&self, batch: u64, bytes: u64) -> bool {
        let mut state = self.state();
        loop {
            let most = if batch == state.first {
                FIRST_MOST
            } else {
                MOST
            };
            if state.stopped {
                return false;
            }
            if state.taken == 0 || state.taken + bytes <= most {
                state.taken += bytes;
                return true;
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// So many bytes were written, and this batch is written next.
    pub(super) fn give(&self, bytes: u64, first: u64) {
        let mut state = self.state();
        state.taken -= bytes;
        state.first = first;
        drop(state);
        self.changed.notify_all();
    }

    /// Everybody who waits shall end.
    pub(super) fn stop(&self) {
        self.state().stopped = true;
        self.changed.notify_all();
    }

    pub(super) fn stopped(&self) -> bool {
        self.state().stopped
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn a_later_batch_waits_and_the_first_one_does_not() {
        let budget = Budget::default();
        assert!(budget.take(1, MOST));
        assert!(budget.take(0, 16 << 20), "it is written next");
        thread::scope(|scope| {
            let waiting = scope.spawn(|| budget.take(2, 1));
            budget.give(MOST, 1);
            assert!(waiting.join().unwrap());
            let waiting = scope.spawn(|| budget.take(3, MOST));
            budget.stop();
            assert!(!waiting.join().unwrap());
        });
    }
}
