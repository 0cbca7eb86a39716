//! fjall, as the adapter for key-value engines wants it.

use super::database::{Committed, Database, Keyspace, Writing};
use super::ingest::Ingesting;
use super::options::{ENGINE_VERSION, Options, Transactions, effective};
use super::{DATABASE, STORE};
use crate::kv::{self, Changing, Engine, LookThenPut, Reading, Table, Visit, capabilities};
use crate::{Found, Key, KeyForm, Lent, Result, StoreError};
use fjall::{Iter, Readable, Snapshot, UserValue};
use std::path::Path;
use stowplan_model::{Capabilities, Settings};

/// What a session has of the keyspace.
pub(super) struct Handle<'e> {
    /// Nothing after it was dropped.
    keyspace: Option<Keyspace>,
    options: &'e Options,
}

impl Handle<'_> {
    fn keyspace(&self) -> Result<&Keyspace> {
        let none = || StoreError::no_table(STORE, "use the keyspace");
        self.keyspace.as_ref().ok_or_else(none)
    }
}

/// A transaction with the keyspace in it.
pub(super) struct Transaction<T> {
    keyspace: Keyspace,
    form: KeyForm,
    transaction: T,
}

/// A value, in memory that it shares with the block cache.
fn shown(
    value: fjall::Result<Option<UserValue>>,
    show: impl FnOnce(&[u8]) -> Result<()>,
) -> Result<Found> {
    kv::shown(value?.as_deref(), show)
}

fn visited(form: KeyForm, items: Iter, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
    let mut visited = 0;
    for item in items.take(limit) {
        let (key, value) = item.into_inner()?;
        visit(form.key(STORE, &key)?, &value);
        visited += 1;
    }
    Ok(visited)
}

impl Engine for Database {
    const STORE: &'static str = STORE;
    const ABOUT: &'static str =
        "a keyspace of a fjall database: a log-structured merge tree in Rust";
    type Options = Options;
    type Handle<'e> = Handle<'e>;
    type Read<'e> = Transaction<Snapshot>;
    type Write<'e> = Transaction<Writing<'e>>;

    fn version() -> (&'static str, String) {
        (STORE, ENGINE_VERSION.to_owned())
    }

    fn capabilities(options: &Options) -> Capabilities {
        Capabilities {
            parallel_writers: options.transactions == Transactions::Optimistic,
            // fjall keeps lengths of values in 32 bits.
            largest_value: Some(u64::from(u32::MAX)),
            ..capabilities::<Self>(Options::durability(), options.syncs_per_commit())
        }
    }

    fn create(directory: &Path, options: &Options) -> Result<Self> {
        // fjall would open what is there.
        let path = directory.join(DATABASE);
        std::fs::create_dir(&path).map_err(StoreError::io("create", &path))?;
        let database = Self::open_or_make(&path, options)?;
        drop(database.make_keyspace(options)?);
        drop(database);
        // A new journal is a hole of 64 MiB. Opened again, it is as long as what it holds, so that
        // sizes before and after filling the store can be compared.
        Ok(Self::open_or_make(&path, options)?)
    }

    fn open(directory: &Path, options: &Options) -> Result<Self> {
        // fjall would make what is not there.
        let path = directory.join(DATABASE);
        std::fs::metadata(&path).map_err(StoreError::io("open", &path))?;
        Ok(Self::open_or_make(&path, options)?)
    }

    fn check_keys(&self, directory: &Path, options: &Options) -> Result<()> {
        let Some(keyspace) = self.keyspace(options)? else {
            return Ok(());
        };
        let first = keyspace.first_key()?;
        let path = directory.join(DATABASE);
        options.key.check(STORE, &path, first.as_deref())
    }

    fn handle<'e>(&'e self, options: &'e Options) -> Result<Handle<'e>> {
        Ok(Handle {
            keyspace: self.keyspace(options)?,
            options,
        })
    }

    fn read<'e>(&'e self, handle: &mut Handle<'e>) -> Result<Transaction<Snapshot>> {
        Ok(Transaction {
            keyspace: handle.keyspace()?.clone(),
            form: handle.options.key,
            transaction: self.snapshot(),
        })
    }

    fn get_once<'e>(
        &'e self,
        handle: &mut Handle<'e>,
        key: Key,
        show: impl FnOnce(&[u8]) -> Result<()>,
    ) -> Result<Found> {
        let bytes = handle.options.key.bytes(key);
        shown(handle.keyspace()?.inner().get(bytes.as_ref()), show)
    }

    fn scan_once<'e>(
        &'e self,
        handle: &mut Handle<'e>,
        from: Key,
        limit: usize,
        visit: &mut Visit<'_>,
    ) -> Result<usize> {
        let form = handle.options.key;
        let items = handle
            .keyspace()?
            .inner()
            .range(form.bytes(from).as_ref()..);
        visited(form, items, limit, visit)
    }

    fn write<'e>(&'e self, handle: &mut Handle<'e>) -> Result<Transaction<Writing<'e>>> {
        Ok(Transaction {
            keyspace: handle.keyspace()?.clone(),
            form: handle.options.key,
            transaction: Database::write(self, handle.options.persist_mode())?,
        })
    }

    fn change_several_once<'e>(
        &'e self,
        handle: &mut Handle<'e>,
        change: impl FnOnce(&mut dyn Table) -> Result<bool>,
    ) -> Result<bool> {
        if !handle.options.ingests() {
            return self.change_once(handle, change);
        }
        let Transaction {
            keyspace,
            form,
            transaction,
        } = Engine::write(self, handle)?;
        let mut ingesting = Ingesting::new(keyspace, form, transaction);
        if !change(&mut ingesting)? {
            return Ok(false);
        }
        ingesting.finish().map(|()| true)
    }

    fn effective_settings(&self, _: &Path, options: &Options) -> Result<Settings> {
        let keyspace = self.keyspace(options)?;
        let keyspace = keyspace.ok_or_else(|| StoreError::no_table(STORE, "read settings"))?;
        Ok(effective(self.inner(), keyspace.inner()))
    }

    /// Writes the memtable to a table, and waits for the compactions that follow from it.
    fn checkpoint(&self, options: &Options) -> Result<()> {
        match self.keyspace(options)? {
            Some(keyspace) => Ok(self.settle(&keyspace)?),
            None => Ok(()),
        }
    }

    fn create_table<'e>(&'e self, handle: &mut Handle<'e>) -> Result<()> {
        handle.keyspace = Some(self.make_keyspace(handle.options)?);
        Ok(())
    }

    fn drop_table<'e>(engine: &'e Lent<'e, Self>, handle: &mut Handle<'e>) -> Result<()> {
        let Some(keyspace) = handle.keyspace.take() else {
            return Err(StoreError::no_table(STORE, "drop the keyspace"));
        };
        Ok(engine.drop_keyspace(keyspace)?)
    }
}

impl Reading for Transaction<Snapshot> {
    fn get(&mut self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        let bytes = self.form.bytes(key);
        let value = self.transaction.get(self.keyspace.inner(), bytes.as_ref());
        shown(value, show)
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        let start = self.form.bytes(from);
        let items = self
            .transaction
            .range(self.keyspace.inner(), start.as_ref()..);
        visited(self.form, items, limit, visit)
    }
}

impl Reading for Transaction<Writing<'_>> {
    fn get(&mut self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        let bytes = self.form.bytes(key);
        let value = self.transaction.get(&self.keyspace, bytes.as_ref());
        shown(value, show)
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        let start = self.form.bytes(from);
        let items = self.transaction.range_from(&self.keyspace, start.as_ref());
        visited(self.form, items, limit, visit)
    }
}

impl LookThenPut for Transaction<Writing<'_>> {
    fn has(&mut self, key: Key) -> Result<bool> {
        let bytes = self.form.bytes(key);
        Ok(self.transaction.contains(&self.keyspace, bytes.as_ref())?)
    }

    fn put(&mut self, key: Key, value: &[u8]) -> Result<()> {
        let bytes = self.form.bytes(key);
        self.transaction.put(&self.keyspace, bytes.as_ref(), value);
        Ok(())
    }

    fn clear(&mut self, key: Key) -> Result<()> {
        let bytes = self.form.bytes(key);
        self.transaction.remove(&self.keyspace, bytes.as_ref());
        Ok(())
    }
}

impl Changing for Transaction<Writing<'_>> {
    fn commit(self) -> Result<()> {
        match self.transaction.commit()? {
            Committed::Yes => Ok(()),
            Committed::Conflict => {
                let why = "another transaction has changed what this one read";
                Err(StoreError::conflict(STORE, "commit", why))
            }
        }
    }
}
