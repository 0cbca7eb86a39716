//! Linux.

use super::CpuClock;
use rustix::mm::Advice;
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::ffi::CStr;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use stowplan_model::{IoCounters, Usage};

#[inline]
pub(crate) fn monotonic_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::Monotonic))
}

pub(crate) fn cpu_ns(clock: CpuClock) -> Option<u64> {
    Some(nanoseconds(clock_gettime(match clock {
        CpuClock::Thread => ClockId::ThreadCPUTime,
        CpuClock::Process => ClockId::ProcessCPUTime,
    })))
}

#[expect(clippy::cast_sign_loss, reason = "these clocks start at 0")]
fn nanoseconds(time: Timespec) -> u64 {
    (time.tv_sec as u64) * 1_000_000_000 + time.tv_nsec as u64
}

/// What `getrusage` tells of the process, or of the calling thread.
pub(crate) fn rusage(of: CpuClock) -> Usage {
    let who = match of {
        CpuClock::Process => libc::RUSAGE_SELF,
        CpuClock::Thread => libc::RUSAGE_THREAD,
    };
    #[expect(unsafe_code, reason = "rustix has no getrusage")]
    // SAFETY: `rusage` is integers only, for which zero is valid, and the call writes to it and
    // nowhere else. It cannot fail with these arguments.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(who, &raw mut usage);
        usage
    };
    let count = |n: libc::c_long| u64::try_from(n).ok();
    let time = |t: libc::timeval| {
        let (seconds, micros) = (
            u64::try_from(t.tv_sec).ok()?,
            u64::try_from(t.tv_usec).ok()?,
        );
        Some((seconds * 1_000_000 + micros) * 1_000)
    };
    Usage {
        user_ns: time(usage.ru_utime),
        system_ns: time(usage.ru_stime),
        minor_faults: count(usage.ru_minflt),
        major_faults: count(usage.ru_majflt),
        voluntary_switches: count(usage.ru_nvcsw),
        involuntary_switches: count(usage.ru_nivcsw),
        in_blocks: count(usage.ru_inblock),
        out_blocks: count(usage.ru_oublock),
        ..Usage::default()
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
        Some((IoCounters::parse(text)?, length as u64))
    }
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

/// Has the kernel kill this process when its parent ends, so that no worker outlives a run.
pub(crate) fn die_with_parent() {
    let kill = Some(rustix::process::Signal::KILL);
    // Cannot fail with a valid signal; without it a worker still ends when its stdin closes.
    let _ = rustix::process::set_parent_process_death_signal(kill);
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

/// Bytes of `struct tcp_info` up to the two that are read, and where they lie (linux/tcp.h).
const TCP_INFO_BYTES: usize = 136;
const BYTES_ACKED: usize = 120;
const BYTES_RECEIVED: usize = 128;

/// Bytes that this process's TCP connections have sent, as far as the other end has them, and received;
/// nothing where it has none.
pub(crate) fn tcp_bytes() -> Option<(u64, u64)> {
    let open = std::fs::read_dir("/proc/self/fd").ok()?.flatten();
    let open = open.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let add = |(a, b): (u64, u64), (c, d): (u64, u64)| (a + c, b + d);
    open.filter_map(bytes_of_connection).reduce(add)
}

fn bytes_of_connection(descriptor: libc::c_int) -> Option<(u64, u64)> {
    let mut info = [0_u8; TCP_INFO_BYTES];
    let mut length = TCP_INFO_BYTES as libc::socklen_t;
    #[expect(unsafe_code, reason = "rustix has no TCP_INFO")]
    // SAFETY: the kernel writes at most `length` bytes to `info`; of what is no TCP socket it says so.
    let refused = unsafe {
        libc::getsockopt(
            descriptor,
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    let at = |place: usize| Some(u64::from_ne_bytes(*info.get(place..)?.first_chunk()?));
    let told = refused == 0 && length as usize == TCP_INFO_BYTES;
    told.then(|| at(BYTES_ACKED).zip(at(BYTES_RECEIVED)))?
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
    fn the_peak_of_memory_is_in_bytes() {
        let status = "Name:\tcat\nVmPeak:\t    2880 kB\nVmHWM:\t    1536 kB\nVmRSS:\t 12 kB\n";
        assert_eq!(parse_peak_memory(status), Some(1536 * 1024));
        assert_eq!(parse_peak_memory("Name:\tkthreadd\n"), None);
    }
}
