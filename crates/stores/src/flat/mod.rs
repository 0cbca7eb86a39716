//! The floor: the cheapest conceivable way to keep values on disk.
//!
//! One file of concatenated values that stays open, and their places in memory. A value is read and
//! overwritten where it lies, a new one is appended, and a deleted one is marked: its key is appended, and
//! its place forgotten. What each commit syncs is that file, which is written ahead for that. It promises nothing that a real store has
//! to (no growth in place, no transactions, nobody reads the marks after a crash): it is the lower
//! bound beside which the others are seen.

mod commits;
mod index;
mod session;

use crate::options::StoreOptions as _;
use crate::store::{Kind, OPERATIONS};
use crate::{Key, Result, Session, Store, StoreError, choice, disk, options};
use commits::Commits;
use index::Index;
pub(crate) use index::Span;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use index::hostile;
use memmap2::{Mmap, MmapOptions};
use parking_lot::{Mutex, RwLock};
pub(crate) use session::FlatSession;
use std::fs::File;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use stowplan_model::{Capabilities, Delivery, Footprint, Settings};

const STORE: &str = "flat";
const VALUES_FILE: &str = "values.bin";
const INDEX_FILE: &str = "index.bin";

/// How far a file whose commits are synced is written ahead, in bytes. A sync of what lies in blocks that
/// the file has already need not note a new length: on an ext4 without a journal it took 94 µs instead of 133.
const ROOM_AHEAD: u64 = 1 << 20;

/// Addresses that are mapped, more than a file will have: of those behind its end none is read before what
/// lies there was written. File systems refuse to map more than a file of theirs can have.
const MAPPED: usize = 1 << 40;

choice! {
    /// How values are read.
    pub(crate) enum ReadMode {
        Pread = "pread",
        Mmap = "mmap",
    }
}

choice! {
    /// When the file is synced.
    pub(crate) enum Sync {
        Off = "off",
        Commit = "commit",
    }
}

options! {
    /// The settings, typed.
    pub(crate) struct Options {
        read: ReadMode = ReadMode::setting(
            ReadMode::Pread,
            "pread from the open file, or a mapping of it into memory",
        ),
        sync: Sync = Sync::setting(
            Sync::Off,
            "fdatasync: never, or after each transaction that wrote (one for all threads that wait for it)",
        ),
    }
}

impl Options {
    /// Reading by `pread`, and syncing each commit or never.
    pub(crate) fn to_read(sync: bool) -> Self {
        Self {
            read: ReadMode::Pread,
            sync: if sync { Sync::Commit } else { Sync::Off },
        }
    }

    fn syncs(&self) -> bool {
        self.sync == Sync::Commit
    }
}

/// One flat file. See the module. Values never share bytes; whoever reads a value while another thread
/// overwrites it may find both mixed.
pub(crate) const KIND: &Kind = &Kind::new(
    (
        STORE,
        "the floor: one open file of all values, their places in memory",
        Options::SETTINGS,
    ),
    &capabilities,
    &|directory, settings, new| {
        let options = Options::from_settings(settings)?;
        Ok(Box::new(FlatStore::open(directory, options, new)?))
    },
);

pub(crate) fn capabilities(settings: &Settings) -> Result<Capabilities> {
    let options = Options::from_settings(settings)?;
    let mut deliveries = vec![Delivery::Copy];
    deliveries.extend((options.read == ReadMode::Mmap).then_some(Delivery::InPlace));
    Ok(Capabilities {
        operations: OPERATIONS.to_vec(),
        deliveries,
        resizes: false,
        threads: true,
        parallel_writers: true,
        mapped: options.read == ReadMode::Mmap,
        syncs_per_commit: u32::from(options.syncs()),
        ..Capabilities::default()
    })
}

#[expect(
    unsafe_code,
    reason = "memory maps are the interface under measurement"
)]
fn map(values: &File, path: &Path) -> Result<Mmap> {
    // SAFETY: the file belongs to this store, which never shortens it, and of addresses behind its
    // end none is read before what lies there was written; a foreign process that did shorten it would
    // end this one by SIGBUS, as with every mapping. A session overwrites values only between the
    // calls that lend them. Another thread may do so meanwhile, through the file: whoever is lent
    // a value then sees bytes change, each of which is valid as any other.
    let map = |len: usize| unsafe { MmapOptions::new().len(len).map(values) };
    // Some processors, and some limits, leave a process fewer addresses.
    let mapped = map(MAPPED).or_else(|_| map(MAPPED >> 8));
    mapped.map_err(StoreError::io("map", path))
}

pub(crate) struct FlatStore {
    directory: PathBuf,
    values: File,
    options: Options,
    index: RwLock<Index>,
    tail: Mutex<Tail>,
    commits: Commits,
    /// Of a store that reads by it.
    map: Option<Mmap>,
}

/// The end of the file.
struct Tail {
    /// Where what is appended next goes.
    end: u64,
    /// As far as it was written, be it with zeros.
    written: u64,
}

impl FlatStore {
    /// One that is part of another store, or is that store.
    pub(crate) fn open(directory: &Path, options: Options, new: bool) -> Result<Self> {
        let path = directory.join(VALUES_FILE);
        let mut opening = File::options();
        opening.read(true).write(true);
        let (action, opening) = match new {
            true => ("create", opening.create_new(true)),
            false => ("open", opening.custom_flags(libc::O_NOFOLLOW)),
        };
        let values = opening.open(&path).map_err(StoreError::io(action, &path))?;
        let mut index = Index::default();
        if !new {
            index = Index::load(&directory.join(INDEX_FILE))?;
            let metadata = values.metadata().map_err(StoreError::io("stat", &path))?;
            let (bytes, end) = (metadata.len(), index.end());
            if end > bytes {
                let detail = format!("it has {bytes} bytes, where its index knows of {end}");
                return Err(StoreError::engine(
                    format!("open {}", path.display()),
                    detail,
                ));
            }
        }
        let end = index.end();
        let map = (options.read == ReadMode::Mmap).then(|| map(&values, &path));
        Ok(Self {
            directory: directory.to_owned(),
            values,
            options,
            tail: Mutex::new(Tail { end, written: end }),
            index: RwLock::new(index),
            commits: Commits::default(),
            map: map.transpose()?,
        })
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.join(VALUES_FILE)
    }

    /// The open file of values.
    pub(crate) fn values(&self) -> &File {
        &self.values
    }

    /// Its bytes, as far as there are values.
    pub(crate) fn end(&self) -> u64 {
        self.index.read().end()
    }

    /// The place of a value.
    pub(crate) fn span(&self, key: Key) -> Option<Span> {
        self.index.read().get(key)
    }

    /// Writes the index beside the values, if it changed since.
    pub(crate) fn save(&self) -> Result<()> {
        self.index.write().save(&self.directory.join(INDEX_FILE))
    }

    /// Writes bytes behind all others.
    fn append(&self, bytes: &[u8]) -> Result<Span> {
        let len = bytes.len() as u64;
        let offset = {
            let mut tail = self.tail.lock();
            let offset = tail.end;
            tail.end += len;
            if tail.end > tail.written {
                self.make_room(&mut tail)?;
            }
            offset
        };
        self.write(bytes, offset)?;
        Ok(Span { offset, len })
    }

    /// Writes ahead of the end, where commits are synced.
    fn make_room(&self, tail: &mut Tail) -> Result<()> {
        let enough = tail.end + ROOM_AHEAD / 2;
        if !self.options.syncs() || tail.written >= enough {
            return Ok(());
        }
        // What lies before the end belongs to others, who write it now.
        let from = tail.written.max(tail.end);
        let to = tail.end + ROOM_AHEAD;
        let zeros = vec![0; usize::try_from(to - from).unwrap_or(0)];
        self.write(&zeros, from)?;
        self.sync()?;
        tail.written = to;
        Ok(())
    }

    fn write(&self, bytes: &[u8], offset: u64) -> Result<()> {
        let written = self.values.write_all_at(bytes, offset);
        written.map_err(|e| StoreError::io("write", &self.path())(e))
    }

    /// Returns when all that this thread has written is synced.
    fn sync(&self) -> Result<()> {
        let synced = self.commits.wait_for(|| self.values.sync_data());
        synced.map_err(|e| StoreError::io("sync", &self.path())(e))
    }
}

impl Store for FlatStore {
    fn connect(&self) -> Result<Box<dyn Session + '_>> {
        self.make_room(&mut self.tail.lock())?;
        Ok(Box::new(FlatSession::of(self)?))
    }

    fn footprint(&self) -> Result<Footprint> {
        disk::footprint_of_tree(&self.directory)
    }

    fn data_files(&self, _: &mut dyn Iterator<Item = Key>) -> Vec<PathBuf> {
        vec![self.path()]
    }

    fn checkpoint(&self) -> Result<()> {
        self.save()
    }
}

#[cfg(test)]
mod tests;
