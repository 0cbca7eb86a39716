//! Trees walked without following links: directories stay open one within the other, and names come as they are
//! listed, or in order.

use crate::ArchiveError;
use crate::directories::{Directories, Missing, open_below, open_top};
use crate::error::{Doing, Refusal, Refusals, Refused};
use crate::names::{LEVELS_MAX, split};
use crate::sqlar::Kind;
use rustix::fs::{Access, AtFlags, Dir, FileType, Stat, statat};
use rustix::io::Errno;
use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

/// A name in a directory, and what that says it is.
type Name = (CString, FileType);

/// The directories from the topmost one to that whose names come next.
struct Levels(Vec<Level>);

struct Level {
    directory: OwnedFd,
    /// Below the root; empty for the root.
    path: Vec<u8>,
    names: Box<dyn Iterator<Item = Result<Name, Errno>> + Send>,
}

impl Levels {
    fn of(root: &Path, in_order: bool) -> Result<Self, Errno> {
        let top = Level::read(open_top(root)?, Vec::new(), in_order)?;
        Ok(Self(vec![top]))
    }

    /// The next name in the deepest directory that has one, and its path; that of the directory where it cannot be
    /// listed any more.
    fn next(&mut self) -> Option<(Vec<u8>, Result<Name, Errno>)> {
        loop {
            let level = self.0.last_mut()?;
            match level.names.next() {
                Some(Ok(name)) => return Some((level.join(name.0.to_bytes()), Ok(name))),
                Some(Err(why)) => return Some((level.path.clone(), Err(why))),
                None => drop(self.0.pop()),
            }
        }
    }

    /// The directory that the last name is in.
    fn directory(&self) -> Result<BorrowedFd<'_>, Errno> {
        let level = self.0.last().ok_or(Errno::NOENT)?;
        Ok(level.directory.as_fd())
    }

    fn stat(&self, name: &CString) -> Result<Stat, Errno> {
        statat(self.directory()?, name, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// Has the names of a directory come next; not where it lies too deep.
    fn enter(&mut self, name: &CString, path: &[u8], in_order: bool) -> Result<(), Errno> {
        if self.0.len() >= LEVELS_MAX {
            return Err(Errno::NAMETOOLONG);
        }
        let directory = open_below(self.directory()?, name)?;
        self.0
            .push(Level::read(directory, path.to_owned(), in_order)?);
        Ok(())
    }
}

impl Level {
    fn read(directory: OwnedFd, path: Vec<u8>, in_order: bool) -> Result<Self, Errno> {
        let listed = Dir::read_from(&directory)?.filter_map(|entry| match entry {
            Ok(entry) if matches!(entry.file_name().to_bytes(), b"." | b"..") => None,
            entry => Some(entry.map(|entry| (entry.file_name().to_owned(), entry.file_type()))),
        });
        let names: Box<dyn Iterator<Item = Result<Name, Errno>> + Send> = match in_order {
            false => Box::new(listed),
            true => {
                let mut names = listed.collect::<Result<Vec<Name>, Errno>>()?;
                names.sort_unstable_by(|a, b| a.0.cmp(&b.0));
                Box::new(names.into_iter().map(Ok))
            }
        };
        Ok(Self {
            directory,
            path,
            names,
        })
    }

    fn join(&self, name: &[u8]) -> Vec<u8> {
        match &self.path[..] {
            b"" => name.to_owned(),
            path => [path, b"/", name].concat(),
        }
    }
}

/// What can be an entry of an archive, before it was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// Its path below the root; empty for the root.
    pub(crate) path: String,
    /// What the directory says it is.
    pub(crate) kind: Kind,
}

/// A walk in the order of names, on its way.
pub(crate) struct Walk {
    levels: Levels,
    root: Option<Found>,
    skip: Vec<String>,
}

impl Walk {
    /// Of everything in the directory `root`, itself first, but for the paths in `skip`.
    pub(crate) fn of(root: &Path, skip: Vec<String>) -> Result<Self, ArchiveError> {
        let (path, kind) = (String::new(), Kind::Directory);
        Ok(Self {
            levels: Levels::of(root, true).doing("read", root)?,
            root: Some(Found { path, kind }),
            skip,
        })
    }

    /// Of one path below `base`, with everything in it.
    pub(crate) fn from(base: &Path, path: &str, skip: Vec<String>) -> Result<Self, ArchiveError> {
        if path.is_empty() {
            return Self::of(base, skip);
        }
        let (parent, name) = split(path);
        let name =
            CString::new(name).map_err(|_| ArchiveError::invalid("a name has a zero byte"))?;
        let mut directories =
            Directories::below(base, Missing::Refuse).doing("open", &base.join(path))?;
        let directory = directories.at(parent).doing("open", &base.join(path))?;
        let found =
            statat(directory, &name, AtFlags::SYMLINK_NOFOLLOW).doing("open", &base.join(path))?;
        let kind = FileType::from_raw_mode(found.st_mode);
        let level = Level {
            directory: rustix::io::fcntl_dupfd_cloexec(directory, 0)
                .doing("open", &base.join(path))?,
            path: parent.into(),
            names: Box::new(std::iter::once(Ok((name, kind)))),
        };
        Ok(Self {
            levels: Levels(vec![level]),
            root: None,
            skip,
        })
    }

    /// The next one. What cannot be in an archive, or cannot be looked at, is kept in `refused`.
    pub(crate) fn next(&mut self, refused: &mut Refusals) -> Result<Option<Found>, ArchiveError> {
        if let Some(root) = self.root.take() {
            return Ok(Some(root));
        }
        while let Some((path, next)) = self.levels.next() {
            let found = String::from_utf8(path).map_err(|path| {
                let shown = String::from_utf8_lossy(path.as_bytes());
                Refusal::new(shown, "its name is not UTF-8")
            });
            let found = found.and_then(|path| match &next {
                Ok((name, kind)) => self.kind(name, *kind, path),
                Err(why) => Err(Refusal::new(path, unlisted(*why))),
            });
            match (found, next) {
                (Err(refusal), _) => refused.add(refusal),
                (Ok(found), _) if self.skip.contains(&found.path) => {}
                (Ok(found), Ok((name, _))) => {
                    if found.kind == Kind::Directory {
                        self.enter(&name, &found.path, refused)?;
                    }
                    return Ok(Some(found));
                }
                (Ok(_), Err(_)) => {}
            }
        }
        Ok(None)
    }

    fn kind(&self, name: &CString, kind: FileType, path: String) -> Result<Found, Refusal> {
        // Not every file system says it.
        let kind = match kind {
            FileType::Unknown => self
                .levels
                .stat(name)
                .map_or(kind, |found| FileType::from_raw_mode(found.st_mode)),
            known => known,
        };
        match Kind::of(kind) {
            Ok(kind) => Ok(Found { path, kind }),
            Err(why) => Err(Refusal::new(path, why)),
        }
    }

    fn enter(
        &mut self,
        name: &CString,
        path: &str,
        refused: &mut Refusals,
    ) -> Result<(), ArchiveError> {
        match self.levels.enter(name, path.as_bytes(), true) {
            Err(errno @ (Errno::MFILE | Errno::NFILE)) => {
                return Err(errno.refused("read", &PathBuf::from(path)));
            }
            Err(Errno::NAMETOOLONG) => {
                let why = "what is in it lies more than 256 directories deep";
                refused.add(Refusal::new(path, why));
            }
            Err(errno) => refused.add(Refusal::new(path, unlisted(errno))),
            Ok(()) => {}
        }
        Ok(())
    }
}

fn unlisted(why: Errno) -> String {
    format!("what is in it cannot be read: {}", io::Error::from(why))
}

/// What is met in a tree that is looked at.
#[derive(Clone, Copy)]
pub(crate) enum Met<'m> {
    Entry(Entry<'m>),
    /// A directory on which another file system is mounted, which is not entered.
    OtherFileSystem(&'m [u8]),
    /// What could not be looked at.
    Refused(&'m [u8], Errno),
}

/// An entry of a directory.
#[derive(Clone, Copy)]
pub(crate) struct Entry<'e> {
    /// The directory, open.
    pub(crate) directory: BorrowedFd<'e>,
    /// Its name there.
    pub(crate) name: &'e CString,
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
        let (access, effective) = (Access::READ_OK, AtFlags::EACCESS);
        self.stat.st_mode & 0o444 == 0o444
            || rustix::fs::accessat(self.directory, self.name, access, effective).is_ok()
    }
}

/// Tells of everything below `root` on its file system, in the order in which it is listed: memory does not grow
/// with the number of files.
///
/// # Errors
/// `root` itself cannot be opened or listed.
pub(crate) fn look(root: &Path, visit: &mut dyn FnMut(Met<'_>)) -> Result<(), ArchiveError> {
    let mut levels = Levels::of(root, false).doing("open", root)?;
    let top = rustix::fs::fstat(levels.directory().doing("open", root)?).doing("open", root)?;
    while let Some((path, next)) = levels.next() {
        let found = next.and_then(|(name, _)| Ok((levels.stat(&name)?, name)));
        let (stat, name) = match found {
            Ok(found) => found,
            Err(why) if path.is_empty() => return Err(why.refused("list", root)),
            Err(why) => {
                visit(Met::Refused(&path, why));
                continue;
            }
        };
        let kind = FileType::from_raw_mode(stat.st_mode);
        let is_directory = kind == FileType::Directory;
        if is_directory && stat.st_dev != top.st_dev {
            visit(Met::OtherFileSystem(&path));
            continue;
        }
        visit(Met::Entry(Entry {
            directory: levels.directory().doing("open", root)?,
            name: &name,
            path: &path,
            kind,
            stat: &stat,
        }));
        let entered = match is_directory {
            true => levels.enter(&name, &path, false),
            false => Ok(()),
        };
        if let Err(why) = entered {
            visit(Met::Refused(&path, why));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, Mode};
    use std::fs;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn everything_is_found_once_in_order_and_nothing_behind_links() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::create_dir_all(at("b/c")).unwrap();
        fs::create_dir(at("empty")).unwrap();
        for name in ["a", "b/c/x", "b.txt", "b/z"] {
            fs::write(at(name), name).unwrap();
        }
        std::os::unix::fs::symlink("b", at("link")).unwrap();
        rustix::fs::mkfifoat(CWD, at("pipe"), Mode::RUSR).unwrap();
        fs::write(
            at("x").with_file_name(std::ffi::OsStr::from_bytes(b"bad\xff")),
            "",
        )
        .unwrap();
        let mut refused = Refusals::default();
        let mut walk = Walk::of(place.path(), vec!["b/z".to_owned()]).unwrap();
        let mut found = Vec::new();
        while let Some(next) = walk.next(&mut refused).unwrap() {
            found.push(next.path);
        }
        assert_eq!(
            found,
            ["", "a", "b", "b/c", "b/c/x", "b.txt", "empty", "link"]
        );
        let refused: Vec<&str> = refused
            .named
            .iter()
            .map(|refusal| refusal.why.as_str())
            .collect();
        assert_eq!(refused, ["its name is not UTF-8", "it is a fifo"]);
    }
}
