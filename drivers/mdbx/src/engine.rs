//! libmdbx, as the adapter for key-value engines wants it.

use crate::environment::{self, Code, Environment, Order, Table as Handle, Transaction};
use crate::options::{self, Options};
use crate::{DATA_FILE, STORE};
use std::path::Path;
use stowplan_model::{Capabilities, Settings};
use stowplan_stores::kv::{Engine, Rows, Visit, capabilities, shown};
use stowplan_stores::{Access, Found, Key, KeyForm, Result};

/// The name of the table.
const TABLE: &str = "kv";

fn order(form: KeyForm) -> Order {
    match form {
        KeyForm::Integer => Order::Numbers,
        KeyForm::Text => Order::Bytes,
    }
}

/// What a session has of the table.
pub(crate) struct Table<'e> {
    handle: Handle,
    form: KeyForm,
    /// Between transactions that read: as libmdbx recommends, one is reset and renewed instead of
    /// being made anew.
    resting: Option<Transaction<'e>>,
}

/// A transaction with the table in it.
pub(crate) struct Txn<'e> {
    handle: Handle,
    form: KeyForm,
    access: Access,
    inner: Transaction<'e>,
}

impl Engine for Environment {
    const STORE: &'static str = STORE;
    const ABOUT: &'static str =
        "a table of a libmdbx database: a B+ tree in mapped memory, copied on write";
    const FILE: Option<&'static str> = Some(DATA_FILE);
    type Options = Options;
    type Table<'e> = Table<'e>;
    type Txn<'e> = Txn<'e>;

    fn version() -> (&'static str, String) {
        ("libmdbx", environment::version())
    }

    fn capabilities(options: &Options) -> Capabilities {
        Capabilities {
            mapped: true,
            largest_value: environment::largest_value(options.page_size),
            ..capabilities::<Self>(options.durability(), options.syncs_per_commit())
        }
    }

    fn open(directory: &Path, options: &Options, new: bool) -> Result<Self> {
        let environment = Self::new(directory, options)?;
        if new {
            environment.create_table(options)?;
        }
        Ok(environment)
    }

    /// After a last sync.
    fn close(self) -> Result<()> {
        Ok(self.end()?)
    }

    fn table<'e>(&'e self, options: &'e Options) -> Result<Option<Table<'e>>> {
        let form = options.key;
        let reading = self.begin(Access::Read)?;
        let handle = match reading.table(TABLE, order(form), false) {
            Err(Code::NOT_FOUND) => return Ok(None),
            handle => handle?,
        };
        reading.end()?;
        Ok(Some(Table {
            handle,
            form,
            resting: None,
        }))
    }

    /// One that writes waits for that of another thread.
    fn begin<'e>(&'e self, table: &mut Table<'e>, access: Access) -> Result<Txn<'e>> {
        let resting = table.resting.take_if(|_| access == Access::Read);
        let inner = match resting {
            Some(mut resting) => resting.resume().map(|()| resting)?,
            None => self.begin(access)?,
        };
        Ok(Txn {
            handle: table.handle,
            form: table.form,
            access,
            inner,
        })
    }

    fn commit(txn: Txn<'_>) -> Result<()> {
        match txn.access {
            Access::Read => Ok(()),
            Access::Write => Ok(txn.inner.end()?),
        }
    }

    fn end<'e>(&'e self, table: &mut Table<'e>, mut txn: Txn<'e>) -> Result<()> {
        if txn.access == Access::Read {
            txn.inner.rest()?;
            table.resting = Some(txn.inner);
        }
        Ok(())
    }

    fn effective_settings(&self, _: &Options) -> Result<Settings> {
        Ok(options::effective(&self.info()?))
    }

    /// A commit writes where the data stays.
    fn needs_checkpoint(_: &Options, _: bool) -> bool {
        false
    }

    fn create_table(&self, options: &Options) -> Result<()> {
        let writing = self.begin(Access::Write)?;
        writing.table(TABLE, order(options.key), true)?;
        Ok(writing.end()?)
    }

    fn drop_table<'e>(&'e self, table: &mut Option<Table<'e>>, _: bool) -> Result<()> {
        if let Some(table) = table {
            // A transaction at rest knows the tables that there were.
            table.resting = None;
            let mut writing = Self::begin(self, Access::Write)?;
            writing.drop_table(table.handle)?;
            writing.end()?;
        }
        *table = None;
        Ok(())
    }
}

/// Whether it was there, or was not, as was said.
fn as_said(changed: std::result::Result<(), Code>) -> Result<bool> {
    match changed {
        Ok(()) => Ok(true),
        Err(Code::NOT_FOUND | Code::KEY_EXISTS) => Ok(false),
        Err(code) => Err(code.into()),
    }
}

impl Rows for Txn<'_> {
    /// The value where it lies in the mapping.
    fn get(&mut self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        let bytes = self.form.native(key);
        shown(self.inner.get(self.handle, bytes.as_ref())?, show)
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        if limit == 0 {
            return Ok(0);
        }
        let (form, start) = (self.form, self.form.native(from));
        let (mut visited, mut strange) = (0, None);
        let mut show = |key: &[u8], value: &[u8]| match form.native_key(key) {
            Ok(key) => {
                visit(key, value);
                visited += 1;
                visited < limit
            }
            Err(error) => {
                strange = Some(error);
                false
            }
        };
        self.inner.scan(self.handle, start.as_ref(), &mut show)?;
        strange.map_or(Ok(visited), Err)
    }

    fn put(&mut self, key: Key, value: &[u8], there: bool) -> Result<bool> {
        let bytes = self.form.native(key);
        as_said(self.inner.put(self.handle, bytes.as_ref(), value, there))
    }

    fn remove(&mut self, key: Key) -> Result<bool> {
        let bytes = self.form.native(key);
        as_said(self.inner.delete(self.handle, bytes.as_ref()))
    }
}
