//! Where the clock is read, and what becomes of its readings.

use std::time::Instant;

/// Where the clock is read.
pub(crate) enum Timing<'a> {
    /// At the ends only, by the caller.
    Ends,
    /// Once per operation, chained: the end of one is the start of the next.
    EachOperation(&'a mut Latencies),
}

impl<'a> Timing<'a> {
    /// Once per operation where latencies are wanted.
    pub(crate) fn of(latencies: &'a mut Option<Latencies>) -> Self {
        match latencies {
            Some(latencies) => Self::EachOperation(latencies),
            None => Self::Ends,
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
        let elapsed = u32::try_from((now - self.last).as_nanos()).unwrap_or(u32::MAX);
        self.latencies.0.push(elapsed);
        self.last = now;
    }

    #[inline]
    fn resume(&mut self) {
        self.last = Instant::now();
    }
}
