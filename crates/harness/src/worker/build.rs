//! Building a store from a dataset.

use super::Wire;
use crate::dataset::Dataset;
use crate::sequence::visit_permuted;
use crate::{HarnessError, disk, versions};
use std::thread;
use stowplan_model::{FromWorker, Job};
use stowplan_stores::registry::Resolved;
use stowplan_stores::{Access, Connection, Found, Key, Session, Store};

/// Values between two progress messages.
pub(super) const PROGRESS_EVERY: u64 = 2_000;
/// Values loaded by one transaction.
const LOADED_AT_ONCE: u64 = 10_000;
/// Groups in which the values of a store are replaced as it grows old.
const GROUPS: u64 = 50;

pub(super) fn build(
    job: &Job,
    resolved: &Resolved,
    wire: &mut Wire<'_>,
) -> Result<FromWorker, HarnessError> {
    let dataset = Dataset::open(super::dataset_of(job)?)?;
    let place = disk::Place::of(&job.instance)?;
    let store = resolved.kind.create(&job.instance, &resolved.settings)?;
    place.require_unchanged()?;
    wire.ready(resolved.settings.clone())?;
    let threads = if resolved.capabilities.parallel_writers {
        cpus().min(4)
    } else {
        1
    };
    load_in_parallel(&*store, &dataset, threads, wire)?;
    let age = job.workload.age;
    grow_old(&*store, &dataset, age, wire)?;
    store.checkpoint()?;
    drop(store);
    if let Some(versions) = &job.versions {
        versions::reset(versions, dataset.count(), age)?;
    }
    disk::sync_filesystem(&job.instance)?;
    Ok(FromWorker::Built {
        values: dataset.count(),
        bytes: dataset.total_bytes(),
    })
}

/// Replaces every value `age` times, in random order and in groups: half of a group is deleted and
/// inserted again in another order, which leaves holes of other sizes than what comes into them;
/// the other half is overwritten. Storage age as Sears, van Ingen and Gray (2006) define it.
fn grow_old(
    store: &dyn Store,
    dataset: &Dataset,
    age: u32,
    wire: &mut Wire<'_>,
) -> Result<(), HarnessError> {
    if age == 0 {
        return Ok(());
    }
    let total = dataset.count();
    let group = usize::try_from(total / GROUPS).unwrap_or(usize::MAX).max(2);
    let mut connection = store.connect()?;
    let mut session = connection.session()?;
    for pass in 1..=age {
        let mut keys = Vec::new();
        visit_permuted(total, u64::from(pass), |key| {
            keys.push(key);
            Ok::<_, HarnessError>(())
        })?;
        let mut done = 0;
        for group in keys.chunks(group) {
            replace(&mut *session, dataset, group, pass)?;
            done += group.len() as u64;
            wire.say(&FromWorker::Progress { done, total })?;
        }
    }
    drop(session);
    Ok(connection.close()?)
}

/// Gives the values of a group a version, in one transaction.
fn replace(
    session: &mut dyn Session,
    dataset: &Dataset,
    group: &[u64],
    version: u32,
) -> Result<(), HarnessError> {
    let fresh = |key: u64| {
        let mut value = vec![0; dataset.size(key)];
        dataset.generator().fill(key, version, &mut value);
        value
    };
    let there = |key: u64, there: bool| match there {
        true => Ok(()),
        false => Err(HarnessError::invalid(format!(
            "value {key} was gone while the store grew old"
        ))),
    };
    let (removed, overwritten) = group.split_at(group.len() / 2);
    session.begin(Access::Write)?;
    for key in removed {
        there(*key, session.delete(Key(*key))?)?;
    }
    for key in overwritten {
        let found = session.overwrite(Key(*key), &fresh(*key))?;
        there(*key, found != Found::Missing)?;
    }
    for key in removed.iter().rev() {
        session.insert(Key(*key), &fresh(*key))?;
    }
    Ok(session.commit()?)
}

fn cpus() -> u64 {
    thread::available_parallelism().map_or(1, |n| n.get() as u64)
}

/// Loads the dataset by several threads, each a contiguous part of the keys.
pub(super) fn load_in_parallel(
    store: &dyn Store,
    dataset: &Dataset,
    threads: u64,
    wire: &mut Wire<'_>,
) -> Result<(), HarnessError> {
    let total = dataset.count();
    if threads <= 1 {
        let mut connection = store.connect()?;
        load(&mut *connection, dataset, 1..=total, &mut |done| {
            wire.say(&FromWorker::Progress { done, total })
        })?;
        return Ok(connection.close()?);
    }
    let (progress, reports) = std::sync::mpsc::channel::<u64>();
    thread::scope(|scope| {
        let parts: Vec<_> = (0..threads)
            .map(|part| {
                let progress = progress.clone();
                let keys = part * total / threads + 1..=(part + 1) * total / threads;
                scope.spawn(move || -> Result<(), HarnessError> {
                    let mut connection = store.connect()?;
                    let mut before = 0;
                    load(&mut *connection, dataset, keys, &mut |done| {
                        let _ = progress.send(done - before);
                        before = done;
                        Ok(())
                    })?;
                    Ok(connection.close()?)
                })
            })
            .collect();
        drop(progress);
        let mut done = 0;
        for more in reports {
            done += more;
            wire.say(&FromWorker::Progress { done, total })?;
        }
        parts.into_iter().try_for_each(|part| {
            part.join()
                .unwrap_or_else(|_| Err(HarnessError::invalid("a loading thread panicked")))
        })
    })
}

/// Loads some keys of the dataset, in transactions of bounded size: a store may have to hold one
/// in memory.
pub(super) fn load(
    connection: &mut dyn Connection,
    dataset: &Dataset,
    keys: std::ops::RangeInclusive<u64>,
    progress: &mut dyn FnMut(u64) -> Result<(), HarnessError>,
) -> Result<(), HarnessError> {
    let mut session = connection.session()?;
    session.begin(Access::Write)?;
    let mut done = 0;
    for key in keys {
        session.insert(Key(key), dataset.value(key))?;
        done += 1;
        if done % PROGRESS_EVERY == 0 {
            progress(done)?;
        }
        if done % LOADED_AT_ONCE == 0 {
            session.commit()?;
            session.begin(Access::Write)?;
        }
    }
    session.commit()?;
    progress(done)
}
