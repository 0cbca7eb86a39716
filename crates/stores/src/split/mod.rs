//! Small values in an SQLite database, larger ones in files.
//!
//! A value of at most `inline_limit` bytes is a row; a larger one is a file below `files/`. A read looks for
//! the row first, and for the file where there is none: that is how a program reads an archive of which
//! large files were left outside (`stowplan pack --inline-limit`). Rows are as those of the store `sqlite`,
//! files as those of the store `files`.
//!
//! An overwrite by a value of the other kind moves it. In between it is in both places, and the row counts:
//! a large value becomes a row first, and its file goes then; the file of a small one is whole before its row
//! goes. So a process that dies leaves the old value or the new one. Files are part of no transaction.

mod session;
mod store;
#[cfg(test)]
mod tests;

use crate::files::name::Layout;
use crate::files::{self, Fsync, Options as FileOptions, WriteMode};
use crate::options::{StoreOptions as _, bytes};
use crate::sqlite::{self, options as database};
use crate::{KEY_FORM, KeyForm, Result, Store, StoreError, StoreKind, names, options};
use database::{Journal, Options as DatabaseOptions, Pragmas, Synchronous};
use std::path::Path;
use store::SplitStore;
use stowplan_model::{Capabilities, Delivery, DurabilityClaim, Operation, Setting, Settings};

const STORE: &str = "split";

/// The name of the database below a store's directory.
const DATABASE_FILE: &str = "kv.db";

/// The directory below a store's directory that holds the files.
const FILES: &str = "files";

/// Small values in a database, large ones in files. See the module.
pub(crate) struct Split;

options! {
    /// The settings of both parts, as they are given.
    struct Given {
        inline_limit: u64 = bytes(
            0,
            16 << 20,
            "64KiB",
            "the largest value that lies in the database; larger ones lie in files",
        )
        .shapes_layout(),
        layout: Layout = files::LAYOUT,
        names: bool = names::NAMES,
        write: WriteMode = files::WRITE,
        fsync: Fsync = files::FSYNC,
        page_size: u64 = database::PAGE_SIZE,
        cache: u64 = database::CACHE,
        mmap: u64 = database::MMAP,
        journal: Journal = database::JOURNAL,
        synchronous: Synchronous = database::SYNCHRONOUS,
        busy_timeout: u64 = database::BUSY_TIMEOUT,
        key: KeyForm = KEY_FORM,
    }
}

/// The settings of each part.
struct Options {
    inline_limit: u64,
    files: FileOptions,
    database: DatabaseOptions,
}

impl Options {
    fn from_settings(settings: &Settings) -> Result<Self> {
        Self::of(Given::from_settings(settings)?).map_err(ours)
    }

    fn of(given: Given) -> Result<Self> {
        let files = FileOptions {
            layout: given.layout,
            names: given.names,
            write: given.write,
            fsync: given.fsync,
            ..FileOptions::from_settings(&Settings::default())?
        };
        files.go_together()?;
        let database = DatabaseOptions::of_part(|pragmas| Pragmas {
            page_size: given.page_size,
            cache: given.cache,
            mmap: given.mmap,
            journal: given.journal,
            synchronous: given.synchronous,
            busy_timeout: given.busy_timeout,
            key: given.key,
            names: given.names,
            ..pragmas
        })?;
        Ok(Self {
            inline_limit: given.inline_limit,
            files,
            database,
        })
    }

    fn durability(&self) -> DurabilityClaim {
        let (files, database) = (self.files.durability(), self.database.durability());
        DurabilityClaim {
            class: files.class.of_parts(database.class),
            atomic: files.atomic && database.atomic,
            delayed: false,
        }
    }
}

/// An error of one of the parts, under this store's name.
fn ours(error: StoreError) -> StoreError {
    error.of(STORE)
}

impl StoreKind for Split {
    fn name(&self) -> &'static str {
        STORE
    }

    fn about(&self) -> &'static str {
        "small values in an SQLite database, larger ones in files"
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

    /// `threads` is false: between a row and a file another thread would see neither, or both.
    fn capabilities(&self, settings: &Settings) -> Result<Capabilities> {
        let options = Options::from_settings(settings)?;
        let (files, database) = (&options.files, &options.database);
        Ok(Capabilities {
            operations: vec![
                Operation::Read,
                Operation::Overwrite,
                Operation::Insert,
                Operation::Delete,
            ],
            deliveries: vec![Delivery::Copy],
            transactions: false,
            resizes: true,
            durability: options.durability(),
            threads: false,
            parallel_writers: false,
            persistent: true,
            evictable: true,
            mapped: settings.number("mmap") > 0,
            syncs_per_commit: files.syncs_per_overwrite().min(database.syncs_per_commit()),
            largest_value: None,
        })
    }

    fn create(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        let files = directory.join(FILES);
        std::fs::create_dir(&files).map_err(StoreError::io("make directory", &files))?;
        let store = SplitStore::new(directory, settings)?;
        store.create_database()?;
        Ok(Box::new(store))
    }

    fn open(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        let store = SplitStore::new(directory, settings)?;
        store.check_database()?;
        Ok(Box::new(store))
    }
}
