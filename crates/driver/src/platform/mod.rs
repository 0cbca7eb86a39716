//! Everything that differs between operating systems. What a system does not offer is `None`
//! there; nothing outside this module asks on which system it runs.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub(crate) use linux::*;

#[cfg(not(target_os = "linux"))]
mod other;
#[cfg(not(target_os = "linux"))]
pub(crate) use other::*;

/// Clocks of CPU time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CpuClock {
    /// Of the calling thread.
    Thread,
    /// Of the process.
    Process,
}
