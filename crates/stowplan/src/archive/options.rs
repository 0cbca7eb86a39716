//! What can be typed behind the verbs of archives.

use crate::values::{page_size, size};
use clap::Args;
use std::path::PathBuf;

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
    /// No progress, and no summary.
    #[arg(long, short, hide_short_help = true)]
    pub(crate) quiet: bool,
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
    /// Keep setuid and setgid bits of files.
    ///
    /// Whoever runs such a file runs it with the rights of whoever unpacks it.
    #[arg(long)]
    pub(crate) setuid: bool,
    /// Leave the files to the system to write later, as cp and tar do.
    #[arg(long)]
    pub(crate) nosync: bool,
    /// No progress, and no summary.
    #[arg(long, short, hide_short_help = true)]
    pub(crate) quiet: bool,
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
    #[arg(long, hide_short_help = true, conflicts_with = "long")]
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
    /// No progress, and no summary.
    #[arg(long, short, hide_short_help = true)]
    pub(crate) quiet: bool,
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
    #[arg(long, short, hide_short_help = true)]
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
    /// No summary.
    #[arg(long, short, hide_short_help = true)]
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
    #[arg(long, short, hide_short_help = true)]
    pub(crate) quiet: bool,
}
