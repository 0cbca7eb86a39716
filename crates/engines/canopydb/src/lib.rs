//! canopydb as a store: one tree of a database in an environment of its own.
//!
//! What belongs here: the settings, what they promise, and the operations. What does not: anything
//! that another store could use too.

mod options;
mod session;
mod transaction;

use canopydb::{Database, Environment, Error};
use options::{ENGINE_VERSION, Options, SETTINGS};
use session::CanopySession;
use std::path::{Path, PathBuf};
use stowplan_model::{Capabilities, Delivery, Footprint, Operation, Setting, Settings};
use stowplan_stores::{
    Connection, Key, KeyForm, Lent, Result, Session, Shared, Store, StoreError, StoreKind,
    files_of_tree, footprint_of_tree,
};

const STORE: &str = "canopydb";

/// The directory of the environment below a store's.
const ENVIRONMENT: &str = "db";

/// The name of the database. Its directory is called by it, and by a number.
const DATABASE: &str = "kv";

/// The file of options in the directory of the database, so named by canopydb.
const OPTIONS_FILE: &str = "OPTIONS";

/// The name of the tree.
const TABLE: &[u8] = b"kv";

/// canopydb, for the registry.
pub static KIND: &dyn StoreKind = &Canopy;

struct Canopy;

/// What canopydb said about an action, in one line. Its own text is that of `Debug`.
fn failed(action: impl Into<String>, error: &Error) -> StoreError {
    let action = action.into();
    let detail = match error {
        Error::Io(e) | Error::FatalIo(e) => e.to_string(),
        Error::Validation(text) | Error::FreeList(text) => text.to_string(),
        Error::EnvironmentLocked => "another process has it open".to_owned(),
        Error::EnvironmentHalted | Error::DatabaseHalted | Error::WalHalted => {
            "an earlier write or sync failed; nothing more is written until it is opened again"
                .to_owned()
        }
        Error::TransactionAborted => "the transaction was undone by an earlier error".to_owned(),
        other => other.to_string(),
    };
    if matches!(error, Error::WriteConflict) {
        return StoreError::Conflict {
            store: STORE,
            action,
            detail,
        };
    }
    StoreError::Engine {
        store: STORE,
        action,
        detail,
    }
}

impl StoreKind for Canopy {
    fn name(&self) -> &'static str {
        STORE
    }

    fn about(&self) -> &'static str {
        "a tree of a canopydb database: a copy-on-write B+ tree with a log, in Rust"
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
            // "Limits" in canopydb's documentation of `Database`.
            largest_value: Some(3 << 30),
        })
    }

    fn create(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        let store = CanopyStore::new(directory, settings)?;
        // canopydb would open what is there.
        std::fs::create_dir(&store.path).map_err(StoreError::io("create", &store.path))?;
        let database = store
            .open_environment()?
            .get_or_create_database_with(DATABASE, store.options.of_database())
            .map_err(|e| failed(format!("create {}", store.path.display()), &e))?;
        store.session(&database).create_table()?;
        store.close(database)?;
        Ok(Box::new(store))
    }

    fn open(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        let store = CanopyStore::new(directory, settings)?;
        // canopydb would make what is not there.
        store.database_directory()?;
        store.with_database(|database| store.check_keys(database))?;
        Ok(Box::new(store))
    }
}

struct CanopyStore {
    directory: PathBuf,
    /// Of the environment.
    path: PathBuf,
    database: Shared<Database>,
    options: Options,
    form: KeyForm,
}

impl CanopyStore {
    fn new(directory: &Path, settings: &Settings) -> Result<Self> {
        Ok(Self {
            directory: directory.to_owned(),
            path: directory.join(ENVIRONMENT),
            database: Shared::new(),
            options: Options::from_settings(settings)?,
            form: KeyForm::of(settings),
        })
    }

    /// `kv_` and a number.
    fn database_directory(&self) -> Result<PathBuf> {
        let entries = std::fs::read_dir(&self.path).map_err(StoreError::io("open", &self.path))?;
        entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .find(|path| path.join(OPTIONS_FILE).is_file())
            .ok_or_else(|| self.no_database())
    }

    fn no_database(&self) -> StoreError {
        StoreError::Engine {
            store: STORE,
            action: format!("open {}", self.path.display()),
            detail: "there is no database in it".to_owned(),
        }
    }

    fn open_environment(&self) -> Result<Environment> {
        Environment::with_options(self.options.of_environment(&self.path))
            .map_err(|e| failed(format!("open {}", self.path.display()), &e))
    }

    fn get_database(&self) -> Result<Lent<'_, Database>> {
        self.database.get(|| {
            self.open_environment()?
                .get_database_with(DATABASE, self.options.of_database())
                .map_err(|e| failed(format!("open {}", self.path.display()), &e))?
                .ok_or_else(|| self.no_database())
        })
    }

    /// What has no log is written to the file.
    fn close(&self, database: Database) -> Result<()> {
        if self.options.needs_checkpoint() {
            checkpoint(&database)?;
        }
        Ok(())
    }

    fn give_back(&self, database: Lent<'_, Database>) -> Result<()> {
        self.database
            .give_back(database, |database| self.close(database))
    }

    fn with_database<T>(&self, work: impl FnOnce(&Database) -> Result<T>) -> Result<T> {
        let database = self.get_database()?;
        let done = work(&database);
        self.give_back(database)?;
        done
    }

    fn session<'c>(&self, database: &'c Database) -> Box<dyn Session + 'c> {
        Box::new(CanopySession::new(database, self.options, self.form))
    }

    /// canopydb would take keys of either form.
    fn check_keys(&self, database: &Database) -> Result<()> {
        let transaction = database.begin_read();
        let transaction = transaction.map_err(|e| failed("begin a transaction", &e))?;
        let tree = transaction.get_tree(TABLE);
        let Some(tree) = tree.map_err(|e| failed("open the tree", &e))? else {
            return Ok(());
        };
        let first = tree.first().map_err(|e| failed("read the first key", &e))?;
        let first = first.as_ref().map(|(key, _)| &**key);
        self.form.check(STORE, &self.path, first)
    }
}

fn checkpoint(database: &Database) -> Result<()> {
    database.checkpoint().map_err(|e| failed("checkpoint", &e))
}

impl Store for CanopyStore {
    fn connect(&self) -> Result<Box<dyn Connection + '_>> {
        Ok(Box::new(CanopyConnection {
            store: self,
            database: self.get_database()?,
        }))
    }

    fn footprint(&self) -> Result<Footprint> {
        footprint_of_tree(&self.directory)
    }

    fn data_files(&self, _: &mut dyn Iterator<Item = Key>) -> Vec<PathBuf> {
        files_of_tree(&self.directory).unwrap_or_default()
    }

    /// Writes changed pages to the file. What the log no longer needs is removed later, by a thread
    /// of canopydb's, or when the last connection is closed.
    fn checkpoint(&self) -> Result<()> {
        self.with_database(checkpoint)
    }
}

struct CanopyConnection<'s> {
    store: &'s CanopyStore,
    database: Lent<'s, Database>,
}

impl Connection for CanopyConnection<'_> {
    fn session(&mut self) -> Result<Box<dyn Session + '_>> {
        Ok(self.store.session(&self.database))
    }

    fn effective_settings(&self) -> Result<Settings> {
        let directory = self.store.database_directory()?;
        options::effective(&directory.join(OPTIONS_FILE))
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.give_back(self.database)
    }
}
