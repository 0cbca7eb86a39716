//! An open environment and the database in it.

use super::form::{Form, Opened};
use super::options::{Options, settings_of};
use super::{DATA, STORE};
use crate::options::OptionValue as _;
use crate::{KeyForm, Result, StoreError};
use ::heed::types::Bytes;
use ::heed::{
    CommitOrAbort, DatabaseOpenOptions, DatabaseOpener, Env, EnvFlags, EnvOpenOptions, WithTls,
};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use stowplan_model::{Settings, Workload};

/// The name of the database, if it has one, as in the other stores.
const NAME: &str = "kv";

/// Slots for readers. Each thread that reads keeps one, and the measuring threads are not alone.
const READERS: u32 = 2 * Workload::MOST_THREADS;

pub(super) struct Environment<F: Form> {
    /// Read transactions are tied to threads: that spares them the search for a slot.
    pub(super) env: Env<WithTls>,
    /// Nothing once the database was dropped.
    database: Mutex<Option<Opened<F>>>,
    path: PathBuf,
    options: Options,
}

impl<F: Form> Environment<F> {
    /// Opens the environment in `directory`, or makes it there; the database is not yet.
    pub(super) fn new(directory: &Path, options: Options) -> Result<Self> {
        Ok(Self {
            env: open_env(directory, options)?,
            database: Mutex::new(None),
            path: directory.join(DATA),
            options,
        })
    }

    pub(super) fn database(&self) -> Option<Opened<F>> {
        *self.slot()
    }

    /// The database was dropped, or is about to be.
    pub(super) fn forget_database(&self) {
        *self.slot() = None;
    }

    /// A handle is replaced in one step, so one that a panic left is sound.
    fn slot(&self) -> MutexGuard<'_, Option<Opened<F>>> {
        self.database.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn name(&self) -> Option<&'static str> {
        self.options.is_named().then_some(NAME)
    }

    /// Makes the database where there is none.
    pub(super) fn create_database(&self) -> Result<Opened<F>> {
        let transaction = self.env.write_txn()?;
        let name = self.name();
        let created =
            self.env
                .create_databases_and_commit(transaction, |opener, transaction| {
                    typed::<F>(opener, name)
                        .create(transaction)
                        .map(CommitOrAbort::<_, ()>::Commit)
                })?;
        let database = created.commit().ok_or_else(no_database)?;
        *self.slot() = Some(database);
        Ok(database)
    }

    pub(super) fn open_database(&self) -> Result<()> {
        let transaction = self.env.read_txn()?;
        let name = self.name();
        let opened = self
            .env
            .open_databases_and_commit(transaction, |opener, transaction| {
                typed::<F>(opener, name)
                    .open(transaction)
                    .map(CommitOrAbort::<_, ()>::Commit)
            })?;
        let database = opened.commit().flatten();
        *self.slot() = Some(database.ok_or_else(no_database)?);
        Ok(())
    }

    /// Looks at the first key, if there is one.
    pub(super) fn with_first_key<T>(&self, look: impl FnOnce(Option<&[u8]>) -> T) -> Result<T> {
        let Some(database) = self.database() else {
            return Ok(look(None));
        };
        let transaction = self.env.read_txn()?;
        let first = database.first(&transaction)?;
        Ok(look(first.map(|(key, _)| key)))
    }

    /// The flags and the size of the map, as LMDB reports them, and the form of the keys, as far
    /// as there are any.
    pub(super) fn settings(&self) -> Result<Settings> {
        let flags = self.env.get_flags()?;
        let mut effective = settings_of(EnvFlags::from_bits_truncate(flags));
        effective.set("map_size", self.env.info().map_size.value());
        let bytes = self.with_first_key(|first| first.map(<[u8]>::len))?;
        if let Some(form) = bytes.and_then(KeyForm::of_size) {
            effective.set("key", form.value());
        }
        Ok(effective)
    }

    /// Bytes of the file up to the end of the last page that was ever used.
    pub(super) fn used(&self) -> u64 {
        let page_size = u64::from(self.env.unnamed_database_stat().page_size);
        (self.env.info().last_page_number as u64 + 1) * page_size
    }

    /// Closes the environment. A writable map made the file as long as the map, with a hole at the
    /// end, which LMDB needs no longer: copies of the file would be as long.
    pub(super) fn shorten_and_close(self) -> Result<()> {
        let used = self.used();
        drop(self.env);
        if !self.options.write_map {
            return Ok(());
        }
        let cut = || {
            let file = File::options().write(true).open(&self.path)?;
            if file.metadata()?.len() > used {
                file.set_len(used)?;
            }
            Ok::<_, std::io::Error>(())
        };
        cut().map_err(StoreError::io("shorten", &self.path))
    }
}

/// The options of a database with keys of this form.
fn typed<'e, 'n, F: Form>(
    opener: &'n DatabaseOpener<'e, WithTls>,
    name: Option<&'n str>,
) -> DatabaseOpenOptions<'e, 'n, WithTls, Bytes, Bytes, F::Order> {
    let mut options = opener.database_options();
    if let Some(name) = name {
        options.name(name);
    }
    options.types().key_comparator()
}

#[cold]
fn no_database() -> StoreError {
    StoreError::no_table(STORE, "use the database")
}

#[expect(unsafe_code, reason = "heed cannot know who else changes the files")]
fn open_env(directory: &Path, options: Options) -> Result<Env<WithTls>> {
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
