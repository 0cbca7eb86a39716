//! Room on the disk, and what a run may remove.

use crate::HarnessError;
use crate::environment::mount_of;
use crate::platform;
use std::fs::File;
use std::io;
use std::path::Path;

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

/// Makes a work directory with its marker, and the directories above it. One that an earlier
/// run made is taken over.
///
/// # Errors
/// Something that no run made stands there, or the file system refuses.
pub fn create_work_directory(path: &Path) -> Result<(), HarnessError> {
    match std::fs::create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return require_marker(path),
        other => other.map_err(HarnessError::io("create", path))?,
    }
    let marker = path.join(MARKER);
    std::fs::write(&marker, "Made by stowplan; it may remove this directory.\n")
        .map_err(HarnessError::io("write", &marker))
}

/// Removes a work directory and all it holds. Links are removed, not followed.
///
/// # Errors
/// No run made it (it has no marker, or is itself a link), or the file system refuses.
pub fn remove_work_directory(path: &Path) -> Result<(), HarnessError> {
    require_marker(path)?;
    remove_entries_in_parallel(path)?;
    remove_tree(path)
}

fn remove_tree(path: &Path) -> Result<(), HarnessError> {
    std::fs::remove_dir_all(path).map_err(HarnessError::io("remove", path))
}

/// Removes the directories in `path`, each by a thread of its own: a hundred thousand files take
/// seconds, and there are several such stores.
fn remove_entries_in_parallel(path: &Path) -> Result<(), HarnessError> {
    let entries = std::fs::read_dir(path).map_err(HarnessError::io("read", path))?;
    let directories: Vec<_> = entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect();
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
    fn a_work_directory_is_made_taken_over_and_removed() {
        let directory = tempfile::tempdir().unwrap();
        let work = directory.path().join("b");
        create_work_directory(&work).unwrap();
        std::fs::write(work.join("data"), "x").unwrap();
        create_work_directory(&work).unwrap();
        assert!(work.join("data").exists());
        remove_work_directory(&work).unwrap();
        assert!(!work.exists());
        let error = create_work_directory(&directory.path().join("not/there")).unwrap_err();
        assert!(
            !directory.path().join("not").exists(),
            "nothing that would stay behind is made: {error}"
        );
    }

    #[test]
    fn what_no_run_made_is_neither_used_nor_removed() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("letter"), "dear").unwrap();
        assert!(create_work_directory(directory.path()).is_err());
        let error = remove_work_directory(directory.path()).unwrap_err();
        assert!(error.to_string().contains("left alone"), "{error}");
        assert!(directory.path().join("letter").exists());
    }

    #[test]
    fn links_are_removed_and_what_they_point_to_stays() {
        let directory = tempfile::tempdir().unwrap();
        let precious = directory.path().join("precious");
        std::fs::create_dir(&precious).unwrap();
        std::fs::write(precious.join("letter"), "dear").unwrap();
        let work = directory.path().join("work");
        create_work_directory(&work).unwrap();
        symlink(&precious, work.join("link")).unwrap();
        let alias = directory.path().join("alias");
        symlink(&work, &alias).unwrap();
        assert!(remove_work_directory(&alias).is_err(), "a link is refused");
        remove_work_directory(&work).unwrap();
        assert!(precious.join("letter").exists());
    }

    #[test]
    fn the_file_system_of_a_directory_can_be_synced() {
        sync_filesystem(tempfile::tempdir().unwrap().path()).unwrap();
    }
}
