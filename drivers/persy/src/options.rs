//! The settings of the store, and what they mean to persy.

use persy::Config;
use stowplan_model::{Durability, DurabilityClaim};
use stowplan_stores::options::bytes;
use stowplan_stores::{KEY_FORM, KeyForm, options};

/// What Cargo.toml asks for, exactly: persy does not tell its version itself.
pub(crate) const ENGINE_VERSION: &str = "1.8.1";

options! {
    /// The settings, typed.
    pub(crate) struct Options {
        pub(crate) key: KeyForm = KEY_FORM,
        cache: u64 = bytes(0, 1 << 40, "33554432", "page cache (Config::change_cache_size)"),
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

    pub(crate) fn of_database(self) -> Config {
        let mut config = Config::new();
        config.change_cache_size(self.cache);
        config
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
