//! persy, as the adapter for key-value engines wants it.

use crate::STORE;
use crate::error::failed;
use crate::form::{Form, of_type};
use crate::options::{ENGINE_VERSION, Options};
use persy::{Persy, PersyId, Snapshot, Transaction, ValueMode};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use stowplan_model::{Capabilities, Settings};
use stowplan_stores::kv::{Changing, Engine, Reading, Table, Visit, capabilities, on_key, shown};
use stowplan_stores::options::OptionValue as _;
use stowplan_stores::{Found, Key, KeyForm, Lent, Result, StoreError};

/// The file of the database below a store's directory.
const DATA_FILE: &str = "kv.persy";

/// The name of the index and of the segment.
const TABLE: &str = "kv";

/// That of the intent; what follows is recorded without one.
const SYNCS_PER_COMMIT: u32 = 1;

/// The open database.
pub(crate) struct Database<F> {
    persy: Persy,
    /// Who writes has this. persy's own transactions run beside each other, but check at the commit
    /// only what they have both read and written; and one that is refused because its key has been
    /// inserted meanwhile leaves its locks behind (docs/engines.md).
    turns: Mutex<()>,
    form: PhantomData<fn() -> F>,
}

/// The form of the keys, as persy has it: it keeps the type of the keys of each index.
fn key_form(persy: &Persy) -> Result<Option<KeyForm>> {
    let indexes = persy.list_indexes();
    let indexes = indexes.map_err(|e| failed("list the indexes", e))?;
    let table = indexes.iter().find(|(name, _)| name == TABLE);
    Ok(table.and_then(|(_, info)| of_type(&info.key_type)))
}

impl<F: Form> Database<F> {
    /// Waits for the transaction of another thread that writes.
    fn begin_write(&self) -> Result<Writing<'_, F>> {
        // There is nothing that a panic could leave half done behind the lock.
        let turn = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        let transaction = self.persy.begin();
        let transaction = transaction.map_err(|e| failed("begin a transaction", e))?;
        Ok(Writing {
            transaction,
            _turn: turn,
            form: PhantomData,
        })
    }
}

impl<F: Form> Engine for Database<F> {
    const STORE: &'static str = STORE;
    const ABOUT: &'static str =
        "a persy file in Rust: a B+ tree of keys, and records that are copied on write";
    /// persy's reading hands out a copy.
    const LENDS: bool = false;
    type Options = Options;
    type Handle<'e> = ();
    type Read<'e> = SnapshotOf<F>;
    type Write<'e> = Writing<'e, F>;

    fn version() -> (&'static str, String) {
        (STORE, ENGINE_VERSION.to_owned())
    }

    fn capabilities(options: &Options) -> Capabilities {
        Capabilities {
            // `record_over_size_limit` in persy's source.
            largest_value: Some((512 << 20) - 1024),
            ..capabilities::<Self>(options.durability(), SYNCS_PER_COMMIT)
        }
    }

    fn create(directory: &Path, options: &Options) -> Result<Self> {
        let path = directory.join(DATA_FILE);
        Persy::create(&path).map_err(|e| failed(format!("create {}", path.display()), e))?;
        let database = Self::open(directory, options)?;
        database.create_table(&mut ())?;
        Ok(database)
    }

    fn open(directory: &Path, options: &Options) -> Result<Self> {
        let path = directory.join(DATA_FILE);
        let persy = Persy::open(&path, options.of_database());
        Ok(Self {
            persy: persy.map_err(|e| failed(format!("open {}", path.display()), e))?,
            turns: Mutex::new(()),
            form: PhantomData,
        })
    }

    fn check_keys(&self, directory: &Path, options: &Options) -> Result<()> {
        match key_form(&self.persy)? {
            Some(kept) if kept != options.key => Err(StoreError::engine(
                STORE,
                format!("open {}", directory.join(DATA_FILE).display()),
                format!("its keys are of the form key={}", kept.word()),
            )),
            _ => Ok(()),
        }
    }

    fn handle<'e>(&'e self, _: &'e Options) -> Result<()> {
        Ok(())
    }

    fn read(&self, (): &mut ()) -> Result<SnapshotOf<F>> {
        let snapshot = self.persy.snapshot();
        let snapshot = snapshot.map_err(|e| failed("take a snapshot", e))?;
        Ok(SnapshotOf(snapshot, PhantomData))
    }

    fn write(&self, (): &mut ()) -> Result<Writing<'_, F>> {
        self.begin_write()
    }

    /// The form of the keys. persy does not tell the rest.
    fn effective_settings(&self, _: &Path, _: &Options) -> Result<Settings> {
        let mut effective = Settings::default();
        if let Some(form) = key_form(&self.persy)? {
            effective.set("key", form.value());
        }
        Ok(effective)
    }

    fn data_files(directory: &Path) -> Vec<PathBuf> {
        vec![directory.join(DATA_FILE)]
    }

    /// Each commit writes to the place where the data stays.
    fn needs_checkpoint(_: &Options, _: bool) -> bool {
        false
    }

    fn checkpoint(&self, _: &Options) -> Result<()> {
        Ok(())
    }

    fn create_table(&self, (): &mut ()) -> Result<()> {
        let mut writing = self.begin_write()?;
        writing
            .transaction
            .create_index::<F::Stored, PersyId>(TABLE, ValueMode::Replace)
            .map_err(|e| failed("create the index", e))?;
        let segment = writing.transaction.create_segment(TABLE);
        segment.map_err(|e| failed("create the segment", e))?;
        writing.commit()
    }

    fn drop_table<'e>(engine: &'e Lent<'e, Self>, (): &mut ()) -> Result<()> {
        let mut writing = engine.begin_write()?;
        let index = writing.transaction.drop_index(TABLE);
        index.map_err(|e| failed("drop the index", e))?;
        let segment = writing.transaction.drop_segment(TABLE);
        segment.map_err(|e| failed("drop the segment", e))?;
        writing.commit()
    }
}

/// A key of the index without its record: the file is damaged.
#[cold]
fn no_record(key: Key) -> StoreError {
    StoreError::damaged(STORE, key, "the index has it, and the segment has not")
}

/// A transaction that reads. persy copies values out of its cache.
pub(crate) struct SnapshotOf<F>(Snapshot, PhantomData<fn() -> F>);

impl<F: Form> Reading for SnapshotOf<F> {
    fn get(&mut self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        let record = self.0.one::<F::Stored, PersyId>(TABLE, &F::stored(key));
        let Some(record) = record.map_err(|e| failed(on_key("read", key), e))? else {
            return Ok(Found::Missing);
        };
        let value = self.0.read(TABLE, &record);
        let value = value.map_err(|e| failed(on_key("read", key), e))?;
        shown(value.as_deref(), show)
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        let items = self
            .0
            .range::<F::Stored, PersyId, _>(TABLE, F::stored(from)..)
            .map_err(|e| failed(on_key("scan from", from), e))?;
        let mut visited = 0;
        for (stored, records) in items.take(limit) {
            let key = F::key(&stored)?;
            for record in records {
                let value = self.0.read(TABLE, &record);
                let value = value.map_err(|e| failed(on_key("scan from", from), e))?;
                visit(key, &value.ok_or_else(|| no_record(key))?);
            }
            visited += 1;
        }
        Ok(visited)
    }
}

/// A transaction that writes.
pub(crate) struct Writing<'e, F> {
    transaction: Transaction,
    /// After the transaction, so that it is dropped after it.
    _turn: MutexGuard<'e, ()>,
    form: PhantomData<fn() -> F>,
}

impl<F: Form> Writing<'_, F> {
    fn look_up(&mut self, action: &str, key: Key) -> Result<Option<PersyId>> {
        let record = self.transaction.one(TABLE, &F::stored(key));
        record.map_err(|e| failed(on_key(action, key), e))
    }
}

impl<F: Form> Reading for Writing<'_, F> {
    fn get(&mut self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        let Some(record) = self.look_up("read", key)? else {
            return Ok(Found::Missing);
        };
        let value = self.transaction.read(TABLE, &record);
        let value = value.map_err(|e| failed(on_key("read", key), e))?;
        shown(value.as_deref(), show)
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        let mut items = self
            .transaction
            .range::<F::Stored, PersyId, _>(TABLE, F::stored(from)..)
            .map_err(|e| failed(on_key("scan from", from), e))?;
        let mut visited = 0;
        while visited < limit {
            let Some((stored, records, transaction)) = items.next_tx() else {
                break;
            };
            let key = F::key(&stored)?;
            for record in records {
                let value = transaction.read(TABLE, &record);
                let value = value.map_err(|e| failed(on_key("scan from", from), e))?;
                visit(key, &value.ok_or_else(|| no_record(key))?);
            }
            visited += 1;
        }
        Ok(visited)
    }
}

impl<F: Form> Table for Writing<'_, F> {
    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        if self.look_up("insert", key)?.is_some() {
            return Err(StoreError::key_exists(STORE, key));
        }
        let record = self.transaction.insert(TABLE, value);
        let record = record.map_err(|e| failed(on_key("insert", key), e))?;
        let put = self.transaction.put(TABLE, F::stored(key), record);
        put.map_err(|e| failed(on_key("insert", key), e))
    }

    fn replace(&mut self, key: Key, value: &[u8]) -> Result<bool> {
        let Some(record) = self.look_up("overwrite", key)? else {
            return Ok(false);
        };
        let updated = self.transaction.update(TABLE, &record, value);
        updated.map_err(|e| failed(on_key("overwrite", key), e))?;
        Ok(true)
    }

    fn remove(&mut self, key: Key) -> Result<bool> {
        let Some(record) = self.look_up("delete", key)? else {
            return Ok(false);
        };
        let deleted = self.transaction.delete(TABLE, &record);
        deleted.map_err(|e| failed(on_key("delete", key), e))?;
        self.transaction
            .remove::<F::Stored, PersyId>(TABLE, F::stored(key), None)
            .map_err(|e| failed(on_key("delete", key), e))?;
        Ok(true)
    }
}

impl<F: Form> Changing for Writing<'_, F> {
    fn commit(self) -> Result<()> {
        let Self {
            transaction, _turn, ..
        } = self;
        transaction.commit().map_err(|e| failed("commit", e))
    }

    fn rollback(self) -> Result<()> {
        let Self {
            transaction, _turn, ..
        } = self;
        transaction.rollback().map_err(|e| failed("roll back", e))
    }
}
