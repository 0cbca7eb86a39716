//! persy's errors as those of a store.

use crate::STORE;
use persy::{PE, PersyError};
use stowplan_stores::StoreError;

/// What persy said about an action, in one line.
pub(crate) fn failed<E: Into<PersyError>>(action: impl Into<String>, error: PE<E>) -> StoreError {
    match error.persy_error() {
        PersyError::IndexNotFound | PersyError::SegmentNotFound => {
            StoreError::no_table(STORE, action)
        }
        PersyError::Io { from } => StoreError::engine(STORE, action, from.to_string()),
        error => StoreError::engine(STORE, action, error.to_string()),
    }
}
