//! Operations on the table.

use super::form::{Form, ReadTable, WriteTable};
use super::options::Options;
use super::writing::Writing;
use super::{STORE, failed, key_failed};
use crate::{Access, Buffer, Found, Key, Result, Session, StoreError};
use ::redb::{
    AccessGuard, Database, ReadableDatabase, ReadableTable, StorageError, TableError,
    WriteTransaction,
};

pub(super) struct RedbSession<'c, F: Form> {
    database: &'c Database,
    options: Options,
    state: State<F>,
}

enum State<F: Form> {
    /// Each operation is a transaction of its own.
    Idle,
    /// The table keeps its transaction.
    Reading(ReadTable<F>),
    Writing(Writing<F>),
}

/// A value that redb lends, or why it does not.
type Lent<'t> = std::result::Result<Option<AccessGuard<'t, &'static [u8]>>, StorageError>;

impl<'c, F: Form> RedbSession<'c, F> {
    pub(super) fn new(database: &'c Database, options: Options) -> Self {
        Self {
            database,
            options,
            state: State::Idle,
        }
    }

    fn begin_read(&self) -> Result<ReadTable<F>> {
        let transaction = self.database.begin_read();
        transaction
            .map_err(|e| failed("begin a transaction", &e))?
            .open_table(F::TABLE)
            .map_err(|e| match e {
                TableError::TableDoesNotExist(_) => StoreError::no_table(STORE, "read"),
                e => failed("open the table", &e),
            })
    }

    /// Waits for the transaction of another thread that writes.
    fn begin_write(&self) -> Result<WriteTransaction> {
        let mut transaction = self
            .database
            .begin_write()
            .map_err(|e| failed("begin a transaction", &e))?;
        self.options.apply(&mut transaction)?;
        Ok(transaction)
    }

    fn read(&self, key: Key, visit: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        let held = F::held(key);
        let stored = F::stored(&held);
        match &self.state {
            State::Idle => lend(key, self.begin_read()?.get(stored), visit),
            State::Reading(table) => lend(key, table.get(stored), visit),
            State::Writing(writing) => lend(key, writing.table()?.get(stored), visit),
        }
    }

    /// Changes something in the transaction that is open, or in one of its own; says whether there
    /// was something to change. If not, the latter is not committed.
    fn change(
        &mut self,
        work: impl FnOnce(&mut WriteTable<'_, F>) -> Result<bool>,
    ) -> Result<bool> {
        match &mut self.state {
            State::Writing(writing) => work(writing.table_mut()?),
            State::Reading(_) => Err(StoreError::unsupported(
                STORE,
                "write",
                "the transaction is one that reads",
            )),
            State::Idle => self.change_alone(work),
        }
    }

    fn change_alone(
        &self,
        work: impl FnOnce(&mut WriteTable<'_, F>) -> Result<bool>,
    ) -> Result<bool> {
        let transaction = self.begin_write()?;
        let changed = {
            let table = transaction.open_table(F::TABLE);
            work(&mut table.map_err(|e| failed("open the table", &e))?)?
        };
        if changed {
            commit(transaction)?;
        } else {
            abort(transaction)?;
        }
        Ok(changed)
    }

    fn insert_all<'r>(&mut self, mut rows: impl Iterator<Item = (Key, &'r [u8])>) -> Result<()> {
        self.change(|table| {
            rows.try_for_each(|(key, value)| insert::<F>(table, key, value))?;
            Ok(true)
        })
        .map(drop)
    }

    fn scan_table(
        &self,
        table: &impl ReadableTable<F::Stored, &'static [u8]>,
        from: Key,
        limit: usize,
        visit: &mut dyn FnMut(Key, &[u8]),
    ) -> Result<usize> {
        let held = F::held(from);
        let failed = |e: &StorageError| key_failed("scan from", from, e);
        let range = table.range(F::stored(&held)..).map_err(|e| failed(&e))?;
        let mut visited = 0;
        for entry in range.take(limit) {
            let (key, value) = entry.map_err(|e| failed(&e))?;
            visit(F::key(&key.value())?, value.value());
            visited += 1;
        }
        Ok(visited)
    }
}

fn lend(key: Key, lent: Lent<'_>, visit: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
    match lent.map_err(|e| key_failed("read", key, &e))? {
        None => Ok(Found::Missing),
        Some(value) => {
            visit(value.value())?;
            Ok(Found::Bytes(value.value().len()))
        }
    }
}

/// redb's own `insert` replaces a value and hands the old one out, which is then put back: one
/// descent for a new key, where a look beforehand would take two, and `entry` takes three.
fn insert<F: Form>(table: &mut WriteTable<'_, F>, key: Key, value: &[u8]) -> Result<()> {
    let held = F::held(key);
    let failed = |e: &StorageError| key_failed("insert", key, e);
    let replaced = table.insert(F::stored(&held), value);
    let replaced = replaced.map_err(|e| failed(&e))?;
    let Some(old) = replaced.map(|old| old.value().to_vec()) else {
        return Ok(());
    };
    let restored = table.insert(F::stored(&held), old.as_slice());
    restored.map_err(|e| failed(&e))?;
    Err(StoreError::key_exists(STORE, key))
}

fn commit(transaction: WriteTransaction) -> Result<()> {
    transaction.commit().map_err(|e| failed("commit", &e))
}

fn abort(transaction: WriteTransaction) -> Result<()> {
    transaction.abort().map_err(|e| failed("roll back", &e))
}

impl<F: Form> Session for RedbSession<'_, F> {
    fn begin(&mut self, access: Access) -> Result<()> {
        // One that was left open ends first: redb would wait for it forever.
        self.state = State::Idle;
        self.state = match access {
            Access::Read => State::Reading(self.begin_read()?),
            Access::Write => State::Writing(Writing::new(self.begin_write()?)?),
        };
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.state, State::Idle) {
            State::Writing(mut writing) => writing.end().map_or(Ok(()), commit),
            State::Reading(_) | State::Idle => Ok(()),
        }
    }

    fn rollback(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.state, State::Idle) {
            State::Writing(mut writing) => writing.end().map_or(Ok(()), abort),
            State::Reading(_) | State::Idle => Ok(()),
        }
    }

    fn read_into(&mut self, key: Key, buffer: &mut Buffer) -> Result<Found> {
        self.read(key, |value| buffer.copy_from(value))
    }

    fn read_in_place(&mut self, key: Key, visit: &mut dyn FnMut(&[u8])) -> Result<Found> {
        self.read(key, |value| {
            visit(value);
            Ok(())
        })
    }

    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        self.insert_all(std::iter::once((key, value)))
    }

    fn insert_many(&mut self, rows: &[(Key, &[u8])]) -> Result<()> {
        self.insert_all(rows.iter().copied())
    }

    fn overwrite(&mut self, key: Key, value: &[u8]) -> Result<Found> {
        let overwritten = self.change(|table| {
            let held = F::held(key);
            let failed = |e: &StorageError| key_failed("overwrite", key, e);
            let place = table.get_mut(F::stored(&held)).map_err(|e| failed(&e))?;
            let Some(mut place) = place else {
                return Ok(false);
            };
            place.insert(value).map_err(|e| failed(&e))?;
            Ok(true)
        })?;
        Ok(match overwritten {
            true => Found::Bytes(value.len()),
            false => Found::Missing,
        })
    }

    fn delete(&mut self, key: Key) -> Result<bool> {
        self.change(|table| {
            let held = F::held(key);
            let removed = table.remove(F::stored(&held));
            let removed = removed.map_err(|e| key_failed("delete", key, &e))?;
            Ok(removed.is_some())
        })
    }

    fn scan(
        &mut self,
        from: Key,
        limit: usize,
        visit: &mut dyn FnMut(Key, &[u8]),
    ) -> Result<usize> {
        match &self.state {
            State::Idle => self.scan_table(&self.begin_read()?, from, limit, visit),
            State::Reading(table) => self.scan_table(table, from, limit, visit),
            State::Writing(writing) => self.scan_table(writing.table()?, from, limit, visit),
        }
    }

    /// redb makes a table when it is first opened in a transaction that writes.
    fn create_table(&mut self) -> Result<()> {
        self.state = State::Idle;
        let transaction = self.begin_write()?;
        let table = transaction.open_table(F::TABLE);
        drop(table.map_err(|e| failed("create the table", &e))?);
        commit(transaction)
    }

    fn drop_table(&mut self) -> Result<()> {
        self.state = State::Idle;
        let transaction = self.begin_write()?;
        let existed = transaction.delete_table(F::TABLE);
        if !existed.map_err(|e| failed("drop the table", &e))? {
            return Err(StoreError::no_table(STORE, "drop it"));
        }
        commit(transaction)
    }
}
