//! The settings of SQLite, typed, and what they promise.

use crate::names::{NAMES, Names};
use crate::options::{Described, StoreOptions as _, bytes, flag, number, refuse};
use crate::store::claim;
use crate::{KEY_FORM, KeyForm, Result, choice, options};
use std::sync::Arc;
use std::time::Duration;
use stowplan_model::{Durability, DurabilityClaim, Settings};

/// SQLite stores these as signed 64-bit or 32-bit numbers.
const MAX_BYTES: u64 = i64::MAX as u64;
const MAX_PAGES: u64 = i32::MAX as u64;

/// Descriptions that other stores share.
pub(crate) const PAGE_SIZE: Described<u64> = bytes(512, 65_536, "4096", "size of a database page")
    .power_of_two()
    .shapes_layout();

pub(crate) const CACHE: Described<u64> = bytes(
    0,
    MAX_PAGES * 512,
    "2MiB",
    "SQLite's own page cache (PRAGMA cache_size, in whole pages)",
);

pub(crate) const MMAP: Described<u64> = bytes(
    0,
    MAX_BYTES,
    "0",
    "how much of the file is mapped into memory (PRAGMA mmap_size); SQLite caps it near 2 GiB",
);

pub(crate) const JOURNAL: Described<Journal> =
    Journal::setting(Journal::Delete, "PRAGMA journal_mode");

pub(crate) const SYNCHRONOUS: Described<Synchronous> =
    Synchronous::setting(Synchronous::Full, "PRAGMA synchronous");

/// Of stores that do not write values into the text of statements.
pub(crate) const STATEMENT: Described<Statements> = Statements::setting(
    Statements::Once,
    "whether statements (or the blob handle) are kept or made anew for each operation",
)
.only(
    &[Statements::Once.word(), Statements::Each.word()],
    Statements::Once.word(),
);

/// The default is that of the drivers for Rust, Python and Rails; SQLite's own is 0. A single
/// connection never waits.
pub(crate) const BUSY_TIMEOUT: Described<u64> = number(
    0,
    i32::MAX as u64,
    "5000",
    "milliseconds to wait for the lock of another connection before an operation is refused as a conflict; never with location=shared",
);

options! {
    /// The settings of an SQLite database, typed.
    pub(crate) struct Pragmas {
        pub(crate) api: Api = Api::setting(
            Api::Sql,
            "sql: SELECT and UPDATE; blob: incremental blob I/O, which cannot change a value's size",
        ),
        pub(crate) page_size: u64 = PAGE_SIZE,
        pub(crate) cache: u64 = CACHE,
        pub(crate) mmap: u64 = MMAP,
        pub(crate) journal: Journal = JOURNAL,
        pub(crate) synchronous: Synchronous = SYNCHRONOUS,
        pub(crate) locking: Locking = Locking::setting(Locking::Normal, "PRAGMA locking_mode"),
        pub(crate) statement: Statements = Statements::setting(
            Statements::Once,
            "whether statements (or the blob handle) are kept, made anew for each operation (each), or that with keys and values written into the text of SQL instead of bound (literal)",
        ),
        pub(crate) ids: Ids = Ids::setting(
            Ids::Given,
            "whether the keys of new rows are given, or assigned by SQLite where the key is the one that it assigns next (rows that one statement adds together: given)",
        ),
        pub(crate) cache_spill: bool = flag(
            true,
            "whether a transaction may write pages before it ends, once it has changed more than the cache holds (PRAGMA cache_spill)",
        ),
        pub(crate) preload: bool = flag(
            false,
            "whether a session begins by reading every row, so that what cache= holds is in SQLite's own cache before anything is measured; overflow pages of a file never are: they are read past the cache (DIRECT_OVERFLOW_READ)",
        ),
        pub(crate) location: Location = Location::setting(
            Location::Disk,
            "a file, memory (:memory:; named: file:NAME?mode=memory, which no other connection shares; memdb: the VFS memdb, a file in memory below the cache), memory that connections share (cache=shared), or a temporary database that ends with its connection",
        )
        .shapes_layout(),
        pub(crate) autocheckpoint: u64 = number(
            0,
            MAX_PAGES,
            "1000",
            "pages in the WAL at which a commit checkpoints; 0: only when asked",
        ),
        pub(crate) busy_timeout: u64 = BUSY_TIMEOUT,
        pub(crate) key: KeyForm = KEY_FORM,
        pub(crate) names: bool = NAMES.with_help(
            "of key=text: whether the keys are the names that values had where they come from (datasets with from = a directory), as in a table sqlar",
        ),
        pub(crate) rowid: bool = flag(
            true,
            "of key=text: on keeps rows by a number of their own and an index of the keys, off (WITHOUT ROWID) keeps them by their keys",
        )
        .shapes_layout(),
        pub(crate) columns: usize = number(
            1,
            32,
            "1",
            "into so many columns of equal size a value is cut: a record of 5 fields of 4 bytes is columns=5 with values of 20 bytes",
        )
        .shapes_layout(),
        pub(crate) column_type: ColumnType = ColumnType::setting(
            ColumnType::Blob,
            "the type of the columns; text (as NVARCHAR is) keeps values that are UTF-8 only, such as content = \"guid\"",
        )
        .shapes_layout(),
    }
}

choice! {
    /// How values are read and overwritten.
    pub(crate) enum Api {
        Sql = "sql",
        Blob = "blob",
    }
}

choice! {
    /// The rollback journal or the log, by SQLite's own words.
    pub(crate) enum Journal {
        Delete = "delete",
        Truncate = "truncate",
        Persist = "persist",
        Memory = "memory",
        Wal = "wal",
        Off = "off",
    }
}

choice! {
    /// When SQLite syncs, by its own words.
    pub(crate) enum Synchronous {
        Off = "off",
        Normal = "normal",
        Full = "full",
        Extra = "extra",
    }
}

choice! {
    /// Whether locks outlive a transaction.
    pub(crate) enum Locking {
        Normal = "normal",
        Exclusive = "exclusive",
    }
}

choice! {
    /// Whether statements and blob handles outlive an operation.
    pub(crate) enum Statements {
        Once = "once",
        Each = "each",
        /// Made anew, with the parameters in their text.
        Literal = "literal",
    }
}

choice! {
    /// Who numbers new rows.
    pub(crate) enum Ids {
        Given = "given",
        Assigned = "assigned",
    }
}

choice! {
    /// Where the database lies.
    pub(crate) enum Location {
        Disk = "disk",
        Memory = "memory",
        /// In memory, under a name of its own.
        Named = "named",
        /// A file of SQLite's VFS `memdb`, of one connection.
        Memdb = "memdb",
        /// In memory, under a name that further connections of the process open as well.
        Shared = "shared",
        Temp = "temp",
    }
}

choice! {
    /// The type of the columns.
    pub(crate) enum ColumnType {
        Blob = "blob",
        Text = "text",
    }
}

/// The settings with the table `kv` that they describe, or another store's.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    pub(crate) pragmas: Pragmas,
    /// The definition of the table.
    pub(super) definition: String,
    /// The name of the value's column, where it has one.
    pub(super) column: &'static str,
    /// The keys of values that have names of their own, as text.
    pub(super) names: Option<Arc<Names>>,
}

impl Options {
    /// Of a database that is part of another store, what that does not set is as by default.
    pub(crate) fn from_settings(settings: &Settings) -> Result<Self> {
        let mut options = Self {
            pragmas: Pragmas::from_settings(settings)?,
            definition: String::new(),
            column: "v",
            names: None,
        };
        options.go_together()?;
        options.definition = options.defined();
        Ok(options)
    }

    fn go_together(&self) -> Result<()> {
        let pragmas = &self.pragmas;
        let (blob, text) = (pragmas.api == Api::Blob, pragmas.key == KeyForm::Text);
        let literal = pragmas.statement == Statements::Literal;
        let location = pragmas.location.word();
        let of_blob = |instead: &str| {
            format!(
                "a blob handle is for the bytes of one column in a row that has a number; use api=sql or {instead}"
            )
        };
        refuse! {
            !text && pragmas.names => "combine names=on with key=integer", "a name is text; use key=text";
            !text && !pragmas.rowid => "combine rowid=off with key=integer",
                "a key that is a number is the row's own number; use key=text or rowid=on";
            blob && pragmas.columns > 1 => "combine api=blob with columns above 1", of_blob("columns=1");
            blob && self.is_text() => "combine api=blob with column_type=text", of_blob("column_type=blob");
            blob && text => "combine api=blob with key=text", of_blob("key=integer");
            blob && literal => "combine api=blob with statement=literal", of_blob("statement=each");
            self.assigns_ids() && text => "combine ids=assigned with key=text",
                "SQLite assigns numbers only; use key=integer or ids=given";
            pragmas.journal == Journal::Wal && !self.on_disk() => format!("combine journal=wal with location={location}"),
                "only a database on disk has a write-ahead log; use location=disk or another journal";
        }
        Ok(())
    }

    /// Has the values have these names.
    pub(crate) fn with_names(self, names: Option<Arc<Names>>) -> Self {
        Self { names, ..self }
    }

    /// Has a table of this definition, whose values are text in a column of this name.
    pub(crate) fn with_text(mut self, definition: &str, column: &'static str) -> Self {
        self.pragmas.column_type = ColumnType::Text;
        self.definition = definition.to_owned();
        self.column = column;
        self
    }

    /// Whether values are kept as text.
    pub(super) fn is_text(&self) -> bool {
        self.pragmas.column_type == ColumnType::Text
    }

    /// Whether SQLite numbers new rows.
    pub(super) fn assigns_ids(&self) -> bool {
        self.pragmas.ids == Ids::Assigned
    }

    /// Whether a transaction can be undone, and so be tried again after a conflict.
    pub(crate) fn undoes(&self) -> bool {
        self.journal() != Journal::Off
    }

    /// How long a connection waits for another's lock.
    pub(crate) fn busy_timeout(&self) -> Duration {
        Duration::from_millis(self.pragmas.busy_timeout)
    }

    pub(super) fn journal(&self) -> Journal {
        self.pragmas.journal
    }

    pub(super) fn synchronous(&self) -> Synchronous {
        self.pragmas.synchronous
    }

    /// Whether the database is a file that stays.
    pub(super) fn on_disk(&self) -> bool {
        self.pragmas.location == Location::Disk
    }

    pub(super) fn locks_exclusively(&self) -> bool {
        self.pragmas.locking == Locking::Exclusive
    }

    /// See docs/method.md, "Durability classes".
    pub(crate) fn durability(&self) -> DurabilityClaim {
        use Journal::{Delete, Memory, Off, Persist, Truncate, Wal};
        if !self.on_disk() {
            return claim(Durability::None, false);
        }
        match (self.journal(), self.synchronous()) {
            (Off | Memory, _) => claim(Durability::None, false),
            (_, Synchronous::Off) => claim(Durability::ProcessCrash, true),
            (Wal, Synchronous::Normal) => claim(Durability::Consistent, true),
            // Records and the header that counts them are synced together, so that a header may be on the
            // disk without a record, whose checksum looks at every 200th byte (`stowplan crash --states
            // 3000`: DELETE did not open, or was corrupt or torn, in states of each model, TRUNCATE in 68 of
            // 9,000, PERSIST in 10 of 9,000; pager.c, syncJournal and pager_cksum).
            (Delete | Truncate | Persist, Synchronous::Normal) => {
                claim(Durability::ProcessCrash, true)
            }
            // Exclusive locking zeroes the journal's header and syncs that.
            (Delete, Synchronous::Full) if self.locks_exclusively() => {
                claim(Durability::Durable, true)
            }
            // The journal's unlink is not synced: it may come back and undo the commit.
            (Delete, Synchronous::Full) => claim(Durability::Consistent, true),
            (Wal | Truncate | Persist, Synchronous::Full) | (_, Synchronous::Extra) => {
                claim(Durability::Durable, true)
            }
        }
    }

    /// The fewest syncs of a commit, as `tests/syncs/declared_syncs.rs` counts them. Checkpoints, which
    /// only some commits make, are left out.
    pub(crate) fn syncs_per_commit(&self) -> u32 {
        let (journal, synchronous) = (self.journal(), self.synchronous());
        if !self.on_disk() || synchronous == Synchronous::Off {
            return 0;
        }
        let full = synchronous != Synchronous::Normal;
        let end = match journal {
            Journal::Wal => return u32::from(full),
            // The database alone.
            Journal::Memory | Journal::Off => return 1,
            Journal::Truncate => full,
            // Exclusive locking zeroes the header instead of deleting the journal.
            Journal::Delete => self.locks_exclusively() || synchronous == Synchronous::Extra,
            Journal::Persist => true,
        };
        // Its records, then the header that counts them; both at once with NORMAL.
        let records = if full { 2 } else { 1 };
        // The directory, whenever the journal is opened; exclusive locking keeps it open.
        let name = u32::from(!self.locks_exclusively());
        let database = 1;
        records + name + database + u32::from(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stowplan_model::Value;

    fn durability(journal: &str, synchronous: &str) -> String {
        let mut settings = Settings::default();
        for (name, word) in [("journal", journal), ("synchronous", synchronous)] {
            settings.set(name, Value::Word(word.to_owned()));
        }
        let options = Options::from_settings(&settings).unwrap();
        options.durability().to_string()
    }

    #[test]
    fn claims_are_those_of_the_method() {
        for journal in ["off", "memory"] {
            for synchronous in ["off", "normal", "full", "extra"] {
                assert_eq!(durability(journal, synchronous), "none");
            }
        }
        for journal in ["delete", "truncate", "persist", "wal"] {
            assert_eq!(durability(journal, "off"), "process-crash, atomic");
            assert_eq!(durability(journal, "extra"), "durable, atomic");
        }
        assert_eq!(durability("delete", "full"), "consistent, atomic");
        for journal in ["truncate", "persist", "wal"] {
            assert_eq!(durability(journal, "full"), "durable, atomic");
        }
        assert_eq!(durability("wal", "normal"), "consistent, atomic");
        for journal in ["delete", "truncate", "persist"] {
            assert_eq!(durability(journal, "normal"), "process-crash, atomic");
        }
    }

    #[test]
    fn a_journal_that_exclusive_locking_keeps_promises_what_one_that_persists_does() {
        let exclusive = |synchronous: &str| {
            let text = format!("sqlite:journal=delete,locking=exclusive,synchronous={synchronous}");
            let store = crate::registry::resolve(&text.parse().unwrap(), 1 << 20).unwrap();
            store.capabilities.durability.to_string()
        };
        assert_eq!(exclusive("normal"), "process-crash, atomic");
        assert_eq!(exclusive("full"), "durable, atomic");
    }
}
