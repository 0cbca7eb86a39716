//! One table in a redb database: a copy-on-write B-tree in a single file, written in Rust.

mod options;
mod rows;

use crate::kv::{Engine, capabilities};
use crate::{Access, Kind, Result, StoreError};
use ::redb::{Database, ReadableDatabase as _, WriteTransaction};
use options::Options;
use rows::{ReadTable, Transaction, WriteTable, Writing};
use std::path::Path;
use stowplan_model::Capabilities;

const STORE: &str = "redb";

/// The name of the database below a store's directory.
const DATABASE: &str = "kv.redb";

/// The version that is built: redb does not tell it. A test compares it with Cargo.lock.
const ENGINE_VERSION: &str = "4.5.0";

/// One table in a redb database. See the module.
pub(crate) const KIND: &Kind = &Kind::of_engine::<OpenDatabase>();

/// What redb says.
macro_rules! said {
    ($($error:ident),+) => {$(
        impl From<::redb::$error> for StoreError {
            fn from(error: ::redb::$error) -> Self {
                Self::said(error)
            }
        }
    )+};
}

said!(
    CommitError,
    DatabaseError,
    SetDurabilityError,
    StorageError,
    TransactionError
);

impl From<::redb::TableError> for StoreError {
    fn from(error: ::redb::TableError) -> Self {
        match error {
            ::redb::TableError::TableDoesNotExist(_) => Self::no_table("use it"),
            error => Self::said(error),
        }
    }
}

/// An open database.
struct OpenDatabase(Database);

impl OpenDatabase {
    /// Waits for the transaction of another thread that writes.
    fn begin_write(&self, options: &Options) -> Result<WriteTransaction> {
        let mut transaction = self.0.begin_write()?;
        options.apply(&mut transaction)?;
        Ok(transaction)
    }
}

impl Engine for OpenDatabase {
    const STORE: &'static str = STORE;
    const ABOUT: &'static str = "a copy-on-write B-tree in one file, in Rust";
    const FILE: Option<&'static str> = Some(DATABASE);
    type Options = Options;
    type Table<'e> = &'e Options;
    type Txn<'e> = Transaction;

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

    fn open(directory: &Path, options: &Options, new: bool) -> Result<Self> {
        let path = directory.join(DATABASE);
        if !new {
            return Ok(Self(options.builder().open(&path)?));
        }
        let engine = Self(options.builder().create(&path)?);
        engine.create_table(options)?;
        Ok(engine)
    }

    fn close(self) -> Result<()> {
        Ok(self.0.close()?)
    }

    fn table<'e>(&'e self, options: &'e Options) -> Result<Option<&'e Options>> {
        match ReadTable::open(&self.0.begin_read()?, options.key) {
            Err(error) if error.is_no_table() => Ok(None),
            opened => opened.map(|_| Some(options)),
        }
    }

    fn begin(&self, options: &mut &Options, access: Access) -> Result<Transaction> {
        let form = options.key;
        Ok(match access {
            Access::Read => Transaction::Read(ReadTable::open(&self.0.begin_read()?, form)?),
            Access::Write => Transaction::Write(Writing::try_new(
                self.begin_write(options)?,
                |transaction| WriteTable::open(transaction, form),
            )?),
        })
    }

    fn commit(transaction: Transaction) -> Result<()> {
        match transaction {
            Transaction::Read(_) => Ok(()),
            Transaction::Write(writing) => Ok(writing.into_owner().commit()?),
        }
    }

    fn end(&self, _: &mut &Options, transaction: Transaction) -> Result<()> {
        match transaction {
            Transaction::Read(_) => Ok(()),
            Transaction::Write(writing) => Ok(writing.into_owner().abort()?),
        }
    }

    /// With `durability=none`, commits wait in memory for one that is immediate; the last
    /// connection to be closed makes it.
    fn needs_checkpoint(options: &Options, is_open: bool) -> bool {
        is_open && !options.is_immediate()
    }

    fn checkpoint(&self, _: &Options) -> Result<()> {
        Ok(self.0.begin_write()?.commit()?)
    }

    fn create_table(&self, options: &Options) -> Result<()> {
        let transaction = self.begin_write(options)?;
        drop(WriteTable::open(&transaction, options.key)?);
        Ok(transaction.commit()?)
    }

    fn drop_table<'e>(&'e self, table: &mut Option<&'e Options>, _: bool) -> Result<()> {
        if let Some(options) = table.take() {
            let transaction = self.begin_write(options)?;
            rows::delete(&transaction)?;
            transaction.commit()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
