//! One database in an LMDB environment: a copy-on-write B-tree that is read where the system maps
//! its file into memory. It has no cache of its own: the system's page cache is its cache.

mod engine;
mod form;
mod options;
mod session;

use crate::kv::{KvStore, capabilities};
use crate::{Key, KeyForm, Result, Store, StoreError, StoreKind};
use ::heed::MdbError;
use engine::Environment;
use form::{Integer, Text};
use options::{Options, SETTINGS};
use std::path::Path;
use stowplan_model::{Capabilities, Operation, Setting, Settings};

const STORE: &str = "lmdb";

/// The file that LMDB makes in the directory of an environment, beside one for locks.
const DATA: &str = "data.mdb";

/// One database in an LMDB environment. See the module.
pub(crate) struct Lmdb;

/// What LMDB said about an action, in one line, with the next step where there is one.
#[cold]
fn failed(action: impl Into<String>, error: &::heed::Error) -> StoreError {
    let next_step = match error {
        ::heed::Error::Mdb(MdbError::MapFull) => " (open it with a larger map_size)",
        ::heed::Error::Mdb(MdbError::Invalid) => " (the file is not an LMDB database)",
        ::heed::Error::Mdb(MdbError::BadRslot) => " (this thread has another open transaction)",
        _ => "",
    };
    refused(action, format!("{error}{next_step}"))
}

#[cold]
fn key_failed(action: &str, key: Key, error: &::heed::Error) -> StoreError {
    failed(format!("{action} key {key}"), error)
}

/// What this store refuses by itself.
#[cold]
fn refused(action: impl Into<String>, detail: impl Into<String>) -> StoreError {
    StoreError::Engine {
        store: STORE,
        action: action.into(),
        detail: detail.into(),
    }
}

impl StoreKind for Lmdb {
    fn name(&self) -> &'static str {
        STORE
    }

    fn about(&self) -> &'static str {
        "a database in an LMDB environment: a copy-on-write B-tree, read from a memory map"
    }

    fn settings(&self) -> &'static [Setting] {
        SETTINGS
    }

    fn engine(&self) -> Option<(&'static str, String)> {
        let version = ::heed::lmdb_version();
        let numbers = format!("{}.{}.{}", version.major, version.minor, version.patch);
        Some(("LMDB", numbers))
    }

    fn capabilities(&self, settings: &Settings) -> Result<Capabilities> {
        let options = Options::from_settings(settings)?;
        let claim = options.durability();
        let mut capabilities = Capabilities {
            // MAXDATASIZE in mdb.c.
            largest_value: Some(u64::from(u32::MAX)),
            ..capabilities(claim, options.syncs_per_commit())
        };
        if !options.named {
            let of_tables = [Operation::CreateTable, Operation::DropTable];
            capabilities.operations.retain(|o| !of_tables.contains(o));
        }
        Ok(capabilities)
    }

    fn create(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        let options = Options::from_settings(settings)?;
        match KeyForm::of(settings) {
            KeyForm::Integer => KvStore::<Environment<Integer>>::create(directory, options),
            KeyForm::Text => KvStore::<Environment<Text>>::create(directory, options),
        }
    }

    fn open(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        let options = Options::from_settings(settings)?;
        match KeyForm::of(settings) {
            KeyForm::Integer => KvStore::<Environment<Integer>>::open(directory, options),
            KeyForm::Text => KvStore::<Environment<Text>>::open(directory, options),
        }
    }
}

#[cfg(test)]
mod tests;
