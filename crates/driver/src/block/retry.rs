//! Trying again what another transaction was in the way of.

use crate::platform::monotonic_ns;
use crate::{DriverError, Result};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use stowplan_dataset::random::Random;
use stowplan_stores::StoreError;

/// The first pause is at most so long, each further one twice as long.
const FIRST: Duration = Duration::from_micros(5);
/// But no longer than this.
const LONGEST: Duration = Duration::from_millis(10);
/// For so long one transaction is tried again.
const PATIENCE: Duration = Duration::from_secs(30);

/// The attempts at one transaction.
#[derive(Debug, Default)]
pub(super) struct Retry {
    since: Option<Instant>,
    attempts: u32,
}

impl Retry {
    /// Waits before the next attempt, longer each time and by chance, so that two that were in each
    /// other's way do not meet again (exponential backoff with jitter).
    ///
    /// # Errors
    /// The error is no conflict, it was tried for half a minute, or the block was given up.
    #[cold]
    pub(super) fn wait(&mut self, error: StoreError, stop: Option<&AtomicBool>) -> Result<()> {
        if !error.is_conflict() {
            return Err(error.into());
        }
        let since = *self.since.get_or_insert_with(Instant::now);
        if since.elapsed() >= PATIENCE {
            return Err(DriverError::invalid(format!(
                "{error}; it was tried {} times within {} s, so measure with fewer threads, or with fewer operations per transaction",
                self.attempts + 1,
                PATIENCE.as_secs()
            )));
        }
        thread::sleep(pause(self.attempts, &mut Random::new(monotonic_ns())));
        self.attempts += 1;
        not_stopped(stop)
    }
}

/// From half of what the attempt allows to all of it.
fn pause(attempts: u32, random: &mut Random) -> Duration {
    let most = FIRST.saturating_mul(1 << attempts.min(20)).min(LONGEST);
    most.mul_f64(0.5 + random.unit() / 2.0)
}

/// Whether a block goes on: not once another of its threads has failed.
#[inline]
pub(super) fn not_stopped(stop: Option<&AtomicBool>) -> Result<()> {
    if stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
        return Err(given_up());
    }
    Ok(())
}

#[cold]
fn given_up() -> DriverError {
    DriverError::invalid("another thread of the block failed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_differ_but_never_beyond_ten_milliseconds() {
        let mut random = Random::new(7);
        let mut pauses =
            |attempts| -> Vec<Duration> { (0..50).map(|_| pause(attempts, &mut random)).collect() };
        for attempts in [0, 3, 9, 40, u32::MAX] {
            let some = pauses(attempts);
            let most = FIRST * 2u32.saturating_pow(attempts.min(11));
            assert!(some.iter().all(|p| *p <= most.min(LONGEST)), "{attempts}");
            assert!(some.iter().any(|p| *p != some[0]));
        }
        assert!(pauses(40).iter().all(|p| *p >= LONGEST / 2));
    }
}
