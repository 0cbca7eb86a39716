//! What must be in a store after a block, as its steps say.

use super::Values;
use super::payloads::{Versions, overwrites};
use super::verify::{Expectation, check};
use super::worker::Worker;
use crate::HarnessError;
use std::collections::BTreeMap;
use stowplan_dataset::sequence::Step;
use stowplan_model::{Action, Delivery};

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
