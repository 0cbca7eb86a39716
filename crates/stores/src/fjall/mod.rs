//! One keyspace of a fjall database: a log-structured merge tree, written in Rust.

mod database;
mod options;
mod session;

use crate::{
    Connection, Key, KeyForm, Lent, Result, Session, Shared, Store, StoreError, StoreKind, disk,
};
use database::{Database, Keyspace};
use options::{ENGINE_VERSION, Options, SETTINGS};
use session::FjallSession;
use std::path::{Path, PathBuf};
use stowplan_model::{Capabilities, Delivery, Footprint, Operation, Setting, Settings};

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
            operations: vec![
                Operation::Read,
                Operation::Overwrite,
                Operation::Insert,
                Operation::Delete,
                Operation::Scan,
                Operation::CreateTable,
                Operation::DropTable,
            ],
            deliveries: vec![Delivery::Copy, Delivery::InPlace],
            transactions: true,
            resizes: true,
            durability: options.durability(),
            threads: true,
            parallel_writers: options.optimistic,
            persistent: true,
            evictable: true,
            mapped: false,
            syncs_per_commit: options.syncs_per_commit(),
            // fjall keeps lengths of values in 32 bits.
            largest_value: Some(u64::from(u32::MAX)),
        })
    }

    fn create(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        let store = FjallStore::new(directory, settings);
        // fjall would open what is there.
        let path = directory.join(DATABASE);
        std::fs::create_dir(&path).map_err(StoreError::io("create", &path))?;
        store.with_database(|database| {
            database
                .make_keyspace(&store.options)
                .map(drop)
                .map_err(|e| failed("create the keyspace", &e))
        })?;
        // A new journal is a hole of 64 MiB. Opened again, it is as long as what it holds, so that
        // sizes before and after filling the store can be compared.
        store.with_database(|_| Ok(()))?;
        Ok(Box::new(store))
    }

    fn open(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        // fjall would make what is not there.
        let path = directory.join(DATABASE);
        std::fs::metadata(&path).map_err(StoreError::io("open", &path))?;
        let store = FjallStore::new(directory, settings);
        store.with_database(|database| {
            let Some(keyspace) = open_keyspace(database, &store.options)? else {
                return Ok(());
            };
            let first = keyspace.first_key();
            let first = first.map_err(|e| failed("read the first key", &e))?;
            store.form.check(STORE, &path, first.as_deref())
        })?;
        Ok(Box::new(store))
    }
}

struct FjallStore {
    directory: PathBuf,
    database: Shared<Database>,
    options: Options,
    form: KeyForm,
}

impl FjallStore {
    fn new(directory: &Path, settings: &Settings) -> Self {
        Self {
            directory: directory.to_owned(),
            database: Shared::new(),
            options: Options::from_settings(settings),
            form: KeyForm::of(settings),
        }
    }

    fn get_database(&self) -> Result<Lent<'_, Database>> {
        self.database.get(|| {
            let path = self.directory.join(DATABASE);
            Database::open(&path, &self.options)
                .map_err(|e| failed(format!("open {}", path.display()), &e))
        })
    }

    /// What was committed is in the journal, so that closing has nothing to report.
    fn give_back(&self, database: Lent<'_, Database>) -> Result<()> {
        self.database.give_back(database, |database| {
            drop(database);
            Ok(())
        })
    }

    fn with_database<T>(&self, work: impl FnOnce(&Database) -> Result<T>) -> Result<T> {
        let database = self.get_database()?;
        let done = work(&database);
        self.give_back(database)?;
        done
    }
}

fn open_keyspace(database: &Database, options: &Options) -> Result<Option<Keyspace>> {
    database
        .keyspace(options)
        .map_err(|e| failed("open the keyspace", &e))
}

impl Store for FjallStore {
    fn connect(&self) -> Result<Box<dyn Connection + '_>> {
        let database = self.get_database()?;
        Ok(Box::new(FjallConnection {
            store: self,
            keyspace: open_keyspace(&database, &self.options)?,
            database,
        }))
    }

    fn footprint(&self) -> Result<Footprint> {
        disk::footprint_of_tree(&self.directory)
    }

    /// All of them: which table holds a key changes with every compaction.
    fn data_files(&self, _: &mut dyn Iterator<Item = Key>) -> Vec<PathBuf> {
        disk::files_of_tree(&self.directory).unwrap_or_default()
    }

    /// Writes the memtable to a table, and waits for the compactions that follow from it.
    fn checkpoint(&self) -> Result<()> {
        self.with_database(|database| match open_keyspace(database, &self.options)? {
            Some(keyspace) => database
                .settle(&keyspace)
                .map_err(|e| failed("flush the memtable", &e)),
            None => Ok(()),
        })
    }
}

struct FjallConnection<'s> {
    store: &'s FjallStore,
    /// Nothing after it was dropped.
    keyspace: Option<Keyspace>,
    database: Lent<'s, Database>,
}

impl Connection for FjallConnection<'_> {
    fn session(&mut self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(FjallSession::new(
            &self.database,
            &self.store.options,
            &mut self.keyspace,
            self.store.form,
        )))
    }

    fn effective_settings(&self) -> Result<Settings> {
        let keyspace = self
            .keyspace
            .as_ref()
            .ok_or_else(|| StoreError::no_table(STORE, "read settings"))?;
        Ok(options::effective(self.database.inner(), keyspace.inner()))
    }

    fn close(self: Box<Self>) -> Result<()> {
        // A handle keeps the database open.
        drop(self.keyspace);
        self.store.give_back(self.database)
    }
}

#[cfg(test)]
mod tests;
