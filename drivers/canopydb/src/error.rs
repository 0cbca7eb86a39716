//! canopydb's errors as those of a store.

use crate::STORE;
use canopydb::Error;
use stowplan_stores::StoreError;

/// What canopydb said about an action, in one line. Its own text is that of `Debug`.
pub(crate) fn failed(action: impl Into<String>, error: &Error) -> StoreError {
    let detail = match error {
        Error::Io(e) | Error::FatalIo(e) => e.to_string(),
        Error::Validation(text) | Error::FreeList(text) => text.to_string(),
        Error::EnvironmentLocked => "another process has it open".to_owned(),
        Error::EnvironmentHalted | Error::DatabaseHalted | Error::WalHalted => {
            "an earlier write or sync failed; nothing more is written until it is opened again"
                .to_owned()
        }
        Error::TransactionAborted => "the transaction was undone by an earlier error".to_owned(),
        other => other.to_string(),
    };
    match error {
        Error::WriteConflict => StoreError::conflict(STORE, action, detail),
        _ => StoreError::engine(STORE, action, detail),
    }
}
