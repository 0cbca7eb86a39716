//! The store's directory: opening, listing, adding up.

use super::name::{Layout, Name, parse_number, tree_key};
use super::session::FileSession;
use super::{Fsync, Options, STORE};
use crate::{Connection, Key, Result, Session, Store, StoreError, disk};
use std::fs::{self, DirEntry, File};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use stowplan_model::{Footprint, Settings};

pub(crate) struct FileStore {
    pub(super) path: PathBuf,
    /// Names are looked up relative to this, which saves the walk down to the directory.
    pub(super) root: File,
    pub(super) options: Options,
    /// Whether a directory is synced after a file was made in it or removed from it.
    pub(super) syncs_names: bool,
    settings: Settings,
}

impl FileStore {
    pub(crate) fn open(path: &Path, options: Options, settings: Settings) -> Result<Self> {
        let root = File::open(path).map_err(StoreError::io("open", path))?;
        let store = Self {
            path: path.to_owned(),
            root,
            options,
            syncs_names: options.fsync == Fsync::Directory,
            settings,
        };
        store.check_layout()?;
        Ok(store)
    }

    /// The same, with a directory synced after each file made in it or removed from it, also
    /// where an overwrite syncs the file alone.
    pub(crate) fn with_names_synced(self) -> Self {
        Self {
            syncs_names: true,
            ..self
        }
    }

    /// The first entry that could be ours tells the layouts apart: a file, or a directory.
    fn check_layout(&self) -> Result<()> {
        for entry in entries(&self.path)? {
            let entry = entry?;
            if parse_number(entry.file_name().as_bytes(), 2).is_none()
                && parse_number(entry.file_name().as_bytes(), 6).is_none()
            {
                continue;
            }
            let (other, is_other) = match self.options.layout {
                Layout::Dir => ("tree", is_directory(&entry)?),
                Layout::Tree => ("dir", !is_directory(&entry)?),
            };
            if is_other {
                return Err(StoreError::unsupported(
                    STORE,
                    format!("open {}", self.path.display()),
                    format!("its files are laid out as layout={other}"),
                ));
            }
            break;
        }
        Ok(())
    }

    /// Keys from `from` on, by rising key.
    pub(super) fn keys(&self, from: Key) -> Result<Vec<Key>> {
        let mut keys = match self.options.layout {
            Layout::Dir => numbers(&self.path, 6)?,
            Layout::Tree => self.tree_keys(from)?,
        };
        keys.retain(|key| *key >= from.0);
        keys.sort_unstable();
        Ok(keys.into_iter().map(Key).collect())
    }

    fn tree_keys(&self, from: Key) -> Result<Vec<u64>> {
        let mut keys = Vec::new();
        for top in numbers(&self.path, 2)? {
            if top < from.0 / 10_000 {
                continue;
            }
            let top_path = self.path.join(format!("{top:02}"));
            for middle in numbers(&top_path, 2)? {
                let leaf_path = top_path.join(format!("{middle:02}"));
                let leaves = numbers(&leaf_path, 2)?;
                keys.extend(
                    leaves
                        .iter()
                        .filter_map(|leaf| tree_key(top, middle, *leaf)),
                );
            }
        }
        Ok(keys)
    }

    pub(crate) fn path_of(&self, key: Key) -> PathBuf {
        self.path.join(Name::of(self.options.layout, key).as_path())
    }
}

fn entries(path: &Path) -> Result<impl Iterator<Item = Result<DirEntry>>> {
    let entries = fs::read_dir(path).map_err(StoreError::io("list", path))?;
    Ok(entries.map(move |entry| entry.map_err(StoreError::io("list", path))))
}

fn is_directory(entry: &DirEntry) -> Result<bool> {
    let kind = entry.file_type();
    Ok(kind
        .map_err(StoreError::io("stat", &entry.path()))?
        .is_dir())
}

/// The numbers that name entries of a directory.
fn numbers(path: &Path, min_digits: usize) -> Result<Vec<u64>> {
    entries(path)?
        .filter_map(|entry| {
            entry
                .map(|entry| parse_number(entry.file_name().as_bytes(), min_digits))
                .transpose()
        })
        .collect()
}

impl Store for FileStore {
    fn connect(&self) -> Result<Box<dyn Connection + '_>> {
        Ok(Box::new(FileConnection { store: self }))
    }

    fn footprint(&self) -> Result<Footprint> {
        disk::footprint_of_tree(&self.path)
    }

    fn data_files(&self, keys: &mut dyn Iterator<Item = Key>) -> Vec<PathBuf> {
        keys.map(|key| self.path_of(key)).collect()
    }

    /// Files have no other resting place than where they were written.
    fn checkpoint(&self) -> Result<()> {
        Ok(())
    }
}

struct FileConnection<'s> {
    store: &'s FileStore,
}

impl Connection for FileConnection<'_> {
    fn session(&mut self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(FileSession::new(self.store)?))
    }

    /// All settings are this program's own doing, so they are as asked.
    fn effective_settings(&self) -> Result<Settings> {
        Ok(self.store.settings.clone())
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}
