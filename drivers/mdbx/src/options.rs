//! The settings of the store, and what they mean to libmdbx.

use stowplan_model::{Durability, DurabilityClaim, Settings};
use stowplan_stores::options::{OptionValue as _, bytes, flag};
use stowplan_stores::{KEY_FORM, KeyForm, Result, StoreError, choice, options};

const MIB: u64 = 1 << 20;

/// Most pages of a database (MAX_PAGENO in libmdbx's source).
const MOST_PAGES: u64 = 0x7fff_ffff;

choice! {
    /// What a commit waits for.
    pub(crate) enum Sync {
        Durable = "durable",
        NoMeta = "no-meta",
        Safe = "safe-no-sync",
        Utterly = "utterly-no-sync",
    }
}

options! {
    /// The settings, typed.
    pub(crate) struct Options if Self::go_together {
        pub(crate) key: KeyForm = KEY_FORM,
        pub(crate) durability: Sync = Sync::setting(
            Sync::Durable,
            "what a commit waits for: data and meta page on the disk, the data, or nothing; \
             utterly-no-sync keeps no state that a power loss leaves whole",
        ),
        pub(crate) writemap: bool = flag(
            false,
            "write into the mapping instead of by system calls (MDBX_WRITEMAP)",
        ),
        pub(crate) page_size: u32 = bytes(
            256,
            65_536,
            "4096",
            "size of the pages; values of more than half a page get pages of their own",
        )
        .power_of_two()
        .shapes_layout(),
        pub(crate) readahead: bool = flag(
            true,
            "let the system read ahead of what is touched (off: MDBX_NORDAHEAD)",
        ),
        pub(crate) growth: u64 = bytes(
            MIB,
            4 * MIB,
            "4194304",
            "step by which the file grows (mdbx_env_set_geometry), rounded up to pages",
        )
        .shapes_layout(),
        pub(crate) max_size: u64 = bytes(
            64 * MIB,
            1 << 44,
            "68719476736",
            "most bytes of the database: address space, taken when it is opened",
        ),
    }
}

impl Options {
    fn go_together(&self) -> Result<()> {
        let most = u64::from(self.page_size) * MOST_PAGES;
        if self.max_size <= most {
            return Ok(());
        }
        Err(StoreError::unsupported(
            format!(
                "have {} bytes of pages of {}",
                self.max_size, self.page_size
            ),
            format!("use max_size={most} at most"),
        ))
    }

    /// See docs/engines.md.
    pub(crate) fn durability(&self) -> DurabilityClaim {
        DurabilityClaim {
            class: match self.durability {
                Sync::Durable => Durability::Durable,
                Sync::NoMeta | Sync::Safe => Durability::Consistent,
                Sync::Utterly => Durability::ProcessCrash,
            },
            atomic: true,
            delayed: false,
        }
    }

    /// As the tests of this crate count them.
    pub(crate) fn syncs_per_commit(&self) -> u32 {
        match self.durability {
            // Without a mapping to write into, the meta page is written through, without a call.
            Sync::Durable => 1 + u32::from(self.writemap),
            Sync::NoMeta => 1,
            Sync::Safe | Sync::Utterly => 0,
        }
    }
}

/// The settings as the engine has them.
pub(crate) struct Effective {
    pub(crate) sync: Sync,
    pub(crate) write_map: bool,
    pub(crate) read_ahead: bool,
    pub(crate) page_size: u64,
    pub(crate) growth: u64,
    pub(crate) max_size: u64,
}

/// As libmdbx says that it has them.
pub(crate) fn effective(info: &Effective) -> Settings {
    let mut effective = Settings::default();
    effective.set("durability", info.sync.value());
    effective.set("writemap", info.write_map.value());
    effective.set("page_size", info.page_size.value());
    effective.set("readahead", info.read_ahead.value());
    effective.set("growth", info.growth.value());
    effective.set("max_size", info.max_size.value());
    effective
}
