//! Rows whose keys SQLite assigns (<https://sqlite.org/autoinc.html>).

use super::options::Options;
use super::statement::{Parameters, Sql};
use crate::error::at;
use crate::{Key, Result, StoreError};
use rusqlite::Connection;

/// What a session keeps that lets SQLite number new rows: one more than the largest number there is. A key that
/// is another one has to be given.
pub(super) struct AssignedIds<'c> {
    connection: &'c Connection,
    insert: Sql<'c>,
    /// The largest number there is, 0 without rows; nothing where it has to be looked up, as anything else but
    /// rows that it was given to may have changed it.
    pub(super) largest: Option<i64>,
}

impl<'c> AssignedIds<'c> {
    pub(super) fn new(connection: &'c Connection, options: &Options) -> Self {
        let text = options.insert_unnumbered();
        let mut ids = Self {
            connection,
            insert: Sql::of(connection, text, options.pragmas.statement),
            largest: None,
        };
        // A table that was dropped has no rows to number.
        let _ = ids.is_next(0);
        ids
    }

    /// Whether this is the number that the next row gets.
    pub(super) fn is_next(&mut self, number: i64) -> Result<bool> {
        let largest = match self.largest {
            Some(largest) => largest,
            None => {
                let text = "SELECT ifnull(max(k), 0) FROM kv";
                let largest = self.connection.query_row(text, [], |row| row.get(0));
                let looked = "look for the largest key";
                *self
                    .largest
                    .insert(largest.map_err(StoreError::from).map_err(at(looked))?)
            }
        };
        Ok(largest.checked_add(1) == Some(number))
    }

    /// Adds a row; it gets the number that is next.
    pub(super) fn insert(
        &mut self,
        number: i64,
        key: Key,
        bind: impl FnOnce(&mut Parameters<'_, '_>) -> Result<()>,
    ) -> Result<()> {
        self.largest = None;
        self.insert
            .run(bind, |statement| Ok(statement.raw_execute().map(drop)?))?;
        let assigned = self.connection.last_insert_rowid();
        if assigned != number {
            return Err(StoreError::engine(
                format!("have key {key} assigned"),
                format!("the row got {assigned}; with ids=assigned nobody else may write"),
            ));
        }
        self.largest = Some(number);
        Ok(())
    }
}
