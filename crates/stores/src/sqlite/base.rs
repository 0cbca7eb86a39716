//! A database as part of a store: its files, its connections, its checkpoint.

use super::options::{Journal, Location, Options};
use super::{DATABASE_FILE, SqliteSession, counters, database, failed};
use crate::options::refuse;
use crate::{Connection, Key, Result, Session, Store, StoreError, disk};
use parking_lot::Mutex;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use stowplan_model::{Footprint, Settings};

/// A database of these options, at this path if it is on disk.
pub(crate) struct Base {
    /// Of a store of its own, which is a directory.
    directory: Option<PathBuf>,
    path: PathBuf,
    options: Options,
    /// As many copies as there are connections now.
    live: Arc<()>,
    /// Of a database that is not on disk: whether it was made, by its first connection.
    made: Mutex<bool>,
}

impl Base {
    /// That of another store.
    pub(crate) fn new(path: PathBuf, options: Options) -> Self {
        Self {
            directory: None,
            path,
            options,
            live: Arc::new(()),
            made: Mutex::new(false),
        }
    }

    /// That of a store in a directory, or at the path of a database file.
    pub(crate) fn of_store(directory: &Path, options: Options) -> Self {
        let is_file = !directory.is_dir();
        let path = if is_file {
            directory.to_owned()
        } else {
            directory.join(DATABASE_FILE)
        };
        Self {
            directory: (!is_file).then(|| directory.to_owned()),
            ..Self::new(path, options)
        }
    }

    /// Makes the file, if there is to be one (elsewhere the first connection makes the database), or sees
    /// whether there is one that can be opened with these settings.
    pub(crate) fn open(&self, new: bool) -> Result<()> {
        match (self.options.on_disk(), new) {
            (false, true) => Ok(()),
            (false, false) => Err(self.not_on_disk("open again")),
            (true, true) => close(database::create(&self.path, &self.options)?),
            (true, false) => close(database::open(&self.path, &self.options)?),
        }
    }

    pub(crate) fn link(&self) -> Result<Link<'_>> {
        match self.options.pragmas.location {
            Location::Disk => self.linked(database::open(&self.path, &self.options)?),
            Location::Memory
            | Location::Named
            | Location::Memdb
            | Location::Shared
            | Location::Temp => self.link_in_memory(),
        }
    }

    /// Makes the database, or shares it where it can be shared and still exists.
    fn link_in_memory(&self) -> Result<Link<'_>> {
        let mut made = self.made.lock();
        if !*made {
            let connection = database::create(&self.path, &self.options)?;
            *made = true;
            return self.linked(connection);
        }
        if self.options.pragmas.location == Location::Shared && self.has_connections() {
            return self.linked(database::join_shared(&self.path, &self.options)?);
        }
        Err(self.not_on_disk("have a second connection"))
    }

    fn linked(&self, mut connection: rusqlite::Connection) -> Result<Link<'_>> {
        let commits = counters::count_commits(&mut connection)?;
        Ok(Link {
            connection,
            options: &self.options,
            commits,
            _live: Arc::clone(&self.live),
        })
    }

    fn has_connections(&self) -> bool {
        Arc::strong_count(&self.live) > 1
    }

    fn not_on_disk(&self, what: &str) -> StoreError {
        let location = self.options.pragmas.location.word();
        StoreError::unsupported(
            what,
            format!("with location={location} the data ends with its connection"),
        )
    }

    /// The database and the files that SQLite may put beside it.
    fn files(&self) -> [PathBuf; 4] {
        ["", "-wal", "-journal", "-shm"].map(|suffix| {
            let mut path = self.path.clone().into_os_string();
            path.push(suffix);
            PathBuf::from(path)
        })
    }
}

impl Store for Base {
    fn connect(&self) -> Result<Box<dyn Connection + '_>> {
        Ok(Box::new(self.link()?))
    }

    /// Nothing for databases that are not on disk: a temporary one has no name to look at.
    fn footprint(&self) -> Result<Footprint> {
        if !self.options.on_disk() {
            return Ok(Footprint::default());
        }
        let files = self.files();
        disk::footprint_of_paths(files.iter().chain(&self.directory).map(PathBuf::as_path))
    }

    /// Those that exist.
    fn data_files(&self, _: &mut dyn Iterator<Item = Key>) -> Vec<PathBuf> {
        let [database, log, ..] = self.files();
        [database, log].into_iter().filter(|p| p.exists()).collect()
    }

    /// Needs a connection of its own, which exclusive locking does not admit beside another.
    fn checkpoint(&self) -> Result<()> {
        if !self.options.on_disk() || self.options.journal() != Journal::Wal {
            return Ok(());
        }
        refuse! {
            self.options.locks_exclusively() && self.has_connections() => "checkpoint beside a connection",
                "with locking=exclusive it holds the lock; closing it checkpoints";
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

/// One thread's connection to a [`Base`].
pub(crate) struct Link<'s> {
    connection: rusqlite::Connection,
    options: &'s Options,
    /// Transactions that changed something and were committed.
    commits: Arc<AtomicU64>,
    _live: Arc<()>,
}

impl Link<'_> {
    /// The connection, without what a session left that was dropped.
    pub(crate) fn connection(&mut self) -> Result<&rusqlite::Connection> {
        // A session that was dropped within a transaction takes it along.
        if !self.connection.is_autocommit() {
            self.connection
                .execute_batch("ROLLBACK")
                .map_err(|e| failed("roll back an abandoned transaction", &e))?;
        }
        Ok(&self.connection)
    }

    /// A session on its rows.
    pub(crate) fn rows(&mut self) -> Result<SqliteSession<'_>> {
        let (options, commits) = (self.options, Arc::clone(&self.commits));
        SqliteSession::new(self.connection()?, options, commits)
    }

    /// The settings of a store that this database is part of: as SQLite reports them, and where it
    /// does not, as asked, for the others are this program's own doing.
    pub(crate) fn effective_settings_of(&self, asked: &Settings) -> Result<Settings> {
        let mut effective = asked.clone();
        for (name, value) in Connection::effective_settings(self)?.iter() {
            if effective.get(name).is_some() {
                effective.set(name, value.clone());
            }
        }
        Ok(effective)
    }

    pub(crate) fn close(self) -> Result<()> {
        close(self.connection)
    }
}

impl Connection for Link<'_> {
    fn session(&mut self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(self.rows()?))
    }

    fn effective_settings(&self) -> Result<Settings> {
        database::effective_settings(&self.connection, self.options)
    }

    fn close(self: Box<Self>) -> Result<()> {
        Self::close(*self)
    }
}
