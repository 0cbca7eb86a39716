//! Operations on the database.

use super::engine::Engine;
use super::form::{Form, Table};
use super::{STORE, failed, key_failed};
use crate::shared::Lent;
use crate::{Access, Buffer, Found, Key, Result, Session, StoreError};
use ::heed::{MdbError, PutFlags, RoTxn, RwTxn, WithTls};
use std::ops::Bound;

pub(super) struct LmdbSession<'c, F: Form> {
    /// Shared with the other connections.
    engine: &'c Lent<'c, Engine<F>>,
    table: Option<Table<F>>,
    named: bool,
    state: State<'c>,
}

enum State<'c> {
    /// Each operation is a transaction of its own.
    Idle,
    Reading(RoTxn<'c, WithTls>),
    Writing(RwTxn<'c>),
}

impl<'c, F: Form> LmdbSession<'c, F> {
    pub(super) fn new(engine: &'c Lent<'c, Engine<F>>, named: bool) -> Self {
        Self {
            engine,
            table: engine.table(),
            named,
            state: State::Idle,
        }
    }

    fn begin_read(&self) -> Result<RoTxn<'c, WithTls>> {
        let transaction = self.engine.env.read_txn();
        transaction.map_err(|e| failed("begin a transaction", &e))
    }

    /// Waits for the transaction of another thread that writes.
    fn begin_write(&self) -> Result<RwTxn<'c>> {
        let transaction = self.engine.env.write_txn();
        transaction.map_err(|e| failed("begin a transaction", &e))
    }

    fn table(&self) -> Result<Table<F>> {
        self.table
            .ok_or_else(|| StoreError::no_table(STORE, "use it"))
    }

    fn read(&self, key: Key, visit: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        let table = self.table()?;
        match &self.state {
            State::Idle => lend::<F>(table, &*self.begin_read()?, key, visit),
            State::Reading(transaction) => lend::<F>(table, transaction, key, visit),
            State::Writing(transaction) => lend::<F>(table, transaction, key, visit),
        }
    }

    /// Changes something in the transaction that is open, or in one of its own; says whether there
    /// was something to change. If not, the latter is not committed.
    fn change(
        &mut self,
        work: impl FnOnce(Table<F>, &mut RwTxn<'_>) -> Result<bool>,
    ) -> Result<bool> {
        let table = self.table()?;
        match &mut self.state {
            State::Writing(transaction) => return work(table, transaction),
            State::Reading(_) => {
                return Err(StoreError::unsupported(
                    STORE,
                    "write",
                    "the transaction is one that reads",
                ));
            }
            State::Idle => {}
        }
        let mut transaction = self.begin_write()?;
        let changed = work(table, &mut transaction)?;
        if changed {
            commit(transaction)?;
        } else {
            transaction.abort();
        }
        Ok(changed)
    }

    fn insert_all<'r>(&mut self, mut rows: impl Iterator<Item = (Key, &'r [u8])>) -> Result<()> {
        self.change(|table, transaction| {
            rows.try_for_each(|(key, value)| insert::<F>(table, transaction, key, value))?;
            Ok(true)
        })
        .map(drop)
    }

    /// Only while this connection has the engine alone.
    #[expect(unsafe_code, reason = "heed does not count the copies of a handle")]
    fn drop_database(&mut self) -> Result<()> {
        self.state = State::Idle;
        let table = self.table()?;
        let mut transaction = self.begin_write()?;
        // Gone with the call, whether it succeeds or not.
        self.table = None;
        *self.engine.table_mut() = None;
        // SAFETY: the copies of this handle were those of the engine and of this session, the only
        // one of the only connection, and both are forgotten; another connection has to wait. The
        // transaction is new.
        let removed = unsafe { table.remove(&mut transaction) };
        removed.map_err(|e| failed("drop the database", &e))?;
        commit(transaction)
    }

    fn no_named(&self, what: &str) -> StoreError {
        StoreError::unsupported(
            STORE,
            format!("{what} the unnamed database"),
            "it is there as long as its environment; use database=named",
        )
    }
}

fn lend<F: Form>(
    table: Table<F>,
    transaction: &RoTxn<'_>,
    key: Key,
    visit: impl FnOnce(&[u8]) -> Result<()>,
) -> Result<Found> {
    let value = table.get(transaction, F::held(key).as_ref());
    match value.map_err(|e| key_failed("read", key, &e))? {
        None => Ok(Found::Missing),
        Some(value) => {
            visit(value)?;
            Ok(Found::Bytes(value.len()))
        }
    }
}

fn insert<F: Form>(
    table: Table<F>,
    transaction: &mut RwTxn<'_>,
    key: Key,
    value: &[u8],
) -> Result<()> {
    let held = F::held(key);
    match table.put_with_flags(transaction, PutFlags::NO_OVERWRITE, held.as_ref(), value) {
        Ok(()) => Ok(()),
        Err(::heed::Error::Mdb(MdbError::KeyExist)) => Err(StoreError::key_exists(STORE, key)),
        Err(e) => Err(key_failed("insert", key, &e)),
    }
}

fn visit_range<F: Form>(
    table: Table<F>,
    transaction: &RoTxn<'_>,
    from: Key,
    limit: usize,
    visit: &mut dyn FnMut(Key, &[u8]),
) -> Result<usize> {
    let held = F::held(from);
    let failed = |e: &::heed::Error| key_failed("scan from", from, e);
    let range = (Bound::Included(held.as_ref()), Bound::Unbounded);
    let range = table.range(transaction, &range).map_err(|e| failed(&e))?;
    let mut visited = 0;
    for entry in range.take(limit) {
        let (key, value) = entry.map_err(|e| failed(&e))?;
        visit(F::key(key)?, value);
        visited += 1;
    }
    Ok(visited)
}

fn commit(transaction: RwTxn<'_>) -> Result<()> {
    transaction.commit().map_err(|e| failed("commit", &e))
}

impl<F: Form> Session for LmdbSession<'_, F> {
    fn begin(&mut self, access: Access) -> Result<()> {
        // One that was left open ends first: LMDB would wait for it forever.
        self.state = State::Idle;
        self.state = match access {
            Access::Read => State::Reading(self.begin_read()?),
            Access::Write => State::Writing(self.begin_write()?),
        };
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.state, State::Idle) {
            State::Writing(transaction) => commit(transaction),
            State::Reading(_) | State::Idle => Ok(()),
        }
    }

    fn rollback(&mut self) -> Result<()> {
        if let State::Writing(transaction) = std::mem::replace(&mut self.state, State::Idle) {
            transaction.abort();
        }
        Ok(())
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
        let overwritten = self.change(|table, transaction| {
            let held = F::held(key);
            let failed = |e: &::heed::Error| key_failed("overwrite", key, e);
            // LMDB's put would create what is missing, and does not tell.
            let there = table.get(transaction, held.as_ref());
            if there.map_err(|e| failed(&e))?.is_none() {
                return Ok(false);
            }
            let put = table.put(transaction, held.as_ref(), value);
            put.map_err(|e| failed(&e))?;
            Ok(true)
        })?;
        Ok(match overwritten {
            true => Found::Bytes(value.len()),
            false => Found::Missing,
        })
    }

    fn delete(&mut self, key: Key) -> Result<bool> {
        self.change(|table, transaction| {
            let deleted = table.delete(transaction, F::held(key).as_ref());
            deleted.map_err(|e| key_failed("delete", key, &e))
        })
    }

    fn scan(
        &mut self,
        from: Key,
        limit: usize,
        visit: &mut dyn FnMut(Key, &[u8]),
    ) -> Result<usize> {
        let table = self.table()?;
        match &self.state {
            State::Idle => visit_range::<F>(table, &*self.begin_read()?, from, limit, visit),
            State::Reading(transaction) => visit_range::<F>(table, transaction, from, limit, visit),
            State::Writing(transaction) => visit_range::<F>(table, transaction, from, limit, visit),
        }
    }

    fn create_table(&mut self) -> Result<()> {
        if !self.named {
            return Err(self.no_named("create"));
        }
        self.state = State::Idle;
        self.table = Some(self.engine.create_table()?);
        Ok(())
    }

    fn drop_table(&mut self) -> Result<()> {
        if !self.named {
            return Err(self.no_named("drop"));
        }
        let dropped = self.engine.alone(|| self.drop_database());
        dropped.unwrap_or_else(|| {
            Err(StoreError::unsupported(
                STORE,
                "drop the database",
                "another connection may use it; close that first",
            ))
        })
    }
}
