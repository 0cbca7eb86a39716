//! One file per value.
//!
//! Layouts are those of SQLite's kvtest, so that either tool runs on what the other made, and a
//! directory carries no marker of ours.
//!
//! What other stores call a table is the directory itself.
//!
//! Threads may add, replace and remove files side by side; of those that add or remove the same one,
//! one succeeds. Only `write=rename` replaces a value as a whole: with the other two, whoever reads
//! a value while another thread overwrites it may find it empty, mixed, or of a size that changes.
//! The same is true of a value that is added: `write=rename` writes it under a temporary name first,
//! with the other two a process that dies may leave it empty or torn.
//!
//! The settings `open`, `stat`, `read` and `buffer` each add or remove one step of a read, so that
//! what a step costs is the difference of two cells. kvtest's own way is
//! `open=path,stat=stat,read=stdio,buffer=fresh`, and of an overwrite `open=path,write=stdio`.

pub mod directory;
mod kept;
mod ladder;
pub(crate) mod name;
pub(crate) mod named;
mod reading;
mod session;
mod stdio;
pub(crate) mod store;

use crate::names::NAMES;
use crate::options::{Described, StoreOptions as _, refuse};
use crate::store::{Kind, OPERATIONS, claim};
use crate::{Result, StoreError, choice, options};
use name::Layout;
use std::io::{self, ErrorKind};
use store::FileStore;
use stowplan_model::{Capabilities, Durability, DurabilityClaim, Operation, Settings};

const STORE: &str = "files";

choice! {
    /// How a file is opened.
    pub(crate) enum Opening {
        Directory = "directory",
        Path = "path",
        Kept = "kept",
    }
}

choice! {
    /// How a read learns the size of a value.
    pub(crate) enum Sizing {
        Fstat = "fstat",
        Stat = "stat",
        None = "none",
    }
}

choice! {
    /// How bytes are read.
    pub(crate) enum ReadMode {
        Plain = "plain",
        Stdio = "stdio",
    }
}

choice! {
    /// Where bytes are read to.
    pub(crate) enum Memory {
        Reused = "reused",
        Fresh = "fresh",
    }
}

choice! {
    /// How a value is replaced.
    pub(crate) enum WriteMode {
        Truncate = "truncate",
        Stdio = "stdio",
        InPlace = "in-place",
        Rename = "rename",
    }
}

choice! {
    /// What is synced after a write.
    pub(crate) enum Fsync {
        Off = "off",
        File = "file",
        Directory = "directory",
    }
}

/// Descriptions that the store `files-indexed` shares.
pub(crate) const LAYOUT: Described<Layout> = Layout::setting(
    Layout::Dir,
    "dir: all files in one directory (000123); tree: two levels of 100 (00/01/23)",
)
.shapes_layout();

const OPEN: Described<Opening> = Opening::setting(
    Opening::Directory,
    "how the file of a value that is read or overwritten is opened: by its name in a directory that is kept open, by its whole path, or once for all, by one thread (as many descriptors as files; see 'ulimit -n')",
);

/// Of files that a database names.
pub(crate) const OPEN_NAMED: Described<Opening> = OPEN
    .only(
        &[Opening::Directory.word(), Opening::Path.word()],
        Opening::Directory.word(),
    )
    .with_help("how the file of a value that is read or overwritten is opened: by its name in a directory that is kept open, or by its whole path");

pub(crate) const STAT: Described<Sizing> = Sizing::setting(
    Sizing::Fstat,
    "how a read learns the size: from the open file, by its name before it is opened, or not at all (it reads until less comes than there is room for); reads only",
);

pub(crate) const READ: Described<ReadMode> = ReadMode::setting(
    ReadMode::Plain,
    "how the bytes are read: by the system call, or by fopen (or fdopen), fread and fclose; reads only. kvtest's way is open=path,stat=stat,read=stdio,buffer=fresh",
);

pub(crate) const BUFFER: Described<Memory> = Memory::setting(
    Memory::Reused,
    "where the bytes go: into one buffer on a page boundary, or with read=stdio into memory newly allocated for each read, wherever that lies; reads only",
);

pub(crate) const WRITE: Described<WriteMode> = WriteMode::setting(
    WriteMode::Truncate,
    "how a value is replaced: truncate and write; the same by fopen, fwrite and fclose (kvtest's way is open=path,write=stdio); write over it; or a temporary file renamed over it; writes only",
);

pub(crate) const FSYNC: Described<Fsync> = Fsync::setting(
    Fsync::Off,
    "what is synced after each write: nothing, the file, or the file and its directory; writes only",
);

options! {
    /// The settings, typed.
    pub(crate) struct Options if Self::go_together {
        pub(crate) layout: Layout = LAYOUT,
        pub(crate) names: bool = NAMES,
        pub(crate) open: Opening = OPEN,
        pub(crate) stat: Sizing = STAT,
        pub(crate) read: ReadMode = READ,
        pub(crate) buffer: Memory = BUFFER,
        pub(crate) write: WriteMode = WRITE,
        pub(crate) fsync: Fsync = FSYNC,
    }
}

impl Options {
    /// # Errors
    /// Settings that exclude each other.
    pub(crate) fn go_together(&self) -> Result<()> {
        let kept = self.open == Opening::Kept;
        let stream = self.read == ReadMode::Stdio;
        let renames = self.write == WriteMode::Rename;
        let (write, open) = (self.write.word(), self.open.word());
        refuse! {
            self.names && self.layout == Layout::Tree => "combine names=on with layout=tree",
                "the names say in which directories the files lie; use layout=dir";
            self.fsync == Fsync::Directory && !renames => format!("combine fsync=directory with write={write}"),
                "no name changes, so syncing the directory adds nothing; use fsync=file or write=rename";
            stream && kept => "combine read=stdio with open=kept",
                "fclose closes the file, and a stream that is kept would deliver what it has buffered; use read=plain or another open";
            stream && self.stat == Sizing::None => "combine read=stdio with stat=none",
                "a stream is asked for as much as there is, as kvtest does; use stat=stat or stat=fstat";
            self.write == WriteMode::Stdio && self.open != Opening::Path => format!("combine write={write} with open={open}"),
                "fopen takes a path; use open=path";
            self.stat == Sizing::Stat && kept => "combine stat=stat with open=kept",
                "a file that is open need not be looked up by its name; use stat=fstat or stat=none";
            renames && kept => format!("combine write={write} with open=kept"),
                "a rename leaves the descriptor with the file that was replaced; use write=in-place or write=truncate";
            self.buffer == Memory::Fresh && !stream => "combine buffer=fresh with read=plain",
                "memory is allocated for each value as kvtest does; use read=stdio";
        }
        Ok(())
    }

    /// METHOD "Durability classes": only a rename replaces a value as a whole; the file's sync
    /// orders its bytes before the new name, the directory's makes the new name last.
    pub(crate) fn durability(self) -> DurabilityClaim {
        let renames = self.write == WriteMode::Rename;
        let class = match (self.write, self.fsync) {
            (WriteMode::Truncate | WriteMode::Stdio | WriteMode::InPlace, _) => Durability::None,
            (WriteMode::Rename, Fsync::Off) => Durability::ProcessCrash,
            (WriteMode::Rename, Fsync::File) => Durability::Consistent,
            (WriteMode::Rename, Fsync::Directory) => Durability::Durable,
        };
        claim(class, renames)
    }
}

impl Fsync {
    /// Sync calls of every write.
    pub(crate) fn syncs(self) -> u32 {
        match self {
            Self::Off => 0,
            Self::File => 1,
            Self::Directory => 2,
        }
    }
}

/// One file per value.
pub(crate) const KIND: &Kind = &Kind {
    ladder: ladder::of,
    ..Kind::new(
        (
            STORE,
            "one file per value, in a directory or a tree, as kvtest does",
            Options::SETTINGS,
        ),
        &capabilities,
        &|directory, settings, new| {
            if new && store::entries(directory)?.next().is_some() {
                let taken = io::Error::from(ErrorKind::DirectoryNotEmpty);
                let refused = StoreError::io("create a store of files in", directory);
                return Err(refused(taken));
            }
            let options = Options::from_settings(settings)?;
            Ok(Box::new(FileStore::open(directory, options)?))
        },
    )
};

fn capabilities(settings: &Settings) -> Result<Capabilities> {
    let options = Options::from_settings(settings)?;
    Ok(Capabilities {
        operations: match options.names {
            // Which directories are part of it, nobody says.
            true => OPERATIONS.to_vec(),
            false => Operation::SINGLE.to_vec(),
        },
        durability: options.durability(),
        // What one session keeps open, another could replace.
        threads: options.open != Opening::Kept,
        parallel_writers: true,
        syncs_per_commit: options.fsync.syncs(),
        ..Capabilities::default()
    })
}

#[cfg(test)]
mod tests;
