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
    /// Of a transaction of several operations: with a snapshot, so that it fails if what it writes
    /// was changed since it began, and not only since it wrote it. Otherwise what it read before
    /// could be out of date.
    several: OptimisticTransactionOptions,
    single: OptimisticTransactionOptions,
    /// Nothing after it was dropped.
    family: Option<Family<'c>>,
    form: KeyForm,
    open: Option<Open<'c>>,
}

/// The transaction that is open.
enum Open<'c> {
    Read(SnapshotWithThreadMode<'c, Database>),
    Write(Transaction<'c, Database>),
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
            Some(Open::Read(snapshot)) => snapshot.get_pinned_cf(family, bytes),
            Some(Open::Write(transaction)) => {
                transaction.get_pinned_cf_opt(family, bytes, &self.reads)
            }
        }
        .map_err(|e| key_failed("read", key, &e))
    }

    /// Runs `work` in the transaction that is open, or in one of its own.
    fn write<T>(
        &self,
        work: impl FnOnce(&Family<'c>, &Transaction<'c, Database>) -> Result<T>,
    ) -> Result<T> {
        let family = table(&self.family)?;
        match &self.open {
            Some(Open::Write(transaction)) => work(family, transaction),
            Some(Open::Read(_)) => Err(StoreError::unsupported(
                STORE,
                "write",
                "the transaction was begun for reading only",
            )),
            None => {
                let transaction = self.transaction(&self.single);
                let done = work(family, &transaction)?;
                commit(transaction)?;
                Ok(done)
            }
        }
    }

    /// The size of the value that is to be changed, if it is there. From here on, the commit fails
    /// if another transaction changes it first. RocksDB has no look-up that leaves the value
    /// itself unread.
    fn size(
        &self,
        action: &str,
        family: &Family<'c>,
        transaction: &Transaction<'c, Database>,
        key: Key,
    ) -> Result<Option<usize>> {
        transaction
            .get_pinned_for_update_cf_opt(family, self.form.bytes(key), true, &self.reads)
            .map(|value| value.map(|value| value.len()))
            .map_err(|e| key_failed(action, key, &e))
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
        visit: &mut dyn FnMut(Key, &[u8]),
    ) -> Result<usize> {
        let mut visited = 0;
        items.seek(self.form.bytes(from));
        while visited < limit {
            let Some((key, value)) = items.item() else {
                break;
            };
            visit(self.form.key(STORE, key)?, value);
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

fn commit(transaction: Transaction<'_, Database>) -> Result<()> {
    transaction.commit().map_err(|e| failed("commit", &e))
}

impl Session for RocksSession<'_> {
    fn begin(&mut self, access: Access) -> Result<()> {
        self.without_transaction("begin a transaction")?;
        self.open = Some(match access {
            Access::Read => Open::Read(self.database.snapshot()),
            Access::Write => Open::Write(self.transaction(&self.several)),
        });
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        match self.open.take() {
            Some(Open::Write(transaction)) => commit(transaction),
            Some(Open::Read(_)) | None => Ok(()),
        }
    }

    fn rollback(&mut self) -> Result<()> {
        match self.open.take() {
            Some(Open::Write(transaction)) => {
                transaction.rollback().map_err(|e| failed("roll back", &e))
            }
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

    fn read_in_place(&mut self, key: Key, visit: &mut dyn FnMut(&[u8])) -> Result<Found> {
        let Some(value) = self.get(key)? else {
            return Ok(Found::Missing);
        };
        visit(&value);
        Ok(Found::Bytes(value.len()))
    }

    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        self.write(|family, transaction| {
            if self.size("insert", family, transaction, key)?.is_some() {
                return Err(StoreError::key_exists(STORE, key));
            }
            transaction
                .put_cf(family, self.form.bytes(key), value)
                .map_err(|e| key_failed("insert", key, &e))
        })
    }

    fn overwrite(&mut self, key: Key, value: &[u8]) -> Result<Found> {
        self.write(|family, transaction| {
            if self.size("overwrite", family, transaction, key)?.is_none() {
                return Ok(Found::Missing);
            }
            transaction
                .put_cf(family, self.form.bytes(key), value)
                .map_err(|e| key_failed("overwrite", key, &e))?;
            Ok(Found::Bytes(value.len()))
        })
    }

    fn delete(&mut self, key: Key) -> Result<bool> {
        self.write(|family, transaction| {
            if self.size("delete", family, transaction, key)?.is_none() {
                return Ok(false);
            }
            transaction
                .delete_cf(family, self.form.bytes(key))
                .map_err(|e| key_failed("delete", key, &e))?;
            Ok(true)
        })
    }

    fn scan(
        &mut self,
        from: Key,
        limit: usize,
        visit: &mut dyn FnMut(Key, &[u8]),
    ) -> Result<usize> {
        let family = table(&self.family)?;
        match &self.open {
            None => self.visit(self.database.raw_iterator_cf(family), from, limit, visit),
            Some(Open::Read(snapshot)) => {
                self.visit(snapshot.raw_iterator_cf(family), from, limit, visit)
            }
            Some(Open::Write(transaction)) => {
                self.visit(transaction.raw_iterator_cf(family), from, limit, visit)
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
