//! Timing one block.

use super::build::load;
use super::verify::Checker;
use super::{Values, Wire, dataset_of};
use crate::accounting::{Accounting, Usage};
use crate::block::{self, Block, Payloads, Timing, Window, bytes_of};
use crate::dataset::Dataset;
use crate::sequence::{Sequence, Step};
use crate::{HarnessError, disk, page_cache, platform, versions};
use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use stowplan_model::{
    BlockKind, BlockTask, CacheState, Delivery, FromWorker, Job, Measurement, Operation,
    PayloadSource, Residency, WallBreakdown, Workload,
};
use stowplan_stores::registry::Resolved;
use stowplan_stores::{Buffer, Connection, Key, Session, Store};

/// The most memory that values take which are generated before the clock starts.
const MOST_PREPARED_BYTES: usize = 128 << 20;

pub(super) fn open_store(job: &Job, resolved: &Resolved) -> Result<Box<dyn Store>, HarnessError> {
    let open = if resolved.capabilities.persistent {
        resolved.kind.open(&job.instance, &resolved.settings)
    } else {
        resolved.kind.create(&job.instance, &resolved.settings)
    };
    Ok(open?)
}

pub(super) fn measure(
    job: &Job,
    task: &BlockTask,
    resolved: &Resolved,
    wire: &mut Wire<'_>,
) -> Result<FromWorker, HarnessError> {
    let sequence = Sequence::open(&task.sequence)?;
    let lead_in = sequence.window(task.first, task.lead_in)?;
    let timed = sequence.window(task.first + task.lead_in, task.operations)?;
    let source = Source::of(job, task)?;
    let parts = source.parts(&timed);
    let mut lead_in_payloads = source.payloads(&lead_in)?;
    let first_payloads = source.payloads(parts.first().unwrap_or(&timed))?;
    let store = open_store(job, resolved)?;
    let residency = match job.workload.cache {
        CacheState::Cold => Some(make_cold(&*store, &timed)?),
        CacheState::Warm | CacheState::AsFound => None,
    };

    let opening = Instant::now();
    let mut connection = store.connect()?;
    let open_ns = nanoseconds(opening);
    if needs_loading(resolved) {
        let dataset = Dataset::open(dataset_of(job)?)?;
        load(&mut *connection, &dataset, 1..=dataset.count(), &mut |_| {
            Ok(())
        })?;
    }
    let effective = connection.effective_settings()?;
    let mut operator = Operator {
        session: connection.session()?,
        workload: &job.workload,
        buffer: Buffer::with_capacity(bytes_of(&lead_in).max(bytes_of(&timed)))?,
    };
    if job.workload.cache == CacheState::Warm && !job.workload.operation.writes() {
        operator.enter_mapped_pages(&lead_in, &job.instance)?;
    }
    wire.ready(effective)?;

    let leading = Instant::now();
    operator.lead_in(&lead_in, &mut lead_in_payloads)?;
    let lead_in_ns = nanoseconds(leading);
    let mut measurement = operator.time(task.block, &parts, first_payloads, &source)?;

    if let Source::Prepared {
        values, version, ..
    } = &source
        && (needs_loading(resolved) || job.dataset.is_none())
    {
        // Nobody can look later at what this store holds, or knows what it should be.
        operator.check(resolved, values, *version, &timed)?;
    }
    drop(operator);
    let drain_ns = end(job, &*store, connection)?;
    if let Some(versions) = &job.versions
        && job.workload.operation.writes()
        && resolved.capabilities.persistent
    {
        let steps = lead_in.iter().chain(&timed).copied().flatten();
        let written = steps
            .map(Step::decode)
            .filter(|step| block::writes(job.workload.operation, step));
        versions::update(versions, written.map(|step| step.key), task.version)?;
    }
    measurement.outside = WallBreakdown {
        open_ns,
        lead_in_ns,
        drain_ns,
        ..measurement.outside
    };
    Ok(FromWorker::Measured(Measurement {
        cell: job.cell.clone(),
        round: task.round,
        position: task.position,
        lead_in_operations: task.lead_in,
        residency,
        ..measurement
    }))
}

/// Where the values come from that a block writes.
pub(super) enum Source {
    /// It reads.
    Nowhere,
    /// They are generated before the clock starts.
    Prepared {
        values: Box<Values>,
        operation: Operation,
        version: u32,
    },
    /// They are drawn while it runs.
    Timed,
}

impl Source {
    fn of(job: &Job, task: &BlockTask) -> Result<Self, HarnessError> {
        match task.payloads {
            _ if !job.workload.operation.writes() => Ok(Self::Nowhere),
            PayloadSource::Timed => Ok(Self::Timed),
            PayloadSource::Prepared => Ok(Self::Prepared {
                values: Box::new(Values::of(job)?),
                operation: job.workload.operation,
                version: task.version,
            }),
        }
    }

    /// A window in parts, between which the clock stands still while values are generated: memory
    /// stays bounded however much is written.
    fn parts<'a>(&self, window: &Window<'a>) -> Vec<Window<'a>> {
        match self {
            Self::Prepared { .. } => block::parts(window, MOST_PREPARED_BYTES),
            Self::Nowhere | Self::Timed => vec![*window],
        }
    }

    fn payloads(&self, window: &Window<'_>) -> Result<Payloads, HarnessError> {
        match self {
            Self::Nowhere => Ok(Payloads::None),
            Self::Timed => Ok(Payloads::Timed(Vec::new())),
            Self::Prepared {
                values,
                operation,
                version,
            } => Payloads::prepare(values.generator(), *operation, window, *version),
        }
    }
}

/// A session with what its operations need.
pub(super) struct Operator<'a> {
    pub(super) session: Box<dyn Session + 'a>,
    pub(super) workload: &'a Workload,
    pub(super) buffer: Buffer,
}

impl Operator<'_> {
    fn block(&mut self) -> Block<'_> {
        Block::new(&mut *self.session, self.workload, &mut self.buffer)
    }

    fn lead_in(
        &mut self,
        window: &Window<'_>,
        payloads: &mut Payloads,
    ) -> Result<(), HarnessError> {
        let mut block = self.block();
        block.part(window, payloads, &mut Timing::Ends)?;
        block.finish()
    }

    /// Brings the page tables into the state of a process that has run for a while: one read, so
    /// that the engine has mapped its file if it maps it at all, then every page of it.
    fn enter_mapped_pages(
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

    /// Reads what a window has written and compares it with what it must be.
    fn check(
        &mut self,
        resolved: &Resolved,
        values: &Values,
        version: u32,
        window: &Window<'_>,
    ) -> Result<(), HarnessError> {
        let mut checker = Checker {
            buffer: Buffer::with_capacity(bytes_of(window))?,
            values,
            store: resolved.kind.name(),
        };
        let steps = window.iter().copied().flatten().map(Step::decode);
        steps
            .filter(|step| block::writes(self.workload.operation, step))
            .try_for_each(|step| checker.check(&mut *self.session, Delivery::Copy, step, version))
    }

    /// Times a window, given in parts; the clock runs within the parts only.
    pub(super) fn time(
        &mut self,
        kind: BlockKind,
        parts: &[Window<'_>],
        first_payloads: Payloads,
        source: &Source,
    ) -> Result<Measurement, HarnessError> {
        let mut histogram = block::new_histogram()?;
        let mut timing = match kind {
            BlockKind::Latency => Timing::EachOperation(&mut histogram),
            BlockKind::Ratio | BlockKind::Pilot => Timing::Ends,
        };
        let accounting = Accounting::of_this_thread();
        let started_unix_ms = unix_ms();
        let syncs = stowplan_stores::sync_calls();
        let mut usage: Option<Usage> = None;
        let mut payloads = Some(first_payloads);
        let mut block = self.block();
        for (index, part) in parts.iter().enumerate() {
            let mut payloads = match payloads.take() {
                Some(payloads) => payloads,
                None => source.payloads(part)?,
            };
            let last = index + 1 == parts.len();
            let begin = accounting.begin();
            let ran = block
                .part(part, &mut payloads, &mut timing)
                .and_then(|()| if last { block.finish() } else { Ok(()) });
            let cost = accounting.end(&begin);
            match &mut usage {
                Some(usage) => *usage += cost,
                None => usage = Some(cost),
            }
            ran?;
        }
        let done = block.done();
        let syncs = stowplan_stores::sync_calls().since(&syncs);
        let counters = self.session.counters()?;
        let latency = match kind {
            BlockKind::Latency => Some(block::serialise(&histogram)?),
            BlockKind::Ratio | BlockKind::Pilot => None,
        };
        Ok(Measurement {
            block: kind,
            operations: parts.iter().map(block::len).sum(),
            bytes: done.bytes,
            commits: done.commits,
            syncs,
            outside: WallBreakdown {
                last_commit_ns: done.last_commit_ns,
                ..WallBreakdown::default()
            },
            latency,
            started_unix_ms,
            counters,
            ..measurement_of(&usage.unwrap_or_default())
        })
    }
}

/// Closes a store; after writes brings its data to rest and tells how long that took.
pub(super) fn end(
    job: &Job,
    store: &dyn Store,
    connection: Box<dyn Connection + '_>,
) -> Result<u64, HarnessError> {
    if job.workload.operation.writes() {
        return drain(job, store, connection);
    }
    connection.close()?;
    Ok(0)
}

/// A store that forgets on closing is loaded by each worker anew.
pub(super) fn needs_loading(resolved: &Resolved) -> bool {
    !resolved.capabilities.persistent
}

/// The part of a measurement that the accounting gives.
fn measurement_of(usage: &Usage) -> Measurement {
    Measurement {
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
    }
}

/// Evicts the data of these operations from the page cache and proves that it is gone.
fn make_cold(store: &dyn Store, window: &Window<'_>) -> Result<Residency, HarnessError> {
    let mut keys = window
        .iter()
        .copied()
        .flatten()
        .map(|raw| Key(Step::decode(raw).key));
    let files = store.data_files(&mut keys);
    page_cache::evict(&files)?;
    let Some(residency) = page_cache::residency(&files)? else {
        return Err(HarnessError::invalid(
            "cold reads cannot be verified here: neither cachestat nor mincore works; \
             measure warm ones (--cache-state warm)",
        ));
    };
    if residency.resident_pages > 0 {
        return Err(HarnessError::invalid(format!(
            "{} of {} pages stayed in the page cache after eviction, so a cold read is not \
             possible here (a file system in memory, or another process maps the data); measure \
             warm ones (--cache-state warm), or have the data on a disk (for a study: --work)",
            residency.resident_pages, residency.checked_pages
        )));
    }
    Ok(residency)
}

/// Brings written data to rest: closing, the store's checkpoint, `syncfs` (R10). Nanoseconds. Data
/// that someone brought along may be in use: of that, closing checkpoints what can be.
fn drain(
    job: &Job,
    store: &dyn Store,
    connection: Box<dyn Connection + '_>,
) -> Result<u64, HarnessError> {
    let draining = Instant::now();
    // Closed first: an exclusive connection lets nobody else checkpoint.
    connection.close()?;
    if job.dataset.is_some() {
        store.checkpoint()?;
    }
    if job.instance.is_dir() {
        disk::sync_filesystem(&job.instance)?;
    }
    Ok(nanoseconds(draining))
}

pub(super) fn nanoseconds(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

fn unix_ms() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
