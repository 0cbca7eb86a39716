//! RocksDB's errors as those of a store.

use crate::STORE;
use rocksdb::{Error, ErrorKind};
use stowplan_stores::StoreError;

/// What RocksDB said about an action, in one line.
pub(crate) fn failed(action: impl Into<String>, error: &Error) -> StoreError {
    let detail = error.to_string();
    match error.kind() {
        // Another transaction wrote, or may have written, what this one read.
        ErrorKind::Busy | ErrorKind::TryAgain | ErrorKind::TimedOut | ErrorKind::Aborted => {
            StoreError::conflict(STORE, action, detail)
        }
        _ => StoreError::engine(STORE, action, detail),
    }
}
