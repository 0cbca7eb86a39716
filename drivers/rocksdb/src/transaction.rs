//! Snapshots that are read from, and transactions that write.

use crate::engine::Family;
use crate::error::failed;
use crate::{Database, STORE};
use rocksdb::{
    DBAccess, DBPinnableSlice, DBRawIteratorWithThreadMode, Error, ReadOptions,
    SnapshotWithThreadMode, Transaction,
};
use stowplan_stores::kv::{Changing, LookThenPut, Reading, Visit, on_key, shown};
use stowplan_stores::{Found, Key, KeyForm, Result};

/// The value, in memory of the block cache or of a memtable where RocksDB can pin it there.
pub(crate) fn get(
    key: Key,
    value: std::result::Result<Option<DBPinnableSlice<'_>>, Error>,
    show: impl FnOnce(&[u8]) -> Result<()>,
) -> Result<Found> {
    let value = value.map_err(|e| failed(on_key("read", key), &e))?;
    shown(value.as_deref(), show)
}

/// Shows what an iterator has from a key on, up to `limit` values, each of which is `read` first.
pub(crate) fn visited(
    form: KeyForm,
    mut items: DBRawIteratorWithThreadMode<'_, impl DBAccess>,
    from: Key,
    limit: usize,
    visit: &mut Visit<'_>,
    read: impl Fn(&[u8]) -> std::result::Result<(), Error>,
) -> Result<usize> {
    let failed = |e: &Error| failed(on_key("scan from", from), e);
    let mut visited = 0;
    items.seek(form.bytes(from));
    while visited < limit {
        let Some((key, value)) = items.item() else {
            break;
        };
        read(key).map_err(|e| failed(&e))?;
        visit(form.key(STORE, key)?, value);
        visited += 1;
        if visited < limit {
            items.next();
        }
    }
    items.status().map_err(|e| failed(&e))?;
    Ok(visited)
}

/// A transaction that reads.
pub(crate) struct ReadSnapshot<'e> {
    database: &'e Database,
    family: Family<'e>,
    form: KeyForm,
    /// From the snapshot. Made once: it is an allocation.
    reads: ReadOptions,
    snapshot: SnapshotWithThreadMode<'e, Database>,
}

impl<'e> ReadSnapshot<'e> {
    /// Of the state as it is now.
    pub(crate) fn new(database: &'e Database, family: Family<'e>, form: KeyForm) -> Self {
        let snapshot = database.snapshot();
        let mut reads = ReadOptions::default();
        reads.set_snapshot(&snapshot);
        Self {
            database,
            family,
            form,
            reads,
            snapshot,
        }
    }
}

impl Reading for ReadSnapshot<'_> {
    fn get(&mut self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        let bytes = self.form.bytes(key);
        let (database, family) = (self.database, &self.family);
        let value = database.get_pinned_cf_opt(family, bytes, &self.reads);
        get(key, value, show)
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        let items = self.snapshot.raw_iterator_cf(&self.family);
        visited(self.form, items, from, limit, visit, |_| Ok(()))
    }
}

/// Reads from the snapshot that a transaction was begun with, which it keeps until it ends.
pub(crate) fn snapshot_of(transaction: &Transaction<'_, Database>) -> ReadOptions {
    let mut reads = ReadOptions::default();
    reads.set_snapshot(&transaction.snapshot());
    reads
}

/// A transaction that writes.
pub(crate) struct WriteTransaction<'e> {
    pub(crate) family: Family<'e>,
    pub(crate) form: KeyForm,
    /// From the snapshot that the transaction has, if it has one.
    pub(crate) reads: ReadOptions,
    pub(crate) transaction: Transaction<'e, Database>,
}

impl WriteTransaction<'_> {
    /// The value. From here on, the commit fails if another transaction changes it first.
    fn pinned(
        &self,
        key: impl AsRef<[u8]>,
    ) -> std::result::Result<Option<DBPinnableSlice<'_>>, Error> {
        self.transaction
            .get_pinned_for_update_cf_opt(&self.family, key, true, &self.reads)
    }
}

impl Reading for WriteTransaction<'_> {
    fn get(&mut self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        get(key, self.pinned(self.form.bytes(key)), show)
    }

    /// Each key that is shown is one that the transaction has read. RocksDB cannot watch a range, so
    /// keys that others add meanwhile are not noticed.
    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        let reads = snapshot_of(&self.transaction);
        let items = self.transaction.raw_iterator_cf_opt(&self.family, reads);
        visited(self.form, items, from, limit, visit, |key| {
            self.pinned(key).map(drop)
        })
    }
}

impl LookThenPut for WriteTransaction<'_> {
    /// RocksDB has no look-up that leaves the value itself unread and is sure; it is not copied, though,
    /// where it can be pinned.
    fn has(&mut self, key: Key) -> Result<bool> {
        let value = self.pinned(self.form.bytes(key));
        let value = value.map_err(|e| failed(on_key("look up", key), &e))?;
        Ok(value.is_some())
    }

    fn put(&mut self, key: Key, value: &[u8]) -> Result<()> {
        let bytes = self.form.bytes(key);
        let put = self.transaction.put_cf(&self.family, bytes, value);
        put.map_err(|e| failed(on_key("put", key), &e))
    }

    fn clear(&mut self, key: Key) -> Result<()> {
        let bytes = self.form.bytes(key);
        let deleted = self.transaction.delete_cf(&self.family, bytes);
        deleted.map_err(|e| failed(on_key("delete", key), &e))
    }
}

impl Changing for WriteTransaction<'_> {
    fn commit(self) -> Result<()> {
        self.transaction.commit().map_err(|e| failed("commit", &e))
    }

    fn rollback(self) -> Result<()> {
        let undone = self.transaction.rollback();
        undone.map_err(|e| failed("roll back", &e))
    }
}
