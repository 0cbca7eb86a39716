//! An SQLite database and a directory of files as one store.
//!
//! **`files-indexed`**: each value is a file, and its row holds the file's name. This is how applications
//! that keep large values out of their database do it, and what Gray's "To BLOB or Not To BLOB" and
//! SQLite's "Internal Versus External BLOBs" compare: a read looks the name up by the key and then reads
//! the file. An overwrite changes the file alone.
//!
//! **`split`**: a value of at most `inline_limit` bytes is a row; a larger one is a file. A read looks for
//! the row first, and for the file where there is none: that is how a program reads an archive of which
//! large files were left outside (`stowplan pack --inline-limit`).
//!
//! Rows are as those of the store `sqlite`, files as those of the store `files`; files are part of no
//! transaction.

mod indexed;
mod session;
mod split;
mod store;
#[cfg(test)]
mod tests;

use crate::files::{self, Options as FileOptions};
use crate::options::{Described, StoreOptions as _, bytes};
use crate::sqlite::options::{self as database, Options as DatabaseOptions};
use crate::store::{Kind, OPERATIONS, claim};
use crate::{KEY_FORM, Result, names, sqlite};
use store::CompositeStore;
use stowplan_model::{Capabilities, DurabilityClaim, Operation, Setting, Settings};

/// The table of names.
const TABLE_OF_NAMES: &str = "kv(k INTEGER PRIMARY KEY, name TEXT NOT NULL)";

/// What a row holds. See the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Composite {
    /// The name of a file: `files-indexed`.
    Indexed,
    /// A value that is small: `split`.
    Split,
}

/// The settings of `files-indexed`: those of its parts.
const OF_INDEXED: &[Setting] = &[
    files::LAYOUT.named("layout"),
    files::OPEN_NAMED.named("open"),
    files::STAT.named("stat"),
    files::READ.named("read"),
    files::BUFFER.named("buffer"),
    files::WRITE.named("write"),
    files::FSYNC.named("fsync"),
    database::PAGE_SIZE.named("page_size"),
    database::CACHE.named("cache"),
    database::MMAP.named("mmap"),
    database::JOURNAL.named("journal"),
    database::SYNCHRONOUS.named("synchronous"),
    database::STATEMENT.named("statement"),
    database::BUSY_TIMEOUT.named("busy_timeout"),
];

/// How large a value of `split` may be that is a row.
const INLINE_LIMIT: Described<u64> = bytes(
    0,
    16 << 20,
    "64KiB",
    "the largest value that lies in the database; larger ones lie in files",
)
.shapes_layout();

/// The settings of `split`: its own, and those of its parts.
const OF_SPLIT: &[Setting] = &[
    INLINE_LIMIT.named("inline_limit"),
    files::LAYOUT.named("layout"),
    names::NAMES.named("names"),
    files::WRITE.named("write"),
    files::FSYNC.named("fsync"),
    database::PAGE_SIZE.named("page_size"),
    database::CACHE.named("cache"),
    database::MMAP.named("mmap"),
    database::JOURNAL.named("journal"),
    database::SYNCHRONOUS.named("synchronous"),
    database::BUSY_TIMEOUT.named("busy_timeout"),
    KEY_FORM.named("key"),
];

/// The settings of each part.
struct Options {
    files: FileOptions,
    database: DatabaseOptions,
    /// The largest value that is a row, in bytes.
    inline_limit: u64,
}

impl Composite {
    /// Each part reads its own; what this store does not have is as by default there.
    fn options(self, settings: &Settings) -> Result<Options> {
        let database = DatabaseOptions::from_settings(settings)?;
        Ok(Options {
            files: FileOptions::from_settings(settings)?,
            database: match self {
                Self::Indexed => database.with_text(TABLE_OF_NAMES, "name"),
                Self::Split => database,
            },
            inline_limit: INLINE_LIMIT.read("inline_limit", settings)?,
        })
    }

    /// What the weaker part keeps. An overwrite of `files-indexed` changes the file alone, and replaces it
    /// as `files` does. Yet a value is lost with the row that leads to it: what the database may lose of an
    /// earlier insert, the overwrite is not safe from either.
    ///
    /// Unless both keep what they acknowledge, a row may be there without its file: a delete that the
    /// database takes back leads to a file whose name is gone, and the row of an insert to a file whose
    /// name was not synced (`stowplan crash`, model `strict`).
    fn durability(self, options: &Options) -> DurabilityClaim {
        let (files, database) = (options.files.durability(), options.database.durability());
        claim(
            files.class.of_parts(database.class),
            files.atomic && (self == Self::Indexed || database.atomic),
        )
    }
}

pub(crate) const INDEXED: &Kind = &sqlite::of_sqlite(Kind::new(
    (
        Composite::Indexed.name(),
        "one file per value; an SQLite database has their names",
        OF_INDEXED,
    ),
    &|settings| Composite::Indexed.capabilities(settings),
    &|directory, settings, new| CompositeStore::open(Composite::Indexed, directory, settings, new),
));

pub(crate) const SPLIT: &Kind = &sqlite::of_sqlite(Kind::new(
    (
        Composite::Split.name(),
        "small values in an SQLite database, larger ones in files",
        OF_SPLIT,
    ),
    &|settings| Composite::Split.capabilities(settings),
    &|directory, settings, new| CompositeStore::open(Composite::Split, directory, settings, new),
));

impl Composite {
    /// Its name, and those of its database and of its directory of files below its own.
    const fn names(self) -> [&'static str; 3] {
        match self {
            Self::Indexed => ["files-indexed", "index.db", "blobs"],
            Self::Split => ["split", "kv.db", "files"],
        }
    }

    const fn name(self) -> &'static str {
        self.names()[0]
    }

    /// `transactions` is false: `begin` and `commit` are the database's, so look-ups share a
    /// transaction, but no file is part of one. `threads` is false for `split`: between a row and a file
    /// another thread would see neither, or both.
    fn capabilities(self, settings: &Settings) -> Result<Capabilities> {
        let options = self.options(settings)?;
        let (files, database) = (&options.files, &options.database);
        let is_split = self == Self::Split;
        let mut operations = OPERATIONS.to_vec();
        operations.retain(|operation| !is_split || *operation != Operation::Scan);
        let syncs = files.fsync.syncs();
        Ok(Capabilities {
            operations,
            durability: self.durability(&options),
            threads: !is_split && database.undoes(),
            mapped: is_split && settings.number("mmap") > 0,
            syncs_per_commit: match is_split {
                true => syncs.min(database.syncs_per_commit()),
                false => syncs,
            },
            ..Capabilities::default()
        })
    }
}
