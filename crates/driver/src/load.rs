//! Loading a dataset into a store.

use crate::wire::Wire;
use crate::{DriverError, Result};
use std::ops::RangeInclusive;
use std::thread;
use stowplan_dataset::Dataset;
use stowplan_model::FromDriver;
use stowplan_stores::{Access, Key, Session, Store};

/// Values between two progress messages.
pub(crate) const PROGRESS_EVERY: u64 = 2_000;
/// Values loaded by one transaction.
const LOADED_AT_ONCE: u64 = 10_000;
/// Values, and about so many bytes, that a store gets at a time.
const GIVEN_AT_ONCE: (usize, usize) = (500, 4 << 20);

/// How many threads load a store that several can write to at the same time. Where its data lies
/// elsewhere, they wait for a server.
pub(crate) fn threads(parallel_writers: bool, lies_elsewhere: bool) -> u64 {
    match (parallel_writers, lies_elsewhere) {
        (false, _) => 1,
        (true, true) => 16,
        (true, false) => thread::available_parallelism()
            .map_or(1, |n| n.get() as u64)
            .min(4),
    }
}

/// Loads keys of the dataset by several threads, each a contiguous part of them.
pub(crate) fn load_in_parallel(
    store: &dyn Store,
    dataset: &Dataset,
    keys: &RangeInclusive<u64>,
    threads: u64,
    wire: &mut Wire<'_>,
) -> Result<()> {
    let total = keys.clone().count() as u64;
    let before = keys.start() - 1;
    let (progress, reports) = std::sync::mpsc::channel::<u64>();
    thread::scope(|scope| {
        let parts = (0..threads)
            .map(|part| {
                let progress = progress.clone();
                let keys =
                    before + part * total / threads + 1..=before + (part + 1) * total / threads;
                let work = move || -> Result<()> {
                    let mut session = store.connect()?;
                    load(&mut *session, dataset, keys, &mut |more| {
                        let _ = progress.send(more);
                        Ok(())
                    })?;
                    Ok(session.close()?)
                };
                let granted = thread::Builder::new().spawn_scoped(scope, work);
                granted.map_err(|error| {
                    let number = part + 1;
                    DriverError::invalid(format!(
                        "cannot start loading thread {number} of {threads}: {error}"
                    ))
                })
            })
            .collect::<Result<Vec<_>, _>>()?;
        drop(progress);
        let mut done = 0;
        for more in reports {
            done += more;
            wire.say(&FromDriver::Progress { done, total })?;
        }
        parts.into_iter().try_for_each(|part| {
            part.join()
                .unwrap_or_else(|_| Err(DriverError::invalid("a loading thread panicked")))
        })
    })
}

/// Loads some keys of the dataset, in transactions of bounded size: a store may have to hold one
/// in memory. `progress` hears how many more there are.
pub(crate) fn load(
    session: &mut dyn Session,
    dataset: &Dataset,
    keys: RangeInclusive<u64>,
    progress: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<()> {
    session.begin(Access::Write)?;
    let (mut done, mut reported) = (0, 0);
    let (mut rows, mut bytes) = (Vec::new(), 0);
    for key in keys {
        let value = dataset.value(key);
        rows.push((Key(key), value));
        bytes += value.len();
        done += 1;
        let full = rows.len() >= GIVEN_AT_ONCE.0 || bytes >= GIVEN_AT_ONCE.1;
        if full || done % LOADED_AT_ONCE == 0 {
            session.load(&rows)?;
            rows.clear();
            bytes = 0;
        }
        if done % PROGRESS_EVERY == 0 {
            progress(done - reported)?;
            reported = done;
        }
        if done % LOADED_AT_ONCE == 0 {
            session.commit()?;
            session.begin(Access::Write)?;
        }
    }
    if !rows.is_empty() {
        session.load(&rows)?;
    }
    session.commit()?;
    progress(done - reported)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stowplan_model::{Content, DatasetSpec, SizeDistribution, decode};
    use stowplan_stores::{Buffer, Found, registry};

    #[test]
    fn several_threads_load_every_value_once_and_tell_how_far_they_are() {
        const MANY: u64 = 4_501;
        let work = tempfile::tempdir().unwrap();
        let spec = DatasetSpec {
            count: MANY,
            size: SizeDistribution::Uniform { min: 8, max: 16 },
            content: Content::Random,
            seed: 3,
            from: None,
        };
        let path = work.path().join("dataset");
        let dataset = stowplan_dataset::materialise(&spec, &path, &mut |_| ()).unwrap();
        let place = work.path().join("store");
        std::fs::create_dir(&place).unwrap();
        let flat = registry::resolve(&"flat".parse().unwrap(), 0).unwrap();
        let store = flat.kind.create(&place, &flat.settings).unwrap();
        let mut output = Vec::new();
        let mut wire = Wire {
            input: &mut "".as_bytes(),
            output: &mut output,
        };
        load_in_parallel(&*store, &dataset, &(1..=MANY), 2, &mut wire).unwrap();
        let mut reports = Vec::new();
        for line in std::str::from_utf8(&output).unwrap().lines() {
            match decode(line).unwrap() {
                FromDriver::Progress { done, total } => {
                    assert_eq!(total, MANY);
                    reports.push(done);
                }
                other => panic!("{other:?}"),
            }
        }
        assert!(reports.is_sorted() && reports.len() > 2, "{reports:?}");
        assert_eq!(reports.last(), Some(&MANY));
        let mut session = store.connect().unwrap();
        let mut buffer = Buffer::with_capacity(16).unwrap();
        for key in 1..=MANY {
            let found = session.read_into(Key(key), &mut buffer).unwrap();
            assert_eq!(found, Found::Bytes(dataset.size(key)));
            assert_eq!(buffer.bytes(), dataset.value(key));
        }
    }
}
