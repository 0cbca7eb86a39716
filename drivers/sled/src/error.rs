//! sled's errors as those of a store.

use crate::STORE;
use sled::Error;
use stowplan_stores::StoreError;

/// What sled said about an action, in one line.
pub(crate) fn failed(action: impl Into<String>, error: &Error) -> StoreError {
    let detail = match error {
        // Its own text is the system's answer in the words of `Debug`.
        Error::Io(e) if e.to_string().contains("could not acquire lock") => {
            "another process has it open".to_owned()
        }
        Error::Io(e) => e.to_string(),
        Error::Corruption { .. } => "the database is damaged".to_owned(),
        other => other.to_string(),
    };
    StoreError::engine(STORE, action, detail)
}
