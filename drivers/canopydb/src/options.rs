//! The settings of the store, and what they mean to canopydb.

use crate::STORE;
use canopydb::{DbOptions, EnvOptions, TreeOptions};
use std::path::Path;
use stowplan_model::{Durability, DurabilityClaim, Settings};
use stowplan_stores::options::{OptionValue as _, bytes, flag};
use stowplan_stores::{KEY_FORM, KeyForm, Result, StoreError, choice, options};

/// What Cargo.toml asks for, exactly: canopydb does not tell its version itself.
pub(crate) const ENGINE_VERSION: &str = "0.2.5";

const MIB: u64 = 1 << 20;

choice! {
    /// How values are compressed.
    pub(crate) enum Compression {
        Lz4 = "lz4",
        None = "none",
    }
}

options! {
    /// The settings, typed.
    pub(crate) struct Options if Self::go_together {
        pub(crate) key: KeyForm = KEY_FORM,
        cache: usize = bytes(
            MIB,
            1 << 40,
            "33554432",
            "page cache (page_cache_size; canopydb itself has 1 GiB); pages that are not yet in \
             the file come on top",
        ),
        sync: bool = flag(
            false,
            "whether a commit waits until the log is on the disk (commit_with)",
        ),
        pub(crate) wal: bool = flag(
            true,
            "whether there is a write-ahead log; off: new values are lost with the process \
             (use_wal)",
        ),
        checkpoint: usize = bytes(
            MIB,
            256 * MIB,
            "67108864",
            "changed pages in memory before they are written to the file \
             (checkpoint_target_size)",
        )
        .shapes_layout(),
        compression: Compression = Compression::setting(
            Compression::Lz4,
            "lz4 as canopydb has it: values of more than 12 KiB (compress_overflow_values)",
        )
        .shapes_layout(),
    }
}

impl Options {
    fn go_together(&self) -> Result<()> {
        if !self.sync || self.wal {
            return Ok(());
        }
        Err(StoreError::unsupported(
            STORE,
            "combine sync=on with wal=off",
            "only a log can be synced; use wal=on",
        ))
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

    pub(crate) fn of_environment(self, path: &Path) -> EnvOptions {
        let mut options = EnvOptions::new(path);
        options.page_cache_size = self.cache;
        options
    }

    pub(crate) fn of_database(self) -> DbOptions {
        let mut options = DbOptions::default();
        options.use_wal = self.wal;
        options.default_commit_sync = self.sync;
        options.checkpoint_target_size = self.checkpoint;
        options
    }

    pub(crate) fn of_tree(self) -> TreeOptions {
        let mut options = TreeOptions::default();
        match self.compression {
            Compression::Lz4 => {}
            Compression::None => options.compress_overflow_values = None,
        }
        options
    }
}

/// As canopydb says that it has them, in the file of options beside its data. The cache and the
/// compression are not in it.
pub(crate) fn effective(path: &Path) -> Result<Settings> {
    let text = std::fs::read(path).map_err(StoreError::io("read", path))?;
    let failed = |e: serde_json::Error| {
        StoreError::engine(STORE, format!("read {}", path.display()), e.to_string())
    };
    let options: serde_json::Value = serde_json::from_slice(&text).map_err(failed)?;
    let mut effective = Settings::default();
    for (name, option) in [("sync", "default_commit_sync"), ("wal", "use_wal")] {
        if let Some(on) = options[option].as_bool() {
            effective.set(name, on.value());
        }
    }
    if let Some(bytes) = options["checkpoint_target_size"].as_u64() {
        effective.set("checkpoint", bytes.value());
    }
    Ok(effective)
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
