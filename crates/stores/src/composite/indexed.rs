//! Operations of `files-indexed`: the row first, then the file that it names.
//!
//! Between a row and its file there is no transaction. The order of changes is therefore such
//! that a process that dies in between leaves at worst a file without a row, which the next
//! insert of that name takes over, and never a row without a file. After a power loss that is
//! true as far as the database keeps its rows and the settings sync the files.
//!
//! Threads take turns to write. One that reads what another deletes may have looked up the row of a file
//! that is gone by then: it looks again, and within a transaction, which still shows the row, is told that
//! the file is missing, as where another process deletes.

use super::store::CompositeStore;
use crate::files::name::{Layout, Name};
use crate::files::named::NamedFiles;
use crate::options::refuse;
use crate::sqlite::table::row_id;
use crate::sqlite::{SqliteSession, key_failed};
use crate::turns::{Turn, Turns};
use crate::{Access, Buffer, Counters, Found, Key, Result, Session, StoreError, Visit};
use rusqlite::{Connection, OptionalExtension as _};

/// So much of a name that is none goes into a message, in characters.
const SHOWN: usize = 60;

pub(super) struct IndexedSession<'c> {
    connection: &'c Connection,
    layout: Layout,
    turns: &'c Turns,
    /// Of the transaction, if it writes.
    turn: Option<Turn<'c>>,
    /// The rows, whose values are names.
    rows: SqliteSession<'c>,
    files: NamedFiles<'c>,
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
            layout: store.options.files.layout,
            turns: &store.turns,
            turn: None,
            rows,
            files: NamedFiles::new(&store.files)?,
            deleted: Vec::new(),
            scanned: Buffer::with_capacity(0)?,
        })
    }

    /// The name of the file of `key`; none if there is no row.
    fn look_up(&mut self, key: Key) -> Result<Option<Name>> {
        let (layout, mut name) = (self.layout, None);
        self.rows
            .read_in_place(key, &mut |text| name = Some(name_in(text, key, layout)))?;
        name.transpose()
    }

    /// Looks up the row of `key` and does something to its file.
    fn at_file(
        &mut self,
        key: Key,
        work: impl FnOnce(&mut NamedFiles<'c>, &Name) -> Result<Found>,
    ) -> Result<Found> {
        let Some(name) = self.look_up(key)? else {
            return Ok(Found::Missing);
        };
        match work(&mut self.files, &name)? {
            Found::Missing if self.look_up(key)?.is_none() => Ok(Found::Missing),
            Found::Missing => Err(without_file(key, &name)),
            found => Ok(found),
        }
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

    /// The turn for an operation, unless the transaction has it.
    fn take_turn(&self) -> Result<Option<Turn<'c>>> {
        match self.turn {
            Some(_) => Ok(None),
            None => self.turns.take().map(Some),
        }
    }

    /// Ends the transaction after a conflict, so that it can be tried again: the rows are as they
    /// were, new files are taken over by the next attempt, and overwrites are made again.
    fn or_undo<T>(&mut self, outcome: Result<T>) -> Result<T> {
        if matches!(&outcome, Err(error) if error.is_conflict()) {
            self.rows.rollback()?;
            self.deleted.clear();
            self.turn = None;
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
        let name = Name::of(self.layout, key);
        match self.files.insert(key, &name, value) {
            Err(StoreError::KeyExists { .. }) => self.take_over(key, &name, value)?,
            made => made?,
        }
        self.rows.insert(key, name.as_str().as_bytes())
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

    /// Removes the file of a row that is gone.
    fn remove_file(&self, key: Key, name: &Name) -> Result<()> {
        match self.files.remove(name)? {
            true => Ok(()),
            false => Err(without_file(key, name)),
        }
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

impl Session for IndexedSession<'_> {
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
        let deleted = std::mem::take(&mut self.deleted).into_iter();
        deleted
            .map(|(key, name)| self.remove_file(key, &name))
            .fold(Ok(()), Result::and)
    }

    /// After a conflict there is nothing left to undo.
    fn rollback(&mut self) -> Result<()> {
        match self.connection.is_autocommit() {
            true => Ok(()),
            false => Err(no_way_back()),
        }
    }

    fn read_into(&mut self, key: Key, buffer: &mut Buffer) -> Result<Found> {
        self.at_file(key, |files, name| files.read(key, name, buffer))
    }

    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        let inserted = self.insert_value(key, value);
        self.or_undo(inserted)
    }

    fn overwrite(&mut self, key: Key, value: &[u8]) -> Result<Found> {
        self.at_file(key, |files, name| files.overwrite(name, value))
    }

    fn delete(&mut self, key: Key) -> Result<bool> {
        let deleted = self.delete_value(key);
        self.or_undo(deleted)
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        let layout = self.layout;
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
