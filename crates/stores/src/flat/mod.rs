//! The floor: the cheapest conceivable way to keep values on disk.
//!
//! One file of concatenated values that stays open, and their places in memory. It promises
//! nothing that a real store has to (no growth in place, no transactions, no crash safety): it is
//! the lower bound beside which the others are seen.

mod index;
mod session;

use crate::options::StoreOptions as _;
use crate::{
    Connection, Key, Pieces, Result, Session, Store, StoreError, StoreKind, choice, disk, options,
};
use index::Index;
pub(crate) use index::Span;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use index::hostile;
pub(crate) use session::FlatSession;
use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use stowplan_model::{
    Capabilities, Delivery, Durability, DurabilityClaim, Footprint, Operation, Setting, Settings,
};

const STORE: &str = "flat";
const VALUES_FILE: &str = "values.bin";
const INDEX_FILE: &str = "index.bin";

/// One flat file. See the module.
pub(crate) struct Flat;

choice! {
    /// How values are read.
    enum ReadMode {
        Pread = "pread",
        Mmap = "mmap",
    }
}

choice! {
    /// When the file is synced.
    pub(crate) enum Sync {
        Off = "off",
        Commit = "commit",
    }
}

options! {
    /// The settings, typed.
    struct Options {
        read: ReadMode = ReadMode::setting(
            ReadMode::Pread,
            "pread from the open file, or a mapping of it into memory",
        ),
        sync: Sync = Sync::setting(
            Sync::Off,
            "fdatasync: never, or after each transaction that wrote",
        ),
    }
}

impl Options {
    fn syncs(&self) -> bool {
        match self.sync {
            Sync::Off => false,
            Sync::Commit => true,
        }
    }
}

impl StoreKind for Flat {
    fn name(&self) -> &'static str {
        STORE
    }

    fn about(&self) -> &'static str {
        "the floor: one open file of concatenated values, their places in memory"
    }

    fn settings(&self) -> &'static [Setting] {
        Options::SETTINGS
    }

    fn capabilities(&self, settings: &Settings) -> Result<Capabilities> {
        let options = Options::from_settings(settings)?;
        Ok(Capabilities {
            operations: vec![Operation::Read, Operation::Overwrite, Operation::Insert],
            deliveries: match options.read {
                ReadMode::Pread => vec![Delivery::Copy],
                ReadMode::Mmap => vec![Delivery::Copy, Delivery::InPlace],
            },
            transactions: false,
            resizes: false,
            durability: DurabilityClaim {
                class: Durability::None,
                atomic: false,
                delayed: false,
            },
            // Values never share bytes, and inserts find their places one after the other. Whoever
            // reads a value while another thread overwrites it may find both mixed.
            threads: true,
            parallel_writers: true,
            persistent: true,
            evictable: true,
            mapped: options.read == ReadMode::Mmap,
            syncs_per_commit: u32::from(options.syncs()),
            largest_value: None,
        })
    }

    fn create(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        Ok(Box::new(Self::make(directory, settings)?))
    }

    fn open(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        Ok(Box::new(Self::reopen(directory, settings)?))
    }
}

impl Flat {
    /// As [`StoreKind::create`] does.
    pub(crate) fn make(directory: &Path, settings: &Settings) -> Result<FlatStore> {
        let path = directory.join(VALUES_FILE);
        let values = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)
            .map_err(StoreError::io("create", &path))?;
        Ok(FlatStore {
            directory: directory.to_owned(),
            values,
            options: Options::from_settings(settings)?,
            settings: settings.clone(),
            index: RwLock::new(Index::default()),
        })
    }

    /// As [`StoreKind::open`] does.
    pub(crate) fn reopen(directory: &Path, settings: &Settings) -> Result<FlatStore> {
        let path = directory.join(VALUES_FILE);
        let values = File::options()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NOFOLLOW)
            .open(&path)
            .map_err(StoreError::io("open", &path))?;
        let metadata = values.metadata().map_err(StoreError::io("stat", &path))?;
        let index = Index::load(&directory.join(INDEX_FILE))?;
        if index.end() > metadata.len() {
            return Err(StoreError::Engine {
                store: STORE,
                action: format!("open {}", path.display()),
                detail: format!(
                    "it has {} bytes, where its index knows of {}",
                    metadata.len(),
                    index.end()
                ),
            });
        }
        Ok(FlatStore {
            directory: directory.to_owned(),
            values,
            options: Options::from_settings(settings)?,
            settings: settings.clone(),
            index: RwLock::new(index),
        })
    }
}

pub(crate) struct FlatStore {
    directory: PathBuf,
    values: File,
    options: Options,
    settings: Settings,
    index: RwLock<Index>,
}

impl FlatStore {
    /// Every change of the index is a single step, so one that a panic interrupted is whole.
    fn index(&self) -> RwLockReadGuard<'_, Index> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn index_mut(&self) -> RwLockWriteGuard<'_, Index> {
        self.index.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.join(VALUES_FILE)
    }

    /// The open file of values.
    pub(crate) fn values(&self) -> &File {
        &self.values
    }

    /// Its bytes, as far as values were put there.
    pub(crate) fn end(&self) -> u64 {
        self.index().end()
    }

    /// The place of a value.
    pub(crate) fn span(&self, key: Key) -> Option<Span> {
        self.index().get(key)
    }

    /// Writes the index beside the values, if it changed since.
    fn save_index(&self) -> Result<()> {
        self.index_mut().save(&self.directory.join(INDEX_FILE))
    }
}

impl Store for FlatStore {
    fn connect(&self) -> Result<Box<dyn Connection + '_>> {
        Ok(Box::new(FlatConnection { store: self }))
    }

    fn footprint(&self) -> Result<Footprint> {
        disk::footprint_of_tree(&self.directory)
    }

    fn data_files(&self, _: &mut dyn Iterator<Item = Key>) -> Vec<PathBuf> {
        vec![self.path()]
    }

    fn pieces(&self, keys: &mut dyn Iterator<Item = Key>) -> Result<Option<Vec<Pieces>>> {
        let index = self.index();
        let piece = |key| {
            let span = index.get(key)?;
            Some(Pieces::one(self.path(), span.offset..span.end()))
        };
        Ok(Some(keys.filter_map(piece).collect()))
    }

    fn checkpoint(&self) -> Result<()> {
        self.save_index()
    }
}

struct FlatConnection<'s> {
    store: &'s FlatStore,
}

impl Connection for FlatConnection<'_> {
    fn session(&mut self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(FlatSession::of(self.store)?))
    }

    /// All settings are this program's own doing, so they are as asked.
    fn effective_settings(&self) -> Result<Settings> {
        Ok(self.store.settings.clone())
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.save_index()
    }
}

#[cfg(test)]
mod tests;
