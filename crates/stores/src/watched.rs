//! What stores of this process have only watched: an engine that does not tell when its background
//! work is over is watched until nothing has happened for a while, and that while is no work.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

static WATCHED_NS: AtomicU64 = AtomicU64::new(0);

/// How long stores of this process, since it started, have only seen that nothing more came.
#[must_use]
pub fn watched() -> Duration {
    Duration::from_nanos(WATCHED_NS.load(Relaxed))
}

/// Adds a time at whose end it was clear that nothing had happened in it.
pub(crate) fn watched_for(time: Duration) {
    let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    WATCHED_NS.fetch_add(ns, Relaxed);
}
