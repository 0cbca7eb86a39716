//! Operations on the store: the file of a key is the one that the layout names.

use super::STORE;
use super::name::Name;
use super::named::NamedFiles;
use super::store::FileStore;
use crate::{Access, Buffer, Found, Key, Result, Session, StoreError};

pub(super) struct FileSession<'s> {
    store: &'s FileStore,
    files: NamedFiles<'s>,
    /// Holds the value that a scan shows.
    scanned: Buffer,
}

impl<'s> FileSession<'s> {
    pub(super) fn new(store: &'s FileStore) -> Result<Self> {
        Ok(Self {
            store,
            files: NamedFiles::new(store)?,
            scanned: Buffer::with_capacity(0)?,
        })
    }

    fn name(&self, key: Key) -> Name {
        Name::of(self.store.options.layout, key)
    }
}

impl Session for FileSession<'_> {
    fn begin(&mut self, _: Access) -> Result<()> {
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        Ok(())
    }

    fn rollback(&mut self) -> Result<()> {
        Err(StoreError::unsupported(
            STORE,
            "roll back",
            "files have no transactions",
        ))
    }

    fn read_into(&mut self, key: Key, buffer: &mut Buffer) -> Result<Found> {
        self.files.read(key, &self.name(key), buffer)
    }

    fn read_in_place(&mut self, _: Key, _: &mut dyn FnMut(&[u8])) -> Result<Found> {
        Err(StoreError::unsupported(
            STORE,
            "deliver in place",
            "a file is read into a buffer; use delivery \"copy\"",
        ))
    }

    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        self.files.insert(key, &self.name(key), value)
    }

    fn overwrite(&mut self, key: Key, value: &[u8]) -> Result<Found> {
        self.files.overwrite(&self.name(key), value)
    }

    fn delete(&mut self, key: Key) -> Result<bool> {
        self.files.remove(&self.name(key))
    }

    fn scan(
        &mut self,
        from: Key,
        limit: usize,
        visit: &mut dyn FnMut(Key, &[u8]),
    ) -> Result<usize> {
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
        self.store.remove()
    }
}
