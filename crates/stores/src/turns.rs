//! Whose turn it is to write, among the connections of this process.
//!
//! SQLite lets one connection write at a time. Where a change is more than a transaction of SQLite's (a file
//! beside the row, a layer in memory before it), whoever makes it keeps the others waiting until all of it
//! is done.

use crate::{Result, StoreError};
use parking_lot::{Condvar, Mutex};
use std::time::Duration;

pub(crate) struct Turns {
    state: Mutex<State>,
    freed: Condvar,
    /// How long one waits. Without a limit, a thread with two connections could wait for itself.
    patience: Duration,
}

#[derive(Default)]
struct State {
    taken: bool,
    /// A wake-up is a system call, where nobody waits too.
    waiting: usize,
}

/// Ends when it is dropped.
pub(crate) struct Turn<'t>(&'t Turns);

impl Turns {
    pub(crate) fn of(patience: Duration) -> Self {
        Self {
            state: Mutex::default(),
            freed: Condvar::new(),
            patience,
        }
    }

    /// Waits for the turn; a conflict if it does not come in time.
    pub(crate) fn take(&self) -> Result<Turn<'_>> {
        let mut state = self.state.lock();
        if state.taken {
            state.waiting += 1;
            let still = |state: &mut State| state.taken;
            self.freed.wait_while_for(&mut state, still, self.patience);
            state.waiting -= 1;
        }
        if state.taken {
            let why = "another connection has a transaction open";
            return Err(StoreError::conflict("write", why));
        }
        state.taken = true;
        Ok(Turn(self))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.taken = false;
        if state.waiting > 0 {
            self.0.freed.notify_one();
        }
    }
}
