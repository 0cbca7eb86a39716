//! Calls of the system, and what it tells of the machine. What it does not offer is `None`.

mod fanotify;
mod listener;
mod mounting;

pub(crate) use fanotify::{ends_with_this, mount_for_itself, why_nothing_is_scanned};
pub(crate) use listener::listen;
pub(crate) use mounting::*;

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::PathBuf;

/// `cachestat` has this number on every architecture but Alpha.
const SYS_CACHESTAT: libc::c_long = 451;

/// Nanoseconds that this thread was ready but waited for a CPU: the second field of `schedstat`. The
/// third counts the times the thread ran; 0 comes from a kernel without these statistics.
pub(crate) fn run_delay_ns() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let mut fields = text
        .split_whitespace()
        .map(|field| field.parse::<u64>().ok());
    let delay = fields.nth(1)??;
    (fields.next()?? > 0).then_some(delay)
}

/// The UUID that the kernel drew when it was started (random(4)).
pub(crate) fn boot_id() -> Option<String> {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let id = text.trim();
    (!id.is_empty()).then(|| id.to_owned())
}

/// Writes the dirty pages of a file and waits for it; neither its metadata nor the disk's own
/// cache.
pub(crate) fn write_pages(file: &File) -> std::io::Result<()> {
    let how = libc::SYNC_FILE_RANGE_WAIT_BEFORE
        | libc::SYNC_FILE_RANGE_WRITE
        | libc::SYNC_FILE_RANGE_WAIT_AFTER;
    // Length 0 means to the end of the file.
    sync_file_range(file, 0, 0, how).or_else(|_| file.sync_all())
}

fn sync_file_range(file: &File, offset: u64, bytes: u64, how: u32) -> std::io::Result<()> {
    let number = |n: u64| i64::try_from(n).map_err(std::io::Error::other);
    let (offset, bytes) = (number(offset)?, number(bytes)?);
    #[expect(unsafe_code, reason = "rustix has no sync_file_range")]
    // SAFETY: takes integers only; the descriptor is open.
    let answer = unsafe { libc::sync_file_range(file.as_raw_fd(), offset, bytes, how) };
    if answer == 0 {
        return Ok(());
    }
    Err(std::io::Error::last_os_error())
}

/// Pages of a file in the page cache, by `cachestat`; `None` where the kernel (before 6.5) or a
/// seccomp filter refuses.
pub(crate) fn cachestat_resident_pages(file: &File) -> Option<u64> {
    let mut counts = CacheStat::default();
    (cachestat(file.as_raw_fd(), &mut counts) == 0).then_some(counts.resident)
}

/// Whether the kernel has `cachestat`: it then complains about the descriptor, not the call.
pub(crate) fn has_cachestat() -> bool {
    cachestat(-1, &mut CacheStat::default()) != 0
        && std::io::Error::last_os_error().raw_os_error() == Some(libc::EBADF)
}

/// `struct cachestat` of linux/mman.h, in pages.
#[repr(C)]
#[derive(Debug, Default)]
struct CacheStat {
    resident: u64,
    dirty: u64,
    writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

fn cachestat(descriptor: i32, counts: &mut CacheStat) -> libc::c_long {
    // Offset and length; length 0 means to the end of the file.
    let range = [0u64; 2];
    #[expect(unsafe_code, reason = "neither libc nor rustix wraps cachestat")]
    // SAFETY: both pointers refer to living memory of the layout that the call expects, it
    // writes only to `counts`, and a wrong descriptor is an error return.
    unsafe {
        libc::syscall(
            SYS_CACHESTAT,
            descriptor,
            &raw const range,
            std::ptr::from_mut(counts),
            0u32,
        )
    }
}

/// Pages of a file of this length in the page cache, by `mincore` on a mapping made for it.
pub(crate) fn mincore_resident_pages(file: &File, bytes: u64) -> Option<u64> {
    let pages = bytes.div_ceil(page_bytes());
    if pages == 0 {
        return Some(0);
    }
    #[expect(unsafe_code, reason = "mapping a file is unsafe by nature")]
    // SAFETY: the mapping is never read, so nothing depends on the file staying as it is.
    let map = unsafe { memmap2::Mmap::map(file) }.ok()?;
    let mut resident = vec![0u8; usize::try_from(pages).ok()?];
    let length = map.len().min(usize::try_from(bytes).ok()?);
    #[expect(unsafe_code, reason = "rustix has no mincore")]
    // SAFETY: the range is a living mapping that begins on a page boundary, and `resident` has
    // a byte for each of its pages.
    let answer = unsafe {
        libc::mincore(
            map.as_ptr().cast_mut().cast(),
            length,
            resident.as_mut_ptr().cast(),
        )
    };
    (answer == 0).then(|| resident.iter().map(|page| u64::from(page & 1)).sum())
}

/// Size of a page of memory, in bytes.
pub(crate) fn page_bytes() -> u64 {
    rustix::param::page_size() as u64
}

/// Has the file system lay each directory that is made in this one elsewhere, as far as it lays them
/// anywhere by a rule: ext4 puts a directory into the block group of its parent, unless that has this mark
/// (`chattr +T`). Others refuse it, and have rules of their own.
pub(crate) fn scatter_directories(parent: &File) {
    use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};
    if let Ok(flags) = ioctl_getflags(parent)
        && !flags.contains(IFlags::TOPDIR)
    {
        let _ = ioctl_setflags(parent, flags | IFlags::TOPDIR);
    }
}

/// What is written here is dropped from memory.
pub(crate) const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// The file that this process runs, for starting it again. Not by its name: that may by now belong
/// to another version, or to nothing.
pub(crate) fn own_program() -> std::io::Result<PathBuf> {
    // Not `self`, which is another process where one more is started in between.
    let link = PathBuf::from(format!("/proc/{}/exe", std::process::id()));
    std::fs::read_link(&link)?;
    Ok(link)
}
