//! Making and opening the database and the directory of files as one store.

use super::{Composite, Options};
use crate::files::store::FileStore;
use crate::names::Names;
use crate::sqlite::base::Base;
use crate::turns::Turns;
use crate::{Result, Store, StoreError};
use std::fs;
use std::path::{Path, PathBuf};
use stowplan_model::Settings;

pub(super) struct CompositeStore {
    pub(super) kind: Composite,
    pub(super) directory: PathBuf,
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
