//! Timing the operations of several threads, each with its own connection.

use crate::accounting::Accounting;
use crate::barrier::Barrier;
use crate::block::Window;
use crate::platform::{self, CpuClock, monotonic_ns};
use crate::timing::{Around, Operator, Readings, Steps, Timed, together};
use crate::{DriverError, Result};
use std::thread;
use std::time::Instant;
use stowplan_model::{IoCounters, Measured, Run, Usage};
use stowplan_stores::{Buffer, Store};

/// The threads of a block.
pub(crate) struct Threads<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) run: &'a Run,
    /// Bytes of the largest value.
    pub(crate) capacity: usize,
}

/// What one thread measured.
struct ThreadResult {
    timed: Timed,
    spans: Vec<Span>,
    lead_in_ns: u64,
}

/// One part of a thread's operations, in nanoseconds.
#[derive(Clone, Copy)]
struct Span {
    start: u64,
    end: u64,
    cpu: Option<u64>,
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
        let barrier = &Barrier::of(steps.len() + 1);
        let windows: Vec<Window<'_>> = steps.iter().map(|steps| steps.timed).collect();
        let parts = steps.iter().map(|steps| steps.parts.len()).max();
        let (parts, count) = (parts.unwrap_or(0), steps.len());
        let (total, closing, results) = thread::scope(|scope| {
            let mut threads = Vec::with_capacity(count);
            for (number, steps) in (1..).zip(steps) {
                let spawned = thread::Builder::new().spawn_scoped(scope, move || {
                    let thread = Some(number);
                    let _guard = Guard { barrier, thread };
                    let result = self.run_one(steps, parts, barrier);
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
            let thread = None;
            let _guard = Guard { barrier, thread };
            let total = self.watch(parts, barrier, go);
            let total = total.map_err(|error| barrier.fail(error)).ok();
            // What it costs that the threads close their connections: many an engine writes meanwhile.
            let (before, closing) = (written(), Instant::now());
            // Closing waits for this, and ends with the other. Why they may fail, the barrier knows.
            let _ = barrier.wait().and_then(|()| barrier.wait());
            let results = threads.into_iter().map(|t| t.join().ok().flatten());
            let results: Vec<_> = results.collect();
            let took = platform::elapsed_ns(closing);
            let bytes = before.zip(written());
            let bytes = bytes.map(|(before, after)| after.saturating_sub(before));
            (total, (took, bytes), results)
        });
        if let Some(error) = barrier.failure() {
            return Err(error);
        }
        let results: Option<Vec<ThreadResult>> = results.into_iter().collect();
        let Some((mut total, results)) = total.zip(results) else {
            return Err(DriverError::invalid("a thread of the block is lost"));
        };
        let spans: Vec<&[Span]> = results.iter().map(|result| &*result.spans).collect();
        total.wall_ns = wall_ns(&spans);
        total.usage = Usage {
            // They wait for each other, and that is part of what they do.
            run_delay_ns: None,
            thread_cpu_ns: spans.iter().copied().flatten().map(|span| span.cpu).sum(),
            ..total.usage
        };
        let lead_in_ns = results.iter().map(|result| result.lead_in_ns).max();
        let threads: Vec<Timed> = results.into_iter().map(|result| result.timed).collect();
        let mut measured = together(self.run, &windows, total, &threads)?;
        measured.outside.lead_in_ns = lead_in_ns.unwrap_or(0);
        (measured.outside.drain_ns, measured.drain_write_bytes) = closing;
        Ok(measured)
    }

    /// One thread from its connection to its end.
    fn run_one(
        &self,
        steps: &mut Steps<'_>,
        parts: usize,
        barrier: &Barrier,
    ) -> Result<ThreadResult> {
        let mut session = self.store.connect()?;
        let mut operator = Operator {
            session: &mut *session,
            workload: &self.run.workload,
            buffer: Buffer::with_capacity(self.capacity)?,
        };
        let lead_in_ns = operator.lead_in(steps)?;
        barrier.wait()?;
        let mut together = InStep {
            barrier,
            spans: Vec::with_capacity(parts),
        };
        let timed = operator.time(steps, parts, Some(barrier.given_up()), &mut together)?;
        drop(operator);
        // All have done their operations; then they close.
        barrier.wait()?;
        session.close()?;
        // What that took is told, so all are done with it.
        barrier.wait()?;
        Ok(ThreadResult {
            timed,
            spans: together.spans,
            lead_in_ns,
        })
    }

    /// Waits with the threads, and reads what belongs to the process: when all have their values and none
    /// has begun, and when all have ended and none goes on.
    fn watch(
        &self,
        parts: usize,
        barrier: &Barrier,
        go: &mut dyn FnMut(bool) -> Result<()>,
    ) -> Result<Measured> {
        barrier.wait()?;
        go(true)?;
        let mut readings = Readings::of(Accounting::of_this_thread(), self.run.counting);
        for part in 1..=parts {
            barrier.wait()?;
            readings.begin();
            barrier.wait()?;
            barrier.wait()?;
            readings.end();
            if part < parts {
                go(false)?;
            }
            barrier.wait()?;
        }
        Ok(readings.total())
    }
}

/// A thread that begins and ends each part with all others.
struct InStep<'b> {
    barrier: &'b Barrier,
    spans: Vec<Span>,
}

impl Around for InStep<'_> {
    fn begin(&mut self, _: usize) -> Result<()> {
        // All have their values; then what belongs to the process is read, and all go.
        self.barrier.wait()?;
        self.barrier.wait()?;
        let cpu = platform::cpu_ns(CpuClock::Thread);
        let start = monotonic_ns();
        let end = start;
        self.spans.push(Span { start, end, cpu });
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        let end = monotonic_ns();
        let cpu = platform::cpu_ns(CpuClock::Thread);
        if let Some(span) = self.spans.last_mut() {
            span.end = end;
            let both = span.cpu.zip(cpu);
            span.cpu = both.map(|(before, after)| after.saturating_sub(before));
        }
        // All have ended; then it is read again, and the values of what follows are written.
        self.barrier.wait()?;
        self.barrier.wait()
    }
}

/// Bytes that this process has sent to storage, where the system tells.
fn written() -> Option<u64> {
    let (io, _): (IoCounters, u64) = platform::ProcessIo::open().read()?;
    Some(io.storage_write_bytes)
}

/// Of each part, the time from the first start to the last end.
fn wall_ns(threads: &[&[Span]]) -> u64 {
    let parts = threads.iter().map(|spans| spans.len()).max().unwrap_or(0);
    let of = |part: usize| {
        let spans = || threads.iter().filter_map(move |spans| spans.get(part));
        let start = spans().map(|span| span.start).min().unwrap_or(0);
        let end = spans().map(|span| span.end).max().unwrap_or(0);
        end.saturating_sub(start)
    };
    (0..parts).map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use stowplan_dataset::sequence::{Sequence, write_steps};
    use stowplan_model::{At, Share, Workload};
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
            workload,
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
            run: &run,
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
