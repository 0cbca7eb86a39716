//! One table in a redb database: a copy-on-write B-tree in a single file, written in Rust.

mod engine;
mod options;
mod table;

use crate::kv::KvKind;
use crate::{Key, StoreError, StoreKind};
use engine::OpenDatabase;
use std::fmt::Display;

const STORE: &str = "redb";

/// The name of the database below a store's directory.
const DATABASE: &str = "kv.redb";

/// The version that is built: redb does not tell it. A test compares it with Cargo.lock.
const ENGINE_VERSION: &str = "4.5.0";

/// One table in a redb database. See the module.
pub(crate) const KIND: &dyn StoreKind = &KvKind::<OpenDatabase>::new();

/// What redb said about an action, in one line.
fn failed(action: impl Into<String>, error: &impl Display) -> StoreError {
    StoreError::engine(STORE, action, error.to_string())
}

#[cold]
fn key_failed(action: &str, key: Key, error: &impl Display) -> StoreError {
    failed(format!("{action} key {key}"), error)
}

#[cfg(test)]
mod tests;
