//! The database and the directory of files as one store.

use super::session::CompositeSession;
use super::{Composite, Options};
use crate::files::store::FileStore;
use crate::names::Names;
use crate::sqlite::base::Base;
use crate::turns::Turns;
use crate::{Key, Result, Session, Store, StoreError, disk};
use std::fs;
use std::path::{Path, PathBuf};
use stowplan_model::{Footprint, Settings};

pub(super) struct CompositeStore {
    pub(super) kind: Composite,
    directory: PathBuf,
    pub(super) files: FileStore,
    pub(super) database: Base,
    pub(super) options: Options,
    pub(super) turns: Turns,
}

impl CompositeStore {
    pub(super) fn open(
        kind: Composite,
        directory: &Path,
        settings: &Settings,
        new: bool,
    ) -> Result<Box<dyn Store>> {
        let options = kind.options(settings)?;
        let [_, database_file, files_directory] = kind.names();
        let place = directory.join(files_directory);
        if new {
            fs::create_dir(&place).map_err(StoreError::io("make directory", &place))?;
        }
        let names = Names::of(directory, options.files.names)?;
        let mut files = FileStore::named_by(names.clone(), &place, options.files)?;
        // Where files are synced at all, so are new names: no row may outlive its file's name, nor go
        // before its file is there to stay.
        if options.files.fsync.syncs() > 0 {
            files = files.with_names_synced();
        }
        let database = options.database.clone().with_names(names);
        let database = Base::new(directory.join(database_file), database);
        database.open(new)?;
        Ok(Box::new(Self {
            kind,
            directory: directory.to_owned(),
            files,
            database,
            turns: Turns::of(options.database.busy_timeout()),
            options,
        }))
    }
}

impl Store for CompositeStore {
    fn connect(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(CompositeSession::new(self)?))
    }

    fn footprint(&self) -> Result<Footprint> {
        disk::footprint_of_tree(&self.directory)
    }

    /// The files are those that an insert gives the keys, as far as they are there. Asking the
    /// database, whose pages are to leave the cache too, would bring them back.
    fn data_files(&self, keys: &mut dyn Iterator<Item = Key>) -> Vec<PathBuf> {
        let mut files = self.database.data_files(&mut std::iter::empty());
        let of_keys = keys.map(|key| self.files.path_of(key));
        files.extend(of_keys.filter(|file| file.exists()));
        files
    }

    fn checkpoint(&self) -> Result<()> {
        self.database.checkpoint()
    }
}
