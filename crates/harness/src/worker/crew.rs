//! Timing the operations of several threads, each with its own connection.

use super::deal::deal;
use super::rendezvous::Rendezvous;
use super::source::{Source, Versions, versions_of};
use super::timing::{
    Drain, Operator, Timed, commits_of, difference, measurement_of, nanoseconds, steps_in, unix_ms,
};
use crate::HarnessError;
use crate::accounting::{Accounting, Usage};
use crate::block::{Block, Done, Latencies, Timing, Window, steps};
use crate::clock::monotonic_ns;
use crate::counting::Tally;
use crate::platform::{self, CpuClock};
use crate::sequence::{RawStep, Step};
use std::thread;
use std::time::Instant;
use stowplan_model::{BlockKind, BlockTask, Job, Measurement, SyncCalls, Workload};
use stowplan_stores::{Buffer, Counters, Store};

/// What one thread does.
pub(super) struct Share {
    lead_in: Vec<RawStep>,
    timed: Vec<RawStep>,
    pub(super) versions: Versions,
}

impl Share {
    /// Deals a lead-in and the block behind it out to the threads of a job.
    pub(super) fn all(job: &Job, task: &BlockTask, windows: [&Window<'_>; 2]) -> Vec<Self> {
        let threads = usize::try_from(job.workload.threads).unwrap_or(1);
        let [lead_ins, timed] = windows.map(|window| deal(window, &job.workload, threads));
        let shares = lead_ins.into_iter().zip(timed).enumerate();
        shares
            .map(|(thread, (lead_in, timed))| Self {
                versions: versions_of(job, task, thread, [&[&lead_in, &[]], &[&timed, &[]]]),
                lead_in,
                timed,
            })
            .collect()
    }

    /// Its steps, those of the lead-in first.
    pub(super) fn steps(&self) -> impl Iterator<Item = Step> {
        steps(&[&self.lead_in, &self.timed])
    }

    /// Those that are timed.
    pub(super) fn timed(&self) -> Window<'_> {
        [&self.timed, &[]]
    }
}

/// The threads of a block.
pub(super) struct Crew<'a> {
    pub(super) store: &'a dyn Store,
    pub(super) workload: &'a Workload,
    pub(super) kind: BlockKind,
    pub(super) source: &'a Source,
    pub(super) shares: &'a [Share],
    /// Bytes of the largest value.
    pub(super) capacity: usize,
}

/// What one thread measured.
struct Member {
    done: Done,
    latencies: Latencies,
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
    cpu: u64,
}

/// What the thread measured that waits for the others.
struct Watched {
    usage: Usage,
    syncs: SyncCalls,
    started_unix_ms: u64,
}

/// Gives up in the name of a thread that panics: nobody may wait for it.
struct Guard<'a> {
    meeting: &'a Rendezvous,
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
            self.meeting.fail(HarnessError::invalid(message));
        }
    }
}

impl Crew<'_> {
    /// Runs the block. `ready` is called once every thread has its session open and has run its
    /// share of the lead-in; the threads close their connections within the drain.
    pub(super) fn run(
        &self,
        ready: &mut dyn FnMut() -> Result<(), HarnessError>,
        drain: &mut Drain,
    ) -> Result<Timed, HarnessError> {
        let meeting = Rendezvous::of(self.shares.len() + 1);
        let rounds = self.shares.iter().map(|share| self.parts(share).len());
        let rounds = rounds.max().unwrap_or(0);
        let (watched, members) = thread::scope(|scope| {
            let mut threads = Vec::with_capacity(self.shares.len());
            for (number, share) in (1..).zip(self.shares) {
                let meeting = &meeting;
                let spawned = thread::Builder::new().spawn_scoped(scope, move || {
                    let _guard = Guard {
                        meeting,
                        thread: Some(number),
                    };
                    let member = self.member(share, rounds, meeting);
                    member.map_err(|error| meeting.fail(error)).ok()
                });
                match spawned {
                    Ok(thread) => threads.push(thread),
                    Err(error) => {
                        meeting.fail(HarnessError::invalid(format!(
                            "cannot start thread {number} of {}: {error}",
                            self.shares.len()
                        )));
                        break;
                    }
                }
            }
            let _guard = Guard {
                meeting: &meeting,
                thread: None,
            };
            let watched = watch(rounds, &meeting, ready);
            let watched = watched.map_err(|error| meeting.fail(error)).ok();
            let members: Option<Vec<Member>> = drain.during(|| {
                // Closing waits for this. Why it may fail, the meeting knows.
                let _ = meeting.wait();
                let members: Vec<_> = threads.into_iter().map(|t| t.join().ok()).collect();
                members.into_iter().map(Option::flatten).collect()
            });
            (watched, members)
        });
        if let Some(error) = meeting.into_failure() {
            return Err(error);
        }
        match watched.zip(members) {
            Some((watched, members)) => self.together(watched, members),
            None => Err(HarnessError::invalid("a thread of the block is lost")),
        }
    }

    fn parts<'s>(&self, share: &'s Share) -> Vec<Window<'s>> {
        let threads = self.shares.len();
        self.source.parts(&share.timed(), self.workload, threads)
    }

    /// One thread from its connection to its end.
    fn member(
        &self,
        share: &Share,
        rounds: usize,
        meeting: &Rendezvous,
    ) -> Result<Member, HarnessError> {
        let mut connection = self.store.connect()?;
        let operator = Operator {
            session: connection.session()?,
            workload: self.workload,
            buffer: Buffer::with_capacity(self.capacity)?,
            tally: Tally::none(),
        };
        let member = self.operate(operator, share, rounds, meeting)?;
        // Closing belongs to the drain, which begins there.
        meeting.wait()?;
        connection.close()?;
        Ok(member)
    }

    fn operate(
        &self,
        mut operator: Operator<'_>,
        share: &Share,
        rounds: usize,
        meeting: &Rendezvous,
    ) -> Result<Member, HarnessError> {
        let lead_in: Window<'_> = [&share.lead_in, &[]];
        let mut payloads = self.source.payloads(&lead_in, &share.versions, 0)?;
        let leading = Instant::now();
        operator.lead_in(&lead_in, &mut payloads)?;
        let lead_in_ns = nanoseconds(leading);
        let commits = commits_of(&operator.session.counters()?);
        let mut latencies = Latencies::new(self.workload)?;
        let mut timing = match self.kind {
            BlockKind::Latency => Timing::EachOperation(&mut latencies),
            BlockKind::Ratio | BlockKind::Pilot | BlockKind::Counting => Timing::Ends,
        };
        let mut parts = self.parts(share);
        // Ends its last transaction there, whatever the others still have to do.
        let last = parts.len();
        parts.resize(rounds, [&[], &[]]);
        let mut payloads = Some(self.source.payloads(
            &parts[0],
            &share.versions,
            share.lead_in.len(),
        )?);
        let mut spans = Vec::with_capacity(rounds);
        let mut block = Block::new(
            &mut *operator.session,
            self.workload,
            &mut operator.buffer,
            Some(meeting.given_up()),
        );
        meeting.wait()?;
        let mut step = share.lead_in.len();
        for (number, part) in (1..).zip(&parts) {
            let mut payloads = match payloads.take() {
                Some(payloads) => payloads,
                None => self.source.payloads(part, &share.versions, step)?,
            };
            step += steps_in(part);
            // All have their values; then what belongs to the process is read, and all go.
            meeting.wait()?;
            meeting.wait()?;
            let cpu = platform::cpu_ns(CpuClock::Thread);
            let start = monotonic_ns();
            block.part(part, &mut payloads, &mut timing, number >= last)?;
            let end = monotonic_ns();
            let cpu = platform::cpu_ns(CpuClock::Thread).saturating_sub(cpu);
            spans.push(Span { start, end, cpu });
            // All have ended; then it is read again, and all prepare what follows.
            meeting.wait()?;
            meeting.wait()?;
        }
        let done = block.done();
        let counters = operator.session.counters()?;
        Ok(Member {
            done,
            latencies,
            spans,
            counted: difference(commits, commits_of(&counters)),
            counters,
            lead_in_ns,
        })
    }

    /// One measurement of those of all threads.
    fn together(&self, watched: Watched, members: Vec<Member>) -> Result<Timed, HarnessError> {
        let mut latencies = Latencies::new(self.workload)?;
        let mut done = Done::default();
        let mut counters = Counters::new();
        let mut counted = Some(0);
        for member in &members {
            latencies.add(&member.latencies)?;
            done.bytes += member.done.bytes;
            done.commits += member.done.commits;
            done.conflicts += member.done.conflicts;
            done.last_commit_ns = done.last_commit_ns.max(member.done.last_commit_ns);
            counted = counted.zip(member.counted).map(|(a, b)| a + b);
            for (name, count) in &member.counters {
                *counters.entry(name.clone()).or_default() += count;
            }
        }
        let spans = || members.iter().flat_map(|member| &member.spans);
        let usage = Usage {
            wall_ns: wall_ns(&members),
            // They wait for each other, and that is part of what they do.
            run_delay_ns: None,
            thread_cpu_ns: spans().map(|span| span.cpu).sum(),
            ..watched.usage
        };
        let operations = self.shares.iter().map(|share| share.timed.len() as u64);
        let measurement = measurement_of(&usage, &done, self.kind, &latencies)?;
        let mut outside = measurement.outside;
        outside.lead_in_ns = members.iter().map(|m| m.lead_in_ns).max().unwrap_or(0);
        Ok(Timed {
            counted,
            measurement: Measurement {
                operations: operations.sum(),
                syncs: watched.syncs,
                started_unix_ms: watched.started_unix_ms,
                counters,
                outside,
                ..measurement
            },
        })
    }
}

/// Waits with the threads, and reads what belongs to the process: when all have prepared their values
/// and none has begun, and when all have ended and none goes on.
fn watch(
    rounds: usize,
    meeting: &Rendezvous,
    ready: &mut dyn FnMut() -> Result<(), HarnessError>,
) -> Result<Watched, HarnessError> {
    meeting.wait()?;
    ready()?;
    let accounting = Accounting::of_this_thread();
    let started_unix_ms = unix_ms();
    let syncs = stowplan_stores::sync_calls();
    let mut usage: Option<Usage> = None;
    for _ in 0..rounds {
        meeting.wait()?;
        let begin = accounting.begin();
        meeting.wait()?;
        meeting.wait()?;
        let cost = accounting.end(&begin);
        meeting.wait()?;
        match &mut usage {
            Some(usage) => *usage += cost,
            None => usage = Some(cost),
        }
    }
    Ok(Watched {
        usage: usage.unwrap_or_default(),
        syncs: stowplan_stores::sync_calls().since(&syncs),
        started_unix_ms,
    })
}

/// Of each part, the time from the first start to the last end.
fn wall_ns(members: &[Member]) -> u64 {
    let rounds = members.iter().map(|m| m.spans.len()).max().unwrap_or(0);
    let of = |round: usize| {
        let spans = || members.iter().filter_map(move |m| m.spans.get(round));
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
    use stowplan_stores::registry;

    #[test]
    fn a_panic_before_the_block_begins_ends_its_threads() {
        let place = tempfile::tempdir().unwrap();
        let null = registry::resolve(&"null".parse().unwrap(), 0).unwrap();
        let store = null.kind.create(place.path(), &null.settings).unwrap();
        let shares: Vec<Share> = (0..3)
            .map(|thread| Share {
                lead_in: Vec::new(),
                timed: vec![Step::reading(1, 1).encode()],
                versions: Versions::new(1, thread, false, std::iter::empty()),
            })
            .collect();
        let crew = Crew {
            store: &*store,
            workload: &Workload::default(),
            kind: BlockKind::Ratio,
            source: &Source::Nowhere,
            shares: &shares,
            capacity: 1,
        };
        let mut drain = Drain::default();
        let run = AssertUnwindSafe(|| {
            crew.run(&mut || panic!("by design"), &mut drain)
                .map(|_| ())
        });
        // That it ends at all is what matters.
        assert!(catch_unwind(run).is_err());
        crew.run(&mut || Ok(()), &mut drain).map(|_| ()).unwrap();
    }
}
