//! Values of a store, compared with what they must be: the driver dumps them, and here they are looked
//! at.

use super::worker::Worker;
use super::{Extent, Values};
use crate::Result;
use std::collections::BTreeMap;
use stowplan_dataset::payloads::{Versions, overwrites};
use stowplan_dataset::sequence::Step;
use stowplan_dataset::versions;
use stowplan_model::{Action, Delivery, Verification};

/// What a value must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Expectation {
    key: u64,
    /// Its size.
    bytes: u32,
    /// The versions that it may have: each thread's last one. None: it was deleted.
    versions: Vec<u32>,
}

/// Values that are compared of a sample, at equal distances.
const SAMPLED: usize = 1_000;

/// Which one of so many values is compared.
fn every(extent: Extent, values: usize) -> usize {
    match extent {
        Extent::All => 1,
        Extent::Sample => (values / SAMPLED).max(1),
    }
}

impl Worker<'_> {
    /// Reads values once, untimed, and compares them.
    pub(super) fn verify(&mut self, extent: Extent) -> Result<Verification> {
        let (job, dataset) = (self.job, self.values.whole()?);
        let count = dataset.count();
        let versions = match &job.paths.versions {
            Some(versions) if job.persistent => versions::read(versions, count)?,
            _ => vec![0; usize::try_from(count).unwrap_or(usize::MAX)],
        };
        if !job.persistent {
            self.load(dataset, &mut |_, _| ())?;
        }
        // As the workload reads values; what it does otherwise says nothing about reading them.
        let delivery = match job.workload.pattern().contains(&Action::Read) {
            true => job.workload.delivery,
            false => Delivery::Copy,
        };
        let every = every(extent, versions.len());
        let keys = (1..=count).zip(versions).step_by(every);
        let keys = keys.map(|(key, version)| Expectation {
            key,
            bytes: u32::try_from(dataset.size(key)).unwrap_or(u32::MAX),
            versions: vec![version],
        });
        let keys: Vec<Expectation> = keys.collect();
        self.check(&Vec::from_iter(&keys), delivery)?;
        Ok(Verification {
            cell: job.cell.clone(),
            values: keys.len() as u64,
            bytes: keys.iter().map(|key| u64::from(key.bytes)).sum(),
            overwritten: keys.iter().filter(|key| key.versions[..] != [0]).count() as u64,
        })
    }

    /// Compares values, and says which version each has; nothing for those that must be gone.
    fn check(&mut self, expected: &[&Expectation], delivery: Delivery) -> Result<Vec<Option<u32>>> {
        let keys: Vec<(u64, u32)> = expected.iter().map(|e| (e.key, e.bytes)).collect();
        let mut found = Vec::with_capacity(expected.len());
        let (values, mut wrong) = (self.values, None);
        self.show(&keys, delivery, &mut |index, value| {
            let version = expected[index].version_of(value, values);
            found.push(version.unwrap_or_else(|detail| {
                wrong.get_or_insert((expected[index].key, detail));
                None
            }));
        })?;
        match wrong {
            None => Ok(found),
            Some((key, detail)) => Err(self.wrong(&format!("value {key} is damaged: {detail}"))),
        }
    }
}

impl Expectation {
    /// Which of the versions that it may have a value has, or what is wrong with it.
    fn version_of(&self, value: Option<&[u8]>, values: &Values) -> Result<Option<u32>, String> {
        let value = match (value, self.versions.is_empty()) {
            (None, true) => return Ok(None),
            (Some(_), true) => return Err("it was deleted and is still there".to_owned()),
            (None, false) => return Err("it is missing".to_owned()),
            (Some(value), false) => value,
        };
        let (length, bytes) = (value.len(), self.bytes);
        if length != bytes as usize {
            return Err(format!("it has {length} bytes instead of {bytes}"));
        }
        let mut known = self.versions.iter();
        if let Some(version) = known.find(|version| values.right(self.key, **version, value)) {
            return Ok(Some(*version));
        }
        let versions = self.versions.iter().map(u32::to_string);
        let versions = Vec::from_iter(versions).join(" or ");
        Err(format!("its bytes are not those of version {versions}"))
    }
}

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

    /// Compares what a store holds with it.
    pub(super) fn check(&self, worker: &mut Worker<'_>, extent: Extent) -> Result<()> {
        let some = self.0.values().step_by(every(extent, self.0.len()));
        let some = Vec::from_iter(some);
        worker.check(&some, Delivery::Copy).map(|_| ())
    }

    /// The keys that are there with their versions; where several threads may have had the last word,
    /// the store is asked which version a value has.
    pub(super) fn versions(&self, worker: &mut Worker<'_>) -> Result<Vec<(u64, u32)>> {
        let disputed = self.0.values().filter(|value| value.versions.len() > 1);
        let disputed = Vec::from_iter(disputed);
        let found = worker.check(&disputed, Delivery::Copy)?;
        let won = disputed.iter().zip(found);
        let won = won.filter_map(|(value, version)| Some((value.key, version?)));
        let single = self.0.values();
        let single = single.filter_map(|value| match value.versions[..] {
            [version] => Some((value.key, version)),
            _ => None,
        });
        Ok(single.chain(won).collect())
    }
}
