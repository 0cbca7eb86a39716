//! What can be typed behind `kvtest init`, `stat`, `export` and `run`: kvtest's options with kvtest's
//! meaning, and ours beside them.

use crate::form::DocumentOptions;
use crate::values::{
    CACHE_STATES, Cache, blob_size, cache, count, duration, one_of, page_size, size,
};
use clap::Args;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;
use stowplan_model::{CacheState, Origin};

/// Options of `init`.
#[derive(Debug, Args)]
#[command(args_override_self = true)]
pub(crate) struct InitOptions {
    /// The database to make; it must not exist yet.
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,
    /// Number of blobs.
    #[arg(long, value_name = "N", value_parser = count, default_value = "1000")]
    pub(crate) count: u64,
    /// Size of a blob.
    #[arg(long, value_name = "M", value_parser = blob_size, default_value = "10000")]
    pub(crate) size: u64,
    /// Vary the size by plus or minus this, each size equally likely.
    #[arg(long, value_name = "V", value_parser = size, default_value = "0")]
    pub(crate) variance: u64,
    /// Size of a database page: a power of two from 512 to 65536.
    #[arg(long, value_name = "P", value_parser = page_size, default_value = "4096")]
    pub(crate) pagesize: u64,
    /// Seed of sizes and content; the same seed makes the same database.
    #[arg(long, hide_short_help = true, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Draw sizes as kvtest does: the middle size twice as often as any other.
    #[arg(long, hide_short_help = true)]
    pub(crate) as_kvtest: bool,
    /// No progress.
    #[arg(long, short, hide_short_help = true)]
    pub(crate) quiet: bool,
}

/// Options of `stat`.
#[derive(Debug, Args)]
#[command(args_override_self = true)]
pub(crate) struct StatOptions {
    /// A database, or a directory of files: any of yours, or what 'init' and 'export' make.
    #[arg(value_name = "DB|DIR")]
    pub(crate) place: PathBuf,
    /// Which column of which table, where it is not plain.
    #[command(flatten)]
    pub(crate) column: ColumnOptions,
    /// Run VACUUM on the database first.
    #[arg(long)]
    pub(crate) vacuum: bool,
    /// In which form.
    #[command(flatten)]
    pub(crate) form: DocumentOptions,
}

/// Which values of a database are meant.
#[derive(Debug, Args)]
pub(crate) struct ColumnOptions {
    /// Of a database, the table that holds the values.
    #[arg(long, value_name = "NAME")]
    table: Option<String>,
    /// Of a database, the column of the values.
    #[arg(long, value_name = "NAME")]
    column: Option<String>,
    /// Of a database, the column of the keys [default: the primary key, or the rows' numbers].
    #[arg(long, hide_short_help = true, value_name = "NAME")]
    key: Option<String>,
}

impl ColumnOptions {
    /// The values at a place.
    pub(crate) fn at(&self, place: &Path) -> Origin {
        Origin {
            place: place.to_owned(),
            table: self.table.clone(),
            column: self.column.clone(),
            key: self.key.clone(),
            largest: None,
        }
    }

    /// Whether some are named.
    pub(crate) fn is_given(&self) -> bool {
        self.table.is_some() || self.column.is_some() || self.key.is_some()
    }
}

/// Options of `export`.
#[derive(Debug, Args)]
#[command(args_override_self = true)]
pub(crate) struct ExportOptions {
    /// The database.
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,
    /// The directory to make; it must not exist yet, or be empty.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// A hierarchy of directories with names like 00/00/01, instead of one with names like 000001.
    #[arg(long)]
    pub(crate) tree: bool,
    /// Leave the files to the system to write later, as kvtest does.
    #[arg(long)]
    pub(crate) nosync: bool,
    /// No progress.
    #[arg(long, short, hide_short_help = true)]
    pub(crate) quiet: bool,
}

/// Options of `run`.
#[derive(Debug, Args)]
#[command(args_override_self = true)]
pub(crate) struct RunOptions {
    /// A database, or a directory of files.
    #[arg(value_name = "DB|DIR")]
    pub(crate) place: PathBuf,
    /// Visit blobs by rising key, which is the default.
    #[arg(long, hide_short_help = true, overrides_with_all = ["desc", "random"], help_heading = "As in kvtest")]
    pub(crate) asc: bool,
    /// Visit blobs by falling key.
    #[arg(long, hide_short_help = true, overrides_with_all = ["asc", "random"], help_heading = "As in kvtest")]
    pub(crate) desc: bool,
    /// Visit blobs in random order.
    #[arg(long, overrides_with_all = ["asc", "desc"], help_heading = "As in kvtest")]
    pub(crate) random: bool,
    /// Use SQLite's incremental blob I/O instead of SQL.
    #[arg(long, help_heading = "As in kvtest")]
    pub(crate) blob_api: bool,
    /// SQLite's page cache: a number of pages, or bytes with a suffix such as 4MiB; negative: KiB.
    #[arg(long, hide_short_help = true, value_name = "N", default_value = "1000", allow_hyphen_values = true, value_parser = cache, help_heading = "As in kvtest")]
    pub(crate) cache_size: Cache,
    /// Number of blobs to visit in a round.
    #[arg(long, value_name = "N", value_parser = count, default_value = "1000", help_heading = "As in kvtest")]
    pub(crate) count: u64,
    /// Sync each file that is written, before the next one.
    #[arg(long, hide_short_help = true, help_heading = "As in kvtest")]
    pub(crate) fsync: bool,
    /// Run PRAGMA integrity_check after the test.
    #[arg(long, hide_short_help = true, help_heading = "As in kvtest")]
    pub(crate) integrity_check: bool,
    /// The largest key to visit [default: the largest there is].
    #[arg(long, hide_short_help = true, value_name = "N", value_parser = count, help_heading = "As in kvtest")]
    pub(crate) max_id: Option<u64>,
    /// Map as much as this of the database into memory.
    #[arg(long, hide_short_help = true, value_name = "BYTES", value_parser = size, default_value = "0", help_heading = "As in kvtest")]
    pub(crate) mmap: u64,
    /// Each read or write in a transaction of its own.
    #[arg(long, hide_short_help = true, help_heading = "As in kvtest")]
    pub(crate) multitrans: bool,
    /// Leave the checkpoint of the write-ahead log out of the time.
    #[arg(long, hide_short_help = true, help_heading = "As in kvtest")]
    pub(crate) nocheckpoint: bool,
    /// PRAGMA synchronous=OFF.
    #[arg(long, help_heading = "As in kvtest")]
    pub(crate) nosync: bool,
    /// Journal mode: delete, truncate, persist, memory, wal or off [default: the database's own].
    #[arg(long, hide_short_help = true, value_name = "MODE", value_parser = clap::builder::PossibleValuesParser::new(["delete", "truncate", "persist", "memory", "wal", "off"]), ignore_case = true, help_heading = "As in kvtest")]
    pub(crate) jmode: Option<String>,
    /// The first key to visit.
    #[arg(long, hide_short_help = true, value_name = "N", value_parser = count, default_value = "1", help_heading = "As in kvtest")]
    pub(crate) start: u64,
    /// Show what SQLite and the system counted.
    #[arg(long, help_heading = "As in kvtest")]
    pub(crate) stats: bool,
    /// Overwrite blobs by random bytes of the same size instead of reading them.
    #[arg(long, help_heading = "As in kvtest")]
    pub(crate) update: bool,
    /// The blobs may be lost: --update does nothing without it.
    #[arg(long)]
    pub(crate) overwrite_my_data: bool,
    /// Rounds, each in a process of its own; an interval needs 10 [default: 10, but none begins
    /// after a minute].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=200))]
    pub(crate) rounds: Option<u32>,
    /// No round begins after this time, such as 90s or 3m.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) budget: Option<Duration>,
    /// The state of the page cache before a round; 'cold' evicts the data [default: warm].
    #[arg(long, hide_short_help = true, value_parser = one_of(CACHE_STATES, CacheState::name), value_name = "STATE")]
    pub(crate) cache_state: Option<CacheState>,
    /// Seed of the random order and of the bytes that are written.
    #[arg(long, hide_short_help = true, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Measure as kvtest does where that is merely unwise: docs/kvtest.md.
    #[arg(long, hide_short_help = true, conflicts_with = "cache_state")]
    pub(crate) as_kvtest: bool,
    /// In which form; --quiet prints kvtest's lines only.
    #[command(flatten)]
    pub(crate) form: DocumentOptions,
}

/// What was typed, as clap reads it: a program that is called kvtest has only its verbs; and kvtest takes
/// its options with one dash or two, where clap knows two. Only behind kvtest's verbs, and only what is
/// no number and no known short option.
pub(crate) fn as_typed(mut arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = arguments.next().into_iter().collect();
    let called = words.first().map(Path::new).and_then(Path::file_name);
    if called == Some("kvtest".as_ref()) {
        words.push("kvtest".into());
    }
    words.extend(arguments);
    let mut at = 1;
    while let Some(option) = words.get(at).and_then(|word| word.to_str()) {
        match option {
            // The next word says when to use colour.
            "--color" => at += 2,
            option if option.starts_with('-') => at += 1,
            "kvtest" | "stat" => break,
            _ => return words,
        }
    }
    let behind = words.iter_mut().skip(at).take_while(|word| *word != "--");
    for word in behind {
        let name = word.to_str().and_then(|word| word.strip_prefix('-'));
        if let Some(long) = name.filter(|name| is_long_name(name)) {
            *word = format!("--{long}").into();
        }
    }
    words
}

/// Whether this can only be a long option: two letters or more.
fn is_long_name(name: &str) -> bool {
    name.len() > 1 && name.starts_with(|c: char| c.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dashed(line: &str) -> String {
        let arguments = line.split(' ').map(OsString::from);
        let words = as_typed(arguments);
        let words: Vec<_> = words.iter().map(|word| word.to_str().unwrap()).collect();
        words.join(" ")
    }

    #[test]
    fn one_dash_is_as_good_as_two_behind_the_verbs_of_kvtest() {
        for (typed, read) in [
            (
                "stowplan kvtest run x.db -count 5 -blob-api",
                "stowplan kvtest run x.db --count 5 --blob-api",
            ),
            (
                "stowplan --color never kvtest run x -asc",
                "stowplan --color never kvtest run x --asc",
            ),
            (
                "stowplan kvtest run x -q -cache-size -2000",
                "stowplan kvtest run x -q --cache-size -2000",
            ),
            ("stowplan kvtest run -- -x", "stowplan kvtest run -- -x"),
            ("stowplan study -output run", "stowplan study -output run"),
            ("stowplan report kvtest -qh", "stowplan report kvtest -qh"),
            ("stowplan --color kvtest -qh", "stowplan --color kvtest -qh"),
            ("bin/kvtest run x -asc", "bin/kvtest kvtest run x --asc"),
            (
                "stowplan --color=never stat x -json",
                "stowplan --color=never stat x --json",
            ),
        ] {
            assert_eq!(dashed(typed), read);
        }
    }
}
