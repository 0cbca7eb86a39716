//! The page cache: emptied of a file, checked, filled.
//!
//! No root, no machine-wide `drop_caches`: other work on the machine is left in peace. But where a
//! study asks for names that are not in memory there is no other way.

use crate::walk::{below, each_by};
use crate::{HarnessError, Result, platform};
use rustix::fs::{Access, Advice, OFlags, access, fadvise};
use std::fs::{File, Metadata, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;
use stowplan_model::Residency;

/// How often eviction is tried: pages that the kernel is busy with at that moment stay.
const EVICTIONS: u32 = 5;
/// How long is waited before it is tried again.
const EVICTION_PAUSE: Duration = Duration::from_millis(20);
/// Bytes per read.
const READ_BYTES: usize = 1 << 20;
/// More readers than this only disturb each other.
const READERS_MAX: usize = 4;

/// Takes the data of these files out of the page cache, after writing it: dirty pages would
/// stay. Pages that a process has mapped stay too; [`residency`] tells.
///
/// # Errors
/// A file cannot be opened, is a link, or the file system refuses.
pub(crate) fn evict<P: AsRef<Path>>(paths: &[P]) -> Result<()> {
    for path in paths.iter().map(AsRef::as_ref) {
        let file = open(path)?;
        let forget = || {
            fadvise(&file, 0, None, Advice::DontNeed)
                .map_err(HarnessError::io("take out of the page cache", path))
        };
        platform::write_pages(&file).map_err(HarnessError::io("write out", path))?;
        forget()?;
        // Some file systems hold on to pages until their journal is written. Not at once,
        // because a sync flushes the disk even for a clean file, 0.5 ms each on ext4.
        if platform::cachestat_resident_pages(&file) != Some(0) {
            file.sync_all().map_err(HarnessError::io("sync", path))?;
            forget()?;
        }
    }
    Ok(())
}

/// Takes the data of these files out of the page cache and proves that it is gone.
///
/// # Errors
/// It stays, or the system does not tell.
pub(crate) fn make_cold(files: &[PathBuf]) -> Result<Residency> {
    make_cold_with(files, &mut || thread::sleep(EVICTION_PAUSE))
}

fn make_cold_with(files: &[PathBuf], pause: &mut dyn FnMut()) -> Result<Residency> {
    let before = residency(files)?;
    let mut left = None;
    for attempt in 0..EVICTIONS {
        if attempt > 0 {
            pause();
        }
        evict(files)?;
        left = residency(files)?;
        if left.is_none_or(|left| left.resident_pages == 0) {
            break;
        }
    }
    let Some(residency) = left else {
        return Err(HarnessError::invalid(
            "cold reads cannot be verified here: neither cachestat nor mincore works; \
             measure warm ones (--cache-state warm)",
        ));
    };
    if residency.resident_pages > 0 {
        return Err(not_cold(files, residency));
    }
    Ok(Residency {
        before_eviction_pages: before.map(|before| before.resident_pages),
        ..residency
    })
}

/// Why data counts as being in the page cache after it was evicted.
fn not_cold(files: &[PathBuf], left: Residency) -> HarnessError {
    if let Some(file) = files.iter().find(|file| !may_see_residency(file)) {
        return HarnessError::invalid(format!(
            "cold reads of {} cannot be verified: the kernel tells what of a file is in memory only \
             to its owner and to who may write to it; run it as one of them, or measure as found \
             (--cache-state as-found)",
            file.display()
        ));
    }
    HarnessError::invalid(format!(
        "{} of {} pages stayed in the page cache after eviction, so a cold read is not \
         possible here (a file system in memory, or another process maps the data); measure \
         warm ones (--cache-state warm), or have the data on a disk (for a study: --work)",
        left.resident_pages, left.checked_pages
    ))
}

/// Whether the kernel tells this process the truth about a file: of those that it neither owns nor may
/// write to, mincore() calls every page resident (mm/mincore.c, `can_do_mincore`).
fn may_see_residency(file: &Path) -> bool {
    let owner = file.metadata().map(|found| found.uid());
    owner.is_ok_and(|owner| owner == rustix::process::geteuid().as_raw())
        || access(file, Access::WRITE_OK).is_ok()
}

/// Whether this process may have everything dropped that is in memory of files.
pub(crate) fn may_drop_everything() -> bool {
    access(platform::DROP_CACHES, Access::WRITE_OK).is_ok()
}

/// Drops the page cache, inodes and directory entries of the whole machine, as far as nothing uses
/// them. The blocks of a file system that hold inodes and directories are pages of its device's, not of
/// any file: they only go with the page cache.
///
/// # Errors
/// The system does not let this process do so: it takes root.
pub(crate) fn drop_everything() -> Result<()> {
    /// "To free slab objects and pagecache" (the kernel's Documentation/admin-guide/sysctl/vm.rst).
    const ALL: &str = "3\n";
    /// Pages go before slab objects do, and some of those hold pages: a journal's notes of blocks that
    /// were written since. These go the second time.
    const TIMES: u32 = 2;
    // What is to be written stays until it is.
    rustix::fs::sync();
    (0..TIMES).try_for_each(|_| {
        std::fs::write(platform::DROP_CACHES, ALL).map_err(HarnessError::io(
            "empty memory of files, which takes root (--cache-state cold does not), by",
            Path::new(platform::DROP_CACHES),
        ))
    })
}

/// Pages of these files in the page cache; nothing where the system does not tell.
///
/// # Errors
/// A file cannot be opened, or is a link.
pub(crate) fn residency<P: AsRef<Path>>(paths: &[P]) -> Result<Option<Residency>> {
    let mut sum = Residency::default();
    for path in paths.iter().map(AsRef::as_ref) {
        let file = open(path)?;
        let bytes = file
            .metadata()
            .map_err(HarnessError::io("look at", path))?
            .len();
        let resident = platform::cachestat_resident_pages(&file)
            .or_else(|| platform::mincore_resident_pages(&file, bytes));
        let Some(resident) = resident else {
            return Ok(None);
        };
        sum.resident_pages += resident;
        sum.checked_pages += bytes.div_ceil(platform::page_bytes());
    }
    Ok(Some(sum))
}

/// How [`residency`] finds out here: by `cachestat`, or by `mincore`.
pub(crate) fn how() -> &'static str {
    match platform::has_cachestat() {
        true => "cachestat",
        false => "mincore",
    }
}

/// Has these files, and everything in these directories, in the page cache: reads those once of which a
/// page is not, as far as the system tells; returns the bytes read. Links are not followed.
///
/// # Errors
/// A file cannot be read.
pub(crate) fn warm<P: AsRef<Path>>(paths: &[P]) -> Result<u64> {
    let mut files = Vec::new();
    for path in paths {
        files.extend(below(path.as_ref())?.1);
    }
    let bytes = AtomicU64::new(0);
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    each_by(cpus.min(READERS_MAX), &files, |path| {
        bytes.fetch_add(read_whole(path)?, Ordering::Relaxed);
        Ok(())
    })?;
    Ok(bytes.into_inner())
}

fn read_whole(path: &Path) -> Result<u64> {
    let mut file = open(path)?;
    if is_resident(&file) {
        return Ok(0);
    }
    let (mut total, mut buffer) = (0, vec![0; READ_BYTES]);
    loop {
        match file
            .read(&mut buffer)
            .map_err(HarnessError::io("read", path))?
        {
            0 => return Ok(total),
            read => total += read as u64,
        }
    }
}

/// Whether every page of a file is in the page cache; not where the system does not tell at once.
fn is_resident(file: &File) -> bool {
    let pages = |found: Metadata| found.len().div_ceil(platform::page_bytes());
    let pages = file.metadata().map(pages).ok();
    pages.is_some() && platform::cachestat_resident_pages(file) >= pages
}

fn open(path: &Path) -> Result<File> {
    OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
        .open(path)
        .map_err(HarnessError::io("open", path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::mount_of;
    use std::os::unix::fs::PermissionsExt;

    const BYTES: usize = (1 << 20) + 1;
    const PAGES: u64 = 257;

    /// On the file system of the build, which is a real one as a rule; `/tmp` often is not.
    fn directory_on_disk() -> tempfile::TempDir {
        tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap()
    }

    fn in_memory(path: &Path) -> bool {
        mount_of(path).is_none_or(|mount| matches!(mount.kind.as_str(), "tmpfs" | "ramfs"))
    }

    #[test]
    fn an_evicted_file_has_no_page_left_and_a_read_one_has_all() {
        let directory = directory_on_disk();
        if in_memory(directory.path()) || platform::page_bytes() != 4096 {
            return;
        }
        let file = directory.path().join("f");
        std::fs::write(&file, vec![7; BYTES]).unwrap();
        evict(&[&file]).unwrap();
        let cold = residency(&[&file]).unwrap().unwrap();
        assert_eq!((cold.resident_pages, cold.checked_pages), (0, PAGES));
        assert_eq!(warm(&[directory.path()]).unwrap(), BYTES as u64);
        let warm = residency(&[&file]).unwrap().unwrap();
        assert_eq!((warm.resident_pages, warm.checked_pages), (PAGES, PAGES));
    }

    #[test]
    fn pages_that_are_in_use_for_a_moment_are_evicted_after_it_and_others_are_an_error() {
        let directory = directory_on_disk();
        if in_memory(directory.path()) {
            return;
        }
        let path = directory.path().join("f");
        std::fs::write(&path, vec![7; BYTES]).unwrap();
        let files = [path];
        let mapped = || {
            let file = open(&files[0]).unwrap();
            #[expect(unsafe_code, reason = "mapping a file is unsafe by nature")]
            // SAFETY: nobody else knows the file.
            let map = unsafe { memmap2::MmapOptions::new().populate().map(&file) };
            map.unwrap()
        };
        let mut held = Some(mapped());
        let cold = make_cold_with(&files, &mut || held = None).unwrap();
        assert_eq!(cold.resident_pages, 0);
        let _held = mapped();
        let mut pauses = 0;
        let message = make_cold_with(&files, &mut || pauses += 1).unwrap_err();
        assert!(message.to_string().contains("stayed"), "{message}");
        assert_eq!(pauses, EVICTIONS - 1);
    }

    #[test]
    fn both_ways_of_checking_agree() {
        let directory = directory_on_disk();
        let path = directory.path().join("f");
        std::fs::write(&path, vec![7; BYTES]).unwrap();
        let file = open(&path).unwrap();
        if let Some(by_cachestat) = platform::cachestat_resident_pages(&file) {
            let by_mincore = platform::mincore_resident_pages(&file, BYTES as u64);
            assert_eq!(Some(by_cachestat), by_mincore);
        }
        std::fs::write(&path, "").unwrap();
        assert_eq!(residency(&[&path]).unwrap(), Some(Residency::default()));
    }

    #[test]
    fn a_file_in_memory_stays_and_is_reported_as_staying() {
        let Ok(directory) = tempfile::tempdir_in("/dev/shm") else {
            return;
        };
        let file = directory.path().join("f");
        std::fs::write(&file, vec![7; BYTES]).unwrap();
        evict(&[&file]).unwrap();
        let after = residency(&[&file]).unwrap().unwrap();
        assert_eq!(after.resident_pages, after.checked_pages);
    }

    #[test]
    fn warming_reads_every_file_of_a_tree_that_is_not_in_memory_and_no_link() {
        let directory = directory_on_disk();
        if in_memory(directory.path()) || !platform::has_cachestat() {
            return;
        }
        let mut expected = 0;
        let mut files = Vec::new();
        for index in 0..500usize {
            let folder = directory.path().join(format!("{}/x", index % 7));
            std::fs::create_dir_all(&folder).unwrap();
            let file = folder.join(index.to_string());
            std::fs::write(&file, vec![1; index]).unwrap();
            if index % 3 > 0 {
                expected += index as u64;
                files.push(file);
            }
        }
        evict(&files).unwrap();
        std::os::unix::fs::symlink("0/x", directory.path().join("link")).unwrap();
        assert_eq!(warm(&[directory.path()]).unwrap(), expected);
    }

    #[test]
    fn who_neither_owns_a_file_nor_may_write_to_it_is_not_told_what_of_it_is_in_memory() {
        let directory = tempfile::tempdir().unwrap();
        let own = directory.path().join("own");
        std::fs::write(&own, "x").unwrap();
        std::fs::set_permissions(&own, PermissionsExt::from_mode(0o400)).unwrap();
        let left = Residency {
            resident_pages: 1,
            checked_pages: 1,
            ..Residency::default()
        };
        let told = |path: &Path| not_cold(&[path.to_owned()], left).to_string();
        assert!(told(&own).contains("1 of 1 pages stayed"), "{}", told(&own));
        if rustix::process::geteuid().is_root() {
            eprintln!("root may write to everything: not tried on another's file");
            return;
        }
        let other = told(Path::new("/etc/passwd"));
        assert!(other.contains("/etc/passwd cannot be verified"), "{other}");
    }

    #[test]
    fn a_missing_file_and_a_link_are_errors_that_name_them() {
        let directory = tempfile::tempdir().unwrap();
        let missing = directory.path().join("missing");
        std::os::unix::fs::symlink("/etc/passwd", directory.path().join("link")).unwrap();
        for path in [&missing, &directory.path().join("link")] {
            let message = evict(&[path]).unwrap_err().to_string();
            assert!(message.contains(&path.display().to_string()), "{message}");
            assert!(residency(&[path]).is_err());
        }
        assert!(warm(&[&missing]).is_err());
    }
}
