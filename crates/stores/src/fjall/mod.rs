//! One keyspace of a fjall database: a log-structured merge tree, written in Rust.

mod database;
mod options;
mod session;

use crate::kv::{KvStore, capabilities};
use crate::{Result, Store, StoreError, StoreKind};
use database::Database;
use options::{ENGINE_VERSION, Options, SETTINGS};
use std::path::Path;
use stowplan_model::{Capabilities, Setting, Settings};

const STORE: &str = "fjall";

/// The directory of the database below a store's.
const DATABASE: &str = "db";

/// One keyspace of a fjall database. See the module.
pub(crate) struct Fjall;

/// What fjall said about an action, in one line. Its own text is that of `Debug`.
fn failed(action: impl Into<String>, error: &::fjall::Error) -> StoreError {
    let detail = match error {
        ::fjall::Error::Io(e) => e.to_string(),
        ::fjall::Error::Storage(e) => e.to_string(),
        ::fjall::Error::Locked => "another process has it open".to_owned(),
        ::fjall::Error::Poisoned => {
            "an earlier write or sync failed; nothing more is written until it is opened again"
                .to_owned()
        }
        other => format!("{other:?}"),
    };
    StoreError::Engine {
        store: STORE,
        action: action.into(),
        detail,
    }
}

impl StoreKind for Fjall {
    fn name(&self) -> &'static str {
        STORE
    }

    fn about(&self) -> &'static str {
        "a keyspace of a fjall database: a log-structured merge tree in Rust"
    }

    fn settings(&self) -> &'static [Setting] {
        SETTINGS
    }

    fn engine(&self) -> Option<(&'static str, String)> {
        Some(("fjall", ENGINE_VERSION.to_owned()))
    }

    fn capabilities(&self, settings: &Settings) -> Result<Capabilities> {
        let options = Options::from_settings(settings);
        Ok(Capabilities {
            parallel_writers: options.optimistic,
            // fjall keeps lengths of values in 32 bits.
            largest_value: Some(u64::from(u32::MAX)),
            ..capabilities(options.durability(), options.syncs_per_commit())
        })
    }

    fn create(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        KvStore::<Database>::create(directory, Options::from_settings(settings))
    }

    fn open(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        KvStore::<Database>::open(directory, Options::from_settings(settings))
    }
}

#[cfg(test)]
mod tests;
