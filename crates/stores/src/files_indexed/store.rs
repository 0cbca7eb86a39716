//! The database and the directory of files as one store.

use super::session::IndexedSession;
use super::turns::Turns;
use super::{BLOBS, INDEX_FILE, Options, STORE, ours};
use crate::files::store::FileStore;
use crate::sqlite::base::{Base, Link};
use crate::{Connection, Key, Result, Session, Store, StoreError, disk};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use stowplan_model::{Footprint, Settings};

pub(super) struct IndexedStore {
    directory: PathBuf,
    pub(super) files: FileStore,
    index: Base,
    pub(super) options: Options,
    settings: Settings,
    pub(super) turns: Turns,
    /// Files that were removed, counted just before they go.
    pub(super) removed: AtomicU64,
}

impl IndexedStore {
    /// A store whose directory of files exists.
    pub(super) fn new(directory: &Path, settings: &Settings) -> Result<Self> {
        let options = Options::from_settings(settings)?;
        let mut files = open_files(&directory.join(BLOBS), &options, settings)?;
        // Where files are synced at all, so are new names: no row may outlive its file's name.
        if options.files.syncs_per_overwrite() > 0 {
            files = files.with_names_synced();
        }
        Ok(Self {
            directory: directory.to_owned(),
            files,
            index: Base::new(directory.join(INDEX_FILE), options.database.clone()),
            turns: Turns::new(options.database.busy_timeout()),
            removed: AtomicU64::new(0),
            options,
            settings: settings.clone(),
        })
    }

    pub(super) fn create_index(&self) -> Result<()> {
        self.index.create().map_err(ours)
    }

    /// Whether there is a database of names that can be opened with these settings.
    pub(super) fn check_index(&self) -> Result<()> {
        self.index.check().map_err(ours)
    }
}

/// The directory of files itself, never a link to another.
fn open_files(path: &Path, options: &Options, settings: &Settings) -> Result<FileStore> {
    let metadata = fs::symlink_metadata(path).map_err(StoreError::io("open", path))?;
    if !metadata.is_dir() {
        return Err(StoreError::Engine {
            store: STORE,
            action: format!("open {}", path.display()),
            detail: "it is not a directory".to_owned(),
        });
    }
    FileStore::open(path, options.files, settings.clone()).map_err(ours)
}

impl Store for IndexedStore {
    fn connect(&self) -> Result<Box<dyn Connection + '_>> {
        Ok(Box::new(IndexedConnection {
            store: self,
            link: self.index.connect().map_err(ours)?,
        }))
    }

    fn footprint(&self) -> Result<Footprint> {
        disk::footprint_of_tree(&self.directory)
    }

    /// The files are those that an insert gives the keys. Asking the database, whose pages are
    /// to leave the cache too, would bring them back.
    fn data_files(&self, keys: &mut dyn Iterator<Item = Key>) -> Vec<PathBuf> {
        let files = keys.map(|key| self.files.path_of(key));
        self.index.data_files().chain(files).collect()
    }

    fn checkpoint(&self) -> Result<()> {
        self.index.checkpoint().map_err(ours)
    }
}

struct IndexedConnection<'s> {
    store: &'s IndexedStore,
    link: Link<'s>,
}

impl Connection for IndexedConnection<'_> {
    fn session(&mut self) -> Result<Box<dyn Session + '_>> {
        let (connection, _) = self.link.begin_session().map_err(ours)?;
        Ok(Box::new(IndexedSession::new(connection, self.store)?))
    }

    /// What SQLite reports of the settings that this store has; the others are this program's
    /// own doing, so they are as asked.
    fn effective_settings(&self) -> Result<Settings> {
        self.link
            .effective_settings_of(&self.store.settings)
            .map_err(ours)
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.link.close().map_err(ours)
    }
}
