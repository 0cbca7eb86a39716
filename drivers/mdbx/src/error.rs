//! libmdbx's codes as errors of a store.

use crate::STORE;
use crate::environment::Code;
use stowplan_stores::StoreError;

/// What libmdbx said about an action, in one line.
pub(crate) fn failed(action: impl Into<String>, code: Code) -> StoreError {
    let detail = match code {
        Code::MAP_FULL => {
            "the database has reached its largest size; raise the setting max_size".to_owned()
        }
        Code::UNDONE => "the transaction was undone because of an earlier error".to_owned(),
        code => code.to_string(),
    };
    match code {
        Code::BUSY => StoreError::conflict(STORE, action, detail),
        _ => StoreError::engine(STORE, action, detail),
    }
}
