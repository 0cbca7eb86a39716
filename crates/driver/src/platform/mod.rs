//! Everything that differs between operating systems. What a system does not offer is `None`
//! there; nothing outside this module asks on which system it runs.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub(crate) use linux::*;
#[cfg(target_os = "linux")]
mod perf;
#[cfg(target_os = "linux")]
mod tracing;
#[cfg(target_os = "linux")]
pub(crate) use tracing::{CallTrace, call_name, mark_for_strace};

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

/// What `getrusage` tells about the process; times in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Rusage {
    pub(crate) user_ns: u64,
    pub(crate) system_ns: u64,
    pub(crate) minor_faults: u64,
    pub(crate) major_faults: u64,
    pub(crate) voluntary_switches: u64,
    pub(crate) involuntary_switches: u64,
    pub(crate) in_blocks: u64,
    pub(crate) out_blocks: u64,
}

impl Rusage {
    /// What was added since `earlier`.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            minor_faults: self.minor_faults.saturating_sub(earlier.minor_faults),
            major_faults: self.major_faults.saturating_sub(earlier.major_faults),
            voluntary_switches: self
                .voluntary_switches
                .saturating_sub(earlier.voluntary_switches),
            involuntary_switches: self
                .involuntary_switches
                .saturating_sub(earlier.involuntary_switches),
            in_blocks: self.in_blocks.saturating_sub(earlier.in_blocks),
            out_blocks: self.out_blocks.saturating_sub(earlier.out_blocks),
        }
    }
}
