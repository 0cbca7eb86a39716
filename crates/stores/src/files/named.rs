//! Operations on files by their names.
//!
//! Reads and writes go through rustix: no path is joined and nothing is allocated between the
//! key and the system call. Syncs go through the standard library instead, because those are
//! the calls that can be counted (`crate::syncs`).

use super::name::{Name, WholePath};
use super::stdio::Stream;
use super::store::FileStore;
use super::{Fsync, Opening, WriteMode};
use crate::kv::replaced;
use crate::{Found, Key, Result, StoreError};
use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};
use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};
use stowplan_dataset::publish::rename_unless_taken_at;

/// Numbers temporary files, across all sessions of this process.
static TEMPORARY: AtomicU64 = AtomicU64::new(0);

/// Links are never followed: a name of ours is a file of ours.
const SAFE: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC);

/// The files below a store's directory, for one thread. The keys given are for messages only:
/// which file is meant, its name says.
pub(crate) struct NamedFiles<'s> {
    pub(super) store: &'s FileStore,
    /// Names are looked up relative to this, which saves the walk down to the directory.
    root: File,
    /// Of the file that [`Self::aim`] was last given, with `open=path`.
    path: WholePath,
}

impl<'s> NamedFiles<'s> {
    pub(crate) fn new(store: &'s FileStore) -> Result<Self> {
        Ok(Self {
            store,
            root: store.open_root()?,
            path: WholePath::below(&store.path),
        })
    }

    /// Makes the store's directory, and goes on there.
    pub(super) fn make_root(&mut self) -> Result<()> {
        self.store.make()?;
        self.root = self.store.open_root()?;
        Ok(())
    }

    #[cold]
    pub(super) fn error(
        &self,
        action: &'static str,
        name: &Name,
        error: impl Into<io::Error>,
    ) -> StoreError {
        StoreError::io(action, &self.store.path.join(name.as_path()))(error)
    }

    /// What the system did to a file, or an error that names action and file.
    #[inline]
    pub(super) fn done<T, E: Into<io::Error>>(
        &self,
        action: &'static str,
        name: &Name,
        outcome: std::result::Result<T, E>,
    ) -> Result<T> {
        outcome.map_err(|error| self.error(action, name, error))
    }

    /// Does as [`Self::done`]; nothing where this is what the system says.
    #[inline]
    pub(super) fn unless<T>(
        &self,
        said: Errno,
        action: &'static str,
        name: &Name,
        outcome: std::result::Result<T, Errno>,
    ) -> Result<Option<T>> {
        match outcome {
            Err(errno) if errno == said => Ok(None),
            outcome => self.done(action, name, outcome).map(Some),
        }
    }

    /// Opens an existing file; none if there is no such file.
    pub(super) fn open(&self, name: &Name, flags: OFlags) -> Result<Option<OwnedFd>> {
        self.open_at((self.root.as_fd(), name.as_c_str()), name, flags)
    }

    /// Opens the file of a value that is read or overwritten, by the path that the settings say.
    pub(super) fn open_value(&mut self, name: &Name, flags: OFlags) -> Result<Option<OwnedFd>> {
        self.aim(name);
        self.open_at(self.place(name), name, flags)
    }

    fn open_at(
        &self,
        (directory, path): (BorrowedFd<'_>, &CStr),
        name: &Name,
        flags: OFlags,
    ) -> Result<Option<OwnedFd>> {
        let open = || rustix::fs::openat(directory, path, flags | SAFE, Mode::empty());
        self.unless(Errno::NOENT, "open", name, retry_on_intr(open))
    }

    /// Puts a name behind the directory, where that is the path that files are opened by.
    pub(super) fn aim(&mut self, name: &Name) {
        if self.store.options.open == Opening::Path {
            self.path.aim(name);
        }
    }

    /// Where the file is that [`Self::aim`] was last given: a directory, and a path from there.
    pub(super) fn place<'p>(&'p self, name: &'p Name) -> (BorrowedFd<'p>, &'p CStr) {
        match self.store.options.open {
            Opening::Path => (CWD, self.path.as_c_str()),
            Opening::Directory | Opening::Kept => (self.root.as_fd(), name.as_c_str()),
        }
    }

    fn create(&self, name: &Name) -> std::result::Result<OwnedFd, Errno> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | SAFE;
        let mode = Mode::from_raw_mode(0o644);
        retry_on_intr(|| rustix::fs::openat(&self.root, name.as_c_str(), flags, mode))
    }

    /// Syncs the file if the settings say so.
    fn sync(&self, file: &File, name: &Name) -> Result<()> {
        match self.store.options.fsync {
            Fsync::Off => Ok(()),
            Fsync::File | Fsync::Directory => self.done("sync", name, file.sync_all()),
        }
    }

    /// Syncs the directory that holds the file `name`, whose name is new or gone, if the settings
    /// say so.
    pub(crate) fn finish_name(&self, name: &Name) -> Result<()> {
        if !self.store.syncs_names {
            return Ok(());
        }
        self.sync_directory(&name.directory())
    }

    /// Syncs one directory; the empty name is the store's own.
    fn sync_directory(&self, name: &Name) -> Result<()> {
        let synced = match name.is_empty() {
            true => self.root.sync_all(),
            false => self
                .open(name, OFlags::RDONLY | OFlags::DIRECTORY)?
                .map_or(Err(Errno::NOENT.into()), |d| File::from(d).sync_all()),
        };
        self.done("sync", name, synced)
    }

    /// As kvtest does: the file is looked up by its path and then opened by it. As `fopen` would make
    /// what is missing, nobody may remove the file in between.
    fn overwrite_by_path(&mut self, name: &Name, value: &[u8]) -> Result<Found> {
        self.aim(name);
        let opened = {
            let _unchanged = self.store.lock_name(name);
            let place = self.place(name);
            if self.look_up(place, name)?.is_none() {
                return Ok(Found::Missing);
            }
            Stream::to_write(place.1)
        };
        let mut stream = self.done("open", name, opened)?;
        self.done("write", name, stream.write(value))?;
        if self.store.options.fsync != Fsync::Off {
            // What is synced has left the stream's buffer.
            self.done("write", name, stream.flush())?;
            stream.with_file(|file| self.sync(file, name))?;
        }
        self.done("write", name, stream.close())?;
        Ok(Found::Bytes(value.len()))
    }

    /// Replaces the content of a file that stays open.
    pub(super) fn overwrite_kept(&self, name: &Name, file: &File, value: &[u8]) -> Result<Found> {
        let truncates = self.store.options.write == WriteMode::Truncate;
        if truncates {
            self.done("shorten", name, file.set_len(0))?;
        }
        self.write_over(name, file, value, truncates)
    }

    /// Writes over what a file has, if it has something, and syncs it if the settings say so.
    fn write_over(&self, name: &Name, file: &File, value: &[u8], is_empty: bool) -> Result<Found> {
        let before = match is_empty {
            true => 0,
            false => self.size_of(file, name)?,
        };
        self.done("write", name, file.write_all_at(value, 0))?;
        if before > value.len() {
            self.done("shorten", name, file.set_len(value.len() as u64))?;
        }
        self.sync(file, name)?;
        Ok(Found::Bytes(value.len()))
    }

    /// A rename would also create what was missing, hence the look before it, during which nobody
    /// may remove the file. Nobody has to wait while it is written and synced, which takes long.
    fn overwrite_by_rename(&self, name: &Name, value: &[u8]) -> Result<Found> {
        if !self.is_there(name)? {
            return Ok(Found::Missing);
        }
        let created = self.create_temporary(name);
        let (temporary, file) = self.done("create a temporary file beside", name, created)?;
        self.complete(file, &temporary, value)?;
        let renamed = self.rename_over(&temporary, name);
        if !matches!(renamed, Ok(true)) {
            self.discard(&temporary);
        }
        let was_there = renamed?;
        if was_there && self.store.options.fsync == Fsync::Directory {
            self.sync_directory(&name.directory())?;
        }
        Ok(replaced(was_there, value))
    }

    /// Replaces a file by another; says whether it was still there. If not, both stay as they are.
    fn rename_over(&self, from: &Name, to: &Name) -> Result<bool> {
        let _unchanged = self.store.lock_name(to);
        if !self.is_there(to)? {
            return Ok(false);
        }
        let root = &self.root;
        let renamed = rustix::fs::renameat(root, from.as_c_str(), root, to.as_c_str());
        self.done("rename", from, renamed).map(|()| true)
    }

    fn create_temporary(&self, beside: &Name) -> std::result::Result<(Name, OwnedFd), Errno> {
        loop {
            let number = TEMPORARY.fetch_add(1, Ordering::Relaxed);
            let name = beside.temporary(std::process::id(), number);
            match self.create(&name) {
                // Left by an earlier process of the same number; not ours to delete.
                Err(Errno::EXIST) => {}
                created => return created.map(|file| (name, file)),
            }
        }
    }

    /// Writes what was just created, and syncs it if the settings say so. What could not be
    /// completed is removed.
    fn complete(&self, file: OwnedFd, name: &Name, value: &[u8]) -> Result<()> {
        let written = self.write_over(name, &File::from(file), value, true);
        if written.is_err() {
            self.discard(name);
        }
        written.map(drop)
    }

    /// Removes what could not be completed, or has another name now. A caller with an error to
    /// report has one that says more than one from here.
    fn discard(&self, name: &Name) {
        let _ = rustix::fs::unlinkat(&self.root, name.as_c_str(), AtFlags::empty());
    }

    /// Whether there is a file of this name.
    pub(crate) fn is_there(&self, name: &Name) -> Result<bool> {
        let found = self.look_up((self.root.as_fd(), name.as_c_str()), name);
        Ok(found?.is_some())
    }

    /// The size of the file where a path from a directory leads to; nothing if there is none.
    pub(super) fn look_up(
        &self,
        (directory, path): (BorrowedFd<'_>, &CStr),
        name: &Name,
    ) -> Result<Option<usize>> {
        let stat = rustix::fs::statat(directory, path, AtFlags::SYMLINK_NOFOLLOW);
        let stat = self.unless(Errno::NOENT, "stat", name, stat)?;
        stat.map(|stat| self.size_in(&stat, name)).transpose()
    }

    /// Makes the directories of the file `name`, and makes them last if the settings say so.
    fn make_directories(&self, name: &Name) -> Result<()> {
        let directory = name.directory();
        if directory.is_empty() {
            return Ok(());
        }
        self.make_directories(&directory)?;
        let mode = Mode::from_raw_mode(0o755);
        let made = rustix::fs::mkdirat(&self.root, directory.as_c_str(), mode);
        match self.unless(Errno::EXIST, "make directory", &directory, made)? {
            Some(()) => self.finish_name(&directory),
            None => Ok(()),
        }
    }

    /// Adds a file. With `write=rename` it is written under a temporary name first, so that under its own
    /// it is never seen, nor left by a crash, but whole, as far as the settings sync it; with the others,
    /// a crash may leave it empty or torn.
    ///
    /// # Errors
    /// There is such a file, or the file system refuses; then nothing is left behind.
    pub(crate) fn insert(&self, key: Key, name: &Name, value: &[u8]) -> Result<()> {
        let renames = self.store.options.write == WriteMode::Rename;
        let create = || match renames {
            true => self.create_temporary(name),
            false => self.create(name).map(|file| (name.clone(), file)),
        };
        let mut created = create();
        if matches!(created, Err(Errno::NOENT)) && !name.directory().is_empty() {
            self.make_directories(name)?;
            created = create();
        }
        let taken = || StoreError::key_exists(key);
        let created = self.unless(Errno::EXIST, "create", name, created)?;
        let (made, file) = created.ok_or_else(taken)?;
        self.complete(file, &made, value)?;
        if renames {
            let at = |name| (self.root.as_fd(), Name::as_path(name));
            let renamed = rename_unless_taken_at(at(&made), at(name));
            if renamed.is_err() {
                self.discard(&made);
            }
            let renamed = self.unless(Errno::EXIST, "rename", &made, renamed)?;
            renamed.ok_or_else(taken)?;
        }
        self.finish_name(name)
    }

    /// Replaces the content of a file in the way that the settings say.
    pub(crate) fn overwrite(&mut self, name: &Name, value: &[u8]) -> Result<Found> {
        let (flags, is_empty) = match self.store.options.write {
            WriteMode::Stdio => return self.overwrite_by_path(name, value),
            WriteMode::Rename => return self.overwrite_by_rename(name, value),
            WriteMode::Truncate => (OFlags::TRUNC, true),
            WriteMode::InPlace => (OFlags::empty(), false),
        };
        match self.open_value(name, OFlags::WRONLY | flags)? {
            Some(file) => self.write_over(name, &File::from(file), value, is_empty),
            None => Ok(Found::Missing),
        }
    }

    /// Removes a file; says whether it was there. Of several threads, one removes it.
    pub(crate) fn remove(&self, name: &Name) -> Result<bool> {
        let removed = {
            let _unchanged = self.store.lock_name(name);
            rustix::fs::unlinkat(&self.root, name.as_c_str(), AtFlags::empty())
        };
        match self.unless(Errno::NOENT, "delete", name, removed)? {
            Some(()) => self.finish_name(name).map(|()| true),
            None => Ok(false),
        }
    }
}
