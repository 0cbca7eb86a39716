//! A layer in memory that takes the writes, another that is carried over, and a database on disk.
//!
//! The pattern that "SQLite性能 - inmemory模式" ends with: a write commits in memory at once; a
//! background thread carries what has gathered there to the database on disk, in one transaction;
//! meanwhile a second layer in memory takes the writes. The article's layers are SQLite databases in
//! memory; these are ordered maps, so that a commit into them costs less than one of SQLite's.
//!
//! ```text
//!   insert, overwrite, delete                      read, scan
//!            │                                 (from the top down)
//!            ▼                                          │
//!   ┌─────────────────┐  full, or window_ms old         │
//!   │ layer in memory │ ─────────────┐                  │
//!   └─────────────────┘   the two    ▼                  │
//!                       change ┌─────────────────┐      │
//!                       places │ layer in memory │      │
//!                              └─────────────────┘      │
//!                  one transaction │ carrier thread     │
//!                                  ▼                    ▼
//!                              ┌───────────────────────────┐
//!                              │     database on disk      │
//!                              └───────────────────────────┘
//! ```
//!
//! A layer holds changes: a deleted key is one without a value, which hides what lies below. A layer
//! goes only after its changes were committed on disk, so whoever looks from the top down misses
//! nothing.
//!
//! **The window.** A commit is acknowledged before anything is on disk. A process kill loses what
//! the two layers hold: each holds at most `window_rows` changes or `window_bytes` bytes, beyond
//! which only the transaction that reached the limit may go. While both are full, writers wait.
//! In time, what is lost is younger than `window_ms` and the two carry-overs that may come before
//! it on disk. What remains is always a prefix of the committed transactions, as the layers
//! change places only between two transactions and each is carried over as a whole. After a power
//! loss the same is true with synchronous=full, the default. With normal a prefix remains, but more
//! than the window may be missing; with off nothing is known. The claim is therefore `consistent`,
//! *delayed*, except in the last case. The database on disk has a write-ahead log, so that reads of it
//! and carry-overs leave each other alone.
//!
//! **Memory.** Both layers together hold up to twice the limits above, and what a map needs
//! around each row; but a transaction is in memory as a whole, however large it is. Beside them
//! the carrier and each connection have a page cache of `cache` bytes for the database on disk.
//!
//! **Failures.** If the disk refuses a carry-over, its layer is kept and tried again ten times
//! a second. Meanwhile every write is refused with what the disk said, so that the window does
//! not grow; reads go on. Closing and checkpointing try again at once and say how many changes
//! are in memory only. They are not given up before the store itself goes, after a last attempt.
//!
//! **Threads.** Writers take turns: one that finds another's transaction open waits. What a
//! transaction has changed is seen by nobody else before it is committed. A read transaction is no
//! snapshot: each read shows what was committed last, and so does each row of a scan. For a
//! lock that another process holds on the disk, a carry-over waits as long as `busy_timeout` of the store
//! `sqlite` says there by default.

mod buffer;
mod engine;

use crate::options::{Described, OptionValue as _, StoreOptions, bytes, number};
use crate::sqlite::options as database;
use crate::store::Kind;
use crate::{Result, sqlite};
use database::{Journal, Options as DatabaseOptions};
use engine::Buffered;
use std::time::Duration;
use stowplan_model::{Durability, DurabilityClaim, Setting, Settings};

const STORE: &str = "sqlite-buffered";

const WINDOW_ROWS: Described<u64> = number(
    1,
    1_000_000_000,
    "10000",
    "changes in memory at which they are carried over; a kill loses up to twice as many, as writers wait then",
);

const WINDOW_MS: Described<u64> = number(
    1,
    86_400_000,
    "200",
    "milliseconds after which changes are carried over; a kill loses up to so much, and the time two carry-overs take",
);

const WINDOW_BYTES: Described<u64> = bytes(
    1,
    i64::MAX as u64,
    "64MiB",
    "bytes of values in memory at which they are carried over; there are up to twice as many before writers wait",
);

/// With any other, reads would have to wait for carry-overs.
const JOURNAL: Described<Journal> = database::JOURNAL
    .only(&[Journal::Wal.word()], Journal::Wal.word())
    .with_help("PRAGMA journal_mode of the database on disk");

/// How much may be in one layer before it is carried over, and for how long.
#[derive(Clone, Copy)]
struct Window {
    changes: u64,
    bytes: u64,
    age: Duration,
}

/// The settings, typed.
pub(crate) struct Options {
    window: Window,
    database: DatabaseOptions,
}

impl StoreOptions for Options {
    /// The window, and what the database on disk reads by itself.
    const SETTINGS: &'static [Setting] = &[
        WINDOW_ROWS.named("window_rows"),
        WINDOW_MS.named("window_ms"),
        WINDOW_BYTES.named("window_bytes"),
        database::PAGE_SIZE.named("page_size"),
        database::CACHE.named("cache"),
        database::MMAP.named("mmap"),
        JOURNAL.named("journal"),
        database::SYNCHRONOUS
            .with_help("PRAGMA synchronous of the database on disk; a power loss too loses no more than the window with journal=wal and full")
            .named("synchronous"),
        database::STATEMENT.named("statement"),
    ];

    fn from_settings(settings: &Settings) -> Result<Self> {
        let mut of_database = settings.clone();
        of_database.set("journal", JOURNAL.read("journal", settings)?.value());
        Ok(Self {
            window: Window {
                changes: WINDOW_ROWS.read("window_rows", settings)?,
                bytes: WINDOW_BYTES.read("window_bytes", settings)?,
                age: Duration::from_millis(WINDOW_MS.read("window_ms", settings)?),
            },
            database: DatabaseOptions::from_settings(&of_database)?,
        })
    }
}

impl Options {
    /// A kill loses the window and leaves a prefix of the commits. So does a power loss, if it
    /// leaves the database on disk with a prefix of its own transactions, for each of them is a
    /// layer as a whole, in the order of the commits: frames of the log are valid up to the first that
    /// is not whole, and a checkpoint syncs the log before the database. That is the class
    /// `consistent`, beginning later. With synchronous=off the class on disk is `process-crash`, whose
    /// only promise is that a kill loses nothing acknowledged. Here it does, so nothing is left to claim.
    fn durability(&self) -> DurabilityClaim {
        let on_disk = self.database.durability();
        DurabilityClaim {
            class: match on_disk.class {
                Durability::Consistent | Durability::Durable => Durability::Consistent,
                Durability::None | Durability::ProcessCrash => Durability::None,
            },
            atomic: on_disk.atomic,
            delayed: true,
        }
    }
}

const ABOUT: &str = "SQLite with writes in memory first: a kill loses some commits";

/// An SQLite database behind two layers in memory. See the module.
pub(crate) const KIND: &Kind = &sqlite::of_sqlite(Kind::of_engine::<Buffered>());
