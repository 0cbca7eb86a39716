//! fjall, as the adapter for key-value engines wants it.

use super::database::{Committed, Database, Keyspace, Writing};
use super::ingest::Ingesting;
use super::options::{ENGINE_VERSION, Options, Transactions, effective};
use super::{DATABASE, STORE, failed};
use crate::kv::{self, Changing, Engine, Reading, Table, Visit, capabilities};
use crate::{Found, Key, KeyBytes, KeyForm, Lent, Result, StoreError};
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

fn key_failed(action: &str, key: Key, error: &fjall::Error) -> StoreError {
    failed(format!("{action} key {key}"), error)
}

/// A value, in memory that it shares with the block cache.
fn shown(
    key: Key,
    value: fjall::Result<Option<UserValue>>,
    show: impl FnOnce(&[u8]) -> Result<()>,
) -> Result<Found> {
    let value = value.map_err(|e| key_failed("read", key, &e))?;
    kv::shown(value.as_deref(), show)
}

fn visited(
    form: KeyForm,
    from: Key,
    items: Iter,
    limit: usize,
    visit: &mut Visit<'_>,
) -> Result<usize> {
    let mut visited = 0;
    for item in items.take(limit) {
        let (key, value) = item
            .into_inner()
            .map_err(|e| key_failed("scan from", from, &e))?;
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
        let database = open_or_make(directory, options)?;
        let keyspace = database.make_keyspace(options);
        drop(keyspace.map_err(|e| failed("create the keyspace", &e))?);
        drop(database);
        // A new journal is a hole of 64 MiB. Opened again, it is as long as what it holds, so that
        // sizes before and after filling the store can be compared.
        open_or_make(directory, options)
    }

    fn open(directory: &Path, options: &Options) -> Result<Self> {
        // fjall would make what is not there.
        let path = directory.join(DATABASE);
        std::fs::metadata(&path).map_err(StoreError::io("open", &path))?;
        open_or_make(directory, options)
    }

    fn check_keys(&self, directory: &Path, options: &Options) -> Result<()> {
        let Some(keyspace) = open_keyspace(self, options)? else {
            return Ok(());
        };
        let first = keyspace.first_key();
        let first = first.map_err(|e| failed("read the first key", &e))?;
        let path = directory.join(DATABASE);
        options.key.check(STORE, &path, first.as_deref())
    }

    fn handle<'e>(&'e self, options: &'e Options) -> Result<Handle<'e>> {
        Ok(Handle {
            keyspace: open_keyspace(self, options)?,
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
        shown(key, handle.keyspace()?.inner().get(bytes.as_ref()), show)
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
        visited(form, from, items, limit, visit)
    }

    fn write<'e>(&'e self, handle: &mut Handle<'e>) -> Result<Transaction<Writing<'e>>> {
        let keyspace = handle.keyspace()?.clone();
        let transaction = Database::write(self, handle.options.persist_mode());
        Ok(Transaction {
            keyspace,
            form: handle.options.key,
            transaction: transaction.map_err(|e| failed("begin a transaction", &e))?,
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
        let keyspace = open_keyspace(self, options)?;
        let keyspace = keyspace.ok_or_else(|| StoreError::no_table(STORE, "read settings"))?;
        Ok(effective(self.inner(), keyspace.inner()))
    }

    /// Writes the memtable to a table, and waits for the compactions that follow from it.
    fn checkpoint(&self, options: &Options) -> Result<()> {
        match open_keyspace(self, options)? {
            Some(keyspace) => self
                .settle(&keyspace)
                .map_err(|e| failed("flush the memtable", &e)),
            None => Ok(()),
        }
    }

    fn create_table<'e>(&'e self, handle: &mut Handle<'e>) -> Result<()> {
        let keyspace = self.make_keyspace(handle.options);
        handle.keyspace = Some(keyspace.map_err(|e| failed("create the keyspace", &e))?);
        Ok(())
    }

    fn drop_table<'e>(engine: &'e Lent<'e, Self>, handle: &mut Handle<'e>) -> Result<()> {
        let Some(keyspace) = handle.keyspace.take() else {
            return Err(StoreError::no_table(STORE, "drop the keyspace"));
        };
        let dropped = engine.drop_keyspace(keyspace);
        dropped.map_err(|e| failed("drop the keyspace", &e))
    }
}

fn open_or_make(directory: &Path, options: &Options) -> Result<Database> {
    let path = directory.join(DATABASE);
    let opened = Database::open(&path, options);
    opened.map_err(|e| failed(format!("open {}", path.display()), &e))
}

fn open_keyspace(database: &Database, options: &Options) -> Result<Option<Keyspace>> {
    let keyspace = database.keyspace(options);
    keyspace.map_err(|e| failed("open the keyspace", &e))
}

impl Reading for Transaction<Snapshot> {
    fn get(&mut self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        let bytes = self.form.bytes(key);
        let value = self.transaction.get(self.keyspace.inner(), bytes.as_ref());
        shown(key, value, show)
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        let start = self.form.bytes(from);
        let items = self
            .transaction
            .range(self.keyspace.inner(), start.as_ref()..);
        visited(self.form, from, items, limit, visit)
    }
}

impl Reading for Transaction<Writing<'_>> {
    fn get(&mut self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        let bytes = self.form.bytes(key);
        let value = self.transaction.get(&self.keyspace, bytes.as_ref());
        shown(key, value, show)
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        let start = self.form.bytes(from);
        let items = self.transaction.range_from(&self.keyspace, start.as_ref());
        visited(self.form, from, items, limit, visit)
    }
}

impl Transaction<Writing<'_>> {
    fn contains(&self, action: &str, key: Key, bytes: &KeyBytes) -> Result<bool> {
        let found = self.transaction.contains(&self.keyspace, bytes.as_ref());
        found.map_err(|e| key_failed(action, key, &e))
    }

    fn put(&mut self, bytes: &KeyBytes, value: &[u8]) {
        self.transaction.put(&self.keyspace, bytes.as_ref(), value);
    }
}

impl Table for Transaction<Writing<'_>> {
    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        let bytes = self.form.bytes(key);
        if self.contains("insert", key, &bytes)? {
            return Err(StoreError::key_exists(STORE, key));
        }
        self.put(&bytes, value);
        Ok(())
    }

    fn replace(&mut self, key: Key, value: &[u8]) -> Result<bool> {
        let bytes = self.form.bytes(key);
        let there = self.contains("overwrite", key, &bytes)?;
        if there {
            self.put(&bytes, value);
        }
        Ok(there)
    }

    fn remove(&mut self, key: Key) -> Result<bool> {
        let bytes = self.form.bytes(key);
        let there = self.contains("delete", key, &bytes)?;
        if there {
            self.transaction.remove(&self.keyspace, bytes.as_ref());
        }
        Ok(there)
    }
}

impl Changing for Transaction<Writing<'_>> {
    fn commit(self) -> Result<()> {
        match self
            .transaction
            .commit()
            .map_err(|e| failed("commit", &e))?
        {
            Committed::Yes => Ok(()),
            Committed::Conflict => Err(StoreError::Conflict {
                store: STORE,
                action: "commit".to_owned(),
                detail: "another transaction has changed what this one read".to_owned(),
            }),
        }
    }

    fn rollback(self) -> Result<()> {
        Ok(())
    }
}
