//! What must be in a store after a block, as its steps say.

use super::source::{Versions, overwrites};
use super::verify::Checker;
use crate::HarnessError;
use crate::sequence::Step;
use std::collections::BTreeMap;
use stowplan_model::{Action, Delivery};
use stowplan_stores::Session;

/// Keys that are compared after a block, at equal distances; all in the first round.
const CHECKED: usize = 1_000;

/// What became of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Fate {
    bytes: u32,
    /// The versions that it may have: each thread's last one. None: it was deleted.
    versions: Vec<u32>,
}

/// What became of the values that some steps changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Fates(BTreeMap<u64, Fate>);

impl Fates {
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
            let fate = self.0.entry(key).or_insert(Fate {
                bytes,
                versions: Vec::new(),
            });
            fate.versions.extend(version);
        }
    }

    /// Adds the values of a dataset that no step changed.
    pub(super) fn add_untouched(&mut self, values: impl Iterator<Item = (u64, u32)>) {
        for (key, bytes) in values {
            self.0.entry(key).or_insert(Fate {
                bytes,
                versions: vec![0],
            });
        }
    }

    /// Compares what a store holds with it: each key, or a sample of them.
    pub(super) fn check(
        &self,
        checker: &mut Checker<'_>,
        session: &mut dyn Session,
        all: bool,
    ) -> Result<(), HarnessError> {
        let every = if all {
            1
        } else {
            (self.0.len() / CHECKED).max(1)
        };
        for (key, fate) in self.0.iter().step_by(every) {
            let step = Step::reading(*key, fate.bytes);
            if fate.versions.is_empty() {
                checker.check_gone(session, step)?;
            } else {
                checker.check_any(session, Delivery::Copy, step, &fate.versions)?;
            }
        }
        Ok(())
    }

    /// The keys that are there with their versions; where several threads may have had the last
    /// word, `winner` says which version a value has.
    pub(super) fn versions(
        &self,
        mut winner: impl FnMut(Step, &[u32]) -> Result<u32, HarnessError>,
    ) -> Result<Vec<(u64, u32)>, HarnessError> {
        let mut versions = Vec::with_capacity(self.0.len());
        for (key, fate) in &self.0 {
            let version = match fate.versions[..] {
                [] => continue,
                [version] => version,
                _ => winner(Step::reading(*key, fate.bytes), &fate.versions)?,
            };
            versions.push((*key, version));
        }
        Ok(versions)
    }

    /// Whether there are values of which several threads may have had the last word.
    pub(super) fn disputed(&self) -> bool {
        self.0.values().any(|fate| fate.versions.len() > 1)
    }
}
