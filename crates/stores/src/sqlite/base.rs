//! A database as part of a store: its files, its connections, its checkpoint.

use super::options::{Location, Options};
use super::{STORE, counters, database, failed};
use crate::{Result, StoreError};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use stowplan_model::Settings;

/// A database of these options, at this path if it is on disk.
pub(crate) struct Base {
    path: PathBuf,
    options: Options,
    /// Connections that exist now.
    live: AtomicUsize,
    /// Connections that ever existed; a database that is not on disk has a single one.
    made: AtomicUsize,
}

impl Base {
    pub(crate) fn new(path: PathBuf, options: Options) -> Self {
        Self {
            path,
            options,
            live: AtomicUsize::new(0),
            made: AtomicUsize::new(0),
        }
    }

    pub(super) fn options(&self) -> &Options {
        &self.options
    }

    /// Makes the file, if there is to be one; elsewhere the first connection makes the database.
    pub(crate) fn create(&self) -> Result<()> {
        if self.options.location != Location::Disk {
            return Ok(());
        }
        let connection = database::create(&self.path, &self.options)?;
        close(connection)
    }

    /// Whether there is a database that can be opened with these settings.
    pub(crate) fn check(&self) -> Result<()> {
        if self.options.location != Location::Disk {
            return Err(self.not_on_disk("open again"));
        }
        close(database::open(&self.path, &self.options)?)
    }

    pub(crate) fn connect(&self) -> Result<Link<'_>> {
        let earlier = self.made.fetch_add(1, SeqCst);
        let connection = match (self.options.location, earlier) {
            (Location::Disk, _) => database::open(&self.path, &self.options),
            (_, 0) => database::create(&self.path, &self.options),
            (Location::Shared, _) if self.live.load(SeqCst) > 0 => {
                database::join_shared(&self.path, &self.options)
            }
            _ => Err(self.not_on_disk("have a second connection")),
        }?;
        self.live.fetch_add(1, SeqCst);
        Ok(Link {
            connection,
            options: &self.options,
            _live: Live(&self.live),
        })
    }

    fn not_on_disk(&self, what: &str) -> StoreError {
        let location = self.options.settings.word("location");
        StoreError::unsupported(
            STORE,
            what,
            format!("with location={location} the data ends with its connection"),
        )
    }

    /// The database and the files that SQLite may put beside it.
    pub(super) fn files(&self) -> [PathBuf; 4] {
        ["", "-wal", "-journal", "-shm"].map(|suffix| {
            let mut path = self.path.clone().into_os_string();
            path.push(suffix);
            PathBuf::from(path)
        })
    }

    /// The files that hold data and exist.
    pub(crate) fn data_files(&self) -> impl Iterator<Item = PathBuf> {
        let [database, log, ..] = self.files();
        [database, log].into_iter().filter(|p| p.exists())
    }

    /// Needs a connection of its own, which exclusive locking does not admit beside another.
    pub(crate) fn checkpoint(&self) -> Result<()> {
        if self.options.location != Location::Disk || self.options.journal() != "wal" {
            return Ok(());
        }
        if self.options.exclusive && self.live.load(SeqCst) > 0 {
            return Err(StoreError::unsupported(
                STORE,
                "checkpoint beside a connection",
                "with locking=exclusive it holds the lock; closing it checkpoints",
            ));
        }
        // The last connection to close has done it, and took the log along.
        let [_, log, ..] = self.files();
        if !log.exists() {
            return Ok(());
        }
        let connection = database::open(&self.path, &self.options)?;
        database::checkpoint(&connection)?;
        close(connection)
    }
}

fn close(connection: rusqlite::Connection) -> Result<()> {
    connection.close().map_err(|(_, e)| failed("close", &e))
}

/// Counts a connection for as long as it lives.
struct Live<'s>(&'s AtomicUsize);

impl Drop for Live<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

/// One thread's connection to a [`Base`].
pub(crate) struct Link<'s> {
    connection: rusqlite::Connection,
    options: &'s Options,
    _live: Live<'s>,
}

impl Link<'_> {
    /// The connection and its options, for a new session.
    pub(crate) fn begin_session(&mut self) -> Result<(&rusqlite::Connection, &Options)> {
        // A session that was dropped within a transaction takes it along.
        if !self.connection.is_autocommit() {
            self.connection
                .execute_batch("ROLLBACK")
                .map_err(|e| failed("roll back an abandoned transaction", &e))?;
        }
        Ok((&self.connection, self.options))
    }

    /// Counts the transactions that change something and are committed, from now on.
    pub(super) fn count_commits(&mut self) -> Result<Arc<AtomicU64>> {
        counters::count_commits(&mut self.connection)
    }

    pub(crate) fn effective_settings(&self) -> Result<Settings> {
        database::effective_settings(&self.connection, self.options)
    }

    pub(crate) fn close(self) -> Result<()> {
        close(self.connection)
    }
}
