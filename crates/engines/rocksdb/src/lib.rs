//! RocksDB as a store: one column family of a database with optimistic transactions.
//!
//! What belongs here: the settings, what they promise, and the operations. What does not: anything
//! that another store could use too.

mod options;
mod session;

use options::{ENGINE_VERSION, Options, SETTINGS};
use rocksdb::{
    ColumnFamilyDescriptor, DB, ErrorKind, MultiThreaded, OptimisticTransactionDB, properties,
};
use session::RocksSession;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;
use stowplan_model::{Capabilities, Delivery, Footprint, Operation, Setting, Settings};
use stowplan_stores::{
    Connection, Key, KeyForm, Lent, Result, Session, Shared, Store, StoreError, StoreKind,
    files_of_tree, footprint_of_tree,
};

const STORE: &str = "rocksdb";

/// The directory of the database below a store's.
const DATABASE: &str = "db";

/// The name of the column family.
const FAMILY: &str = "kv";

/// How often the engine is asked whether it has come to rest.
const POLL: Duration = Duration::from_millis(2);

/// Column families come and go by a shared reference.
type Database = OptimisticTransactionDB<MultiThreaded>;

/// RocksDB, for the registry.
pub static KIND: &dyn StoreKind = &RocksDb;

struct RocksDb;

/// What RocksDB said about an action, in one line.
fn failed(action: impl Into<String>, error: &rocksdb::Error) -> StoreError {
    let action = action.into();
    let detail = error.to_string();
    match error.kind() {
        // Another transaction wrote, or may have written, what this one read.
        ErrorKind::Busy | ErrorKind::TryAgain | ErrorKind::TimedOut | ErrorKind::Aborted => {
            StoreError::Conflict {
                store: STORE,
                action,
                detail,
            }
        }
        _ => StoreError::Engine {
            store: STORE,
            action,
            detail,
        },
    }
}

impl StoreKind for RocksDb {
    fn name(&self) -> &'static str {
        STORE
    }

    fn about(&self) -> &'static str {
        "a column family of a RocksDB database: a log-structured merge tree"
    }

    fn settings(&self) -> &'static [Setting] {
        SETTINGS
    }

    fn engine(&self) -> Option<(&'static str, String)> {
        Some(("RocksDB", format!("{ENGINE_VERSION} (LZ4)")))
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
            parallel_writers: true,
            persistent: true,
            evictable: true,
            mapped: false,
            syncs_per_commit: u32::from(options.sync),
            // RocksDB keeps lengths of values in 32 bits.
            largest_value: Some(u64::from(u32::MAX)),
        })
    }

    fn create(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        let store = RocksStore::new(directory, settings)?;
        store.with_database(|database| {
            database
                .create_cf(FAMILY, &store.options.of_family(&store.options.new_cache()))
                .map_err(|e| failed("create the column family", &e))
        })?;
        Ok(Box::new(store))
    }

    fn open(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        // RocksDB would make what is not there.
        let path = directory.join(DATABASE).join("CURRENT");
        std::fs::metadata(&path).map_err(StoreError::io("open", &path))?;
        let store = RocksStore::new(directory, settings)?;
        store.with_database(|database| store.check_keys(database))?;
        Ok(Box::new(store))
    }
}

struct RocksStore {
    directory: PathBuf,
    database: Shared<Database>,
    options: Options,
    form: KeyForm,
}

impl RocksStore {
    fn new(directory: &Path, settings: &Settings) -> Result<Self> {
        Ok(Self {
            directory: directory.to_owned(),
            database: Shared::new(),
            options: Options::from_settings(settings)?,
            form: KeyForm::of(settings),
        })
    }

    fn path(&self) -> PathBuf {
        self.directory.join(DATABASE)
    }

    fn get_database(&self) -> Result<Lent<'_, Database>> {
        self.database.get(|| {
            let path = self.path();
            self.open_database(&path)
                .map_err(|e| failed(format!("open {}", path.display()), &e))
        })
    }

    /// Makes it if it is not there. Every column family has to be named when it is opened.
    fn open_database(&self, path: &Path) -> std::result::Result<Database, rocksdb::Error> {
        let options = self.options.of_database();
        let cache = self.options.new_cache();
        let names = if path.join("CURRENT").exists() {
            DB::list_cf(&options, path)?
        } else {
            vec![rocksdb::DEFAULT_COLUMN_FAMILY_NAME.to_owned()]
        };
        let families = names
            .into_iter()
            .map(|name| ColumnFamilyDescriptor::new(name, self.options.of_family(&cache)));
        Database::open_cf_descriptors(&options, path, families)
    }

    /// Closing writes what has no log to a table; RocksDB keeps an error of that to itself.
    fn give_back(&self, database: Lent<'_, Database>) -> Result<()> {
        self.database.give_back(database, |database| {
            drop(database);
            Ok(())
        })
    }

    /// RocksDB would take keys of either form.
    fn check_keys(&self, database: &Database) -> Result<()> {
        let Some(family) = database.cf_handle(FAMILY) else {
            return Ok(());
        };
        let mut items = database.raw_iterator_cf(&family);
        items.seek_to_first();
        items
            .status()
            .map_err(|e| failed("read the first key", &e))?;
        self.form.check(STORE, &self.path(), items.key())
    }

    fn with_database<T>(&self, work: impl FnOnce(&Database) -> Result<T>) -> Result<T> {
        let database = self.get_database()?;
        let done = work(&database);
        self.give_back(database)?;
        done
    }
}

/// Whether flushes or compactions run or are waiting to.
fn busy(database: &Database) -> Result<bool> {
    for property in [
        properties::NUM_RUNNING_FLUSHES,
        properties::MEM_TABLE_FLUSH_PENDING,
        properties::NUM_RUNNING_COMPACTIONS,
    ] {
        let number = database
            .property_int_value(property)
            .map_err(|e| failed("read a property", &e))?;
        if number.unwrap_or(0) > 0 {
            return Ok(true);
        }
    }
    let Some(family) = database.cf_handle(FAMILY) else {
        return Ok(false);
    };
    let pending = database
        .property_int_value_cf(&family, properties::COMPACTION_PENDING)
        .map_err(|e| failed("read a property", &e))?;
    Ok(pending.unwrap_or(0) > 0)
}

impl Store for RocksStore {
    fn connect(&self) -> Result<Box<dyn Connection + '_>> {
        Ok(Box::new(RocksConnection {
            store: self,
            database: self.get_database()?,
        }))
    }

    fn footprint(&self) -> Result<Footprint> {
        footprint_of_tree(&self.directory)
    }

    /// All of them: which table holds a key changes with every compaction.
    fn data_files(&self, _: &mut dyn Iterator<Item = Key>) -> Vec<PathBuf> {
        files_of_tree(&self.directory).unwrap_or_default()
    }

    /// Writes the memtable to a table, and waits for the compactions that follow from it.
    fn checkpoint(&self) -> Result<()> {
        self.with_database(|database| {
            if let Some(family) = database.cf_handle(FAMILY) {
                database
                    .flush_cf(&family)
                    .map_err(|e| failed("flush the memtable", &e))?;
            }
            while busy(database)? {
                sleep(POLL);
            }
            Ok(())
        })
    }
}

struct RocksConnection<'s> {
    store: &'s RocksStore,
    database: Lent<'s, Database>,
}

impl Connection for RocksConnection<'_> {
    fn session(&mut self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(RocksSession::new(
            &self.database,
            &self.store.options,
            self.store.form,
        )))
    }

    fn effective_settings(&self) -> Result<Settings> {
        let family = self
            .database
            .cf_handle(FAMILY)
            .ok_or_else(|| StoreError::no_table(STORE, "read settings"))?;
        let capacity = self
            .database
            .property_int_value_cf(&family, properties::BLOCK_CACHE_CAPACITY)
            .map_err(|e| failed("read the capacity of the block cache", &e))?;
        options::effective(&self.store.path(), capacity)
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.give_back(self.database)
    }
}
