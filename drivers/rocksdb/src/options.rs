//! The settings of the store, and what they mean to RocksDB.

use rocksdb::{BlockBasedOptions, Cache, DBCompressionType, WriteOptions};
use std::path::{Path, PathBuf};
use stowplan_model::{Durability, DurabilityClaim, Settings, Value};
use stowplan_stores::options::{OptionValue as _, bytes, flag, number};
use stowplan_stores::{KEY_FORM, KeyForm, Result, StoreError, choice, options};

/// What the exact version of librocksdb-sys that Cargo.toml leads to is built from.
pub(crate) const ENGINE_VERSION: &str = "11.8.1";

const KIB: u64 = 1 << 10;
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
        cache: usize = bytes(0, 1 << 40, "33554432", "block cache (LRU), for tables and blobs"),
        pub(crate) sync: bool = flag(
            false,
            "whether a commit waits until the log is on the disk (WriteOptions::sync)",
        ),
        wal: bool = flag(
            true,
            "whether there is a write-ahead log; off: new values are lost with the process \
             (WriteOptions::disableWAL)",
        ),
        memtable: usize = bytes(
            MIB,
            1 << 32,
            "67108864",
            "memory for new values before they are written to a table (write_buffer_size)",
        )
        .shapes_layout(),
        block_size: usize = bytes(
            KIB,
            MIB,
            "4096",
            "size of the blocks in tables, before compression; a value is never split",
        )
        .shapes_layout(),
        bloom_bits: u32 = number(
            0,
            32,
            "0",
            "bits per key of a Bloom filter in each table; 0: none, as RocksDB has it",
        )
        .shapes_layout(),
        compression: Compression = Compression::setting(
            Compression::Lz4,
            "of tables and blobs (RocksDB's own default, Snappy, is not built in)",
        )
        .shapes_layout(),
        separation: bool = flag(
            false,
            "BlobDB: large values lie in blob files, tables point to them (enable_blob_files)",
        )
        .shapes_layout(),
        separation_threshold: u64 = bytes(
            1,
            1 << 30,
            "1024",
            "with separation=on: the size from which a value is a large one (min_blob_size)",
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
            "combine sync=on with wal=off",
            "only a log can be synced; use wal=on",
        ))
    }

    /// See docs/engines.md. A commit is one record of the log, with a checksum: what a crash cut
    /// off is left out when it is read again.
    pub(crate) fn durability(&self) -> DurabilityClaim {
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

    pub(crate) fn new_cache(&self) -> Cache {
        Cache::new_lru_cache(self.cache)
    }

    pub(crate) fn of_database(&self) -> rocksdb::Options {
        let mut options = rocksdb::Options::default();
        options.create_if_missing(true);
        options
    }

    pub(crate) fn of_family(&self, cache: &Cache) -> rocksdb::Options {
        let compression = match self.compression {
            Compression::Lz4 => DBCompressionType::Lz4,
            Compression::None => DBCompressionType::None,
        };
        let mut blocks = BlockBasedOptions::default();
        blocks.set_block_cache(cache);
        blocks.set_block_size(self.block_size);
        if self.bloom_bits > 0 {
            blocks.set_bloom_filter(self.bloom_bits.into(), false);
        }
        let mut options = rocksdb::Options::default();
        options.set_block_based_table_factory(&blocks);
        options.set_compression_type(compression);
        options.set_write_buffer_size(self.memtable);
        // Commits are checked against the memtables of late; RocksDB itself keeps them for the
        // column families that it opens, but not for those that it makes.
        options.set_max_write_buffer_size_to_maintain(-1);
        if self.separation {
            options.set_enable_blob_files(true);
            options.set_min_blob_size(self.separation_threshold);
            options.set_blob_compression_type(compression);
            options.set_blob_cache(cache);
        }
        options
    }

    pub(crate) fn of_writes(&self) -> WriteOptions {
        let mut options = WriteOptions::new();
        options.set_sync(self.sync);
        options.disable_wal(!self.wal);
        options
    }
}

/// As RocksDB says that it has them: in the file of options that it writes whenever it is opened
/// or its column families change, and the capacity of the cache. How a commit is made to last is
/// said anew with each, so nothing but this program knows it.
pub(crate) fn effective(path: &Path, cache: Option<u64>) -> Result<Settings> {
    let file = newest_options(path)?;
    let text = std::fs::read_to_string(&file).map_err(StoreError::io("read", &file))?;
    let family = section(&text, "[CFOptions \"kv\"]");
    let table = section(&text, "[TableOptions/BlockBasedTable \"kv\"]");
    let mut effective = Settings::default();
    if let Some(capacity) = cache {
        effective.set("cache", capacity.value());
    }
    for (name, section, option) in [
        ("memtable", family, "write_buffer_size"),
        ("block_size", table, "block_size"),
    ] {
        if let Some(number) = value(section, option).and_then(|v| v.parse::<u64>().ok()) {
            effective.set(name, number.value());
        }
    }
    let compression = match value(family, "compression") {
        Some("kLZ4Compression") => Some(Compression::Lz4.value()),
        Some("kNoCompression") => Some(Compression::None.value()),
        other => other.map(|other| Value::Word(other.to_owned())),
    };
    if let Some(compression) = compression {
        effective.set("compression", compression);
    }
    let separated = value(family, "enable_blob_files") == Some("true");
    effective.set("separation", separated.value());
    let threshold = value(family, "min_blob_size").and_then(|v| v.parse::<u64>().ok());
    if let Some(threshold) = threshold.filter(|_| separated) {
        effective.set("separation_threshold", threshold.value());
    }
    // Of a filter there is only its name, without its bits.
    if value(table, "filter_policy") == Some("nullptr") {
        effective.set("bloom_bits", 0_u32.value());
    }
    Ok(effective)
}

/// `OPTIONS-000123`, with the highest number.
fn newest_options(path: &Path) -> Result<PathBuf> {
    let entries = std::fs::read_dir(path).map_err(StoreError::io("list", path))?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names
        .filter_map(|name| Some((name.strip_prefix("OPTIONS-")?.parse::<u64>().ok()?, name)))
        .max()
        .map(|(_, name)| path.join(name))
        .ok_or_else(|| {
            let detail = format!("there is no file of options in {}", path.display());
            StoreError::engine("read settings", detail)
        })
}

/// The lines below a heading, up to the next one.
fn section<'t>(text: &'t str, heading: &str) -> &'t str {
    let below = text.split_once(heading).map_or("", |(_, below)| below);
    below.split("\n[").next().unwrap_or_default()
}

fn value<'t>(section: &'t str, name: &str) -> Option<&'t str> {
    section.lines().find_map(|line| {
        let (found, value) = line.trim().split_once('=')?;
        (found == name).then_some(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_that_is_named_is_the_one_that_is_built_in() {
        let lock = include_str!("../../Cargo.lock");
        let entry = lock.split("name = \"librocksdb-sys\"").nth(1).unwrap();
        let version = entry.lines().nth(1).unwrap();
        assert!(
            version.contains(&format!("+{ENGINE_VERSION}\"")),
            "{version}"
        );
    }

    #[test]
    fn options_are_found_in_their_section_only() {
        let text =
            "[CFOptions \"default\"]\n  a=1\n[CFOptions \"kv\"]\n  a=2\n  b=x\n\n[Other]\n  c=3\n";
        let family = section(text, "[CFOptions \"kv\"]");
        assert_eq!(value(family, "a"), Some("2"));
        assert_eq!(value(family, "c"), None);
        assert_eq!(value(section(text, "[Missing]"), "a"), None);
    }
}
