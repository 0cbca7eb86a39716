//! The settings of the store, and what they mean to fjall.

use crate::KeyForm;
use ::fjall::config::{BlockSizePolicy, CompressionPolicy};
use fjall::{CompressionType, KeyspaceCreateOptions, KvSeparationOptions, PersistMode};
use stowplan_model::{Durability, DurabilityClaim, Setting, SettingKind, Settings, Value};

/// What Cargo.toml asks for, exactly: fjall does not tell its version itself.
pub(super) const ENGINE_VERSION: &str = "3.1.13";

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

pub(super) const SETTINGS: &[Setting] = &[
    crate::KEY_FORM,
    Setting {
        name: "cache",
        kind: SettingKind::Bytes {
            min: 0,
            max: 1 << 40,
            power_of_two: false,
        },
        default: "33554432",
        help: "block cache, for tables and blobs",
        shapes_layout: false,
    },
    Setting {
        name: "durability",
        kind: SettingKind::Choice(&["buffer", "sync-data", "sync-all"]),
        default: "buffer",
        help: "what a commit does with the journal (PersistMode): write it, fdatasync, or fsync",
        shapes_layout: false,
    },
    Setting {
        name: "transactions",
        kind: SettingKind::Choice(&["single-writer", "optimistic"]),
        default: "single-writer",
        help: "writers wait for each other, or run at the same time and fail if they conflict",
        shapes_layout: false,
    },
    Setting {
        name: "memtable",
        kind: SettingKind::Bytes {
            min: MIB,
            max: 1 << 32,
            power_of_two: false,
        },
        default: "67108864",
        help: "memory for new values before they are written to a table (max_memtable_size)",
        shapes_layout: true,
    },
    Setting {
        name: "block_size",
        kind: SettingKind::Bytes {
            min: KIB,
            max: MIB,
            power_of_two: false,
        },
        default: "4096",
        help: "size of the blocks in tables, before compression; a value is never split",
        shapes_layout: true,
    },
    Setting {
        name: "compression",
        kind: SettingKind::Choice(&["lz4", "none"]),
        default: "lz4",
        help: "lz4 as fjall has it: journal entries from 4 KiB on, tables from level 2 on, blobs",
        shapes_layout: true,
    },
    Setting {
        name: "separation",
        kind: SettingKind::Flag,
        default: "off",
        help: "key-value separation: large values lie in blob files, tables point to them",
        shapes_layout: true,
    },
    Setting {
        name: "separation_threshold",
        kind: SettingKind::Bytes {
            min: 1,
            max: u32::MAX as u64,
            power_of_two: false,
        },
        default: "1024",
        help: "with separation=on: the size from which a value is a large one",
        shapes_layout: true,
    },
];

/// The settings, understood.
pub(super) struct Options {
    pub(super) key: KeyForm,
    pub(super) cache: u64,
    pub(super) persist: PersistMode,
    pub(super) optimistic: bool,
    pub(super) compressed: bool,
    memtable: u64,
    block_size: u32,
    /// The size from which values lie in blob files, if there are such.
    separation: Option<u32>,
}

impl Options {
    pub(super) fn from_settings(settings: &Settings) -> Self {
        let number = |name| u32::try_from(settings.number(name)).unwrap_or(u32::MAX);
        Self {
            key: KeyForm::of(settings),
            cache: settings.number("cache"),
            persist: match settings.word("durability") {
                "sync-all" => PersistMode::SyncAll,
                "sync-data" => PersistMode::SyncData,
                _ => PersistMode::Buffer,
            },
            optimistic: settings.word("transactions") == "optimistic",
            compressed: settings.word("compression") == "lz4",
            memtable: settings.number("memtable"),
            block_size: number("block_size"),
            separation: settings
                .flag("separation")
                .then(|| number("separation_threshold")),
        }
    }

    /// See docs/engines.md. A commit is one batch of the journal, with a checksum at its end: what
    /// a crash cut off is left out when it is read again.
    pub(super) fn durability(&self) -> DurabilityClaim {
        DurabilityClaim {
            class: match self.persist {
                PersistMode::Buffer => Durability::ProcessCrash,
                PersistMode::SyncData | PersistMode::SyncAll => Durability::Durable,
            },
            atomic: true,
            delayed: false,
        }
    }

    pub(super) fn syncs_per_commit(&self) -> u32 {
        u32::from(self.persist != PersistMode::Buffer)
    }

    pub(super) fn journal_compression(&self) -> CompressionType {
        compression(self.compressed)
    }

    /// Of a new keyspace.
    pub(super) fn of_keyspace(&self) -> KeyspaceCreateOptions {
        let options = KeyspaceCreateOptions::default()
            .max_memtable_size(self.memtable)
            .data_block_size_policy(BlockSizePolicy::all(self.block_size))
            .with_kv_separation(self.separation.map(|threshold| {
                KvSeparationOptions::default()
                    .compression(compression(self.compressed))
                    .separation_threshold(threshold)
            }));
        if self.compressed {
            options
        } else {
            options.data_block_compression_policy(CompressionPolicy::disabled())
        }
    }
}

fn compression(on: bool) -> CompressionType {
    if on {
        CompressionType::Lz4
    } else {
        CompressionType::None
    }
}

/// As the database and its keyspace have them. How a transaction is run and made to last is said
/// anew with each, so nothing but this program knows it; nor does fjall tell the memtable's size.
pub(super) fn effective(database: &fjall::Database, keyspace: &fjall::Keyspace) -> Settings {
    let options = &keyspace.config;
    let mut effective = Settings::default();
    effective.set("cache", Value::Number(database.cache_capacity()));
    if let [block_size] = options.data_block_size_policy[..] {
        effective.set("block_size", Value::Number(block_size.into()));
    }
    let compressed = options
        .data_block_compression_policy
        .contains(&CompressionType::Lz4);
    let word = if compressed { "lz4" } else { "none" };
    effective.set("compression", Value::Word(word.to_owned()));
    effective.set("separation", Value::Flag(keyspace.is_kv_separated()));
    if let Some(separation) = &options.kv_separation_opts {
        let threshold = separation.separation_threshold;
        effective.set("separation_threshold", Value::Number(threshold.into()));
    }
    effective
}
