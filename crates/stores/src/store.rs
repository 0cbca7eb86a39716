//! The traits that every store implements, and the kinds of them.

use crate::{Buffer, Key, Result, StoreError};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use stowplan_model::{
    Capabilities, Durability, DurabilityClaim, Footprint, Operation, Rung, Setting, Settings,
    Workload,
};

/// Opens a store, or makes it if it is to be new.
type Open = dyn Fn(&Path, &Settings, bool) -> Result<Box<dyn Store>> + Sync;

/// A kind of store, which the registry lists: a table of its parts. Of an engine it is made by
/// [`Kind::of_engine`], of a server's store by [`Kind::of_server`].
#[derive(Clone, Copy)]
pub struct Kind {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) settings: &'static [Setting],
    pub(crate) engine: Option<fn() -> (&'static str, String)>,
    pub(crate) cache_per_connection: bool,
    pub(crate) keeps_values: bool,
    pub(crate) capabilities: &'static (dyn Fn(&Settings) -> Result<Capabilities> + Sync),
    pub(crate) open: &'static Open,
    pub(crate) ladder: fn(&Settings, &Workload) -> Vec<Rung>,
    /// Removes what lies elsewhere, where something does.
    pub(crate) remove_below: Option<fn(&Path, &Settings) -> Result<()>>,
}

impl Kind {
    /// Makes a kind of what every kind says; the rest is as most have it.
    #[must_use]
    pub const fn new(
        (name, about, settings): (&'static str, &'static str, &'static [Setting]),
        capabilities: &'static (dyn Fn(&Settings) -> Result<Capabilities> + Sync),
        open: &'static Open,
    ) -> Self {
        Self {
            name,
            about,
            settings,
            engine: None,
            cache_per_connection: false,
            keeps_values: true,
            capabilities,
            open,
            ladder: |_, _| Vec::new(),
            remove_below: None,
        }
    }

    /// Its name in store specs.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What it is, in a sentence.
    #[must_use]
    pub fn about(&self) -> &'static str {
        self.about
    }

    /// Its settings, from which parsing, help and validation follow.
    #[must_use]
    pub fn settings(&self) -> &'static [Setting] {
        self.settings
    }

    /// The engine's name, version and build options, if there is an engine.
    #[must_use]
    pub fn engine(&self) -> Option<(&'static str, String)> {
        self.engine.map(|engine| engine())
    }

    /// Whether each connection has a `cache` of its own: several share the memory budget.
    #[must_use]
    pub fn cache_per_connection(&self) -> bool {
        self.cache_per_connection
    }

    /// Whether its data lies with a server and not in its place.
    #[must_use]
    pub fn lies_elsewhere(&self) -> bool {
        self.remove_below.is_some()
    }

    /// Whether an operation hands out or keeps the values. Only a store that measures a part of
    /// what others do does not: nobody can check what it read or wrote, and it can only be a part
    /// of a ladder.
    #[must_use]
    pub fn keeps_values(&self) -> bool {
        self.keeps_values
    }

    /// The cells that take an operation of this workload on a store of these settings apart, from
    /// the bottom up: each does one step more than the one below it, and the last one is that
    /// store under that workload. Empty where nobody has described the steps.
    #[must_use]
    pub fn ladder(&self, settings: &Settings, workload: &Workload) -> Vec<Rung> {
        (self.ladder)(settings, workload)
    }

    /// What it can do with these settings.
    ///
    /// # Errors
    /// Settings that exclude each other; the message names them and what would do.
    pub fn capabilities(&self, settings: &Settings) -> Result<Capabilities> {
        self.ours((self.capabilities)(settings))
    }

    /// Makes an empty store in `directory`, which exists and is empty.
    ///
    /// # Errors
    /// The engine or the file system refuses.
    pub fn create(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        self.ours((self.open)(directory, settings, true))
    }

    /// Opens what [`Self::create`] made, perhaps with other settings that do not shape the
    /// layout.
    ///
    /// # Errors
    /// There is no such store in `directory`, or the engine or the file system refuses.
    pub fn open(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        self.ours((self.open)(directory, settings, false))
    }

    /// Removes what lies elsewhere (on a server) of stores that were made in or below `directory`.
    ///
    /// # Errors
    /// The server refuses.
    pub fn remove_below(&self, directory: &Path, settings: &Settings) -> Result<()> {
        let removed = self.remove_below.map(|remove| remove(directory, settings));
        self.ours(removed.unwrap_or(Ok(())))
    }

    fn ours<T>(&self, outcome: Result<T>) -> Result<T> {
        outcome.map_err(|error| error.of(self.name))
    }
}

/// What most stores can do that have no tables.
pub(crate) const OPERATIONS: [Operation; 5] = [
    Operation::Read,
    Operation::Overwrite,
    Operation::Insert,
    Operation::Delete,
    Operation::Scan,
];

/// Makes a claim of a store that delays nothing.
#[must_use]
pub fn claim(class: Durability, atomic: bool) -> DurabilityClaim {
    DurabilityClaim {
        class,
        atomic,
        delayed: false,
    }
}

/// An opened store. Threads share it; each has a session of its own.
pub trait Store: Send + Sync {
    /// A session for one thread, with what the engine wants owned by one. A store that is not persistent has
    /// a single one, and ends with it.
    ///
    /// # Errors
    /// The engine or the file system refuses.
    fn connect(&self) -> Result<Box<dyn Session + '_>>;

    /// Closes what sessions shared; errors that only show at closing come out here.
    ///
    /// # Errors
    /// The engine or the file system refuses.
    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }

    /// Bytes on disk, after whatever the store calls a checkpoint; none where nothing lies there.
    ///
    /// # Errors
    /// The engine or the file system refuses.
    fn footprint(&self) -> Result<Footprint> {
        Ok(Footprint::default())
    }

    /// The files that hold the data of these keys: what has to leave the page cache before a
    /// cold read of them. A store with one file returns that file.
    fn data_files(&self, keys: &mut dyn Iterator<Item = Key>) -> Vec<PathBuf> {
        let _ = keys;
        Vec::new()
    }

    /// Brings written data to its resting place (checkpoint, compaction), without ending
    /// sessions. Does not sync more than the store itself would. Where data lies at rest at once,
    /// nothing is to be done.
    ///
    /// # Errors
    /// The engine or the file system refuses.
    fn checkpoint(&self) -> Result<()> {
        Ok(())
    }
}

/// What a transaction will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Read only.
    Read,
    /// Read and write.
    Write,
}

/// Whether a key was there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// It was, and its value has this many bytes.
    Bytes(usize),
    /// It was not.
    Missing,
}

/// Shares of the bytes of leaf pages that are in use, 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PageFill {
    /// Of the table.
    pub table: Option<f64>,
    /// Of the indexes beside it, all together; nothing where there is none.
    pub index: Option<f64>,
}

/// Is shown each value of a scan.
pub type Visit<'v> = dyn FnMut(Key, &[u8]) + 'v;

/// What an engine counts about itself, by name: events, bytes or pieces, as the name says.
pub type Counters = BTreeMap<String, u64>;

/// Operations on a store. Outside `begin` … `commit` each operation is a transaction of its own; dropped, it
/// undoes what is open.
pub trait Session {
    /// Settings as the engine itself reports them, under the names of [`Kind::settings`]: none that are this
    /// program's own doing.
    ///
    /// # Errors
    /// The engine refuses.
    fn effective_settings(&self) -> Result<Settings> {
        Ok(Settings::default())
    }

    /// Closes it; errors that only show at closing come out here.
    ///
    /// # Errors
    /// The engine or the file system refuses.
    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }

    /// Begins a transaction around the operations up to `commit` or `rollback`. A store without
    /// transactions does nothing.
    ///
    /// # Errors
    /// The engine refuses, for example because another connection writes.
    fn begin(&mut self, access: Access) -> Result<()> {
        let _ = access;
        Ok(())
    }

    /// Commits; when it returns, the store's durability claim holds.
    ///
    /// # Errors
    /// The engine or the file system refuses.
    fn commit(&mut self) -> Result<()> {
        Ok(())
    }

    /// Undoes everything since `begin`.
    ///
    /// # Errors
    /// The store has no transactions, or the engine refuses.
    fn rollback(&mut self) -> Result<()> {
        Err(lacks("roll back", "it has no transactions"))
    }

    /// Copies the value into the caller's buffer.
    ///
    /// # Errors
    /// The engine or the file system refuses, or delivers less than it announced.
    fn read_into(&mut self, key: Key, buffer: &mut Buffer) -> Result<Found>;

    /// Lends the value where it lies.
    ///
    /// # Errors
    /// As `read_into`; also a store that cannot lend.
    fn read_in_place(&mut self, key: Key, visit: &mut dyn FnMut(&[u8])) -> Result<Found> {
        let _ = (key, visit);
        let why = "it reads into a buffer; use delivery \"copy\"";
        Err(lacks("deliver in place", why))
    }

    /// Adds a value.
    ///
    /// # Errors
    /// The key exists, or the engine or the file system refuses.
    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()>;

    /// Adds several values: by one statement where the store has such a thing, and outside a
    /// transaction with one commit for all of them where it has transactions.
    ///
    /// # Errors
    /// As [`Self::insert`]. Then some of the values may be there, but outside a transaction in a
    /// store that has transactions none is.
    fn insert_many(&mut self, rows: &[(Key, &[u8])]) -> Result<()> {
        rows.iter()
            .try_for_each(|(key, value)| self.insert(*key, value))
    }

    /// Adds the values of a dataset within a transaction, as fast as the store can load.
    ///
    /// # Errors
    /// As [`Self::insert`].
    fn load(&mut self, rows: &[(Key, &[u8])]) -> Result<()> {
        rows.iter()
            .try_for_each(|(key, value)| self.insert(*key, value))
    }

    /// Share of the bytes of leaf pages that are in use; nothing where the engine does not tell. Reads the
    /// whole store.
    ///
    /// # Errors
    /// The engine refuses.
    fn page_fill(&mut self) -> Result<PageFill> {
        Ok(PageFill::default())
    }

    /// Has the engine check everything that it holds; nothing is checked where it cannot.
    ///
    /// # Errors
    /// Something is damaged: what the engine says of it.
    fn check_integrity(&mut self) -> Result<()> {
        Ok(())
    }

    /// Replaces a value; a missing key stays missing.
    ///
    /// # Errors
    /// The engine or the file system refuses; a changed size where the store cannot resize.
    fn overwrite(&mut self, key: Key, value: &[u8]) -> Result<Found>;

    /// Removes a value; true if it was there. How large it was is not told: most engines would
    /// have to look it up first.
    ///
    /// # Errors
    /// The engine or the file system refuses.
    fn delete(&mut self, key: Key) -> Result<bool> {
        let _ = key;
        Err(lacks("delete", "values stay where they are"))
    }

    /// Visits up to `limit` values with keys from `from` on, by rising key, and returns how
    /// many there were.
    ///
    /// # Errors
    /// The engine or the file system refuses.
    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        let _ = (from, limit, visit);
        Err(lacks("scan", "nothing tells it which keys come next"))
    }

    /// Makes an empty table where there is none, as a transaction of its own. The other operations
    /// of this session need not work afterwards.
    ///
    /// # Errors
    /// The engine refuses, or has no such thing.
    fn create_table(&mut self) -> Result<()> {
        Err(lacks("create a table", "it has none"))
    }

    /// Removes the table with everything in it, as a transaction of its own. The other operations
    /// of this session need not work afterwards.
    ///
    /// # Errors
    /// The engine refuses, or has no such thing.
    fn drop_table(&mut self) -> Result<()> {
        Err(lacks("drop a table", "it has none"))
    }

    /// What the engine has counted for this session since it was opened; empty if it counts
    /// nothing. Costs time, so it is read outside the timed window.
    ///
    /// # Errors
    /// The engine refuses.
    fn counters(&mut self) -> Result<Counters> {
        Ok(Counters::default())
    }
}

#[cold]
fn lacks(what: &str, why: &str) -> StoreError {
    StoreError::unsupported(what, why)
}
