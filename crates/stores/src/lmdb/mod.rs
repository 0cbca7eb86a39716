//! One database in an LMDB environment: a copy-on-write B-tree that is read where the system maps
//! its file into memory. It has no cache of its own: the system's page cache is its cache.

mod engine;
mod form;
mod options;
mod session;

use crate::shared::{Lent, Shared};
use crate::{Connection, Key, KeyForm, Result, Session, Store, StoreError, StoreKind, disk};
use ::heed::MdbError;
use engine::Engine;
use form::{Form, Integer, Text};
use options::{Options, SETTINGS};
use session::LmdbSession;
use std::fs;
use std::path::{Path, PathBuf};
use stowplan_model::{Capabilities, Delivery, Footprint, Operation, Setting, Settings};

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
        let mut operations = vec![
            Operation::Read,
            Operation::Overwrite,
            Operation::Insert,
            Operation::Delete,
            Operation::Scan,
        ];
        if options.named {
            operations.extend([Operation::CreateTable, Operation::DropTable]);
        }
        Ok(Capabilities {
            operations,
            deliveries: vec![Delivery::Copy, Delivery::InPlace],
            transactions: true,
            resizes: true,
            durability: options.durability(),
            threads: true,
            parallel_writers: false,
            persistent: true,
            // The file is mapped, and its pages stay, while there are connections; not before.
            evictable: true,
            mapped: true,
            syncs_per_commit: options.syncs_per_commit(),
            // MAXDATASIZE in mdb.c.
            largest_value: Some(u64::from(u32::MAX)),
        })
    }

    fn create(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        match KeyForm::of(settings) {
            KeyForm::Integer => create::<Integer>(directory, settings),
            KeyForm::Text => create::<Text>(directory, settings),
        }
    }

    fn open(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        match KeyForm::of(settings) {
            KeyForm::Integer => open::<Integer>(directory, settings),
            KeyForm::Text => open::<Text>(directory, settings),
        }
    }
}

fn create<F: Form>(directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
    let store = LmdbStore::<F>::new(directory, settings)?;
    let path = directory.join(DATA);
    if fs::symlink_metadata(&path).is_ok() {
        let exists = std::io::Error::from(std::io::ErrorKind::AlreadyExists);
        return Err(StoreError::io("create", &path)(exists));
    }
    Engine::<F>::create(directory, store.options)?.close()?;
    Ok(Box::new(store))
}

fn open<F: Form>(directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
    let store = LmdbStore::<F>::new(directory, settings)?;
    let path = directory.join(DATA);
    // LMDB would make one.
    let metadata = fs::symlink_metadata(&path).map_err(StoreError::io("open", &path))?;
    if !metadata.is_file() {
        let action = format!("open {}", path.display());
        return Err(refused(action, "it is not a regular file"));
    }
    Engine::<F>::open(directory, store.options)?.close()?;
    Ok(Box::new(store))
}

struct LmdbStore<F: Form> {
    directory: PathBuf,
    options: Options,
    engine: Shared<Engine<F>>,
}

impl<F: Form> LmdbStore<F> {
    fn new(directory: &Path, settings: &Settings) -> Result<Self> {
        Ok(Self {
            directory: directory.to_owned(),
            options: Options::from_settings(settings)?,
            engine: Shared::new(),
        })
    }
}

impl<F: Form> Store for LmdbStore<F> {
    fn connect(&self) -> Result<Box<dyn Connection + '_>> {
        let open = || Engine::open(&self.directory, self.options);
        Ok(Box::new(LmdbConnection {
            store: self,
            engine: self.engine.get(open)?,
        }))
    }

    /// A writable map makes the file as long as itself while it is open; what lies behind the last
    /// page is a hole, and not counted.
    fn footprint(&self) -> Result<Footprint> {
        let mut footprint = disk::footprint_of_tree(&self.directory)?;
        let Some(engine) = self.engine.opened() else {
            return Ok(footprint);
        };
        let path = self.directory.join(DATA);
        let length = fs::metadata(&path).map(|data| data.len());
        let hole = length.map(|length| length.saturating_sub(engine.used()));
        self.engine.give_back(engine, Engine::close)?;
        footprint.apparent_bytes -= hole.map_err(StoreError::io("stat", &path))?;
        Ok(footprint)
    }

    fn data_files(&self, _: &mut dyn Iterator<Item = Key>) -> Vec<PathBuf> {
        vec![self.directory.join(DATA)]
    }

    /// Commits write pages where they stay.
    fn checkpoint(&self) -> Result<()> {
        Ok(())
    }
}

struct LmdbConnection<'s, F: Form> {
    store: &'s LmdbStore<F>,
    engine: Lent<'s, Engine<F>>,
}

impl<F: Form> Connection for LmdbConnection<'_, F> {
    fn session(&mut self) -> Result<Box<dyn Session + '_>> {
        let named = self.store.options.named;
        Ok(Box::new(LmdbSession::new(&self.engine, named)))
    }

    fn effective_settings(&self) -> Result<Settings> {
        self.engine.effective_settings()
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.engine.give_back(self.engine, Engine::close)
    }
}

#[cfg(test)]
mod tests;
