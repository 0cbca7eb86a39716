//! The settings of SQLite, typed, and what they promise.

use super::STORE;
use super::table::{COLUMN_TYPE, COLUMNS, ROWID, Table};
use crate::{KEY_FORM, KeyForm, Result, StoreError};
use std::borrow::Cow;
use std::time::Duration;
use stowplan_model::{Durability, DurabilityClaim, Setting, SettingKind, Settings};

/// SQLite stores these as signed 64-bit or 32-bit numbers.
const MAX_BYTES: u64 = i64::MAX as u64;
const MAX_PAGES: u64 = i32::MAX as u64;

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        name: "api",
        kind: SettingKind::Choice(&["sql", "blob"]),
        default: "sql",
        help: "sql: SELECT and UPDATE; blob: incremental blob I/O, which cannot change a value's size",
        shapes_layout: false,
    },
    PAGE_SIZE,
    CACHE,
    MMAP,
    JOURNAL,
    SYNCHRONOUS,
    Setting {
        name: "locking",
        kind: SettingKind::Choice(&["normal", "exclusive"]),
        default: "normal",
        help: "PRAGMA locking_mode",
        shapes_layout: false,
    },
    STATEMENT,
    Setting {
        name: "preload",
        kind: SettingKind::Flag,
        default: "off",
        help: "whether a session begins by reading every row, so that what cache= holds is in SQLite's own cache before anything is measured; overflow pages of a file never are: they are read past the cache (DIRECT_OVERFLOW_READ)",
        shapes_layout: false,
    },
    Setting {
        name: "location",
        kind: SettingKind::Choice(&["disk", "memory", "shared", "temp"]),
        default: "disk",
        help: "a file, memory (:memory:), memory that connections share (cache=shared), or a temporary database that ends with its connection",
        shapes_layout: true,
    },
    Setting {
        name: "autocheckpoint",
        kind: SettingKind::Integer {
            min: 0,
            max: MAX_PAGES,
        },
        default: "1000",
        help: "pages in the WAL at which a commit checkpoints; 0: only when asked",
        shapes_layout: false,
    },
    BUSY_TIMEOUT,
    KEY_FORM,
    ROWID,
    COLUMNS,
    COLUMN_TYPE,
];

/// The default is that of the drivers for Rust, Python and Rails; SQLite's own is 0. A single
/// connection never waits.
pub(crate) const BUSY_TIMEOUT: Setting = Setting {
    name: "busy_timeout",
    kind: SettingKind::Integer {
        min: 0,
        max: i32::MAX as u64,
    },
    default: "5000",
    help: "milliseconds to wait for the lock of another connection before an operation is refused as a conflict; never with location=shared",
    shapes_layout: false,
};

pub(crate) const PAGE_SIZE: Setting = Setting {
    name: "page_size",
    kind: SettingKind::Bytes {
        min: 512,
        max: 65_536,
        power_of_two: true,
    },
    default: "4096",
    help: "size of a database page",
    shapes_layout: true,
};

pub(crate) const CACHE: Setting = Setting {
    name: "cache",
    kind: SettingKind::Bytes {
        min: 0,
        max: MAX_PAGES * 512,
        power_of_two: false,
    },
    default: "2MiB",
    help: "SQLite's own page cache (PRAGMA cache_size, in whole pages)",
    shapes_layout: false,
};

pub(crate) const MMAP: Setting = Setting {
    name: "mmap",
    kind: SettingKind::Bytes {
        min: 0,
        max: MAX_BYTES,
        power_of_two: false,
    },
    default: "0",
    help: "how much of the file is mapped into memory (PRAGMA mmap_size); SQLite caps it near 2 GiB",
    shapes_layout: false,
};

pub(crate) const JOURNAL: Setting = Setting {
    name: "journal",
    kind: SettingKind::Choice(&["delete", "truncate", "persist", "memory", "wal", "off"]),
    default: "delete",
    help: "PRAGMA journal_mode",
    shapes_layout: false,
};

pub(crate) const SYNCHRONOUS: Setting = Setting {
    name: "synchronous",
    kind: SettingKind::Choice(&["off", "normal", "full", "extra"]),
    default: "full",
    help: "PRAGMA synchronous",
    shapes_layout: false,
};

pub(crate) const STATEMENT: Setting = Setting {
    name: "statement",
    kind: SettingKind::Choice(&["once", "each"]),
    default: "once",
    help: "whether statements (or the blob handle) are kept or made anew for each operation",
    shapes_layout: false,
};

/// How values are read and overwritten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Api {
    Sql,
    Blob,
}

/// Whether statements and blob handles outlive an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Statements {
    Once,
    Each,
}

/// Where the database lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Location {
    Disk,
    Memory,
    /// In memory, under a name that further connections of the process open as well.
    Shared,
    Temp,
}

/// The settings that code branches on, typed; the others are pragmas and stay words.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    pub(super) api: Api,
    pub(crate) statements: Statements,
    pub(super) location: Location,
    pub(super) exclusive: bool,
    /// Whether a session reads every row first.
    pub(super) preload: bool,
    /// The table of values.
    pub(super) table: Table,
    /// The definition of the table `kv`: of [`Self::table`], or of another store's.
    pub(super) definition: Cow<'static, str>,
    pub(super) settings: Settings,
}

impl Options {
    pub(super) fn from_settings(settings: &Settings) -> Result<Self> {
        let table = Table::from_settings(settings)?;
        let options = Self {
            api: match settings.word("api") {
                "blob" => Api::Blob,
                _ => Api::Sql,
            },
            statements: match settings.word("statement") {
                "each" => Statements::Each,
                _ => Statements::Once,
            },
            location: match settings.word("location") {
                "memory" => Location::Memory,
                "shared" => Location::Shared,
                "temp" => Location::Temp,
                _ => Location::Disk,
            },
            exclusive: settings.word("locking") == "exclusive",
            preload: settings.flag("preload"),
            table,
            definition: table.definition().into(),
            settings: settings.clone(),
        };
        options.check_api()?;
        if options.journal() == "wal" && options.location != Location::Disk {
            return Err(StoreError::unsupported(
                STORE,
                format!(
                    "combine journal=wal with location={}",
                    settings.word("location")
                ),
                "only a database on disk has a write-ahead log; use location=disk or another journal",
            ));
        }
        Ok(options)
    }

    fn check_api(&self) -> Result<()> {
        let table = self.table;
        let (what, instead) = match self.api {
            Api::Blob if table.columns > 1 => ("columns above 1", "columns=1"),
            Api::Blob if table.text => ("column_type=text", "column_type=blob"),
            Api::Blob if table.key == KeyForm::Text => ("key=text", "key=integer"),
            Api::Blob | Api::Sql => return Ok(()),
        };
        Err(StoreError::unsupported(
            STORE,
            format!("combine api=blob with {what}"),
            format!(
                "a blob handle is for the bytes of one column in a row that has a number; use api=sql or {instead}"
            ),
        ))
    }

    /// Of a database that is part of another store. What that store has no setting for is as it is
    /// by default here.
    pub(crate) fn of_part(settings: &Settings) -> Result<Self> {
        let mut all = Settings::default();
        for setting in SETTINGS {
            let default = setting.parse(setting.default).ok();
            if let Some(value) = settings.get(setting.name).cloned().or(default) {
                all.set(setting.name, value);
            }
        }
        Self::from_settings(&all)
    }

    /// The same with another table, whose statements are the other store's.
    pub(crate) fn with_table(self, definition: &'static str) -> Self {
        Self {
            definition: definition.into(),
            ..self
        }
    }

    /// Whether a transaction can be undone, and so be tried again after a conflict.
    pub(crate) fn undoes(&self) -> bool {
        self.journal() != "off"
    }

    /// How long a connection waits for another's lock.
    pub(crate) fn busy_timeout(&self) -> Duration {
        Duration::from_millis(self.settings.number(BUSY_TIMEOUT.name))
    }

    pub(super) fn journal(&self) -> &str {
        self.settings.word("journal")
    }

    pub(super) fn synchronous(&self) -> &str {
        self.settings.word("synchronous")
    }

    /// See docs/method.md, "Durability classes".
    pub(crate) fn durability(&self) -> DurabilityClaim {
        if self.location != Location::Disk {
            return claim(Durability::None, false);
        }
        match (self.journal(), self.synchronous()) {
            ("off" | "memory", _) => claim(Durability::None, false),
            (_, "off") => claim(Durability::ProcessCrash, true),
            ("wal", "normal") => claim(Durability::Consistent, true),
            ("wal", _) => claim(Durability::Durable, true),
            // The truncation that ends a transaction is not synced, and may reach the disk
            // before the database does: 30 of 400 sampled crash states were corrupt.
            ("truncate", "normal") => claim(Durability::ProcessCrash, true),
            // The journal's unlink is not synced: it may come back and undo the commit.
            ("delete", "full") | (_, "normal") => claim(Durability::Consistent, true),
            _ => claim(Durability::Durable, true),
        }
    }

    /// The fewest syncs of a commit, as `tests/declared_syncs.rs` counts them. Checkpoints, which
    /// only some commits make, are left out.
    pub(super) fn syncs_per_commit(&self) -> u32 {
        let (journal, synchronous) = (self.journal(), self.synchronous());
        match (journal, synchronous) {
            _ if self.location != Location::Disk => 0,
            (_, "off") | ("wal", "normal") => 0,
            // The log alone, or the database alone.
            ("wal" | "memory" | "off", _) => 1,
            _ => {
                let full = synchronous != "normal";
                // Its records, then the header that counts them; both at once with NORMAL.
                let records = if full { 2 } else { 1 };
                // The directory, whenever the journal is opened; exclusive locking keeps it open.
                let name = u32::from(!self.exclusive);
                let database = 1;
                let end = match journal {
                    "truncate" => full,
                    // Exclusive locking zeroes the header instead of deleting the journal.
                    "delete" => self.exclusive || synchronous == "extra",
                    _ => true,
                };
                records + name + database + u32::from(end)
            }
        }
    }
}

fn claim(class: Durability, atomic: bool) -> DurabilityClaim {
    DurabilityClaim {
        class,
        atomic,
        delayed: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn durability(journal: &str, synchronous: &str) -> String {
        let mut settings = Settings::resolve(SETTINGS, &Default::default()).unwrap();
        settings.set("journal", stowplan_model::Value::Word(journal.to_owned()));
        settings.set(
            "synchronous",
            stowplan_model::Value::Word(synchronous.to_owned()),
        );
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
        for journal in ["delete", "persist", "wal"] {
            assert_eq!(durability(journal, "normal"), "consistent, atomic");
        }
        assert_eq!(durability("truncate", "normal"), "process-crash, atomic");
    }
}
