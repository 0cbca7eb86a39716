//! The settings of the store, and what they mean to persy.

use persy::{Config, TransactionConfig};
use stowplan_model::{Durability, DurabilityClaim, Setting, SettingKind, Settings};
use stowplan_stores::KEY_FORM;

/// What Cargo.toml asks for, exactly: persy does not tell its version itself.
pub(crate) const ENGINE_VERSION: &str = "1.8.1";

pub(crate) const SETTINGS: &[Setting] = &[
    KEY_FORM,
    Setting {
        name: "cache",
        kind: SettingKind::Bytes {
            min: 0,
            max: 1 << 40,
            power_of_two: false,
        },
        default: "33554432",
        help: "page cache (Config::change_cache_size)",
        shapes_layout: false,
    },
    Setting {
        name: "sync",
        kind: SettingKind::Choice(&["commit", "background"]),
        default: "commit",
        help: "commit waits for an fsync, or leaves it to another thread (set_background_sync)",
        shapes_layout: false,
    },
];

/// The settings, understood.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options {
    cache: u64,
    background: bool,
}

impl Options {
    pub(crate) fn from_settings(settings: &Settings) -> Self {
        Self {
            cache: settings.number("cache"),
            background: settings.word("sync") == "background",
        }
    }

    /// See docs/engines.md: what a commit syncs is its intent. That it was carried out is recorded
    /// without a sync, and may reach the disk before what was carried out does.
    pub(crate) fn durability(self) -> DurabilityClaim {
        DurabilityClaim {
            class: Durability::ProcessCrash,
            atomic: true,
            delayed: false,
        }
    }

    pub(crate) fn syncs_per_commit(self) -> u32 {
        u32::from(!self.background)
    }

    pub(crate) fn of_database(self) -> Config {
        let mut config = Config::new();
        config.change_cache_size(self.cache);
        config
    }

    pub(crate) fn of_transactions(self) -> TransactionConfig {
        TransactionConfig::new().set_background_sync(self.background)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_that_is_named_is_the_one_that_is_built_in() {
        let lock = include_str!("../../Cargo.lock");
        let entry = lock.split("name = \"persy\"").nth(1).unwrap_or_default();
        let version = entry.lines().nth(1).unwrap_or_default();
        assert_eq!(version, format!("version = \"{ENGINE_VERSION}\""));
    }
}
