//! Operations: the row first, then the file that it names.
//!
//! Between a row and its file there is no transaction. The order of changes is therefore such
//! that a process that dies in between leaves at worst a file without a row, which the next
//! insert of that name takes over, and never a row without a file. After a power loss that is
//! true as far as the database keeps its rows and the settings sync the files.
//!
//! A thread that deletes beside one that reads may take the file away after its row was looked up:
//! the reader then looks again, and where its transaction still shows the row, that is a conflict.
//! Another process that deletes looks like damage.

use super::store::IndexedStore;
use super::turns::Turn;
use super::{STORE, ours};
use crate::files::name::{Layout, Name};
use crate::files::named::NamedFiles;
use crate::sqlite::statement::{Sql, Transaction};
use crate::sqlite::table::row_id;
use crate::sqlite::{counters, failed, is_key_taken, key_failed};
use crate::{Access, Buffer, Counters, Found, Key, Result, Session, StoreError};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use std::sync::atomic::Ordering::SeqCst;

/// So much of a name that is none goes into a message, in characters.
const SHOWN: usize = 60;

pub(super) struct IndexedSession<'c> {
    connection: &'c Connection,
    store: &'c IndexedStore,
    files: NamedFiles<'c>,
    layout: Layout,
    /// Of the transaction, if it writes.
    turn: Option<Turn<'c>>,
    /// How many files had been removed when the transaction began, if there is one.
    began: Option<u64>,
    transaction: Transaction<'c>,
    look_up: Sql<'c>,
    owner: Sql<'c>,
    insert: Sql<'c>,
    delete: Sql<'c>,
    delete_named: Sql<'c>,
    scan: Sql<'c>,
    /// Files whose rows the running transaction deleted. They go after its commit: until then
    /// the rows may come back.
    deleted: Vec<(Key, Name<'static>)>,
    /// Holds the value that a scan shows.
    scanned: Buffer,
}

impl<'c> IndexedSession<'c> {
    pub(super) fn new(connection: &'c Connection, store: &'c IndexedStore) -> Result<Self> {
        let statements = store.options.database.pragmas.statement;
        let data = |text| Sql::of(connection, text, statements).map_err(ours);
        Ok(Self {
            connection,
            store,
            files: NamedFiles::new(&store.files)?,
            layout: store.options.files.layout,
            turn: None,
            began: None,
            transaction: Transaction::new(connection).map_err(ours)?,
            look_up: data("SELECT name FROM kv WHERE k=?1")?,
            owner: data("SELECT k FROM kv WHERE name=?1")?,
            insert: data("INSERT INTO kv(k,name) VALUES(?1,?2)")?,
            delete: data("DELETE FROM kv WHERE k=?1")?,
            delete_named: data("DELETE FROM kv WHERE k=?1 AND name=?2")?,
            scan: data("SELECT name,k FROM kv WHERE k>=?1 ORDER BY k LIMIT ?2")?,
            deleted: Vec::new(),
            scanned: Buffer::with_capacity(0)?,
        })
    }

    /// The name of the file of `key`; none if there is no row.
    fn look_up(&mut self, key: Key) -> Result<Option<Name<'static>>> {
        let Some(k) = row_id(key) else {
            return Ok(None);
        };
        let layout = self.layout;
        self.look_up.run(|statement| {
            let mut rows = statement
                .raw_bind_parameter(1, k)
                .map(|()| statement.raw_query())
                .map_err(|e| row_failed("look up", key, &e))?;
            let row = rows.next().map_err(|e| row_failed("look up", key, &e))?;
            row.map(|row| name_in(row, key, layout)).transpose()
        })
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
            match work(&mut self.files, &name).map_err(ours)? {
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
            self.transaction.roll_back().map_err(ours)?;
            self.deleted.clear();
            (self.turn, self.began) = (None, None);
        }
        outcome
    }

    fn insert_value(&mut self, key: Key, k: i64, value: &[u8]) -> Result<()> {
        let _turn = self.take_turn()?;
        if self.look_up(key)?.is_some() {
            return Err(StoreError::key_exists(STORE, key));
        }
        let name = Name::of(self.layout, key);
        self.make_file(key, &name, value)?;
        self.insert_row(key, k, &name)
    }

    /// A row names the file that its key has in this layout, so one statement usually does. Where
    /// it finds none, the row is looked at.
    fn delete_value(&mut self, key: Key) -> Result<bool> {
        let Some(k) = row_id(key) else {
            return Ok(false);
        };
        let _turn = self.take_turn()?;
        let mut name = Name::of(self.layout, key);
        if !self.delete_row_named(key, k, &name)? {
            let Some(other) = self.look_up(key)? else {
                return Ok(false);
            };
            self.delete_row(key, k)?;
            name = other;
        }
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
        match self.files.remove(name).map_err(ours)? {
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

    /// Makes the file of a new row. One without a row, as a crash leaves it, is taken over.
    fn make_file(&mut self, key: Key, name: &Name, value: &[u8]) -> Result<()> {
        match self.files.insert(key, name, value) {
            Err(StoreError::KeyExists { .. }) => self.take_over(key, name, value),
            made => made.map_err(ours),
        }
    }

    fn take_over(&mut self, key: Key, name: &Name, value: &[u8]) -> Result<()> {
        if let Some(owner) = self.owner(key, name)? {
            let detail = format!("its file {} belongs to key {owner}", name.as_str());
            return Err(StoreError::damaged(STORE, key, detail));
        }
        self.files.overwrite(name, value).map_err(ours)?;
        self.files.finish_name(name).map_err(ours)?;
        self.deleted.retain(|(_, deleted)| deleted != name);
        Ok(())
    }

    /// The key whose row names this file. Looks at every row, as nothing but an insert where a
    /// file is already asks for it.
    fn owner(&mut self, key: Key, name: &Name) -> Result<Option<i64>> {
        self.owner.run(|statement| {
            let owner = statement
                .raw_bind_parameter(1, name.as_str())
                .and_then(|()| {
                    let mut rows = statement.raw_query();
                    rows.next()?.map(|row| row.get(0)).transpose()
                });
            owner.map_err(|e| row_failed("look for the owner of the file of", key, &e))
        })
    }

    fn insert_row(&mut self, key: Key, k: i64, name: &Name) -> Result<()> {
        self.insert.run(|statement| {
            let inserted = statement
                .raw_bind_parameter(1, k)
                .and_then(|()| statement.raw_bind_parameter(2, name.as_str()))
                .and_then(|()| statement.raw_execute());
            match inserted {
                Ok(_) => Ok(()),
                Err(error) if is_key_taken(&error) => Err(StoreError::key_exists(STORE, key)),
                Err(error) => Err(row_failed("insert", key, &error)),
            }
        })
    }

    /// Says whether there was such a row.
    fn delete_row_named(&mut self, key: Key, k: i64, name: &Name) -> Result<bool> {
        self.delete_named.run(|statement| {
            let deleted = statement
                .raw_bind_parameter(1, k)
                .and_then(|()| statement.raw_bind_parameter(2, name.as_str()))
                .and_then(|()| statement.raw_execute());
            match deleted {
                Ok(rows) => Ok(rows > 0),
                Err(error) => Err(row_failed("delete", key, &error)),
            }
        })
    }

    fn delete_row(&mut self, key: Key, k: i64) -> Result<()> {
        self.delete.run(|statement| {
            let deleted = statement
                .raw_bind_parameter(1, k)
                .and_then(|()| statement.raw_execute());
            match deleted {
                Ok(_) => Ok(()),
                Err(error) => Err(row_failed("delete", key, &error)),
            }
        })
    }
}

/// The name in the first column of a row. It is data, not to be trusted: only what the layout
/// could have written becomes a path.
fn name_in(row: &Row<'_>, key: Key, layout: Layout) -> Result<Name<'static>> {
    let damaged = |detail| Err(StoreError::damaged(STORE, key, detail));
    match row.get_ref(0) {
        Ok(ValueRef::Text(text)) => match Name::parse(layout, text) {
            Some(name) => Ok(name),
            None => damaged(format!("its row names a file {}", shown(text))),
        },
        Ok(other) => damaged(format!("its file's name is of type {}", other.data_type())),
        Err(error) => Err(row_failed("look up", key, &error)),
    }
}

/// A name that is none: quoted and escaped, and cut short.
fn shown(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let cut: String = text.chars().take(SHOWN).collect();
    let more = if cut.len() < text.len() { "…" } else { "" };
    format!("{cut:?}{more}, which no key has here")
}

fn row_failed(action: &str, key: Key, error: &rusqlite::Error) -> StoreError {
    ours(key_failed(action, key, error))
}

fn without_file(key: Key, name: &Name) -> StoreError {
    let detail = format!("its row names the file {}, which is missing", name.as_str());
    StoreError::damaged(STORE, key, detail)
}

#[cold]
fn removed_since(key: Key) -> StoreError {
    StoreError::Conflict {
        store: STORE,
        action: format!("use the file of key {key}"),
        detail: "it was deleted after the transaction began".to_owned(),
    }
}

impl Session for IndexedSession<'_> {
    fn begin(&mut self, access: Access) -> Result<()> {
        let turn = match access {
            Access::Read => None,
            Access::Write => self.take_turn()?,
        };
        let removed = self.removed();
        self.transaction.begin(access).map_err(ours)?;
        (self.turn, self.began) = (turn, Some(removed));
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        let committed = self.transaction.commit().map_err(ours);
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
        Err(StoreError::unsupported(
            STORE,
            "roll back",
            "the database could go back, but files have no transactions and would not follow",
        ))
    }

    fn read_into(&mut self, key: Key, buffer: &mut Buffer) -> Result<Found> {
        let read = self.at_file(key, |files, name| files.read(key, name, buffer));
        self.or_undo(read)
    }

    fn read_in_place(&mut self, _: Key, _: &mut dyn FnMut(&[u8])) -> Result<Found> {
        Err(StoreError::unsupported(
            STORE,
            "deliver in place",
            "a file is read into a buffer; use delivery \"copy\"",
        ))
    }

    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        let Some(k) = row_id(key) else {
            return Err(StoreError::unsupported(
                STORE,
                format!("insert key {key}"),
                "the keys of its database are signed 64-bit numbers",
            ));
        };
        let inserted = self.insert_value(key, k, value);
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

    fn scan(
        &mut self,
        from: Key,
        limit: usize,
        visit: &mut dyn FnMut(Key, &[u8]),
    ) -> Result<usize> {
        let Some(k) = row_id(from) else {
            return Ok(0);
        };
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let (files, buffer, layout) = (&mut self.files, &mut self.scanned, self.layout);
        let removed = &self.store.removed;
        let removed_before = self.began.unwrap_or_else(|| removed.load(SeqCst));
        let scanned = self.scan.run(|statement| {
            let scan_failed = |e: rusqlite::Error| ours(failed("scan", &e));
            statement.raw_bind_parameter(1, k).map_err(scan_failed)?;
            statement
                .raw_bind_parameter(2, limit)
                .map_err(scan_failed)?;
            let mut rows = statement.raw_query();
            let mut visited = 0;
            while let Some(row) = rows.next().map_err(scan_failed)? {
                let key = Key(row.get::<_, i64>(1).map_err(scan_failed)?.unsigned_abs());
                let name = name_in(row, key, layout)?;
                match files.read(key, &name, buffer).map_err(ours)? {
                    Found::Bytes(_) => {
                        visit(key, buffer.bytes());
                        visited += 1;
                    }
                    // Deleted since the scan began, and no value any more.
                    Found::Missing if removed.load(SeqCst) != removed_before => {}
                    Found::Missing => return Err(without_file(key, &name)),
                }
            }
            Ok(visited)
        });
        self.or_undo(scanned)
    }

    fn counters(&mut self) -> Result<Counters> {
        counters::of(self.connection).map_err(ours)
    }
}
