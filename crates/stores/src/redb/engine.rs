//! redb, as the adapter for key-value engines wants it.

use super::options::Options;
use super::table::{Form as _, Integer, ReadTable, Text, WriteTable};
use super::{DATABASE, ENGINE_VERSION, STORE};
use crate::kv::{Changing, Engine, Reading, Table, Visit, capabilities};
use crate::options::OptionValue as _;
use crate::{Found, Key, KeyForm, Lent, Result, StoreError, disk};
use ::redb::{Database, ReadableDatabase, TableError, WriteTransaction};
use self_cell::self_cell;
use std::fs::File;
use std::path::{Path, PathBuf};
use stowplan_model::{Capabilities, Settings};

impl Options {
    /// Waits for the transaction of another thread that writes.
    fn begin_write(self, database: &Database) -> Result<WriteTransaction> {
        let mut transaction = database.begin_write()?;
        self.apply(&mut transaction)?;
        Ok(transaction)
    }
}

/// An open database.
pub(super) struct OpenDatabase(Database);

impl Engine for OpenDatabase {
    const STORE: &'static str = STORE;
    const ABOUT: &'static str = "a table in a redb database: a copy-on-write B-tree in Rust";
    type Options = Options;
    type Handle<'e> = Options;
    type Read<'e> = ReadTable;
    type Write<'e> = Writing;

    fn version() -> (&'static str, String) {
        (STORE, ENGINE_VERSION.to_owned())
    }

    fn capabilities(options: &Options) -> Capabilities {
        Capabilities {
            // MAX_VALUE_LENGTH in redb's source.
            largest_value: Some(3 << 30),
            ..capabilities::<Self>(options.durability(), options.syncs_per_commit())
        }
    }

    fn create(directory: &Path, options: &Options) -> Result<Self> {
        let path = directory.join(DATABASE);
        // redb makes a database of an empty file, but would as well open one that is there.
        File::create_new(&path).map_err(StoreError::io("create", &path))?;
        let engine = Self(options.create(&path)?);
        engine.create_table(&mut options.clone())?;
        Ok(engine)
    }

    fn open(directory: &Path, options: &Options) -> Result<Self> {
        let path = directory.join(DATABASE);
        disk::expect_file(STORE, &path)?;
        let opened = options.open(&path).map_err(StoreError::from);
        let action = || format!("open {}", path.display());
        opened.map(Self).map_err(|e| e.during(STORE, action))
    }

    fn check_keys(&self, directory: &Path, options: &Options) -> Result<()> {
        let key = key_form(&self.0)?;
        if key == options.key {
            return Ok(());
        }
        let action = format!("open {}", directory.join(DATABASE).display());
        let detail = format!("its keys are of the form key={}", key.word());
        Err(StoreError::engine(STORE, action, detail))
    }

    /// Makes durable what is not yet, and tells errors, which dropping would not.
    fn close(self, _: &Path, _: &Options) -> Result<()> {
        Ok(self.0.close()?)
    }

    fn handle<'e>(&'e self, options: &'e Options) -> Result<Options> {
        Ok(*options)
    }

    fn read(&self, options: &mut Options) -> Result<ReadTable> {
        ReadTable::open(&self.0.begin_read()?, options.key)
    }

    fn write(&self, options: &mut Options) -> Result<Writing> {
        let form = options.key;
        Writing::try_new(options.begin_write(&self.0)?, |transaction| {
            WriteTable::open(transaction, form)
        })
    }

    /// Without the box that keeps a transaction together with its table.
    fn change_once(
        &self,
        options: &mut Options,
        change: impl FnOnce(&mut dyn Table) -> Result<bool>,
    ) -> Result<bool> {
        let transaction = options.begin_write(&self.0)?;
        let changed = change(&mut WriteTable::open(&transaction, options.key)?)?;
        match changed {
            true => transaction.commit()?,
            false => transaction.abort()?,
        }
        Ok(changed)
    }

    /// The form of the keys. The rest is handed to redb with each transaction, or when it is
    /// opened, and cannot be asked back.
    fn effective_settings(&self, _: &Path, _: &Options) -> Result<Settings> {
        let mut effective = Settings::default();
        effective.set("key", key_form(&self.0)?.value());
        Ok(effective)
    }

    fn data_files(directory: &Path) -> Vec<PathBuf> {
        vec![directory.join(DATABASE)]
    }

    /// With `durability=none`, commits wait in memory for one that is immediate; the last
    /// connection to be closed makes it.
    fn needs_checkpoint(options: &Options, is_open: bool) -> bool {
        is_open && !options.is_immediate()
    }

    fn checkpoint(&self, _: &Options) -> Result<()> {
        Ok(self.0.begin_write()?.commit()?)
    }

    fn create_table(&self, options: &mut Options) -> Result<()> {
        let transaction = options.begin_write(&self.0)?;
        drop(WriteTable::open(&transaction, options.key)?);
        Ok(transaction.commit()?)
    }

    fn drop_table<'e>(engine: &'e Lent<'e, Self>, options: &mut Options) -> Result<()> {
        let transaction = options.begin_write(&engine.0)?;
        if !WriteTable::delete(&transaction)? {
            return Err(StoreError::no_table(STORE, "drop it"));
        }
        Ok(transaction.commit()?)
    }
}

/// The form of the keys, as redb has it: it keeps the types of each table.
fn key_form(database: &Database) -> Result<KeyForm> {
    let transaction = database.begin_read()?;
    match transaction.open_table(Integer::TABLE) {
        Ok(_) => Ok(KeyForm::Integer),
        Err(TableError::TableTypeMismatch { .. }) => {
            Ok(transaction.open_table(Text::TABLE).map(|_| KeyForm::Text)?)
        }
        Err(error) => Err(error.into()),
    }
}

self_cell!(
    /// A transaction that writes, kept together with its table, which borrows it: to open the table
    /// for each operation would take 0.5 to 1.5 µs, about as long as writing a small value, which no
    /// user pays who has both in local variables.
    pub(super) struct Writing {
        owner: WriteTransaction,
        #[not_covariant]
        dependent: WriteTable,
    }
);

impl Reading for Writing {
    fn get(&mut self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        self.with_dependent_mut(|_, table| table.get(key, show))
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        self.with_dependent_mut(|_, table| table.scan(from, limit, visit))
    }
}

impl Table for Writing {
    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        self.with_dependent_mut(|_, table| table.insert(key, value))
    }

    fn replace(&mut self, key: Key, value: &[u8]) -> Result<bool> {
        self.with_dependent_mut(|_, table| table.replace(key, value))
    }

    fn remove(&mut self, key: Key) -> Result<bool> {
        self.with_dependent_mut(|_, table| table.remove(key))
    }
}

impl Changing for Writing {
    fn commit(self) -> Result<()> {
        Ok(self.into_owner().commit()?)
    }

    fn rollback(self) -> Result<()> {
        Ok(self.into_owner().abort()?)
    }
}
