//! System calls of a thread, one by one, from the kernel's tracepoint `raw_syscalls:sys_enter`.
//!
//! One tracepoint and a ring buffer, not a counter for each call: closing a counter of a tracepoint
//! waits for every CPU, about 40 ms here, and there are 360 calls.

use super::perf::{self, Attributes};
use rustix::mm::{MapFlags, ProtFlags};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// Where tracefs is mounted, if it is.
const PLACES: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
const EVENT: &str = "events/raw_syscalls/sys_enter";
/// Bytes of the ring buffer; a call takes about 80, so that [`stowplan_model::MOST_CALLS`] fit with
/// room to spare.
const BUFFER_BYTES: usize = 4 << 20;
/// So many bytes written: the kernel may have dropped what did not fit.
const FULL: usize = BUFFER_BYTES - 4096;
/// `PERF_TYPE_TRACEPOINT`.
const TRACEPOINT: u32 = 2;
/// `PERF_SAMPLE_RAW`: each sample holds the tracepoint's own fields.
const SAMPLE_RAW: u64 = 1 << 10;
/// `disabled`, of the flags.
const DISABLED: u64 = 1;
/// `PERF_RECORD_LOST`: the ring buffer was full.
const LOST: u32 = 2;
/// `PERF_RECORD_SAMPLE`.
const SAMPLE: u32 = 9;
/// Offsets of `data_head` and `data_tail` in `struct perf_event_mmap_page`.
const HEAD: usize = 1024;
/// A record begins with its kind (u32), misc (u16) and size (u16).
const HEADER_BYTES: usize = 8;
/// A raw sample: its size (u32), then the tracepoint's fields.
const RAW_BYTES: usize = 4;

/// Counts the system calls of the thread that opened it.
#[derive(Debug)]
pub(crate) struct CallTrace {
    event: OwnedFd,
    ring: Ring,
    /// Where the number of the call lies among the tracepoint's fields.
    number_at: usize,
    /// Parts of the window that have ended.
    windows: u64,
}

impl CallTrace {
    /// For the calling thread; counts nothing before [`Self::begin`].
    ///
    /// # Errors
    /// The system has no such tracepoint, or this process may not use it.
    pub(crate) fn open() -> io::Result<Self> {
        let events = tracefs()?.join(EVENT);
        let text = |name: &str| std::fs::read_to_string(events.join(name));
        let id = text("id")?;
        let id = id.trim().parse().map_err(|_| invalid("its number"))?;
        let number_at = offset_of_id(&text("format")?).ok_or_else(|| invalid("its fields"))?;
        let event = perf::open(&Attributes {
            kind: TRACEPOINT,
            event: id,
            sample_period: 1,
            sample_type: SAMPLE_RAW,
            flags: DISABLED,
            ..Attributes::default()
        })?;
        let ring = Ring::of(&event)?;
        Ok(Self {
            event,
            ring,
            number_at,
            windows: 0,
        })
    }

    /// Begins the window.
    pub(crate) fn begin(&self) -> io::Result<()> {
        perf::enable(&self.event)
    }

    /// Ends the window, or a part of it.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        self.windows += 1;
        perf::disable(&self.event)
    }

    /// The calls within all parts of the window, by number. Nothing if there were too many to keep.
    pub(crate) fn calls(&self) -> io::Result<Option<BTreeMap<u64, u64>>> {
        let bytes = self.ring.content();
        let kept = numbers(&bytes, self.number_at).filter(|_| bytes.len() < FULL);
        let Some(mut calls) = kept else {
            return Ok(None);
        };
        // The call that ends a part is the last one within it.
        let ioctl = u64::try_from(libc::SYS_ioctl).unwrap_or_default();
        if let Some(count) = calls.get_mut(&ioctl) {
            *count = count.saturating_sub(self.windows);
        }
        calls.retain(|_, count| *count > 0);
        Ok(Some(calls))
    }
}

fn invalid(what: &str) -> io::Error {
    io::Error::other(format!("the tracepoint {EVENT} does not tell {what}"))
}

/// Where tracefs is. Root mounts it where it is not, for this thread alone: in a mount namespace of
/// its own, of which nobody else sees anything and which ends with it.
fn tracefs() -> io::Result<PathBuf> {
    let mounted = || {
        PLACES
            .map(Path::new)
            .into_iter()
            .find(|p| p.join(EVENT).exists())
    };
    if let Some(place) = mounted() {
        return Ok(place.to_owned());
    }
    let place = Path::new(PLACES[0]);
    if place.is_dir() && rustix::process::geteuid().is_root() {
        super::mount_for_this_thread("tracefs", place)?;
    }
    let missing = || {
        io::Error::new(
            io::ErrorKind::NotFound,
            "tracefs is not mounted, or not to be read",
        )
    };
    mounted().map(Path::to_owned).ok_or_else(missing)
}

/// Offset of the field `id` in the description of a tracepoint's fields.
fn offset_of_id(format: &str) -> Option<usize> {
    let line = format.lines().find(|line| line.contains(" id;"))?;
    let (_, offset) = line.split_once("offset:")?;
    offset.split(';').next()?.trim().parse().ok()
}

/// How often each call's number stands in the records of a ring buffer; nothing if some were lost,
/// or the records are not what they should be.
fn numbers(bytes: &[u8], number_at: usize) -> Option<BTreeMap<u64, u64>> {
    let mut calls = BTreeMap::new();
    let mut rest = bytes;
    while let Some((header, _)) = rest.split_first_chunk::<HEADER_BYTES>() {
        let kind = u32::from_ne_bytes([header[0], header[1], header[2], header[3]]);
        let size = usize::from(u16::from_ne_bytes([header[6], header[7]]));
        let record = rest.get(..size).filter(|_| size >= HEADER_BYTES)?;
        match kind {
            SAMPLE => {
                let at = HEADER_BYTES + RAW_BYTES + number_at;
                let number = record.get(at..at + 8)?.try_into().ok()?;
                *calls.entry(u64::from_ne_bytes(number)).or_default() += 1;
            }
            LOST => return None,
            _ => {}
        }
        rest = &rest[size..];
    }
    Some(calls)
}

/// The memory that the kernel writes records to: a page about it, then a ring of bytes.
#[derive(Debug)]
struct Ring {
    start: NonNull<u8>,
    page: usize,
}

impl Ring {
    fn of(event: &OwnedFd) -> io::Result<Self> {
        let page = rustix::param::page_size();
        let flags = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        #[expect(unsafe_code, reason = "mapping memory is")]
        // SAFETY: a new mapping at an address of the kernel's choice, of an event's descriptor.
        let start = unsafe {
            let nowhere = std::ptr::null_mut();
            rustix::mm::mmap(
                nowhere,
                page + BUFFER_BYTES,
                flags.0,
                flags.1,
                event.as_fd(),
                0,
            )?
        };
        let start = NonNull::new(start.cast()).ok_or_else(|| io::Error::other("no ring buffer"))?;
        Ok(Self { start, page })
    }

    /// All that the kernel has written, oldest first; it must not be writing now. It is never told
    /// that anything was taken, so it does not write over it.
    fn content(&self) -> Vec<u8> {
        #[expect(unsafe_code, reason = "the kernel and this process share the memory")]
        // SAFETY: within the first page of the mapping, aligned, and written atomically.
        let head = unsafe { &*self.start.add(HEAD).cast::<AtomicU64>().as_ptr() };
        let written = usize::try_from(head.load(Ordering::Acquire)).unwrap_or(usize::MAX);
        let bytes = written.min(BUFFER_BYTES);
        let mut copy = vec![0; bytes];
        #[expect(unsafe_code, reason = "the kernel and this process share the memory")]
        // SAFETY: `bytes` of the ring are mapped behind the first page, and the event is disabled.
        unsafe {
            let ring = self.start.add(self.page);
            std::ptr::copy_nonoverlapping(ring.as_ptr(), copy.as_mut_ptr(), bytes);
        }
        copy
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        #[expect(unsafe_code, reason = "unmapping memory is")]
        // SAFETY: it was mapped with this size, and nothing refers to it any more.
        let unmapped =
            unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.page + BUFFER_BYTES) };
        debug_assert!(unmapped.is_ok(), "{unmapped:?}");
    }
}

/// The kernel's name of a system call.
pub(crate) fn call_name(number: u64) -> String {
    let known = usize::try_from(number).ok().and_then(syscalls::Sysno::new);
    known.map_or_else(|| format!("call {number}"), |call| call.name().to_owned())
}

/// A call that does nothing and that no program makes: by it `strace` sees where a window begins (0)
/// and ends (1).
pub(crate) fn mark_for_strace(end: bool) {
    let who = stowplan_model::STRACE_MARK + i32::from(end);
    #[expect(unsafe_code, reason = "rustix takes process ids that may exist only")]
    // SAFETY: it asks for a number and changes nothing.
    unsafe {
        libc::syscall(libc::SYS_getpriority, libc::PRIO_PROCESS, who);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u32, content: &[u8]) -> Vec<u8> {
        let size = u16::try_from(HEADER_BYTES + content.len()).unwrap();
        let mut record = kind.to_ne_bytes().to_vec();
        record.extend(0_u16.to_ne_bytes());
        record.extend(size.to_ne_bytes());
        record.extend(content);
        record
    }

    fn sample(number: u64) -> Vec<u8> {
        let mut content = 16_u32.to_ne_bytes().to_vec();
        content.extend([0; 8]);
        content.extend(number.to_ne_bytes());
        record(SAMPLE, &content)
    }

    #[test]
    fn records_are_counted_by_the_number_in_them() {
        let bytes = [sample(17), record(14, &[0; 16]), sample(17), sample(257)].concat();
        let found = numbers(&bytes, 8).unwrap();
        assert_eq!(found, BTreeMap::from([(17, 2), (257, 1)]));
    }

    #[test]
    fn what_was_lost_or_is_no_record_gives_no_count_instead_of_a_wrong_one() {
        let lost = [sample(17), record(LOST, &[0; 16])].concat();
        assert_eq!(numbers(&lost, 8), None);
        for size in [0_u8, 7, 200] {
            let mut damaged = sample(17);
            damaged[6] = size;
            assert_eq!(numbers(&damaged, 8), None, "size {size}");
        }
        assert_eq!(numbers(&sample(17), 16), None, "a number beyond its record");
    }

    #[test]
    fn the_number_is_found_by_the_description_of_the_fields() {
        let format = "name: sys_enter\nformat:\n\tfield:int common_pid;\toffset:4;\tsize:4;\n\n\
                      \tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n";
        assert_eq!(offset_of_id(format), Some(8));
        assert_eq!(offset_of_id("name: other\n"), None);
    }

    #[test]
    fn calls_have_the_kernels_names() {
        let number = u64::try_from(libc::SYS_pread64).unwrap();
        assert_eq!(call_name(number), "pread64");
        assert_eq!(call_name(99_999), "call 99999");
    }
}
