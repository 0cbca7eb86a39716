//! One of the two databases in memory.

use super::ours;
use crate::Result;
use crate::sqlite::failed;
use crate::sqlite::options::Statements;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, Statement};
use std::ops::AddAssign;
use std::time::Instant;

/// Values of so many bytes are copied out of a layer at once, or one that is larger.
const PIECE_BYTES: usize = 1 << 20;

/// What was changed: how often, and the bytes of the values that were written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Volume {
    pub(super) changes: u64,
    pub(super) bytes: u64,
}

impl AddAssign for Volume {
    fn add_assign(&mut self, more: Self) {
        self.changes += more.changes;
        self.bytes += more.bytes;
    }
}

/// What a layer has of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    /// A value of this many bytes.
    Value(usize),
    /// That it was deleted, whatever lies below.
    Deleted,
    /// Nothing: the layer below decides.
    Nothing,
}

/// A key with its value, or without one if it was deleted.
pub(super) type Change = (i64, Option<Vec<u8>>);

/// Changes by rising key.
pub(super) struct Piece {
    pub(super) changes: Vec<Change>,
    /// Whether there may be more after the last one.
    pub(super) more: bool,
}

/// A database in memory whose rows are changes: a deleted key is a row without a value.
pub(super) struct Layer {
    connection: Connection,
    statements: Statements,
    /// What was committed into it.
    pub(super) volume: Volume,
    /// When the first of that was committed.
    pub(super) since: Option<Instant>,
}

impl Layer {
    pub(super) fn new(statements: Statements) -> Result<Self> {
        let made = Connection::open_in_memory().and_then(|connection| {
            connection.execute_batch("CREATE TABLE kv(k INTEGER PRIMARY KEY, v BLOB)")?;
            Ok(connection)
        });
        Ok(Self {
            connection: made.map_err(|e| layer_failed("make", &e))?,
            statements,
            volume: Volume::default(),
            since: None,
        })
    }

    pub(super) fn begin(&self) -> Result<()> {
        self.execute("BEGIN")
    }

    pub(super) fn commit(&self) -> Result<()> {
        self.execute("COMMIT")
    }

    /// Does nothing if no transaction is open: some errors of SQLite end it by themselves.
    pub(super) fn roll_back(&self) -> Result<()> {
        if self.connection.is_autocommit() {
            return Ok(());
        }
        self.execute("ROLLBACK")
    }

    fn execute(&self, text: &str) -> Result<()> {
        let executed = self
            .connection
            .prepare_cached(text)
            .and_then(|mut statement| statement.raw_execute());
        executed
            .map(drop)
            .map_err(|e| layer_failed(&format!("run {text} in"), &e))
    }

    /// Runs a statement, kept or made anew as `statement` says.
    fn run<T>(
        &self,
        text: &str,
        work: impl FnOnce(&mut Statement<'_>) -> rusqlite::Result<T>,
    ) -> Result<T> {
        let outcome = match self.statements {
            Statements::Once => self
                .connection
                .prepare_cached(text)
                .and_then(|mut statement| work(&mut statement)),
            Statements::Each | Statements::Literal => self
                .connection
                .prepare(text)
                .and_then(|mut statement| work(&mut statement)),
        };
        outcome.map_err(|e| layer_failed("use", &e))
    }

    /// Whether nothing was ever committed into it.
    pub(super) fn is_empty(&self) -> bool {
        self.volume.changes == 0
    }

    /// Shows the value of a key, if it has one, where it lies.
    pub(super) fn visit(
        &self,
        key: i64,
        visit: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<Entry> {
        let mut visited = Ok(());
        let entry = self.run("SELECT v FROM kv WHERE k=?1", |statement| {
            statement.raw_bind_parameter(1, key)?;
            let mut rows = statement.raw_query();
            let Some(row) = rows.next()? else {
                return Ok(Entry::Nothing);
            };
            Ok(match row.get_ref(0)? {
                ValueRef::Null => Entry::Deleted,
                value => {
                    let value = value.as_blob()?;
                    visited = visit(value);
                    Entry::Value(value.len())
                }
            })
        })?;
        visited.map(|()| entry)
    }

    /// The size of the value of a key.
    pub(super) fn size(&self, key: i64) -> Result<Entry> {
        self.run("SELECT octet_length(v) FROM kv WHERE k=?1", |statement| {
            statement.raw_bind_parameter(1, key)?;
            let mut rows = statement.raw_query();
            let size = rows.next()?.map(|row| row.get::<_, Option<i64>>(0));
            Ok(match size.transpose()? {
                // Never negative.
                Some(Some(bytes)) => Entry::Value(usize::try_from(bytes).unwrap_or(0)),
                Some(None) => Entry::Deleted,
                None => Entry::Nothing,
            })
        })
    }

    /// Sets a value, or marks the key as deleted.
    pub(super) fn put(&self, key: i64, value: Option<&[u8]>) -> Result<()> {
        self.run("REPLACE INTO kv(k,v) VALUES(?1,?2)", |statement| {
            statement.raw_bind_parameter(1, key)?;
            statement.raw_bind_parameter(2, value)?;
            statement.raw_execute().map(drop)
        })
    }

    /// Copies of the changes from `from` on: at most `most`, and not much above
    /// [`PIECE_BYTES`].
    pub(super) fn piece(&self, from: i64, most: usize) -> Result<Piece> {
        let text = "SELECT k,v FROM kv WHERE k>=?1 ORDER BY k";
        self.run(text, |statement| {
            statement.raw_bind_parameter(1, from)?;
            let mut rows = statement.raw_query();
            let (mut changes, mut bytes) = (Vec::new(), 0);
            while changes.len() < most && bytes < PIECE_BYTES {
                let Some(change) = rows.next()?.map(change).transpose()? else {
                    return Ok(Piece {
                        changes,
                        more: false,
                    });
                };
                bytes += change.1.as_ref().map_or(0, Vec::len);
                changes.push(change);
            }
            Ok(Piece {
                changes,
                more: true,
            })
        })
    }
}

fn change(row: &Row<'_>) -> rusqlite::Result<Change> {
    Ok((row.get(0)?, row.get(1)?))
}

fn layer_failed(action: &str, error: &rusqlite::Error) -> crate::StoreError {
    ours(failed(format!("{action} the database in memory"), error))
}
