//! Timing one block on a store that is there before it and after it.

use super::build::load;
use super::crew::{Crew, Share};
use super::fates::Fates;
use super::source::{Source, check_window, versions_of};
use super::timing::{Drain, Operator, Timed, nanoseconds, steps_in};
use super::verify::Checker;
use super::{Values, Wire, dataset_of};
use crate::block::{Window, bytes_of, steps};
use crate::counting::Tally;
use crate::dataset::Dataset;
use crate::sequence::Sequence;
use crate::{HarnessError, disk, page_cache, platform, versions};
use std::path::PathBuf;
use std::time::Instant;
use stowplan_model::{
    BlockTask, CacheState, Delivery, FromWorker, Job, Measurement, PayloadSource, Residency,
    WallBreakdown,
};
use stowplan_stores::registry::Resolved;
use stowplan_stores::{Buffer, Connection, Key, Session, Store};

pub(super) fn open_store(job: &Job, resolved: &Resolved) -> Result<Box<dyn Store>, HarnessError> {
    // Engines follow links; what a run made is none.
    let place = disk::Place::of(&job.instance)?;
    let open = if resolved.capabilities.persistent {
        resolved.kind.open(&job.instance, &resolved.settings)
    } else {
        resolved.kind.create(&job.instance, &resolved.settings)
    };
    place.require_unchanged()?;
    Ok(open?)
}

pub(super) fn measure(
    job: &Job,
    task: &BlockTask,
    resolved: &Resolved,
    wire: &mut Wire<'_>,
) -> Result<FromWorker, HarnessError> {
    let sequence = Sequence::open(&task.sequence)?;
    let work = Work {
        job,
        task,
        resolved,
        lead_in: sequence.window(task.first, task.lead_in)?,
        timed: sequence.window(task.first + task.lead_in, task.operations)?,
        source: Source::of(job, task)?,
    };
    check_window(job, &work.lead_in)?;
    check_window(job, &work.timed)?;
    let mut drain = Drain::default();
    let (timed, residency) = if job.workload.threads > 1 {
        work.by_several(wire, &mut drain)?
    } else {
        work.by_one(wire, &mut drain)?
    };
    let measurement = timed.measurement;
    let writes = job.workload.operation.writes();
    Ok(FromWorker::Measured(Measurement {
        cell: job.cell.clone(),
        round: task.round,
        position: task.position,
        lead_in_operations: task.lead_in,
        residency,
        outside: WallBreakdown {
            drain_ns: if writes { drain.ns } else { 0 },
            ..measurement.outside
        },
        drain_write_bytes: drain.write_bytes.filter(|_| writes),
        ..measurement
    }))
}

/// A block and what it is done with.
struct Work<'a> {
    job: &'a Job,
    task: &'a BlockTask,
    resolved: &'a Resolved,
    lead_in: Window<'a>,
    timed: Window<'a>,
    source: Source,
}

impl Work<'_> {
    fn by_one(
        &self,
        wire: &mut Wire<'_>,
        drain: &mut Drain,
    ) -> Result<(Timed, Option<Residency>), HarnessError> {
        let Self { job, lead_in, .. } = self;
        let source = &self.source;
        let versions = versions_of(job, self.task, 0, [lead_in, &self.timed]);
        let parts = source.parts(&self.timed, &job.workload, 1);
        let first = steps_in(lead_in);
        let mut lead_in_payloads = source.payloads(lead_in, &versions, 0)?;
        let first_part = parts.first().unwrap_or(&self.timed);
        let first_payloads = source.payloads(first_part, &versions, first)?;
        let store = open_store(job, self.resolved)?;
        let mut residency = self.make_cold(&*store)?;
        let (mut connection, open_ns) = self.connect(&*store)?;
        let effective = connection.effective_settings()?;
        let mut operator = Operator {
            session: connection.session()?,
            workload: &job.workload,
            buffer: Buffer::with_capacity(self.capacity()?)?,
            tally: Tally::of(self.task.block, &job.instance),
        };
        if self.reads_warm() {
            operator.enter_mapped_pages(lead_in, &job.instance)?;
        }
        wire.ready(effective)?;

        let leading = Instant::now();
        operator.lead_in(lead_in, &mut lead_in_payloads)?;
        let lead_in_ns = nanoseconds(leading);
        let mut timed = operator.time(
            self.task.block,
            &parts,
            first_payloads,
            source,
            (&versions, first),
        )?;
        self.look_again(&*store, &mut residency)?;
        let fates = || {
            let mut fates = Fates::default();
            if self.can_be_checked() {
                fates.add(steps(lead_in).chain(steps(&self.timed)), &versions);
            }
            fates
        };
        if needs_loading(self.resolved) {
            self.check(&mut *operator.session, &fates())?;
        }
        drop(operator);
        drain.during(|| connection.close())?;
        self.settle(store, drain)?;
        self.read_back(&fates())?;
        timed.measurement.outside.open_ns = open_ns;
        timed.measurement.outside.lead_in_ns = lead_in_ns;
        Ok((timed, residency))
    }

    fn by_several(
        &self,
        wire: &mut Wire<'_>,
        drain: &mut Drain,
    ) -> Result<(Timed, Option<Residency>), HarnessError> {
        let job = self.job;
        let shares = Share::all(job, self.task, [&self.lead_in, &self.timed]);
        let store = open_store(job, self.resolved)?;
        let mut residency = self.make_cold(&*store)?;
        let (connection, open_ns) = self.connect(&*store)?;
        let effective = connection.effective_settings()?;
        let kept = keep(self.resolved, connection)?;
        let crew = Crew {
            store: &*store,
            workload: &job.workload,
            kind: self.task.block,
            source: &self.source,
            shares: &shares,
            capacity: self.capacity()?,
        };
        let mut ready = || {
            if self.reads_warm() {
                platform::populate_mappings(&job.instance);
            }
            wire.ready(effective.clone())
        };
        let mut timed = crew.run(&mut ready, drain)?;
        self.look_again(&*store, &mut residency)?;
        let fates = || {
            let mut fates = Fates::default();
            if self.can_be_checked() {
                for share in &shares {
                    fates.add(share.steps(), &share.versions);
                }
            }
            fates
        };
        let check = |mut connection: Box<dyn Connection + '_>| {
            self.check(&mut *connection.session()?, &fates())?;
            Ok::<_, HarnessError>(drain.during(|| connection.close())?)
        };
        kept.map(check).transpose()?;
        self.settle(store, drain)?;
        self.read_back(&fates())?;
        timed.measurement.outside.open_ns = open_ns;
        Ok((timed, residency))
    }

    /// After the drain, looks at what is on disk where nobody else will do so or several threads may
    /// have had the last word, and writes down which versions were given. A store that forgets on
    /// closing is checked before.
    fn read_back(&self, fates: &Fates) -> Result<(), HarnessError> {
        if needs_loading(self.resolved) {
            return Ok(());
        }
        if !fates.disputed() && !self.checks_itself() {
            return self.note_versions(&fates.versions(|_, versions| Ok(versions[0]))?);
        }
        let store = open_store(self.job, self.resolved)?;
        let mut connection = store.connect()?;
        let mut session = connection.session()?;
        self.check(&mut *session, fates)?;
        let values = Values::of(self.job)?;
        let mut checker = self.checker(&values)?;
        let versions = fates.versions(|step, versions| {
            checker.check_any(&mut *session, Delivery::Copy, step, versions)
        })?;
        drop(session);
        connection.close()?;
        self.note_versions(&versions)
    }

    /// Opens the first connection; loads what forgets on closing.
    fn connect<'s>(
        &self,
        store: &'s dyn Store,
    ) -> Result<(Box<dyn Connection + 's>, u64), HarnessError> {
        let opening = Instant::now();
        let mut connection = store.connect()?;
        let open_ns = nanoseconds(opening);
        if needs_loading(self.resolved) {
            let dataset = Dataset::open(dataset_of(self.job)?)?;
            load(&mut *connection, &dataset, 1..=dataset.count(), &mut |_| {
                Ok(())
            })?;
        }
        Ok((connection, open_ns))
    }

    fn make_cold(&self, store: &dyn Store) -> Result<Option<Residency>, HarnessError> {
        match self.job.workload.cache {
            CacheState::Cold => make_cold(store, &self.timed).map(Some),
            CacheState::MetadataCold => {
                let residency = make_cold(store, &self.timed)?;
                page_cache::drop_metadata()?;
                Ok(Some(residency))
            }
            CacheState::Warm | CacheState::AsFound => Ok(None),
        }
    }

    /// Notes what a cold block has brought into the page cache.
    fn look_again(
        &self,
        store: &dyn Store,
        residency: &mut Option<Residency>,
    ) -> Result<(), HarnessError> {
        if let Some(residency) = residency {
            let after = page_cache::residency(&files_of(store, &self.timed))?;
            residency.after_block_pages = after.map(|after| after.resident_pages);
        }
        Ok(())
    }

    /// Bytes of the largest value that may arrive.
    fn capacity(&self) -> Result<usize, HarnessError> {
        let visited = bytes_of(&self.lead_in).max(bytes_of(&self.timed));
        capacity(self.job, visited)
    }

    fn reads_warm(&self) -> bool {
        let workload = &self.job.workload;
        let reads = workload.cache == CacheState::Warm && !workload.operation.writes();
        // A store that keeps no values costs what it says; mapping its pages would spare it faults.
        reads && self.resolved.kind.keeps_values()
    }

    /// Whether it is known what was written, and can be read.
    fn can_be_checked(&self) -> bool {
        let writes = self.job.workload.operation.writes();
        let known = self.task.payloads == PayloadSource::Prepared;
        writes && known && self.resolved.kind.keeps_values()
    }

    /// Whether nobody can look later at what the store holds, or knows what it should be.
    fn checks_itself(&self) -> bool {
        self.can_be_checked() && (needs_loading(self.resolved) || self.job.dataset.is_none())
    }

    /// Compares what was written with what it must be, if nobody else can.
    fn check(&self, session: &mut dyn Session, fates: &Fates) -> Result<(), HarnessError> {
        if !self.checks_itself() {
            return Ok(());
        }
        let values = Values::of(self.job)?;
        fates.check(&mut self.checker(&values)?, session, true)
    }

    fn checker<'v>(&self, values: &'v Values) -> Result<Checker<'v>, HarnessError> {
        Ok(Checker {
            buffer: Buffer::with_capacity(self.capacity()?)?,
            values,
            store: self.resolved.kind.name(),
        })
    }

    /// After writes, brings what was written to rest.
    fn settle(&self, store: Box<dyn Store>, drain: &mut Drain) -> Result<(), HarnessError> {
        if self.job.workload.operation.writes() {
            drain.settle(self.job, store)?;
        }
        Ok(())
    }

    /// Writes down which versions were given.
    fn note_versions(&self, given: &[(u64, u32)]) -> Result<(), HarnessError> {
        match &self.job.versions {
            Some(path) if self.job.workload.operation.writes() => {
                Ok(versions::update(path, given.iter().copied())?)
            }
            _ => Ok(()),
        }
    }
}

/// Keeps the connection that a store lives by which forgets on closing; closes another one.
pub(super) fn keep<'s>(
    resolved: &Resolved,
    connection: Box<dyn Connection + 's>,
) -> Result<Option<Box<dyn Connection + 's>>, HarnessError> {
    if needs_loading(resolved) {
        return Ok(Some(connection));
    }
    connection.close()?;
    Ok(None)
}

/// Bytes of the largest value that may arrive, where the largest that is visited singly has so
/// many: scans also visit others.
pub(super) fn capacity(job: &Job, visited: usize) -> Result<usize, HarnessError> {
    match &job.dataset {
        Some(directory) if job.workload.scans() => {
            Ok(visited.max(Dataset::open(directory)?.largest()))
        }
        _ => Ok(visited),
    }
}

/// A store that forgets on closing is loaded by each worker anew.
pub(super) fn needs_loading(resolved: &Resolved) -> bool {
    !resolved.capabilities.persistent
}

/// The files that these operations read.
fn files_of(store: &dyn Store, window: &Window<'_>) -> Vec<PathBuf> {
    store.data_files(&mut steps(window).map(|step| Key(step.key)))
}

/// Evicts the data of these operations from the page cache and proves that it is gone.
fn make_cold(store: &dyn Store, window: &Window<'_>) -> Result<Residency, HarnessError> {
    let files = files_of(store, window);
    let before = page_cache::residency(&files)?;
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
    Ok(Residency {
        before_eviction_pages: before.map(|before| before.resident_pages),
        ..residency
    })
}
