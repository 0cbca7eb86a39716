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

pub(crate) mod inspect;
pub(crate) mod name;
pub(crate) mod named;
mod session;
mod stdio;
pub(crate) mod store;

use crate::{Result, Store, StoreError, StoreKind};
use name::Layout;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;
use stowplan_model::{
    Capabilities, Delivery, Durability, DurabilityClaim, Operation, Setting, SettingKind, Settings,
};

const STORE: &str = "files";

/// One file per value.
pub(crate) struct Files;

const SETTINGS: &[Setting] = &[LAYOUT, READ, WRITE, FSYNC];

pub(crate) const LAYOUT: Setting = Setting {
    name: "layout",
    kind: SettingKind::Choice(&["dir", "tree"]),
    default: "dir",
    help: "dir: all files in one directory (000123); tree: two levels of 100 (00/01/23)",
    shapes_layout: true,
};

pub(crate) const READ: Setting = Setting {
    name: "read",
    kind: SettingKind::Choice(&["openat", "stdio"]),
    default: "openat",
    help: "how a value is read: openat, fstat, read, close; or stat, fopen, fread, fclose by the whole path, as kvtest does",
    shapes_layout: false,
};

pub(crate) const WRITE: Setting = Setting {
    name: "write",
    kind: SettingKind::Choice(&["truncate", "in-place", "rename"]),
    default: "truncate",
    help: "how a value is replaced: truncate and write, write over it, or a temporary file renamed over it",
    shapes_layout: false,
};

pub(crate) const FSYNC: Setting = Setting {
    name: "fsync",
    kind: SettingKind::Choice(&["off", "file", "directory"]),
    default: "off",
    help: "what is synced after each write: nothing, the file, or the file and its directory",
    shapes_layout: false,
};

/// How a value is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReadMode {
    Openat,
    Stdio,
}

/// How a value is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WriteMode {
    Truncate,
    InPlace,
    Rename,
}

/// What is synced after a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fsync {
    Off,
    File,
    Directory,
}

/// The settings, typed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options {
    pub(crate) layout: Layout,
    read: ReadMode,
    write: WriteMode,
    fsync: Fsync,
}

impl Options {
    pub(crate) fn from_settings(settings: &Settings) -> Result<Self> {
        let options = Self {
            layout: match settings.word("layout") {
                "tree" => Layout::Tree,
                _ => Layout::Dir,
            },
            read: match settings.word("read") {
                "stdio" => ReadMode::Stdio,
                _ => ReadMode::Openat,
            },
            write: match settings.word("write") {
                "in-place" => WriteMode::InPlace,
                "rename" => WriteMode::Rename,
                _ => WriteMode::Truncate,
            },
            fsync: match settings.word("fsync") {
                "file" => Fsync::File,
                "directory" => Fsync::Directory,
                _ => Fsync::Off,
            },
        };
        if options.fsync == Fsync::Directory && options.write != WriteMode::Rename {
            return Err(StoreError::unsupported(
                STORE,
                format!(
                    "combine fsync=directory with write={}",
                    settings.word("write")
                ),
                "no name changes, so syncing the directory adds nothing; use fsync=file or write=rename",
            ));
        }
        Ok(options)
    }

    /// METHOD "Durability classes": only a rename replaces a value as a whole; the file's sync
    /// orders its bytes before the new name, the directory's makes the new name last.
    pub(crate) fn durability(self) -> DurabilityClaim {
        let class = match (self.write, self.fsync) {
            (WriteMode::Truncate | WriteMode::InPlace, _) => Durability::None,
            (WriteMode::Rename, Fsync::Off) => Durability::ProcessCrash,
            (WriteMode::Rename, Fsync::File) => Durability::Consistent,
            (WriteMode::Rename, Fsync::Directory) => Durability::Durable,
        };
        DurabilityClaim {
            class,
            atomic: self.write == WriteMode::Rename,
            delayed: false,
        }
    }

    /// Sync calls of every overwrite.
    pub(crate) fn syncs_per_overwrite(self) -> u32 {
        match self.fsync {
            Fsync::Off => 0,
            Fsync::File => 1,
            Fsync::Directory => 2,
        }
    }
}

impl StoreKind for Files {
    fn name(&self) -> &'static str {
        STORE
    }

    fn about(&self) -> &'static str {
        "one file per value, in one directory or a tree, as kvtest lays them out"
    }

    fn settings(&self) -> &'static [Setting] {
        SETTINGS
    }

    fn capabilities(&self, settings: &Settings) -> Result<Capabilities> {
        let options = Options::from_settings(settings)?;
        Ok(Capabilities {
            operations: vec![
                Operation::Read,
                Operation::Overwrite,
                Operation::Insert,
                Operation::Delete,
                Operation::Scan,
                Operation::CreateTable,
                Operation::DropTable,
            ],
            deliveries: vec![Delivery::Copy],
            transactions: false,
            resizes: true,
            durability: options.durability(),
            threads: true,
            parallel_writers: true,
            persistent: true,
            evictable: true,
            syncs_per_commit: options.syncs_per_overwrite(),
            largest_value: None,
        })
    }

    fn create(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        let mut entries = fs::read_dir(directory).map_err(StoreError::io("read", directory))?;
        if entries.next().is_some() {
            let taken = io::Error::from(ErrorKind::DirectoryNotEmpty);
            return Err(StoreError::io("create a store of files in", directory)(
                taken,
            ));
        }
        self.open(directory, settings)
    }

    fn open(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        let options = Options::from_settings(settings)?;
        Ok(Box::new(store::FileStore::open(
            directory,
            options,
            settings.clone(),
        )?))
    }
}

#[cfg(test)]
mod tests;
