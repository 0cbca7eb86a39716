//! sled as a store: one tree of a database.
//!
//! What belongs here: the settings, what they promise, the operations, and transactions that last
//! longer than a call, which sled has not. What does not: anything that another store could use too.

mod engine;
mod options;
mod transaction;
mod turns;

use engine::Database;
use sled::Error;
use stowplan_stores::kv::KvKind;
use stowplan_stores::{Key, StoreError, StoreKind};

const STORE: &str = "sled";

/// sled, for the registry.
pub static KIND: &dyn StoreKind = &KvKind::<Database>::new();

/// What sled said about an action, in one line.
fn failed(action: impl Into<String>, error: &Error) -> StoreError {
    StoreError::Engine {
        store: STORE,
        action: action.into(),
        detail: match error {
            // Its own text is the system's answer in the words of `Debug`.
            Error::Io(e) if e.to_string().contains("could not acquire lock") => {
                "another process has it open".to_owned()
            }
            Error::Io(e) => e.to_string(),
            Error::Corruption { .. } => "the database is damaged".to_owned(),
            other => other.to_string(),
        },
    }
}

fn key_failed(action: &str, key: Key, error: &Error) -> StoreError {
    failed(format!("{action} key {key}"), error)
}
