//! What can be typed behind the verbs of archives.

use crate::values::{page_size, size};
use clap::Args;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread::available_parallelism;

/// How verbs work that take long.
#[derive(Debug, Args)]
pub(crate) struct WorkOptions {
    /// Threads that read, deflate, inflate and write files [default: one per processor, at most 8].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) threads: Option<u32>,
    /// No progress, and no summary.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// More threads than this wait for each other in the file system, and for the one that writes.
const THREADS_MAX: usize = 8;

impl WorkOptions {
    /// How many threads were asked for, or there are processors.
    pub(super) fn threads(&self) -> NonZeroUsize {
        let asked = self
            .threads
            .and_then(|threads| usize::try_from(threads).ok());
        let threads = asked.unwrap_or_else(|| {
            available_parallelism().map_or(1, |processors| processors.get().min(THREADS_MAX))
        });
        NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN)
    }
}

/// Options of `pack`.
#[derive(Debug, Args)]
pub(crate) struct PackOptions {
    /// The directory to pack; it is only read.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// The archive to make; it must not exist yet.
    #[arg(value_name = "ARCHIVE")]
    pub(crate) archive: PathBuf,
    /// Store values as they are, without deflating them.
    #[arg(long)]
    pub(crate) no_deflate: bool,
    /// Leave files larger than this outside, in the directory ARCHIVE.d.
    ///
    /// They keep their paths there. The verbs of archives know them, 'sqlite3 -A' does not; the
    /// directory has to be moved together with the archive.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) inline_limit: Option<u64>,
    /// Size of a database page: a power of two from 512 to 65536 [default: 4096 to 1024].
    ///
    /// 4096 with --no-deflate; of deflated values 2048 where half of the files are smaller than 64 KiB, and
    /// 1024 where they are smaller than 4096 bytes: what is free at the ends of pages is less then. Larger values are read faster from larger pages.
    #[arg(long, value_name = "BYTES", value_parser = page_size)]
    pub(crate) page_size: Option<u64>,
    /// Replace the archive if there is one, once the new one is whole; no other file is replaced.
    #[arg(long)]
    pub(crate) force: bool,
    /// In how many threads, and whether it is told.
    #[command(flatten)]
    pub(crate) work: WorkOptions,
}

/// Options of `unpack`.
#[derive(Debug, Args)]
pub(crate) struct UnpackOptions {
    /// The archive.
    #[arg(value_name = "ARCHIVE")]
    pub(crate) archive: PathBuf,
    /// The directory to make; it must not exist yet, or be empty.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Add to a directory that is not empty; what is there already is never changed.
    #[arg(long)]
    pub(crate) force: bool,
    /// Keep setuid and setgid bits of files.
    ///
    /// Whoever runs such a file runs it with the rights of whoever unpacks it.
    #[arg(long)]
    pub(crate) setuid: bool,
    /// Leave the files to the system to write later, as cp and tar do.
    #[arg(long)]
    pub(crate) nosync: bool,
    /// In how many threads, and whether it is told.
    #[command(flatten)]
    pub(crate) work: WorkOptions,
}

/// Options of `ls`.
#[derive(Debug, Args)]
pub(crate) struct LsOptions {
    /// The archive.
    #[arg(value_name = "ARCHIVE")]
    pub(crate) archive: PathBuf,
    /// Modes, sizes, times and where links lead, as well.
    #[arg(long, short)]
    pub(crate) long: bool,
    /// End each name with a zero byte, and quote none.
    #[arg(long, short = '0', conflicts_with_all = ["long", "json"])]
    pub(crate) null: bool,
    /// Print one JSON document.
    #[arg(long, conflicts_with = "long")]
    pub(crate) json: bool,
}

/// Options of `cat`.
#[derive(Debug, Args)]
pub(crate) struct CatOptions {
    /// The archive.
    #[arg(value_name = "ARCHIVE")]
    pub(crate) archive: PathBuf,
    /// Files in it, by the names that 'stowplan ls' prints.
    #[arg(value_name = "NAME", required = true)]
    pub(crate) names: Vec<String>,
}

/// Options of `verify`.
#[derive(Debug, Args)]
pub(crate) struct VerifyOptions {
    /// The archive.
    #[arg(value_name = "ARCHIVE")]
    pub(crate) archive: PathBuf,
    /// In how many threads, and whether it is told.
    #[command(flatten)]
    pub(crate) work: WorkOptions,
}

/// Options of `add`.
#[derive(Debug, Args)]
pub(crate) struct AddOptions {
    /// The archive, which is there.
    #[arg(value_name = "ARCHIVE")]
    pub(crate) archive: PathBuf,
    /// Files, links, and directories with everything in them; names in the archive are these paths.
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<String>,
    /// The directory where the paths begin.
    #[arg(long, short = 'C', value_name = "DIR", default_value = ".")]
    pub(crate) base: PathBuf,
    /// Store values as they are, without deflating them.
    #[arg(long)]
    pub(crate) no_deflate: bool,
    /// No progress, and no summary.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Options of `rm`.
#[derive(Debug, Args)]
pub(crate) struct RmOptions {
    /// The archive.
    #[arg(value_name = "ARCHIVE")]
    pub(crate) archive: PathBuf,
    /// Entries, by the names that 'stowplan ls' prints.
    #[arg(value_name = "NAME", required = true)]
    pub(crate) names: Vec<String>,
    /// Remove directories with everything in them.
    #[arg(long, short)]
    pub(crate) recursive: bool,
    /// Write the archive anew, without the space that is free then.
    #[arg(long)]
    pub(crate) vacuum: bool,
    /// No summary.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Options of `mount`.
#[derive(Debug, Args)]
pub(crate) struct MountOptions {
    /// The archive.
    #[arg(value_name = "ARCHIVE")]
    pub(crate) archive: PathBuf,
    /// The directory to show it in; what is in there is hidden meanwhile.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Command to run while it is mounted, behind '--': visible to that command only, and we exit with its code.
    #[arg(value_name = "COMMAND", last = true)]
    pub(crate) command: Vec<std::ffi::OsString>,
    /// No messages.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}
