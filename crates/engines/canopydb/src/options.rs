//! The settings of the store, and what they mean to canopydb.

use crate::STORE;
use canopydb::{DbOptions, EnvOptions, TreeOptions};
use std::path::Path;
use stowplan_model::{Durability, DurabilityClaim, Setting, SettingKind, Settings, Value};
use stowplan_stores::{KEY_FORM, Result, StoreError};

/// What Cargo.toml asks for, exactly: canopydb does not tell its version itself.
pub(crate) const ENGINE_VERSION: &str = "0.2.5";

const MIB: u64 = 1 << 20;

pub(crate) const SETTINGS: &[Setting] = &[
    KEY_FORM,
    Setting {
        name: "cache",
        kind: SettingKind::Bytes {
            min: MIB,
            max: 1 << 40,
            power_of_two: false,
        },
        default: "33554432",
        help: "page cache (page_cache_size; canopydb itself has 1 GiB); pages that are not yet in \
               the file come on top",
        shapes_layout: false,
    },
    Setting {
        name: "sync",
        kind: SettingKind::Flag,
        default: "off",
        help: "whether a commit waits until the log is on the disk (commit_with)",
        shapes_layout: false,
    },
    Setting {
        name: "wal",
        kind: SettingKind::Flag,
        default: "on",
        help: "whether there is a write-ahead log; off: new values are lost with the process \
               (use_wal)",
        shapes_layout: false,
    },
    Setting {
        name: "checkpoint",
        kind: SettingKind::Bytes {
            min: MIB,
            max: 256 * MIB,
            power_of_two: false,
        },
        default: "67108864",
        help: "changed pages in memory before they are written to the file \
               (checkpoint_target_size)",
        shapes_layout: true,
    },
    Setting {
        name: "compression",
        kind: SettingKind::Choice(&["lz4", "none"]),
        default: "lz4",
        help: "lz4 as canopydb has it: values of more than 12 KiB (compress_overflow_values)",
        shapes_layout: true,
    },
];

/// The settings, understood.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options {
    cache: u64,
    sync: bool,
    wal: bool,
    checkpoint: u64,
    compressed: bool,
}

/// For sizes that the settings keep below what an address space has.
fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

impl Options {
    pub(crate) fn from_settings(settings: &Settings) -> Result<Self> {
        let options = Self {
            cache: settings.number("cache"),
            sync: settings.flag("sync"),
            wal: settings.flag("wal"),
            checkpoint: settings.number("checkpoint"),
            compressed: settings.word("compression") == "lz4",
        };
        if options.sync && !options.wal {
            return Err(StoreError::unsupported(
                STORE,
                "combine sync=on with wal=off",
                "only a log can be synced; use wal=on",
            ));
        }
        Ok(options)
    }

    /// See docs/engines.md. A commit is one entry of the log, with checksums; and a checkpoint is
    /// valid by a page that is written when all others have been synced.
    pub(crate) fn durability(self) -> DurabilityClaim {
        DurabilityClaim {
            class: if self.sync {
                Durability::Durable
            } else {
                Durability::Consistent
            },
            atomic: true,
            delayed: !self.wal,
        }
    }

    pub(crate) fn syncs_per_commit(self) -> u32 {
        u32::from(self.sync)
    }

    /// Whether what was committed is lost unless there is a checkpoint.
    pub(crate) fn needs_checkpoint(self) -> bool {
        !self.wal
    }

    pub(crate) fn of_environment(self, path: &Path) -> EnvOptions {
        let mut options = EnvOptions::new(path);
        options.page_cache_size = size(self.cache);
        options
    }

    pub(crate) fn of_database(self) -> DbOptions {
        let mut options = DbOptions::default();
        options.use_wal = self.wal;
        options.default_commit_sync = self.sync;
        options.checkpoint_target_size = size(self.checkpoint);
        options
    }

    pub(crate) fn of_tree(self) -> TreeOptions {
        let mut options = TreeOptions::default();
        if !self.compressed {
            options.compress_overflow_values = None;
        }
        options
    }
}

/// As canopydb says that it has them, in the file of options beside its data. The cache and the
/// compression are not in it.
pub(crate) fn effective(path: &Path) -> Result<Settings> {
    let text = std::fs::read(path).map_err(StoreError::io("read", path))?;
    let options: serde_json::Value =
        serde_json::from_slice(&text).map_err(|e| StoreError::Engine {
            store: STORE,
            action: format!("read {}", path.display()),
            detail: e.to_string(),
        })?;
    let mut effective = Settings::default();
    for (name, option) in [("sync", "default_commit_sync"), ("wal", "use_wal")] {
        if let Some(on) = options[option].as_bool() {
            effective.set(name, Value::Flag(on));
        }
    }
    if let Some(bytes) = options["checkpoint_target_size"].as_u64() {
        effective.set("checkpoint", Value::Number(bytes));
    }
    Ok(effective)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_that_is_named_is_the_one_that_is_built_in() {
        let lock = include_str!("../../Cargo.lock");
        let entry = lock.split("name = \"canopydb\"").nth(1).unwrap_or_default();
        let version = entry.lines().nth(1).unwrap_or_default();
        assert_eq!(version, format!("version = \"{ENGINE_VERSION}\""));
    }
}
