//! Where the clock is read, and what becomes of its readings.

use std::time::{Duration, Instant};

/// Where the clock is read.
pub(crate) enum Timing<'a> {
    /// At the ends only, by the caller.
    Ends,
    /// Once per operation, chained: the end of one is the start of the next.
    EachOperation(&'a mut Latencies),
    /// Once per operation, each of which begins at its time or as soon as it can after it; the latency
    /// counts from its time.
    Scheduled(&'a mut Latencies, Schedule),
}

/// When the operations of a thread begin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Schedule {
    first: Duration,
    every: Duration,
}

impl Schedule {
    /// Of one of several threads, by its number from 0, which together begin so many operations per
    /// second.
    pub(crate) fn of(rate: u32, thread: usize, threads: usize) -> Self {
        let apart = Duration::from_secs(1) / rate.max(1);
        let times = |n: usize| apart * u32::try_from(n).unwrap_or(u32::MAX);
        Self {
            first: times(thread),
            every: times(threads),
        }
    }
}

/// The last of a wait is spent looking at the clock: sleep ends some 50 µs late.
const LOOKING: Duration = Duration::from_micros(100);

fn wait_until(time: Instant) {
    loop {
        let left = time.saturating_duration_since(Instant::now());
        match left {
            Duration::ZERO => return,
            left if left > LOOKING => std::thread::sleep(left - LOOKING),
            _ => std::hint::spin_loop(),
        }
    }
}

impl<'a> Timing<'a> {
    /// Once per operation where latencies are wanted.
    pub(crate) fn of(latencies: &'a mut Option<Latencies>, schedule: Option<Schedule>) -> Self {
        match (latencies, schedule) {
            (Some(latencies), Some(schedule)) => Self::Scheduled(latencies, schedule),
            (Some(latencies), None) => Self::EachOperation(latencies),
            (None, _) => Self::Ends,
        }
    }
}

/// How long each operation took, in nanoseconds; 2^32-1 stands for all that is longer (4.3 s).
#[derive(Debug, Default)]
pub(crate) struct Latencies(Vec<u32>);

impl Latencies {
    /// None yet, with room for so many whose memory is there.
    pub(crate) fn with_room(operations: usize) -> Self {
        let mut room = vec![u32::MAX; operations];
        room.clear();
        Self(room)
    }

    /// As they stand in a file: little-endian.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|ns| ns.to_le_bytes()).collect()
    }

    pub(super) fn clock(&mut self) -> ChainedClock<'_> {
        ChainedClock {
            last: Instant::now(),
            latencies: self,
        }
    }

    pub(super) fn scheduled(&mut self, schedule: Schedule) -> ScheduledClock<'_> {
        ScheduledClock {
            next: Instant::now() + schedule.first,
            every: schedule.every,
            latencies: self,
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    #[cfg(test)]
    pub(super) fn longer_than(&self, ns: u64) -> usize {
        self.0
            .iter()
            .filter(|latency| u64::from(**latency) > ns)
            .count()
    }

    #[cfg(test)]
    pub(super) fn longest(&self) -> u32 {
        self.0.iter().copied().max().unwrap_or(0)
    }
}

/// What is told to the clock.
pub(super) trait Clock {
    /// An operation is to begin.
    #[inline]
    fn begin(&mut self) {}
    /// An operation has ended.
    fn operation(&mut self);
    /// What lay between, a transaction's beginning or end, belongs to no operation. Not told with
    /// several threads.
    fn resume(&mut self);
}

pub(super) struct NoClock;

impl Clock for NoClock {
    #[inline]
    fn operation(&mut self) {}
    #[inline]
    fn resume(&mut self) {}
}

pub(super) struct ChainedClock<'a> {
    last: Instant,
    latencies: &'a mut Latencies,
}

impl Clock for ChainedClock<'_> {
    #[inline]
    fn operation(&mut self) {
        let now = Instant::now();
        self.latencies.0.push(between(self.last, now));
        self.last = now;
    }

    #[inline]
    fn resume(&mut self) {
        self.last = Instant::now();
    }
}

/// Nanoseconds from a time to another one, as latencies have them.
fn between(begin: Instant, end: Instant) -> u32 {
    u32::try_from((end - begin).as_nanos()).unwrap_or(u32::MAX)
}

pub(super) struct ScheduledClock<'a> {
    /// When the next operation is to begin.
    next: Instant,
    every: Duration,
    latencies: &'a mut Latencies,
}

impl Clock for ScheduledClock<'_> {
    fn begin(&mut self) {
        wait_until(self.next);
    }

    #[inline]
    fn operation(&mut self) {
        let latency = between(self.next, Instant::now());
        self.latencies.0.push(latency);
        self.next += self.every;
    }

    fn resume(&mut self) {}
}
