//! Directories below one, opened level by level and never through a link.
//!
//! A path as a whole would be resolved by the kernel, links in it included: whoever swaps a directory
//! for a link, or an archive that holds a link and a file behind it, would lead elsewhere.

use rustix::fs::{CWD, Mode, OFlags, Timespec, Timestamps, UTIME_OMIT, mkdirat, openat};
use rustix::io::Errno;
use rustix::path::Arg;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

/// The directories on the way to the one that was asked for last stay open, so that neighbours cost
/// one call or none.
#[derive(Debug)]
pub(crate) struct Directories {
    root: OwnedFd,
    open: Vec<(String, OwnedFd)>,
    missing: Missing,
}

/// What is done about a directory that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// The error of the system.
    Refuse,
    /// It is made.
    Make,
}

/// Opens a directory, which may be reached through links: whoever named it chose it.
pub(crate) fn open_top(root: &Path) -> Result<OwnedFd, Errno> {
    openat(CWD, root, DIRECTORY, Mode::empty())
}

/// Opens a directory itself, if it is one and no link.
pub(crate) fn open_below(parent: BorrowedFd<'_>, name: impl Arg) -> Result<OwnedFd, Errno> {
    openat(parent, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())
}

/// Opens a regular file for reading, through no link, and waits for nothing that has its name by now.
pub(crate) fn open_file(directory: impl AsFd, name: impl Arg) -> io::Result<File> {
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::from(openat(directory, name, flags, Mode::empty())?);
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is no regular file any more")),
    }
}

/// A time of modification; that of access stays what it is.
pub(crate) fn times(seconds: i64, nanoseconds: i64) -> Timestamps {
    Timestamps {
        last_access: Timespec {
            tv_sec: 0,
            tv_nsec: UTIME_OMIT,
        },
        last_modification: Timespec {
            tv_sec: seconds,
            tv_nsec: nanoseconds,
        },
    }
}

impl Directories {
    /// Those below `root`.
    pub(crate) fn below(root: &Path, missing: Missing) -> Result<Self, Errno> {
        Ok(Self::of(open_top(root)?, missing))
    }

    /// Those below the directory `name` in `parent`, which is a directory itself and no link: nobody chose
    /// where a link of that name leads.
    pub(crate) fn below_own(parent: &Path, name: &OsStr, missing: Missing) -> Result<Self, Errno> {
        let parent = open_top(parent)?;
        Ok(Self::of(open_below(parent.as_fd(), name)?, missing))
    }

    fn of(root: OwnedFd, missing: Missing) -> Self {
        Self {
            root,
            open: Vec::new(),
            missing,
        }
    }

    /// The directory at a relative path without `.` and `..`; the root for an empty one.
    pub(crate) fn at(&mut self, path: &str) -> Result<BorrowedFd<'_>, Errno> {
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let open = self.open.iter().zip(&parts);
        let same = open.take_while(|((name, _), part)| name == *part).count();
        self.open.truncate(same);
        for part in &parts[same..] {
            let next = self.enter(part)?;
            self.open.push(((*part).to_owned(), next));
        }
        Ok(self.last())
    }

    fn last(&self) -> BorrowedFd<'_> {
        self.open
            .last()
            .map_or(self.root.as_fd(), |(_, directory)| directory.as_fd())
    }

    fn enter(&self, name: &str) -> Result<OwnedFd, Errno> {
        match open_below(self.last(), name) {
            Err(Errno::NOENT) if self.missing == Missing::Make => {
                match mkdirat(self.last(), name, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => open_below(self.last(), name),
                    Err(errno) => Err(errno),
                }
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_directory_is_reached_through_no_link_and_made_only_where_that_is_wanted() {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir_all(place.path().join("root/a/b")).unwrap();
        fs::create_dir(place.path().join("outside")).unwrap();
        std::os::unix::fs::symlink("../outside", place.path().join("root/link")).unwrap();
        let root = place.path().join("root");
        let mut fixed = Directories::below(&root, Missing::Refuse).unwrap();
        let mut made = Directories::below(&root, Missing::Make).unwrap();
        for path in ["a/b", "a", "", "a/b"] {
            fixed.at(path).unwrap();
        }
        assert_eq!(fixed.at("a/c").map(|_| ()), Err(Errno::NOENT));
        for directories in [&mut fixed, &mut made] {
            assert!(directories.at("link").is_err());
            assert!(directories.at("link/x").is_err());
        }
        made.at("a/c/d").unwrap();
        assert!(root.join("a/c/d").is_dir());
        assert_eq!(
            fs::read_dir(place.path().join("outside")).unwrap().count(),
            0
        );
    }
}
