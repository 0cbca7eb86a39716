//! Counters of the kernel and the processor, by `perf_event_open`.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// `PERF_EVENT_IOC_ENABLE`: `_IO('$', 0)`, which sets a bit on some systems.
const ENABLE: libc::Ioctl = if cfg!(any(target_arch = "powerpc64", target_arch = "mips64")) {
    0x2000_2400
} else {
    0x2400
};
/// `PERF_EVENT_IOC_DISABLE`.
const DISABLE: libc::Ioctl = ENABLE + 1;

/// The first version of `struct perf_event_attr` of linux/perf_event.h, which every kernel knows.
#[repr(C)]
#[derive(Debug, Default)]
pub(super) struct Attributes {
    pub(super) kind: u32,
    /// Filled in by [`open`].
    pub(super) size: u32,
    pub(super) event: u64,
    pub(super) sample_period: u64,
    pub(super) sample_type: u64,
    pub(super) read_format: u64,
    /// Bit fields, the first of them the lowest bit.
    pub(super) flags: u64,
    pub(super) wakeup: u32,
    pub(super) breakpoint_kind: u32,
    pub(super) breakpoint_address: u64,
}

/// Opens a counter of the calling thread, on whatever CPU it runs.
pub(super) fn open(attributes: &Attributes) -> io::Result<OwnedFd> {
    const CLOSE_ON_EXEC: libc::c_ulong = 8;
    let attributes = Attributes {
        size: u32::try_from(size_of::<Attributes>()).unwrap_or_default(),
        // They are bit fields, which begin at the other end there.
        flags: if cfg!(target_endian = "little") {
            attributes.flags
        } else {
            attributes.flags.reverse_bits()
        },
        ..*attributes
    };
    #[expect(unsafe_code, reason = "neither libc nor rustix wraps perf_event_open")]
    // SAFETY: the pointer refers to a living structure whose size it states; the call reads it.
    let descriptor = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            &raw const attributes,
            0,
            -1,
            -1,
            CLOSE_ON_EXEC,
        )
    };
    let Ok(descriptor @ 0..) = i32::try_from(descriptor) else {
        return Err(io::Error::last_os_error());
    };
    #[expect(unsafe_code, reason = "taking a descriptor over is")]
    // SAFETY: the kernel has just made this descriptor, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// Has it count.
pub(super) fn enable(event: &OwnedFd) -> io::Result<()> {
    control(event, ENABLE)
}

/// Has it count no more.
pub(super) fn disable(event: &OwnedFd) -> io::Result<()> {
    control(event, DISABLE)
}

fn control(event: &OwnedFd, request: libc::Ioctl) -> io::Result<()> {
    #[expect(unsafe_code, reason = "rustix does not know this request")]
    // SAFETY: these requests take a number.
    let answer = unsafe { libc::ioctl(event.as_raw_fd(), request, 0) };
    match answer {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
