//! Timing the operations of a thread, and what lies around them.

use crate::accounting::{Accounting, Cost, Snapshot};
use crate::block::{Block, Done, Latencies, Payloads, Schedule, Timing, Window, parts, steps};
use crate::counting;
use crate::traffic::Traffic;
use crate::{DriverError, Result, platform};
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use stowplan_dataset::sequence::Sequence;
use stowplan_model::{Measured, PayloadSource, Run, Share, SyncCalls, WallBreakdown, Workload};
use stowplan_stores::{Buffer, COMMITS_COUNTED, Counters, Session};

/// What one thread does, all of it in memory.
pub(crate) struct Steps<'q> {
    share: &'q Share,
    pub(crate) lead_in: Window<'q>,
    pub(crate) timed: Window<'q>,
    /// The timed steps in parts, at least one.
    pub(crate) parts: Vec<Window<'q>>,
    pub(crate) payloads: Payloads,
    /// None where the clock is read at the ends only.
    pub(crate) latencies: Option<Latencies>,
    /// When its operations begin; none where each does when the one before it has ended.
    pub(crate) schedule: Option<Schedule>,
}

impl<'q> Steps<'q> {
    pub(crate) fn of(run: &'q Run, number: usize, sequence: &'q Sequence) -> Result<Self> {
        let share = &run.threads[number];
        let lead_in = sequence.window(share.first, share.lead_in)?;
        let first = share.first.saturating_add(share.lead_in);
        let timed = sequence.window(first, share.operations)?;
        let pattern = run.workload.pattern();
        let both = || steps(&lead_in).chain(steps(&timed));
        if let Some(step) = both().find(|step| !pattern.contains(&step.action)) {
            return Err(DriverError::invalid(format!(
                "the sequence has a step that is a {}, and the workload is a {}",
                step.action, run.workload.operation
            )));
        }
        let payloads = match (&share.payloads, run.payloads) {
            (_, PayloadSource::Timed)
                if run.workload.rows_per_statement.is_some_and(|rows| rows > 1) =>
            {
                return Err(DriverError::invalid(
                    "values that are drawn one by one cannot be inserted several at a time",
                ));
            }
            (_, PayloadSource::Timed) => Payloads::Timed(Vec::new()),
            (Some(files), _) => Payloads::prepared_in(files, both())?,
            (None, _)
                if both().any(|step| step.action.puts()) && !run.workload.is_about_tables() =>
            {
                return Err(DriverError::invalid("the values to write are missing"));
            }
            (None, _) => Payloads::None,
        };
        let room = usize::try_from(share.operations).unwrap_or(usize::MAX);
        Ok(Self {
            share,
            lead_in,
            timed,
            parts: parts(&timed, &share.parts)?,
            payloads,
            latencies: share.latencies.as_ref().map(|_| Latencies::with_room(room)),
            schedule: run
                .workload
                .rate
                .map(|rate| Schedule::of(rate, number, run.threads.len())),
        })
    }

    /// The number of the first step of a part among all steps of the thread.
    pub(crate) fn begin_part(&mut self, part: usize) {
        let before = self.parts.iter().take(part).map(steps_in);
        let begin = steps_in(&self.lead_in) + before.sum::<usize>();
        self.payloads.begin(begin);
    }

    /// Bytes of the largest value that is visited singly.
    pub(crate) fn largest(&self) -> usize {
        let both = steps(&self.lead_in).chain(steps(&self.timed));
        both.map(|step| step.bytes as usize).max().unwrap_or(0)
    }

    /// Writes the latencies where the parent wants them.
    pub(crate) fn write_latencies(&self) -> Result<()> {
        let Some((latencies, path)) = self.latencies.as_ref().zip(self.share.latencies.as_ref())
        else {
            return Ok(());
        };
        std::fs::write(path, latencies.bytes()).map_err(DriverError::io("write", path))
    }
}

/// What happens around each part of a thread's operations.
pub(crate) trait Around {
    /// Returns when a part, by its number from 0, may begin: its operations follow at once.
    fn begin(&mut self, part: usize) -> Result<()>;
    /// Is told of the end of a part, right behind its last operation.
    fn end(&mut self) -> Result<()>;
}

/// What the process did and cost within the parts of a block.
pub(crate) struct Readings {
    accounting: Accounting,
    counted: counting::Window,
    syncs: SyncCalls,
    traffic: Traffic,
    begun: Option<Snapshot>,
    cost: Option<Cost>,
}

impl Readings {
    /// Of a block whose system calls are counted, or not.
    pub(crate) fn of(accounting: Accounting, counting: bool) -> Self {
        Self {
            accounting,
            counted: counting::Window::of(counting),
            syncs: stowplan_stores::sync_calls(),
            traffic: Traffic::now(),
            begun: None,
            cost: None,
        }
    }

    #[inline]
    pub(crate) fn begin(&mut self) {
        self.begun = Some(self.accounting.begin());
        self.counted.begin();
    }

    #[inline]
    pub(crate) fn end(&mut self) {
        self.counted.end();
        let of_part = self.begun.as_ref().map(|begin| self.accounting.end(begin));
        self.cost = match (self.cost, of_part) {
            (Some(before), Some(of_part)) => Some(before.and(of_part)),
            (before, of_part) => before.or(of_part),
        };
    }

    /// What they amount to, without what the threads count for themselves.
    pub(crate) fn total(self) -> Measured {
        let cost = self.cost.unwrap_or_default();
        Measured {
            wall_ns: cost.wall_ns,
            usage: cost.usage,
            syncs: Some(stowplan_stores::sync_calls().since(&self.syncs)),
            counters: self.traffic.since(),
            ..Measured::default()
        }
    }
}

/// A session with what its operations need.
pub(crate) struct Operator<'a> {
    pub(crate) session: &'a mut (dyn Session + 'a),
    pub(crate) workload: &'a Workload,
    pub(crate) buffer: Buffer,
}

/// What a thread did.
pub(crate) struct Timed {
    done: Done,
    /// What the session counted, before and after.
    counters: [Counters; 2],
}

impl Operator<'_> {
    /// Runs the lead-in; returns the nanoseconds that it took.
    pub(crate) fn lead_in(&mut self, steps: &mut Steps<'_>) -> Result<u64> {
        let leading = Instant::now();
        let window = steps.lead_in;
        steps.payloads.begin(0);
        self.untimed(&window, &mut steps.payloads)?;
        Ok(platform::elapsed_ns(leading))
    }

    /// One read, so that the engine has mapped its file if it maps it at all.
    pub(crate) fn first_step(&mut self, steps: &mut Steps<'_>) -> Result<()> {
        let [window, _] = steps.lead_in;
        let one = &window[..window.len().min(1)];
        self.untimed(&[one, &[]], &mut steps.payloads)
    }

    fn untimed(&mut self, window: &Window<'_>, payloads: &mut Payloads) -> Result<()> {
        let mut block = Block::new(self.session, self.workload, &mut self.buffer, None);
        block.part(window, payloads, &mut Timing::Ends, true)
    }

    /// Does the timed operations in so many parts, of which those beyond its own are empty. `stop` is set once another
    /// thread of the block has failed.
    pub(crate) fn time(
        &mut self,
        steps: &mut Steps<'_>,
        parts: usize,
        stop: Option<&AtomicBool>,
        around: &mut dyn Around,
    ) -> Result<Timed> {
        let before = self.session.counters()?;
        let mut latencies = steps.latencies.take();
        // Its last transaction ends there, whatever others still have to do.
        let last = steps.parts.len();
        let mut block = Block::new(&mut *self.session, self.workload, &mut self.buffer, stop);
        for part in 0..parts {
            let window = steps.parts.get(part).copied().unwrap_or([&[], &[]]);
            steps.begin_part(part);
            let mut timing = Timing::of(&mut latencies, steps.schedule);
            around.begin(part)?;
            block.part(&window, &mut steps.payloads, &mut timing, part + 1 >= last)?;
            around.end()?;
        }
        let done = block.done();
        steps.latencies = latencies;
        let counters = [before, self.session.counters()?];
        Ok(Timed { done, counters })
    }
}

/// One measurement of what the process read and its threads did, each in its window of steps.
pub(crate) fn together(
    run: &Run,
    windows: &[Window<'_>],
    total: Measured,
    threads: &[Timed],
) -> Result<Measured> {
    let mut done = Done::default();
    let (mut counters, mut commits) = (total.counters, Some(0));
    for Timed {
        done: own,
        counters: [before, after],
    } in threads
    {
        done.bytes += own.bytes;
        done.commits += own.commits;
        done.conflicts += own.conflicts;
        done.last_commit_ns = done.last_commit_ns.max(own.last_commit_ns);
        let grown = growth_of(COMMITS_COUNTED, before, after);
        commits = commits.zip(grown).map(|(all, own)| all + own);
        for (name, count) in after {
            // A store's own preparation is not an operation's.
            let known = before.get(name).filter(|_| run.counting);
            let count = count.saturating_sub(known.copied().unwrap_or(0));
            *counters.entry(name.clone()).or_default() += count;
        }
    }
    check_commits(&run.workload, windows, &done, commits)?;
    Ok(Measured {
        bytes: Some(done.bytes),
        commits: Some(done.commits),
        conflicts: done.conflicts,
        outside: WallBreakdown {
            last_commit_ns: done.last_commit_ns,
            ..WallBreakdown::default()
        },
        counters,
        ..total
    })
}

/// How much a counter grew, if there is such a one.
fn growth_of(name: &str, before: &Counters, after: &Counters) -> Option<u64> {
    let (before, after) = before.get(name).zip(after.get(name))?;
    Some(after.saturating_sub(*before))
}

/// Number of steps, as an index.
fn steps_in(window: &Window<'_>) -> usize {
    window.iter().map(|part| part.len()).sum()
}

/// What the loops committed, of blocks that change which keys there are, is what the engine's commit
/// hook saw: transactions that write.
fn check_commits(
    workload: &Workload,
    windows: &[Window<'_>],
    done: &Done,
    counted: Option<u64>,
) -> Result<()> {
    let Some(counted) = counted.filter(|_| workload.changes_keys() && !workload.is_about_tables())
    else {
        return Ok(());
    };
    let writing = windows.iter();
    let writing: u64 = writing
        .map(|window| crate::block::writing_transactions(workload, window))
        .sum();
    // Whether a commit is counted that is refused then is the engine's affair.
    if (writing..=writing + done.conflicts).contains(&counted) {
        return Ok(());
    }
    Err(DriverError::invalid(format!(
        "{writing} transactions were to be committed, and the engine counted {counted}"
    )))
}
