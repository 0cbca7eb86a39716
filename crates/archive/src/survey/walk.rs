//! A tree of files, entry by entry: links are not followed, other file systems not entered.

use crate::place::PlaceError;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Access, AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::ffi::CStr;
use std::ops::ControlFlow;
use std::path::Path;

/// An entry of a directory.
pub(crate) struct Entry<'e> {
    /// The directory, open.
    pub(crate) directory: BorrowedFd<'e>,
    /// Its name there.
    pub(crate) name: &'e CStr,
    /// Its path from the topmost directory.
    pub(crate) path: &'e [u8],
    /// What it is.
    pub(crate) kind: FileType,
    /// What the file system says of it.
    pub(crate) stat: &'e Stat,
}

impl Entry<'_> {
    /// Whether this user may read it; nobody is asked where everybody may.
    pub(crate) fn is_readable(&self) -> bool {
        self.stat.st_mode & 0o444 == 0o444
            || rustix::fs::accessat(self.directory, self.name, Access::READ_OK, AtFlags::EACCESS)
                .is_ok()
    }
}

/// Who is told of the entries.
pub(crate) trait Visitor {
    /// The entries of another directory follow.
    fn begin_directory(&mut self) {}

    /// An entry; breaking off ends the walk.
    fn entry(&mut self, entry: &Entry<'_>) -> ControlFlow<()>;

    /// A directory on which another file system is mounted.
    fn other_file_system(&mut self, path: &[u8]) {
        let _ = path;
    }

    /// An entry or a directory that could not be looked at.
    fn refused(&mut self, path: &[u8], why: Errno) {
        let _ = (path, why);
    }
}

/// Nobody listens.
pub(crate) struct Nobody;

impl Visitor for Nobody {
    fn entry(&mut self, _: &Entry<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Two that are told the same; the walk ends where one of them breaks it off.
pub(crate) struct Both<'v>(
    pub(crate) &'v mut dyn Visitor,
    pub(crate) &'v mut dyn Visitor,
);

impl Visitor for Both<'_> {
    fn begin_directory(&mut self) {
        self.0.begin_directory();
        self.1.begin_directory();
    }

    fn entry(&mut self, entry: &Entry<'_>) -> ControlFlow<()> {
        self.0.entry(entry)?;
        self.1.entry(entry)
    }

    fn other_file_system(&mut self, path: &[u8]) {
        self.0.other_file_system(path);
        self.1.other_file_system(path);
    }

    fn refused(&mut self, path: &[u8], why: Errno) {
        self.0.refused(path, why);
        self.1.refused(path, why);
    }
}

/// Walks the tree below `root`. Memory grows with the directories that wait, not with files.
///
/// # Errors
/// `root` itself cannot be opened or listed.
pub(crate) fn walk(root: &Path, visitor: &mut dyn Visitor) -> Result<(), PlaceError> {
    let top = open_directory(CWD, root).map_err(PlaceError::io("open", root))?;
    let own = rustix::fs::fstat(&top).map_err(PlaceError::io("open", root))?;
    let mut waiting = vec![Vec::new()];
    while let Some(path) = waiting.pop() {
        let opened = match path.is_empty() {
            true => open_directory(&top, "."),
            false => open_directory(&top, &path[..]),
        };
        let listed = opened.and_then(|directory| Ok((Dir::read_from(&directory)?, directory)));
        let (entries, directory) = match listed {
            Ok(listed) => listed,
            Err(why) if path.is_empty() => return Err(PlaceError::io("list", root)(why)),
            Err(why) => {
                visitor.refused(&path, why);
                continue;
            }
        };
        visitor.begin_directory();
        let inside = Inside {
            directory,
            path,
            device: own.st_dev,
        };
        if inside.list(entries, visitor, &mut waiting).is_break() {
            return Ok(());
        }
    }
    Ok(())
}

/// A directory that is listed.
struct Inside {
    directory: OwnedFd,
    path: Vec<u8>,
    device: u64,
}

impl Inside {
    fn list(
        &self,
        entries: Dir,
        visitor: &mut dyn Visitor,
        waiting: &mut Vec<Vec<u8>>,
    ) -> ControlFlow<()> {
        let mut path = self.path.clone();
        if !path.is_empty() {
            path.push(b'/');
        }
        let prefix = path.len();
        for entry in entries {
            path.truncate(prefix);
            let entry = match entry {
                Ok(entry) => entry,
                Err(why) => {
                    visitor.refused(&self.path, why);
                    return ControlFlow::Continue(());
                }
            };
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            path.extend_from_slice(name.to_bytes());
            let stat = match rustix::fs::statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => stat,
                Err(why) => {
                    visitor.refused(&path, why);
                    continue;
                }
            };
            let kind = FileType::from_raw_mode(stat.st_mode);
            if kind == FileType::Directory && stat.st_dev != self.device {
                visitor.other_file_system(&path);
                continue;
            }
            visitor.entry(&Entry {
                directory: self.directory.as_fd(),
                name,
                path: &path,
                kind,
                stat: &stat,
            })?;
            if kind == FileType::Directory {
                waiting.push(path.clone());
            }
        }
        ControlFlow::Continue(())
    }
}

/// Opens a directory that is no link.
pub(crate) fn open_directory(
    at: impl AsFd,
    path: impl rustix::path::Arg,
) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::openat(at, path, flags, Mode::empty())
}
