//! The database and the directory of files as one store.

use super::session::SplitSession;
use super::{DATABASE_FILE, FILES, Options, STORE, ours};
use crate::files::store::FileStore;
use crate::names::Names;
use crate::sqlite::base::{Base, Link};
use crate::{Connection, Key, Result, Session, Store, disk};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use stowplan_model::{Footprint, Settings};

pub(super) struct SplitStore {
    directory: PathBuf,
    pub(super) files: FileStore,
    database: Base,
    /// In bytes.
    pub(super) inline_limit: u64,
    settings: Settings,
}

impl SplitStore {
    /// A store whose directory of files exists.
    pub(super) fn new(directory: &Path, settings: &Settings) -> Result<Self> {
        let options = Options::from_settings(settings)?;
        let files = directory.join(FILES);
        let names = Names::of(STORE, directory, options.files.names)?;
        let files = FileStore::named_by(names.clone(), &files, options.files, settings.clone());
        let mut files = files.map_err(ours)?;
        // Where files are synced at all, so are new names: no row goes before its file is there to stay.
        if options.files.syncs_per_overwrite() > 0 {
            files = files.with_names_synced();
        }
        let database = options.database.with_names(names);
        Ok(Self {
            directory: directory.to_owned(),
            files,
            database: Base::new(directory.join(DATABASE_FILE), database),
            inline_limit: options.inline_limit,
            settings: settings.clone(),
        })
    }

    pub(super) fn create_database(&self) -> Result<()> {
        self.database.create().map_err(ours)
    }

    /// Whether there is a database that can be opened with these settings.
    pub(super) fn check_database(&self) -> Result<()> {
        self.database.check().map_err(ours)
    }
}

impl Store for SplitStore {
    fn connect(&self) -> Result<Box<dyn Connection + '_>> {
        let mut link = self.database.connect().map_err(ours)?;
        let commits = link.count_commits().map_err(ours)?;
        Ok(Box::new(SplitConnection {
            store: self,
            link,
            commits,
        }))
    }

    fn footprint(&self) -> Result<Footprint> {
        disk::footprint_of_tree(&self.directory)
    }

    /// The database, and the files that are there. Asking it which are would bring its pages back.
    fn data_files(&self, keys: &mut dyn Iterator<Item = Key>) -> Vec<PathBuf> {
        let files = keys.map(|key| self.files.path_of(key));
        let files = files.filter(|file| file.exists());
        self.database.data_files().chain(files).collect()
    }

    fn checkpoint(&self) -> Result<()> {
        self.database.checkpoint().map_err(ours)
    }
}

struct SplitConnection<'s> {
    store: &'s SplitStore,
    link: Link<'s>,
    /// Transactions that changed something and were committed.
    commits: Arc<AtomicU64>,
}

impl Connection for SplitConnection<'_> {
    fn session(&mut self) -> Result<Box<dyn Session + '_>> {
        let (connection, options) = self.link.begin_session().map_err(ours)?;
        let commits = Arc::clone(&self.commits);
        let session = SplitSession::new(connection, options, commits, self.store);
        Ok(Box::new(session.map_err(ours)?))
    }

    /// What SQLite reports of the settings that this store has; the others are this program's
    /// own doing, so they are as asked.
    fn effective_settings(&self) -> Result<Settings> {
        let effective = self.link.effective_settings_of(&self.store.settings);
        effective.map_err(ours)
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.link.close().map_err(ours)
    }
}
