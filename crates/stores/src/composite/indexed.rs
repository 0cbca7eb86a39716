//! Operations of `files-indexed`: the row first, then the file that it names.
//!
//! Between a row and its file there is no transaction. The order of changes is therefore such
//! that a process that dies in between leaves at worst a file without a row, which the next
//! insert of that name takes over, and never a row without a file. After a power loss that is
//! true as far as the database keeps its rows and the settings sync the files.
//!
//! A thread that deletes beside one that reads may take the file away after its row was looked up:
//! the reader then looks again, and where its transaction still shows the row, that is a conflict.
//! Another process that deletes looks like damage.

use super::store::CompositeStore;
use crate::files::name::{Layout, Name};
use crate::files::named::NamedFiles;
use crate::options::refuse;
use crate::sqlite::table::row_id;
use crate::sqlite::{SqliteSession, key_failed};
use crate::turns::Turn;
use crate::{Access, Buffer, Counters, Found, Key, Result, Session, StoreError, Visit};
use rusqlite::{Connection, OptionalExtension as _};
use std::sync::atomic::Ordering::SeqCst;

/// So much of a name that is none goes into a message, in characters.
const SHOWN: usize = 60;

pub(super) struct IndexedSession<'c> {
    connection: &'c Connection,
    store: &'c CompositeStore,
    /// The rows, whose values are names.
    rows: SqliteSession<'c>,
    files: NamedFiles<'c>,
    /// Of the transaction, if it writes.
    turn: Option<Turn<'c>>,
    /// How many files had been removed when the transaction began, if there is one.
    began: Option<u64>,
    /// Files whose rows the running transaction deleted. They go after its commit: until then
    /// the rows may come back.
    deleted: Vec<(Key, Name)>,
    /// Holds the value that a scan shows.
    scanned: Buffer,
}

impl<'c> IndexedSession<'c> {
    pub(super) fn new(rows: SqliteSession<'c>, store: &'c CompositeStore) -> Result<Self> {
        Ok(Self {
            connection: rows.connection(),
            store,
            rows,
            files: NamedFiles::new(&store.files)?,
            turn: None,
            began: None,
            deleted: Vec::new(),
            scanned: Buffer::with_capacity(0)?,
        })
    }

    /// The name of the file of `key`; none if there is no row.
    fn look_up(&mut self, key: Key) -> Result<Option<Name>> {
        let layout = self.store.options.files.layout;
        let mut name = None;
        self.rows
            .read_in_place(key, &mut |text| name = Some(name_in(text, key, layout)))?;
        name.transpose()
    }

    /// Looks up the row of `key` and does something to its file, again if the file went meanwhile.
    fn at_file(
        &mut self,
        key: Key,
        mut work: impl FnMut(&mut NamedFiles<'c>, &Name) -> Result<Found>,
    ) -> Result<Found> {
        loop {
            let removed = self.began.unwrap_or_else(|| self.removed());
            let Some(name) = self.look_up(key)? else {
                return Ok(Found::Missing);
            };
            match work(&mut self.files, &name)? {
                Found::Missing if self.removed() == removed => {
                    return Err(without_file(key, &name));
                }
                Found::Missing if self.connection.is_autocommit() => {}
                Found::Missing => return Err(removed_since(key)),
                found => return Ok(found),
            }
        }
    }

    /// Ends the transaction after a conflict, so that it can be tried again: the rows are as they
    /// were, new files are taken over by the next attempt, and overwrites are made again.
    fn or_undo<T>(&mut self, outcome: Result<T>) -> Result<T> {
        if matches!(&outcome, Err(error) if error.is_conflict()) {
            self.rows.rollback()?;
            self.deleted.clear();
            (self.turn, self.began) = (None, None);
        }
        outcome
    }

    fn insert_value(&mut self, key: Key, value: &[u8]) -> Result<()> {
        refuse! {
            row_id(key).is_none() => format!("insert key {key}"),
                "the keys of its database are signed 64-bit numbers";
        }
        let _turn = self.take_turn()?;
        if self.look_up(key)?.is_some() {
            return Err(StoreError::key_exists(key));
        }
        let name = Name::of(self.store.options.files.layout, key);
        match self.files.insert(key, &name, value) {
            Err(StoreError::KeyExists { .. }) => self.take_over(key, &name, value)?,
            made => made?,
        }
        self.rows.insert(key, name.as_str().as_bytes())
    }

    /// Makes a file the one of a new row that a crash has left without one.
    fn take_over(&mut self, key: Key, name: &Name, value: &[u8]) -> Result<()> {
        if let Some(owner) = self.owner(key, name)? {
            let detail = format!("its file {} belongs to key {owner}", name.as_str());
            return Err(StoreError::damaged(key, detail));
        }
        self.files.overwrite(name, value)?;
        self.files.finish_name(name)?;
        self.deleted.retain(|(_, deleted)| deleted != name);
        Ok(())
    }

    /// The key whose row names this file. Looks at every row, as nothing but an insert where a
    /// file is already asks for it.
    fn owner(&self, key: Key, name: &Name) -> Result<Option<i64>> {
        let text = "SELECT k FROM kv WHERE name=?1";
        let owner = self
            .connection
            .query_row(text, [name.as_str()], |row| row.get(0));
        owner
            .optional()
            .map_err(|e| key_failed("look for the owner of the file of", key, &e))
    }

    fn delete_value(&mut self, key: Key) -> Result<bool> {
        let _turn = self.take_turn()?;
        let Some(name) = self.look_up(key)? else {
            return Ok(false);
        };
        self.rows.delete(key)?;
        if self.connection.is_autocommit() {
            self.remove_file(key, &name)?;
        } else {
            self.deleted.push((key, name));
        }
        Ok(true)
    }

    fn removed(&self) -> u64 {
        self.store.removed.load(SeqCst)
    }

    /// Removes the file of a row that is gone.
    fn remove_file(&self, key: Key, name: &Name) -> Result<()> {
        self.store.removed.fetch_add(1, SeqCst);
        match self.files.remove(name)? {
            true => Ok(()),
            false => Err(without_file(key, name)),
        }
    }

    /// The turn for an operation, unless the transaction has it.
    fn take_turn(&self) -> Result<Option<Turn<'c>>> {
        match self.turn {
            Some(_) => Ok(None),
            None => self.store.turns.take().map(Some),
        }
    }

    fn scan_values(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        let layout = self.store.options.files.layout;
        let (files, buffer, removed) = (&mut self.files, &mut self.scanned, &self.store.removed);
        let removed_before = self.began.unwrap_or_else(|| removed.load(SeqCst));
        let mut show = |key, text: &[u8]| {
            let name = name_in(text, key, layout)?;
            match files.read(key, &name, buffer)? {
                Found::Bytes(_) => visit(key, buffer.bytes()),
                // Deleted since the scan began, and no value any more.
                Found::Missing if removed.load(SeqCst) != removed_before => return Ok(0),
                Found::Missing => return Err(without_file(key, &name)),
            }
            Ok(1)
        };
        let mut visited = Ok(0);
        self.rows.scan(from, limit, &mut |key, text| {
            if let Ok(before) = visited {
                visited = show(key, text).map(|one: usize| before + one);
            }
        })?;
        visited
    }
}

/// The name in a row. It is data, not to be trusted: only what the layout could have written becomes a
/// path.
fn name_in(text: &[u8], key: Key, layout: Layout) -> Result<Name> {
    Name::parse(layout, text).ok_or_else(|| {
        let shown = String::from_utf8_lossy(text);
        let cut: String = shown.chars().take(SHOWN).collect();
        let more = if cut.len() < shown.len() { "…" } else { "" };
        let detail = format!("its row names a file {cut:?}{more}, which no key has here");
        StoreError::damaged(key, detail)
    })
}

fn without_file(key: Key, name: &Name) -> StoreError {
    let detail = format!("its row names the file {}, which is missing", name.as_str());
    StoreError::damaged(key, detail)
}

#[cold]
fn removed_since(key: Key) -> StoreError {
    let action = format!("use the file of key {key}");
    StoreError::conflict(action, "it was deleted after the transaction began")
}

impl Session for IndexedSession<'_> {
    fn begin(&mut self, access: Access) -> Result<()> {
        let turn = match access {
            Access::Read => None,
            Access::Write => self.take_turn()?,
        };
        let removed = self.removed();
        self.rows.begin(access)?;
        (self.turn, self.began) = (turn, Some(removed));
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        let committed = self.rows.commit();
        self.or_undo(committed)?;
        let _until_the_files_are_done = self.turn.take();
        self.began = None;
        let mut outcome = Ok(());
        for (key, name) in std::mem::take(&mut self.deleted) {
            outcome = outcome.and(self.remove_file(key, &name));
        }
        outcome
    }

    /// After a conflict there is nothing left to undo.
    fn rollback(&mut self) -> Result<()> {
        if self.connection.is_autocommit() {
            return Ok(());
        }
        Err(no_way_back())
    }

    fn read_into(&mut self, key: Key, buffer: &mut Buffer) -> Result<Found> {
        let read = self.at_file(key, |files, name| files.read(key, name, buffer));
        self.or_undo(read)
    }

    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        let inserted = self.insert_value(key, value);
        self.or_undo(inserted)
    }

    fn overwrite(&mut self, key: Key, value: &[u8]) -> Result<Found> {
        let overwritten = self.at_file(key, |files, name| files.overwrite(name, value));
        self.or_undo(overwritten)
    }

    fn delete(&mut self, key: Key) -> Result<bool> {
        let deleted = self.delete_value(key);
        self.or_undo(deleted)
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        let scanned = self.scan_values(from, limit, visit);
        self.or_undo(scanned)
    }

    fn counters(&mut self) -> Result<Counters> {
        self.rows.counters()
    }

    fn check_integrity(&mut self) -> Result<()> {
        self.rows.check_integrity()
    }
}

/// Why a store of files beside a database undoes nothing.
#[cold]
pub(super) fn no_way_back() -> StoreError {
    StoreError::unsupported(
        "roll back",
        "the database could go back, but files have no transactions and would not follow",
    )
}
