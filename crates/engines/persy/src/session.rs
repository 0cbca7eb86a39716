//! Operations on the table: an index from keys to records, and the segment of these records.

use crate::form::Form;
use crate::options::Options;
use crate::{STORE, TABLE, failed};
use persy::{Persy, PersyError, PersyId, Snapshot, Transaction, ValueMode};
use std::marker::PhantomData;
use std::sync::{Mutex, MutexGuard, PoisonError};
use stowplan_stores::{Access, Buffer, Found, Key, Result, Session, StoreError};

pub(crate) struct PersySession<'c, F: Form> {
    database: &'c Persy,
    options: Options,
    /// See [`crate::PersyStore`].
    turns: &'c Mutex<()>,
    open: Option<Open<'c>>,
    form: PhantomData<F>,
}

/// The transaction that is open.
#[expect(
    clippy::large_enum_variant,
    reason = "there is one per session, and a box would be an allocation per transaction"
)]
enum Open<'c> {
    Read(Snapshot),
    Write {
        transaction: Transaction,
        /// After the transaction, so that it is dropped after it.
        _turn: MutexGuard<'c, ()>,
    },
}

fn key_failed<E: Into<PersyError>>(action: &str, key: Key, error: persy::PE<E>) -> StoreError {
    failed(format!("{action} key {key}"), error)
}

impl<'c, F: Form> PersySession<'c, F> {
    pub(crate) fn new(database: &'c Persy, options: Options, turns: &'c Mutex<()>) -> Self {
        Self {
            database,
            options,
            turns,
            open: None,
            form: PhantomData,
        }
    }

    /// There is nothing that a panic could leave half done behind the lock.
    fn turn(&self) -> MutexGuard<'c, ()> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin_write(&self) -> Result<Transaction> {
        self.database
            .begin_with(self.options.of_transactions())
            .map_err(|e| failed("begin a transaction", e))
    }

    fn snapshot(&self) -> Result<Snapshot> {
        let snapshot = self.database.snapshot();
        snapshot.map_err(|e| failed("take a snapshot", e))
    }

    /// The value. persy copies it out of its cache.
    fn get(&mut self, key: Key) -> Result<Option<Vec<u8>>> {
        match &mut self.open {
            Some(Open::Read(snapshot)) => get::<F>(snapshot, key),
            Some(Open::Write { transaction, .. }) => {
                let Some(record) = look_up::<F>(transaction, "read", key)? else {
                    return Ok(None);
                };
                transaction
                    .read(TABLE, &record)
                    .map_err(|e| key_failed("read", key, e))
            }
            None => get::<F>(&self.snapshot()?, key),
        }
    }

    /// Changes something in the transaction that is open, or in one of its own; says whether there
    /// was something to change. If not, the latter is undone.
    fn change(&mut self, work: impl FnOnce(&mut Transaction) -> Result<bool>) -> Result<bool> {
        match &mut self.open {
            Some(Open::Write { transaction, .. }) => work(transaction),
            Some(Open::Read(_)) => Err(StoreError::unsupported(
                STORE,
                "write",
                "the transaction was begun for reading only",
            )),
            None => {
                let _turn = self.turn();
                let mut transaction = self.begin_write()?;
                match work(&mut transaction) {
                    Ok(true) => {
                        commit(transaction)?;
                        Ok(true)
                    }
                    unchanged => {
                        roll_back(transaction)?;
                        unchanged
                    }
                }
            }
        }
    }

    fn without_transaction(&self, what: &str) -> Result<()> {
        if self.open.is_none() {
            return Ok(());
        }
        Err(StoreError::unsupported(
            STORE,
            what,
            "a transaction is open; commit it first",
        ))
    }
}

fn commit(transaction: Transaction) -> Result<()> {
    transaction.commit().map_err(|e| failed("commit", e))
}

fn roll_back(transaction: Transaction) -> Result<()> {
    transaction.rollback().map_err(|e| failed("roll back", e))
}

fn get<F: Form>(snapshot: &Snapshot, key: Key) -> Result<Option<Vec<u8>>> {
    let record = snapshot
        .one::<F::Stored, PersyId>(TABLE, &F::stored(key))
        .map_err(|e| key_failed("read", key, e))?;
    let Some(record) = record else {
        return Ok(None);
    };
    snapshot
        .read(TABLE, &record)
        .map_err(|e| key_failed("read", key, e))
}

fn look_up<F: Form>(
    transaction: &mut Transaction,
    action: &str,
    key: Key,
) -> Result<Option<PersyId>> {
    transaction
        .one::<F::Stored, PersyId>(TABLE, &F::stored(key))
        .map_err(|e| key_failed(action, key, e))
}

fn insert<F: Form>(transaction: &mut Transaction, key: Key, value: &[u8]) -> Result<()> {
    if look_up::<F>(transaction, "insert", key)?.is_some() {
        return Err(StoreError::key_exists(STORE, key));
    }
    let record = transaction
        .insert(TABLE, value)
        .map_err(|e| key_failed("insert", key, e))?;
    transaction
        .put::<F::Stored, PersyId>(TABLE, F::stored(key), record)
        .map_err(|e| key_failed("insert", key, e))
}

impl<F: Form> Session for PersySession<'_, F> {
    fn begin(&mut self, access: Access) -> Result<()> {
        self.without_transaction("begin a transaction")?;
        self.open = Some(match access {
            Access::Read => Open::Read(self.snapshot()?),
            Access::Write => {
                let turn = self.turn();
                Open::Write {
                    transaction: self.begin_write()?,
                    _turn: turn,
                }
            }
        });
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        match self.open.take() {
            Some(Open::Write {
                transaction, _turn, ..
            }) => commit(transaction),
            Some(Open::Read(_)) | None => Ok(()),
        }
    }

    fn rollback(&mut self) -> Result<()> {
        match self.open.take() {
            Some(Open::Write {
                transaction, _turn, ..
            }) => roll_back(transaction),
            Some(Open::Read(_)) | None => Ok(()),
        }
    }

    fn read_into(&mut self, key: Key, buffer: &mut Buffer) -> Result<Found> {
        let Some(value) = self.get(key)? else {
            return Ok(Found::Missing);
        };
        buffer.copy_from(&value)?;
        Ok(Found::Bytes(value.len()))
    }

    fn read_in_place(&mut self, _: Key, _: &mut dyn FnMut(&[u8])) -> Result<Found> {
        Err(StoreError::unsupported(
            STORE,
            "read in place",
            "persy copies each value; use delivery copy",
        ))
    }

    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        self.insert_many(&[(key, value)])
    }

    fn insert_many(&mut self, rows: &[(Key, &[u8])]) -> Result<()> {
        self.change(|transaction| {
            rows.iter()
                .try_for_each(|(key, value)| insert::<F>(transaction, *key, value))?;
            Ok(true)
        })
        .map(drop)
    }

    fn overwrite(&mut self, key: Key, value: &[u8]) -> Result<Found> {
        let overwritten = self.change(|transaction| {
            let Some(record) = look_up::<F>(transaction, "overwrite", key)? else {
                return Ok(false);
            };
            transaction
                .update(TABLE, &record, value)
                .map_err(|e| key_failed("overwrite", key, e))?;
            Ok(true)
        })?;
        Ok(match overwritten {
            true => Found::Bytes(value.len()),
            false => Found::Missing,
        })
    }

    fn delete(&mut self, key: Key) -> Result<bool> {
        self.change(|transaction| {
            let Some(record) = look_up::<F>(transaction, "delete", key)? else {
                return Ok(false);
            };
            transaction
                .delete(TABLE, &record)
                .map_err(|e| key_failed("delete", key, e))?;
            transaction
                .remove::<F::Stored, PersyId>(TABLE, F::stored(key), None)
                .map_err(|e| key_failed("delete", key, e))?;
            Ok(true)
        })
    }

    fn scan(
        &mut self,
        from: Key,
        limit: usize,
        visit: &mut dyn FnMut(Key, &[u8]),
    ) -> Result<usize> {
        match &mut self.open {
            Some(Open::Read(snapshot)) => scan::<F>(snapshot, from, limit, visit),
            Some(Open::Write { transaction, .. }) => scan_own::<F>(transaction, from, limit, visit),
            None => scan::<F>(&self.snapshot()?, from, limit, visit),
        }
    }

    fn create_table(&mut self) -> Result<()> {
        self.without_transaction("create a table")?;
        let _turn = self.turn();
        let mut transaction = self.begin_write()?;
        transaction
            .create_index::<F::Stored, PersyId>(TABLE, ValueMode::Replace)
            .map_err(|e| failed("create the index", e))?;
        transaction
            .create_segment(TABLE)
            .map_err(|e| failed("create the segment", e))?;
        commit(transaction)
    }

    fn drop_table(&mut self) -> Result<()> {
        self.without_transaction("drop a table")?;
        let _turn = self.turn();
        let mut transaction = self.begin_write()?;
        transaction
            .drop_index(TABLE)
            .map_err(|e| failed("drop the index", e))?;
        transaction
            .drop_segment(TABLE)
            .map_err(|e| failed("drop the segment", e))?;
        commit(transaction)
    }
}

/// A key of the index without its record: the file is damaged.
#[cold]
fn no_record(key: Key) -> StoreError {
    StoreError::damaged(STORE, key, "the index has it, and the segment has not")
}

fn scan<F: Form>(
    snapshot: &Snapshot,
    from: Key,
    limit: usize,
    visit: &mut dyn FnMut(Key, &[u8]),
) -> Result<usize> {
    let items = snapshot
        .range::<F::Stored, PersyId, _>(TABLE, F::stored(from)..)
        .map_err(|e| key_failed("scan from", from, e))?;
    let mut visited = 0;
    for (stored, records) in items.take(limit) {
        let key = F::key(&stored)?;
        for record in records {
            let value = snapshot
                .read(TABLE, &record)
                .map_err(|e| key_failed("scan from", from, e))?;
            visit(key, &value.ok_or_else(|| no_record(key))?);
        }
        visited += 1;
    }
    Ok(visited)
}

fn scan_own<F: Form>(
    transaction: &mut Transaction,
    from: Key,
    limit: usize,
    visit: &mut dyn FnMut(Key, &[u8]),
) -> Result<usize> {
    let mut items = transaction
        .range::<F::Stored, PersyId, _>(TABLE, F::stored(from)..)
        .map_err(|e| key_failed("scan from", from, e))?;
    let mut visited = 0;
    while visited < limit {
        let Some((stored, records, transaction)) = items.next_tx() else {
            break;
        };
        let key = F::key(&stored)?;
        for record in records {
            let value = transaction
                .read(TABLE, &record)
                .map_err(|e| key_failed("scan from", from, e))?;
            visit(key, &value.ok_or_else(|| no_record(key))?);
        }
        visited += 1;
    }
    Ok(visited)
}

impl<F: Form> Drop for PersySession<'_, F> {
    /// persy undoes what is dropped too, but would end the process if it could not.
    fn drop(&mut self) {
        let _ = self.rollback();
    }
}
