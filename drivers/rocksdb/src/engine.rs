//! RocksDB, as the adapter for key-value engines wants it.

use crate::error::failed;
use crate::options::{self, ENGINE_VERSION, Options};
use crate::transaction::{ReadSnapshot, WriteTransaction, get, snapshot_of, visited};
use crate::{Database, STORE};
use rocksdb::{
    BoundColumnFamily, ColumnFamilyDescriptor, DB, OptimisticTransactionOptions, ReadOptions,
    WriteOptions, properties,
};
use std::path::Path;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;
use stowplan_model::{Capabilities, Settings};
use stowplan_stores::kv::{Changing, Engine, Table, Visit, capabilities};
use stowplan_stores::{Found, Key, KeyForm, Lent, Result, StoreError};

/// The directory of the database below a store's.
const DATABASE: &str = "db";

/// The name of the column family.
const FAMILY: &str = "kv";

/// The file that says which tables there are, so named by RocksDB.
const CURRENT: &str = "CURRENT";

/// How often the engine is asked whether it has come to rest.
const POLL: Duration = Duration::from_millis(2);

pub(crate) type Family<'e> = Arc<BoundColumnFamily<'e>>;

/// An open database.
pub(crate) struct OpenDatabase(Database);

/// What a session has of the column family, and how it reads and writes.
pub(crate) struct Handle<'e> {
    /// Nothing after it was dropped.
    family: Option<Family<'e>>,
    form: KeyForm,
    options: &'e Options,
    reads: ReadOptions,
    writes: WriteOptions,
    /// Of a transaction of several operations: with a snapshot, from which it reads, and since which
    /// nobody else may have changed what it reads or writes.
    several: OptimisticTransactionOptions,
    single: OptimisticTransactionOptions,
}

impl<'e> Handle<'e> {
    fn family(&self) -> Result<&Family<'e>> {
        let none = || StoreError::no_table(STORE, "use the column family");
        self.family.as_ref().ok_or_else(none)
    }
}

/// Makes it if it is not there. Every column family has to be named when it is opened.
fn open_or_make(
    path: &Path,
    options: &Options,
) -> std::result::Result<OpenDatabase, rocksdb::Error> {
    let of_database = options.of_database();
    let cache = options.new_cache();
    let names = if path.join(CURRENT).exists() {
        DB::list_cf(&of_database, path)?
    } else {
        vec![rocksdb::DEFAULT_COLUMN_FAMILY_NAME.to_owned()]
    };
    let families = names
        .into_iter()
        .map(|name| ColumnFamilyDescriptor::new(name, options.of_family(&cache)));
    Database::open_cf_descriptors(&of_database, path, families).map(OpenDatabase)
}

impl OpenDatabase {
    /// Whether flushes or compactions run or are waiting to.
    fn is_busy(&self) -> std::result::Result<bool, rocksdb::Error> {
        for property in [
            properties::NUM_RUNNING_FLUSHES,
            properties::MEM_TABLE_FLUSH_PENDING,
            properties::NUM_RUNNING_COMPACTIONS,
        ] {
            if self.0.property_int_value(property)?.unwrap_or(0) > 0 {
                return Ok(true);
            }
        }
        let Some(family) = self.0.cf_handle(FAMILY) else {
            return Ok(false);
        };
        let pending = self
            .0
            .property_int_value_cf(&family, properties::COMPACTION_PENDING)?;
        Ok(pending.unwrap_or(0) > 0)
    }

    fn create_family(&self, options: &Options) -> Result<()> {
        let of_family = options.of_family(&options.new_cache());
        let created = self.0.create_cf(FAMILY, &of_family);
        created.map_err(|e| failed("create the column family", &e))
    }
}

impl Engine for OpenDatabase {
    const STORE: &'static str = STORE;
    const ABOUT: &'static str =
        "a column family of a RocksDB database: a log-structured merge tree";
    type Options = Options;
    type Handle<'e> = Handle<'e>;
    type Read<'e> = ReadSnapshot<'e>;
    type Write<'e> = WriteTransaction<'e>;

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

    fn create(directory: &Path, options: &Options) -> Result<Self> {
        let path = directory.join(DATABASE);
        let made = open_or_make(&path, options);
        let database = made.map_err(|e| failed(format!("create {}", path.display()), &e))?;
        // RocksDB would have opened what is there; a second family of the name it refuses.
        database.create_family(options)?;
        Ok(database)
    }

    fn open(directory: &Path, options: &Options) -> Result<Self> {
        // RocksDB would make what is not there.
        let path = directory.join(DATABASE);
        let current = path.join(CURRENT);
        std::fs::metadata(&current).map_err(StoreError::io("open", &current))?;
        let opened = open_or_make(&path, options);
        opened.map_err(|e| failed(format!("open {}", path.display()), &e))
    }

    /// RocksDB would take keys of either form.
    fn check_keys(&self, directory: &Path, options: &Options) -> Result<()> {
        let Some(family) = self.0.cf_handle(FAMILY) else {
            return Ok(());
        };
        let mut items = self.0.raw_iterator_cf(&family);
        items.seek_to_first();
        let status = items.status();
        status.map_err(|e| failed("read the first key", &e))?;
        let path = directory.join(DATABASE);
        options.key.check(STORE, &path, items.key())
    }

    fn handle<'e>(&'e self, options: &'e Options) -> Result<Handle<'e>> {
        let mut several = OptimisticTransactionOptions::default();
        several.set_snapshot(true);
        Ok(Handle {
            family: self.0.cf_handle(FAMILY),
            form: options.key,
            options,
            reads: ReadOptions::default(),
            writes: options.of_writes(),
            several,
            single: OptimisticTransactionOptions::default(),
        })
    }

    fn read<'e>(&'e self, handle: &mut Handle<'e>) -> Result<ReadSnapshot<'e>> {
        let family = handle.family()?.clone();
        Ok(ReadSnapshot::new(&self.0, family, handle.form))
    }

    /// Without a snapshot.
    fn get_once<'e>(
        &'e self,
        handle: &mut Handle<'e>,
        key: Key,
        show: impl FnOnce(&[u8]) -> Result<()>,
    ) -> Result<Found> {
        let family = handle.family()?;
        let bytes = handle.form.bytes(key);
        let value = self.0.get_pinned_cf_opt(family, bytes, &handle.reads);
        get(key, value, show)
    }

    fn scan_once<'e>(
        &'e self,
        handle: &mut Handle<'e>,
        from: Key,
        limit: usize,
        visit: &mut Visit<'_>,
    ) -> Result<usize> {
        let items = self.0.raw_iterator_cf(handle.family()?);
        visited(handle.form, items, from, limit, visit, |_| Ok(()))
    }

    fn write<'e>(&'e self, handle: &mut Handle<'e>) -> Result<WriteTransaction<'e>> {
        let transaction = self.0.transaction_opt(&handle.writes, &handle.several);
        Ok(WriteTransaction {
            family: handle.family()?.clone(),
            form: handle.form,
            reads: snapshot_of(&transaction),
            transaction,
        })
    }

    /// Without a snapshot: what is read is what was committed last.
    fn change_once<'e>(
        &'e self,
        handle: &mut Handle<'e>,
        change: impl FnOnce(&mut dyn Table) -> Result<bool>,
    ) -> Result<bool> {
        let mut write = WriteTransaction {
            family: handle.family()?.clone(),
            form: handle.form,
            reads: ReadOptions::default(),
            transaction: self.0.transaction_opt(&handle.writes, &handle.single),
        };
        let changed = change(&mut write)?;
        if changed {
            write.commit()?;
        }
        Ok(changed)
    }

    fn effective_settings(&self, directory: &Path, _: &Options) -> Result<Settings> {
        let family = self.0.cf_handle(FAMILY);
        let family = family.ok_or_else(|| StoreError::no_table(STORE, "read settings"))?;
        let capacity = self
            .0
            .property_int_value_cf(&family, properties::BLOCK_CACHE_CAPACITY)
            .map_err(|e| failed("read the capacity of the block cache", &e))?;
        options::effective(&directory.join(DATABASE), capacity)
    }

    /// Writes the memtable to a table, and waits for the compactions that follow from it.
    fn checkpoint(&self, _: &Options) -> Result<()> {
        if let Some(family) = self.0.cf_handle(FAMILY) {
            let flushed = self.0.flush_cf(&family);
            flushed.map_err(|e| failed("flush the memtable", &e))?;
        }
        while self.is_busy().map_err(|e| failed("read a property", &e))? {
            sleep(POLL);
        }
        Ok(())
    }

    fn create_table<'e>(&'e self, handle: &mut Handle<'e>) -> Result<()> {
        self.create_family(handle.options)?;
        handle.family = self.0.cf_handle(FAMILY);
        Ok(())
    }

    fn drop_table<'e>(engine: &'e Lent<'e, Self>, handle: &mut Handle<'e>) -> Result<()> {
        // Its files go with the last handle.
        if handle.family.take().is_none() {
            return Err(StoreError::no_table(STORE, "drop the column family"));
        }
        let dropped = engine.0.drop_cf(FAMILY);
        dropped.map_err(|e| failed("drop the column family", &e))
    }
}
