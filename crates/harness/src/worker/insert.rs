//! Timing inserts into a store that is empty before, and thrown away after.

use super::dataset_of;
use super::measure::{Operator, Source, end, nanoseconds};
use super::verify::Checker;
use super::{Values, Wire};
use crate::HarnessError;
use crate::block::{Payloads, Window, bytes_of};
use crate::dataset::Dataset;
use crate::sequence::{Sequence, Step};
use std::fs;
use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;
use stowplan_model::{BlockTask, Delivery, FromWorker, Job, Measurement, WallBreakdown};
use stowplan_stores::registry::Resolved;
use stowplan_stores::{Buffer, COMMITS_COUNTED, Session};

/// Values that are compared byte for byte after a block, at equal distances; all in the first
/// round.
const CHECKED: u64 = 1_000;

pub(super) fn insert(
    job: &Job,
    task: &BlockTask,
    resolved: &Resolved,
    wire: &mut Wire<'_>,
) -> Result<FromWorker, HarnessError> {
    let sequence = Sequence::open(&task.sequence)?;
    // From the first step on: a rising order begins with the smallest key.
    let window = sequence.window(0, task.operations)?;
    let dataset = Dataset::open(dataset_of(job)?)?;
    touch(&dataset);
    let place = Place::make(job)?;
    let store = resolved.kind.create(&place.0, &resolved.settings)?;
    let opening = Instant::now();
    let mut connection = store.connect()?;
    let open_ns = nanoseconds(opening);
    let effective = connection.effective_settings()?;
    let mut operator = Operator {
        session: connection.session()?,
        workload: &job.workload,
        buffer: Buffer::with_capacity(bytes_of(&window))?,
    };
    let commits = commits_of(&mut *operator.session)?;
    wire.ready(effective)?;
    let mut measurement = operator.time(
        task.block,
        &[window],
        Payloads::Stored(dataset),
        &Source::Nowhere,
    )?;
    check_commits(&measurement, commits, commits_of(&mut *operator.session)?)?;
    check_values(job, task, resolved, &mut *operator.session, &window)?;
    measurement.page_fill = operator.session.page_fill()?;
    drop(operator);
    let drain_ns = end(job, &*store, connection)?;
    if resolved.capabilities.persistent {
        measurement.footprint = Some(store.footprint()?);
    }
    drop(store);
    place.remove()?;
    measurement.outside = WallBreakdown {
        open_ns,
        drain_ns,
        ..measurement.outside
    };
    Ok(FromWorker::Measured(Measurement {
        cell: job.cell.clone(),
        round: task.round,
        position: task.position,
        ..measurement
    }))
}

/// The directory of the store: of this worker alone.
struct Place(PathBuf);

impl Place {
    fn make(job: &Job) -> Result<Self, HarnessError> {
        let path = job.instance.join(format!("block-{}", std::process::id()));
        fs::create_dir(&path).map_err(HarnessError::io("create directory", &path))?;
        Ok(Self(path))
    }

    fn remove(self) -> Result<(), HarnessError> {
        fs::remove_dir_all(&self.0).map_err(HarnessError::io("remove", &self.0))
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

/// Commits that the engine counted, if it counts them.
fn commits_of(session: &mut dyn Session) -> Result<Option<u64>, HarnessError> {
    Ok(session.counters()?.get(COMMITS_COUNTED).copied())
}

/// What the loop committed is what the engine's commit hook saw.
fn check_commits(
    measurement: &Measurement,
    before: Option<u64>,
    after: Option<u64>,
) -> Result<(), HarnessError> {
    let Some((before, after)) = before.zip(after) else {
        return Ok(());
    };
    if after - before == measurement.commits {
        return Ok(());
    }
    Err(HarnessError::invalid(format!(
        "{} transactions were to be committed, and the engine counted {}",
        measurement.commits,
        after - before
    )))
}

fn check_values(
    job: &Job,
    task: &BlockTask,
    resolved: &Resolved,
    session: &mut dyn Session,
    window: &Window<'_>,
) -> Result<(), HarnessError> {
    let values = Values::of(job)?;
    let mut checker = Checker {
        buffer: Buffer::with_capacity(bytes_of(window))?,
        values: &values,
        store: resolved.kind.name(),
    };
    let every = if task.round == 0 {
        1
    } else {
        usize::try_from(task.operations / CHECKED)
            .unwrap_or(1)
            .max(1)
    };
    let steps = window.iter().copied().flatten().map(Step::decode);
    steps
        .step_by(every)
        .try_for_each(|step| checker.check(session, Delivery::Copy, step, 0))
}
