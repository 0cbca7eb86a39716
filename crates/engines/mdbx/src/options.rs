//! The settings of the store, and what they mean to libmdbx.

use crate::STORE;
use crate::engine::{Info, Sync};
use stowplan_model::{Durability, DurabilityClaim, Setting, SettingKind, Settings, Value};
use stowplan_stores::{KEY_FORM, Result, StoreError};

const MIB: u64 = 1 << 20;

pub(crate) const SETTINGS: &[Setting] = &[
    KEY_FORM,
    Setting {
        name: "durability",
        kind: SettingKind::Choice(&["durable", "no-meta", "safe-no-sync", "utterly-no-sync"]),
        default: "durable",
        help: "what a commit waits for: data and meta page on the disk, the data, or nothing; \
               utterly-no-sync keeps no state that a power loss leaves whole",
        shapes_layout: false,
    },
    Setting {
        name: "writemap",
        kind: SettingKind::Flag,
        default: "off",
        help: "write into the mapping instead of by system calls (MDBX_WRITEMAP)",
        shapes_layout: false,
    },
    Setting {
        name: "page_size",
        kind: SettingKind::Bytes {
            min: 256,
            max: 65_536,
            power_of_two: true,
        },
        default: "4096",
        help: "size of the pages; values of more than half a page get pages of their own",
        shapes_layout: true,
    },
    Setting {
        name: "readahead",
        kind: SettingKind::Flag,
        default: "on",
        help: "let the system read ahead of what is touched (off: MDBX_NORDAHEAD)",
        shapes_layout: false,
    },
    Setting {
        name: "growth",
        kind: SettingKind::Bytes {
            min: MIB,
            max: 4 * MIB,
            power_of_two: false,
        },
        default: "4194304",
        help: "step by which the file grows (mdbx_env_set_geometry), rounded up to pages",
        shapes_layout: true,
    },
    Setting {
        name: "max_size",
        kind: SettingKind::Bytes {
            min: 64 * MIB,
            max: 1 << 44,
            power_of_two: false,
        },
        default: "68719476736",
        help: "most bytes of the database: address space, taken when it is opened",
        shapes_layout: false,
    },
];

/// Most pages of a database (MAX_PAGENO in libmdbx's source).
const MOST_PAGES: u64 = 0x7fff_ffff;

/// The settings, understood.
pub(crate) struct Options {
    pub(crate) sync: Sync,
    pub(crate) write_map: bool,
    pub(crate) read_ahead: bool,
    pub(crate) page_size: u32,
    pub(crate) growth: u64,
    pub(crate) max_size: u64,
}

impl Options {
    pub(crate) fn from_settings(settings: &Settings) -> Result<Self> {
        let page_size = settings.number("page_size");
        let max_size = settings.number("max_size");
        if max_size > page_size * MOST_PAGES {
            return Err(StoreError::unsupported(
                STORE,
                format!("have {max_size} bytes of pages of {page_size}"),
                format!("use max_size={} at most", page_size * MOST_PAGES),
            ));
        }
        Ok(Self {
            sync: match settings.word("durability") {
                "no-meta" => Sync::NoMeta,
                "safe-no-sync" => Sync::Safe,
                "utterly-no-sync" => Sync::Utterly,
                _ => Sync::Durable,
            },
            write_map: settings.flag("writemap"),
            read_ahead: settings.flag("readahead"),
            page_size: u32::try_from(page_size).unwrap_or(4096),
            growth: settings.number("growth"),
            max_size,
        })
    }

    /// See docs/engines.md.
    pub(crate) fn durability(&self) -> DurabilityClaim {
        DurabilityClaim {
            class: match self.sync {
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
        match self.sync {
            // Without a mapping to write into, the meta page is written through, without a call.
            Sync::Durable => 1 + u32::from(self.write_map),
            Sync::NoMeta => 1,
            Sync::Safe | Sync::Utterly => 0,
        }
    }
}

/// As libmdbx says that it has them.
pub(crate) fn effective(info: &Info) -> Settings {
    let mut effective = Settings::default();
    let durability = match info.sync {
        Sync::Durable => "durable",
        Sync::NoMeta => "no-meta",
        Sync::Safe => "safe-no-sync",
        Sync::Utterly => "utterly-no-sync",
    };
    effective.set("durability", Value::Word(durability.to_owned()));
    effective.set("writemap", Value::Flag(info.write_map));
    effective.set("page_size", Value::Number(info.page_size));
    effective.set("readahead", Value::Flag(info.read_ahead));
    effective.set("growth", Value::Number(info.growth));
    effective.set("max_size", Value::Number(info.max_size));
    effective
}
