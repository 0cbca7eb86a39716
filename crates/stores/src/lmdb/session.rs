//! LMDB, as the adapter for key-value engines wants it.

use super::engine::Environment;
use super::form::{Form, Opened};
use super::options::Options;
use super::{DATA, STORE};
use crate::kv::{Changing, Engine, Reading, Table, Visit, capabilities, shown};
use crate::{Found, Key, Lent, Result, StoreError, disk};
use ::heed::{MdbError, PutFlags, RoTxn, RwTxn, WithTls};
use std::fs;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use stowplan_model::{Capabilities, Operation, Settings};

/// What a session has of the database.
pub(super) struct Handle<F: Form> {
    /// Nothing once it was dropped.
    database: Option<Opened<F>>,
    /// Whether it has a name: the unnamed one is there as long as its environment.
    named: bool,
    append: bool,
}

/// A transaction with the database in it.
pub(super) struct Transaction<F: Form, T> {
    database: Opened<F>,
    transaction: T,
    append: bool,
}

impl<F: Form> Handle<F> {
    fn within<T>(
        &self,
        transaction: std::result::Result<T, ::heed::Error>,
    ) -> Result<Transaction<F, T>> {
        let none = || StoreError::no_table(STORE, "use it");
        Ok(Transaction {
            database: self.database.ok_or_else(none)?,
            transaction: transaction?,
            append: self.append,
        })
    }

    fn must_be_named(&self, what: &str) -> Result<()> {
        if self.named {
            return Ok(());
        }
        Err(StoreError::unsupported(
            STORE,
            format!("{what} the unnamed database"),
            "it is there as long as its environment; use database=named",
        ))
    }
}

impl<F: Form> Engine for Environment<F> {
    const STORE: &'static str = STORE;
    const ABOUT: &'static str =
        "a database in an LMDB environment: a copy-on-write B-tree, read from a memory map";
    type Options = Options;
    type Handle<'e> = Handle<F>;
    type Read<'e> = Transaction<F, RoTxn<'e, WithTls>>;
    type Write<'e> = Transaction<F, RwTxn<'e>>;

    fn version() -> (&'static str, String) {
        let version = ::heed::lmdb_version();
        let numbers = format!("{}.{}.{}", version.major, version.minor, version.patch);
        ("LMDB", numbers)
    }

    fn capabilities(options: &Options) -> Capabilities {
        let mut capabilities = Capabilities {
            mapped: true,
            // MAXDATASIZE in mdb.c.
            largest_value: Some(u64::from(u32::MAX)),
            ..capabilities::<Self>(options.durability(), options.syncs_per_commit())
        };
        if !options.is_named() {
            let of_tables = [Operation::CreateTable, Operation::DropTable];
            capabilities.operations.retain(|o| !of_tables.contains(o));
        }
        capabilities
    }

    fn create(directory: &Path, options: &Options) -> Result<Self> {
        disk::refuse_existing(&directory.join(DATA))?;
        let environment = Self::new(directory, *options)?;
        environment.create_database()?;
        Ok(environment)
    }

    fn open(directory: &Path, options: &Options) -> Result<Self> {
        // LMDB would make one.
        disk::expect_file(STORE, &directory.join(DATA))?;
        let environment = Self::new(directory, *options)?;
        environment.open_database()?;
        Ok(environment)
    }

    fn check_keys(&self, directory: &Path, _: &Options) -> Result<()> {
        let path = directory.join(DATA);
        self.with_first_key(|first| F::FORM.check(STORE, &path, first))?
    }

    fn close(self, _: &Path, _: &Options) -> Result<()> {
        self.shorten_and_close()
    }

    fn handle<'e>(&'e self, options: &'e Options) -> Result<Handle<F>> {
        Ok(Handle {
            database: self.database(),
            named: options.is_named(),
            append: options.append,
        })
    }

    fn read<'e>(&'e self, handle: &mut Handle<F>) -> Result<Self::Read<'e>> {
        handle.within(self.env.read_txn())
    }

    /// Waits for the transaction of another thread that writes.
    fn write<'e>(&'e self, handle: &mut Handle<F>) -> Result<Self::Write<'e>> {
        handle.within(self.env.write_txn())
    }

    fn effective_settings(&self, _: &Path, _: &Options) -> Result<Settings> {
        self.settings()
    }

    fn data_files(directory: &Path) -> Vec<PathBuf> {
        vec![directory.join(DATA)]
    }

    /// A writable map makes the file as long as itself while it is open; what lies behind the last
    /// page is a hole.
    fn hole(&self, directory: &Path) -> Result<u64> {
        let path = directory.join(DATA);
        let metadata = fs::metadata(&path).map_err(StoreError::io("stat", &path))?;
        Ok(metadata.len().saturating_sub(self.used()))
    }

    /// Commits write pages where they stay.
    fn needs_checkpoint(_: &Options, _: bool) -> bool {
        false
    }

    fn create_table(&self, handle: &mut Handle<F>) -> Result<()> {
        handle.must_be_named("create")?;
        handle.database = Some(self.create_database()?);
        Ok(())
    }

    fn drop_table<'e>(engine: &'e Lent<'e, Self>, handle: &mut Handle<F>) -> Result<()> {
        handle.must_be_named("drop")?;
        let dropped = engine.alone(|| drop_database(engine, handle));
        dropped.unwrap_or_else(|| {
            Err(StoreError::unsupported(
                STORE,
                "drop the database",
                "another connection may use it; close that first",
            ))
        })
    }
}

/// Only while this connection has the engine alone.
#[expect(unsafe_code, reason = "heed does not count the copies of a handle")]
fn drop_database<F: Form>(environment: &Environment<F>, handle: &mut Handle<F>) -> Result<()> {
    let Transaction {
        database,
        mut transaction,
        ..
    } = environment.write(handle)?;
    // Gone with the call, whether it succeeds or not.
    handle.database = None;
    environment.forget_database();
    // SAFETY: the copies of this handle were those of the engine and of this session, the only
    // one of the only connection, and both are forgotten; another connection has to wait. The
    // transaction is new.
    unsafe { database.remove(&mut transaction) }?;
    Ok(transaction.commit()?)
}

fn get<F: Form>(
    database: Opened<F>,
    transaction: &RoTxn<'_>,
    key: Key,
    show: impl FnOnce(&[u8]) -> Result<()>,
) -> Result<Found> {
    shown(database.get(transaction, F::held(key).as_ref())?, show)
}

fn scan<F: Form>(
    database: Opened<F>,
    transaction: &RoTxn<'_>,
    from: Key,
    limit: usize,
    visit: &mut Visit<'_>,
) -> Result<usize> {
    let held = F::held(from);
    let range = (Bound::Included(held.as_ref()), Bound::Unbounded);
    let mut visited = 0;
    for entry in database.range(transaction, &range)?.take(limit) {
        let (key, value) = entry?;
        visit(F::key(key)?, value);
        visited += 1;
    }
    Ok(visited)
}

impl<F: Form> Reading for Transaction<F, RoTxn<'_, WithTls>> {
    fn get(&mut self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        get::<F>(self.database, &self.transaction, key, show)
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        scan::<F>(self.database, &self.transaction, from, limit, visit)
    }
}

impl<F: Form> Reading for Transaction<F, RwTxn<'_>> {
    fn get(&mut self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        get::<F>(self.database, &self.transaction, key, show)
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        scan::<F>(self.database, &self.transaction, from, limit, visit)
    }
}

impl<F: Form> Transaction<F, RwTxn<'_>> {
    /// Puts a value where these flags allow it; says whether they do.
    fn put(&mut self, key: Key, value: &[u8], flags: PutFlags) -> Result<bool> {
        let held = F::held(key);
        let put = self
            .database
            .put_with_flags(&mut self.transaction, flags, held.as_ref(), value);
        match put {
            Ok(()) => Ok(true),
            Err(::heed::Error::Mdb(MdbError::KeyExist)) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

impl<F: Form> Table for Transaction<F, RwTxn<'_>> {
    /// A key that is not above all others cannot be appended, and LMDB says of it that it exists.
    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        let appended = self.append && self.put(key, value, PutFlags::APPEND)?;
        if appended || self.put(key, value, PutFlags::NO_OVERWRITE)? {
            return Ok(());
        }
        Err(StoreError::key_exists(STORE, key))
    }

    fn replace(&mut self, key: Key, value: &[u8]) -> Result<bool> {
        let held = F::held(key);
        // LMDB's put would create what is missing, and does not tell.
        let there = self
            .database
            .get(&self.transaction, held.as_ref())?
            .is_some();
        if there {
            self.database
                .put(&mut self.transaction, held.as_ref(), value)?;
        }
        Ok(there)
    }

    fn remove(&mut self, key: Key) -> Result<bool> {
        let held = F::held(key);
        Ok(self.database.delete(&mut self.transaction, held.as_ref())?)
    }
}

impl<F: Form> Changing for Transaction<F, RwTxn<'_>> {
    fn commit(self) -> Result<()> {
        Ok(self.transaction.commit()?)
    }
}
