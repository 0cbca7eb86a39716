//! sled as a store: one tree of a database.
//!
//! What belongs here: the settings, what they promise, the operations, and transactions that last
//! longer than a call, which sled has not. What does not: anything that another store could use too.

mod options;
mod session;
mod turns;

use options::{ENGINE_VERSION, Options, SETTINGS};
use session::SledSession;
use sled::{Db, Error, Tree};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};
use stowplan_model::{Capabilities, Delivery, Footprint, Operation, Setting, Settings};
use stowplan_stores::{
    Connection, Key, KeyForm, Lent, Result, Session, Shared, Store, StoreError, StoreKind,
    files_of_tree, footprint_of_tree,
};
use turns::Turns;

const STORE: &str = "sled";

/// The directory of the database below a store's.
const DATABASE: &str = "db";

/// The file of the log in the directory of the database, so named by sled.
const DATA_FILE: &str = "db";

/// How long closing may take: many times as long as it was seen to.
const CLOSING: Duration = Duration::from_secs(30);

const POLL: Duration = Duration::from_micros(200);

/// The name of the tree.
const TABLE: &[u8] = b"kv";

/// sled, for the registry.
pub static KIND: &dyn StoreKind = &Sled;

struct Sled;

/// What sled said about an action, in one line.
fn failed(action: impl Into<String>, error: &Error) -> StoreError {
    StoreError::Engine {
        store: STORE,
        action: action.into(),
        detail: match error {
            // Its own text is the system's answer in the words of `Debug`.
            Error::Io(e) if e.to_string().contains("could not acquire lock") => {
                "another process has it open".to_owned()
            }
            Error::Io(e) => e.to_string(),
            Error::Corruption { .. } => "the database is damaged".to_owned(),
            other => other.to_string(),
        },
    }
}

impl StoreKind for Sled {
    fn name(&self) -> &'static str {
        STORE
    }

    fn about(&self) -> &'static str {
        "a tree of a sled database: a lock-free B-link tree over a log, in Rust"
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
            deliveries: vec![Delivery::Copy, Delivery::InPlace],
            transactions: true,
            resizes: true,
            durability: options.durability(),
            threads: true,
            // Changes on their own do not wait for each other; transactions do.
            parallel_writers: false,
            persistent: true,
            evictable: true,
            mapped: false,
            syncs_per_commit: options.syncs_per_commit(),
            largest_value: None,
        })
    }

    fn create(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        let store = SledStore::new(directory, settings);
        // sled would open what is there.
        std::fs::create_dir(&store.path).map_err(StoreError::io("create", &store.path))?;
        store.with_database(|database| {
            database
                .open_tree(TABLE)
                .map(drop)
                .map_err(|e| failed("create the tree", &e))
        })?;
        Ok(Box::new(store))
    }

    fn open(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        let store = SledStore::new(directory, settings);
        // sled would make what is not there.
        std::fs::metadata(&store.path).map_err(StoreError::io("open", &store.path))?;
        store.with_database(|database| store.check_keys(database))?;
        Ok(Box::new(store))
    }
}

struct SledStore {
    directory: PathBuf,
    path: PathBuf,
    database: Shared<Db>,
    options: Options,
    form: KeyForm,
    turns: Turns,
}

impl SledStore {
    fn new(directory: &Path, settings: &Settings) -> Self {
        Self {
            directory: directory.to_owned(),
            path: directory.join(DATABASE),
            database: Shared::new(),
            options: Options::from_settings(settings),
            form: KeyForm::of(settings),
            turns: Turns::default(),
        }
    }

    fn get_database(&self) -> Result<Lent<'_, Db>> {
        self.database.get(|| {
            self.options
                .of_database(&self.path)
                .open()
                .map_err(|e| failed(format!("open {}", self.path.display()), &e))
        })
    }

    fn give_back(&self, database: Lent<'_, Db>) -> Result<()> {
        self.database.give_back(database, |database| {
            let flushed = flush(&database);
            drop(database);
            self.wait_until_closed()?;
            flushed
        })
    }

    /// Threads of sled's keep the file for a little longer than the database, and with it the lock:
    /// until then it could not be opened again, nor its pages leave the cache of the system.
    fn wait_until_closed(&self) -> Result<()> {
        let path = self.path.join(DATA_FILE);
        let file = File::open(&path).map_err(StoreError::io("open", &path))?;
        let begun = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(()),
                Err(TryLockError::WouldBlock) if begun.elapsed() < CLOSING => sleep(POLL),
                Err(error) => return Err(StoreError::io("lock", &path)(error)),
            }
        }
    }

    fn with_database<T>(&self, work: impl FnOnce(&Db) -> Result<T>) -> Result<T> {
        let database = self.get_database()?;
        let done = work(&database);
        self.give_back(database)?;
        done
    }

    /// sled would take keys of either form.
    fn check_keys(&self, database: &Db) -> Result<()> {
        let Some(tree) = open_tree(database)? else {
            return Ok(());
        };
        let first = tree.first().map_err(|e| failed("read the first key", &e))?;
        let first = first.as_ref().map(|(key, _)| key.as_ref());
        self.form.check(STORE, &self.path, first)
    }
}

/// The tree, if there is one: sled would make it.
fn open_tree(database: &Db) -> Result<Option<Tree>> {
    if !database.tree_names().iter().any(|name| name == TABLE) {
        return Ok(None);
    }
    let tree = database.open_tree(TABLE);
    tree.map(Some).map_err(|e| failed("open the tree", &e))
}

/// Writes what is in memory to the log.
fn flush(database: &Db) -> Result<()> {
    let flushed = database.flush();
    flushed.map(drop).map_err(|e| failed("flush", &e))
}

impl Store for SledStore {
    fn connect(&self) -> Result<Box<dyn Connection + '_>> {
        Ok(Box::new(SledConnection {
            store: self,
            database: self.get_database()?,
        }))
    }

    fn footprint(&self) -> Result<Footprint> {
        footprint_of_tree(&self.directory)
    }

    /// All of them: where in the log a key is changes all the time.
    fn data_files(&self, _: &mut dyn Iterator<Item = Key>) -> Vec<PathBuf> {
        files_of_tree(&self.directory).unwrap_or_default()
    }

    /// Writes what is in memory to the log, which is where the data stays.
    fn checkpoint(&self) -> Result<()> {
        self.with_database(flush)
    }
}

struct SledConnection<'s> {
    store: &'s SledStore,
    database: Lent<'s, Db>,
}

impl Connection for SledConnection<'_> {
    fn session(&mut self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(SledSession::new(
            &self.database,
            open_tree(&self.database)?,
            self.store.options,
            self.store.form,
            &self.store.turns,
        )))
    }

    fn effective_settings(&self) -> Result<Settings> {
        Ok(options::effective(&self.database))
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.give_back(self.database)
    }
}
