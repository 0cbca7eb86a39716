//! Whose turn it is to add and remove files.
//!
//! SQLite lets one connection write at a time, but between a row and its file it does not help: a
//! file that goes after its row must not be one that another thread has meanwhile given to a new
//! row. So whoever changes rows keeps the others of this process waiting until the files are done.

use crate::{Result, StoreError};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub(super) struct Turns {
    taken: Mutex<bool>,
    freed: Condvar,
    /// How long one waits, as it does for SQLite's lock.
    patience: Duration,
}

/// Ends when it is dropped.
pub(super) struct Turn<'t>(&'t Turns);

impl Turns {
    pub(super) fn new(patience: Duration) -> Self {
        Self {
            taken: Mutex::new(false),
            freed: Condvar::new(),
            patience,
        }
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the turn; a conflict if it does not come in time.
    pub(super) fn take(&self) -> Result<Turn<'_>> {
        let waited = self
            .freed
            .wait_timeout_while(self.lock(), self.patience, |taken| *taken);
        let (mut taken, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if *taken {
            return Err(StoreError::conflict(
                "files-indexed",
                "write",
                "another connection has a transaction open",
            ));
        }
        *taken = true;
        Ok(Turn(self))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.0.lock() = false;
        self.0.freed.notify_one();
    }
}
