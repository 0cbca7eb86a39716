//! The store, and what both composites do alike: transactions of the rows, and files that go after them.

use super::store::CompositeStore;
use super::{Composite, OF_INDEXED, OF_SPLIT};
use crate::files::name::{Layout, Name};
use crate::files::named::NamedFiles;
use crate::options::refuse;
use crate::sqlite::{COMMITS_COUNTED, SqliteSession};
use crate::turns::Turn;
use crate::{
    Access, Buffer, Counters, Found, Key, Result, Session, Store, StoreError, Visit, disk,
};
use std::path::PathBuf;
use stowplan_model::{Footprint, Settings};

/// So much of a name that is none goes into a message, in characters.
const SHOWN: usize = 60;

pub(super) struct CompositeSession<'s> {
    pub(super) store: &'s CompositeStore,
    /// Rows of values, or of the names of files.
    pub(super) rows: SqliteSession<'s>,
    pub(super) files: NamedFiles<'s>,
    /// Of the transaction, if it writes.
    turn: Option<Turn<'s>>,
    /// Files whose rows the running transaction deleted, or whose values became rows. They go after its
    /// commit: until then what was before may come back.
    pub(super) gone: Vec<(Key, Name)>,
    /// Holds the value that a scan shows.
    scanned: Buffer,
}

impl<'s> CompositeSession<'s> {
    pub(super) fn new(store: &'s CompositeStore) -> Result<Self> {
        Ok(Self {
            store,
            rows: store.database.session()?,
            files: NamedFiles::new(&store.files)?,
            turn: None,
            gone: Vec::new(),
            scanned: Buffer::with_capacity(0)?,
        })
    }

    fn is_split(&self) -> bool {
        self.store.kind == Composite::Split
    }

    /// The turn for an operation, unless the transaction has it.
    pub(super) fn take_turn(&self) -> Result<Option<Turn<'s>>> {
        match self.turn {
            Some(_) => Ok(None),
            None => self.store.turns.take().map(Some),
        }
    }

    /// Ends the transaction after a conflict, so that it can be tried again: the rows are as they
    /// were, new files are taken over by the next attempt, and overwrites are made again.
    fn or_undo<T>(&mut self, outcome: Result<T>) -> Result<T> {
        if matches!(&outcome, Err(error) if error.is_conflict()) {
            self.rows.rollback()?;
            self.gone.clear();
            self.turn = None;
        }
        outcome
    }

    /// Removes a file, after the running transaction if there is one.
    pub(super) fn remove_after_commit(&mut self, key: Key, name: Name) -> Result<()> {
        self.gone.push((key, name));
        match self.rows.connection().is_autocommit() {
            true => self.remove_gone(),
            false => Ok(()),
        }
    }

    fn remove_gone(&mut self) -> Result<()> {
        let gone = std::mem::take(&mut self.gone).into_iter();
        let remove = |(key, name)| match self.files.remove(&name)? || self.is_split() {
            true => Ok(()),
            false => Err(without_file(key, &name)),
        };
        gone.map(remove).fold(Ok(()), Result::and)
    }
}

/// The name in a row. It is data, not to be trusted: only what the layout could have written becomes a
/// path.
pub(super) fn name_in(text: &[u8], key: Key, layout: Layout) -> Result<Name> {
    Name::parse(layout, text).ok_or_else(|| {
        let shown = String::from_utf8_lossy(text);
        let cut: String = shown.chars().take(SHOWN).collect();
        let more = if cut.len() < shown.len() { "…" } else { "" };
        let detail = format!("its row names a file {cut:?}{more}, which no key has here");
        StoreError::damaged(key, detail)
    })
}

pub(super) fn without_file(key: Key, name: &Name) -> StoreError {
    let detail = format!("its row names the file {}, which is missing", name.as_str());
    StoreError::damaged(key, detail)
}

impl Store for CompositeStore {
    fn connect(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(CompositeSession::new(self)?))
    }

    fn footprint(&self) -> Result<Footprint> {
        disk::footprint_of_tree(&self.directory)
    }

    /// The files are those that an insert gives the keys, as far as they are there. Asking the
    /// database, whose pages are to leave the cache too, would bring them back.
    fn data_files(&self, keys: &mut dyn Iterator<Item = Key>) -> Vec<PathBuf> {
        let mut files = self.database.data_files(&mut std::iter::empty());
        let of_keys = keys.map(|key| self.files.path_of(key));
        files.extend(of_keys.filter(|file| file.exists()));
        files
    }

    fn checkpoint(&self) -> Result<()> {
        self.database.checkpoint()
    }
}

impl Session for CompositeSession<'_> {
    fn effective_settings(&self) -> Result<Settings> {
        self.rows.effective_settings_of(match self.is_split() {
            true => OF_SPLIT,
            false => OF_INDEXED,
        })
    }

    fn close(self: Box<Self>) -> Result<()> {
        Box::new(self.rows).close()
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        let turn = match access {
            Access::Read => None,
            Access::Write => self.take_turn()?,
        };
        self.rows.begin(access)?;
        self.turn = turn;
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        let committed = self.rows.commit();
        self.or_undo(committed)?;
        let _until_the_files_are_gone = self.turn.take();
        self.remove_gone()
    }

    /// After a conflict there is nothing left to undo.
    fn rollback(&mut self) -> Result<()> {
        if self.rows.connection().is_autocommit() {
            return Ok(());
        }
        let why = "the database could go back, but files have no transactions and would not follow";
        Err(StoreError::unsupported("roll back", why))
    }

    fn read_into(&mut self, key: Key, buffer: &mut Buffer) -> Result<Found> {
        match self.is_split() {
            true => self.read_inside_or_outside(key, buffer),
            false => self.at_file(key, |files, name| files.read(key, name, buffer)),
        }
    }

    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        let inserted = match self.is_split() {
            true => self.insert_inside_or_outside(key, value),
            false => self.insert_indexed(key, value),
        };
        self.or_undo(inserted)
    }

    fn overwrite(&mut self, key: Key, value: &[u8]) -> Result<Found> {
        match self.is_split() {
            true if self.lies_inside(value) => self.overwrite_inside(key, value),
            true => self.overwrite_outside(key, value),
            false => self.at_file(key, |files, name| files.overwrite(name, value)),
        }
    }

    fn delete(&mut self, key: Key) -> Result<bool> {
        let deleted = match self.is_split() {
            true => self.delete_inside_and_outside(key),
            false => self.delete_indexed(key),
        };
        self.or_undo(deleted)
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        refuse! {
            self.is_split() => "scan",
                "nothing tells which keys values in files have";
        }
        let layout = self.store.options.files.layout;
        let (files, buffer) = (&mut self.files, &mut self.scanned);
        let mut show = |key, text: &[u8]| {
            let name = name_in(text, key, layout)?;
            match files.read(key, &name, buffer)? {
                Found::Bytes(_) => visit(key, buffer.bytes()),
                Found::Missing => return Err(without_file(key, &name)),
            }
            Ok(())
        };
        let mut shown = Ok(());
        let visited = self.rows.scan(from, limit, &mut |key, text| {
            if shown.is_ok() {
                shown = show(key, text);
            }
        })?;
        shown.map(|()| visited)
    }

    /// Without the commits that SQLite counts where a value in a file needs none.
    fn counters(&mut self) -> Result<Counters> {
        let mut counters = self.rows.counters()?;
        if self.is_split() {
            counters.remove(COMMITS_COUNTED);
        }
        Ok(counters)
    }

    fn check_integrity(&mut self) -> Result<()> {
        self.rows.check_integrity()
    }
}
