//! Operations on the table.

use super::blob::BlobHandle;
use super::options::{Api, Options, Statements};
use super::statement::{Sql, Transaction, is_key_taken, key_failed, row_id, value};
use super::{STORE, counters, failed};
use crate::{Access, Buffer, Counters, Found, Key, Result, Session, StoreError};
use rusqlite::{Connection, Statement};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The counter of transactions that changed something and were committed, as SQLite's commit hook
/// counts them.
pub const COMMITS_COUNTED: &str = "Commits";

pub(super) struct SqliteSession<'c> {
    connection: &'c Connection,
    /// Transactions that changed something, as the commit hook counts them.
    commits: Arc<AtomicU64>,
    api: Api,
    /// Whether the journal can undo anything.
    undoes: bool,
    blob: BlobHandle<'c>,
    transaction: Transaction<'c>,
    read: Sql<'c>,
    insert: Sql<'c>,
    statements: Statements,
    /// A statement that adds so many rows.
    insert_many: Option<(usize, Statement<'c>)>,
    overwrite: Sql<'c>,
    delete: Sql<'c>,
    scan: Sql<'c>,
}

impl<'c> SqliteSession<'c> {
    pub(super) fn new(
        connection: &'c Connection,
        options: &Options,
        commits: Arc<AtomicU64>,
    ) -> Result<Self> {
        let data = |text| Sql::of(connection, text, options.statements);
        Ok(Self {
            connection,
            commits,
            api: options.api,
            undoes: options.journal() != "off",
            blob: BlobHandle::new(connection, options.statements),
            transaction: Transaction::new(connection)?,
            read: data("SELECT v FROM kv WHERE k=?1")?,
            insert: data("INSERT INTO kv(k,v) VALUES(?1,?2)")?,
            statements: options.statements,
            insert_many: None,
            overwrite: data("UPDATE kv SET v=?2 WHERE k=?1")?,
            delete: data("DELETE FROM kv WHERE k=?1 RETURNING length(CAST(v AS BLOB))")?,
            scan: data("SELECT v,k FROM kv WHERE k>=?1 ORDER BY k LIMIT ?2")?,
        })
    }

    fn prepare_many(&self, rows: usize) -> Result<Statement<'c>> {
        let text = format!(
            "INSERT INTO kv(k,v) VALUES(?,?){}",
            ",(?,?)".repeat(rows - 1)
        );
        self.connection
            .prepare(&text)
            .map_err(|e| failed(format!("prepare an INSERT of {rows} rows"), &e))
    }

    /// Shows the value of `key` where it lies in SQLite's memory, before the statement is reset.
    fn visit(&mut self, key: Key, visit: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        let Some(k) = row_id(key) else {
            return Ok(Found::Missing);
        };
        self.read.run(|statement| {
            let mut rows = statement
                .raw_bind_parameter(1, k)
                .map(|()| statement.raw_query())
                .map_err(|e| key_failed("read", key, &e))?;
            match rows.next().map_err(|e| key_failed("read", key, &e))? {
                None => Ok(Found::Missing),
                Some(row) => {
                    let value = value(row, key)?;
                    visit(value)?;
                    Ok(Found::Bytes(value.len()))
                }
            }
        })
    }

    fn insert_row(&mut self, key: Key, k: i64, value: &[u8]) -> Result<()> {
        self.insert.run(|statement| {
            match bind(statement, k, value).and_then(|()| statement.raw_execute()) {
                Ok(_) => Ok(()),
                Err(error) if is_key_taken(&error) => Err(StoreError::key_exists(STORE, key)),
                Err(error) => Err(key_failed("insert", key, &error)),
            }
        })
    }

    fn update_row(&mut self, key: Key, k: i64, value: &[u8]) -> Result<Found> {
        self.overwrite.run(|statement| {
            match bind(statement, k, value).and_then(|()| statement.raw_execute()) {
                Ok(1) => Ok(Found::Bytes(value.len())),
                Ok(_) => Ok(Found::Missing),
                Err(error) => Err(key_failed("overwrite", key, &error)),
            }
        })
    }

    fn delete_row(&mut self, key: Key, k: i64) -> Result<Found> {
        self.delete.run(|statement| {
            let deleted = statement.raw_bind_parameter(1, k).and_then(|()| {
                let mut rows = statement.raw_query();
                let length = rows.next()?.map(|row| row.get::<_, i64>(0)).transpose()?;
                // The change is only complete once the statement is.
                while rows.next()?.is_some() {}
                Ok(length)
            });
            match deleted {
                Ok(Some(bytes)) => Ok(Found::Bytes(usize::try_from(bytes).unwrap_or(0))),
                Ok(None) => Ok(Found::Missing),
                Err(error) => Err(key_failed("delete", key, &error)),
            }
        })
    }
}

/// rusqlite has SQLite copy the value here, as it cannot know that the statement runs at once.
fn bind(statement: &mut Statement<'_>, key: i64, value: &[u8]) -> rusqlite::Result<()> {
    statement.raw_bind_parameter(1, key)?;
    statement.raw_bind_parameter(2, value)
}

fn no_row_id(key: Key) -> StoreError {
    StoreError::unsupported(
        STORE,
        format!("insert key {key}"),
        "its keys are signed 64-bit numbers",
    )
}

impl Session for SqliteSession<'_> {
    fn begin(&mut self, access: Access) -> Result<()> {
        self.transaction.begin(access)
    }

    fn commit(&mut self) -> Result<()> {
        self.blob.close()?;
        self.transaction.commit()
    }

    fn rollback(&mut self) -> Result<()> {
        if !self.undoes {
            return Err(StoreError::unsupported(
                STORE,
                "roll back",
                "with journal=off nothing is kept to go back to",
            ));
        }
        self.blob.close()?;
        self.transaction.roll_back()
    }

    fn read_into(&mut self, key: Key, buffer: &mut Buffer) -> Result<Found> {
        match self.api {
            Api::Sql => self.visit(key, |value| buffer.copy_from(value)),
            Api::Blob => match row_id(key) {
                Some(k) => self.blob.read(k, buffer),
                None => Ok(Found::Missing),
            },
        }
    }

    fn read_in_place(&mut self, key: Key, visit: &mut dyn FnMut(&[u8])) -> Result<Found> {
        match self.api {
            Api::Sql => self.visit(key, |value| {
                visit(value);
                Ok(())
            }),
            Api::Blob => Err(StoreError::unsupported(
                STORE,
                "deliver in place",
                "the blob interface copies; use api=sql, or delivery \"copy\"",
            )),
        }
    }

    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        let k = row_id(key).ok_or_else(|| no_row_id(key))?;
        self.insert_row(key, k, value)
    }

    fn overwrite(&mut self, key: Key, value: &[u8]) -> Result<Found> {
        match (row_id(key), self.api) {
            (None, _) => Ok(Found::Missing),
            (Some(k), Api::Sql) => self.update_row(key, k, value),
            (Some(k), Api::Blob) => self.blob.overwrite(k, value),
        }
    }

    fn delete(&mut self, key: Key) -> Result<Found> {
        let Some(k) = row_id(key) else {
            return Ok(Found::Missing);
        };
        // A row that a blob handle stands on must not vanish below it.
        self.blob.close()?;
        self.delete_row(key, k)
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
        self.scan.run(|statement| {
            let scan_failed = |e: rusqlite::Error| failed("scan", &e);
            statement.raw_bind_parameter(1, k).map_err(scan_failed)?;
            statement
                .raw_bind_parameter(2, limit)
                .map_err(scan_failed)?;
            let mut rows = statement.raw_query();
            let mut visited = 0;
            while let Some(row) = rows.next().map_err(scan_failed)? {
                let key = Key(row.get::<_, i64>(1).map_err(scan_failed)?.unsigned_abs());
                visit(key, value(row, key)?);
                visited += 1;
            }
            Ok(visited)
        })
    }

    fn counters(&mut self) -> Result<Counters> {
        let mut counters = counters::of(self.connection)?;
        counters.insert(
            COMMITS_COUNTED.to_owned(),
            self.commits.load(Ordering::Relaxed),
        );
        Ok(counters)
    }

    fn page_fill(&mut self) -> Result<Option<f64>> {
        counters::page_fill(self.connection)
    }

    fn insert_many(&mut self, rows: &[(Key, &[u8])]) -> Result<()> {
        if rows.len() < 2 {
            return rows
                .iter()
                .try_for_each(|(key, value)| self.insert(*key, value));
        }
        let kept = self.insert_many.take();
        let mut statement = match kept.filter(|(count, _)| *count == rows.len()) {
            Some((_, statement)) => statement,
            None => self.prepare_many(rows.len())?,
        };
        let many_failed = |error: rusqlite::Error| {
            let (first, _) = rows[0];
            failed(
                format!("insert {} rows from key {first} on", rows.len()),
                &error,
            )
        };
        for (index, (key, value)) in rows.iter().enumerate() {
            let k = row_id(*key).ok_or_else(|| no_row_id(*key))?;
            statement
                .raw_bind_parameter(2 * index + 1, k)
                .and_then(|()| statement.raw_bind_parameter(2 * index + 2, *value))
                .map_err(many_failed)?;
        }
        statement.raw_execute().map_err(many_failed)?;
        if self.statements == Statements::Once {
            self.insert_many = Some((rows.len(), statement));
        }
        Ok(())
    }
}
