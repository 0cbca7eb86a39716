//! libmdbx as a store: one named table of a database that is mapped into memory.
//!
//! What belongs here: the settings, what they promise, the operations, and a small safe layer over
//! the C interface (`environment`). The crate `libmdbx` has such a layer too, but hands every
//! transaction that writes to a thread of its own and copies what it reads, which would be
//! measured along.

mod engine;
mod environment;
mod key;
mod options;

use environment::{Code, Environment};
use stowplan_stores::kv::KvKind;
use stowplan_stores::{Key, StoreError, StoreKind};

const STORE: &str = "mdbx";

/// The file of the database, so named by libmdbx.
const DATA_FILE: &str = "mdbx.dat";

/// libmdbx, for the registry.
pub static KIND: &dyn StoreKind = &KvKind::<Environment>::new();

/// What libmdbx said about an action, in one line.
fn failed(action: impl Into<String>, code: Code) -> StoreError {
    let action = action.into();
    let detail = match code {
        Code::MAP_FULL => {
            "the database has reached its largest size; raise the setting max_size".to_owned()
        }
        Code::UNDONE => "the transaction was undone because of an earlier error".to_owned(),
        code => code.to_string(),
    };
    if code == Code::BUSY {
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

fn key_failed(action: &str, key: Key, code: Code) -> StoreError {
    failed(format!("{action} key {key}"), code)
}
