//! Statements, and what goes with every one of them.

use super::options::Statements;
use super::{STORE, failed};
use crate::{Access, Key, Result, StoreError};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, Statement};

/// A statement: prepared once and kept, or made anew for each use.
pub(crate) struct Sql<'c> {
    connection: &'c Connection,
    text: &'static str,
    kept: Option<Statement<'c>>,
}

impl<'c> Sql<'c> {
    fn kept(connection: &'c Connection, text: &'static str) -> Result<Self> {
        Ok(Self {
            connection,
            text,
            kept: Some(prepare(connection, text)?),
        })
    }

    pub(crate) fn of(
        connection: &'c Connection,
        text: &'static str,
        statements: Statements,
    ) -> Result<Self> {
        match statements {
            Statements::Once => Self::kept(connection, text),
            Statements::Each => Ok(Self {
                connection,
                text,
                kept: None,
            }),
        }
    }

    pub(crate) fn run<T>(
        &mut self,
        work: impl FnOnce(&mut Statement<'_>) -> Result<T>,
    ) -> Result<T> {
        match &mut self.kept {
            Some(statement) => work(statement),
            None => work(&mut prepare(self.connection, self.text)?),
        }
    }

    /// Runs a statement that takes no parameters and returns no rows.
    fn execute(&mut self) -> Result<()> {
        let text = self.text;
        self.run(|statement| match statement.raw_execute() {
            Ok(_) => Ok(()),
            Err(error) => Err(failed(text, &error)),
        })
    }
}

fn prepare<'c>(connection: &'c Connection, text: &str) -> Result<Statement<'c>> {
    connection
        .prepare(text)
        .map_err(|e| failed(format!("prepare {text}"), &e))
}

/// The statements around a batch, always kept: they are no part of what `statement` is about.
pub(crate) struct Transaction<'c> {
    begin_read: Sql<'c>,
    begin_write: Sql<'c>,
    commit: Sql<'c>,
    roll_back: Sql<'c>,
}

impl<'c> Transaction<'c> {
    pub(crate) fn new(connection: &'c Connection) -> Result<Self> {
        Ok(Self {
            begin_read: Sql::kept(connection, "BEGIN")?,
            begin_write: Sql::kept(connection, "BEGIN IMMEDIATE")?,
            commit: Sql::kept(connection, "COMMIT")?,
            roll_back: Sql::kept(connection, "ROLLBACK")?,
        })
    }

    pub(crate) fn begin(&mut self, access: Access) -> Result<()> {
        match access {
            Access::Read => self.begin_read.execute(),
            Access::Write => self.begin_write.execute(),
        }
    }

    pub(crate) fn commit(&mut self) -> Result<()> {
        self.commit.execute()
    }

    pub(super) fn roll_back(&mut self) -> Result<()> {
        self.roll_back.execute()
    }
}

/// Row ids are signed; no row has a key beyond them.
pub(crate) fn row_id(key: Key) -> Option<i64> {
    i64::try_from(key.0).ok()
}

pub(crate) fn is_key_taken(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation)
}

pub(crate) fn key_failed(action: &str, key: Key, error: &rusqlite::Error) -> StoreError {
    failed(format!("{action} key {key}"), error)
}

/// The value in the first column of a row.
pub(crate) fn value<'r>(row: &'r Row<'_>, key: Key) -> Result<&'r [u8]> {
    match row.get_ref(0) {
        Ok(ValueRef::Blob(bytes) | ValueRef::Text(bytes)) => Ok(bytes),
        Ok(other) => {
            let detail = format!("it is of type {}, not a blob", other.data_type());
            Err(StoreError::damaged(STORE, key, detail))
        }
        Err(error) => Err(key_failed("read", key, &error)),
    }
}
