//! persy as a store: an index from keys to records, and the segment that holds them.
//!
//! What belongs here: the settings, what they promise, and the operations. What does not: anything
//! that another store could use too.

mod form;
mod options;
mod session;

use form::{Integer, Text};
use options::{ENGINE_VERSION, Options, SETTINGS};
use persy::{PE, Persy, PersyError};
use session::PersySession;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use stowplan_model::{Capabilities, Delivery, Footprint, Operation, Setting, Settings, Value};
use stowplan_stores::{
    Connection, KEY_FORM, Key, KeyForm, Lent, Result, Session, Shared, Store, StoreError,
    StoreKind, footprint_of_tree,
};

const STORE: &str = "persy";

/// The file of the database below a store's directory.
const DATA_FILE: &str = "kv.persy";

/// The name of the index and of the segment.
const TABLE: &str = "kv";

/// persy, for the registry.
pub static KIND: &dyn StoreKind = &PersyKind;

struct PersyKind;

/// What persy said about an action, in one line.
fn failed<E: Into<PersyError>>(action: impl Into<String>, error: PE<E>) -> StoreError {
    let action = action.into();
    match error.persy_error() {
        PersyError::IndexNotFound | PersyError::SegmentNotFound => {
            StoreError::no_table(STORE, action)
        }
        PersyError::Io { from } => engine(action, from.to_string()),
        error => engine(action, error.to_string()),
    }
}

fn engine(action: String, detail: String) -> StoreError {
    StoreError::Engine {
        store: STORE,
        action,
        detail,
    }
}

impl StoreKind for PersyKind {
    fn name(&self) -> &'static str {
        STORE
    }

    fn about(&self) -> &'static str {
        "a persy file in Rust: a B+ tree of keys, and records that are copied on write"
    }

    fn settings(&self) -> &'static [Setting] {
        SETTINGS
    }

    fn engine(&self) -> Option<(&'static str, String)> {
        Some((STORE, ENGINE_VERSION.to_owned()))
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
            // persy's reading hands out a copy.
            deliveries: vec![Delivery::Copy],
            transactions: true,
            resizes: true,
            durability: options.durability(),
            threads: true,
            parallel_writers: false,
            persistent: true,
            evictable: true,
            mapped: false,
            syncs_per_commit: options.syncs_per_commit(),
            // `record_over_size_limit` in persy's source.
            largest_value: Some((512 << 20) - 1024),
        })
    }

    fn create(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        let store = PersyStore::new(directory, settings);
        let action = || format!("create {}", store.path.display());
        Persy::create(&store.path).map_err(|e| failed(action(), e))?;
        store.with_database(|database| store.session(database).create_table())?;
        Ok(Box::new(store))
    }

    fn open(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        let store = PersyStore::new(directory, settings);
        std::fs::metadata(&store.path).map_err(StoreError::io("open", &store.path))?;
        let kept = store.with_database(key_form)?;
        match kept {
            Some(kept) if kept != store.form => Err(engine(
                format!("open {}", store.path.display()),
                format!("its keys are of the form key={}", kept.word()),
            )),
            _ => Ok(Box::new(store)),
        }
    }
}

/// The form of the keys, as persy has it: it keeps the type of the keys of each index.
fn key_form(database: &Persy) -> Result<Option<KeyForm>> {
    let indexes = database.list_indexes();
    let indexes = indexes.map_err(|e| failed("list the indexes", e))?;
    let table = indexes.iter().find(|(name, _)| name == TABLE);
    Ok(table.and_then(|(_, info)| form::of_type(&info.key_type)))
}

struct PersyStore {
    directory: PathBuf,
    path: PathBuf,
    database: Shared<Persy>,
    options: Options,
    form: KeyForm,
    /// Who writes has this. persy's own transactions run beside each other, but check at the commit
    /// only what they have both read and written; and one that is refused because its key has been
    /// inserted meanwhile leaves its locks behind (docs/engines.md).
    turns: Mutex<()>,
}

impl PersyStore {
    fn new(directory: &Path, settings: &Settings) -> Self {
        Self {
            directory: directory.to_owned(),
            path: directory.join(DATA_FILE),
            database: Shared::new(),
            options: Options::from_settings(settings),
            form: KeyForm::of(settings),
            turns: Mutex::new(()),
        }
    }

    fn get_database(&self) -> Result<Lent<'_, Persy>> {
        self.database.get(|| {
            Persy::open(&self.path, self.options.of_database())
                .map_err(|e| failed(format!("open {}", self.path.display()), e))
        })
    }

    /// What was committed is in the file, so that closing has nothing to report.
    fn give_back(&self, database: Lent<'_, Persy>) -> Result<()> {
        self.database.give_back(database, |database| {
            drop(database);
            Ok(())
        })
    }

    fn with_database<T>(&self, work: impl FnOnce(&Persy) -> Result<T>) -> Result<T> {
        let database = self.get_database()?;
        let done = work(&database);
        self.give_back(database)?;
        done
    }

    /// Which type it has is decided by the form of the keys.
    fn session<'c>(&'c self, database: &'c Persy) -> Box<dyn Session + 'c> {
        match self.form {
            KeyForm::Integer => Box::new(PersySession::<Integer>::new(
                database,
                self.options,
                &self.turns,
            )),
            KeyForm::Text => Box::new(PersySession::<Text>::new(
                database,
                self.options,
                &self.turns,
            )),
        }
    }
}

impl Store for PersyStore {
    fn connect(&self) -> Result<Box<dyn Connection + '_>> {
        Ok(Box::new(PersyConnection {
            store: self,
            database: self.get_database()?,
        }))
    }

    fn footprint(&self) -> Result<Footprint> {
        footprint_of_tree(&self.directory)
    }

    fn data_files(&self, _: &mut dyn Iterator<Item = Key>) -> Vec<PathBuf> {
        vec![self.path.clone()]
    }

    /// Each commit writes to the place where the data stays.
    fn checkpoint(&self) -> Result<()> {
        Ok(())
    }
}

struct PersyConnection<'s> {
    store: &'s PersyStore,
    database: Lent<'s, Persy>,
}

impl Connection for PersyConnection<'_> {
    fn session(&mut self) -> Result<Box<dyn Session + '_>> {
        Ok(self.store.session(&self.database))
    }

    /// The form of the keys. persy does not tell the rest.
    fn effective_settings(&self) -> Result<Settings> {
        let mut effective = Settings::default();
        if let Some(form) = key_form(&self.database)? {
            effective.set(KEY_FORM.name, Value::Word(form.word().to_owned()));
        }
        Ok(effective)
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.give_back(self.database)
    }
}
