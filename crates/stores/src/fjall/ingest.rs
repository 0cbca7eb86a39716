//! Several rows at once, past the journal and the memtable: sorted, and written straight into tables.

use super::STORE;
use super::database::{Keyspace, Writing};
use crate::kv::Table;
use crate::{Key, KeyForm, Result, StoreError};
use fjall::{UserKey, UserValue};

/// Rows that are to be added. Nothing of them is there before the end.
pub(super) struct Ingesting<'d> {
    keyspace: Keyspace,
    form: KeyForm,
    /// Keeps other writers away while it is open, and writes nothing itself.
    alone: Writing<'d>,
    rows: Vec<(UserKey, UserValue)>,
}

impl<'d> Ingesting<'d> {
    pub(super) fn new(keyspace: Keyspace, form: KeyForm, alone: Writing<'d>) -> Self {
        Self {
            keyspace,
            form,
            alone,
            rows: Vec::new(),
        }
    }

    /// Makes the tables, of rows by rising key, and lets them be found, all at once.
    pub(super) fn finish(mut self) -> Result<()> {
        self.rows.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        if let Some(twice) = self.rows.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let key = self.form.key(STORE, &twice[0].0)?;
            return Err(StoreError::key_exists(STORE, key));
        }
        let mut ingestion = self.keyspace.inner().start_ingestion()?;
        for (key, value) in self.rows {
            ingestion.write(key, value)?;
        }
        Ok(ingestion.finish()?)
    }

    fn refuse(what: &str) -> StoreError {
        StoreError::unsupported(STORE, what, "rows are ingested here, and nothing else")
    }
}

impl Table for Ingesting<'_> {
    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        let bytes = self.form.bytes(key);
        if self.alone.contains(&self.keyspace, bytes.as_ref())? {
            return Err(StoreError::key_exists(STORE, key));
        }
        self.rows.push((bytes.as_ref().into(), value.into()));
        Ok(())
    }

    fn replace(&mut self, _: Key, _: &[u8]) -> Result<bool> {
        Err(Self::refuse("replace a value"))
    }

    fn remove(&mut self, _: Key) -> Result<bool> {
        Err(Self::refuse("remove a value"))
    }
}
