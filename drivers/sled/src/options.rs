//! The settings of the store, and what they mean to sled.

use sled::{Config, Db, Mode};
use std::path::Path;
use stowplan_model::{Durability, DurabilityClaim, Settings};
use stowplan_stores::options::{OptionValue as _, bytes, number};
use stowplan_stores::{KEY_FORM, KeyForm, choice, options};

/// What Cargo.toml asks for, exactly: sled does not tell its version itself.
pub(crate) const ENGINE_VERSION: &str = "0.34.7";

choice! {
    /// What a commit does with its bytes.
    pub(crate) enum Flush {
        Background = "background",
        Commit = "commit",
    }
}

choice! {
    /// How often the log is rewritten.
    pub(crate) enum LogMode {
        LowSpace = "low-space",
        HighThroughput = "high-throughput",
    }
}

options! {
    /// The settings, typed.
    pub(crate) struct Options {
        pub(crate) key: KeyForm = KEY_FORM,
        cache: u64 = bytes(
            1 << 20,
            1 << 40,
            "33554432",
            "page cache (cache_capacity; sled itself has 1 GiB); sled uses more than that",
        ),
        pub(crate) flush: Flush = Flush::setting(
            Flush::Background,
            "what a commit does: leaves its bytes in memory, or writes them to the log (flush)",
        ),
        flush_ms: u64 = number(
            1,
            86_400_000,
            "500",
            "how often a thread of sled's writes and syncs what is in memory (flush_every_ms)",
        ),
        mode: LogMode = LogMode::setting(
            LogMode::LowSpace,
            "whether the log is rewritten more often to take less space (Mode)",
        )
        .shapes_layout(),
    }
}

impl Options {
    /// See docs/engines.md: sled syncs its log by `sync_file_range`, which neither empties the cache
    /// of the disk nor writes what the file system notes about the file; large values, which have
    /// files of their own, it does not sync at all.
    pub(crate) fn durability(self) -> DurabilityClaim {
        DurabilityClaim {
            class: Durability::ProcessCrash,
            atomic: true,
            delayed: self.flush == Flush::Background,
        }
    }

    pub(crate) fn syncs_per_commit(self) -> u32 {
        u32::from(self.flush == Flush::Commit)
    }

    pub(crate) fn of_database(self, path: &Path) -> Config {
        let mode = match self.mode {
            LogMode::LowSpace => Mode::LowSpace,
            LogMode::HighThroughput => Mode::HighThroughput,
        };
        Config::new()
            .path(path)
            .cache_capacity(self.cache)
            .mode(mode)
            .flush_every_ms(Some(self.flush_ms))
    }
}

/// As the database has them. Whether a commit is flushed is said anew with each, so nothing but
/// this program knows it.
pub(crate) fn effective(database: &Db) -> Settings {
    let config = &database.context;
    let mut effective = Settings::default();
    effective.set("cache", config.cache_capacity.value());
    if let Some(flush_ms) = config.flush_every_ms {
        effective.set("flush_ms", flush_ms.value());
    }
    let mode = match config.mode {
        Mode::LowSpace => LogMode::LowSpace,
        Mode::HighThroughput => LogMode::HighThroughput,
    };
    effective.set("mode", mode.value());
    effective
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_that_is_named_is_the_one_that_is_built_in() {
        let manifest = include_str!("../Cargo.toml");
        assert!(manifest.contains(&format!("\"={ENGINE_VERSION}\"")));
    }
}
