//! fjall, as the adapter for key-value engines wants it.

use super::options::{ENGINE_VERSION, Options, effective};
use super::{DATABASE, STORE};
use crate::kv::{Engine, Rows, Visit, capabilities, shown};
use crate::watched::watched_for;
use crate::{Access, Found, Key, Result, StoreError};
use fjall::{
    PersistMode, Readable, SingleWriterTxDatabase, SingleWriterTxKeyspace, SingleWriterWriteTx,
    Snapshot, UserKey, UserValue,
};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};
use stowplan_model::{Capabilities, Settings};

/// The name of the keyspace.
const KEYSPACE: &str = "kv";

/// How often the engine is asked whether it has come to rest.
pub(super) const POLL: Duration = Duration::from_micros(500);

/// The engine is at rest after this many answers in a row that nothing runs and nothing has ended since.
/// fjall does not tell how many compactions are queued; its workers take the next one at once.
pub(super) const QUIET_POLLS: u32 = 100;

/// A handle; the keyspace's files are removed when it was deleted and the last handle is gone.
pub(super) type Keyspace = SingleWriterTxKeyspace;

/// An open database. The inner ones of it and of its keyspace are asked what they count.
pub(crate) struct Database(pub(super) SingleWriterTxDatabase);

impl Database {
    /// Makes it if it is not there.
    pub(super) fn open_or_make(path: &Path, options: &Options) -> Result<Self> {
        let builder = SingleWriterTxDatabase::builder(path)
            .cache_size(options.cache)
            .journal_compression(options.compression());
        Ok(Self(builder.open()?))
    }

    /// Opens the keyspace, or makes it.
    pub(super) fn make_keyspace(&self, options: &Options) -> Result<Keyspace> {
        Ok(self.0.keyspace(KEYSPACE, || options.of_keyspace())?)
    }

    fn keyspace(&self, options: &Options) -> Result<Option<Keyspace>> {
        let exists = self.0.inner().keyspace_exists(KEYSPACE);
        exists.then(|| self.make_keyspace(options)).transpose()
    }

    /// Writes the memtable to a table, and waits until no flush or compaction is left. The time from
    /// the first answer that nothing runs is [`crate::watched`]: nobody's work.
    pub(super) fn settle(&self, keyspace: &Keyspace) -> Result<()> {
        keyspace.inner().rotate_memtable()?;
        let database = self.0.inner();
        let (mut quiet, mut before) = (0, database.compactions_completed());
        let mut since = Instant::now();
        while quiet < QUIET_POLLS {
            sleep(POLL);
            // A worker that fails ends, with its work undone; only a later call tells.
            database.persist(PersistMode::Buffer)?;
            let ended = database.compactions_completed();
            let rests = database.outstanding_flushes() == 0
                && database.active_compactions() == 0
                && keyspace.inner().sealed_memtable_count() == 0
                && ended == before;
            quiet = if rests { quiet + 1 } else { 0 };
            if quiet <= 1 {
                since = Instant::now();
            }
            before = ended;
        }
        watched_for(since.elapsed());
        Ok(())
    }
}

/// What a session has of the keyspace.
#[derive(Clone)]
pub(crate) struct Table<'e> {
    keyspace: Keyspace,
    options: &'e Options,
}

/// A transaction with the keyspace in it.
pub(crate) struct Transaction<'e> {
    table: Table<'e>,
    inner: Inner<'e>,
}

enum Inner<'e> {
    Read(Snapshot),
    Write(SingleWriterWriteTx<'e>),
}

/// Does something with what can be read of a transaction.
macro_rules! reading {
    ($transaction:expr, $read:ident => $work:expr) => {
        match &$transaction.inner {
            Inner::Read($read) => $work,
            Inner::Write($read) => $work,
        }
    };
}

impl Engine for Database {
    const STORE: &'static str = STORE;
    const ABOUT: &'static str = "a log-structured merge tree in Rust";
    type Options = Options;
    type Table<'e> = Table<'e>;
    type Txn<'e> = Transaction<'e>;

    fn version() -> (&'static str, String) {
        (STORE, ENGINE_VERSION.to_owned())
    }

    fn capabilities(options: &Options) -> Capabilities {
        Capabilities {
            // fjall keeps lengths of values in 32 bits.
            largest_value: Some(u64::from(u32::MAX)),
            ..capabilities::<Self>(Options::durability(), options.syncs_per_commit())
        }
    }

    /// fjall would open what is there, and make what is not.
    fn open(directory: &Path, options: &Options, new: bool) -> Result<Self> {
        let path = directory.join(DATABASE);
        if new {
            std::fs::create_dir(&path).map_err(StoreError::io("create", &path))?;
            Self::open_or_make(&path, options)?.make_keyspace(options)?;
            // A new journal is a hole of 64 MiB. Opened again, it is as long as what it holds, so that
            // sizes before and after filling the store can be compared.
        } else {
            std::fs::metadata(&path).map_err(StoreError::io("open", &path))?;
        }
        Self::open_or_make(&path, options)
    }

    fn table<'e>(&'e self, options: &'e Options) -> Result<Option<Table<'e>>> {
        let keyspace = self.keyspace(options)?;
        Ok(keyspace.map(|keyspace| Table { keyspace, options }))
    }

    fn begin<'e>(&'e self, table: &mut Table<'e>, access: Access) -> Result<Transaction<'e>> {
        Ok(Transaction {
            table: table.clone(),
            inner: match access {
                Access::Read => Inner::Read(self.0.inner().snapshot()),
                Access::Write => {
                    let persist = Some(table.options.persist_mode());
                    Inner::Write(self.0.write_tx().durability(persist))
                }
            },
        })
    }

    /// Without a snapshot.
    fn get_once<'e>(
        &'e self,
        table: &mut Table<'e>,
        key: Key,
        show: impl FnOnce(&[u8]) -> Result<()>,
    ) -> Result<Found> {
        let bytes = table.options.key.bytes(key);
        let value = table.keyspace.inner().get(bytes.as_ref())?;
        shown(value.as_deref(), show)
    }

    /// With `bulk=ingest`, past the journal and the memtable: sorted, and written straight into tables,
    /// which are found all at once. A transaction keeps other writers away meanwhile, and writes nothing
    /// itself.
    fn insert_several<'e>(
        &'e self,
        table: &mut Table<'e>,
        rows: &[(Key, &[u8])],
    ) -> Option<Result<()>> {
        table.options.ingests().then(|| {
            let alone = self.begin(table, Access::Write)?;
            let mut new: Vec<(UserKey, UserValue)> = Vec::new();
            for (key, value) in rows {
                if alone.has(*key)? {
                    return Err(StoreError::key_exists(*key));
                }
                let bytes = table.options.key.bytes(*key);
                new.push((bytes.as_ref().into(), (*value).into()));
            }
            new.sort_unstable_by(|one, other| one.0.cmp(&other.0));
            if let Some(twice) = new.windows(2).find(|pair| pair[0].0 == pair[1].0) {
                let key = table.options.key.key(&twice[0].0)?;
                return Err(StoreError::key_exists(key));
            }
            let mut ingestion = table.keyspace.inner().start_ingestion()?;
            for (key, value) in new {
                ingestion.write(key, value)?;
            }
            Ok(ingestion.finish()?)
        })
    }

    fn commit(transaction: Transaction<'_>) -> Result<()> {
        match transaction.inner {
            Inner::Read(_) => Ok(()),
            Inner::Write(writing) => Ok(writing.commit()?),
        }
    }

    fn effective_settings(&self, options: &Options) -> Result<Settings> {
        let none = || StoreError::no_table("read settings");
        let keyspace = self.keyspace(options)?.ok_or_else(none)?;
        Ok(effective(self.0.inner(), keyspace.inner()))
    }

    /// Writes the memtable to a table, and waits for the compactions that follow from it.
    fn checkpoint(&self, options: &Options) -> Result<()> {
        let keyspace = self.keyspace(options)?;
        keyspace.map_or(Ok(()), |keyspace| self.settle(&keyspace))
    }

    fn create_table(&self, options: &Options) -> Result<()> {
        self.make_keyspace(options).map(drop)
    }

    fn drop_table<'e>(&'e self, table: &mut Option<Table<'e>>, _: bool) -> Result<()> {
        let keyspace = table.take().map(|table| table.keyspace.inner().clone());
        let database = self.0.inner();
        Ok(keyspace.map_or(Ok(()), |keyspace| database.delete_keyspace(keyspace))?)
    }
}

impl Transaction<'_> {
    fn has(&self, key: Key) -> Result<bool> {
        let bytes = self.table.options.key.bytes(key);
        let keyspace = self.table.keyspace.inner();
        Ok(reading!(self, read => read.contains_key(keyspace, bytes.as_ref()))?)
    }

    /// Puts a value under a key, or none.
    fn set(&mut self, key: Key, value: Option<&[u8]>) {
        let bytes = self.table.options.key.bytes(key);
        let Inner::Write(writing) = &mut self.inner else {
            return;
        };
        match value {
            Some(value) => writing.insert(&self.table.keyspace, bytes.as_ref(), value),
            None => writing.remove(&self.table.keyspace, bytes.as_ref()),
        }
    }
}

impl Rows for Transaction<'_> {
    /// A value, in memory that it shares with the block cache.
    fn get(&mut self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        let bytes = self.table.options.key.bytes(key);
        let keyspace = self.table.keyspace.inner();
        let value: Option<UserValue> = reading!(self, read => read.get(keyspace, bytes.as_ref()))?;
        shown(value.as_deref(), show)
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        let form = self.table.options.key;
        let bytes = form.bytes(from);
        let keyspace = self.table.keyspace.inner();
        let items = reading!(self, read => read.range(keyspace, bytes.as_ref()..));
        let mut visited = 0;
        for item in items.take(limit) {
            let (key, value) = item.into_inner()?;
            visit(form.key(&key)?, &value);
            visited += 1;
        }
        Ok(visited)
    }

    fn put(&mut self, key: Key, value: &[u8], there: bool) -> Result<bool> {
        let as_said = self.has(key)? == there;
        if as_said {
            self.set(key, Some(value));
        }
        Ok(as_said)
    }

    fn remove(&mut self, key: Key) -> Result<bool> {
        let there = self.has(key)?;
        if there {
            self.set(key, None);
        }
        Ok(there)
    }
}
