//! Temporary directories: locked while they are in use, so that those of a process that was killed can be
//! told from those of one that lives.

use crate::DatasetError;
use rustix::fs::OFlags;
use std::ffi::OsStr;
use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::io::{Error, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Random characters in the middle of a name, as `tempfile` makes them.
const RANDOM: usize = 6;

/// What a temporary directory is for, and how it is told from what others made.
#[derive(Debug)]
pub struct Use {
    /// How its name begins, before the random characters.
    pub prefix: &'static str,
    /// How its name ends.
    pub suffix: &'static str,
    /// What the umask leaves of this is its mode.
    pub mode: u32,
    /// Whether an entry of this name may lie in it.
    pub holds: fn(&str) -> bool,
}

/// A directory with a name of its own, which goes with all it holds when it is dropped.
#[derive(Debug)]
pub struct Temporary {
    directory: TempDir,
    /// Holds the lock, if the file system knows any; dropped last.
    _lock: File,
}

impl Temporary {
    /// Makes one in `parent`, and removes those that processes left there which were killed.
    ///
    /// # Errors
    /// There is no such parent, or nothing can be written there.
    pub fn create(purpose: &Use, parent: &Path) -> Result<Self, DatasetError> {
        remove_abandoned(purpose, parent);
        loop {
            let directory = new_directory(purpose, parent)?;
            // Another process may take it for one that was left, for it is not locked yet: then make another.
            let lock = match open_directory(directory.path()) {
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                opened => opened.map_err(DatasetError::io("open", directory.path()))?,
            };
            let taken = matches!(lock.try_lock(), Err(TryLockError::WouldBlock));
            if !taken && directory.path().is_dir() {
                return Ok(Self {
                    directory,
                    _lock: lock,
                });
            }
        }
    }

    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Leaves it where it is.
    #[must_use]
    pub fn keep(self) -> PathBuf {
        self.directory.keep()
    }
}

fn new_directory(purpose: &Use, parent: &Path) -> Result<TempDir, DatasetError> {
    tempfile::Builder::new()
        .prefix(purpose.prefix)
        .suffix(purpose.suffix)
        .rand_bytes(RANDOM)
        .permissions(Permissions::from_mode(purpose.mode))
        .tempdir_in(parent)
        .map_err(|error| match error.kind() {
            ErrorKind::NotFound => DatasetError::invalid(format!(
                "there is no directory {}; make it first",
                parent.display()
            )),
            // The kind only: the text names the temporary, which means nothing to anyone.
            kind => DatasetError::io("write in", parent)(Error::from(kind)),
        })
}

fn open_directory(path: &Path) -> Result<File, Error> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW;
    OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)
}

/// Removes what was left in `parent` by processes that were killed. What cannot be removed stays: it is in
/// nobody's way.
fn remove_abandoned(purpose: &Use, parent: &Path) {
    let Ok(entries) = std::fs::read_dir(parent) else {
        return;
    };
    for entry in entries.flatten() {
        if has_name(purpose, &entry.file_name()) {
            remove_if_abandoned(purpose, &entry.path());
        }
    }
}

fn has_name(purpose: &Use, name: &OsStr) -> bool {
    let name = name.to_str();
    let inner = name.and_then(|name| name.strip_prefix(purpose.prefix));
    let inner = inner.and_then(|name| name.strip_suffix(purpose.suffix));
    inner.is_some_and(|inner| {
        inner.len() == RANDOM && inner.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// Removes a directory that this user made, that nobody holds, and that holds only what we put there.
fn remove_if_abandoned(purpose: &Use, path: &Path) {
    let Ok(directory) = open_directory(path) else {
        return;
    };
    let user = rustix::process::geteuid().as_raw();
    let own = directory.metadata().is_ok_and(|found| found.uid() == user);
    // Where the file system knows no locks, nobody can tell whether it is in use.
    if own && holds_only_ours(purpose, path) && directory.try_lock().is_ok() {
        let _ = std::fs::remove_dir_all(path);
    }
}

fn holds_only_ours(purpose: &Use, path: &Path) -> bool {
    let ours = |name: &OsStr| name.to_str().is_some_and(purpose.holds);
    let entries = std::fs::read_dir(path);
    entries.is_ok_and(|mut entries| {
        entries.all(|entry| entry.is_ok_and(|entry| ours(&entry.file_name())))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const MADE: Use = Use {
        prefix: ".stowplan-",
        suffix: ".tmp",
        mode: 0o777,
        holds: |name| name.bytes().all(|byte| byte.is_ascii_digit()),
    };
    const RUN: Use = Use {
        prefix: "stowplan-run-",
        suffix: "",
        mode: 0o700,
        holds: |name| name.ends_with(".bin"),
    };

    #[test]
    fn a_temporary_directory_has_the_mode_of_any_new_one() {
        let directory = tempfile::tempdir().unwrap();
        let plain = directory.path().join("plain");
        fs::create_dir(&plain).unwrap();
        let temporary = Temporary::create(&MADE, directory.path()).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(temporary.path()), mode(&plain));
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_what_a_living_one_uses_is_not() {
        for (purpose, left, file) in [
            (MADE, ".stowplan-AbC123.tmp", "17"),
            (MADE, ".stowplan-000000.tmp", "000001"),
            (RUN, "stowplan-run-AbC123", "keys.bin"),
        ] {
            let directory = tempfile::tempdir().unwrap();
            let living = Temporary::create(&purpose, directory.path()).unwrap();
            let left = directory.path().join(left);
            fs::create_dir(&left).unwrap();
            fs::write(left.join(file), "x").unwrap();
            let next = Temporary::create(&purpose, directory.path()).unwrap();
            assert!(!left.exists(), "{left:?}");
            assert!(living.path().exists());
            drop((living, next));
            assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn many_at_a_time_each_get_one_though_each_removes_what_looks_abandoned() {
        let directory = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..300 {
                        let made = Temporary::create(&RUN, directory.path()).unwrap();
                        assert!(made.path().is_dir());
                    }
                });
            }
        });
    }

    #[test]
    fn what_somebody_else_made_stays_whatever_its_name() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let names = [
            ".stowplan-letter.tmp",
            ".stowplan-.tmp",
            ".stowplan-AbC123.tmp.old",
            ".stowplan-a.b.cd.tmp",
        ];
        for name in names {
            fs::create_dir(at(name)).unwrap();
            fs::write(at(name).join("letter.txt"), "x").unwrap();
        }
        fs::write(at(".stowplan-file01.tmp"), "x").unwrap();
        fs::create_dir(at("elsewhere")).unwrap();
        std::os::unix::fs::symlink("elsewhere", at(".stowplan-link01.tmp")).unwrap();
        let before = fs::read_dir(directory.path()).unwrap().count();
        drop(Temporary::create(&MADE, directory.path()).unwrap());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), before);
        assert!(at("elsewhere").exists());
    }
}
