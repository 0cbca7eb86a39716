//! Operations on the table.

use crate::engine::{Code, Engine, Put, Reading, Resting, Table, Writing};
use crate::key::{self, Held};
use crate::{STORE, create_table, failed};
use stowplan_stores::{Access, Buffer, Found, Key, KeyForm, Result, Session, StoreError};

pub(crate) struct MdbxSession<'c> {
    engine: &'c Engine,
    /// The connection's. Nothing after it was dropped.
    table: &'c mut Option<Table>,
    form: KeyForm,
    state: State<'c>,
}

enum State<'c> {
    Idle,
    /// Between reads that are transactions of their own: as libmdbx recommends, one is reset and
    /// renewed instead of being made anew.
    Resting(Resting<'c>),
    Read(Reading<'c>),
    Write(Writing<'c>),
}

fn key_failed(action: &str, key: Key, code: Code) -> StoreError {
    failed(format!("{action} key {key}"), code)
}

impl<'c> MdbxSession<'c> {
    pub(crate) fn new(engine: &'c Engine, table: &'c mut Option<Table>, form: KeyForm) -> Self {
        Self {
            engine,
            table,
            form,
            state: State::Idle,
        }
    }

    fn table(&self) -> Result<Table> {
        self.table
            .ok_or_else(|| StoreError::no_table(STORE, "use the table"))
    }

    fn take_reading(&mut self) -> Result<Reading<'c>> {
        match std::mem::replace(&mut self.state, State::Idle) {
            State::Resting(resting) => resting.resume(),
            _ => self.engine.read(),
        }
        .map_err(|e| failed("begin a transaction", e))
    }

    /// Shows the value where it lies in the mapping.
    fn show(&mut self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        let table = self.table()?;
        let bytes = Held::new(self.form, key);
        let found = |value: std::result::Result<Option<&[u8]>, Code>| match value {
            Ok(Some(value)) => show(value).map(|()| Found::Bytes(value.len())),
            Ok(None) => Ok(Found::Missing),
            Err(code) => Err(key_failed("read", key, code)),
        };
        match &self.state {
            State::Read(reading) => found(reading.get(table, bytes.as_ref())),
            State::Write(writing) => found(writing.get(table, bytes.as_ref())),
            State::Idle | State::Resting(_) => {
                let reading = self.take_reading()?;
                let found = found(reading.get(table, bytes.as_ref()));
                let resting = reading.rest().map_err(|e| failed("end a transaction", e))?;
                self.state = State::Resting(resting);
                found
            }
        }
    }

    /// Runs `work` in the transaction that is open, or in one of its own.
    fn write<T>(&mut self, work: impl FnOnce(Table, &mut Writing<'c>) -> Result<T>) -> Result<T> {
        let table = self.table()?;
        match &mut self.state {
            State::Write(writing) => work(table, writing),
            State::Read(_) => Err(StoreError::unsupported(
                STORE,
                "write",
                "the transaction was begun for reading only",
            )),
            State::Idle | State::Resting(_) => {
                let mut writing = self.begin_writing()?;
                let done = work(table, &mut writing)?;
                writing.commit().map_err(|e| failed("commit", e))?;
                Ok(done)
            }
        }
    }

    fn begin_writing(&self) -> Result<Writing<'c>> {
        self.engine
            .write()
            .map_err(|e| failed("begin a transaction", e))
    }

    fn without_transaction(&self, what: &str) -> Result<()> {
        if matches!(self.state, State::Idle | State::Resting(_)) {
            return Ok(());
        }
        Err(StoreError::unsupported(
            STORE,
            what,
            "a transaction is open; commit it first",
        ))
    }
}

fn insert(
    form: KeyForm,
    table: Table,
    writing: &mut Writing<'_>,
    key: Key,
    value: &[u8],
) -> Result<()> {
    match writing.put(table, Held::new(form, key).as_ref(), value, Put::Add) {
        Ok(()) => Ok(()),
        Err(Code::KEY_EXISTS) => Err(StoreError::key_exists(STORE, key)),
        Err(code) => Err(key_failed("insert", key, code)),
    }
}

impl Session for MdbxSession<'_> {
    fn begin(&mut self, access: Access) -> Result<()> {
        self.without_transaction("begin a transaction")?;
        self.state = match access {
            Access::Read => State::Read(self.take_reading()?),
            Access::Write => State::Write(self.begin_writing()?),
        };
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        self.state = match std::mem::replace(&mut self.state, State::Idle) {
            State::Write(writing) => {
                writing.commit().map_err(|e| failed("commit", e))?;
                State::Idle
            }
            State::Read(reading) => {
                State::Resting(reading.rest().map_err(|e| failed("commit", e))?)
            }
            state => state,
        };
        Ok(())
    }

    fn rollback(&mut self) -> Result<()> {
        self.state = State::Idle;
        Ok(())
    }

    fn read_into(&mut self, key: Key, buffer: &mut Buffer) -> Result<Found> {
        self.show(key, |value| buffer.copy_from(value))
    }

    fn read_in_place(&mut self, key: Key, visit: &mut dyn FnMut(&[u8])) -> Result<Found> {
        self.show(key, |value| {
            visit(value);
            Ok(())
        })
    }

    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        let form = self.form;
        self.write(|table, writing| insert(form, table, writing, key, value))
    }

    fn insert_many(&mut self, rows: &[(Key, &[u8])]) -> Result<()> {
        let form = self.form;
        self.write(|table, writing| {
            rows.iter()
                .try_for_each(|(key, value)| insert(form, table, writing, *key, value))
        })
    }

    fn overwrite(&mut self, key: Key, value: &[u8]) -> Result<Found> {
        let bytes = Held::new(self.form, key);
        self.write(
            |table, writing| match writing.put(table, bytes.as_ref(), value, Put::Replace) {
                Ok(()) => Ok(Found::Bytes(value.len())),
                Err(Code::NOT_FOUND) => Ok(Found::Missing),
                Err(code) => Err(key_failed("overwrite", key, code)),
            },
        )
    }

    fn delete(&mut self, key: Key) -> Result<bool> {
        let bytes = Held::new(self.form, key);
        self.write(
            |table, writing| match writing.delete(table, bytes.as_ref()) {
                Ok(()) => Ok(true),
                Err(Code::NOT_FOUND) => Ok(false),
                Err(code) => Err(key_failed("delete", key, code)),
            },
        )
    }

    fn scan(
        &mut self,
        from: Key,
        limit: usize,
        visit: &mut dyn FnMut(Key, &[u8]),
    ) -> Result<usize> {
        if limit == 0 {
            return Ok(0);
        }
        let table = self.table()?;
        let form = self.form;
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
        let start = Held::new(form, from);
        let scanned = match &self.state {
            State::Read(reading) => reading.scan(table, start.as_ref(), &mut show),
            State::Write(writing) => writing.scan(table, start.as_ref(), &mut show),
            State::Idle | State::Resting(_) => {
                let reading = self.take_reading()?;
                let scanned = reading.scan(table, start.as_ref(), &mut show);
                let resting = reading.rest().map_err(|e| failed("end a transaction", e))?;
                self.state = State::Resting(resting);
                scanned
            }
        };
        scanned.map_err(|e| key_failed("scan from", from, e))?;
        strange.map_or(Ok(visited), Err)
    }

    fn create_table(&mut self) -> Result<()> {
        self.without_transaction("create a table")?;
        let table =
            create_table(self.engine, self.form).map_err(|e| failed("create the table", e))?;
        *self.table = Some(table);
        Ok(())
    }

    fn drop_table(&mut self) -> Result<()> {
        self.without_transaction("drop a table")?;
        // A transaction at rest knows the tables that there were.
        self.state = State::Idle;
        let table = self.table()?;
        let mut writing = self.begin_writing()?;
        let dropped = writing.drop_table(table).and_then(|()| writing.commit());
        dropped.map_err(|e| failed("drop the table", e))?;
        *self.table = None;
        Ok(())
    }
}
