//! Linux.

mod fanotify;
mod listener;
mod mounting;

pub(crate) use fanotify::{mount_for_itself, why_nothing_is_scanned};
pub(crate) use listener::listen;
pub(crate) use mounting::*;

use super::Extent;
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
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

/// Drops the clean pages of a file from the page cache.
pub(crate) fn forget_pages(file: &File) -> std::io::Result<()> {
    Ok(rustix::fs::fadvise(
        file,
        0,
        None,
        rustix::fs::Advice::DontNeed,
    )?)
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

/// Opens a counter of this thread's own code, and closes it: whether that is allowed, or the
/// system's number of the error.
pub(crate) fn try_perf_event() -> Option<Result<(), i32>> {
    /// The size of the first version of `struct perf_event_attr`, which every kernel knows, and a mask:
    /// disabled; without the kernel and the hypervisor, which take a privilege.
    const BYTES: u32 = 64;
    const FLAGS: u64 = 0b110_0001;
    const CLOSE_ON_EXEC: libc::c_ulong = 8;
    // PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK.
    let (kind, event) = (1u32, 1);
    let mut attributes = [0u64; 8];
    let first = [kind.to_ne_bytes(), BYTES.to_ne_bytes()].concat();
    attributes[0] = u64::from_ne_bytes(first.try_into().unwrap_or_default());
    attributes[1] = event;
    // Bit fields begin at the other end on machines with the high byte first.
    attributes[5] = if cfg!(target_endian = "little") {
        FLAGS
    } else {
        FLAGS.reverse_bits()
    };
    #[expect(unsafe_code, reason = "neither libc nor rustix wraps perf_event_open")]
    // SAFETY: the pointer refers to a living structure whose size it states; the call reads it, and a
    // descriptor that it makes is nobody else's.
    unsafe {
        let descriptor = libc::syscall(
            libc::SYS_perf_event_open,
            &raw const attributes,
            0,
            -1,
            -1,
            CLOSE_ON_EXEC,
        );
        match i32::try_from(descriptor) {
            Ok(descriptor @ 0..) => {
                drop(OwnedFd::from_raw_fd(descriptor));
                Some(Ok(()))
            }
            _ => Some(Err(std::io::Error::last_os_error().raw_os_error()?)),
        }
    }
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

/// Where a file's content lies on its device, in the order of the file, after it was written there;
/// nothing where the file system does not tell.
pub(crate) fn extents(file: &File) -> Option<Vec<Extent>> {
    use fiemap::{Fiemap, FiemapExtentFlags, FiemapFlags};
    // Inline data and what has no place yet lie nowhere that could be compared.
    let nowhere = FiemapExtentFlags::UNKNOWN | FiemapExtentFlags::DATA_INLINE;
    let extents = Fiemap::with_flags(file, FiemapFlags::SYNC);
    extents
        .map(|extent| {
            let extent = extent.ok()?;
            let placed = !extent.fe_flags.intersects(nowhere);
            placed.then_some(Extent {
                logical: extent.fe_logical,
                physical: extent.fe_physical,
                bytes: extent.fe_length,
            })
        })
        .collect()
}

/// What is written here is dropped from memory.
pub(crate) const DROP_CACHES: Option<&str> = Some("/proc/sys/vm/drop_caches");

/// The file that this process runs, for starting it again. Not by its name: that may by now belong
/// to another version, or to nothing.
pub(crate) fn own_program() -> std::io::Result<PathBuf> {
    // Not `self`, which is another process where one more is started in between.
    let link = PathBuf::from(format!("/proc/{}/exe", std::process::id()));
    std::fs::read_link(&link)?;
    Ok(link)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asking_for_features_opens_nothing_that_stays_open() {
        let open = || std::fs::read_dir("/proc/self/fd").unwrap().count();
        let ask = || {
            let _ = try_perf_event();
        };
        // Other tests open files meanwhile, but not hundreds.
        let before = open();
        (0..300).for_each(|_| ask());
        assert!(open() < before + 200);
    }
}
