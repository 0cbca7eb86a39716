//! The database as a store: its files, its connections, its checkpoint.

use super::options::{Location, Options};
use super::session::SqliteSession;
use super::{STORE, database, database_path, failed};
use crate::{Connection, Key, Result, Session, Store, StoreError, disk};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use stowplan_model::{Footprint, Settings};

pub(super) struct SqliteStore {
    directory: PathBuf,
    database: PathBuf,
    options: Options,
    /// Connections that exist now.
    live: AtomicUsize,
    /// Connections that ever existed; a database that is not on disk has a single one.
    made: AtomicUsize,
}

impl SqliteStore {
    pub(super) fn new(directory: &Path, settings: &Settings) -> Result<Self> {
        Ok(Self {
            directory: directory.to_owned(),
            database: database_path(directory),
            options: Options::from_settings(settings)?,
            live: AtomicUsize::new(0),
            made: AtomicUsize::new(0),
        })
    }

    /// Makes the file, if there is to be one; elsewhere the first connection makes the database.
    pub(super) fn create(&self) -> Result<()> {
        if self.options.location != Location::Disk {
            return Ok(());
        }
        let connection = database::create(&self.database, &self.options)?;
        close(connection)
    }

    /// Whether there is a database that can be opened with these settings.
    pub(super) fn check(&self) -> Result<()> {
        if self.options.location != Location::Disk {
            return Err(self.not_on_disk("open again"));
        }
        close(database::open(&self.database, &self.options)?)
    }

    fn connection(&self) -> Result<rusqlite::Connection> {
        let earlier = self.made.fetch_add(1, SeqCst);
        match (self.options.location, earlier) {
            (Location::Disk, _) => database::open(&self.database, &self.options),
            (_, 0) => database::create(&self.database, &self.options),
            _ => Err(self.not_on_disk("have a second connection")),
        }
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
    fn files(&self) -> [PathBuf; 4] {
        ["", "-wal", "-journal", "-shm"].map(|suffix| {
            let mut path = self.database.clone().into_os_string();
            path.push(suffix);
            PathBuf::from(path)
        })
    }
}

fn close(connection: rusqlite::Connection) -> Result<()> {
    connection.close().map_err(|(_, e)| failed("close", &e))
}

impl Store for SqliteStore {
    fn connect(&self) -> Result<Box<dyn Connection + '_>> {
        let connection = self.connection()?;
        self.live.fetch_add(1, SeqCst);
        Ok(Box::new(SqliteConnection {
            connection,
            options: &self.options,
            _live: Live(&self.live),
        }))
    }

    /// Nothing for databases that are not on disk: a temporary one has no name to look at.
    fn footprint(&self) -> Result<Footprint> {
        if self.options.location != Location::Disk {
            return Ok(Footprint::default());
        }
        let files = self.files();
        let directory = self.directory.is_dir().then_some(self.directory.as_path());
        disk::footprint_of_paths(files.iter().map(PathBuf::as_path).chain(directory))
    }

    fn data_files(&self, _: &mut dyn Iterator<Item = Key>) -> Vec<PathBuf> {
        let [database, log, ..] = self.files();
        [database, log].into_iter().filter(|p| p.exists()).collect()
    }

    /// Needs a connection of its own, which exclusive locking does not admit beside another.
    fn checkpoint(&self) -> Result<()> {
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
        let connection = database::open(&self.database, &self.options)?;
        database::checkpoint(&connection)?;
        close(connection)
    }
}

/// Counts a connection for as long as it lives.
struct Live<'s>(&'s AtomicUsize);

impl Drop for Live<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

struct SqliteConnection<'s> {
    connection: rusqlite::Connection,
    options: &'s Options,
    _live: Live<'s>,
}

impl Connection for SqliteConnection<'_> {
    fn session(&mut self) -> Result<Box<dyn Session + '_>> {
        // A session that was dropped within a transaction takes it along.
        if !self.connection.is_autocommit() {
            self.connection
                .execute_batch("ROLLBACK")
                .map_err(|e| failed("roll back an abandoned transaction", &e))?;
        }
        Ok(Box::new(SqliteSession::new(
            &self.connection,
            self.options,
        )?))
    }

    fn effective_settings(&self) -> Result<Settings> {
        database::effective_settings(&self.connection, self.options)
    }

    fn close(self: Box<Self>) -> Result<()> {
        close(self.connection)
    }
}
