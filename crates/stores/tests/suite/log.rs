//! A whole store, to begin another one from (docs/adding-a-store.md): a log. Every transaction is appended to one
//! file as a batch, and where the latest value of each key lies is kept in memory. It reads the file from its
//! beginning when it is opened, and drops a batch at the end that a crash has cut short.
//!
//! What it does not do, and one for use would: give back the room of values that were replaced, tell damage in the
//! middle of the file from an end that was cut short, refuse to write on after a failed sync, drop its table.
//! `redb` and `lmdb` are engines with all of that.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufReader, Read};
use std::ops::{Deref, Range};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use stowplan_model::{Capabilities, Durability, DurabilityClaim, Operation, Settings};
use stowplan_stores::kv::{Engine, Rows, Visit, capabilities, shown};
use stowplan_stores::options::OptionValue;
use stowplan_stores::{Access, Found, Key, Kind, Result, StoreError, choice, options};

const STORE: &str = "log";
const FILE: &str = "log.bin";

choice! {
    /// When the file is synced.
    enum Sync {
        Off = "off",
        Commit = "commit",
    }
}

options! {
    /// Described once: from this follow `stowplan list stores log`, parsing, and messages. What shapes the
    /// stored bytes is marked by `.shapes_layout()`; these two leave the same behind, so that both
    /// may use one built copy.
    struct Options {
        sync: Sync = Sync::setting(
            Sync::Off,
            "fdatasync: never, or after each transaction that wrote",
        ),
    }
}

/// The kind: what the registry lists.
pub(crate) const KIND: &Kind = &Kind::of_engine::<OpenLog>();

/// The engine, which the connections of a store share: many may read it, or one write.
struct OpenLog(RwLock<Log>);

/// What a session keeps of the table: its settings, and memory that is used again.
struct Table {
    sync: Sync,
    buffer: Vec<u8>,
}

impl Engine for OpenLog {
    const STORE: &'static str = STORE;
    const ABOUT: &'static str = "one file that only grows, and the places of values in memory";
    /// The adapter sees that it is there before it is opened, and is not before it is made.
    const FILE: Option<&'static str> = Some(FILE);
    /// It has no value anywhere that could be shown where it lies.
    const LENDS: bool = false;
    type Options = Options;
    type Table<'e> = Table;
    type Txn<'e> = Transaction<'e>;

    fn version() -> (&'static str, String) {
        (STORE, "1".to_owned())
    }

    fn capabilities(options: &Options) -> Capabilities {
        let (class, syncs_per_commit) = match options.sync {
            Sync::Off => (Durability::ProcessCrash, 0),
            // The suite counts them, and so does every block that is measured.
            Sync::Commit => (Durability::Durable, 1),
        };
        let durability = DurabilityClaim {
            class,
            // A batch counts once all of it is there.
            atomic: true,
            delayed: false,
        };
        let mut all = capabilities::<Self>(durability, syncs_per_commit);
        // A workload that needs them is "not applicable" to this store, before anything runs.
        let of_tables = [Operation::CreateTable, Operation::DropTable];
        all.operations
            .retain(|operation| !of_tables.contains(operation));
        all
    }

    fn open(directory: &Path, _: &Options, new: bool) -> Result<Self> {
        let path = directory.join(FILE);
        let mut open = File::options();
        open.read(true).write(true);
        if new {
            let file = open.create_new(true).open(&path);
            let file = file.map_err(StoreError::io("create", &path))?;
            // A durable log in a directory that forgets its name is none.
            File::open(directory)
                .and_then(|directory| directory.sync_all())
                .map_err(StoreError::io("sync", directory))?;
            return Ok(Self(RwLock::new(Log::empty(file, path))));
        }
        let file = open.open(&path).map_err(StoreError::io("open", &path))?;
        let mut log = Log::empty(file, path);
        log.read_all()?;
        Ok(Self(RwLock::new(log)))
    }

    fn table(&self, options: &Options) -> Result<Option<Table>> {
        Ok(Some(Table {
            sync: options.sync,
            buffer: Vec::new(),
        }))
    }

    /// One that writes waits for the others.
    fn begin(&self, table: &mut Table, access: Access) -> Result<Transaction<'_>> {
        let log = match access {
            // A log only changes as a whole, so one that a panic left is sound.
            Access::Read => Held::ToRead(self.0.read().unwrap_or_else(PoisonError::into_inner)),
            Access::Write => Held::ToWrite(self.0.write().unwrap_or_else(PoisonError::into_inner)),
        };
        Ok(Transaction {
            log,
            sync: table.sync,
            buffer: std::mem::take(&mut table.buffer),
            batch: Vec::new(),
            changes: BTreeMap::new(),
        })
    }

    /// When it returns, the durability claim holds.
    fn commit(transaction: Transaction<'_>) -> Result<()> {
        transaction.append()
    }

    fn end(&self, table: &mut Table, transaction: Transaction<'_>) -> Result<()> {
        table.buffer = transaction.buffer;
        Ok(())
    }

    /// There is nobody else to ask: they are this code's own doing.
    fn effective_settings(&self, options: &Options) -> Result<Settings> {
        let mut effective = Settings::default();
        effective.set("sync", options.sync.value());
        Ok(effective)
    }
}

/// The file, and where in it each value lies.
struct Log {
    file: File,
    path: PathBuf,
    places: BTreeMap<Key, Range<u64>>,
    end: u64,
}

/// Before each batch: its bytes and their checksum, 8 bytes each, the lowest first. A batch is for
/// each change a key, a length, and the value.
const HEAD: usize = 16;

/// The length that says: removed.
const REMOVED: u64 = u64::MAX;

/// FNV-1a.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The number in the first 8 bytes, and what follows; nothing if there are fewer.
fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((u64::from_le_bytes(*number), rest))
}

impl Log {
    fn empty(file: File, path: PathBuf) -> Self {
        Self {
            file,
            path,
            places: BTreeMap::new(),
            end: 0,
        }
    }

    /// Finds all values. A batch that is not whole is cut off, with what follows it: where commits
    /// sync, nobody was told that it is there.
    fn read_all(&mut self) -> Result<()> {
        let failed = |e| StoreError::io("read", &self.path)(e);
        let size = self.file.metadata().map_err(failed)?.len();
        let mut reader = BufReader::new(&self.file);
        let (mut head, mut batch) = ([0; HEAD], Vec::new());
        while size - self.end >= HEAD as u64 {
            reader.read_exact(&mut head).map_err(failed)?;
            let [bytes, sum] = [&head[..8], &head[8..]].map(|half| number(half).map_or(0, |n| n.0));
            batch.clear();
            reader
                .by_ref()
                .take(bytes)
                .read_to_end(&mut batch)
                .map_err(failed)?;
            if batch.len() as u64 != bytes || checksum(&batch) != sum {
                break;
            }
            let begin = self.end + HEAD as u64;
            self.end = begin + bytes;
            let mut rest = &batch[..];
            while let Some((key, after)) = number(rest) {
                let Some((len, after)) = number(after) else {
                    break;
                };
                rest = after;
                if len == REMOVED {
                    self.places.remove(&Key(key));
                    continue;
                }
                let offset = begin + (batch.len() - rest.len()) as u64;
                self.places.insert(Key(key), offset..offset + len);
                rest = rest.get(len as usize..).unwrap_or_default();
            }
        }
        let cut = self.file.set_len(self.end);
        cut.map_err(StoreError::io("shorten", &self.path))
    }

    fn get(
        &self,
        key: Key,
        buffer: &mut Vec<u8>,
        show: impl FnOnce(&[u8]) -> Result<()>,
    ) -> Result<Found> {
        let Some(place) = self.places.get(&key) else {
            return Ok(Found::Missing);
        };
        buffer.resize((place.end - place.start) as usize, 0);
        let read = self.file.read_exact_at(buffer, place.start);
        read.map_err(StoreError::io("read", &self.path))?;
        shown(Some(buffer), show)
    }
}

/// The log, of which nobody else writes meanwhile.
enum Held<'e> {
    ToRead(RwLockReadGuard<'e, Log>),
    ToWrite(RwLockWriteGuard<'e, Log>),
}

impl Deref for Held<'_> {
    type Target = Log;

    fn deref(&self) -> &Log {
        match self {
            Self::ToRead(log) => log,
            Self::ToWrite(log) => log,
        }
    }
}

/// A transaction: the batch that it will append, behind room for its head, and memory for what is read.
struct Transaction<'e> {
    log: Held<'e>,
    sync: Sync,
    buffer: Vec<u8>,
    batch: Vec<u8>,
    /// Where in the batch a value lies; nothing where it is removed.
    changes: BTreeMap<Key, Option<Range<usize>>>,
}

impl Transaction<'_> {
    fn there(&self, key: Key) -> bool {
        match self.changes.get(&key) {
            Some(changed) => changed.is_some(),
            None => self.log.places.contains_key(&key),
        }
    }

    /// Puts a value, or none, if the key is there or not as is said.
    fn change(&mut self, key: Key, value: Option<&[u8]>, there: bool) -> Result<bool> {
        if self.there(key) != there {
            return Ok(false);
        }
        self.batch.resize(self.batch.len().max(HEAD), 0);
        let len = value.map_or(REMOVED, |value| value.len() as u64);
        self.batch.extend(key.0.to_le_bytes());
        self.batch.extend(len.to_le_bytes());
        let begin = self.batch.len();
        self.batch.extend(value.unwrap_or_default());
        let place = value.map(|_| begin..self.batch.len());
        self.changes.insert(key, place);
        Ok(true)
    }

    fn append(mut self) -> Result<()> {
        let Held::ToWrite(log) = &mut self.log else {
            return Ok(());
        };
        if self.changes.is_empty() {
            return Ok(());
        }
        let (head, body) = self.batch.split_at_mut(HEAD);
        head[..8].copy_from_slice(&(body.len() as u64).to_le_bytes());
        head[8..].copy_from_slice(&checksum(body).to_le_bytes());
        let log = &mut **log;
        let written = log.file.write_all_at(&self.batch, log.end);
        written.map_err(StoreError::io("write", &log.path))?;
        match self.sync {
            Sync::Off => {}
            Sync::Commit => log
                .file
                .sync_data()
                .map_err(StoreError::io("sync", &log.path))?,
        }
        for (key, place) in self.changes {
            let place = place.map(|p| log.end + p.start as u64..log.end + p.end as u64);
            match place {
                Some(place) => log.places.insert(key, place),
                None => log.places.remove(&key),
            };
        }
        log.end += self.batch.len() as u64;
        Ok(())
    }
}

impl Rows for Transaction<'_> {
    fn get(&mut self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        match self.changes.get(&key) {
            Some(Some(place)) => shown(Some(&self.batch[place.clone()]), show),
            Some(None) => Ok(Found::Missing),
            None => self.log.get(key, &mut self.buffer, show),
        }
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        let kept = self.log.places.range(from..).map(|(key, _)| *key);
        let changed = self.changes.range(from..).map(|(key, _)| *key);
        let keys: BTreeSet<Key> = kept.chain(changed).filter(|key| self.there(*key)).collect();
        for key in keys.iter().take(limit) {
            self.get(*key, |value| {
                visit(*key, value);
                Ok(())
            })?;
        }
        Ok(keys.len().min(limit))
    }

    /// An insert of a key that is there is refused, and what is not there is not replaced: the adapter
    /// says which of them it is.
    fn put(&mut self, key: Key, value: &[u8], there: bool) -> Result<bool> {
        self.change(key, Some(value), there)
    }

    fn remove(&mut self, key: Key) -> Result<bool> {
        self.change(key, None, true)
    }
}
