//! libmdbx, as the adapter for key-value engines wants it.

use crate::environment::{
    self, Code, Environment, Order, Put, Reading as MdbxReading, Resting, Table as MdbxTable,
    Writing as MdbxWriting,
};
use crate::error::failed;
use crate::key::{self, Held};
use crate::options::{self, Options};
use crate::{DATA_FILE, STORE};
use std::path::{Path, PathBuf};
use stowplan_model::{Capabilities, Settings};
use stowplan_stores::kv::{Changing, Engine, Reading, Table, Visit, capabilities, on_key, shown};
use stowplan_stores::{
    Found, Key, KeyForm, Lent, Result, StoreError, expect_file, refuse_existing,
};

/// The name of the table.
const TABLE: &str = "kv";

fn order(form: KeyForm) -> Order {
    match form {
        KeyForm::Integer => Order::Numbers,
        KeyForm::Text => Order::Bytes,
    }
}

/// The table, where there is none: made and committed.
fn create_table(environment: &Environment, form: KeyForm) -> Result<MdbxTable> {
    let create = || {
        let writing = environment.write()?;
        let table = writing.create_table(TABLE, order(form))?;
        writing.commit()?;
        Ok(table)
    };
    create().map_err(|e| failed("create the table", e))
}

/// The table, if there is one.
fn open_table(
    environment: &Environment,
    form: KeyForm,
) -> std::result::Result<Option<MdbxTable>, Code> {
    let reading = environment.read()?;
    let table = reading.open_table(TABLE, order(form))?;
    reading.end()?;
    Ok(table)
}

/// What a session has of the table.
pub(crate) struct Handle<'e> {
    /// Nothing after it was dropped.
    table: Option<MdbxTable>,
    form: KeyForm,
    /// Between transactions that read: as libmdbx recommends, one is reset and renewed instead of
    /// being made anew.
    resting: Option<Resting<'e>>,
}

impl Handle<'_> {
    fn table(&self) -> Result<MdbxTable> {
        let none = || StoreError::no_table(STORE, "use the table");
        self.table.ok_or_else(none)
    }

    fn within<T>(
        &self,
        table: MdbxTable,
        transaction: std::result::Result<T, Code>,
    ) -> Result<Transaction<T>> {
        Ok(Transaction {
            table,
            form: self.form,
            transaction: transaction.map_err(|e| failed("begin a transaction", e))?,
        })
    }
}

/// A transaction with the table in it.
pub(crate) struct Transaction<T> {
    table: MdbxTable,
    form: KeyForm,
    transaction: T,
}

impl Engine for Environment {
    const STORE: &'static str = STORE;
    const ABOUT: &'static str =
        "a table of a libmdbx database: a B+ tree in mapped memory, copied on write";
    type Options = Options;
    type Handle<'e> = Handle<'e>;
    type Read<'e> = Transaction<MdbxReading<'e>>;
    type Write<'e> = Transaction<MdbxWriting<'e>>;

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

    fn create(directory: &Path, options: &Options) -> Result<Self> {
        // libmdbx would open what is there.
        refuse_existing(&directory.join(DATA_FILE))?;
        let environment = Self::new(directory, options)
            .map_err(|e| failed(format!("create {}", directory.display()), e))?;
        create_table(&environment, options.key)?;
        Ok(environment)
    }

    fn open(directory: &Path, options: &Options) -> Result<Self> {
        // libmdbx would make what is not there.
        expect_file(STORE, &directory.join(DATA_FILE))?;
        let opened = Self::new(directory, options);
        opened.map_err(|e| failed(format!("open {}", directory.display()), e))
    }

    /// libmdbx keeps with a table in which order its keys are, and there are two.
    fn check_keys(&self, directory: &Path, options: &Options) -> Result<()> {
        match open_table(self, options.key) {
            Ok(_) => Ok(()),
            Err(Code::INCOMPATIBLE) => {
                let other = match options.key {
                    KeyForm::Integer => KeyForm::Text,
                    KeyForm::Text => KeyForm::Integer,
                };
                let key = other.bytes(Key(1));
                let path = directory.join(DATA_FILE);
                options.key.check(STORE, &path, Some(key.as_ref()))
            }
            Err(code) => Err(failed("open the table", code)),
        }
    }

    /// After a last sync.
    fn close(self, _: &Path, _: &Options) -> Result<()> {
        self.end().map_err(|e| failed("close", e))
    }

    fn handle<'e>(&'e self, options: &'e Options) -> Result<Handle<'e>> {
        let table = open_table(self, options.key);
        Ok(Handle {
            table: table.map_err(|e| failed("open the table", e))?,
            form: options.key,
            resting: None,
        })
    }

    fn read<'e>(&'e self, handle: &mut Handle<'e>) -> Result<Self::Read<'e>> {
        let table = handle.table()?;
        let resting = handle.resting.take();
        let reading = resting.map_or_else(|| Self::read(self), Resting::resume);
        handle.within(table, reading)
    }

    fn end_read<'e>(&'e self, handle: &mut Handle<'e>, read: Self::Read<'e>) -> Result<()> {
        let resting = read.transaction.rest();
        handle.resting = Some(resting.map_err(|e| failed("end a transaction", e))?);
        Ok(())
    }

    /// Waits for the transaction of another thread that writes.
    fn write<'e>(&'e self, handle: &mut Handle<'e>) -> Result<Self::Write<'e>> {
        let table = handle.table()?;
        handle.within(table, Self::write(self))
    }

    fn effective_settings(&self, _: &Path, _: &Options) -> Result<Settings> {
        let info = self.info().map_err(|e| failed("read settings", e))?;
        Ok(options::effective(&info))
    }

    fn data_files(directory: &Path) -> Vec<PathBuf> {
        vec![directory.join(DATA_FILE)]
    }

    /// A commit writes where the data stays.
    fn needs_checkpoint(_: &Options, _: bool) -> bool {
        false
    }

    fn create_table<'e>(&'e self, handle: &mut Handle<'e>) -> Result<()> {
        handle.table = Some(create_table(self, handle.form)?);
        Ok(())
    }

    fn drop_table<'e>(engine: &'e Lent<'e, Self>, handle: &mut Handle<'e>) -> Result<()> {
        // A transaction at rest knows the tables that there were.
        handle.resting = None;
        let table = handle.table()?;
        let drop = || {
            let mut writing = engine.write()?;
            writing.drop_table(table)?;
            writing.commit()
        };
        drop().map_err(|e| failed("drop the table", e))?;
        handle.table = None;
        Ok(())
    }
}

type Value<'t> = std::result::Result<Option<&'t [u8]>, Code>;

/// The value where it lies in the mapping.
fn get(key: Key, value: Value<'_>, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
    shown(value.map_err(|e| failed(on_key("read", key), e))?, show)
}

/// Runs `scan` with a function that shows values for as long as it says so.
fn scanned(
    form: KeyForm,
    from: Key,
    limit: usize,
    visit: &mut Visit<'_>,
    scan: impl FnOnce(&mut dyn FnMut(&[u8], &[u8]) -> bool) -> std::result::Result<(), Code>,
) -> Result<usize> {
    if limit == 0 {
        return Ok(0);
    }
    let (mut visited, mut strange) = (0, None);
    let scanned = scan(&mut |key, value| match key::key(form, key) {
        Ok(key) => {
            visit(key, value);
            visited += 1;
            visited < limit
        }
        Err(error) => {
            strange = Some(error);
            false
        }
    });
    scanned.map_err(|e| failed(on_key("scan from", from), e))?;
    strange.map_or(Ok(visited), Err)
}

impl Reading for Transaction<MdbxReading<'_>> {
    fn get(&mut self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        let bytes = Held::new(self.form, key);
        get(key, self.transaction.get(self.table, bytes.as_ref()), show)
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        let start = Held::new(self.form, from);
        scanned(self.form, from, limit, visit, |show| {
            self.transaction.scan(self.table, start.as_ref(), show)
        })
    }
}

impl Reading for Transaction<MdbxWriting<'_>> {
    fn get(&mut self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        let bytes = Held::new(self.form, key);
        get(key, self.transaction.get(self.table, bytes.as_ref()), show)
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        let start = Held::new(self.form, from);
        scanned(self.form, from, limit, visit, |show| {
            self.transaction.scan(self.table, start.as_ref(), show)
        })
    }
}

impl Table for Transaction<MdbxWriting<'_>> {
    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        let bytes = Held::new(self.form, key);
        let put = self
            .transaction
            .put(self.table, bytes.as_ref(), value, Put::Add);
        match put {
            Ok(()) => Ok(()),
            Err(Code::KEY_EXISTS) => Err(StoreError::key_exists(STORE, key)),
            Err(code) => Err(failed(on_key("insert", key), code)),
        }
    }

    fn replace(&mut self, key: Key, value: &[u8]) -> Result<bool> {
        let bytes = Held::new(self.form, key);
        let put = self
            .transaction
            .put(self.table, bytes.as_ref(), value, Put::Replace);
        found(put).map_err(|e| failed(on_key("overwrite", key), e))
    }

    fn remove(&mut self, key: Key) -> Result<bool> {
        let bytes = Held::new(self.form, key);
        let deleted = self.transaction.delete(self.table, bytes.as_ref());
        found(deleted).map_err(|e| failed(on_key("delete", key), e))
    }
}

/// Whether what was to be changed was there.
fn found(changed: std::result::Result<(), Code>) -> std::result::Result<bool, Code> {
    match changed {
        Ok(()) => Ok(true),
        Err(Code::NOT_FOUND) => Ok(false),
        Err(code) => Err(code),
    }
}

impl Changing for Transaction<MdbxWriting<'_>> {
    fn commit(self) -> Result<()> {
        self.transaction.commit().map_err(|e| failed("commit", e))
    }
}
