//! Rows whose keys SQLite assigns.

use super::options::{Options, Statements};
use super::statement::{Parameters, Sql};
use crate::error::at;
use crate::{Key, Result, StoreError};
use rusqlite::Connection;

/// What a session keeps that lets SQLite number new rows: one more than the largest number there is
/// (<https://sqlite.org/autoinc.html>). A key that is another one has to be given.
pub(super) struct AssignedIds<'c> {
    connection: &'c Connection,
    insert: Sql<'c>,
    /// The largest number there is; always kept, for it is no part of what `statement` is about.
    largest: Sql<'c>,
    /// The number that the next row gets; nothing where it has to be looked up, as anything else but rows
    /// that it was given to may have changed it.
    next: Option<i128>,
}

impl<'c> AssignedIds<'c> {
    pub(super) fn new(connection: &'c Connection, options: &Options) -> Result<Self> {
        let text = options.insert_unnumbered();
        let mut ids = Self {
            connection,
            insert: Sql::of(connection, text, options.pragmas.statement)?,
            largest: Sql::of(connection, "SELECT max(k) FROM kv", Statements::Once)?,
            next: None,
        };
        // A table that was dropped has no rows to number.
        let _ = ids.look_up();
        Ok(ids)
    }

    /// Whether this is the number that the next row gets.
    pub(super) fn is_next(&mut self, number: i64) -> Result<bool> {
        Ok(self.look_up()? == i128::from(number))
    }

    fn look_up(&mut self) -> Result<i128> {
        if let Some(next) = self.next {
            return Ok(next);
        }
        let largest = self
            .largest
            .run(|statement| Ok(statement.query_row([], |row| row.get(0))?));
        let largest: Option<i64> = largest.map_err(at("look for the largest key"))?;
        // Behind the largest number there can be, SQLite looks for any that is free: no key has that one.
        let next = largest.map_or(1, |largest| i128::from(largest) + 1);
        self.next = Some(next);
        Ok(next)
    }

    /// Adds a row; it gets the number that is next.
    pub(super) fn insert(
        &mut self,
        number: i64,
        key: Key,
        set: impl FnOnce(&mut Parameters<'_, '_>) -> Result<()>,
    ) -> Result<()> {
        self.next = None;
        self.insert
            .run_with(set, |statement| Ok(statement.raw_execute().map(drop)?))?;
        let assigned = self.connection.last_insert_rowid();
        if assigned == number {
            self.next = Some(i128::from(number) + 1);
            return Ok(());
        }
        Err(StoreError::engine(
            format!("have key {key} assigned"),
            format!("the row got {assigned}; with ids=assigned nobody else may write"),
        ))
    }

    /// Something else has changed which rows there are.
    pub(super) fn forget(&mut self) {
        self.next = None;
    }
}
