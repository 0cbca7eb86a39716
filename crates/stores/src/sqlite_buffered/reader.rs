//! One connection's view of the database on disk, below the layers.

use super::ours;
use crate::sqlite::options::Statements;
use crate::sqlite::statement::{Sql, Transaction};
use crate::sqlite::table::value;
use crate::sqlite::{failed, key_failed};
use crate::{Access, Found, Key, Result};
use rusqlite::Connection;

/// Reads from the database on disk, within a transaction of its own or in one for each read.
pub(super) struct DiskReader<'c> {
    transaction: Transaction<'c>,
    read: Sql<'c>,
    size: Sql<'c>,
    scan: Sql<'c>,
    /// Within a transaction: how often a layer had been carried over when it began.
    snapshot: Option<u64>,
}

impl<'c> DiskReader<'c> {
    pub(super) fn new(connection: &'c Connection, statements: Statements) -> Result<Self> {
        let data = |text| Sql::of(connection, text, statements).map_err(ours);
        Ok(Self {
            transaction: Transaction::new(connection).map_err(ours)?,
            read: data("SELECT v FROM kv WHERE k=?1")?,
            size: data("SELECT octet_length(v) FROM kv WHERE k=?1")?,
            scan: data("SELECT v,k FROM kv WHERE k BETWEEN ?1 AND ?2 ORDER BY k")?,
            snapshot: None,
        })
    }

    /// Begins a transaction, which saves the locking of each read.
    pub(super) fn begin(&mut self, generation: u64) -> Result<()> {
        self.transaction.begin(Access::Read).map_err(ours)?;
        self.snapshot = Some(generation);
        Ok(())
    }

    /// Ends the transaction, if there is one.
    pub(super) fn end(&mut self) -> Result<()> {
        match self.snapshot.take() {
            Some(_) => self.transaction.commit().map_err(ours),
            None => Ok(()),
        }
    }

    /// Begins the transaction anew if a layer was carried over since it began: what has left the
    /// layers would be in neither.
    pub(super) fn renew(&mut self, generation: u64) -> Result<()> {
        if self.snapshot.is_some_and(|snapshot| snapshot != generation) {
            self.end()?;
            self.begin(generation)?;
        }
        Ok(())
    }

    /// Shows a value where it lies in SQLite's memory.
    pub(super) fn visit(
        &mut self,
        key: Key,
        k: i64,
        visit: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<Found> {
        let read_failed = |e: rusqlite::Error| ours(key_failed("read", key, &e));
        self.read.run(|statement| {
            statement.raw_bind_parameter(1, k).map_err(read_failed)?;
            let mut rows = statement.raw_query();
            let Some(row) = rows.next().map_err(read_failed)? else {
                return Ok(Found::Missing);
            };
            let value = value(row, 0, key).map_err(ours)?;
            visit(value)?;
            Ok(Found::Bytes(value.len()))
        })
    }

    /// The size of a value.
    pub(super) fn size(&mut self, key: Key, k: i64) -> Result<Found> {
        let size_failed = |e: rusqlite::Error| ours(key_failed("look up", key, &e));
        self.size.run(|statement| {
            statement.raw_bind_parameter(1, k).map_err(size_failed)?;
            let mut rows = statement.raw_query();
            match rows.next().map_err(size_failed)? {
                None => Ok(Found::Missing),
                Some(row) => {
                    let bytes: i64 = row.get(0).map_err(size_failed)?;
                    Ok(Found::Bytes(usize::try_from(bytes).unwrap_or(0)))
                }
            }
        })
    }

    /// Shows the values of a range of keys, both ends included, by rising key, until `visit`
    /// wants no more.
    pub(super) fn scan(
        &mut self,
        from: i64,
        upto: i64,
        visit: &mut dyn FnMut(i64, &[u8]) -> bool,
    ) -> Result<()> {
        let scan_failed = |e: rusqlite::Error| ours(failed("scan", &e));
        self.scan.run(|statement| {
            statement.raw_bind_parameter(1, from).map_err(scan_failed)?;
            statement.raw_bind_parameter(2, upto).map_err(scan_failed)?;
            let mut rows = statement.raw_query();
            while let Some(row) = rows.next().map_err(scan_failed)? {
                let k: i64 = row.get(1).map_err(scan_failed)?;
                if !visit(k, value(row, 0, Key(k.unsigned_abs())).map_err(ours)?) {
                    break;
                }
            }
            Ok(())
        })
    }
}
