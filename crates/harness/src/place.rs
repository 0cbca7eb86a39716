//! Where on the disk the directory of a store lies.
//!
//! What creating a file costs depends on it: the file system looks for a free inode where the directory
//! lies, and what others did there, and the run itself, is in its way (METHOD "The place of a directory"). So
//! each store that is built gets a place of its own, drawn anew, and none where the run itself has just
//! deleted files.

use crate::{HarnessError, Result, disk, platform};
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use stowplan_dataset::publish::rename_unless_taken;

/// Directories of this process that were drawn a place.
static DRAWN: AtomicU64 = AtomicU64::new(0);

/// Where this process removed files, and when.
static REMOVED: Mutex<Vec<(Instant, u64)>> = Mutex::new(Vec::new());

/// How long an ext4 without a journal does not use a deleted inode again, and some more.
const KEPT_FREE: Duration = Duration::from_secs(90);

/// Inodes that ext4 allots together by default: 16 groups of 8,192.
const NEAR: u64 = 16 * 8_192;

/// Files in a directory that are no hindrance when they were deleted.
const FEW: usize = 50;

/// How often a place is drawn that is not near what was removed; then any will do.
const DRAWS: u32 = 8;

/// Makes the directory `path` in a place of its own. `work` is the directory in which the run works, and
/// `path` lies somewhere below it. A file system draws by the name, so that the directory is made under one
/// that no other had, and gets its own afterwards.
///
/// # Errors
/// Something stands there, or the file system refuses.
pub(crate) fn make_directory(work: &Path, path: &Path) -> Result<()> {
    let refused = HarnessError::io("create directory", path);
    if let Ok(work) = File::open(work) {
        platform::scatter_directories(&work);
    }
    let mut drawn = draw(work)?;
    for _ in 1..DRAWS {
        if !is_near_removed(&drawn) {
            break;
        }
        // Removed only now: the next one shall not get its place.
        let other = draw(work)?;
        let _ = fs::remove_dir(&drawn);
        drawn = other;
    }
    rename_unless_taken(&drawn, path).map_err(|error| {
        let _ = fs::remove_dir(&drawn);
        refused(error)
    })
}

fn draw(work: &Path) -> Result<std::path::PathBuf> {
    let drawn = work.join(name());
    fs::create_dir(&drawn).map_err(HarnessError::io("create directory", &drawn))?;
    Ok(drawn)
}

/// Removes a directory with all it holds, if it is there.
///
/// # Errors
/// The file system refuses.
pub(crate) fn remove(path: &Path) -> Result<()> {
    note_removal(path);
    disk::remove_directory(path)
}

/// Notes that what a directory holds is about to be removed.
pub(crate) fn note_removal(path: &Path) {
    if let Some(place) = of(path)
        && holds_many(path)
    {
        removed(|all| all.push((Instant::now(), place)));
    }
}

/// Directories below it may hold any number.
fn holds_many(path: &Path) -> bool {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let mut files = 0;
    let mut many = entries.map(|entry| {
        files += 1;
        files > FEW || entry.file_type().is_ok_and(|kind| kind.is_dir())
    });
    many.any(|many| many)
}

fn is_near_removed(path: &Path) -> bool {
    let Some(place) = of(path) else {
        return false;
    };
    removed(|all| {
        all.retain(|(when, _)| when.elapsed() < KEPT_FREE);
        all.iter().any(|(_, known)| known.abs_diff(place) < NEAR)
    })
}

fn removed<T>(with: impl FnOnce(&mut Vec<(Instant, u64)>) -> T) -> T {
    with(&mut REMOVED.lock().unwrap_or_else(PoisonError::into_inner))
}

/// A name that no directory had.
fn name() -> String {
    let number = DRAWN.fetch_add(1, Ordering::Relaxed);
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |now| now.as_nanos());
    format!("place-{}-{number}-{now:x}", std::process::id())
}

/// What is recorded of the place: the number of the directory's inode. On ext4 and XFS what lies near each
/// other has numbers near each other.
pub(crate) fn of(path: &Path) -> Option<u64> {
    path.symlink_metadata().ok().map(|found| found.ino())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_directory_is_made_under_its_own_name_and_in_no_others_place() {
        let work = tempfile::tempdir().unwrap();
        let path = work.path().join("store");
        make_directory(work.path(), &path).unwrap();
        fs::write(path.join("data"), "x").unwrap();
        let error = make_directory(work.path(), &path).unwrap_err().to_string();
        assert!(error.contains("store"), "{error}");
        assert!(path.join("data").exists());
        let below = path.join("block");
        make_directory(work.path(), &below).unwrap();
        assert!(below.is_dir() && of(&below).is_some());
        let left: Vec<_> = fs::read_dir(work.path()).unwrap().flatten().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }

    #[test]
    fn a_place_where_many_files_were_removed_is_known_for_a_while_and_others_are_not() {
        let work = tempfile::tempdir().unwrap();
        for (files, known) in [(3, false), (FEW + 1, true)] {
            let path = work.path().join("store");
            fs::create_dir(&path).unwrap();
            for file in 0..files {
                fs::write(path.join(file.to_string()), "").unwrap();
            }
            let place = of(&path).unwrap();
            remove(&path).unwrap();
            assert!(!path.exists());
            let found = removed(|all| all.iter().any(|(_, removed)| *removed == place));
            assert_eq!(found, known, "{files} files");
        }
    }

    #[test]
    fn places_of_one_name_differ_where_the_file_system_scatters_directories() {
        // The size of a block group's inodes, by default; neighbours are much nearer.
        const APART: u64 = 2_048;
        let work = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let path = work.path().join("store");
        let draw = || {
            make_directory(work.path(), &path).unwrap();
            let place = of(&path).unwrap();
            fs::remove_dir(&path).unwrap();
            place / APART
        };
        let drawn: BTreeSet<u64> = (0..8).map(|_| draw()).collect();
        let flags = rustix::fs::ioctl_getflags(File::open(work.path()).unwrap());
        match flags {
            Ok(flags) if flags.contains(rustix::fs::IFlags::TOPDIR) => {
                assert!(drawn.len() > 1, "{drawn:?}");
            }
            _ => eprintln!("this file system does not scatter directories when asked"),
        }
    }
}
