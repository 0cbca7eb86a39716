//! One table in a redb database: a copy-on-write B-tree in a single file, written in Rust.

mod form;
mod options;
mod session;
mod writing;

use crate::shared::{Lent, Shared};
use crate::{Connection, Key, KeyForm, Result, Session, Store, StoreError, StoreKind, disk};
use ::redb::{Database, ReadableDatabase, TableError};
use form::{Form, Integer, Text};
use options::{Options, SETTINGS};
use session::RedbSession;
use std::fmt::Display;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use stowplan_model::{Capabilities, Delivery, Footprint, Operation, Setting, Settings, Value};

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
            parallel_writers: false,
            persistent: true,
            evictable: true,
            mapped: false,
            syncs_per_commit: options.syncs_per_commit(),
            // MAX_VALUE_LENGTH in redb's source.
            largest_value: Some(3 << 30),
        })
    }

    fn create(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        let store = RedbStore::new(directory, settings)?;
        // redb makes a database of an empty file, but would as well open one that is there.
        File::create_new(&store.path).map_err(StoreError::io("create", &store.path))?;
        let action = || format!("create {}", store.path.display());
        let database = store.options.create(&store.path);
        let database = database.map_err(|e| failed(action(), &e))?;
        with_session(&database, store.options).create_table()?;
        close(database)?;
        Ok(Box::new(store))
    }

    fn open(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        let store = RedbStore::new(directory, settings)?;
        let metadata = fs::symlink_metadata(&store.path);
        let metadata = metadata.map_err(StoreError::io("open", &store.path))?;
        if !metadata.is_file() {
            let action = format!("open {}", store.path.display());
            return Err(failed(action, &"it is not a regular file"));
        }
        let database = store.open_database()?;
        let key = key_form(&database)?;
        close(database)?;
        if key != store.options.key {
            return Err(failed(
                format!("open {}", store.path.display()),
                &format!("its keys are of the form key={}", word(key)),
            ));
        }
        Ok(Box::new(store))
    }
}

/// A session on a database; which type it has is decided by the form of its keys.
fn with_session(database: &Database, options: Options) -> Box<dyn Session + '_> {
    match options.key {
        KeyForm::Integer => Box::new(RedbSession::<Integer>::new(database, options)),
        KeyForm::Text => Box::new(RedbSession::<Text>::new(database, options)),
    }
}

/// The form of the keys, as redb has it: it keeps the types of each table.
fn key_form(database: &Database) -> Result<KeyForm> {
    let transaction = database.begin_read();
    let transaction = transaction.map_err(|e| failed("begin a transaction", &e))?;
    match transaction.open_table(Integer::TABLE) {
        Ok(_) => return Ok(KeyForm::Integer),
        Err(TableError::TableTypeMismatch { .. }) => {}
        Err(TableError::TableDoesNotExist(_)) => {
            return Err(StoreError::no_table(STORE, "open the table"));
        }
        Err(e) => return Err(failed("open the table", &e)),
    }
    match transaction.open_table(Text::TABLE) {
        Ok(_) => Ok(KeyForm::Text),
        Err(e) => Err(failed("open the table", &e)),
    }
}

/// As [`crate::KEY_FORM`] has it.
fn word(key: KeyForm) -> &'static str {
    match key {
        KeyForm::Integer => "integer",
        KeyForm::Text => "text",
    }
}

/// Makes durable what is not yet, and tells errors, which dropping would not.
fn close(database: Database) -> Result<()> {
    database.close().map_err(|e| failed("close", &e))
}

struct RedbStore {
    directory: PathBuf,
    path: PathBuf,
    options: Options,
    database: Shared<Database>,
}

impl RedbStore {
    fn new(directory: &Path, settings: &Settings) -> Result<Self> {
        Ok(Self {
            directory: directory.to_owned(),
            path: directory.join(DATABASE),
            options: Options::from_settings(settings)?,
            database: Shared::new(),
        })
    }

    fn open_database(&self) -> Result<Database> {
        let action = || format!("open {}", self.path.display());
        let database = self.options.open(&self.path);
        database.map_err(|e| failed(action(), &e))
    }
}

impl Store for RedbStore {
    fn connect(&self) -> Result<Box<dyn Connection + '_>> {
        Ok(Box::new(RedbConnection {
            store: self,
            database: self.database.get(|| self.open_database())?,
        }))
    }

    fn footprint(&self) -> Result<Footprint> {
        disk::footprint_of_tree(&self.directory)
    }

    fn data_files(&self, _: &mut dyn Iterator<Item = Key>) -> Vec<PathBuf> {
        vec![self.path.clone()]
    }

    /// With `durability=none`, commits wait in memory for one that is immediate; the last
    /// connection to be closed makes it.
    fn checkpoint(&self) -> Result<()> {
        if self.options.immediate {
            return Ok(());
        }
        let Some(database) = self.database.opened() else {
            return Ok(());
        };
        let written = database
            .begin_write()
            .map_err(|e| failed("begin a transaction", &e))
            .and_then(|transaction| transaction.commit().map_err(|e| failed("checkpoint", &e)));
        self.database.give_back(database, close)?;
        written
    }
}

struct RedbConnection<'s> {
    store: &'s RedbStore,
    database: Lent<'s, Database>,
}

impl Connection for RedbConnection<'_> {
    fn session(&mut self) -> Result<Box<dyn Session + '_>> {
        Ok(with_session(&self.database, self.store.options))
    }

    /// The form of the keys. The rest is handed to redb with each transaction, or when it is
    /// opened, and cannot be asked back.
    fn effective_settings(&self) -> Result<Settings> {
        let mut effective = Settings::default();
        let key = word(key_form(&self.database)?);
        effective.set(crate::KEY_FORM.name, Value::Word(key.to_owned()));
        Ok(effective)
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.database.give_back(self.database, close)
    }
}

#[cfg(test)]
mod tests;
