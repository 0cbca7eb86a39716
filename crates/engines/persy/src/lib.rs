//! persy as a store: an index from keys to records, and the segment that holds them.
//!
//! What belongs here: the settings, what they promise, and the operations. What does not: anything
//! that another store could use too.

mod engine;
mod form;
mod options;

use engine::Database;
use form::{Integer, Text};
use persy::{PE, PersyError};
use stowplan_stores::kv::KvKind;
use stowplan_stores::{StoreError, StoreKind};

const STORE: &str = "persy";

/// persy, for the registry.
pub static KIND: &dyn StoreKind = &KvKind::<Database<Integer>, Database<Text>>::new();

/// What persy said about an action, in one line.
fn failed<E: Into<PersyError>>(action: impl Into<String>, error: PE<E>) -> StoreError {
    let action = action.into();
    match error.persy_error() {
        PersyError::IndexNotFound | PersyError::SegmentNotFound => {
            StoreError::no_table(STORE, action)
        }
        PersyError::Io { from } => refused(action, from.to_string()),
        error => refused(action, error.to_string()),
    }
}

fn refused(action: String, detail: String) -> StoreError {
    StoreError::Engine {
        store: STORE,
        action,
        detail,
    }
}
