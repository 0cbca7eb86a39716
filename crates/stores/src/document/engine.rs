//! The document that is open: its values in memory, and its file.

use super::form::{self, Held, Rows};
use super::{Options, STORE};
use crate::files::Fsync;
use crate::kv::{Engine, Visit, capabilities, shown};
use crate::{Access, Found, Key, Result, StoreError, disk};
use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use stowplan_model::Capabilities;

/// The directory below a store's: it is there as long as the store is, with a table or without.
const DIRECTORY: &str = "document";

/// The document, and the name under which a new one is written. One writes at a time, so what a crash
/// has left there is nobody's.
const FILE: &str = "values";
const TEMPORARY: &str = "values.new";

pub(crate) struct Document {
    state: RwLock<State>,
    options: Options,
    place: PathBuf,
    directory: File,
}

/// What changes.
pub(crate) struct State {
    /// Nothing once the table was dropped.
    rows: Option<Rows>,
    /// The document that is written, in memory that is used again.
    written: Vec<u8>,
}

impl Document {
    /// The document in a directory that is there.
    fn at(place: PathBuf, options: Options, rows: Option<Rows>) -> Result<Self> {
        let directory = File::open(&place).map_err(StoreError::io("open", &place))?;
        let state = State {
            rows,
            written: Vec::new(),
        };
        Ok(Self {
            state: RwLock::new(state),
            options,
            place,
            directory,
        })
    }

    /// Puts the values of `state` in the place of what the file has; `renamed` is told once they are
    /// there, perhaps not to stay.
    fn publish(&self, state: &mut State, renamed: impl FnOnce(), fsync: Fsync) -> Result<()> {
        let State { rows, written } = state;
        let rows = rows.as_ref().ok_or_else(|| no_table("write it"))?;
        form::write(self.options.format, rows, written)
            .map_err(|error| StoreError::engine("write it down", error.to_string()))?;
        let temporary = self.place.join(TEMPORARY);
        let replaced = write_file(&temporary, written, fsync).and_then(|()| {
            fs::rename(&temporary, self.place.join(FILE))
                .map_err(StoreError::io("rename", &temporary))
        });
        if replaced.is_err() {
            // The error says more than one from here would.
            let _ = fs::remove_file(&temporary);
        }
        replaced?;
        renamed();
        self.names_changed(fsync)
    }

    /// Makes the names in the directory last, if the settings say so.
    fn names_changed(&self, fsync: Fsync) -> Result<()> {
        match fsync {
            Fsync::Off | Fsync::File => Ok(()),
            Fsync::Directory => sync(&self.directory, &self.place),
        }
    }
}

fn write_file(path: &Path, bytes: &[u8], fsync: Fsync) -> Result<()> {
    let mut file = File::create(path).map_err(StoreError::io("create", path))?;
    file.write_all(bytes)
        .map_err(StoreError::io("write", path))?;
    match fsync {
        Fsync::Off => Ok(()),
        Fsync::File | Fsync::Directory => sync(&file, path),
    }
}

fn sync(file: &File, path: &Path) -> Result<()> {
    file.sync_all().map_err(StoreError::io("sync", path))
}

#[cold]
fn no_table(what: &str) -> StoreError {
    StoreError::no_table(what)
}

impl Engine for Document {
    const STORE: &'static str = STORE;
    const ABOUT: &'static str = "one file with every value, kept in memory and rewritten whole";
    type Options = Options;
    type Table<'e> = ();
    type Txn<'e> = Transaction<'e>;

    fn version() -> (&'static str, String) {
        (STORE, "1".to_owned())
    }

    fn capabilities(options: &Options) -> Capabilities {
        Capabilities {
            // What is read lies in memory as soon as it is open.
            evictable: false,
            ..capabilities::<Self>(options.durability(), options.fsync.syncs())
        }
    }

    fn open(directory: &Path, options: &Options, new: bool) -> Result<Self> {
        let place = directory.join(DIRECTORY);
        if new {
            fs::create_dir(&place).map_err(StoreError::io("create", &place))?;
            let document = Self::at(place, *options, Some(Rows::new()))?;
            // That there is an empty one, every promise rests on.
            document.publish(&mut document.state.write(), || (), Fsync::Directory)?;
            let above = File::open(directory).map_err(StoreError::io("open", directory))?;
            sync(&above, directory)?;
            return Ok(document);
        }
        let path = place.join(FILE);
        let mut rows = None;
        if fs::symlink_metadata(&path).is_ok() {
            disk::expect_file(&path)?;
            let bytes = fs::read(&path).map_err(StoreError::io("read", &path))?;
            let damaged = |why| StoreError::engine(format!("open {}", path.display()), why);
            rows = Some(form::read(options.format, &bytes).map_err(damaged)?);
        }
        Self::at(place, *options, rows)
    }

    fn table(&self, _: &Options) -> Result<Option<()>> {
        Ok(self.state.read().rows.as_ref().map(|_| ()))
    }

    fn begin(&self, (): &mut (), access: Access) -> Result<Transaction<'_>> {
        let transaction = match access {
            Access::Read => Transaction::Read(self.state.read()),
            Access::Write => Transaction::Write(Writing {
                document: self,
                state: self.state.write(),
                undo: BTreeMap::new(),
            }),
        };
        // Another connection may have dropped it.
        transaction.rows().map(|_| ())?;
        Ok(transaction)
    }

    /// Once the new document has its name, what is in memory is what is in the file.
    fn commit(transaction: Transaction<'_>) -> Result<()> {
        match transaction {
            Transaction::Write(mut writing) if !writing.undo.is_empty() => {
                let (document, undo) = (writing.document, &mut writing.undo);
                let renamed = || undo.clear();
                document.publish(&mut writing.state, renamed, document.options.fsync)
            }
            _ => Ok(()),
        }
    }

    /// A commit leaves everything where it stays.
    fn needs_checkpoint(_: &Options, _: bool) -> bool {
        false
    }

    fn create_table(&self, _: &Options) -> Result<()> {
        let mut state = self.state.write();
        if state.rows.is_some() {
            let why = "it has one already";
            return Err(StoreError::engine("create the table", why));
        }
        state.rows = Some(Rows::new());
        let mut there = false;
        let made = self.publish(&mut state, || there = true, self.options.fsync);
        if !there {
            state.rows = None;
        }
        made
    }

    fn drop_table(&self, table: &mut Option<()>, _: bool) -> Result<()> {
        *table = None;
        let mut state = self.state.write();
        if state.rows.is_none() {
            return Err(no_table("drop it"));
        }
        let path = self.place.join(FILE);
        fs::remove_file(&path).map_err(StoreError::io("delete", &path))?;
        state.rows = None;
        self.names_changed(self.options.fsync)
    }
}

pub(crate) enum Transaction<'e> {
    Read(RwLockReadGuard<'e, State>),
    Write(Writing<'e>),
}

/// The transaction that writes. Dropped, it undoes what it has changed in memory.
pub(crate) struct Writing<'e> {
    document: &'e Document,
    state: RwLockWriteGuard<'e, State>,
    /// What was under each key that has changed.
    undo: BTreeMap<u64, Option<Held>>,
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        let Some(rows) = &mut self.state.rows else {
            return;
        };
        for (key, before) in std::mem::take(&mut self.undo) {
            match before {
                Some(value) => rows.insert(key, value),
                None => rows.remove(&key),
            };
        }
    }
}

impl Transaction<'_> {
    fn rows(&self) -> Result<&Rows> {
        let state = match self {
            Self::Read(state) => state,
            Self::Write(writing) => &*writing.state,
        };
        state.rows.as_ref().ok_or_else(|| no_table("use it"))
    }

    /// Puts a value under a key that is there, or not, as is said, or none; says whether it was so.
    fn change(&mut self, key: Key, value: Option<&[u8]>, there: bool) -> Result<bool> {
        if self.rows()?.contains_key(&key.0) != there {
            return Ok(false);
        }
        let Self::Write(Writing {
            document,
            state,
            undo,
        }) = self
        else {
            return Ok(false);
        };
        let rows = state.rows.as_mut().ok_or_else(|| no_table("change it"))?;
        let before = match value {
            Some(value) => rows.insert(key.0, Held::of(document.options.format, value)),
            None => rows.remove(&key.0),
        };
        undo.entry(key.0).or_insert(before);
        Ok(true)
    }
}

impl crate::kv::Rows for Transaction<'_> {
    fn get(&mut self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        shown(self.rows()?.get(&key.0).map(Held::bytes), show)
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        let rows = self.rows()?.range(from.0..).take(limit);
        Ok(rows
            .map(|(key, value)| visit(Key(*key), value.bytes()))
            .count())
    }

    fn put(&mut self, key: Key, value: &[u8], there: bool) -> Result<bool> {
        self.change(key, Some(value), there)
    }

    fn remove(&mut self, key: Key) -> Result<bool> {
        self.change(key, None, true)
    }
}
