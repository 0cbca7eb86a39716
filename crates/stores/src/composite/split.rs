//! Operations of `split`: the row first, then the file.
//!
//! An overwrite by a value of the other kind moves it. In between it is in both places, and the row counts:
//! a large value becomes a row first, and its file goes then; the file of a small one is whole before its row
//! goes. So a process that dies leaves the old value or the new one.

use super::indexed::no_way_back;
use super::store::CompositeStore;
use crate::files::named::NamedFiles;
use crate::sqlite::{COMMITS_COUNTED, SqliteSession};
use crate::{Access, Buffer, Counters, Found, Key, Result, Session, StoreError};

pub(super) struct SplitSession<'s> {
    rows: SqliteSession<'s>,
    files: NamedFiles<'s>,
    store: &'s CompositeStore,
    /// Within a transaction.
    begun: bool,
    /// Files whose values became rows in the running transaction. They go after its commit.
    moved: Vec<Key>,
}

impl<'s> SplitSession<'s> {
    pub(super) fn new(rows: SqliteSession<'s>, store: &'s CompositeStore) -> Result<Self> {
        Ok(Self {
            rows,
            files: NamedFiles::new(&store.files)?,
            store,
            begun: false,
            moved: Vec::new(),
        })
    }

    fn lies_inside(&self, value: &[u8]) -> bool {
        value.len() as u64 <= self.store.options.inline_limit
    }

    fn remove_file(&self, key: Key) -> Result<bool> {
        self.files.remove(&self.store.files.name(key))
    }

    fn overwrite_inside(&mut self, key: Key, value: &[u8]) -> Result<Found> {
        let found = self.rows.overwrite(key, value)?;
        if found != Found::Missing || !self.files.is_there(&self.store.files.name(key))? {
            return Ok(found);
        }
        self.rows.insert(key, value)?;
        if self.begun {
            self.moved.push(key);
        } else {
            self.remove_file(key)?;
        }
        Ok(Found::Bytes(value.len()))
    }

    fn overwrite_outside(&mut self, key: Key, value: &[u8]) -> Result<Found> {
        let name = self.store.files.name(key);
        let was_inside = self.rows.has(key)?;
        let found = self.files.overwrite(&name, value)?;
        if !was_inside {
            return Ok(found);
        }
        if found == Found::Missing {
            self.files.insert(key, &name, value)?;
        }
        self.rows.delete(key)?;
        self.moved.retain(|moved| *moved != key);
        Ok(Found::Bytes(value.len()))
    }
}

impl Session for SplitSession<'_> {
    fn begin(&mut self, access: Access) -> Result<()> {
        self.rows.begin(access)?;
        self.begun = true;
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        self.rows.commit()?;
        self.begun = false;
        let moved = std::mem::take(&mut self.moved).into_iter();
        moved
            .map(|key| self.remove_file(key).map(drop))
            .fold(Ok(()), Result::and)
    }

    fn rollback(&mut self) -> Result<()> {
        Err(no_way_back())
    }

    fn read_into(&mut self, key: Key, buffer: &mut Buffer) -> Result<Found> {
        match self.rows.read_into(key, buffer)? {
            Found::Missing => {
                let name = self.store.files.name(key);
                self.files.read(key, &name, buffer)
            }
            found => Ok(found),
        }
    }

    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        let name = self.store.files.name(key);
        let inside = self.lies_inside(value);
        let taken = match inside {
            true => self.files.is_there(&name)?,
            false => self.rows.has(key)?,
        };
        match inside {
            _ if taken => Err(StoreError::key_exists(key)),
            true => self.rows.insert(key, value),
            false => self.files.insert(key, &name, value),
        }
    }

    fn overwrite(&mut self, key: Key, value: &[u8]) -> Result<Found> {
        match self.lies_inside(value) {
            true => self.overwrite_inside(key, value),
            false => self.overwrite_outside(key, value),
        }
    }

    /// The file goes first: without its row, one that a crash left beside it would be the value again.
    fn delete(&mut self, key: Key) -> Result<bool> {
        let file = self.remove_file(key)?;
        self.moved.retain(|moved| *moved != key);
        Ok(self.rows.delete(key)? || file)
    }

    /// Without the commits that SQLite counts: a value in a file needs none.
    fn counters(&mut self) -> Result<Counters> {
        let mut counters = self.rows.counters()?;
        counters.remove(COMMITS_COUNTED);
        Ok(counters)
    }

    fn check_integrity(&mut self) -> Result<()> {
        self.rows.check_integrity()
    }
}
