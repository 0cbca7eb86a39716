//! The database as a store.

use super::base::Base;
use super::options::Options;
use super::pages::Pages;
use super::{STORE, database_path};
use crate::names::Names;
use crate::{Connection, Key, KeyForm, Pieces, Result, Store, disk};
use std::path::{Path, PathBuf};
use stowplan_model::{Footprint, Settings};

pub(super) struct SqliteStore {
    directory: PathBuf,
    pub(super) base: Base,
}

impl SqliteStore {
    pub(super) fn new(directory: &Path, settings: &Settings) -> Result<Self> {
        let options = Options::from_settings(settings)?;
        let names = Names::of(STORE, directory, options.pragmas.names)?;
        Ok(Self {
            directory: directory.to_owned(),
            base: Base::new(database_path(directory), options.with_names(names)),
        })
    }
}

impl Store for SqliteStore {
    fn connect(&self) -> Result<Box<dyn Connection + '_>> {
        Ok(Box::new(self.base.connect()?))
    }

    /// Nothing for databases that are not on disk: a temporary one has no name to look at.
    fn footprint(&self) -> Result<Footprint> {
        if !self.base.options().on_disk() {
            return Ok(Footprint::default());
        }
        let files = self.base.files();
        let directory = self.directory.is_dir().then_some(self.directory.as_path());
        disk::footprint_of_paths(files.iter().map(PathBuf::as_path).chain(directory))
    }

    fn data_files(&self, _: &mut dyn Iterator<Item = Key>) -> Vec<PathBuf> {
        self.base.data_files().collect()
    }

    /// Of rows that are kept by their keys as numbers, in the file.
    fn pieces(&self, keys: &mut dyn Iterator<Item = Key>) -> Result<Option<Vec<Pieces>>> {
        let options = self.base.options();
        let [file, log, ..] = self.base.files();
        let in_log = log.metadata().is_ok_and(|log| log.len() > 0);
        let by_number = options.table.key == KeyForm::Integer;
        if !options.on_disk() || !by_number || in_log {
            return Ok(None);
        }
        let mut link = self.base.connect()?;
        let pages = Pages::open(&file, link.connection()?)?;
        let rows = keys.filter_map(|key| i64::try_from(key.0).ok());
        let pieces = rows
            .filter_map(|row| pages.row(row).transpose())
            .collect::<Result<_>>()?;
        drop(pages);
        link.close()?;
        Ok(Some(pieces))
    }

    fn checkpoint(&self) -> Result<()> {
        self.base.checkpoint()
    }
}
