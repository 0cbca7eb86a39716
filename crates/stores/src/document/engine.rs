//! The document that is open: its values in memory, and its file.

use super::form::{self, Held, Rows};
use super::{Options, STORE};
use crate::files::Fsync;
use crate::kv::{Changing, Engine, LookThenPut, Reading, Visit, capabilities, shown};
use crate::options::OptionValue as _;
use crate::{Found, Key, Lent, Result, StoreError, disk};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use stowplan_model::{Capabilities, Settings};

/// The directory below a store's: it is there as long as the store is, with a table or without.
const DIRECTORY: &str = "document";

/// The document, and the name under which a new one is written. One writes at a time, so what a crash
/// has left there is nobody's.
const FILE: &str = "values";
const TEMPORARY: &str = "values.new";

pub(super) struct Document {
    state: RwLock<State>,
    options: Options,
    place: PathBuf,
    directory: File,
}

/// What changes.
pub(super) struct State {
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

    /// Values change back where a transaction does not end, so that what a panic left is sound.
    fn read_state(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_state(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts the values of `state` in the place of what the file has; `renamed` is told once they are
    /// there, perhaps not to stay.
    fn publish(&self, state: &mut State, renamed: impl FnOnce(), fsync: Fsync) -> Result<()> {
        let State { rows, written } = state;
        let rows = rows.as_ref().ok_or_else(|| no_table("write it"))?;
        form::write(self.options.format, rows, written)
            .map_err(|error| StoreError::engine(STORE, "write it down", error.to_string()))?;
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
    StoreError::no_table(STORE, what)
}

impl Engine for Document {
    const STORE: &'static str = STORE;
    const ABOUT: &'static str =
        "one file with every value (JSON, or a compact form), kept in memory and rewritten whole";
    type Options = Options;
    type Handle<'e> = ();
    type Read<'e> = RwLockReadGuard<'e, State>;
    type Write<'e> = Writing<'e>;

    fn version() -> (&'static str, String) {
        (STORE, "1".to_owned())
    }

    fn capabilities(options: &Options) -> Capabilities {
        Capabilities {
            // What is read lies in memory as soon as it is open.
            evictable: false,
            ..capabilities::<Self>(options.durability(), options.syncs_per_commit())
        }
    }

    fn create(directory: &Path, options: &Options) -> Result<Self> {
        let place = directory.join(DIRECTORY);
        fs::create_dir(&place).map_err(StoreError::io("create", &place))?;
        let document = Self::at(place, *options, Some(Rows::new()))?;
        // That there is an empty one, every promise rests on.
        document.publish(&mut document.write_state(), || (), Fsync::Directory)?;
        let above = File::open(directory).map_err(StoreError::io("open", directory))?;
        sync(&above, directory)?;
        Ok(document)
    }

    fn open(directory: &Path, options: &Options) -> Result<Self> {
        let place = directory.join(DIRECTORY);
        let path = place.join(FILE);
        let mut document = Self::at(place, *options, None)?;
        if fs::symlink_metadata(&path).is_ok() {
            disk::expect_file(STORE, &path)?;
            let bytes = fs::read(&path).map_err(StoreError::io("read", &path))?;
            let rows = form::read(options.format, &bytes).map_err(|why| {
                StoreError::engine(STORE, format!("open {}", path.display()), why)
            })?;
            let state = document.state.get_mut();
            state.unwrap_or_else(PoisonError::into_inner).rows = Some(rows);
        }
        Ok(document)
    }

    fn handle<'e>(&'e self, _: &'e Options) -> Result<()> {
        Ok(())
    }

    fn read<'e>(&'e self, _: &mut ()) -> Result<Self::Read<'e>> {
        let state = self.read_state();
        match state.rows {
            Some(_) => Ok(state),
            None => Err(no_table("read it")),
        }
    }

    fn write<'e>(&'e self, _: &mut ()) -> Result<Writing<'e>> {
        let state = self.write_state();
        if state.rows.is_none() {
            return Err(no_table("change it"));
        }
        Ok(Writing {
            document: self,
            state,
            undo: BTreeMap::new(),
        })
    }

    /// All of them are this program's own doing, so they are as asked.
    fn effective_settings(&self, _: &Path, options: &Options) -> Result<Settings> {
        let mut effective = Settings::default();
        effective.set("format", options.format.value());
        effective.set("fsync", options.fsync.value());
        Ok(effective)
    }

    /// A commit leaves everything where it stays.
    fn needs_checkpoint(_: &Options, _: bool) -> bool {
        false
    }

    fn create_table(&self, (): &mut ()) -> Result<()> {
        let mut state = self.write_state();
        if state.rows.is_some() {
            return Err(StoreError::engine(
                STORE,
                "create the table",
                "it has one already".to_owned(),
            ));
        }
        state.rows = Some(Rows::new());
        let mut there = false;
        let made = self.publish(&mut state, || there = true, self.options.fsync);
        if !there {
            state.rows = None;
        }
        made
    }

    fn drop_table<'e>(engine: &'e Lent<'e, Self>, (): &mut ()) -> Result<()> {
        let mut state = engine.write_state();
        if state.rows.is_none() {
            return Err(no_table("drop it"));
        }
        let path = engine.place.join(FILE);
        fs::remove_file(&path).map_err(StoreError::io("delete", &path))?;
        state.rows = None;
        engine.names_changed(engine.options.fsync)
    }
}

fn get(rows: Option<&Rows>, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
    let value = rows.and_then(|rows| rows.get(&key.0));
    shown(value.map(Held::bytes), show)
}

fn scan(rows: Option<&Rows>, from: Key, limit: usize, visit: &mut Visit<'_>) -> usize {
    let rows = rows.into_iter().flat_map(|rows| rows.range(from.0..));
    let mut visited = 0;
    for (key, value) in rows.take(limit) {
        visit(Key(*key), value.bytes());
        visited += 1;
    }
    visited
}

impl Reading for RwLockReadGuard<'_, State> {
    fn get(&mut self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        get(self.rows.as_ref(), key, show)
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        Ok(scan(self.rows.as_ref(), from, limit, visit))
    }
}

/// The transaction that writes. Dropped, it undoes what it has changed in memory.
pub(super) struct Writing<'e> {
    document: &'e Document,
    state: RwLockWriteGuard<'e, State>,
    /// What was under each key that has changed.
    undo: BTreeMap<u64, Option<Held>>,
}

impl Writing<'_> {
    /// Puts a value under a key, or none.
    fn change(&mut self, key: Key, value: Option<&[u8]>) -> Result<()> {
        let rows = self.state.rows.as_mut();
        let rows = rows.ok_or_else(|| no_table("change it"))?;
        let format = self.document.options.format;
        let before = match value {
            Some(value) => rows.insert(key.0, Held::of(format, value)),
            None => rows.remove(&key.0),
        };
        self.undo.entry(key.0).or_insert(before);
        Ok(())
    }

    fn undo(&mut self) {
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

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        self.undo();
    }
}

impl Reading for Writing<'_> {
    fn get(&mut self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        get(self.state.rows.as_ref(), key, show)
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        Ok(scan(self.state.rows.as_ref(), from, limit, visit))
    }
}

impl LookThenPut for Writing<'_> {
    fn has(&mut self, key: Key) -> Result<bool> {
        let rows = self.state.rows.as_ref();
        Ok(rows.is_some_and(|rows| rows.contains_key(&key.0)))
    }

    fn put(&mut self, key: Key, value: &[u8]) -> Result<()> {
        self.change(key, Some(value))
    }

    fn clear(&mut self, key: Key) -> Result<()> {
        self.change(key, None)
    }
}

impl Changing for Writing<'_> {
    /// Once the new document has its name, what is in memory is what is in the file.
    fn commit(mut self) -> Result<()> {
        if self.undo.is_empty() {
            return Ok(());
        }
        let (document, undo) = (self.document, &mut self.undo);
        let renamed = || undo.clear();
        document.publish(&mut self.state, renamed, document.options.fsync)
    }
}
