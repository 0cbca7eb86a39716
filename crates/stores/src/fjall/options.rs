//! The settings of the store, and what they mean to fjall.

use crate::options::{OptionValue as _, bytes, flag};
use crate::store::claim;
use crate::{KEY_FORM, KeyForm, choice, options};
use ::fjall::config::CompressionPolicy;
use fjall::{CompressionType, KeyspaceCreateOptions, KvSeparationOptions, PersistMode};
use stowplan_model::{Durability, DurabilityClaim, Settings};

/// What Cargo.toml asks for, exactly: fjall does not tell its version itself.
pub(super) const ENGINE_VERSION: &str = "3.1.13";

choice! {
    /// What a commit does with the journal.
    pub(crate) enum Persist {
        Buffer = "buffer",
        SyncData = "sync-data",
        SyncAll = "sync-all",
    }
}

choice! {
    /// How several rows of one statement are added outside a transaction.
    pub(crate) enum Bulk {
        Transaction = "transaction",
        Ingest = "ingest",
    }
}

choice! {
    /// How values are compressed.
    pub(crate) enum Compression {
        Lz4 = "lz4",
        None = "none",
    }
}

options! {
    /// The settings, typed.
    pub(crate) struct Options {
        pub(super) key: KeyForm = KEY_FORM,
        pub(super) cache: u64 = bytes(0, 1 << 40, "33554432", "block cache, for tables and blobs"),
        durability: Persist = Persist::setting(
            Persist::Buffer,
            "what a commit does with the journal (PersistMode): write it, fdatasync, or fsync",
        ),
        bulk: Bulk = Bulk::setting(
            Bulk::Transaction,
            "how several rows of one statement are added, outside a transaction: in one of their own, or straight into tables, past the journal (start_ingestion)",
        ),
        compression: Compression = Compression::setting(
            Compression::Lz4,
            "lz4 as fjall has it: journal entries from 4 KiB on, tables from level 2 on, blobs",
        )
        .shapes_layout(),
        separation: bool = flag(
            false,
            "key-value separation: values of 1 KiB and more lie in blob files, tables point to them",
        )
        .shapes_layout(),
    }
}

impl Options {
    pub(super) fn ingests(&self) -> bool {
        self.bulk == Bulk::Ingest
    }

    /// See docs/engines.md. However it is synced: a batch that was being written when the power went, of which
    /// the beginning and the end are on the disk and a page between them is not, keeps the database from opening.
    /// `stowplan crash fjall:durability=sync-data` finds such states.
    pub(super) fn durability() -> DurabilityClaim {
        claim(Durability::ProcessCrash, true)
    }

    pub(super) fn syncs_per_commit(&self) -> u32 {
        u32::from(self.durability != Persist::Buffer)
    }

    pub(super) fn persist_mode(&self) -> PersistMode {
        match self.durability {
            Persist::Buffer => PersistMode::Buffer,
            Persist::SyncData => PersistMode::SyncData,
            Persist::SyncAll => PersistMode::SyncAll,
        }
    }

    pub(super) fn compression(&self) -> CompressionType {
        match self.compression {
            Compression::Lz4 => CompressionType::Lz4,
            Compression::None => CompressionType::None,
        }
    }

    /// Of a new keyspace.
    pub(super) fn of_keyspace(&self) -> KeyspaceCreateOptions {
        let separate = || KvSeparationOptions::default().compression(self.compression());
        let options =
            KeyspaceCreateOptions::default().with_kv_separation(self.separation.then(separate));
        match self.compression {
            Compression::Lz4 => options,
            Compression::None => {
                options.data_block_compression_policy(CompressionPolicy::disabled())
            }
        }
    }
}

/// As the database and its keyspace have them. How a transaction is run and made to last is said
/// anew with each, so nothing but this program knows it.
pub(super) fn effective(database: &fjall::Database, keyspace: &fjall::Keyspace) -> Settings {
    let options = &keyspace.config;
    let mut effective = Settings::default();
    effective.set("cache", database.cache_capacity().value());
    let compressed = &options.data_block_compression_policy;
    let compression = if compressed.contains(&CompressionType::Lz4) {
        Compression::Lz4
    } else {
        Compression::None
    };
    effective.set("compression", compression.value());
    effective.set("separation", keyspace.is_kv_separated().value());
    effective
}
