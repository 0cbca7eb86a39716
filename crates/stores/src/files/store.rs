//! The store's directory: opening, making, listing, removing.

use super::name::{Layout, Name, is_temporary, parse_number, tree_key};
use super::{Fsync, Options};
use crate::names::Names;
use crate::options::refuse;
use crate::{Key, Result, StoreError};
use parking_lot::{Mutex, MutexGuard};
use rustix::fs::{Mode, OFlags};
use std::fs::{self, DirEntry, File};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) struct FileStore {
    pub(super) path: PathBuf,
    /// The directory as it was when the store was opened.
    pub(super) root: File,
    pub(super) options: Options,
    /// Those that the values had where they come from.
    own_names: Option<Arc<Names>>,
    /// Whether a directory is synced after a file was made in it or removed from it.
    pub(super) syncs_names: bool,
    /// Held while a file is replaced by a rename or removed, by a number made from its name: a
    /// rename must not bring back what another thread has removed since it looked. Never held over
    /// a write or a sync.
    names: [Mutex<()>; 64],
}

impl FileStore {
    pub(crate) fn open(path: &Path, options: Options) -> Result<Self> {
        Self::named_by(Names::of(path, options.names)?, path, options)
    }

    /// Files whose values have these names.
    pub(crate) fn named_by(
        own_names: Option<Arc<Names>>,
        path: &Path,
        options: Options,
    ) -> Result<Self> {
        let root = open_directory(path).map_err(StoreError::io("open", path))?;
        let store = Self {
            path: path.to_owned(),
            root,
            options,
            own_names,
            syncs_names: options.fsync == Fsync::Directory,
            names: [const { Mutex::new(()) }; 64],
        };
        if store.own_names.is_none() {
            store.check_layout()?;
        }
        Ok(store)
    }

    /// The file of a key.
    pub(crate) fn name(&self, key: Key) -> Name {
        match &self.own_names {
            None => Name::of(self.options.layout, key),
            Some(names) => names.name(key).map_or_else(|| Name::added(key), Name::own),
        }
    }

    /// Keeps other threads from replacing or removing a file.
    pub(super) fn lock_name(&self, name: &Name) -> MutexGuard<'_, ()> {
        let lock = &self.names[name.scatter() % self.names.len()];
        lock.lock()
    }

    /// The store's directory as it is now; as it was, if there is none.
    pub(super) fn open_root(&self) -> Result<File> {
        match open_directory(&self.path) {
            Err(e) if e.kind() == ErrorKind::NotFound => self.root.try_clone(),
            root => root,
        }
        .map_err(StoreError::io("open", &self.path))
    }

    /// Makes the directory, and makes it last if new names are to.
    pub(super) fn make(&self) -> Result<()> {
        self.expect_numbers("create")?;
        fs::create_dir(&self.path).map_err(StoreError::io("make directory", &self.path))?;
        self.sync_parent()
    }

    /// Removes every file of ours and the directories around them. Where there is anything else,
    /// its directory stays, and that is an error.
    pub(super) fn remove(&self) -> Result<()> {
        self.expect_numbers("drop")?;
        match self.options.layout {
            Layout::Dir => remove_directory(&self.path, 6, 0)?,
            Layout::Tree => remove_directory(&self.path, 2, 2)?,
        }
        self.sync_parent()
    }

    /// That files are named by numbers: of others it is not known which are ours.
    fn expect_numbers(&self, action: &str) -> Result<()> {
        refuse! {
            self.own_names.is_some() => format!("{action} a table"),
                "with names=on nobody says which directories are part of it";
        }
        Ok(())
    }

    fn sync_parent(&self) -> Result<()> {
        if !self.syncs_names {
            return Ok(());
        }
        let parent = match self.path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        File::open(parent)
            .and_then(|parent| parent.sync_all())
            .map_err(StoreError::io("sync", parent))
    }

    /// Syncs a directory after each file made in it or removed from it, also where an overwrite syncs
    /// the file alone.
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
            refuse! {
                is_other => format!("open {}", self.path.display()),
                    format!("its files are laid out as layout={other}");
            }
            break;
        }
        Ok(())
    }

    /// Keys from `from` on, by rising key.
    pub(super) fn keys(&self, from: Key) -> Result<Vec<Key>> {
        let mut keys = match &self.own_names {
            Some(names) => named_keys(&self.path, names)?,
            None => numbered_keys(&self.path, self.options.layout, from)?,
        };
        keys.retain(|key| *key >= from.0);
        keys.sort_unstable();
        Ok(keys.into_iter().map(Key).collect())
    }

    pub(crate) fn path_of(&self, key: Key) -> PathBuf {
        self.path.join(self.name(key).as_path())
    }
}

/// The directory itself: whoever put a link in its place would have another one's files written.
fn open_directory(path: &Path) -> std::io::Result<File> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

pub(super) fn entries(path: &Path) -> Result<impl Iterator<Item = Result<DirEntry>>> {
    let entries = fs::read_dir(path).map_err(StoreError::io("list", path))?;
    Ok(entries.map(move |entry| entry.map_err(StoreError::io("list", path))))
}

/// Removes a directory with its files, `levels` further down. Links are not followed.
fn remove_directory(path: &Path, min_digits: usize, levels: u32) -> Result<()> {
    for entry in entries(path)? {
        let entry = entry?;
        let name = entry.file_name();
        let ours = parse_number(name.as_bytes(), min_digits).is_some();
        if levels > 0 && ours && is_directory(&entry)? {
            remove_directory(&entry.path(), min_digits, levels - 1)?;
        } else if levels == 0 && (ours || is_temporary(name.as_bytes())) {
            fs::remove_file(entry.path()).map_err(StoreError::io("delete", &entry.path()))?;
        }
    }
    fs::remove_dir(path).map_err(StoreError::io("remove directory", path))
}

/// The keys that name files of a directory by their numbers, and perhaps some below `from`.
pub(super) fn numbered_keys(path: &Path, layout: Layout, from: Key) -> Result<Vec<u64>> {
    if layout == Layout::Dir {
        return numbers(path, 6);
    }
    let mut keys = Vec::new();
    for top in numbers(path, 2)? {
        if top < from.0 / 10_000 {
            continue;
        }
        let top_path = path.join(format!("{top:02}"));
        for middle in numbers(&top_path, 2)? {
            let leaves = numbers(&top_path.join(format!("{middle:02}")), 2)?;
            let keys_of = |leaf: &u64| tree_key(top, middle, *leaf);
            keys.extend(leaves.iter().filter_map(keys_of));
        }
    }
    Ok(keys)
}

/// The keys whose names are there, anywhere below a directory.
fn named_keys(path: &Path, names: &Names) -> Result<Vec<u64>> {
    let (mut keys, mut waiting) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(directory) = waiting.pop() {
        for entry in entries(&path.join(&directory))? {
            let entry = entry?;
            let below = directory.join(entry.file_name());
            match is_directory(&entry)? {
                true => waiting.push(below),
                false => keys.extend(names.key(below.as_os_str().as_bytes()).map(|key| key.0)),
            }
        }
    }
    Ok(keys)
}

fn is_directory(entry: &DirEntry) -> Result<bool> {
    let kind = entry.file_type();
    Ok(kind
        .map_err(StoreError::io("stat", &entry.path()))?
        .is_dir())
}

/// The numbers that name entries of a directory.
pub(super) fn numbers(path: &Path, min_digits: usize) -> Result<Vec<u64>> {
    entries(path)?
        .filter_map(|entry| {
            entry
                .map(|entry| parse_number(entry.file_name().as_bytes(), min_digits))
                .transpose()
        })
        .collect()
}
