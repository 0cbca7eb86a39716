//! One table in a redb database: a copy-on-write B-tree in a single file, written in Rust.

mod engine;
mod options;
mod table;

use crate::kv::{KvStore, capabilities};
use crate::{Key, Result, Store, StoreError, StoreKind};
use engine::OpenDatabase;
use options::{Options, SETTINGS};
use std::fmt::Display;
use std::path::Path;
use stowplan_model::{Capabilities, Setting, Settings};

const STORE: &str = "redb";

/// The name of the database below a store's directory.
const DATABASE: &str = "kv.redb";

/// The version that is built: redb does not tell it. A test compares it with Cargo.lock.
const ENGINE_VERSION: &str = "4.5.0";

/// One table in a redb database. See the module.
pub(crate) struct Redb;

/// What redb said about an action, in one line.
fn failed(action: impl Into<String>, error: &impl Display) -> StoreError {
    StoreError::Engine {
        store: STORE,
        action: action.into(),
        detail: error.to_string(),
    }
}

#[cold]
fn key_failed(action: &str, key: Key, error: &impl Display) -> StoreError {
    failed(format!("{action} key {key}"), error)
}

impl StoreKind for Redb {
    fn name(&self) -> &'static str {
        STORE
    }

    fn about(&self) -> &'static str {
        "a table in a redb database: a copy-on-write B-tree in Rust"
    }

    fn settings(&self) -> &'static [Setting] {
        SETTINGS
    }

    fn engine(&self) -> Option<(&'static str, String)> {
        Some((STORE, ENGINE_VERSION.to_owned()))
    }

    fn capabilities(&self, settings: &Settings) -> Result<Capabilities> {
        let options = Options::from_settings(settings)?;
        Ok(Capabilities {
            // MAX_VALUE_LENGTH in redb's source.
            largest_value: Some(3 << 30),
            ..capabilities(options.durability(), options.syncs_per_commit())
        })
    }

    fn create(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        KvStore::<OpenDatabase>::create(directory, Options::from_settings(settings)?)
    }

    fn open(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        KvStore::<OpenDatabase>::open(directory, Options::from_settings(settings)?)
    }
}

#[cfg(test)]
mod tests;
