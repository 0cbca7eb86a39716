//! Timing the operations of one thread, and what lies around them.

use crate::accounting::{Accounting, Cost};
use crate::block::{Block, Done, Latencies, Payloads, Schedule, Timing, Window, parts, steps};
use crate::counting;
use crate::traffic::Traffic;
use crate::{DriverError, Result};
use std::time::Instant;
use stowplan_dataset::sequence::Sequence;
use stowplan_model::{Measured, NeighbourKind, PayloadSource, Run, Share, WallBreakdown, Workload};
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

/// A session with what its operations need.
pub(crate) struct Operator<'a> {
    pub(crate) session: &'a mut (dyn Session + 'a),
    pub(crate) workload: &'a Workload,
    pub(crate) buffer: Buffer,
}

impl Operator<'_> {
    /// Runs the lead-in; returns the nanoseconds that it took.
    pub(crate) fn lead_in(&mut self, steps: &mut Steps<'_>) -> Result<u64> {
        let leading = Instant::now();
        let window = steps.lead_in;
        steps.payloads.begin(0);
        self.untimed(&window, &mut steps.payloads)?;
        Ok(nanoseconds(leading))
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

    /// Times the block; the clock runs within its parts only, and between two of them `next` has the
    /// values of the next one written.
    pub(crate) fn time(
        &mut self,
        steps: &mut Steps<'_>,
        counting: bool,
        next: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Measured> {
        let before = self.session.counters()?;
        let beside = self.workload.beside;
        let accounting = match beside.map(|neighbours| neighbours.kind) {
            Some(NeighbourKind::Threads) => Accounting::of_this_thread_alone(),
            Some(NeighbourKind::Processes) | None => Accounting::of_this_thread(),
        };
        let counted = counting::Window::of(counting);
        let syncs = stowplan_stores::sync_calls();
        let traffic = Traffic::now();
        let mut cost: Option<Cost> = None;
        let mut block = Block::new(self.session, self.workload, &mut self.buffer, None);
        let mut latencies = steps.latencies.take();
        let count = steps.parts.len();
        for part in 0..count {
            if part > 0 {
                next()?;
            }
            steps.begin_part(part);
            let mut timing = Timing::of(&mut latencies, steps.schedule);
            let begin = accounting.begin();
            counted.begin();
            let ran = block.part(
                &steps.parts[part],
                &mut steps.payloads,
                &mut timing,
                part + 1 == count,
            );
            counted.end();
            let of_part = accounting.end(&begin);
            cost = Some(cost.map_or(of_part, |before| before.and(of_part)));
            ran?;
        }
        steps.latencies = latencies;
        let done = block.done();
        let syncs = stowplan_stores::sync_calls().since(&syncs);
        let traffic = traffic.since();
        let after = self.session.counters()?;
        let commits = growth_of(COMMITS_COUNTED, &before, &after);
        check_commits(self.workload, &[steps.timed], &done, commits)?;
        Ok(Measured {
            syncs: Some(syncs),
            counters: if counting {
                growth(&before, after)
            } else {
                after
            }
            .into_iter()
            .chain(traffic)
            .collect(),
            ..measured(&cost.unwrap_or_default(), &done)
        })
    }
}

/// What counters have grown by: of a counting block, so that a store's own preparation is not an
/// operation's.
fn growth(before: &Counters, after: Counters) -> Counters {
    let since = |name: &String| before.get(name).copied().unwrap_or(0);
    let after = after.into_iter();
    after
        .map(|(name, count)| {
            let grown = count.saturating_sub(since(&name));
            (name, grown)
        })
        .collect()
}

/// How much a counter grew, if there is such a one.
pub(crate) fn growth_of(name: &str, before: &Counters, after: &Counters) -> Option<u64> {
    let (before, after) = before.get(name).zip(after.get(name))?;
    Some(after.saturating_sub(*before))
}

/// Number of steps, as an index.
pub(crate) fn steps_in(window: &Window<'_>) -> usize {
    window.iter().map(|part| part.len()).sum()
}

/// What the loops committed, of blocks that change which keys there are, is what the engine's commit
/// hook saw: transactions that write.
pub(crate) fn check_commits(
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

/// What accounting and the loop give.
pub(crate) fn measured(cost: &Cost, done: &Done) -> Measured {
    Measured {
        wall_ns: cost.wall_ns,
        bytes: Some(done.bytes),
        commits: Some(done.commits),
        conflicts: done.conflicts,
        usage: cost.usage,
        outside: WallBreakdown {
            last_commit_ns: done.last_commit_ns,
            ..WallBreakdown::default()
        },
        ..Measured::default()
    }
}

pub(crate) fn nanoseconds(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
