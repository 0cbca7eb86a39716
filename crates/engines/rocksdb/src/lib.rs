//! RocksDB as a store: one column family of a database with optimistic transactions.
//!
//! What belongs here: the settings, what they promise, and the operations. What does not: anything
//! that another store could use too.

mod engine;
mod options;
mod transaction;

use engine::OpenDatabase;
use rocksdb::{ErrorKind, MultiThreaded, OptimisticTransactionDB};
use stowplan_stores::kv::KvKind;
use stowplan_stores::{Key, StoreError, StoreKind};

const STORE: &str = "rocksdb";

/// Column families come and go by a shared reference.
type Database = OptimisticTransactionDB<MultiThreaded>;

/// RocksDB, for the registry.
pub static KIND: &dyn StoreKind = &KvKind::<OpenDatabase>::new();

/// What RocksDB said about an action, in one line.
fn failed(action: impl Into<String>, error: &rocksdb::Error) -> StoreError {
    let action = action.into();
    let detail = error.to_string();
    match error.kind() {
        // Another transaction wrote, or may have written, what this one read.
        ErrorKind::Busy | ErrorKind::TryAgain | ErrorKind::TimedOut | ErrorKind::Aborted => {
            StoreError::Conflict {
                store: STORE,
                action,
                detail,
            }
        }
        _ => StoreError::Engine {
            store: STORE,
            action,
            detail,
        },
    }
}

fn key_failed(action: &str, key: Key, error: &rocksdb::Error) -> StoreError {
    failed(format!("{action} key {key}"), error)
}
