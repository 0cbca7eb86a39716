//! fjall's two kinds of transactional databases, as one.

use super::options::{Options, Transactions};
use crate::watched::watched_for;
use fjall::{
    OptimisticTxDatabase, OptimisticTxKeyspace, OptimisticWriteTx, PersistMode, Readable, Result,
    SingleWriterTxDatabase, SingleWriterTxKeyspace, SingleWriterWriteTx, Snapshot,
};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The name of the keyspace.
const KEYSPACE: &str = "kv";

/// How often the engine is asked whether it has come to rest.
pub(super) const POLL: Duration = Duration::from_micros(500);

/// So many answers in a row that nothing runs and nothing has ended since mean that it has. fjall
/// does not tell how many compactions are queued; its workers take the next one at once.
pub(super) const QUIET_POLLS: u32 = 100;

pub(super) enum Database {
    SingleWriter(SingleWriterTxDatabase),
    Optimistic(OptimisticTxDatabase),
}

/// A handle; the keyspace's files are removed when it was deleted and the last handle is gone.
#[derive(Clone)]
pub(super) enum Keyspace {
    SingleWriter(SingleWriterTxKeyspace),
    Optimistic(OptimisticTxKeyspace),
}

impl Database {
    /// Makes it if it is not there.
    pub(super) fn open_or_make(path: &Path, options: &Options) -> Result<Self> {
        match options.transactions {
            Transactions::SingleWriter => SingleWriterTxDatabase::builder(path)
                .cache_size(options.cache)
                .journal_compression(options.compression())
                .open()
                .map(Self::SingleWriter),
            Transactions::Optimistic => OptimisticTxDatabase::builder(path)
                .cache_size(options.cache)
                .journal_compression(options.compression())
                .open()
                .map(Self::Optimistic),
        }
    }

    pub(super) fn inner(&self) -> &fjall::Database {
        match self {
            Self::SingleWriter(database) => database.inner(),
            Self::Optimistic(database) => database.inner(),
        }
    }

    /// Opens the keyspace, or makes it.
    pub(super) fn make_keyspace(&self, options: &Options) -> Result<Keyspace> {
        let describe = || options.of_keyspace();
        match self {
            Self::SingleWriter(database) => database
                .keyspace(KEYSPACE, describe)
                .map(Keyspace::SingleWriter),
            Self::Optimistic(database) => database
                .keyspace(KEYSPACE, describe)
                .map(Keyspace::Optimistic),
        }
    }

    /// Opens the keyspace if there is one.
    pub(super) fn keyspace(&self, options: &Options) -> Result<Option<Keyspace>> {
        if !self.inner().keyspace_exists(KEYSPACE) {
            return Ok(None);
        }
        self.make_keyspace(options).map(Some)
    }

    pub(super) fn drop_keyspace(&self, keyspace: Keyspace) -> Result<()> {
        let inner = keyspace.inner().clone();
        drop(keyspace);
        self.inner().delete_keyspace(inner)
    }

    /// Writes the memtable to a table, and waits until no flush or compaction is left. The time from
    /// the first answer that nothing runs is [`crate::watched`]: nobody's work.
    pub(super) fn settle(&self, keyspace: &Keyspace) -> Result<()> {
        keyspace.inner().rotate_memtable()?;
        let database = self.inner();
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

    pub(super) fn snapshot(&self) -> Snapshot {
        self.inner().snapshot()
    }

    pub(super) fn write(&self, persist: PersistMode) -> Result<Writing<'_>> {
        Ok(match self {
            Self::SingleWriter(database) => {
                Writing::SingleWriter(database.write_tx().durability(Some(persist)))
            }
            Self::Optimistic(database) => {
                Writing::Optimistic(database.write_tx()?.durability(Some(persist)))
            }
        })
    }
}

impl Keyspace {
    pub(super) fn inner(&self) -> &fjall::Keyspace {
        match self {
            Self::SingleWriter(keyspace) => keyspace.inner(),
            Self::Optimistic(keyspace) => keyspace.inner(),
        }
    }

    pub(super) fn first_key(&self) -> Result<Option<fjall::UserKey>> {
        self.inner()
            .first_key_value()
            .map(fjall::Guard::key)
            .transpose()
    }
}

/// A transaction that writes.
pub(super) enum Writing<'d> {
    SingleWriter(SingleWriterWriteTx<'d>),
    Optimistic(OptimisticWriteTx),
}

/// How a commit ended.
pub(super) enum Committed {
    Yes,
    /// Another transaction changed what this one had read.
    Conflict,
}

impl Writing<'_> {
    pub(super) fn get(&self, keyspace: &Keyspace, key: &[u8]) -> Result<Option<fjall::UserValue>> {
        match self {
            Self::SingleWriter(tx) => tx.get(keyspace.inner(), key),
            Self::Optimistic(tx) => tx.get(keyspace.inner(), key),
        }
    }

    pub(super) fn contains(&self, keyspace: &Keyspace, key: &[u8]) -> Result<bool> {
        match self {
            Self::SingleWriter(tx) => tx.contains_key(keyspace.inner(), key),
            Self::Optimistic(tx) => tx.contains_key(keyspace.inner(), key),
        }
    }

    pub(super) fn range_from(&self, keyspace: &Keyspace, from: &[u8]) -> fjall::Iter {
        match self {
            Self::SingleWriter(tx) => tx.range(keyspace.inner(), from..),
            Self::Optimistic(tx) => tx.range(keyspace.inner(), from..),
        }
    }

    pub(super) fn put(&mut self, keyspace: &Keyspace, key: &[u8], value: &[u8]) {
        match (self, keyspace) {
            (Self::SingleWriter(tx), Keyspace::SingleWriter(keyspace)) => {
                tx.insert(keyspace, key, value);
            }
            (Self::Optimistic(tx), keyspace) => tx.insert(keyspace.inner(), key, value),
            // A database makes transactions and keyspaces of its own kind only.
            (Self::SingleWriter(_), Keyspace::Optimistic(_)) => {}
        }
    }

    pub(super) fn remove(&mut self, keyspace: &Keyspace, key: &[u8]) {
        match (self, keyspace) {
            (Self::SingleWriter(tx), Keyspace::SingleWriter(keyspace)) => tx.remove(keyspace, key),
            (Self::Optimistic(tx), keyspace) => tx.remove(keyspace.inner(), key),
            (Self::SingleWriter(_), Keyspace::Optimistic(_)) => {}
        }
    }

    pub(super) fn commit(self) -> Result<Committed> {
        match self {
            Self::SingleWriter(tx) => tx.commit().map(|()| Committed::Yes),
            Self::Optimistic(tx) => Ok(match tx.commit()? {
                Ok(()) => Committed::Yes,
                Err(fjall::Conflict) => Committed::Conflict,
            }),
        }
    }
}
