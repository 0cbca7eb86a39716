//! A tree walked without following links, in the order of names, one directory after the other.

use crate::ArchiveError;
use crate::directories::{Directories, Missing, open_below};
use crate::error::{Refusal, Refusals};
use crate::names::{LEVELS_MAX, split};
use crate::sqlar::Kind;
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;
use std::ffi::CString;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

/// What was found, before it was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// Its path below the root; empty for the root.
    pub(crate) path: String,
    /// What the directory says it is.
    pub(crate) kind: Kind,
}

/// A walk on its way.
#[derive(Debug)]
pub(crate) struct Walk {
    levels: Vec<Level>,
    root: Option<Found>,
    skip: Vec<String>,
}

#[derive(Debug)]
struct Level {
    directory: OwnedFd,
    path: String,
    names: std::vec::IntoIter<(CString, FileType)>,
}

impl Walk {
    /// Of everything in the directory `root`, itself first, but for the paths in `skip`.
    pub(crate) fn of(root: &Path, skip: Vec<String>) -> Result<Self, ArchiveError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let failed = || ArchiveError::io("read", root);
        let directory = openat(CWD, root, flags, Mode::empty()).map_err(failed())?;
        let level = Level::read(directory, String::new()).map_err(failed())?;
        Ok(Self {
            levels: vec![level],
            root: Some(Found {
                path: String::new(),
                kind: Kind::Directory,
            }),
            skip,
        })
    }

    /// Of one path below `base`, with everything in it.
    pub(crate) fn from(base: &Path, path: &str, skip: Vec<String>) -> Result<Self, ArchiveError> {
        if path.is_empty() {
            return Self::of(base, skip);
        }
        let (parent, name) = split(path);
        let failed = || ArchiveError::io("open", &base.join(path));
        let mut directories = Directories::below(base, Missing::Refuse).map_err(failed())?;
        let directory = directories.at(parent).map_err(failed())?;
        let found = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).map_err(failed())?;
        let name =
            CString::new(name).map_err(|_| ArchiveError::invalid("a name has a zero byte"))?;
        let kind = FileType::from_raw_mode(found.st_mode);
        let level = Level {
            directory: rustix::io::fcntl_dupfd_cloexec(directory, 0).map_err(failed())?,
            path: parent.to_owned(),
            names: vec![(name, kind)].into_iter(),
        };
        Ok(Self {
            levels: vec![level],
            root: None,
            skip,
        })
    }

    /// The next one. What cannot be in an archive, or cannot be looked at, is kept in `refused`.
    pub(crate) fn next(&mut self, refused: &mut Refusals) -> Result<Option<Found>, ArchiveError> {
        if let Some(root) = self.root.take() {
            return Ok(Some(root));
        }
        loop {
            let Some(level) = self.levels.last_mut() else {
                return Ok(None);
            };
            let Some((name, kind)) = level.names.next() else {
                self.levels.pop();
                continue;
            };
            let found = match level.found(&name, kind) {
                Ok(found) => found,
                Err(refusal) => {
                    refused.add(refusal);
                    continue;
                }
            };
            if self.skip.contains(&found.path) {
                continue;
            }
            if found.kind == Kind::Directory {
                self.enter(&name, &found.path, refused)?;
            }
            return Ok(Some(found));
        }
    }

    /// Bytes of the file that was found last.
    fn size_of_last(&self, found: &Found) -> Option<u64> {
        let directory = &self.levels.last()?.directory;
        let name = split(&found.path).1;
        let found = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        u64::try_from(found.st_size).ok()
    }

    fn enter(
        &mut self,
        name: &CString,
        path: &str,
        refused: &mut Refusals,
    ) -> Result<(), ArchiveError> {
        let Some(level) = self.levels.last() else {
            return Ok(());
        };
        if self.levels.len() >= LEVELS_MAX {
            refused.add(Refusal::new(
                path,
                "what is in it lies more than 256 directories deep",
            ));
            return Ok(());
        }
        let name = name.to_string_lossy();
        let next = open_below(level.directory.as_fd(), &name)
            .and_then(|directory| Level::read(directory, path.to_owned()));
        match next {
            Ok(level) => self.levels.push(level),
            Err(errno @ (Errno::MFILE | Errno::NFILE)) => {
                return Err(ArchiveError::io("read", &PathBuf::from(path))(errno));
            }
            Err(errno) => {
                let why = format!(
                    "what is in it cannot be read: {}",
                    std::io::Error::from(errno)
                );
                refused.add(Refusal::new(path, why));
            }
        }
        Ok(())
    }
}

impl Level {
    fn read(directory: OwnedFd, path: String) -> Result<Self, Errno> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&directory)? {
            let entry = entry?;
            if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
                names.push((entry.file_name().to_owned(), entry.file_type()));
            }
        }
        names.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Ok(Self {
            directory,
            path,
            names: names.into_iter(),
        })
    }

    fn found(&self, name: &CString, kind: FileType) -> Result<Found, Refusal> {
        let join = |name: &str| match self.path.as_str() {
            "" => name.to_owned(),
            path => format!("{path}/{name}"),
        };
        let Ok(text) = name.to_str() else {
            let shown = join(&name.to_string_lossy());
            return Err(Refusal::new(shown, "its name is not UTF-8"));
        };
        let path = join(text);
        // Not every file system says it.
        let kind = match kind {
            FileType::Unknown => statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW)
                .map_or(FileType::Unknown, |found| {
                    FileType::from_raw_mode(found.st_mode)
                }),
            known => known,
        };
        let kind = match kind {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Directory,
            FileType::Symlink => Kind::Link,
            FileType::Fifo => return Err(Refusal::new(path, "it is a fifo")),
            FileType::Socket => return Err(Refusal::new(path, "it is a socket")),
            FileType::CharacterDevice | FileType::BlockDevice => {
                return Err(Refusal::new(path, "it is a device"));
            }
            FileType::Unknown => return Err(Refusal::new(path, "what it is cannot be told")),
        };
        Ok(Found { path, kind })
    }
}

/// What a first look at a tree says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counted {
    /// Entries, as far as can be seen.
    pub(crate) entries: u64,
    /// Half of the files are smaller, in bytes; by a sample of them. 0 where there are none.
    pub(crate) median: u64,
}

/// One file of so many is looked at for its size.
const SAMPLED: u64 = 16;

/// Counts what there is.
pub(crate) fn count(root: &Path) -> Result<Counted, ArchiveError> {
    let mut walk = Walk::of(root, Vec::new())?;
    let (mut entries, mut files, mut sizes) = (0, 0_u64, Vec::new());
    while let Some(found) = walk.next(&mut Refusals::default())? {
        entries += 1;
        if found.kind == Kind::File {
            if files.is_multiple_of(SAMPLED) {
                sizes.extend(walk.size_of_last(&found));
            }
            files += 1;
        }
    }
    sizes.sort_unstable();
    let median = sizes.get(sizes.len() / 2).copied().unwrap_or(0);
    Ok(Counted { entries, median })
}

#[cfg(test)]
mod tests {
    use super::*;
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
