//! RocksDB, as the adapter for key-value engines wants it.

use crate::error::Said as _;
use crate::options::{self, ENGINE_VERSION, Options};
use crate::{Database, STORE};
use rocksdb::{
    BoundColumnFamily, ColumnFamilyDescriptor, DB, DBPinnableSlice, OptimisticTransactionOptions,
    ReadOptions, SnapshotWithThreadMode, Transaction, WriteOptions, properties,
};
use std::path::Path;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;
use stowplan_model::{Capabilities, Settings};
use stowplan_stores::kv::{Engine, Rows, Visit, capabilities, shown};
use stowplan_stores::{Access, Found, Key, KeyForm, Result, StoreError};

/// The directory of the database below a store's.
const DATABASE: &str = "db";

/// The name of the column family.
const FAMILY: &str = "kv";

/// The file that says which tables there are, so named by RocksDB.
const CURRENT: &str = "CURRENT";

/// How often the engine is asked whether it has come to rest.
const POLL: Duration = Duration::from_millis(2);

type Family<'e> = Arc<BoundColumnFamily<'e>>;

/// An open database.
pub(crate) struct OpenDatabase {
    database: Database,
    directory: std::path::PathBuf,
}

/// What a session has of the column family, and how it reads and writes.
pub(crate) struct Table<'e> {
    family: Family<'e>,
    form: KeyForm,
    reads: ReadOptions,
    writes: WriteOptions,
    /// Of a transaction of several operations: with a snapshot, from which it reads, and since which
    /// nobody else may have changed what it reads or writes.
    several: OptimisticTransactionOptions,
    single: OptimisticTransactionOptions,
}

impl OpenDatabase {
    /// Makes it if it is not there. Every column family has to be named when it is opened.
    fn open_or_make(directory: &Path, options: &Options) -> Result<Self> {
        let directory = directory.join(DATABASE);
        let of_database = options.of_database();
        let cache = options.new_cache();
        let names = match directory.join(CURRENT).exists() {
            true => DB::list_cf(&of_database, &directory).said()?,
            false => vec![rocksdb::DEFAULT_COLUMN_FAMILY_NAME.to_owned()],
        };
        let families = names
            .into_iter()
            .map(|name| ColumnFamilyDescriptor::new(name, options.of_family(&cache)));
        Ok(Self {
            database: Database::open_cf_descriptors(&of_database, &directory, families).said()?,
            directory,
        })
    }

    /// Whether flushes or compactions run or are waiting to.
    fn is_busy(&self) -> Result<bool> {
        for property in [
            properties::NUM_RUNNING_FLUSHES,
            properties::MEM_TABLE_FLUSH_PENDING,
            properties::NUM_RUNNING_COMPACTIONS,
        ] {
            if self.database.property_int_value(property).said()? > Some(0) {
                return Ok(true);
            }
        }
        let Some(family) = self.database.cf_handle(FAMILY) else {
            return Ok(false);
        };
        let pending = self
            .database
            .property_int_value_cf(&family, properties::COMPACTION_PENDING);
        Ok(pending.said()? > Some(0))
    }

    fn write(&self, table: &Table<'_>, several: bool) -> Writing<'_> {
        let of = match several {
            true => &table.several,
            false => &table.single,
        };
        self.database.transaction_opt(&table.writes, of)
    }
}

type Writing<'e> = Transaction<'e, Database>;

/// Reads from the snapshot that a transaction was begun with, which it keeps until it ends.
fn snapshot_of(transaction: &Writing<'_>) -> ReadOptions {
    let mut reads = ReadOptions::default();
    reads.set_snapshot(&transaction.snapshot());
    reads
}

impl Engine for OpenDatabase {
    const STORE: &'static str = STORE;
    const ABOUT: &'static str =
        "a column family of a RocksDB database: a log-structured merge tree";
    type Options = Options;
    type Table<'e> = Table<'e>;
    type Txn<'e> = Txn<'e>;

    fn version() -> (&'static str, String) {
        ("RocksDB", format!("{ENGINE_VERSION} (LZ4)"))
    }

    fn capabilities(options: &Options) -> Capabilities {
        Capabilities {
            parallel_writers: true,
            // RocksDB keeps lengths of values in 32 bits.
            largest_value: Some(u64::from(u32::MAX)),
            ..capabilities::<Self>(options.durability(), u32::from(options.sync))
        }
    }

    fn open(directory: &Path, options: &Options, new: bool) -> Result<Self> {
        if !new {
            // RocksDB would make what is not there.
            let current = directory.join(DATABASE).join(CURRENT);
            std::fs::metadata(&current).map_err(StoreError::io("open", &current))?;
        }
        let database = Self::open_or_make(directory, options)?;
        if new {
            // RocksDB would have opened what is there; a second family of the name it refuses.
            database.create_table(options)?;
        }
        Ok(database)
    }

    fn table<'e>(&'e self, options: &'e Options) -> Result<Option<Table<'e>>> {
        let mut several = OptimisticTransactionOptions::default();
        several.set_snapshot(true);
        let family = self.database.cf_handle(FAMILY);
        Ok(family.map(|family| Table {
            family,
            form: options.key,
            reads: ReadOptions::default(),
            writes: options.of_writes(),
            several,
            single: OptimisticTransactionOptions::default(),
        }))
    }

    fn begin<'e>(&'e self, table: &mut Table<'e>, access: Access) -> Result<Txn<'e>> {
        let (inner, reads) = match access {
            Access::Read => {
                let snapshot = self.database.snapshot();
                let mut reads = ReadOptions::default();
                reads.set_snapshot(&snapshot);
                (Inner::Read(&self.database, snapshot), reads)
            }
            Access::Write => {
                let transaction = self.write(table, true);
                let reads = snapshot_of(&transaction);
                (Inner::Write(transaction), reads)
            }
        };
        Ok(Txn {
            family: table.family.clone(),
            form: table.form,
            reads,
            inner,
        })
    }

    /// Without a snapshot: what is read is what was committed last.
    fn begin_single<'e>(&'e self, table: &mut Table<'e>) -> Result<Txn<'e>> {
        Ok(Txn {
            family: table.family.clone(),
            form: table.form,
            reads: ReadOptions::default(),
            inner: Inner::Write(self.write(table, false)),
        })
    }

    /// Without a snapshot.
    fn get_once<'e>(
        &'e self,
        table: &mut Table<'e>,
        key: Key,
        show: impl FnOnce(&[u8]) -> Result<()>,
    ) -> Result<Found> {
        let (database, bytes) = (&self.database, table.form.bytes(key));
        let value = database.get_pinned_cf_opt(&table.family, bytes, &table.reads);
        shown(value.said()?.as_deref(), show)
    }

    fn commit(transaction: Txn<'_>) -> Result<()> {
        match transaction.inner {
            Inner::Read(..) => Ok(()),
            Inner::Write(transaction) => transaction.commit().said(),
        }
    }

    fn end<'e>(&'e self, _: &mut Table<'e>, transaction: Txn<'e>) -> Result<()> {
        match transaction.inner {
            Inner::Read(..) => Ok(()),
            Inner::Write(transaction) => transaction.rollback().said(),
        }
    }

    fn effective_settings(&self, _: &Options) -> Result<Settings> {
        let family = self.database.cf_handle(FAMILY);
        let family = family.ok_or_else(|| StoreError::no_table("read settings"))?;
        let capacity = self
            .database
            .property_int_value_cf(&family, properties::BLOCK_CACHE_CAPACITY);
        options::effective(&self.directory, capacity.said()?)
    }

    /// Writes the memtable to a table, and waits for the compactions that follow from it.
    fn checkpoint(&self, _: &Options) -> Result<()> {
        if let Some(family) = self.database.cf_handle(FAMILY) {
            self.database.flush_cf(&family).said()?;
        }
        while self.is_busy()? {
            sleep(POLL);
        }
        Ok(())
    }

    fn create_table(&self, options: &Options) -> Result<()> {
        let of_family = options.of_family(&options.new_cache());
        self.database.create_cf(FAMILY, &of_family).said()
    }

    /// Its files go with the last handle.
    fn drop_table<'e>(&'e self, table: &mut Option<Table<'e>>, _: bool) -> Result<()> {
        *table = None;
        self.database.drop_cf(FAMILY).said()
    }
}

/// A transaction with the column family in it.
pub(crate) struct Txn<'e> {
    family: Family<'e>,
    form: KeyForm,
    /// From the snapshot, if there is one. Made once: it is an allocation.
    reads: ReadOptions,
    inner: Inner<'e>,
}

enum Inner<'e> {
    Read(&'e Database, SnapshotWithThreadMode<'e, Database>),
    Write(Writing<'e>),
}

impl Txn<'_> {
    /// The value, in memory of the block cache or of a memtable where RocksDB can pin it there. Of a
    /// transaction that writes: from here on, the commit fails if another one changes it first.
    fn pinned(&self, key: impl AsRef<[u8]>) -> Result<Option<DBPinnableSlice<'_>>> {
        let (family, reads) = (&self.family, &self.reads);
        match &self.inner {
            Inner::Read(database, _) => database.get_pinned_cf_opt(family, key, reads),
            Inner::Write(writing) => writing.get_pinned_for_update_cf_opt(family, key, true, reads),
        }
        .said()
    }

    /// Puts a value under a key that is there, or not, as is said, or none; says whether it was so. RocksDB
    /// has no look-up that leaves the value itself unread and is sure.
    fn change(&mut self, key: Key, value: Option<&[u8]>, there: bool) -> Result<bool> {
        let bytes = self.form.bytes(key);
        let as_said = self.pinned(bytes)?.is_some() == there;
        if let (true, Inner::Write(writing)) = (as_said, &self.inner) {
            match value {
                Some(value) => writing.put_cf(&self.family, bytes, value),
                None => writing.delete_cf(&self.family, bytes),
            }
            .said()?;
        }
        Ok(as_said)
    }
}

/// Shows what an iterator has from a key on, up to `limit` values, each of which is `read` first.
macro_rules! visited {
    ($self:expr, $items:expr, $from:expr, $limit:expr, $visit:expr, $read:expr) => {{
        let mut items = $items;
        let mut visited = 0;
        items.seek($self.form.bytes($from));
        while visited < $limit {
            let Some((key, value)) = items.item() else {
                break;
            };
            let read: Result<()> = $read(key);
            read?;
            $visit($self.form.key(key)?, value);
            visited += 1;
            if visited < $limit {
                items.next();
            }
        }
        items.status().said()?;
        Ok(visited)
    }};
}

impl Rows for Txn<'_> {
    fn get(&mut self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        shown(self.pinned(self.form.bytes(key))?.as_deref(), show)
    }

    /// Each key that is shown is one that a transaction that writes has read. RocksDB cannot watch a range,
    /// so keys that others add meanwhile are not noticed.
    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        match &self.inner {
            Inner::Read(_, snapshot) => {
                let items = snapshot.raw_iterator_cf(&self.family);
                visited!(self, items, from, limit, visit, |_| Ok(()))
            }
            Inner::Write(writing) => {
                let items = writing.raw_iterator_cf_opt(&self.family, snapshot_of(writing));
                visited!(self, items, from, limit, visit, |key| self
                    .pinned(key)
                    .map(drop))
            }
        }
    }

    fn put(&mut self, key: Key, value: &[u8], there: bool) -> Result<bool> {
        self.change(key, Some(value), there)
    }

    fn remove(&mut self, key: Key) -> Result<bool> {
        self.change(key, None, true)
    }
}
