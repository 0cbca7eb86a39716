//! RocksDB's errors as those of a store.

use rocksdb::{Error, ErrorKind};
use stowplan_stores::{Result, StoreError};

/// What RocksDB said, in one line; the adapter adds what was attempted.
pub(crate) trait Said<T> {
    fn said(self) -> Result<T>;
}

impl<T> Said<T> for std::result::Result<T, Error> {
    fn said(self) -> Result<T> {
        self.map_err(|error| match error.kind() {
            // Another transaction wrote, or may have written, what this one read.
            ErrorKind::Busy | ErrorKind::TryAgain | ErrorKind::TimedOut | ErrorKind::Aborted => {
                StoreError::conflict("", error.to_string())
            }
            _ => StoreError::said(error),
        })
    }
}
