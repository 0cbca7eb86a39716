//! A database as part of a store: its files, its connections, its checkpoint.

use super::options::{Journal, Location, Options};
use super::{DATABASE_FILE, SqliteSession, database, failed};
use crate::options::refuse;
use crate::{Key, Result, Session, Store, StoreError, disk};
use parking_lot::Mutex;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stowplan_model::Footprint;

/// A database of these options, at this path if it is on disk.
pub(crate) struct Base {
    /// Of a store of its own, which is a directory.
    directory: Option<PathBuf>,
    path: PathBuf,
    options: Options,
    /// As many copies as there are sessions now.
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
            (true, false) => close(self.connection()?),
        }
    }

    /// A session on its rows.
    pub(crate) fn session(&self) -> Result<SqliteSession<'_>> {
        let connection = match self.options.on_disk() {
            true => self.connection()?,
            false => self.connection_in_memory()?,
        };
        SqliteSession::new(connection, &self.options, Arc::clone(&self.live))
    }

    /// A connection of its own, to a database on disk.
    pub(crate) fn connection(&self) -> Result<Connection> {
        database::open(&self.path, &self.options)
    }

    /// Makes the database, or shares it where it can be shared and still exists.
    fn connection_in_memory(&self) -> Result<Connection> {
        let mut made = self.made.lock();
        if !*made {
            let connection = database::create(&self.path, &self.options)?;
            *made = true;
            return Ok(connection);
        }
        if self.options.pragmas.location == Location::Shared && self.has_sessions() {
            return database::join_shared(&self.path, &self.options);
        }
        Err(self.not_on_disk("have a second connection"))
    }

    fn has_sessions(&self) -> bool {
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

    /// The data files of a store in a directory, those that exist.
    pub(crate) fn files_below(directory: &Path) -> Vec<PathBuf> {
        let files = [DATABASE_FILE.to_owned(), format!("{DATABASE_FILE}-wal")];
        let paths = files.map(|file| directory.join(file)).into_iter();
        paths.filter(|path| path.exists()).collect()
    }
}

impl Store for Base {
    fn connect(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(self.session()?))
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
            self.options.locks_exclusively() && self.has_sessions() => "checkpoint beside a connection",
                "with locking=exclusive it holds the lock; closing it checkpoints";
        }
        // The last connection to close has done it, and took the log along.
        let [_, log, ..] = self.files();
        if !log.exists() {
            return Ok(());
        }
        let connection = self.connection()?;
        database::checkpoint(&connection)?;
        close(connection)
    }
}

/// Closes a connection; what that says may be an error of an earlier write.
pub(super) fn close(connection: Connection) -> Result<()> {
    connection.close().map_err(|(_, e)| failed("close", &e))
}
