//! Clocks.

use crate::platform;
use std::time::{SystemTime, UNIX_EPOCH};

/// Nanoseconds of a clock that never jumps, from an arbitrary origin.
#[must_use]
#[inline]
pub fn monotonic_ns() -> u64 {
    platform::monotonic_ns()
}

/// Milliseconds since the Unix epoch, for records only: this clock can jump.
#[must_use]
pub fn unix_ms() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |age| u64::try_from(age.as_millis()).unwrap_or(u64::MAX))
}
