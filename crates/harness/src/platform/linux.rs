//! Linux.

use super::{CpuClock, Extent, Rusage, perf};

use rustix::mm::Advice;
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::ffi::CStr;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use stowplan_model::IoCounters;

/// `cachestat` has this number on every architecture but Alpha.
const SYS_CACHESTAT: libc::c_long = 451;

#[inline]
pub(crate) fn monotonic_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::Monotonic))
}

pub(crate) fn cpu_ns(clock: CpuClock) -> u64 {
    nanoseconds(clock_gettime(match clock {
        CpuClock::Thread => ClockId::ThreadCPUTime,
        CpuClock::Process => ClockId::ProcessCPUTime,
    }))
}

#[expect(clippy::cast_sign_loss, reason = "these clocks start at 0")]
fn nanoseconds(time: Timespec) -> u64 {
    (time.tv_sec as u64) * 1_000_000_000 + time.tv_nsec as u64
}

pub(crate) fn rusage() -> Rusage {
    #[expect(unsafe_code, reason = "rustix has no getrusage")]
    // SAFETY: `rusage` is integers only, for which zero is valid, and the call writes to it and
    // nowhere else. It cannot fail with these arguments.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    let count = |n: libc::c_long| u64::try_from(n).unwrap_or(0);
    let time = |t: libc::timeval| {
        (u64::try_from(t.tv_sec).unwrap_or(0) * 1_000_000 + u64::try_from(t.tv_usec).unwrap_or(0))
            * 1_000
    };
    Rusage {
        user_ns: time(usage.ru_utime),
        system_ns: time(usage.ru_stime),
        minor_faults: count(usage.ru_minflt),
        major_faults: count(usage.ru_majflt),
        voluntary_switches: count(usage.ru_nvcsw),
        involuntary_switches: count(usage.ru_nivcsw),
        in_blocks: count(usage.ru_inblock),
        out_blocks: count(usage.ru_oublock),
    }
}

/// The run-queue delay of one thread.
#[derive(Debug)]
pub(crate) struct RunDelay(Option<File>);

impl RunDelay {
    pub(crate) fn of_this_thread() -> Self {
        Self(File::open("/proc/thread-self/schedstat").ok())
    }

    /// Nanoseconds waited so far, and the bytes that were read to learn it.
    #[inline]
    pub(crate) fn read(&self) -> Option<(u64, u64)> {
        let mut text = [0; 96];
        let length = self.0.as_ref()?.read_at(&mut text, 0).ok()?;
        Some((parse_run_delay(text.get(..length)?)?, length as u64))
    }
}

/// The second field: time on the run queue, in nanoseconds. The third counts the times the
/// thread ran; 0 comes from a kernel without these statistics, where all are 0.
fn parse_run_delay(text: &[u8]) -> Option<u64> {
    let mut fields = text
        .split(u8::is_ascii_whitespace)
        .map(|field| std::str::from_utf8(field).ok()?.parse::<u64>().ok());
    let delay = fields.nth(1)??;
    (fields.next()?? > 0).then_some(delay)
}

/// The counters of `/proc/self/io`.
#[derive(Debug)]
pub(crate) struct ProcessIo(Option<File>);

impl ProcessIo {
    pub(crate) fn open() -> Self {
        Self(File::open("/proc/self/io").ok())
    }

    /// The counters, and the bytes that were read to learn them.
    pub(crate) fn read(&self) -> Option<(IoCounters, u64)> {
        let mut text = [0; 512];
        let length = self.0.as_ref()?.read_at(&mut text, 0).ok()?;
        let text = std::str::from_utf8(text.get(..length)?).ok()?;
        Some((parse_process_io(text)?, length as u64))
    }
}

fn parse_process_io(text: &str) -> Option<IoCounters> {
    let mut counters = IoCounters::default();
    let mut seen = 0;
    for line in text.lines() {
        let (name, value) = line.split_once(':')?;
        let field = match name {
            "rchar" => &mut counters.read_call_bytes,
            "wchar" => &mut counters.write_call_bytes,
            "syscr" => &mut counters.read_calls,
            "syscw" => &mut counters.write_calls,
            "read_bytes" => &mut counters.storage_read_bytes,
            "write_bytes" => &mut counters.storage_write_bytes,
            _ => continue,
        };
        *field = value.trim().parse().ok()?;
        seen += 1;
    }
    (seen == 6).then_some(counters)
}

/// Largest resident set of the process up to now, in bytes.
pub(crate) fn peak_memory_bytes() -> Option<u64> {
    parse_peak_memory(&std::fs::read_to_string("/proc/self/status").ok()?)
}

fn parse_peak_memory(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
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
    /// Disabled; without the kernel and the hypervisor, which take a privilege.
    const FLAGS: u64 = 0b110_0001;
    let attributes = perf::Attributes {
        // PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK.
        kind: 1,
        event: 1,
        flags: FLAGS,
        ..perf::Attributes::default()
    };
    Some(match perf::open(&attributes) {
        Ok(_) => Ok(()),
        Err(error) => Err(error.raw_os_error()?),
    })
}

/// Mounts a file system of the kernel's own in a mount namespace of the calling thread alone, which
/// ends with it.
pub(crate) fn mount_for_this_thread(kind: &str, place: &Path) -> std::io::Result<()> {
    use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
    #[expect(
        unsafe_code,
        reason = "rustix asks for care with file descriptors' tables only"
    )]
    // SAFETY: only the mount namespace is left.
    unsafe {
        rustix::thread::unshare_unsafe(rustix::thread::UnshareFlags::NEWNS)?;
    }
    // Nothing goes back to the others.
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private)?;
    Ok(mount(kind, place, kind, MountFlags::empty(), None)?)
}

/// Size of a page of memory, in bytes.
pub(crate) fn page_bytes() -> u64 {
    rustix::param::page_size() as u64
}

/// Has the kernel kill this process when its parent ends, so that no worker outlives a run.
pub(crate) fn die_with_parent() {
    let kill = Some(rustix::process::Signal::KILL);
    // Cannot fail with a valid signal; without it a worker still ends when its stdin closes.
    let _ = rustix::process::set_parent_process_death_signal(kill);
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

/// What lists of processes call this one.
pub(crate) fn name_process(name: &CStr) {
    // It is called `exe` otherwise, which is all that this could fail to mend.
    let _ = rustix::thread::set_name(name);
}

/// Enters every page of the files below `directory` that this process has mapped into its page
/// tables, as they are in a process that has run for a while. Pages that are not in the page cache
/// are read in. Returns the bytes entered; what the kernel refuses (before 5.14) is left out.
pub(crate) fn populate_mappings(directory: &Path) -> u64 {
    let Ok(directory) = directory.canonicalize() else {
        return 0;
    };
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    maps.lines()
        .filter_map(|line| mapped_below(line, &directory))
        .filter(|(start, length)| {
            let start = std::ptr::without_provenance_mut(*start);
            #[expect(unsafe_code, reason = "advice on memory is unsafe by nature")]
            // SAFETY: this advice changes no memory, it only fills page tables of a range that the
            // kernel has just listed as mapped; for a range that is not mapped any more it fails.
            unsafe { rustix::mm::madvise(start, *length, Advice::LinuxPopulateRead) }.is_ok()
        })
        .map(|(_, length)| length as u64)
        .sum()
}

/// Start and length of a mapping of `/proc/self/maps`, if it is of a file below a directory.
fn mapped_below(line: &str, directory: &Path) -> Option<(usize, usize)> {
    let (range, _) = line.split_once(' ')?;
    let file = Path::new(&line[line.find('/')?..]);
    let (start, end) = range.split_once('-')?;
    let start = usize::from_str_radix(start, 16).ok()?;
    let end = usize::from_str_radix(end, 16).ok()?;
    (file.starts_with(directory) && start < end).then(|| (start, end - start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_mappings_of_files_below_the_directory_are_entered() {
        let line = "7f00a000-7f00c000 r--s 00000000 fe:00 42     /data/my store/values.bin";
        let found = mapped_below(line, Path::new("/data/my store"));
        assert_eq!(found, Some((0x7f00_a000, 0x2000)));
        assert_eq!(mapped_below(line, Path::new("/data/my")), None);
        assert_eq!(
            mapped_below("7f00a000-7f00c000 rw-p 0 00:00 0", Path::new("/")),
            None
        );
    }

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

    #[test]
    fn a_mapped_file_has_all_its_pages_entered() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("f");
        std::fs::write(&path, vec![1; 1 << 20]).unwrap();
        let file = File::open(&path).unwrap();
        #[expect(unsafe_code, reason = "mapping a file is unsafe by nature")]
        // SAFETY: nobody else knows the file.
        let map = unsafe { memmap2::Mmap::map(&file) }.unwrap();
        assert_eq!(populate_mappings(directory.path()), 1 << 20);
        assert!(map.iter().all(|byte| *byte == 1));
    }

    #[test]
    fn the_run_queue_delay_is_the_second_field() {
        assert_eq!(parse_run_delay(b"592337 45160 2\n"), Some(45160));
        assert_eq!(parse_run_delay(b"0 0 0\n"), None, "statistics are off");
        assert_eq!(parse_run_delay(b"592337"), None);
        assert_eq!(parse_run_delay(b""), None);
    }

    #[test]
    fn the_counters_of_the_process_are_read_by_name() {
        let text = "rchar: 6991\nwchar: 15\nsyscr: 12\nsyscw: 1\nread_bytes: 4096\n\
                    write_bytes: 8192\ncancelled_write_bytes: 7\n";
        let counters = IoCounters {
            read_call_bytes: 6991,
            write_call_bytes: 15,
            read_calls: 12,
            write_calls: 1,
            storage_read_bytes: 4096,
            storage_write_bytes: 8192,
        };
        assert_eq!(parse_process_io(text), Some(counters));
        assert_eq!(
            parse_process_io("rchar: 1\n"),
            None,
            "incomplete is unknown"
        );
    }

    #[test]
    fn the_peak_of_memory_is_in_bytes() {
        let status = "Name:\tcat\nVmPeak:\t    2880 kB\nVmHWM:\t    1536 kB\nVmRSS:\t 12 kB\n";
        assert_eq!(parse_peak_memory(status), Some(1536 * 1024));
        assert_eq!(parse_peak_memory("Name:\tkthreadd\n"), None);
    }
}
