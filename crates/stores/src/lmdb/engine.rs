//! LMDB, as the adapter for key-value engines wants it.

use super::options::{Options, settings_of};
use super::{DATA, STORE};
use crate::kv::{Engine, Rows, Visit, capabilities, shown};
use crate::options::{OptionValue as _, refuse};
use crate::store::OPERATIONS;
use crate::{Access, Found, Key, KeyBytes, KeyForm, Result, StoreError};
use ::heed::types::Bytes;
use ::heed::{
    CommitOrAbort, DatabaseFlags, DatabaseOpenOptions, DatabaseOpener, Env, EnvFlags,
    EnvOpenOptions, MdbError, PutFlags, RoTxn, RwTxn, WithTls,
};
use parking_lot::Mutex;
use std::fs::{self, File};
use std::ops::Bound;
use std::path::{Path, PathBuf};
use stowplan_model::{Capabilities, Settings, Workload};

/// The name of the database, if it has one, as in the other stores.
const NAME: &str = "kv";

/// Slots for readers. Each thread that reads keeps one, and the measuring threads are not alone.
const READERS: u32 = 2 * Workload::MOST_THREADS;

/// A handle of a database, which is good for as long as its environment is open. Keys are handed over as
/// bytes: heed's own types for numbers allocate for each of them.
type Database = ::heed::Database<'static, Bytes, Bytes>;

pub(crate) struct Environment {
    /// Read transactions are tied to threads: that spares them the search for a slot.
    env: Env<WithTls>,
    /// Nothing once the database was dropped.
    database: Mutex<Option<Database>>,
    path: PathBuf,
    options: Options,
}

/// What a session has of the database.
#[derive(Clone, Copy)]
pub(crate) struct Table {
    database: Database,
    form: KeyForm,
    append: bool,
}

impl Environment {
    #[expect(deprecated, reason = "which comparator it is, a setting says")]
    fn named<'e, 'n>(
        &self,
        opener: &'n DatabaseOpener<'e, WithTls>,
    ) -> DatabaseOpenOptions<'e, 'n, WithTls, Bytes, Bytes> {
        let mut options = opener.database_options().types();
        if self.options.is_named() {
            options.name(NAME);
        }
        // Numbers in the machine's own order of bytes.
        if self.options.key == KeyForm::Integer {
            options.flags(DatabaseFlags::INTEGER_KEY);
        }
        options
    }

    /// Bytes of the file up to the end of the last page that was ever used.
    fn used(&self) -> u64 {
        let page_size = u64::from(self.env.unnamed_database_stat().page_size);
        (self.env.info().last_page_number as u64 + 1) * page_size
    }

    fn must_be_named(&self, what: &str) -> Result<()> {
        refuse! {
            !self.options.is_named() => format!("{what} the unnamed database"),
                "it is there as long as its environment; use database=named";
        }
        Ok(())
    }

    /// Only while no other session has the database.
    #[expect(unsafe_code, reason = "heed does not count the copies of a handle")]
    fn drop_database(&self, table: &mut Option<Table>) -> Result<()> {
        let mut transaction = self.env.write_txn()?;
        // Gone with the call, whether it succeeds or not.
        *self.database.lock() = None;
        if let Some(Table { database, .. }) = table.take() {
            // SAFETY: the copies of this handle were those of the engine and of this session, the only
            // one, and both are forgotten; another session has to wait. The transaction is new.
            unsafe { database.remove(&mut transaction) }?;
        }
        Ok(transaction.commit()?)
    }
}

#[expect(unsafe_code, reason = "heed cannot know who else changes the files")]
fn open_env(directory: &Path, options: &Options) -> Result<Env<WithTls>> {
    let mut opening = EnvOpenOptions::new();
    opening
        .map_size(options.map_size)
        .max_readers(READERS)
        .max_dbs(1);
    // SAFETY: none of the flags that can be set lets anybody read what is not there: they say when
    // data is synced, and how it is read and written. NO_LOCK is not among them.
    unsafe { opening.flags(options.flags()) };
    // SAFETY: the files belong to this store, which changes them by LMDB alone; a foreign process
    // that shortened one would end this one by SIGBUS, as with every mapping.
    Ok(unsafe { opening.open(directory) }?)
}

impl Engine for Environment {
    const STORE: &'static str = STORE;
    const ABOUT: &'static str = "a copy-on-write B-tree, read from a memory map";
    const FILE: Option<&'static str> = Some(DATA);
    type Options = Options;
    type Table<'e> = Table;
    type Txn<'e> = Transaction<'e>;

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
            capabilities.operations = OPERATIONS.to_vec();
        }
        capabilities
    }

    fn open(directory: &Path, options: &Options, new: bool) -> Result<Self> {
        let environment = Self {
            env: open_env(directory, options)?,
            database: Mutex::new(None),
            path: directory.join(DATA),
            options: *options,
        };
        if new {
            environment.create_table(options)?;
            return Ok(environment);
        }
        let transaction = environment.env.read_txn()?;
        let opened =
            environment
                .env
                .open_databases_and_commit(transaction, |opener, transaction| {
                    let opened = environment.named(opener).open(transaction);
                    opened.map(CommitOrAbort::<_, ()>::Commit)
                })?;
        let database = opened.commit().flatten();
        let none = || StoreError::no_table("use the database");
        *environment.database.lock() = Some(database.ok_or_else(none)?);
        Ok(environment)
    }

    /// A writable map made the file as long as the map, with a hole at the end, which LMDB needs no longer:
    /// copies of the file would be as long.
    fn close(self) -> Result<()> {
        let used = self.used();
        drop(self.env);
        if !self.options.write_map {
            return Ok(());
        }
        let cut = || {
            let file = File::options().write(true).open(&self.path)?;
            match file.metadata()?.len() > used {
                true => file.set_len(used),
                false => Ok(()),
            }
        };
        cut().map_err(StoreError::io("shorten", &self.path))
    }

    fn table(&self, options: &Options) -> Result<Option<Table>> {
        Ok(self.database.lock().map(|database| Table {
            database,
            form: options.key,
            append: options.append,
        }))
    }

    fn begin<'e>(&'e self, table: &mut Table, access: Access) -> Result<Transaction<'e>> {
        Ok(Transaction {
            table: *table,
            inner: match access {
                Access::Read => Inner::Read(self.env.read_txn()?),
                Access::Write => Inner::Write(self.env.write_txn()?),
            },
        })
    }

    fn commit(transaction: Transaction<'_>) -> Result<()> {
        match transaction.inner {
            Inner::Read(_) => Ok(()),
            Inner::Write(transaction) => Ok(transaction.commit()?),
        }
    }

    /// The flags and the size of the map, as LMDB reports them.
    fn effective_settings(&self, _: &Options) -> Result<Settings> {
        let flags = self.env.get_flags()?;
        let mut effective = settings_of(EnvFlags::from_bits_truncate(flags));
        effective.set("map_size", self.env.info().map_size.value());
        Ok(effective)
    }

    /// A writable map makes the file as long as itself while it is open; what lies behind the last
    /// page is a hole.
    fn hole(&self) -> Result<u64> {
        let metadata = fs::metadata(&self.path).map_err(StoreError::io("stat", &self.path))?;
        Ok(metadata.len().saturating_sub(self.used()))
    }

    /// Commits write pages where they stay.
    fn needs_checkpoint(_: &Options, _: bool) -> bool {
        false
    }

    fn create_table(&self, _: &Options) -> Result<()> {
        if self.database.lock().is_some() {
            self.must_be_named("create")?;
        }
        let transaction = self.env.write_txn()?;
        let created =
            self.env
                .create_databases_and_commit(transaction, |opener, transaction| {
                    let created = self.named(opener).create(transaction);
                    created.map(CommitOrAbort::<_, ()>::Commit)
                })?;
        *self.database.lock() = created.commit();
        Ok(())
    }

    fn drop_table(&self, table: &mut Option<Table>, alone: bool) -> Result<()> {
        self.must_be_named("drop")?;
        refuse! {
            !alone => "drop the database", "another session may use it; close that first";
        }
        self.drop_database(table)
    }
}

/// A transaction with the database in it.
pub(crate) struct Transaction<'e> {
    table: Table,
    inner: Inner<'e>,
}

enum Inner<'e> {
    Read(RoTxn<'e, WithTls>),
    Write(RwTxn<'e>),
}

impl<'e> Transaction<'e> {
    fn reading(&self) -> &RoTxn<'e> {
        match &self.inner {
            Inner::Read(transaction) => transaction,
            Inner::Write(transaction) => transaction,
        }
    }

    fn writing(&mut self) -> Result<&mut RwTxn<'e>> {
        match &mut self.inner {
            Inner::Read(_) => Err(StoreError::said("the transaction only reads")),
            Inner::Write(transaction) => Ok(transaction),
        }
    }

    /// Puts a value where these flags allow it; says whether they do.
    fn put_with(&mut self, key: &KeyBytes, value: &[u8], flags: PutFlags) -> Result<bool> {
        let database = self.table.database;
        match database.put_with_flags(self.writing()?, flags, key.as_ref(), value) {
            Ok(()) => Ok(true),
            Err(::heed::Error::Mdb(MdbError::KeyExist)) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

impl Rows for Transaction<'_> {
    fn get(&mut self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        let held = self.table.form.native(key);
        let value = self.table.database.get(self.reading(), held.as_ref());
        shown(value?, show)
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        let form = self.table.form;
        let held = form.native(from);
        let range = (Bound::Included(held.as_ref()), Bound::Unbounded);
        let mut visited = 0;
        let items = self.table.database.range(self.reading(), &range)?;
        for entry in items.take(limit) {
            let (key, value) = entry?;
            visit(form.native_key(key)?, value);
            visited += 1;
        }
        Ok(visited)
    }

    /// A key that is not above all others cannot be appended, and LMDB says of it that it exists. Its put
    /// would create what is missing, and does not tell.
    fn put(&mut self, key: Key, value: &[u8], there: bool) -> Result<bool> {
        let held = self.table.form.native(key);
        if there {
            let found = self.table.database.get(self.reading(), held.as_ref())?;
            return Ok(found.is_some() && self.put_with(&held, value, PutFlags::empty())?);
        }
        let appended = self.table.append && self.put_with(&held, value, PutFlags::APPEND)?;
        Ok(appended || self.put_with(&held, value, PutFlags::NO_OVERWRITE)?)
    }

    fn remove(&mut self, key: Key) -> Result<bool> {
        let Table { database, form, .. } = self.table;
        Ok(database.delete(self.writing()?, form.native(key).as_ref())?)
    }
}
