//! Room on the disk, and what a run may remove.

use crate::HarnessError;
use crate::environment::mount_of;
use crate::platform;
use std::fs::{DirEntry, File, Permissions, TryLockError};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The file that says: this directory was made by a run, and may be removed with all it holds.
const MARKER: &str = ".stowplan-work";

/// Bytes free to this user on the file system of `path`, which exists.
///
/// # Errors
/// The file system refuses.
pub fn free_bytes(path: &Path) -> Result<u64, HarnessError> {
    let state =
        rustix::fs::statvfs(path).map_err(HarnessError::io("ask for the free space of", path))?;
    Ok(state.f_bavail.saturating_mul(state.f_frsize))
}

/// Refuses to go on without room for `needed` bytes below `path`, which exists.
///
/// # Errors
/// There is not enough room, or the file system refuses to tell.
pub fn require_free(path: &Path, needed: u64) -> Result<(), HarnessError> {
    let free = free_bytes(path)?;
    if free >= needed {
        return Ok(());
    }
    Err(HarnessError::Space {
        path: path.to_owned(),
        needed,
        free,
        mount: mount_of(path).map_or_else(|| path.to_owned(), |mount| mount.mount_point),
    })
}

/// The directory in which a run works: newly made, and no other run's while this lives.
///
/// The marker in it is locked exclusively for that time. Where the file system knows no locks,
/// only the name keeps runs apart.
#[derive(Debug)]
pub struct WorkDirectory {
    path: PathBuf,
    /// Holds the lock.
    _marker: File,
}

impl WorkDirectory {
    /// Makes `path`, in a directory that exists.
    ///
    /// # Errors
    /// Something stands there, whoever made it, or the file system refuses.
    pub fn create(path: &Path) -> Result<Self, HarnessError> {
        std::fs::create_dir(path).map_err(HarnessError::io("create", path))?;
        Self::marked(path)
    }

    /// Makes a directory below `parent`, which exists, under a name that no other run has: process
    /// numbers are no such names, for in containers each run is number 1.
    ///
    /// # Errors
    /// The file system refuses.
    pub fn create_below(parent: &Path) -> Result<Self, HarnessError> {
        let made = tempfile::Builder::new()
            .prefix("stowplan-work-")
            // As any new directory: what the umask leaves of it.
            .permissions(Permissions::from_mode(0o777))
            .tempdir_in(parent)
            .map_err(HarnessError::io("create a directory in", parent))?;
        Self::marked(&made.keep())
    }

    /// One that a run left behind which is over.
    ///
    /// # Errors
    /// No run made it (it has no marker, or is itself a link), a run still works in it, or the file
    /// system refuses.
    pub fn left_behind(path: &Path) -> Result<Self, HarnessError> {
        require_marker(path)?;
        let marker = path.join(MARKER);
        let file = File::options().read(true).write(true).open(&marker);
        Self::locked(path, file.map_err(HarnessError::io("open", &marker))?)
    }

    fn marked(path: &Path) -> Result<Self, HarnessError> {
        let marker = path.join(MARKER);
        let mut file = File::create_new(&marker).map_err(HarnessError::io("create", &marker))?;
        file.write_all(b"Made by stowplan; it may remove this directory.\n")
            .map_err(HarnessError::io("write", &marker))?;
        Self::locked(path, file)
    }

    fn locked(path: &Path, marker: File) -> Result<Self, HarnessError> {
        match marker.try_lock() {
            Ok(()) | Err(TryLockError::Error(_)) => Ok(Self {
                path: path.to_owned(),
                _marker: marker,
            }),
            Err(TryLockError::WouldBlock) => Err(HarnessError::invalid(format!(
                "{} is the work directory of a run that still goes on; wait for its end, or end it",
                path.display()
            ))),
        }
    }

    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it and all it holds. Links are removed, not followed. The marker goes last: what is
    /// left after an error can still be told for what it is.
    ///
    /// # Errors
    /// It is no longer there, or the file system refuses.
    pub fn remove(&self) -> Result<(), HarnessError> {
        require_marker(&self.path)?;
        remove_entries_in_parallel(&self.path)?;
        remove_tree(&self.path)
    }
}

fn remove_tree(path: &Path) -> Result<(), HarnessError> {
    std::fs::remove_dir_all(path).map_err(HarnessError::io("remove", path))
}

/// Removes what is in `path` but the marker, each directory by a thread of its own: a hundred
/// thousand files take seconds, and there are several such stores.
fn remove_entries_in_parallel(path: &Path) -> Result<(), HarnessError> {
    let entries = std::fs::read_dir(path).map_err(HarnessError::io("read", path))?;
    let (directories, others): (Vec<_>, Vec<_>) = entries
        .flatten()
        .filter(|entry| entry.file_name() != MARKER)
        .partition(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    for other in others.iter().map(DirEntry::path) {
        std::fs::remove_file(&other).map_err(HarnessError::io("remove", &other))?;
    }
    let directories: Vec<_> = directories.iter().map(DirEntry::path).collect();
    std::thread::scope(|scope| {
        let threads: Vec<_> = directories
            .iter()
            .map(|directory| scope.spawn(move || remove_tree(directory)))
            .collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or(Ok(())))
    })
}

fn require_marker(path: &Path) -> Result<(), HarnessError> {
    let is = |path: &Path, what: fn(&std::fs::FileType) -> bool| {
        path.symlink_metadata()
            .is_ok_and(|data| what(&data.file_type()))
    };
    if is(path, std::fs::FileType::is_dir) && is(&path.join(MARKER), std::fs::FileType::is_file) {
        return Ok(());
    }
    Err(HarnessError::invalid(format!(
        "{} was not made by stowplan (it has no {MARKER}), so it is left alone; \
         choose another place with --work",
        path.display()
    )))
}

/// Brings everything written on the file system of `path` to the disk: what the measured writes
/// left behind is then not written during the next block.
///
/// # Errors
/// The file system refuses, or an earlier write failed.
pub fn sync_filesystem(path: &Path) -> Result<(), HarnessError> {
    let file = File::open(path).map_err(HarnessError::io("open", path))?;
    platform::sync_filesystem(&file).map_err(HarnessError::io("sync the file system of", path))
}

/// Makes names in a directory permanent.
pub(crate) fn sync_directory(path: &Path) -> Result<(), HarnessError> {
    File::open(path)
        .and_then(|directory| directory.sync_all())
        .map_err(HarnessError::io("sync", path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_request_beyond_the_disk_is_refused_with_the_mount() {
        let directory = tempfile::tempdir().unwrap();
        require_free(directory.path(), 1).unwrap();
        let error = require_free(directory.path(), u64::MAX).unwrap_err();
        assert!(matches!(&error, HarnessError::Space { free, .. } if *free > 0));
        assert!(!error.to_string().contains('\n'), "{error}");
    }

    #[test]
    fn a_work_directory_is_newly_made_and_removed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("b");
        let work = WorkDirectory::create(&path).unwrap();
        std::fs::write(path.join("data"), "x").unwrap();
        WorkDirectory::create(&path).unwrap_err();
        assert!(path.join("data").exists(), "it is not taken over");
        work.remove().unwrap();
        assert!(!path.exists());
        let error = WorkDirectory::create(&directory.path().join("not/there")).unwrap_err();
        assert!(
            !directory.path().join("not").exists(),
            "nothing that would stay behind is made: {error}"
        );
    }

    #[test]
    fn two_work_directories_below_one_place_are_two() {
        let directory = tempfile::tempdir().unwrap();
        let [one, other] = [(); 2].map(|()| WorkDirectory::create_below(directory.path()).unwrap());
        assert_ne!(one.path(), other.path());
        one.remove().unwrap();
        assert!(other.path().join(MARKER).exists());
    }

    #[test]
    fn what_a_run_works_in_is_removed_by_nobody_else() {
        let directory = tempfile::tempdir().unwrap();
        let work = WorkDirectory::create_below(directory.path()).unwrap();
        let error = WorkDirectory::left_behind(work.path()).unwrap_err();
        assert!(error.to_string().contains("still goes on"), "{error}");
        let path = work.path().to_owned();
        drop(work);
        WorkDirectory::left_behind(&path).unwrap().remove().unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn what_no_run_made_is_neither_used_nor_removed() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("letter"), "dear").unwrap();
        assert!(WorkDirectory::create(directory.path()).is_err());
        let error = WorkDirectory::left_behind(directory.path()).unwrap_err();
        assert!(error.to_string().contains("left alone"), "{error}");
        assert!(directory.path().join("letter").exists());
    }

    #[test]
    fn links_are_removed_and_what_they_point_to_stays() {
        let directory = tempfile::tempdir().unwrap();
        let precious = directory.path().join("precious");
        std::fs::create_dir(&precious).unwrap();
        std::fs::write(precious.join("letter"), "dear").unwrap();
        let path = directory.path().join("work");
        let work = WorkDirectory::create(&path).unwrap();
        symlink(&precious, path.join("link")).unwrap();
        let alias = directory.path().join("alias");
        symlink(&path, &alias).unwrap();
        let error = WorkDirectory::left_behind(&alias).unwrap_err();
        assert!(
            error.to_string().contains("left alone"),
            "a link is refused: {error}"
        );
        work.remove().unwrap();
        assert!(precious.join("letter").exists());
    }

    #[test]
    fn the_file_system_of_a_directory_can_be_synced() {
        sync_filesystem(tempfile::tempdir().unwrap().path()).unwrap();
    }
}
