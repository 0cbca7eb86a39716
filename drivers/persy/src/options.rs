//! The settings of the store, and what they mean to persy.

use persy::{Config, TransactionConfig};
use stowplan_model::{Durability, DurabilityClaim};
use stowplan_stores::options::bytes;
use stowplan_stores::{KEY_FORM, KeyForm, choice, options};

/// What Cargo.toml asks for, exactly: persy does not tell its version itself.
pub(crate) const ENGINE_VERSION: &str = "1.8.1";

choice! {
    /// Who syncs what a commit wrote.
    pub(crate) enum Sync {
        Commit = "commit",
        Background = "background",
    }
}

options! {
    /// The settings, typed.
    pub(crate) struct Options {
        pub(crate) key: KeyForm = KEY_FORM,
        cache: u64 = bytes(0, 1 << 40, "33554432", "page cache (Config::change_cache_size)"),
        sync: Sync = Sync::setting(
            Sync::Commit,
            "commit waits for an fsync, or leaves it to another thread (set_background_sync)",
        ),
    }
}

impl Options {
    /// See docs/engines.md: what a commit syncs is its intent. That it was carried out is recorded
    /// without a sync, and may reach the disk before what was carried out does.
    pub(crate) fn durability(self) -> DurabilityClaim {
        DurabilityClaim {
            class: Durability::ProcessCrash,
            atomic: true,
            delayed: false,
        }
    }

    fn syncs_in_background(self) -> bool {
        match self.sync {
            Sync::Commit => false,
            Sync::Background => true,
        }
    }

    pub(crate) fn syncs_per_commit(self) -> u32 {
        u32::from(!self.syncs_in_background())
    }

    pub(crate) fn of_database(self) -> Config {
        let mut config = Config::new();
        config.change_cache_size(self.cache);
        config
    }

    pub(crate) fn of_transactions(self) -> TransactionConfig {
        TransactionConfig::new().set_background_sync(self.syncs_in_background())
    }
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
