//! Whose turn it is to write, among the connections of this process.
//!
//! SQLite lets one connection write at a time. Where a change is more than a transaction of SQLite's (a file
//! beside the row, a layer in memory before it), whoever makes it keeps the others waiting until all of it
//! is done.

use crate::{Result, StoreError};
use parking_lot::{Mutex, MutexGuard};
use std::time::Duration;

pub(crate) struct Turns {
    turn: Mutex<()>,
    /// How long one waits. Without a limit, a thread with two connections could wait for itself.
    patience: Duration,
}

/// Ends when it is dropped.
pub(crate) type Turn<'t> = MutexGuard<'t, ()>;

impl Turns {
    pub(crate) fn of(patience: Duration) -> Self {
        Self {
            turn: Mutex::new(()),
            patience,
        }
    }

    /// Waits for the turn; a conflict if it does not come in time.
    pub(crate) fn take(&self) -> Result<Turn<'_>> {
        let taken = self.turn.try_lock_for(self.patience);
        taken.ok_or_else(|| {
            StoreError::conflict("write", "another connection has a transaction open")
        })
    }
}
