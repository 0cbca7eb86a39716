//! Timing a block that changes which keys there are: on a store of its own, made before and thrown
//! away after.

use super::build::load;
use super::crew::{Crew, Share};
use super::fates::Fates;
use super::measure::{capacity, keep};
use super::source::{Source, check_window, versions_of};
use super::timing::{Drain, Operator, Timed, nanoseconds};
use super::verify::Checker;
use super::{Values, Wire, dataset_of};
use crate::block::{Window, bytes_of, steps, writing_transactions};
use crate::counting::Tally;
use crate::dataset::Dataset;
use crate::sequence::Sequence;
use crate::{HarnessError, disk, page_cache};
use std::fs;
use std::hint::black_box;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Instant;
use stowplan_model::{BlockTask, CacheState, FromWorker, Job, Measurement, Operation};
use stowplan_stores::registry::Resolved;
use stowplan_stores::{Buffer, Connection, Found, Key, Session, Store};

pub(super) fn own(
    job: &Job,
    task: &BlockTask,
    resolved: &Resolved,
    wire: &mut Wire<'_>,
) -> Result<FromWorker, HarnessError> {
    let sequence = Sequence::open(&task.sequence)?;
    let mut place = Place::make(job)?;
    let work = Work {
        job,
        task,
        resolved,
        // From the first step on: a rising order begins with the smallest key.
        window: sequence.window(0, task.operations)?,
        dataset: Dataset::open(dataset_of(job)?)?,
        source: Source::of(job, task)?,
        place: place.path.clone(),
    };
    check_window(job, &work.window)?;
    let mut measurement = work.block(wire)?;
    place.remove()?;
    measurement.cell = job.cell.clone();
    measurement.round = task.round;
    measurement.position = task.position;
    Ok(FromWorker::Measured(measurement))
}

/// The directory of the store: of this worker alone.
struct Place {
    path: PathBuf,
    there: bool,
}

impl Place {
    fn make(job: &Job) -> Result<Self, HarnessError> {
        let path = job.instance.join(format!("block-{}", std::process::id()));
        fs::create_dir(&path).map_err(HarnessError::io("create directory", &path))?;
        Ok(Self { path, there: true })
    }

    /// A store whose table is a directory has removed it when it dropped its table.
    fn remove(&mut self) -> Result<(), HarnessError> {
        self.there = false;
        match fs::remove_dir_all(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            removed => removed.map_err(HarnessError::io("remove", &self.path)),
        }
    }
}

impl Drop for Place {
    /// After a failure, which says more than what may go wrong here.
    fn drop(&mut self) {
        if self.there {
            let _ = self.remove();
        }
    }
}

/// A block and what it is done with.
struct Work<'a> {
    job: &'a Job,
    task: &'a BlockTask,
    resolved: &'a Resolved,
    window: Window<'a>,
    dataset: Dataset,
    source: Source,
    place: PathBuf,
}

impl Work<'_> {
    fn block(&self, wire: &mut Wire<'_>) -> Result<Measurement, HarnessError> {
        if matches!(self.source, Source::Stored(_) | Source::Inserting(_)) {
            touch(&self.dataset);
        }
        let store = self
            .resolved
            .kind
            .create(&self.place, &self.resolved.settings)?;
        let mut drain = Drain::default();
        let mut measurement = match self.job.workload.operation {
            Operation::CreateTable | Operation::DropTable => self.table(store, wire, &mut drain)?,
            _ if self.job.workload.threads > 1 => self.by_several(store, wire, &mut drain)?,
            _ => self.by_one(store, wire, &mut drain)?,
        };
        measurement.outside.drain_ns = drain.ns;
        measurement.drain_write_bytes = drain.write_bytes;
        Ok(measurement)
    }

    /// Loads the dataset unless the block begins with nothing, and brings it to rest; opens a
    /// connection, and tells how long that took.
    fn fill<'s>(
        &self,
        store: &'s dyn Store,
    ) -> Result<(Box<dyn Connection + 's>, u64), HarnessError> {
        let mut opening = Instant::now();
        let mut connection = store.connect()?;
        if !self.job.workload.begins_empty() {
            load(
                &mut *connection,
                &self.dataset,
                1..=self.dataset.count(),
                &mut |_| Ok(()),
            )?;
            if self.resolved.capabilities.persistent {
                // Closed first: an exclusive connection lets nobody else checkpoint.
                connection.close()?;
                store.checkpoint()?;
                disk::sync_filesystem(&self.place)?;
                if self.job.workload.cache == CacheState::Warm {
                    page_cache::warm(&[&self.place])?;
                }
                opening = Instant::now();
                connection = store.connect()?;
            }
        }
        Ok((connection, nanoseconds(opening)))
    }

    fn by_one(
        &self,
        store: Box<dyn Store>,
        wire: &mut Wire<'_>,
        drain: &mut Drain,
    ) -> Result<Measurement, HarnessError> {
        let (mut connection, open_ns) = self.fill(&*store)?;
        let versions = versions_of(self.job, self.task, 0, [&[&[], &[]], &self.window]);
        let parts = self.source.parts(&self.window, &self.job.workload, 1);
        let first = parts.first().unwrap_or(&self.window);
        let payloads = self.source.payloads(first, &versions, 0)?;
        let effective = connection.effective_settings()?;
        let mut operator = Operator {
            session: connection.session()?,
            workload: &self.job.workload,
            buffer: self.buffer()?,
            tally: Tally::of(self.task.block, &self.job.instance),
        };
        wire.ready(effective)?;
        let mut timed = operator.time(
            self.task.block,
            &parts,
            payloads,
            &self.source,
            (&versions, 0),
        )?;
        timed.measurement.outside.open_ns = open_ns;
        let fates = || {
            let mut fates = Fates::default();
            fates.add(steps(&self.window), &versions);
            fates
        };
        if !self.lasts() {
            self.examine(&mut *operator.session, fates(), &mut timed.measurement)?;
        }
        drop(operator);
        drain.during(|| connection.close())?;
        drain.settle(self.job, store)?;
        self.check_commits(&timed, &[self.window])?;
        let mut measurement = timed.measurement;
        if self.lasts() {
            self.open_and_examine(fates(), &mut measurement)?;
        }
        Ok(measurement)
    }

    fn by_several(
        &self,
        store: Box<dyn Store>,
        wire: &mut Wire<'_>,
        drain: &mut Drain,
    ) -> Result<Measurement, HarnessError> {
        let (connection, open_ns) = self.fill(&*store)?;
        let effective = connection.effective_settings()?;
        let kept = keep(self.resolved, connection)?;
        let shares = Share::all(self.job, self.task, [&[&[], &[]], &self.window]);
        let crew = Crew {
            store: &*store,
            workload: &self.job.workload,
            kind: self.task.block,
            source: &self.source,
            shares: &shares,
            capacity: capacity(self.job, bytes_of(&self.window))?,
        };
        let mut timed = crew.run(&mut || wire.ready(effective.clone()), drain)?;
        timed.measurement.outside.open_ns = open_ns;
        let fates = || {
            let mut fates = Fates::default();
            for share in &shares {
                fates.add(share.steps(), &share.versions);
            }
            fates
        };
        let examine = |mut connection: Box<dyn Connection + '_>| {
            let mut session = connection.session()?;
            self.examine(&mut *session, fates(), &mut timed.measurement)?;
            drop(session);
            Ok::<_, HarnessError>(drain.during(|| connection.close())?)
        };
        kept.map(examine).transpose()?;
        drain.settle(self.job, store)?;
        let windows: Vec<Window<'_>> = shares.iter().map(Share::timed).collect();
        self.check_commits(&timed, &windows)?;
        let mut measurement = timed.measurement;
        if self.lasts() {
            self.open_and_examine(fates(), &mut measurement)?;
        }
        Ok(measurement)
    }

    /// Whether what was written can be looked at once the store is closed.
    fn lasts(&self) -> bool {
        self.resolved.capabilities.persistent
    }

    /// Opens the store again, and looks at what is on disk.
    fn open_and_examine(
        &self,
        fates: Fates,
        measurement: &mut Measurement,
    ) -> Result<(), HarnessError> {
        let store = self.open()?;
        // Before anything is done to it again.
        measurement.footprint = Some(store.footprint()?);
        let mut connection = store.connect()?;
        let mut session = connection.session()?;
        self.examine(&mut *session, fates, measurement)?;
        drop(session);
        Ok(connection.close()?)
    }

    fn open(&self) -> Result<Box<dyn Store>, HarnessError> {
        let Resolved { kind, settings, .. } = self.resolved;
        Ok(kind.open(&self.place, settings)?)
    }

    fn examine(
        &self,
        session: &mut dyn Session,
        fates: Fates,
        measurement: &mut Measurement,
    ) -> Result<(), HarnessError> {
        self.check(session, fates)?;
        measurement.page_fill = session.page_fill()?;
        Ok(())
    }

    /// Makes or drops a table. Where one is to be made, the one that a new store has goes first.
    fn table(
        &self,
        store: Box<dyn Store>,
        wire: &mut Wire<'_>,
        drain: &mut Drain,
    ) -> Result<Measurement, HarnessError> {
        let (mut connection, open_ns) = self.fill(&*store)?;
        let effective = connection.effective_settings()?;
        let mut operator = Operator {
            session: connection.session()?,
            workload: &self.job.workload,
            buffer: self.buffer()?,
            tally: Tally::of(self.task.block, &self.job.instance),
        };
        let creates = self.job.workload.operation == Operation::CreateTable;
        if creates {
            operator.session.drop_table()?;
        }
        wire.ready(effective)?;
        let versions = versions_of(self.job, self.task, 0, [&[&[], &[]], &self.window]);
        let mut timed = operator.time(
            self.task.block,
            &[self.window],
            self.source.payloads(&self.window, &versions, 0)?,
            &self.source,
            (&versions, 0),
        )?;
        timed.measurement.outside.open_ns = open_ns;
        // Its other operations need not work any more.
        drop(operator);
        // A store without a table need not open again.
        let closes_first = creates && self.lasts();
        if !closes_first {
            self.check_table(&mut *connection, creates)?;
        }
        drain.during(|| connection.close())?;
        drain.settle(self.job, store)?;
        if closes_first {
            let store = self.open()?;
            let mut connection = store.connect()?;
            self.check_table(&mut *connection, creates)?;
            connection.close()?;
        }
        Ok(timed.measurement)
    }

    /// A table that was made is empty; of one that was dropped nothing can be read.
    fn check_table(
        &self,
        connection: &mut dyn Connection,
        creates: bool,
    ) -> Result<(), HarnessError> {
        let mut buffer = self.buffer()?;
        let first = connection
            .session()
            .and_then(|mut session| session.read_into(Key(1), &mut buffer));
        let (done, wrong) = match first {
            Ok(Found::Missing) => return Ok(()),
            Err(error) if !creates && error.is_no_table() => return Ok(()),
            Err(error) => return Err(error.into()),
            _ if creates => ("made", "is not empty"),
            _ => ("dropped", "is still there"),
        };
        Err(HarnessError::invalid(format!(
            "{}: the table was {done} and {wrong}",
            self.resolved.kind.name()
        )))
    }

    fn buffer(&self) -> Result<Buffer, HarnessError> {
        Ok(Buffer::with_capacity(capacity(
            self.job,
            bytes_of(&self.window),
        )?)?)
    }

    /// What the loops committed is what the engine's commit hook saw: transactions that write.
    fn check_commits(&self, timed: &Timed, windows: &[Window<'_>]) -> Result<(), HarnessError> {
        let Some(counted) = timed.counted else {
            return Ok(());
        };
        let writing = windows.iter();
        let writing: u64 = writing
            .map(|window| writing_transactions(&self.job.workload, window))
            .sum();
        // Whether a commit is counted that is refused then is the engine's affair.
        let most = writing + timed.measurement.conflicts;
        if (writing..=most).contains(&counted) {
            return Ok(());
        }
        Err(HarnessError::invalid(format!(
            "{writing} transactions were to be committed, and the engine counted {counted}"
        )))
    }

    /// Compares what the store holds with what it must be: all of it in the first round, a sample
    /// of what was changed in others.
    fn check(&self, session: &mut dyn Session, mut fates: Fates) -> Result<(), HarnessError> {
        let all = self.task.round == 0;
        let dataset = &self.dataset;
        if all && !self.job.workload.begins_empty() {
            let bytes = |key| u32::try_from(dataset.size(key)).unwrap_or(u32::MAX);
            fates.add_untouched((1..=dataset.count()).map(|key| (key, bytes(key))));
        }
        let values = Values::of(self.job)?;
        let mut checker = Checker {
            buffer: self.buffer()?,
            values: &values,
            store: self.resolved.kind.name(),
        };
        fates.check(&mut checker, session, all)
    }
}

/// Brings every page of the values into memory, so that no insert waits for one.
fn touch(dataset: &Dataset) {
    for key in 1..=dataset.count() {
        let value = dataset.value(key);
        let sum = value.iter().step_by(4096).fold(0u8, |sum, byte| sum ^ byte);
        black_box(sum);
    }
}
