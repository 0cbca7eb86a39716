//! libmdbx, as the adapter for key-value engines wants it.

use crate::environment::{
    self, Code, Environment, Order, Put, Reading, Resting, Table as MdbxTable, Writing,
};
use crate::error::Said as _;
use crate::key::{self, Held};
use crate::options::{self, Options};
use crate::{DATA_FILE, STORE};
use std::path::{Path, PathBuf};
use stowplan_model::{Capabilities, Settings};
use stowplan_stores::kv::{Engine, Rows, Visit, capabilities, shown};
use stowplan_stores::{Access, Found, Key, KeyForm, Lent, Result, expect_file, refuse_existing};

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
    table: MdbxTable,
    form: KeyForm,
    /// Between transactions that read: as libmdbx recommends, one is reset and renewed instead of
    /// being made anew.
    resting: Option<Resting<'e>>,
}

/// A transaction with the table in it.
pub(crate) struct Transaction<'e> {
    table: MdbxTable,
    form: KeyForm,
    inner: Inner<'e>,
}

enum Inner<'e> {
    Read(Reading<'e>),
    Write(Writing<'e>),
}

impl Engine for Environment {
    const STORE: &'static str = STORE;
    const ABOUT: &'static str =
        "a table of a libmdbx database: a B+ tree in mapped memory, copied on write";
    type Options = Options;
    type Table<'e> = Table<'e>;
    type Txn<'e> = Transaction<'e>;

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
        // libmdbx would open what is there, and make what is not.
        let path = directory.join(DATA_FILE);
        match new {
            true => refuse_existing(&path)?,
            false => expect_file(STORE, &path)?,
        }
        let environment = Self::new(directory, options).said()?;
        if new {
            environment.create_table(options)?;
        }
        Ok(environment)
    }

    /// After a last sync.
    fn close(self) -> Result<()> {
        self.end().said()
    }

    fn table<'e>(&'e self, options: &'e Options) -> Result<Option<Table<'e>>> {
        let form = options.key;
        let reading = self.read().said()?;
        let table = reading.open_table(TABLE, order(form)).said()?;
        reading.end().said()?;
        Ok(table.map(|table| Table {
            table,
            form,
            resting: None,
        }))
    }

    /// One that writes waits for that of another thread.
    fn begin<'e>(&'e self, table: &mut Table<'e>, access: Access) -> Result<Transaction<'e>> {
        let inner = match access {
            Access::Read => {
                let resting = table.resting.take();
                let reading = resting.map_or_else(|| self.read(), Resting::resume);
                Inner::Read(reading.said()?)
            }
            Access::Write => Inner::Write(self.write().said()?),
        };
        Ok(Transaction {
            table: table.table,
            form: table.form,
            inner,
        })
    }

    fn commit(transaction: Transaction<'_>) -> Result<()> {
        match transaction.inner {
            Inner::Read(_) => Ok(()),
            Inner::Write(writing) => writing.commit().said(),
        }
    }

    fn end<'e>(&'e self, table: &mut Table<'e>, transaction: Transaction<'e>) -> Result<()> {
        if let Inner::Read(reading) = transaction.inner {
            table.resting = Some(reading.rest().said()?);
        }
        Ok(())
    }

    fn effective_settings(&self, _: &Options) -> Result<Settings> {
        Ok(options::effective(&self.info().said()?))
    }

    fn data_files(directory: &Path) -> Vec<PathBuf> {
        vec![directory.join(DATA_FILE)]
    }

    /// A commit writes where the data stays.
    fn needs_checkpoint(_: &Options, _: bool) -> bool {
        false
    }

    fn create_table(&self, options: &Options) -> Result<()> {
        let writing = self.write().said()?;
        writing.create_table(TABLE, order(options.key)).said()?;
        writing.commit().said()
    }

    fn drop_table<'e>(engine: &'e Lent<'e, Self>, table: &mut Option<Table<'e>>) -> Result<()> {
        if let Some(table) = table {
            // A transaction at rest knows the tables that there were.
            table.resting = None;
            let mut writing = engine.write().said()?;
            writing.drop_table(table.table).said()?;
            writing.commit().said()?;
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
        changed => changed.said().map(|()| true),
    }
}

impl Rows for Transaction<'_> {
    /// The value where it lies in the mapping.
    fn get(&mut self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        let bytes = Held::new(self.form, key);
        let value = match &self.inner {
            Inner::Read(reading) => reading.get(self.table, bytes.as_ref()),
            Inner::Write(writing) => writing.get(self.table, bytes.as_ref()),
        };
        shown(value.said()?, show)
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        if limit == 0 {
            return Ok(0);
        }
        let (form, start) = (self.form, Held::new(self.form, from));
        let (mut visited, mut strange) = (0, None);
        let mut show = |key: &[u8], value: &[u8]| match key::key(form, key) {
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
        match &self.inner {
            Inner::Read(reading) => reading.scan(self.table, start.as_ref(), &mut show),
            Inner::Write(writing) => writing.scan(self.table, start.as_ref(), &mut show),
        }
        .said()?;
        strange.map_or(Ok(visited), Err)
    }

    fn put(&mut self, key: Key, value: &[u8], there: bool) -> Result<bool> {
        let Inner::Write(writing) = &mut self.inner else {
            return Ok(false);
        };
        let how = match there {
            true => Put::Replace,
            false => Put::Add,
        };
        let bytes = Held::new(self.form, key);
        as_said(writing.put(self.table, bytes.as_ref(), value, how))
    }

    fn remove(&mut self, key: Key) -> Result<bool> {
        let Inner::Write(writing) = &mut self.inner else {
            return Ok(false);
        };
        let bytes = Held::new(self.form, key);
        as_said(writing.delete(self.table, bytes.as_ref()))
    }
}
