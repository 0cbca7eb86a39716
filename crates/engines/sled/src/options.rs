//! The settings of the store, and what they mean to sled.

use sled::{Config, Db, Mode};
use std::path::Path;
use stowplan_model::{Durability, DurabilityClaim, Setting, SettingKind, Settings, Value};
use stowplan_stores::KEY_FORM;

/// What Cargo.toml asks for, exactly: sled does not tell its version itself.
pub(crate) const ENGINE_VERSION: &str = "0.34.7";

pub(crate) const SETTINGS: &[Setting] = &[
    KEY_FORM,
    Setting {
        name: "cache",
        kind: SettingKind::Bytes {
            min: 1 << 20,
            max: 1 << 40,
            power_of_two: false,
        },
        default: "33554432",
        help: "page cache (cache_capacity; sled itself has 1 GiB); sled uses more than that",
        shapes_layout: false,
    },
    Setting {
        name: "flush",
        kind: SettingKind::Choice(&["background", "commit"]),
        default: "background",
        help: "what a commit does: leaves its bytes in memory, or writes them to the log (flush)",
        shapes_layout: false,
    },
    Setting {
        name: "flush_ms",
        kind: SettingKind::Integer {
            min: 1,
            max: 86_400_000,
        },
        default: "500",
        help: "how often a thread of sled's writes and syncs what is in memory (flush_every_ms)",
        shapes_layout: false,
    },
    Setting {
        name: "mode",
        kind: SettingKind::Choice(&["low-space", "high-throughput"]),
        default: "low-space",
        help: "whether the log is rewritten more often to take less space (Mode)",
        shapes_layout: true,
    },
];

/// The settings, understood.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options {
    cache: u64,
    /// Whether each commit is written to the log.
    pub(crate) flush: bool,
    flush_ms: u64,
    mode: Mode,
}

impl Options {
    pub(crate) fn from_settings(settings: &Settings) -> Self {
        Self {
            cache: settings.number("cache"),
            flush: settings.word("flush") == "commit",
            flush_ms: settings.number("flush_ms"),
            mode: match settings.word("mode") {
                "high-throughput" => Mode::HighThroughput,
                _ => Mode::LowSpace,
            },
        }
    }

    /// See docs/engines.md: sled syncs its log by `sync_file_range`, which neither empties the cache
    /// of the disk nor writes what the file system notes about the file; large values, which have
    /// files of their own, it does not sync at all.
    pub(crate) fn durability(self) -> DurabilityClaim {
        DurabilityClaim {
            class: Durability::ProcessCrash,
            atomic: true,
            delayed: !self.flush,
        }
    }

    pub(crate) fn syncs_per_commit(self) -> u32 {
        u32::from(self.flush)
    }

    pub(crate) fn of_database(self, path: &Path) -> Config {
        Config::new()
            .path(path)
            .cache_capacity(self.cache)
            .mode(self.mode)
            .flush_every_ms(Some(self.flush_ms))
    }
}

/// As the database has them. Whether a commit is flushed is said anew with each, so nothing but
/// this program knows it.
pub(crate) fn effective(database: &Db) -> Settings {
    let config = &database.context;
    let mut effective = Settings::default();
    effective.set("cache", Value::Number(config.cache_capacity));
    if let Some(flush_ms) = config.flush_every_ms {
        effective.set("flush_ms", Value::Number(flush_ms));
    }
    let mode = match config.mode {
        Mode::LowSpace => "low-space",
        Mode::HighThroughput => "high-throughput",
    };
    effective.set("mode", Value::Word(mode.to_owned()));
    effective
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_that_is_named_is_the_one_that_is_built_in() {
        let lock = include_str!("../../Cargo.lock");
        let entry = lock.split("name = \"sled\"").nth(1).unwrap_or_default();
        let version = entry.lines().nth(1).unwrap_or_default();
        assert_eq!(version, format!("version = \"{ENGINE_VERSION}\""));
    }
}
