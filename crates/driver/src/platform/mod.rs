//! What the system tells of this process, and of the time. What it does not offer is `None`.

mod linux;
pub(crate) use linux::*;
use std::time::Instant;

/// Nanoseconds that have passed since a time.
pub(crate) fn elapsed_ns(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// Clocks of CPU time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CpuClock {
    /// Of the calling thread.
    Thread,
    /// Of the process.
    Process,
}
