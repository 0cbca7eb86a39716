//! The settings of LMDB, typed, and what they promise.

use super::STORE;
use crate::{KEY_FORM, Result, StoreError};
use ::heed::EnvFlags;
use stowplan_model::{Durability, DurabilityClaim, Setting, SettingKind, Settings, Value};

pub(super) const SETTINGS: &[Setting] = &[
    KEY_FORM,
    Setting {
        name: "database",
        kind: SettingKind::Choice(&["unnamed", "named"]),
        default: "unnamed",
        help: "the environment's own database, or a named one in it: a page more per commit, and it can be dropped",
        shapes_layout: true,
    },
    Setting {
        name: "sync",
        kind: SettingKind::Choice(&["full", "no-meta", "none", "map-async"]),
        default: "full",
        help: "what a commit syncs: data and meta page, data (NOMETASYNC), nothing (NOSYNC), or asynchronously (MAPASYNC)",
        shapes_layout: false,
    },
    Setting {
        name: "write_map",
        kind: SettingKind::Flag,
        default: "off",
        help: "write into the memory map instead of by pwrite (WRITEMAP)",
        shapes_layout: false,
    },
    Setting {
        name: "read_ahead",
        kind: SettingKind::Flag,
        default: "on",
        help: "whether the system reads ahead of a page fault (off: NORDAHEAD)",
        shapes_layout: false,
    },
    Setting {
        name: "map_size",
        // Mappings end on a page of the system, whatever its size.
        kind: SettingKind::Bytes {
            min: 64 << 20,
            max: 1 << 46,
            power_of_two: true,
        },
        default: "64GiB",
        help: "the most that the database can hold: addresses, not memory or disk space",
        shapes_layout: false,
    },
];

/// What a commit syncs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sync {
    Full,
    NoMeta,
    None,
    MapAsync,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Options {
    /// Whether the values are in a database with a name, in the unnamed one.
    pub(super) named: bool,
    sync: Sync,
    pub(super) write_map: bool,
    read_ahead: bool,
    pub(super) map_size: usize,
}

impl Options {
    /// # Errors
    /// Settings that exclude each other.
    pub(super) fn from_settings(settings: &Settings) -> Result<Self> {
        let options = Self {
            named: settings.word("database") == "named",
            sync: match settings.word("sync") {
                "no-meta" => Sync::NoMeta,
                "none" => Sync::None,
                "map-async" => Sync::MapAsync,
                _ => Sync::Full,
            },
            write_map: settings.flag("write_map"),
            read_ahead: settings.flag("read_ahead"),
            map_size: usize::try_from(settings.number("map_size")).unwrap_or(usize::MAX),
        };
        if options.sync == Sync::MapAsync && !options.write_map {
            return Err(StoreError::unsupported(
                STORE,
                "sync the map without writing to it",
                "with sync=map-async, set write_map=on",
            ));
        }
        Ok(options)
    }

    /// What lmdb.h says of the flags.
    pub(super) fn durability(&self) -> DurabilityClaim {
        DurabilityClaim {
            class: match self.sync {
                Sync::Full => Durability::Durable,
                // The last transaction may be undone.
                Sync::NoMeta => Durability::Consistent,
                // Pages may reach the disk in any order.
                Sync::None | Sync::MapAsync => Durability::ProcessCrash,
            },
            atomic: true,
            delayed: false,
        }
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
        "none"
    } else if flags.contains(EnvFlags::MAP_ASYNC) {
        "map-async"
    } else if flags.contains(EnvFlags::NO_META_SYNC) {
        "no-meta"
    } else {
        "full"
    };
    let mut settings = Settings::default();
    settings.set("sync", Value::Word(sync.to_owned()));
    let write_map = flags.contains(EnvFlags::WRITE_MAP);
    settings.set("write_map", Value::Flag(write_map));
    let read_ahead = !flags.contains(EnvFlags::NO_READ_AHEAD);
    settings.set("read_ahead", Value::Flag(read_ahead));
    settings
}
