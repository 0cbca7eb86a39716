//! One file per value, and the name of each file in an SQLite database.
//!
//! This is how applications that keep large values out of their database do it, and what Gray's
//! "To BLOB or Not To BLOB" and SQLite's "Internal Versus External BLOBs" compare: a read looks
//! the name up by the key and then reads the file. Files are read, replaced and laid out as the
//! store `files` does, below `blobs/`; the database is opened as the store `sqlite` does. An
//! overwrite changes the file alone.

mod session;
mod store;
mod turns;

use crate::files::name::Layout;
use crate::files::{
    self, Fsync, Memory, Opening, Options as FileOptions, ReadMode, Sizing, WriteMode,
};
use crate::options::StoreOptions as _;
use crate::sqlite::{self, options as database};
use crate::{Result, Store, StoreError, StoreKind, options};
use database::{Journal, Options as DatabaseOptions, Pragmas, Statements, Synchronous};
use std::path::Path;
use store::IndexedStore;
use stowplan_model::{Capabilities, Delivery, DurabilityClaim, Setting, Settings};

const STORE: &str = "files-indexed";

/// The name of the database below a store's directory.
const INDEX_FILE: &str = "index.db";

/// The directory below a store's directory that holds the files.
const BLOBS: &str = "blobs";

/// The table of names.
const TABLE: &str = "kv(k INTEGER PRIMARY KEY, name TEXT NOT NULL)";

/// Files whose names are in a database. See the module.
pub(crate) struct FilesIndexed;

options! {
    /// The settings of both parts, as they are given.
    struct Given {
        layout: Layout = files::LAYOUT,
        open: Opening = files::OPEN_NAMED,
        stat: Sizing = files::STAT,
        read: ReadMode = files::READ,
        buffer: Memory = files::BUFFER,
        write: WriteMode = files::WRITE,
        fsync: Fsync = files::FSYNC,
        page_size: u64 = database::PAGE_SIZE,
        cache: u64 = database::CACHE,
        mmap: u64 = database::MMAP,
        journal: Journal = database::JOURNAL,
        synchronous: Synchronous = database::SYNCHRONOUS,
        statement: Statements = database::STATEMENT,
        busy_timeout: u64 = database::BUSY_TIMEOUT,
    }
}

/// The settings of each part.
struct Options {
    files: FileOptions,
    database: DatabaseOptions,
}

impl Options {
    fn from_settings(settings: &Settings) -> Result<Self> {
        let given = Given::from_settings(settings)?;
        Self::of(given).map_err(ours)
    }

    fn of(given: Given) -> Result<Self> {
        let files = FileOptions {
            layout: given.layout,
            names: false,
            open: given.open,
            stat: given.stat,
            read: given.read,
            buffer: given.buffer,
            write: given.write,
            fsync: given.fsync,
        };
        files.go_together()?;
        let database = DatabaseOptions::of_part(|pragmas| Pragmas {
            page_size: given.page_size,
            cache: given.cache,
            mmap: given.mmap,
            journal: given.journal,
            synchronous: given.synchronous,
            statement: given.statement,
            busy_timeout: given.busy_timeout,
            ..pragmas
        })?;
        Ok(Self {
            files,
            database: database.with_table(TABLE),
        })
    }

    /// An overwrite changes the file alone, and replaces it as `files` does. Yet a value is lost
    /// with the row that leads to it: what the database may lose of an earlier insert, the
    /// overwrite is not safe from either.
    ///
    /// Unless both keep what they acknowledge, a row may be there without its file: a delete that the
    /// database takes back leads to a file whose name is gone, and the row of an insert to a file whose
    /// name was not synced (`stowplan crash`, model `strict`).
    fn durability(&self) -> DurabilityClaim {
        let files = self.files.durability();
        DurabilityClaim {
            class: files.class.of_parts(self.database.durability().class),
            atomic: files.atomic,
            delayed: false,
        }
    }
}

/// An error of one of the parts, under this store's name.
fn ours(error: StoreError) -> StoreError {
    error.of(STORE)
}

impl StoreKind for FilesIndexed {
    fn name(&self) -> &'static str {
        STORE
    }

    fn about(&self) -> &'static str {
        "one file per value, whose name is looked up in an SQLite database"
    }

    fn settings(&self) -> &'static [Setting] {
        Given::SETTINGS
    }

    fn engine(&self) -> Option<(&'static str, String)> {
        Some(sqlite::engine())
    }

    fn cache_per_connection(&self) -> bool {
        true
    }

    /// `transactions` is false: `begin` and `commit` are the database's, so look-ups share a
    /// transaction, but no file is part of one.
    fn capabilities(&self, settings: &Settings) -> Result<Capabilities> {
        let options = Options::from_settings(settings)?;
        Ok(Capabilities {
            operations: sqlite::OPERATIONS.to_vec(),
            deliveries: vec![Delivery::Copy],
            transactions: false,
            resizes: true,
            durability: options.durability(),
            threads: options.database.undoes(),
            parallel_writers: false,
            persistent: true,
            evictable: true,
            mapped: false,
            syncs_per_commit: options.files.syncs_per_overwrite(),
            largest_value: None,
        })
    }

    fn create(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        let blobs = directory.join(BLOBS);
        std::fs::create_dir(&blobs).map_err(StoreError::io("make directory", &blobs))?;
        let store = IndexedStore::new(directory, settings)?;
        store.create_index()?;
        Ok(Box::new(store))
    }

    fn open(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        let store = IndexedStore::new(directory, settings)?;
        store.check_index()?;
        Ok(Box::new(store))
    }
}

#[cfg(test)]
mod tests;
