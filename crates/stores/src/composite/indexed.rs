//! Operations of `files-indexed`: the row first, then the file that it names.
//!
//! Between a row and its file there is no transaction. The order of changes is therefore such
//! that a process that dies in between leaves at worst a file without a row, which the next
//! insert of that name takes over, and never a row without a file. After a power loss that is
//! true as far as the database keeps its rows and the settings sync the files.
//!
//! Threads take turns to write. One that reads what another deletes may have looked up the row of a file
//! that is gone by then: it looks again, and within a transaction, which still shows the row, is told that
//! the file is missing, as where another process deletes.

use super::session::{CompositeSession, name_in, without_file};
use crate::files::name::Name;
use crate::files::named::NamedFiles;
use crate::options::refuse;
use crate::sqlite::key_failed;
use crate::sqlite::table::row_id;
use crate::{Found, Key, Result, Session as _, StoreError};
use rusqlite::OptionalExtension as _;

impl<'c> CompositeSession<'c> {
    /// The name of the file of `key`; none if there is no row.
    fn look_up(&mut self, key: Key) -> Result<Option<Name>> {
        let (layout, mut name) = (self.store.options.files.layout, None);
        self.rows
            .read_in_place(key, &mut |text| name = Some(name_in(text, key, layout)))?;
        name.transpose()
    }

    /// Looks up the row of `key` and does something to its file.
    pub(super) fn at_file(
        &mut self,
        key: Key,
        work: impl FnOnce(&mut NamedFiles<'c>, &Name) -> Result<Found>,
    ) -> Result<Found> {
        let Some(name) = self.look_up(key)? else {
            return Ok(Found::Missing);
        };
        match work(&mut self.files, &name)? {
            Found::Missing if self.look_up(key)?.is_none() => Ok(Found::Missing),
            Found::Missing => Err(without_file(key, &name)),
            found => Ok(found),
        }
    }

    /// Makes a file the one of a new row that a crash has left without one.
    fn take_over(&mut self, key: Key, name: &Name, value: &[u8]) -> Result<()> {
        if let Some(owner) = self.owner(key, name)? {
            let detail = format!("its file {} belongs to key {owner}", name.as_str());
            return Err(StoreError::damaged(key, detail));
        }
        self.files.overwrite(name, value)?;
        self.files.finish_name(name)?;
        self.gone.retain(|(_, gone)| gone != name);
        Ok(())
    }

    /// The key whose row names this file. Looks at every row, as nothing but an insert where a
    /// file is already asks for it.
    fn owner(&self, key: Key, name: &Name) -> Result<Option<i64>> {
        let (text, rows) = ("SELECT k FROM kv WHERE name=?1", self.rows.connection());
        let owner = rows.query_row(text, [name.as_str()], |row| row.get(0));
        let failed = |e| key_failed("look for the owner of the file of", key, &e);
        owner.optional().map_err(failed)
    }

    pub(super) fn insert_indexed(&mut self, key: Key, value: &[u8]) -> Result<()> {
        refuse! {
            row_id(key).is_none() => format!("insert key {key}"),
                "the keys of its database are signed 64-bit numbers";
        }
        let _turn = self.take_turn()?;
        if self.look_up(key)?.is_some() {
            return Err(StoreError::key_exists(key));
        }
        let name = Name::of(self.store.options.files.layout, key);
        match self.files.insert(key, &name, value) {
            Err(StoreError::KeyExists { .. }) => self.take_over(key, &name, value)?,
            made => made?,
        }
        self.rows.insert(key, name.as_str().as_bytes())
    }

    pub(super) fn delete_indexed(&mut self, key: Key) -> Result<bool> {
        let _turn = self.take_turn()?;
        let Some(name) = self.look_up(key)? else {
            return Ok(false);
        };
        self.rows.delete(key)?;
        self.remove_after_commit(key, name).map(|()| true)
    }
}
