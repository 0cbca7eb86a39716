//! Incremental blob I/O: one handle, moved from row to row.
//!
//! An open handle is a running statement: it keeps its transaction open. Outside `begin` …
//! `commit` it is therefore closed after each operation, and before a commit always.

use super::failed;
use super::options::Statements;
use crate::{Buffer, Found, Key, Result, StoreError};
use rusqlite::blob::Blob;
use rusqlite::{Connection, MAIN_DB, OptionalExtension};
use std::io::{Read, Write};

/// What a handle is for; one that writes can also read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Purpose {
    Read,
    Write,
}

/// The handle of a session, if it is open.
pub(super) struct BlobHandle<'c> {
    connection: &'c Connection,
    statements: Statements,
    open: Option<(Blob<'c>, Purpose)>,
}

impl<'c> BlobHandle<'c> {
    pub(super) fn new(connection: &'c Connection, statements: Statements) -> Self {
        Self {
            connection,
            statements,
            open: None,
        }
    }

    /// Ends the handle's statement; in a transaction of its own, that is the commit.
    pub(super) fn close(&mut self) -> Result<()> {
        match self.open.take() {
            Some((blob, _)) => blob.close().map_err(|e| failed("close a blob handle", &e)),
            None => Ok(()),
        }
    }

    pub(super) fn read(&mut self, key: i64, buffer: &mut Buffer) -> Result<Found> {
        let Some(blob) = self.at(key, Purpose::Read)? else {
            return Ok(Found::Missing);
        };
        let size = blob_size(blob);
        let read = blob
            .read(buffer.room(size)?)
            .map_err(|e| io_failed("read", key, &e))?;
        if read < size {
            let detail = format!("{read} of {size} bytes were delivered");
            return Err(StoreError::damaged(Key(key.unsigned_abs()), detail));
        }
        self.end_operation()?;
        Ok(Found::Bytes(size))
    }

    pub(super) fn overwrite(&mut self, key: i64, value: &[u8]) -> Result<Found> {
        let Some(blob) = self.at(key, Purpose::Write)? else {
            return Ok(Found::Missing);
        };
        let size = blob_size(blob);
        if size != value.len() {
            self.end_operation()?;
            return Err(StoreError::unsupported(
                format!("overwrite {size} bytes by {}", value.len()),
                "with api=blob a value keeps its size; use api=sql",
            ));
        }
        blob.write_all(value)
            .map_err(|e| io_failed("overwrite", key, &e))?;
        self.end_operation()?;
        Ok(Found::Bytes(size))
    }

    fn end_operation(&mut self) -> Result<()> {
        if self.statements == Statements::Each || self.connection.is_autocommit() {
            self.close()?;
        }
        Ok(())
    }

    /// The handle, on the row of `key`; none if there is no such row.
    fn at(&mut self, key: i64, purpose: Purpose) -> Result<Option<&mut Blob<'c>>> {
        let moved = match &mut self.open {
            Some((blob, open_for)) if *open_for >= purpose => blob.reopen(key),
            _ => self.open_at(key, purpose)?,
        };
        match moved {
            Ok(()) => Ok(self.open.as_mut().map(|(blob, _)| blob)),
            Err(error) => self.not_at(key, error),
        }
    }

    /// Opens a new handle. The inner result is SQLite's about the row.
    fn open_at(&mut self, key: i64, purpose: Purpose) -> Result<rusqlite::Result<()>> {
        self.close()?;
        let read_only = purpose == Purpose::Read;
        let opened = self
            .connection
            .blob_open(MAIN_DB, c"kv", c"v", key, read_only);
        Ok(opened.map(|blob| self.open = Some((blob, purpose))))
    }

    /// SQLite aborts a handle that could not be moved, and has no code of its own for a missing
    /// row; so the handle is given up and the row looked for.
    fn not_at(&mut self, key: i64, error: rusqlite::Error) -> Result<Option<&mut Blob<'c>>> {
        // Closing an aborted handle repeats its error.
        self.open = None;
        let row = self
            .connection
            .query_row("SELECT 1 FROM kv WHERE k=?1", [key], |_| Ok(()))
            .optional();
        match row {
            Ok(None) => Ok(None),
            _ => Err(failed(format!("open the blob of key {key}"), &error)),
        }
    }
}

/// In bytes; SQLite's own type for it is a signed number that is never negative.
fn blob_size(blob: &Blob<'_>) -> usize {
    usize::try_from(blob.size()).unwrap_or(0)
}

/// What SQLite said about an open handle; rusqlite wraps it for the traits of the standard library.
fn io_failed(action: &str, key: i64, error: &std::io::Error) -> StoreError {
    let action = format!("{action} the blob of key {key}");
    match error.get_ref().and_then(|inner| inner.downcast_ref()) {
        Some(error) => failed(action, error),
        None => StoreError::engine(action, error.to_string()),
    }
}
