//! What a driver tells of a block: latencies, which become histograms as results hold them, and times. Whether times
//! can be true is seen by what its parent knows without a clock in it. A driver that is wrong by less is not found out
//! here; `drivers check` compares more closely.

use crate::{HarnessError, Result};
use base64::Engine as _;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2Serializer};
use std::collections::{BTreeMap, BTreeSet};
use std::iter;
use std::time::Duration;
use stowplan_model::{Action, format_bytes};

/// The least that an operation on a store takes, in nanoseconds: four cycles or so.
const LEAST_NS: u64 = 1;
/// More bytes than a processor reads in a nanosecond from its nearest cache.
const MOST_BYTES_PER_NS: u64 = 1_000;
/// By how much clocks may differ: a hundredth of the time, and this for reading them.
const SLACK_NS: u64 = 1_000_000;

/// What a driver tells of a block, and what the block was.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told {
    /// The time of the timed operations.
    pub(super) wall_ns: u64,
    /// CPU time of its threads within it, if it told that.
    pub(super) thread_cpu_ns: Option<u64>,
    /// From `go` to the answer, as its parent saw it.
    pub(super) waited: Duration,
    /// Timed operations.
    pub(super) operations: u64,
    /// Threads that shared them.
    pub(super) threads: u32,
    /// Bytes that reads had to deliver.
    pub(super) delivered: u64,
    /// Whether a loop is all that was timed.
    pub(super) keeps_nothing: bool,
}

impl Told {
    /// Why it cannot be so; nothing if it can.
    pub(super) fn impossible(&self) -> Option<String> {
        let Self {
            wall_ns,
            operations,
            threads,
            ..
        } = *self;
        let waited = u64::try_from(self.waited.as_nanos()).unwrap_or(u64::MAX);
        let all_threads = wall_ns.saturating_mul(threads.max(1).into());
        let cpu = self.thread_cpu_ns.unwrap_or(0);
        let says = match () {
            () if wall_ns == 0 => return Some("the worker measured a time of 0 ns".to_owned()),
            () if wall_ns > with_slack(waited) => format!(
                "a block took {wall_ns} ns, and said so {waited} ns after it was told to begin"
            ),
            () if cpu > with_slack(all_threads) => format!(
                "{threads} thread(s) were on a CPU for {cpu} ns of a block that took {wall_ns} ns"
            ),
            () if self.keeps_nothing => return None,
            () if all_threads < operations.saturating_mul(LEAST_NS) => format!(
                "{operations} operations took {wall_ns} ns, and no store does one in less than {LEAST_NS} ns"
            ),
            () if all_threads < self.delivered / MOST_BYTES_PER_NS => format!(
                "it delivered {} in {wall_ns} ns, which no processor does",
                format_bytes(self.delivered)
            ),
            () => return None,
        };
        Some(format!("the worker says that {says}"))
    }
}

/// How long the thread of a block waited for a CPU within it. What a driver reads beside its clock can hold a
/// wait between the two readings, and while a thread is on a CPU it does not wait for one: without that bound
/// a block on a busy machine could seem to have taken no time.
pub(super) fn run_delay(told_ns: u64, wall_ns: u64, thread_cpu_ns: Option<u64>) -> u64 {
    told_ns.min(wall_ns.saturating_sub(thread_cpu_ns.unwrap_or(0)))
}

fn with_slack(ns: u64) -> u64 {
    ns.saturating_add(ns / 100).saturating_add(SLACK_NS)
}

/// Histograms of latencies: of all, and of a mix by what the operations did.
pub(super) struct Latencies(BTreeMap<Option<Action>, Histogram<u64>>);

impl Latencies {
    /// None yet; those of a mix of some actions are told apart.
    pub(super) fn new(mix: &[Action]) -> Result<Self> {
        let whose: BTreeSet<_> = mix.iter().copied().map(Some).chain([None]).collect();
        let of = whose.into_iter().map(|whose| Ok((whose, new_histogram()?)));
        Ok(Self(of.collect::<Result<_>>()?))
    }

    /// Adds those of one thread, in the order of its operations.
    pub(super) fn add(&mut self, bytes: &[u8], mut actions: impl Iterator<Item = Action>) {
        for latency in bytes.as_chunks().0 {
            for whose in iter::once(None).chain(actions.next().map(Some)) {
                if let Some(histogram) = self.0.get_mut(&whose) {
                    histogram.saturating_record(u32::from_le_bytes(*latency).into());
                }
            }
        }
    }

    /// How many there are.
    pub(super) fn count(&self) -> u64 {
        self.0.get(&None).map_or(0, Histogram::len)
    }

    /// The histogram of all as text, and those of a mix's actions.
    pub(super) fn texts(&self) -> Result<(String, BTreeMap<Action, String>)> {
        let (mut all, mut of) = (String::new(), BTreeMap::new());
        for (whose, histogram) in &self.0 {
            match whose {
                None => all = serialise(histogram)?,
                Some(_) if histogram.is_empty() => {}
                Some(action) => _ = of.insert(*action, serialise(histogram)?),
            }
        }
        Ok((all, of))
    }
}

/// A histogram from 1 ns to one minute with three digits.
fn new_histogram() -> Result<Histogram<u64>> {
    Histogram::new_with_bounds(1, 60_000_000_000, 3)
        .map_err(|error| HarnessError::invalid(format!("cannot make a histogram: {error}")))
}

/// The histogram as text: HDR V2 in base64.
fn serialise(histogram: &Histogram<u64>) -> Result<String> {
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

    /// 1,000 reads of 10 kB in 3 ms.
    const TRUE: Told = Told {
        wall_ns: 3_000_000,
        thread_cpu_ns: Some(2_900_000),
        waited: Duration::from_millis(5),
        operations: 1_000,
        threads: 1,
        delivered: 10_000_000,
        keeps_nothing: false,
    };

    #[test]
    fn a_thread_did_not_wait_for_a_cpu_while_it_was_on_one() {
        assert_eq!(run_delay(3, 10, Some(6)), 3);
        assert_eq!(run_delay(9, 10, Some(6)), 4);
        assert_eq!(run_delay(99, 10, None), 10);
        assert_eq!(run_delay(99, 10, Some(11)), 0);
    }

    #[test]
    fn a_time_that_can_be_so_is_believed() {
        assert_eq!(TRUE.impossible(), None);
        let rounded = Told {
            wall_ns: 5_900_000,
            ..TRUE
        };
        assert_eq!(rounded.impossible(), None, "its clock may run differently");
        let threads = Told {
            threads: 4,
            thread_cpu_ns: Some(11_600_000),
            ..TRUE
        };
        assert_eq!(threads.impossible(), None);
        let loop_alone = Told {
            wall_ns: 900,
            thread_cpu_ns: None,
            keeps_nothing: true,
            ..TRUE
        };
        assert_eq!(loop_alone.impossible(), None);
    }

    #[test]
    fn a_time_that_cannot_be_so_is_refused_with_what_contradicts_it() {
        let refused = |told: Told, why: &str| {
            let said = told.impossible().unwrap_or_default();
            assert!(said.contains(why), "{said}");
        };
        let told = |wall_ns| Told {
            wall_ns,
            thread_cpu_ns: None,
            ..TRUE
        };
        refused(told(0), "0 ns");
        refused(told(6_100_000), "6100000 ns, and said so 5000000 ns after");
        refused(told(900), "1000 operations took 900 ns");
        refused(told(9_000), "delivered");
        let on_cpu = Told {
            wall_ns: 1_000_000,
            thread_cpu_ns: Some(2_100_000),
            ..TRUE
        };
        refused(on_cpu, "on a CPU for 2100000 ns");
    }

    fn read(text: &str) -> Histogram<u64> {
        let bytes = base64::engine::general_purpose::STANDARD.decode(text);
        Deserializer::new()
            .deserialize(&mut &bytes.unwrap()[..])
            .unwrap()
    }

    fn bytes(latencies: &[u32]) -> Vec<u8> {
        latencies.iter().flat_map(|ns| ns.to_le_bytes()).collect()
    }

    #[test]
    fn a_mix_has_a_histogram_for_each_action_beside_that_of_all() {
        let actions = [Action::Read, Action::Delete, Action::Scan, Action::Delete];
        let mut latencies = Latencies::new(&actions).unwrap();
        latencies.add(&bytes(&[1, 999, 1_000_000, u32::MAX]), actions.into_iter());
        assert_eq!(latencies.count(), 4);
        let (all, of) = latencies.texts().unwrap();
        assert_eq!((read(&all).len(), read(&all).min()), (4, 1));
        let counts: Vec<_> = of.iter().map(|(a, text)| (*a, read(text).len())).collect();
        assert_eq!(
            counts,
            [(Action::Read, 1), (Action::Delete, 2), (Action::Scan, 1)]
        );
        let mut reads = Latencies::new(&[]).unwrap();
        reads.add(&bytes(&[5]), std::iter::repeat(Action::Read));
        assert!(reads.texts().unwrap().1.is_empty());
    }
}
