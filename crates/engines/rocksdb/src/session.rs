//! Operations on the column family.

use crate::options::Options;
use crate::{Database, FAMILY, STORE, failed};
use rocksdb::{
    BoundColumnFamily, DBAccess, DBPinnableSlice, DBRawIteratorWithThreadMode,
    OptimisticTransactionOptions, ReadOptions, SnapshotWithThreadMode, Transaction, WriteOptions,
};
use std::sync::Arc;
use stowplan_stores::{Access, Buffer, Found, Key, KeyForm, Result, Session, StoreError};

type Family<'c> = Arc<BoundColumnFamily<'c>>;

pub(crate) struct RocksSession<'c> {
    database: &'c Database,
    options: &'c Options,
    reads: ReadOptions,
    writes: WriteOptions,
    /// Of a transaction of several operations: with a snapshot, from which it reads, and since which
    /// nobody else may have changed what it reads or writes.
    several: OptimisticTransactionOptions,
    single: OptimisticTransactionOptions,
    /// Nothing after it was dropped.
    family: Option<Family<'c>>,
    form: KeyForm,
    open: Option<Open<'c>>,
}

/// The transaction that is open.
enum Open<'c> {
    Read {
        /// From the snapshot. Made once: it is an allocation.
        reads: ReadOptions,
        snapshot: SnapshotWithThreadMode<'c, Database>,
    },
    Write {
        /// From the snapshot that the transaction has.
        reads: ReadOptions,
        transaction: Transaction<'c, Database>,
    },
}

/// The column family, if there is one. Apart from the session, so that its transaction can change
/// meanwhile.
fn table<'a, 'c>(family: &'a Option<Family<'c>>) -> Result<&'a Family<'c>> {
    let none = || StoreError::no_table(STORE, "use the column family");
    family.as_ref().ok_or_else(none)
}

fn key_failed(action: &str, key: Key, error: &rocksdb::Error) -> StoreError {
    failed(format!("{action} key {key}"), error)
}

impl<'c> RocksSession<'c> {
    pub(crate) fn new(database: &'c Database, options: &'c Options, form: KeyForm) -> Self {
        let mut several = OptimisticTransactionOptions::default();
        several.set_snapshot(true);
        Self {
            database,
            options,
            reads: ReadOptions::default(),
            writes: options.of_writes(),
            several,
            single: OptimisticTransactionOptions::default(),
            family: database.cf_handle(FAMILY),
            form,
            open: None,
        }
    }

    /// The value, in memory of the block cache or of a memtable where RocksDB can pin it there.
    fn get(&self, key: Key) -> Result<Option<DBPinnableSlice<'_>>> {
        let family = table(&self.family)?;
        let bytes = self.form.bytes(key);
        match &self.open {
            None => self.database.get_pinned_cf_opt(family, bytes, &self.reads),
            Some(Open::Read { reads, .. }) => self.database.get_pinned_cf_opt(family, bytes, reads),
            Some(Open::Write { reads, transaction }) => {
                transaction.get_pinned_for_update_cf_opt(family, bytes, true, reads)
            }
        }
        .map_err(|e| key_failed("read", key, &e))
    }

    /// Runs `work` in the transaction that is open, or in one of its own.
    fn write<T>(&self, work: impl FnOnce(&Changing<'_, 'c>) -> Result<T>) -> Result<T> {
        let family = table(&self.family)?;
        match &self.open {
            Some(Open::Write { reads, transaction }) => work(&Changing {
                family,
                transaction,
                reads,
                form: self.form,
            }),
            Some(Open::Read { .. }) => Err(StoreError::unsupported(
                STORE,
                "write",
                "the transaction was begun for reading only",
            )),
            None => {
                let transaction = self.transaction(&self.single);
                let done = work(&Changing {
                    family,
                    transaction: &transaction,
                    reads: &self.reads,
                    form: self.form,
                })?;
                commit(transaction)?;
                Ok(done)
            }
        }
    }

    fn transaction(&self, options: &OptimisticTransactionOptions) -> Transaction<'c, Database> {
        self.database.transaction_opt(&self.writes, options)
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

    fn visit(
        &self,
        mut items: DBRawIteratorWithThreadMode<'_, impl DBAccess>,
        from: Key,
        limit: usize,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Result<()>,
    ) -> Result<usize> {
        let mut visited = 0;
        items.seek(self.form.bytes(from));
        while visited < limit {
            let Some((key, value)) = items.item() else {
                break;
            };
            visit(key, value)?;
            visited += 1;
            if visited < limit {
                items.next();
            }
        }
        items
            .status()
            .map_err(|e| key_failed("scan from", from, &e))?;
        Ok(visited)
    }
}

/// Reads from the snapshot that a transaction was begun with, which it keeps until it ends.
fn snapshot_of(transaction: &Transaction<'_, Database>) -> ReadOptions {
    let mut reads = ReadOptions::default();
    reads.set_snapshot(&transaction.snapshot());
    reads
}

fn commit(transaction: Transaction<'_, Database>) -> Result<()> {
    transaction.commit().map_err(|e| failed("commit", &e))
}

/// A transaction that is about to change something.
struct Changing<'t, 'c> {
    family: &'t Family<'c>,
    transaction: &'t Transaction<'c, Database>,
    reads: &'t ReadOptions,
    form: KeyForm,
}

impl Changing<'_, '_> {
    /// Whether there is a value. From here on, the commit fails if another transaction changes it
    /// first. RocksDB has no look-up that leaves the value itself unread and is sure; it is not
    /// copied, though, where it can be pinned.
    fn contains(&self, action: &str, key: Key) -> Result<bool> {
        self.transaction
            .get_pinned_for_update_cf_opt(self.family, self.form.bytes(key), true, self.reads)
            .map(|value| value.is_some())
            .map_err(|e| key_failed(action, key, &e))
    }

    fn put(&self, action: &str, key: Key, value: &[u8]) -> Result<()> {
        self.transaction
            .put_cf(self.family, self.form.bytes(key), value)
            .map_err(|e| key_failed(action, key, &e))
    }

    fn insert(&self, key: Key, value: &[u8]) -> Result<()> {
        if self.contains("insert", key)? {
            return Err(StoreError::key_exists(STORE, key));
        }
        self.put("insert", key, value)
    }

    fn overwrite(&self, key: Key, value: &[u8]) -> Result<Found> {
        if !self.contains("overwrite", key)? {
            return Ok(Found::Missing);
        }
        self.put("overwrite", key, value)?;
        Ok(Found::Bytes(value.len()))
    }

    fn delete(&self, key: Key) -> Result<bool> {
        if !self.contains("delete", key)? {
            return Ok(false);
        }
        self.transaction
            .delete_cf(self.family, self.form.bytes(key))
            .map_err(|e| key_failed("delete", key, &e))?;
        Ok(true)
    }
}

impl Session for RocksSession<'_> {
    fn begin(&mut self, access: Access) -> Result<()> {
        self.without_transaction("begin a transaction")?;
        self.open = Some(match access {
            Access::Read => {
                let snapshot = self.database.snapshot();
                let mut reads = ReadOptions::default();
                reads.set_snapshot(&snapshot);
                Open::Read { reads, snapshot }
            }
            Access::Write => {
                let transaction = self.transaction(&self.several);
                let reads = snapshot_of(&transaction);
                Open::Write { reads, transaction }
            }
        });
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        match self.open.take() {
            Some(Open::Write { transaction, .. }) => commit(transaction),
            Some(Open::Read { .. }) | None => Ok(()),
        }
    }

    fn rollback(&mut self) -> Result<()> {
        match self.open.take() {
            Some(Open::Write { transaction, .. }) => {
                transaction.rollback().map_err(|e| failed("roll back", &e))
            }
            Some(Open::Read { .. }) | None => Ok(()),
        }
    }

    fn read_into(&mut self, key: Key, buffer: &mut Buffer) -> Result<Found> {
        let Some(value) = self.get(key)? else {
            return Ok(Found::Missing);
        };
        buffer.copy_from(&value)?;
        Ok(Found::Bytes(value.len()))
    }

    fn read_in_place(&mut self, key: Key, visit: &mut dyn FnMut(&[u8])) -> Result<Found> {
        let Some(value) = self.get(key)? else {
            return Ok(Found::Missing);
        };
        visit(&value);
        Ok(Found::Bytes(value.len()))
    }

    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        self.write(|changing| changing.insert(key, value))
    }

    fn insert_many(&mut self, rows: &[(Key, &[u8])]) -> Result<()> {
        self.write(|changing| {
            rows.iter()
                .try_for_each(|(key, value)| changing.insert(*key, value))
        })
    }

    fn overwrite(&mut self, key: Key, value: &[u8]) -> Result<Found> {
        self.write(|changing| changing.overwrite(key, value))
    }

    fn delete(&mut self, key: Key) -> Result<bool> {
        self.write(|changing| changing.delete(key))
    }

    /// In a transaction that writes, each key that is shown is one that it has read. RocksDB cannot
    /// watch a range, so keys that others add meanwhile are not noticed.
    fn scan(
        &mut self,
        from: Key,
        limit: usize,
        visit: &mut dyn FnMut(Key, &[u8]),
    ) -> Result<usize> {
        let family = table(&self.family)?;
        let form = self.form;
        let mut show = |key: &[u8], value: &[u8]| {
            visit(form.key(STORE, key)?, value);
            Ok(())
        };
        match &self.open {
            None => {
                let items = self.database.raw_iterator_cf(family);
                self.visit(items, from, limit, &mut show)
            }
            Some(Open::Read { snapshot, .. }) => {
                let items = snapshot.raw_iterator_cf(family);
                self.visit(items, from, limit, &mut show)
            }
            Some(Open::Write { reads, transaction }) => {
                let items = transaction.raw_iterator_cf_opt(family, snapshot_of(transaction));
                self.visit(items, from, limit, &mut |key, value| {
                    transaction
                        .get_pinned_for_update_cf_opt(family, key, true, reads)
                        .map_err(|e| key_failed("scan from", from, &e))?;
                    show(key, value)
                })
            }
        }
    }

    fn create_table(&mut self) -> Result<()> {
        self.without_transaction("create a table")?;
        let options = self.options.of_family(&self.options.new_cache());
        self.database
            .create_cf(FAMILY, &options)
            .map_err(|e| failed("create the column family", &e))?;
        self.family = self.database.cf_handle(FAMILY);
        Ok(())
    }

    fn drop_table(&mut self) -> Result<()> {
        self.without_transaction("drop a table")?;
        // Its files go with the last handle.
        if self.family.take().is_none() {
            return Err(StoreError::no_table(STORE, "drop the column family"));
        }
        self.database
            .drop_cf(FAMILY)
            .map_err(|e| failed("drop the column family", &e))
    }
}
