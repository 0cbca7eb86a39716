//! What can be typed behind the verbs of archives, and what their help teaches by.

use crate::values::{page_size, size};
use clap::Args;
use std::path::PathBuf;

pub(crate) const PACK: &str = "\
Examples:
  stowplan pack thumbs thumbs.sqlar   a directory into an SQLite Archive
  stowplan pack thumbs thumbs.sqlar --no-deflate
                                      as it is: larger, and faster to read
  stowplan pack thumbs thumbs.sqlar --inline-limit 64KiB --page-size 8192
                                      larger files stay files, in thumbs.sqlar.d

'sqlite3 thumbs.sqlar -Ax' unpacks it as well, but for what lies in
thumbs.sqlar.d; versions such as 3.40.1 (Debian 12) stop at the first symbolic
link ('error in uncompress()') and leave out what follows. Modes, times in
seconds, links and empty directories are kept; owners, extended attributes, hard
links and holes are not, which is told. Exit code 1: some of it was not packed;
what, is listed.";

pub(crate) const UNPACK: &str = "\
Examples:
  stowplan unpack thumbs.sqlar back   everything, into a new directory
  stowplan unpack thumbs.sqlar there --force
                                      add to what is there; nothing is replaced

It reads what 'sqlite3 -Ac' makes as well. Nothing outside the directory is ever
written. Exit code 1: some of it was refused; what, is listed.";

pub(crate) const LS: &str = "\
Examples:
  stowplan ls thumbs.sqlar            the names
  stowplan ls thumbs.sqlar --long     modes, sizes and times as well
  stowplan ls thumbs.sqlar --json     for a program
  stowplan ls thumbs.sqlar -0 | xargs -0 stowplan cat thumbs.sqlar
                                      for one that takes any name

On a terminal names are quoted as a shell reads them ('a'$'\\n''b'); elsewhere
they are printed as they are, a line each.";

pub(crate) const CAT: &str = "\
Examples:
  stowplan cat thumbs.sqlar 17.jpg > 17.jpg
  stowplan cat thumbs.sqlar a/1 a/2   one behind the other";

pub(crate) const VERIFY: &str = "\
Examples:
  stowplan verify thumbs.sqlar        the database, every name, every value

Values that 'stowplan pack' and 'add' wrote are held against their CRC-32, which
finds damage but no intent; deflated ones of other programs against the checksum
of their stream; how many have none, is told. It refuses what 'unpack' refuses.";

pub(crate) const ADD: &str = "\
Examples:
  stowplan add thumbs.sqlar --base thumbs 17.jpg new
                                      a file, and a directory with all in it
  cd thumbs && stowplan add ../thumbs.sqlar 17.jpg

What is there by the same name is replaced. It is atomic: if it is killed,
nothing has changed.";

pub(crate) const RM: &str = "\
Examples:
  stowplan rm thumbs.sqlar 17.jpg old/18.jpg
  stowplan rm thumbs.sqlar old --recursive
                                      a directory with all in it
  stowplan rm thumbs.sqlar 17.jpg --vacuum
                                      the file gets smaller at once

Without --vacuum, what comes in later fills the space.";

pub(crate) const MOUNT: &str = "\
Examples:
  stowplan mount thumbs.sqlar dir -- ls -l dir
                                      for one command: no root, no fusermount3
  stowplan mount thumbs.sqlar dir     for all, until Ctrl-C or 'umount dir';
                                      takes root, or fusermount3
It is read-only, and shows the archive as it is now: nobody can change it
meanwhile.";

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
