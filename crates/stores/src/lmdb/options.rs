//! The settings of LMDB, typed, and what they promise.

use crate::options::{OptionValue as _, bytes, flag, refuse};
use crate::store::claim;
use crate::{KEY_FORM, KeyForm, Result, choice, options};
use ::heed::EnvFlags;
use stowplan_model::{Durability, DurabilityClaim, Settings};

choice! {
    /// Which database of the environment has the values.
    pub(crate) enum DatabaseName {
        Unnamed = "unnamed",
        Named = "named",
    }
}

choice! {
    /// What a commit syncs.
    pub(crate) enum Sync {
        Full = "full",
        NoMeta = "no-meta",
        None = "none",
        MapAsync = "map-async",
    }
}

options! {
    /// The settings, typed.
    pub(crate) struct Options if Self::go_together {
        pub(super) key: KeyForm = KEY_FORM,
        database: DatabaseName = DatabaseName::setting(
            DatabaseName::Unnamed,
            "the environment's own database, or a named one in it: a page more per commit, and it can be dropped",
        )
        .shapes_layout(),
        sync: Sync = Sync::setting(
            Sync::Full,
            "what a commit syncs: data and meta page, data (NOMETASYNC), nothing (NOSYNC), or asynchronously (MAPASYNC)",
        ),
        pub(super) write_map: bool =
            flag(false, "write into the memory map instead of by pwrite (WRITEMAP)"),
        read_ahead: bool =
            flag(true, "whether the system reads ahead of a page fault (off: NORDAHEAD)"),
        pub(super) append: bool = flag(
            false,
            "whether a value is put behind the last one without a search for its place, as far as keys rise (MDB_APPEND): for loading in order; pages stay full",
        )
        .shapes_layout(),
        // Mappings end on a page of the system, whatever its size.
        pub(super) map_size: usize = bytes(
            64 << 20,
            1 << 46,
            "64GiB",
            "the most that the database can hold: addresses, not memory or disk space",
        )
        .power_of_two(),
    }
}

impl Options {
    fn go_together(&self) -> Result<()> {
        refuse! {
            self.sync == Sync::MapAsync && !self.write_map => "sync the map without writing to it",
                "with sync=map-async, set write_map=on";
        }
        Ok(())
    }

    /// Whether the values are in a database with a name.
    pub(super) fn is_named(&self) -> bool {
        self.database == DatabaseName::Named
    }

    /// What lmdb.h says of the flags.
    pub(super) fn durability(&self) -> DurabilityClaim {
        let class = match self.sync {
            Sync::Full => Durability::Durable,
            // The last transaction may be undone.
            Sync::NoMeta => Durability::Consistent,
            // Pages may reach the disk in any order.
            Sync::None | Sync::MapAsync => Durability::ProcessCrash,
        };
        claim(class, true)
    }

    /// Without a writable map, the meta page is written to a descriptor that was opened with
    /// `O_DSYNC`, which is no call of its own. Asynchronous ones count: they are calls of `msync`.
    pub(super) fn syncs_per_commit(&self) -> u32 {
        match (self.sync, self.write_map) {
            (Sync::None, _) => 0,
            (Sync::NoMeta, _) | (Sync::Full, false) => 1,
            (Sync::Full | Sync::MapAsync, _) => 2,
        }
    }

    pub(super) fn flags(&self) -> EnvFlags {
        let sync = match self.sync {
            Sync::Full => EnvFlags::empty(),
            Sync::NoMeta => EnvFlags::NO_META_SYNC,
            Sync::None => EnvFlags::NO_SYNC,
            Sync::MapAsync => EnvFlags::MAP_ASYNC,
        };
        let when = |on: bool, flag| if on { flag } else { EnvFlags::empty() };
        sync | when(self.write_map, EnvFlags::WRITE_MAP)
            | when(!self.read_ahead, EnvFlags::NO_READ_AHEAD)
    }
}

/// The settings that are among these flags.
pub(super) fn settings_of(flags: EnvFlags) -> Settings {
    let sync = if flags.contains(EnvFlags::NO_SYNC) {
        Sync::None
    } else if flags.contains(EnvFlags::MAP_ASYNC) {
        Sync::MapAsync
    } else if flags.contains(EnvFlags::NO_META_SYNC) {
        Sync::NoMeta
    } else {
        Sync::Full
    };
    let mut settings = Settings::default();
    settings.set("sync", sync.value());
    settings.set("write_map", flags.contains(EnvFlags::WRITE_MAP).value());
    let read_ahead = !flags.contains(EnvFlags::NO_READ_AHEAD);
    settings.set("read_ahead", read_ahead.value());
    settings
}
