//! Where the clock is read, and what becomes of its readings.

use crate::HarnessError;
use base64::Engine as _;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2Serializer};
use std::collections::BTreeMap;
use std::time::Instant;
use stowplan_model::{Action, Operation, Workload};

/// Where the clock is read.
pub(crate) enum Timing<'a> {
    /// At the ends only, by the caller.
    Ends,
    /// Once per operation, chained: the end of one is the start of the next.
    EachOperation(&'a mut Latencies),
}

/// How long operations took.
pub(crate) struct Latencies {
    all: Histogram<u64>,
    /// Of a mix, by what they did.
    of: Option<Box<[Histogram<u64>; Action::ALL.len()]>>,
}

impl Latencies {
    /// None yet.
    pub(crate) fn new(workload: &Workload) -> Result<Self, HarnessError> {
        let all = new_histogram()?;
        let of = (workload.operation == Operation::Mix)
            .then(|| Box::new(std::array::from_fn(|_| all.clone())));
        Ok(Self { all, of })
    }

    #[cfg(test)]
    pub(super) fn all(&self) -> &Histogram<u64> {
        &self.all
    }

    /// Those of another thread as well.
    pub(crate) fn add(&mut self, other: &Self) -> Result<(), HarnessError> {
        let unlike =
            |error| HarnessError::invalid(format!("cannot add up two histograms: {error}"));
        self.all.add(&other.all).map_err(unlike)?;
        for (mine, theirs) in self.of.iter_mut().zip(&other.of) {
            for (mine, theirs) in mine.iter_mut().zip(theirs.iter()) {
                mine.add(theirs).map_err(unlike)?;
            }
        }
        Ok(())
    }

    /// The histogram of all as text, and those of a mix's actions.
    pub(crate) fn texts(&self) -> Result<(String, BTreeMap<Action, String>), HarnessError> {
        let of = self
            .of
            .iter()
            .flat_map(|of| Action::ALL.iter().zip(of.iter()));
        let texts = of
            .filter(|(_, histogram)| !histogram.is_empty())
            .map(|(action, histogram)| Ok((*action, serialise(histogram)?)))
            .collect::<Result<_, HarnessError>>()?;
        Ok((serialise(&self.all)?, texts))
    }
}

/// What is told to the clock.
pub(super) trait Clock {
    /// An operation has ended.
    fn operation(&mut self, action: Action);
    /// What lay between, a transaction's beginning or end, belongs to no operation. Not told with
    /// several threads.
    fn resume(&mut self);
}

pub(super) struct NoClock;

impl Clock for NoClock {
    #[inline]
    fn operation(&mut self, _: Action) {}
    #[inline]
    fn resume(&mut self) {}
}

/// For operations that are all of one kind.
pub(super) struct ChainedClock<'a> {
    last: Instant,
    all: &'a mut Histogram<u64>,
}

impl ChainedClock<'_> {
    #[inline]
    fn record(&mut self) -> u64 {
        let now = Instant::now();
        let elapsed = u64::try_from((now - self.last).as_nanos()).unwrap_or(u64::MAX);
        self.all.saturating_record(elapsed);
        self.last = now;
        elapsed
    }
}

impl Clock for ChainedClock<'_> {
    #[inline]
    fn operation(&mut self, _: Action) {
        self.record();
    }

    #[inline]
    fn resume(&mut self) {
        self.last = Instant::now();
    }
}

/// For those of a mix.
pub(super) struct SortingClock<'a> {
    clock: ChainedClock<'a>,
    of: &'a mut [Histogram<u64>; Action::ALL.len()],
}

impl Clock for SortingClock<'_> {
    #[inline]
    fn operation(&mut self, action: Action) {
        let elapsed = self.clock.record();
        self.of[action as usize].saturating_record(elapsed);
    }

    #[inline]
    fn resume(&mut self) {
        self.clock.resume();
    }
}

impl Latencies {
    /// The clock for operations of one kind.
    pub(super) fn chained(&mut self) -> ChainedClock<'_> {
        ChainedClock {
            last: Instant::now(),
            all: &mut self.all,
        }
    }

    /// The clock for those of a mix, if this is of one.
    pub(super) fn sorting(&mut self) -> Option<SortingClock<'_>> {
        Some(SortingClock {
            clock: ChainedClock {
                last: Instant::now(),
                all: &mut self.all,
            },
            of: self.of.as_mut()?,
        })
    }
}

/// A histogram from 1 ns to one minute with three digits.
fn new_histogram() -> Result<Histogram<u64>, HarnessError> {
    Histogram::new_with_bounds(1, 60_000_000_000, 3)
        .map_err(|error| HarnessError::invalid(format!("cannot make a histogram: {error}")))
}

/// The histogram as text: HDR V2 in base64.
fn serialise(histogram: &Histogram<u64>) -> Result<String, HarnessError> {
    let mut bytes = Vec::new();
    V2Serializer::new()
        .serialize(histogram, &mut bytes)
        .map_err(|error| HarnessError::invalid(format!("cannot write a histogram: {error:?}")))?;
    Ok(base64::engine::general_purpose::STANDARD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::serialization::Deserializer;

    fn read(text: &str) -> Histogram<u64> {
        let bytes = base64::engine::general_purpose::STANDARD.decode(text);
        Deserializer::new()
            .deserialize(&mut &bytes.unwrap()[..])
            .unwrap()
    }

    #[test]
    fn a_histogram_survives_as_text() {
        let mut histogram = new_histogram().unwrap();
        for nanoseconds in [1, 999, 1_000_000, 59_000_000_000] {
            histogram.record(nanoseconds).unwrap();
        }
        assert_eq!(read(&serialise(&histogram).unwrap()), histogram);
    }

    #[test]
    fn a_mix_has_a_histogram_for_each_action_beside_that_of_all() {
        let mix = Workload {
            operation: Operation::Mix,
            ..Workload::default()
        };
        let mut latencies = Latencies::new(&mix).unwrap();
        let mut other = Latencies::new(&mix).unwrap();
        for (latencies, action) in [(&mut latencies, Action::Read), (&mut other, Action::Scan)] {
            let mut clock = latencies.sorting().unwrap();
            clock.operation(action);
            clock.operation(Action::Delete);
        }
        latencies.add(&other).unwrap();
        let (all, of) = latencies.texts().unwrap();
        assert_eq!(read(&all).len(), 4);
        let counts: Vec<_> = of.iter().map(|(a, text)| (*a, read(text).len())).collect();
        let expected = [(Action::Read, 1), (Action::Delete, 2), (Action::Scan, 1)];
        assert_eq!(counts, expected);
        let reads = Latencies::new(&Workload::default()).unwrap();
        assert!(reads.texts().unwrap().1.is_empty());
    }
}
