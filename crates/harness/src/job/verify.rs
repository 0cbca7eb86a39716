//! Values of a store, compared with what they must be: the driver dumps them, and here they are looked
//! at.

use super::payloads::{Versions, overwrites};
use super::worker::Worker;
use super::{Extent, Job, Values, no_dataset};
use crate::HarnessError;
use std::collections::BTreeMap;
use stowplan_dataset::sequence::Step;
use stowplan_dataset::versions;
use stowplan_model::{Action, Delivery, Verification};

/// What a value must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Expectation {
    pub(super) key: u64,
    /// Its size.
    pub(super) bytes: u32,
    /// The versions that it may have: each thread's last one. None: it was deleted.
    pub(super) versions: Vec<u32>,
}

/// Values that are compared of a sample.
const SAMPLED: u64 = 1_000;

/// Reads values once, untimed, and compares them.
pub(super) fn verify(
    job: &Job,
    extent: Extent,
    worker: &mut Worker,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Verification, HarnessError> {
    let values = job.values()?;
    let dataset = values.dataset().ok_or_else(no_dataset)?;
    let count = dataset.count();
    let versions = match &job.paths.versions {
        Some(versions) if job.persistent => versions::read(versions, count)?,
        _ => vec![0; usize::try_from(count).unwrap_or(usize::MAX)],
    };
    if !job.persistent {
        worker.create()?;
        worker.load(dataset, &mut |_, _| ())?;
    }
    // As the workload reads values; what it does otherwise says nothing about reading them.
    let delivery = match job.workload.pattern().contains(&Action::Read) {
        true => job.workload.delivery,
        false => Delivery::Copy,
    };
    let keys = (1..=count)
        .zip(&versions)
        .map(|(key, version)| Expectation {
            key,
            bytes: u32::try_from(dataset.size(key)).unwrap_or(u32::MAX),
            versions: vec![*version],
        });
    let every = match extent {
        Extent::All => 1,
        Extent::Sample => usize::try_from(count / SAMPLED)
            .unwrap_or(usize::MAX)
            .max(1),
    };
    let keys: Vec<Expectation> = keys.step_by(every).collect();
    let keys: Vec<&Expectation> = keys.iter().collect();
    check(&keys, &values, worker, delivery, &mut |done| {
        progress(done, keys.len() as u64);
    })?;
    Ok(Verification {
        cell: job.cell.clone(),
        values: keys.len() as u64,
        bytes: keys.iter().map(|key| u64::from(key.bytes)).sum(),
        overwritten: keys.iter().filter(|key| key.versions[..] != [0]).count() as u64,
    })
}

/// Compares values, and says which version each has; nothing for those that must be gone.
pub(super) fn check(
    expected: &[&Expectation],
    values: &Values,
    worker: &mut Worker,
    delivery: Delivery,
    progress: &mut dyn FnMut(u64),
) -> Result<Vec<Option<u32>>, HarnessError> {
    let keys: Vec<(u64, u32)> = expected.iter().map(|e| (e.key, e.bytes)).collect();
    let mut found = Vec::with_capacity(expected.len());
    let mut wrong = None;
    worker.values(
        &keys,
        delivery,
        progress,
        &mut |index, value| match version_of(expected[index], value, values) {
            Ok(version) => found.push(version),
            Err(detail) => {
                wrong.get_or_insert((expected[index].key, detail));
                found.push(None);
            }
        },
    )?;
    match wrong {
        None => Ok(found),
        Some((key, detail)) => {
            let store = worker.at.store.kind.clone();
            Err(worker
                .process
                .failed(&format!("{store}: value {key} is damaged: {detail}")))
        }
    }
}

/// Which of the versions that it may have a value has, or what is wrong with it.
fn version_of(
    expected: &Expectation,
    value: Option<&[u8]>,
    values: &Values,
) -> Result<Option<u32>, String> {
    let Expectation {
        key,
        bytes,
        versions,
    } = expected;
    let value = match (value, versions.is_empty()) {
        (None, true) => return Ok(None),
        (Some(_), true) => return Err("it was deleted and is still there".to_owned()),
        (None, false) => return Err("it is missing".to_owned()),
        (Some(value), false) => value,
    };
    if value.len() != *bytes as usize {
        return Err(format!("it has {} bytes instead of {bytes}", value.len()));
    }
    let mut known = versions.iter().copied();
    let version = known.find(|version| values.right(*key, *version, value));
    version.map(Some).ok_or_else(|| {
        let versions: Vec<String> = versions.iter().map(u32::to_string).collect();
        let versions = versions.join(" or ");
        format!("its bytes are not those of version {versions}")
    })
}

/// Keys that are compared after a block, at equal distances; all in the first round.
const CHECKED: usize = 1_000;

/// What must have become of the values that some steps changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Expected(BTreeMap<u64, Expectation>);

impl Expected {
    /// Adds what the steps of one thread do, in their order.
    pub(super) fn add(&mut self, steps: impl Iterator<Item = Step>, versions: &Versions) {
        let mut mine: BTreeMap<u64, (u32, Option<u32>)> = BTreeMap::new();
        for (index, step) in steps.enumerate() {
            let version = match step.action {
                Action::Insert => Some(0),
                Action::Delete => None,
                action if overwrites(action) => Some(versions.at(index)),
                _ => continue,
            };
            mine.insert(step.key, (step.bytes, version));
        }
        for (key, (bytes, version)) in mine {
            let expectation = self.0.entry(key).or_insert(Expectation {
                key,
                bytes,
                versions: Vec::new(),
            });
            expectation.versions.extend(version);
        }
    }

    /// Adds the values of a dataset that no step changed.
    pub(super) fn add_untouched(&mut self, values: impl Iterator<Item = (u64, u32)>) {
        for (key, bytes) in values {
            self.0.entry(key).or_insert(Expectation {
                key,
                bytes,
                versions: vec![0],
            });
        }
    }

    /// Compares what a store holds with it: each key, or a sample of them.
    pub(super) fn check(
        &self,
        values: &Values,
        worker: &mut Worker,
        all: bool,
    ) -> Result<(), HarnessError> {
        let every = if all {
            1
        } else {
            (self.0.len() / CHECKED).max(1)
        };
        let some: Vec<&Expectation> = self.0.values().step_by(every).collect();
        check(&some, values, worker, Delivery::Copy, &mut |_| ()).map(|_| ())
    }

    /// The keys that are there with their versions; where several threads may have had the last word,
    /// the store is asked which version a value has.
    pub(super) fn versions(
        &self,
        values: &Values,
        worker: &mut Worker,
    ) -> Result<Vec<(u64, u32)>, HarnessError> {
        let disputed = self.0.values().filter(|value| value.versions.len() > 1);
        let disputed: Vec<&Expectation> = disputed.collect();
        let found = match disputed.is_empty() {
            true => Vec::new(),
            false => check(&disputed, values, worker, Delivery::Copy, &mut |_| ())?,
        };
        let single = self
            .0
            .values()
            .filter_map(|value| match value.versions[..] {
                [version] => Some((value.key, version)),
                _ => None,
            });
        let disputed = disputed.iter().zip(found);
        let won = disputed.filter_map(|(value, version)| Some((value.key, version?)));
        Ok(single.chain(won).collect())
    }
}
