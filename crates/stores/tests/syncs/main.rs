//! What goes by the sync calls of the whole process: each of these has the process to itself for as long as it
//! lasts.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod broken_stores;
mod declared_syncs;
mod every_store;
#[path = "../place/mod.rs"]
mod place;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Waits until no other test counts or makes syncs.
fn alone() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let locked = ONE_AT_A_TIME.lock();
    locked.unwrap_or_else(PoisonError::into_inner)
}
