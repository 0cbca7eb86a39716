//! What the system tells of this process. What it does not offer is `None`.

mod linux;
pub(crate) use linux::*;

/// Clocks of CPU time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CpuClock {
    /// Of the calling thread.
    Thread,
    /// Of the process.
    Process,
}
