//! Room on a file system, and bringing what was written there to the disk.

use crate::DatasetError;
use std::fs::{File, Metadata};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Bytes free to this user on the file system of `path`, which exists.
///
/// # Errors
/// The file system refuses.
pub fn free_bytes(path: &Path) -> Result<u64, DatasetError> {
    let asked = rustix::fs::statvfs(path);
    let state = asked.map_err(DatasetError::io("ask for the free space of", path))?;
    Ok(state.f_bavail.saturating_mul(state.f_frsize))
}

/// Refuses to go on without room for `needed` bytes below `path`, which exists.
///
/// # Errors
/// There is not enough room, or the file system refuses to tell.
pub fn require_free(path: &Path, needed: u64) -> Result<(), DatasetError> {
    let free = free_bytes(path)?;
    if free >= needed {
        return Ok(());
    }
    Err(DatasetError::Space {
        path: path.to_owned(),
        needed,
        free,
        mount: mount_point(path),
    })
}

/// Where the file system of `path` is mounted: the highest directory above it on the same device.
fn mount_point(path: &Path) -> PathBuf {
    let Ok(path) = path.canonicalize() else {
        return path.to_owned();
    };
    let device = |path: &Path| path.metadata().map(|found| found.dev()).ok();
    let own = device(&path);
    let above = path.ancestors().take_while(|path| device(path) == own);
    above.last().unwrap_or(&path).to_owned()
}

/// Brings everything written on the file system of `path` to the disk: what the measured writes
/// left behind is then not written during the next block.
///
/// # Errors
/// The file system refuses, or an earlier write failed.
pub fn sync_filesystem(path: &Path) -> Result<(), DatasetError> {
    let file = File::open(path).map_err(DatasetError::io("open", path))?;
    rustix::fs::syncfs(file).map_err(DatasetError::io("sync the file system of", path))
}

/// Brings everything at `path` and below it to the disk: by one call where the file system is known to do it
/// so, otherwise file by file.
///
/// # Errors
/// The file system refuses, an earlier write failed, or a file cannot be opened.
pub fn sync_below(path: &Path) -> Result<(), DatasetError> {
    match is_synced_as_a_whole(path)? {
        true => sync_filesystem(path),
        false => sync_each(path, |_| true),
    }
}

/// File systems whose `syncfs` is known to bring what was written to the disk, by the number that statfs(2) has
/// of them: ext2 to ext4, XFS, Btrfs, F2FS, ZFS, bcachefs, overlayfs, which hands it on, and tmpfs, which has none.
const SYNCED_AS_A_WHOLE: [u32; 8] = [
    0xef53,
    0x5846_5342,
    0x9123_683e,
    0xf2f5_2010,
    0x2fc1_2fc1,
    0xca45_1a4e,
    0x794c_7630,
    0x0102_1994,
];

/// Whether one call is known to bring everything on the file system of `path` to the disk. Of FUSE the kernel
/// only hands on what was written, and whoever serves it hears of no sync.
///
/// # Errors
/// It cannot be opened.
pub fn is_synced_as_a_whole(path: &Path) -> Result<bool, DatasetError> {
    let file = File::open(path).map_err(DatasetError::io("open", path))?;
    let known = |number| SYNCED_AS_A_WHOLE.contains(&number);
    Ok(rustix::fs::fstatfs(file).is_ok_and(|found| known(found.f_type as u32)))
}

/// Makes the names in a directory and in all below it permanent; files are left to whoever wrote them.
///
/// # Errors
/// The file system refuses, or a directory cannot be opened.
pub fn sync_directories(path: &Path) -> Result<(), DatasetError> {
    sync_each(path, Metadata::is_dir)
}

/// What is in a directory comes before it. Links and what is no file have nothing to sync.
fn sync_each(path: &Path, wanted: fn(&Metadata) -> bool) -> Result<(), DatasetError> {
    let failed = || DatasetError::io("sync", path);
    let found = path.symlink_metadata().map_err(failed())?;
    if found.is_dir() {
        for entry in std::fs::read_dir(path).map_err(failed())? {
            sync_each(&entry.map_err(failed())?.path(), wanted)?;
        }
    }
    match (found.is_dir() || found.is_file()) && wanted(&found) {
        true => sync_directory(path),
        false => Ok(()),
    }
}

/// Asks the disk to begin writing what of a file is not yet on it, without waiting, so that a later sync finds
/// little left to do. A refusal costs time only.
pub fn begin_writeback(file: &File) {
    #[expect(unsafe_code, reason = "rustix has no sync_file_range")]
    // SAFETY: takes integers only; the descriptor is open.
    unsafe {
        libc::sync_file_range(file.as_raw_fd(), 0, 0, libc::SYNC_FILE_RANGE_WRITE)
    };
}

/// Makes names in a directory permanent, or what is in a file.
///
/// # Errors
/// The file system refuses.
pub fn sync_directory(path: &Path) -> Result<(), DatasetError> {
    let synced = File::open(path).and_then(|file| file.sync_all());
    synced.map_err(DatasetError::io("sync", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_beyond_the_disk_is_refused_with_the_mount() {
        let directory = tempfile::tempdir().unwrap();
        require_free(directory.path(), 1).unwrap();
        let error = require_free(directory.path(), u64::MAX).unwrap_err();
        assert!(matches!(&error, DatasetError::Space { free, mount, .. }
            if *free > 0 && directory.path().canonicalize().unwrap().starts_with(mount)));
        assert!(!error.to_string().contains('\n'), "{error}");
        assert_eq!(
            mount_point(Path::new("/proc/self/../self")),
            Path::new("/proc")
        );
    }

    #[test]
    fn the_file_system_of_a_directory_can_be_synced() {
        sync_filesystem(tempfile::tempdir().unwrap().path()).unwrap();
    }

    #[test]
    fn a_tree_can_be_synced_whatever_is_in_it() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        std::fs::create_dir_all(at("a/b")).unwrap();
        std::fs::write(at("a/b/c"), "c").unwrap();
        std::os::unix::fs::symlink("nowhere", at("a/link")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, at("a/fifo"), rustix::fs::Mode::RUSR).unwrap();
        sync_below(directory.path()).unwrap();
        sync_each(directory.path(), |_| true).unwrap();
        sync_directories(directory.path()).unwrap();
        assert!(sync_below(&at("none")).is_err());
    }
}
