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
use crate::dataset::Dataset;
use crate::sequence::Sequence;
use crate::{HarnessError, disk, page_cache};
use std::fs;
use std::hint::black_box;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Instant;
use stowplan_model::{
    BlockTask, CacheState, FromWorker, Job, Measurement, Operation, WallBreakdown,
};
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
        let (connection, open_ns) = self.fill(&*store)?;
        let mut drain = Drain::default();
        let mut measurement = match self.job.workload.operation {
            Operation::CreateTable | Operation::DropTable => {
                self.table(connection, wire, &mut drain)?
            }
            _ if self.job.workload.threads > 1 => {
                self.by_several(&*store, connection, wire, &mut drain)?
            }
            _ => self.by_one(connection, wire, &mut drain)?,
        };
        drain.settle(self.job, &*store)?;
        if self.resolved.capabilities.persistent && !self.job.workload.is_about_tables() {
            measurement.footprint = Some(store.footprint()?);
        }
        measurement.outside = WallBreakdown {
            open_ns,
            drain_ns: drain.ns,
            ..measurement.outside
        };
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
        mut connection: Box<dyn Connection + '_>,
        wire: &mut Wire<'_>,
        drain: &mut Drain,
    ) -> Result<Measurement, HarnessError> {
        let versions = versions_of(self.job, self.task, 0, [&[&[], &[]], &self.window]);
        let parts = self.source.parts(&self.window, &self.job.workload, 1);
        let first = parts.first().unwrap_or(&self.window);
        let payloads = self.source.payloads(first, &versions, 0)?;
        let effective = connection.effective_settings()?;
        let mut operator = Operator {
            session: connection.session()?,
            workload: &self.job.workload,
            buffer: self.buffer()?,
        };
        wire.ready(effective)?;
        let timed = operator.time(
            self.task.block,
            &parts,
            payloads,
            &self.source,
            (&versions, 0),
        )?;
        self.check_commits(&timed, &[self.window])?;
        let mut fates = Fates::default();
        fates.add(steps(&self.window), &versions);
        self.check(&mut *operator.session, fates)?;
        let mut measurement = timed.measurement;
        measurement.page_fill = operator.session.page_fill()?;
        drop(operator);
        drain.during(|| connection.close())?;
        Ok(measurement)
    }

    fn by_several(
        &self,
        store: &dyn Store,
        connection: Box<dyn Connection + '_>,
        wire: &mut Wire<'_>,
        drain: &mut Drain,
    ) -> Result<Measurement, HarnessError> {
        let effective = connection.effective_settings()?;
        let kept = keep(self.resolved, connection)?;
        let shares = Share::all(self.job, self.task, [&[&[], &[]], &self.window]);
        let crew = Crew {
            store,
            workload: &self.job.workload,
            kind: self.task.block,
            source: &self.source,
            shares: &shares,
            capacity: capacity(self.job, bytes_of(&self.window))?,
        };
        let timed = crew.run(&mut || wire.ready(effective.clone()), drain)?;
        let windows: Vec<Window<'_>> = shares.iter().map(Share::timed).collect();
        self.check_commits(&timed, &windows)?;
        let mut fates = Fates::default();
        for share in &shares {
            fates.add(share.steps(), &share.versions);
        }
        let mut connection = match kept {
            Some(connection) => connection,
            None => store.connect()?,
        };
        let mut session = connection.session()?;
        self.check(&mut *session, fates)?;
        let mut measurement = timed.measurement;
        measurement.page_fill = session.page_fill()?;
        drop(session);
        drain.during(|| connection.close())?;
        Ok(measurement)
    }

    /// Makes or drops a table. Where one is to be made, the one that a new store has goes first.
    fn table(
        &self,
        mut connection: Box<dyn Connection + '_>,
        wire: &mut Wire<'_>,
        drain: &mut Drain,
    ) -> Result<Measurement, HarnessError> {
        let effective = connection.effective_settings()?;
        let mut operator = Operator {
            session: connection.session()?,
            workload: &self.job.workload,
            buffer: self.buffer()?,
        };
        let creates = self.job.workload.operation == Operation::CreateTable;
        if creates {
            operator.session.drop_table()?;
        }
        wire.ready(effective)?;
        let versions = versions_of(self.job, self.task, 0, [&[&[], &[]], &self.window]);
        let timed = operator.time(
            self.task.block,
            &[self.window],
            self.source.payloads(&self.window, &versions, 0)?,
            &self.source,
            (&versions, 0),
        )?;
        // Its other operations need not work any more.
        drop(operator);
        self.check_table(&mut *connection, creates)?;
        drain.during(|| connection.close())?;
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
            Err(_) if !creates => return Ok(()),
            Err(error) if creates => return Err(error.into()),
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
