//! Operations of `split`: the row first, then the file.
//!
//! An overwrite by a value of the other kind moves it. In between it is in both places, and the row counts:
//! a large value becomes a row first, and its file goes then; the file of a small one is whole before its row
//! goes. So a process that dies leaves the old value or the new one.

use super::session::CompositeSession;
use crate::{Buffer, Found, Key, Result, Session as _, StoreError};

impl CompositeSession<'_> {
    pub(super) fn lies_inside(&self, value: &[u8]) -> bool {
        value.len() as u64 <= self.store.options.inline_limit
    }

    pub(super) fn read_inside_or_outside(
        &mut self,
        key: Key,
        buffer: &mut Buffer,
    ) -> Result<Found> {
        match self.rows.read_into(key, buffer)? {
            Found::Missing => self.files.read(key, &self.store.files.name(key), buffer),
            found => Ok(found),
        }
    }

    pub(super) fn insert_inside_or_outside(&mut self, key: Key, value: &[u8]) -> Result<()> {
        let (name, inside) = (self.store.files.name(key), self.lies_inside(value));
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

    pub(super) fn overwrite_inside(&mut self, key: Key, value: &[u8]) -> Result<Found> {
        let (name, found) = (self.store.files.name(key), self.rows.overwrite(key, value)?);
        if found != Found::Missing || !self.files.is_there(&name)? {
            return Ok(found);
        }
        self.rows.insert(key, value)?;
        self.remove_after_commit(key, name)?;
        Ok(Found::Bytes(value.len()))
    }

    pub(super) fn overwrite_outside(&mut self, key: Key, value: &[u8]) -> Result<Found> {
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
        self.gone.retain(|(gone, _)| *gone != key);
        Ok(Found::Bytes(value.len()))
    }

    /// The file goes first: without its row, one that a crash left beside it would be the value again.
    pub(super) fn delete_inside_and_outside(&mut self, key: Key) -> Result<bool> {
        let file = self.files.remove(&self.store.files.name(key))?;
        self.gone.retain(|(gone, _)| *gone != key);
        Ok(self.rows.delete(key)? || file)
    }
}
