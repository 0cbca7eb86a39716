//! Systems whose counters nobody has wired up yet: time only.

use super::CpuClock;
use std::ffi::CStr;
use std::sync::OnceLock;
use std::time::Instant;
use stowplan_model::{IoCounters, Usage};

pub(crate) fn monotonic_ns() -> u64 {
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    let age = ORIGIN.get_or_init(Instant::now).elapsed();
    u64::try_from(age.as_nanos()).unwrap_or(u64::MAX)
}

pub(crate) fn cpu_ns(_: CpuClock) -> Option<u64> {
    None
}

pub(crate) fn rusage(_: CpuClock) -> Usage {
    Usage::default()
}

pub(crate) fn largest_cache_bytes() -> Option<usize> {
    None
}

#[derive(Debug)]
pub(crate) struct RunDelay;

impl RunDelay {
    pub(crate) fn of_this_thread() -> Self {
        Self
    }

    #[expect(clippy::unused_self, reason = "as on Linux")]
    pub(crate) fn read(&self) -> Option<(u64, u64)> {
        None
    }
}

#[derive(Debug)]
pub(crate) struct ProcessIo;

impl ProcessIo {
    pub(crate) fn open() -> Self {
        Self
    }

    #[expect(clippy::unused_self, reason = "as on Linux")]
    pub(crate) fn read(&self) -> Option<(IoCounters, u64)> {
        None
    }
}

pub(crate) fn peak_memory_bytes() -> Option<u64> {
    None
}

pub(crate) fn name_process(_: &CStr) {}

/// Not available here: a driver ends when its stdin closes.
pub(crate) fn die_with_parent() {}

/// Not available here: mapped pages are entered as they are first read.
pub(crate) fn populate_mappings(_directory: &std::path::Path) -> u64 {
    0
}

pub(crate) fn tcp_bytes() -> Option<(u64, u64)> {
    None
}
