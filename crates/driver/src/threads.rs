//! Timing the operations of several threads, each with its own connection.

use crate::accounting::{Accounting, Cost};
use crate::barrier::Barrier;
use crate::block::{Block, Done, Timing, Window};
use crate::platform::{self, CpuClock, monotonic_ns};
use crate::timing::{Operator, Steps, check_commits, growth_of, measured, nanoseconds};
use crate::traffic::Traffic;
use crate::{DriverError, Result};
use std::thread;
use std::time::Instant;
use stowplan_model::{IoCounters, Measured, SyncCalls, Usage, Workload};
use stowplan_stores::{Buffer, COMMITS_COUNTED, Counters, Store};

/// The threads of a block.
pub(crate) struct Threads<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) workload: &'a Workload,
    /// The timed steps of each.
    pub(crate) windows: Vec<Window<'a>>,
    /// Bytes of the largest value.
    pub(crate) capacity: usize,
}

/// What one thread measured.
struct ThreadResult {
    done: Done,
    spans: Vec<Span>,
    counters: Counters,
    counted: Option<u64>,
    lead_in_ns: u64,
}

/// One part of a thread's operations, in nanoseconds.
#[derive(Clone, Copy)]
struct Span {
    start: u64,
    end: u64,
    cpu: Option<u64>,
}

/// What the thread measured that waits for the others.
struct ProcessResult {
    cost: Cost,
    syncs: SyncCalls,
    traffic: Counters,
}

/// Gives up in the name of a thread that panics: nobody may wait for it.
struct Guard<'a> {
    barrier: &'a Barrier,
    /// Its number, from 1; nothing for the one that watches.
    thread: Option<usize>,
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            let thread = match self.thread {
                Some(number) => format!("thread {number} of the block"),
                None => "the thread that watches the block".to_owned(),
            };
            let message = format!("{thread} panicked; stderr says why");
            self.barrier.fail(DriverError::invalid(message));
        }
    }
}

impl Threads<'_> {
    /// Runs the block. `go` is called (with true) once every thread has its session open and has run
    /// its share of the lead-in, and before each further part (with false). The threads close their
    /// connections, which is told as a part of bringing what they wrote to rest.
    pub(crate) fn run(
        &self,
        steps: &mut [Steps<'_>],
        go: &mut dyn FnMut(bool) -> Result<()>,
    ) -> Result<Measured> {
        let barrier = Barrier::of(steps.len() + 1);
        let rounds = steps
            .iter()
            .map(|steps| steps.parts.len())
            .max()
            .unwrap_or(0);
        let count = steps.len();
        let (process, closing, results) = thread::scope(|scope| {
            let mut threads = Vec::with_capacity(count);
            for (number, steps) in (1..).zip(steps) {
                let barrier = &barrier;
                let spawned = thread::Builder::new().spawn_scoped(scope, move || {
                    let _guard = Guard {
                        barrier,
                        thread: Some(number),
                    };
                    let result = self.run_one(steps, rounds, barrier);
                    result.map_err(|error| barrier.fail(error)).ok()
                });
                match spawned {
                    Ok(thread) => threads.push(thread),
                    Err(error) => {
                        barrier.fail(DriverError::invalid(format!(
                            "cannot start thread {number} of {count}: {error}"
                        )));
                        break;
                    }
                }
            }
            let _guard = Guard {
                barrier: &barrier,
                thread: None,
            };
            let process = watch(rounds, &barrier, go);
            let process = process.map_err(|error| barrier.fail(error)).ok();
            // What it costs that the threads close their connections: many an engine writes meanwhile.
            let (before, closing) = (written(), Instant::now());
            // Closing waits for this, and ends with the other. Why they may fail, the barrier knows.
            let _ = barrier.wait().and_then(|()| barrier.wait());
            let results: Vec<_> = threads.into_iter().map(|t| t.join().ok()).collect();
            let results: Option<Vec<ThreadResult>> =
                results.into_iter().map(Option::flatten).collect();
            let took = nanoseconds(closing);
            let bytes = before.zip(written());
            let bytes = bytes.map(|(before, after)| after.saturating_sub(before));
            (process, (took, bytes), results)
        });
        if let Some(error) = barrier.into_failure() {
            return Err(error);
        }
        let Some((process, results)) = process.zip(results) else {
            return Err(DriverError::invalid("a thread of the block is lost"));
        };
        let mut together = self.together(process, &results)?;
        (together.outside.drain_ns, together.drain_write_bytes) = closing;
        Ok(together)
    }

    /// One thread from its connection to its end.
    fn run_one(
        &self,
        steps: &mut Steps<'_>,
        rounds: usize,
        barrier: &Barrier,
    ) -> Result<ThreadResult> {
        let mut session = self.store.connect()?;
        let operator = Operator {
            session: &mut *session,
            workload: self.workload,
            buffer: Buffer::with_capacity(self.capacity)?,
        };
        let result = operate(operator, steps, rounds, barrier)?;
        // All have done their operations; then they close.
        barrier.wait()?;
        session.close()?;
        // What that took is told, so all are done with it.
        barrier.wait()?;
        Ok(result)
    }

    /// One measurement of those of all threads.
    fn together(&self, process: ProcessResult, results: &[ThreadResult]) -> Result<Measured> {
        let mut done = Done::default();
        let mut counters = Counters::new();
        let mut counted = Some(0);
        for result in results {
            done.bytes += result.done.bytes;
            done.commits += result.done.commits;
            done.conflicts += result.done.conflicts;
            done.last_commit_ns = done.last_commit_ns.max(result.done.last_commit_ns);
            counted = counted.zip(result.counted).map(|(a, b)| a + b);
            for (name, count) in &result.counters {
                *counters.entry(name.clone()).or_default() += count;
            }
        }
        check_commits(self.workload, &self.windows, &done, counted)?;
        let spans = || results.iter().flat_map(|result| &result.spans);
        let cost = Cost {
            wall_ns: wall_ns(results),
            usage: Usage {
                // They wait for each other, and that is part of what they do.
                run_delay_ns: None,
                thread_cpu_ns: spans().map(|span| span.cpu).sum(),
                ..process.cost.usage
            },
        };
        let mut together = measured(&cost, &done);
        together.outside.lead_in_ns = results.iter().map(|m| m.lead_in_ns).max().unwrap_or(0);
        together.syncs = Some(process.syncs);
        counters.extend(process.traffic);
        together.counters = counters;
        Ok(together)
    }
}

fn operate(
    mut operator: Operator<'_>,
    steps: &mut Steps<'_>,
    rounds: usize,
    barrier: &Barrier,
) -> Result<ThreadResult> {
    let lead_in_ns = operator.lead_in(steps)?;
    let before = operator.session.counters()?;
    let mut latencies = steps.latencies.take();
    // Ends its last transaction there, whatever the others still have to do.
    let last = steps.parts.len();
    let mut spans = Vec::with_capacity(rounds);
    let mut block = Block::new(
        operator.session,
        operator.workload,
        &mut operator.buffer,
        Some(barrier.given_up()),
    );
    barrier.wait()?;
    for part in 0..rounds {
        let window = steps.parts.get(part).copied().unwrap_or([&[], &[]]);
        steps.begin_part(part);
        let mut timing = Timing::of(&mut latencies, steps.schedule);
        // All have their values; then what belongs to the process is read, and all go.
        barrier.wait()?;
        barrier.wait()?;
        let cpu = platform::cpu_ns(CpuClock::Thread);
        let start = monotonic_ns();
        block.part(&window, &mut steps.payloads, &mut timing, part + 1 >= last)?;
        let end = monotonic_ns();
        let cpu = cpu.zip(platform::cpu_ns(CpuClock::Thread));
        let cpu = cpu.map(|(before, after)| after.saturating_sub(before));
        spans.push(Span { start, end, cpu });
        // All have ended; then it is read again, and the values of what follows are written.
        barrier.wait()?;
        barrier.wait()?;
    }
    let done = block.done();
    steps.latencies = latencies;
    let counters = operator.session.counters()?;
    Ok(ThreadResult {
        done,
        spans,
        counted: growth_of(COMMITS_COUNTED, &before, &counters),
        counters,
        lead_in_ns,
    })
}

/// Waits with the threads, and reads what belongs to the process: when all have their values and none
/// has begun, and when all have ended and none goes on.
fn watch(
    rounds: usize,
    barrier: &Barrier,
    go: &mut dyn FnMut(bool) -> Result<()>,
) -> Result<ProcessResult> {
    barrier.wait()?;
    go(true)?;
    let accounting = Accounting::of_this_thread();
    let syncs = stowplan_stores::sync_calls();
    let traffic = Traffic::now();
    let mut cost: Option<Cost> = None;
    for round in 1..=rounds {
        barrier.wait()?;
        let begin = accounting.begin();
        barrier.wait()?;
        barrier.wait()?;
        let of_round = accounting.end(&begin);
        if round < rounds {
            go(false)?;
        }
        barrier.wait()?;
        cost = Some(cost.map_or(of_round, |before| before.and(of_round)));
    }
    Ok(ProcessResult {
        cost: cost.unwrap_or_default(),
        syncs: stowplan_stores::sync_calls().since(&syncs),
        traffic: traffic.since(),
    })
}

/// Bytes that this process has sent to storage, where the system tells.
fn written() -> Option<u64> {
    let (io, _): (IoCounters, u64) = platform::ProcessIo::open().read()?;
    Some(io.storage_write_bytes)
}

/// Of each part, the time from the first start to the last end.
fn wall_ns(results: &[ThreadResult]) -> u64 {
    let rounds = results.iter().map(|m| m.spans.len()).max().unwrap_or(0);
    let of = |round: usize| {
        let spans = || results.iter().filter_map(move |m| m.spans.get(round));
        let start = spans().map(|span| span.start).min().unwrap_or(0);
        let end = spans().map(|span| span.end).max().unwrap_or(0);
        end.saturating_sub(start)
    };
    (0..rounds).map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use stowplan_dataset::sequence::{Sequence, write_steps};
    use stowplan_model::{At, Run, Share};
    use stowplan_stores::registry;

    #[test]
    fn a_panic_before_the_block_begins_ends_its_threads() {
        let place = tempfile::tempdir().unwrap();
        let null = registry::resolve(&"null".parse().unwrap(), 0).unwrap();
        let store = null.kind.create(place.path(), &null.settings).unwrap();
        let path = place.path().join("sequence");
        let workload = Workload::default();
        write_steps(&path, 1, &workload, 1, 0, |_| 1).unwrap();
        let sequence = Sequence::open(&path).unwrap();
        let share = Share {
            sequence: path,
            operations: 1,
            ..Share::default()
        };
        let run = Run {
            at: At {
                store: "null".parse().unwrap(),
                place: place.path().to_owned(),
            },
            workload: workload.clone(),
            threads: vec![share.clone(); 3],
            payloads: stowplan_model::PayloadSource::Prepared,
            largest: 0,
            counting: false,
        };
        let steps = || -> Vec<Steps<'_>> {
            let one = |number| Steps::of(&run, number, &sequence).unwrap();
            (0..3).map(one).collect()
        };
        let threads = Threads {
            store: &*store,
            workload: &workload,
            windows: Vec::new(),
            capacity: 1,
        };
        let panics = AssertUnwindSafe(|| {
            threads
                .run(&mut steps(), &mut |_| panic!("by design"))
                .map(|_| ())
        });
        // That it ends at all is what matters.
        assert!(catch_unwind(panics).is_err());
        threads.run(&mut steps(), &mut |_| Ok(())).unwrap();
    }
}
