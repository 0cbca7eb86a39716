//! canopydb as a store: one tree of a database in an environment of its own.
//!
//! What belongs here: the settings, what they promise, and the operations. What does not: anything
//! that another store could use too.

mod engine;
mod options;

use canopydb::Error;
use engine::OpenDatabase;
use stowplan_stores::kv::KvKind;
use stowplan_stores::{StoreError, StoreKind};

const STORE: &str = "canopydb";

/// canopydb, for the registry.
pub static KIND: &dyn StoreKind = &KvKind::<OpenDatabase>::new();

/// What canopydb said about an action, in one line. Its own text is that of `Debug`.
fn failed(action: impl Into<String>, error: &Error) -> StoreError {
    let action = action.into();
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
    if matches!(error, Error::WriteConflict) {
        return StoreError::Conflict {
            store: STORE,
            action,
            detail,
        };
    }
    StoreError::Engine {
        store: STORE,
        action,
        detail,
    }
}
