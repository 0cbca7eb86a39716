//! The store, and operations on it: the file of a key is the one that the layout names.

use super::Opening;
use super::kept::Kept;
use super::name::Name;
use super::named::NamedFiles;
use super::store::FileStore;
use crate::{Buffer, Found, Key, Result, Session, Store, Visit, disk};
use std::path::PathBuf;
use stowplan_model::Footprint;

pub(super) struct FileSession<'s> {
    store: &'s FileStore,
    files: NamedFiles<'s>,
    /// With `open=kept`.
    kept: Option<Kept>,
    /// Holds the value that a scan shows.
    scanned: Buffer,
}

impl<'s> FileSession<'s> {
    pub(super) fn new(store: &'s FileStore) -> Result<Self> {
        let files = NamedFiles::new(store)?;
        let keeps = store.options.open == Opening::Kept;
        Ok(Self {
            store,
            kept: keeps.then(|| Kept::of(&files)).transpose()?,
            files,
            scanned: Buffer::with_capacity(0)?,
        })
    }

    fn name(&self, key: Key) -> Name {
        self.store.name(key)
    }
}

impl Store for FileStore {
    fn connect(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(FileSession::new(self)?))
    }

    fn footprint(&self) -> Result<Footprint> {
        disk::footprint_of_tree(&self.path)
    }

    fn data_files(&self, keys: &mut dyn Iterator<Item = Key>) -> Vec<PathBuf> {
        keys.map(|key| self.path_of(key)).collect()
    }
}

impl Session for FileSession<'_> {
    fn read_into(&mut self, key: Key, buffer: &mut Buffer) -> Result<Found> {
        let name = self.name(key);
        let Some(kept) = &mut self.kept else {
            return self.files.read(key, &name, buffer);
        };
        match kept.file(key, &name, &self.files)? {
            Some(file) => self.files.read_kept(key, &name, file, buffer),
            None => Ok(Found::Missing),
        }
    }

    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        self.files.insert(key, &self.name(key), value)
    }

    fn overwrite(&mut self, key: Key, value: &[u8]) -> Result<Found> {
        let name = self.name(key);
        let Some(kept) = &mut self.kept else {
            return self.files.overwrite(&name, value);
        };
        match kept.file(key, &name, &self.files)? {
            Some(file) => self.files.overwrite_kept(&name, file, value),
            None => Ok(Found::Missing),
        }
    }

    fn delete(&mut self, key: Key) -> Result<bool> {
        if let Some(kept) = &mut self.kept {
            kept.close(key);
        }
        self.files.remove(&self.name(key))
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        let mut buffer = std::mem::replace(&mut self.scanned, Buffer::with_capacity(0)?);
        let mut visited = 0;
        for key in self.store.keys(from)? {
            if visited == limit {
                break;
            }
            // A file that was deleted since the listing is no value any more.
            if let Found::Bytes(_) = self.read_into(key, &mut buffer)? {
                visit(key, buffer.bytes());
                visited += 1;
            }
        }
        self.scanned = buffer;
        Ok(visited)
    }

    fn create_table(&mut self) -> Result<()> {
        self.files.make_root()
    }

    fn drop_table(&mut self) -> Result<()> {
        if let Some(kept) = &mut self.kept {
            *kept = Kept::default();
        }
        self.store.remove()
    }
}
