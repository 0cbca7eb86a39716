//! Timing the operations of one thread, and what lies around them.

use super::source::{Source, Versions};
use crate::accounting::{Accounting, Usage};
use crate::block::{self, Block, Done, Latencies, Payloads, Timing, Window};
use crate::counting::Tally;
use crate::{HarnessError, disk, platform};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use stowplan_model::{BlockKind, IoCounters, Job, Measurement, WallBreakdown, Workload};
use stowplan_stores::{Buffer, COMMITS_COUNTED, Counters, Session, Store};

/// What a timed block gave.
pub(super) struct Timed {
    pub(super) measurement: Measurement,
    /// Commits that the engine counted within it, if it counts them.
    pub(super) counted: Option<u64>,
}

/// A session with what its operations need.
pub(super) struct Operator<'a> {
    pub(super) session: Box<dyn Session + 'a>,
    pub(super) workload: &'a Workload,
    pub(super) buffer: Buffer,
    /// Counts what is done within the window of a counting block.
    pub(super) tally: Tally,
}

impl Operator<'_> {
    pub(super) fn lead_in(
        &mut self,
        window: &Window<'_>,
        payloads: &mut Payloads<'_>,
    ) -> Result<(), HarnessError> {
        let mut block = Block::new(&mut *self.session, self.workload, &mut self.buffer, None);
        block.part(window, payloads, &mut Timing::Ends, true)
    }

    /// Brings the page tables into the state of a process that has run for a while: one read, so
    /// that the engine has mapped its file if it maps it at all, then every page of it.
    pub(super) fn enter_mapped_pages(
        &mut self,
        window: &Window<'_>,
        instance: &Path,
    ) -> Result<(), HarnessError> {
        let [steps, _] = *window;
        let one = &steps[..steps.len().min(1)];
        self.lead_in(&[one, &[]], &mut Payloads::None)?;
        platform::populate_mappings(instance);
        Ok(())
    }

    /// Times a window, given in parts; the clock runs within the parts only. The versions of its
    /// steps begin at `first`.
    pub(super) fn time(
        &mut self,
        kind: BlockKind,
        parts: &[Window<'_>],
        first_payloads: Payloads<'_>,
        source: &Source,
        (versions, first): (&Versions, usize),
    ) -> Result<Timed, HarnessError> {
        let mut latencies = Latencies::new(self.workload)?;
        let mut timing = match kind {
            BlockKind::Latency => Timing::EachOperation(&mut latencies),
            BlockKind::Ratio | BlockKind::Pilot | BlockKind::Counting => Timing::Ends,
        };
        let before = self.session.counters()?;
        let commits = commits_of(&before);
        let accounting = Accounting::of_this_thread();
        let started_unix_ms = unix_ms();
        let syncs = stowplan_stores::sync_calls();
        let mut usage: Option<Usage> = None;
        let mut payloads = Some(first_payloads);
        let mut block = Block::new(&mut *self.session, self.workload, &mut self.buffer, None);
        let mut step = first;
        for (index, part) in parts.iter().enumerate() {
            let mut payloads = match payloads.take() {
                Some(payloads) => payloads,
                None => source.payloads(part, versions, step)?,
            };
            step += steps_in(part);
            let last = index + 1 == parts.len();
            self.tally.look();
            let begin = accounting.begin();
            self.tally.begin()?;
            let ran = block.part(part, &mut payloads, &mut timing, last);
            self.tally.end()?;
            let cost = accounting.end(&begin);
            self.tally.look_again();
            match &mut usage {
                Some(usage) => *usage += cost,
                None => usage = Some(cost),
            }
            ran?;
        }
        let done = block.done();
        let (system_calls, device) = std::mem::replace(&mut self.tally, Tally::none()).found()?;
        let syncs = stowplan_stores::sync_calls().since(&syncs);
        let counters = self.session.counters()?;
        let counted = difference(commits, commits_of(&counters));
        let counters = match kind {
            BlockKind::Counting => growth(&before, counters),
            _ => counters,
        };
        Ok(Timed {
            counted,
            measurement: Measurement {
                operations: parts.iter().map(block::len).sum(),
                syncs,
                started_unix_ms,
                counters,
                system_calls,
                device,
                ..measurement_of(&usage.unwrap_or_default(), &done, kind, &latencies)?
            },
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

/// Number of steps, as an index.
pub(super) fn steps_in(window: &Window<'_>) -> usize {
    window.iter().map(|part| part.len()).sum()
}

/// Commits that an engine counted, if it counts them.
pub(super) fn commits_of(counters: &Counters) -> Option<u64> {
    counters.get(COMMITS_COUNTED).copied()
}

/// How much a counter grew.
pub(super) fn difference(before: Option<u64>, after: Option<u64>) -> Option<u64> {
    let (before, after) = before.zip(after)?;
    Some(after.saturating_sub(before))
}

/// The part of a measurement that accounting, the loop and its clock give.
pub(super) fn measurement_of(
    usage: &Usage,
    done: &Done,
    kind: BlockKind,
    latencies: &Latencies,
) -> Result<Measurement, HarnessError> {
    let (latency, latencies) = match kind {
        BlockKind::Latency => {
            let (all, of) = latencies.texts()?;
            (Some(all), of)
        }
        BlockKind::Ratio | BlockKind::Pilot | BlockKind::Counting => (None, BTreeMap::new()),
    };
    Ok(Measurement {
        block: kind,
        bytes: done.bytes,
        commits: done.commits,
        conflicts: done.conflicts,
        outside: WallBreakdown {
            last_commit_ns: done.last_commit_ns,
            ..WallBreakdown::default()
        },
        latency,
        latencies,
        wall_ns: usage.wall_ns,
        run_delay_ns: usage.run_delay_ns,
        thread_cpu_ns: usage.thread_cpu_ns,
        process_cpu_ns: usage.process_cpu_ns,
        user_ns: usage.user_ns,
        system_ns: usage.system_ns,
        minor_faults: usage.minor_faults,
        major_faults: usage.major_faults,
        voluntary_switches: usage.voluntary_switches,
        involuntary_switches: usage.involuntary_switches,
        in_blocks: usage.in_blocks,
        out_blocks: usage.out_blocks,
        io: usage.io,
        peak_memory_bytes: usage.peak_memory_bytes,
        ..Measurement::default()
    })
}

/// What it takes to bring written data to rest: closing connections, the store's checkpoint, closing
/// the store, `syncfs` (R10). Nothing is read or checked before: what an engine writes meanwhile
/// would be counted nowhere.
#[derive(Debug, Default)]
pub(super) struct Drain {
    pub(super) ns: u64,
    /// Bytes sent to storage meanwhile; nothing where the system does not tell.
    pub(super) write_bytes: Option<u64>,
}

impl Drain {
    /// Does a part of it.
    pub(super) fn during<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let io = platform::ProcessIo::open();
        let written = || {
            io.read()
                .map(|(io, _): (IoCounters, u64)| io.storage_write_bytes)
        };
        let before = written();
        let began = Instant::now();
        let done = work();
        self.ns += nanoseconds(began);
        if let Some(bytes) = difference(before, written()) {
            *self.write_bytes.get_or_insert(0) += bytes;
        }
        done
    }

    /// What is left to do once all connections are closed. Data that someone brought along may be in
    /// use: of that, closing checkpoints what can be.
    pub(super) fn settle(&mut self, job: &Job, store: Box<dyn Store>) -> Result<(), HarnessError> {
        self.during(|| {
            if job.dataset.is_some() {
                store.checkpoint()?;
            }
            // Many an engine writes once more when it ends.
            drop(store);
            if job.instance.is_dir() {
                disk::sync_filesystem(&job.instance)?;
            }
            Ok(())
        })
    }
}

pub(super) fn nanoseconds(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

pub(super) fn unix_ms() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
