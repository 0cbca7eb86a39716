//! Building a store from a dataset.

use super::worker::Worker;
use crate::{HarnessError, Progress, Result};
use stowplan_dataset::sequence::{RawStep, Step, visit_permuted};
use stowplan_dataset::{Dataset, versions};
use stowplan_model::{Action, Mix, Operation, PerTransaction, Workload};

/// Groups in which the values of a store are replaced as it grows old.
const GROUPS: u64 = 50;

/// About as many bytes are given to the driver at once while a store grows old. Each time it connects to
/// the store anew, which for a group each took longer than what was written.
const RUN_BYTES: u64 = 64 << 20;

impl Worker<'_> {
    /// Has it make a store and load it, replaces its values as often as it is to be old, and brings it to rest;
    /// returns values and their bytes.
    pub(super) fn build(&mut self, progress: Progress<'_>) -> Result<(u64, u64)> {
        let (job, dataset) = (self.job, self.values.whole()?);
        self.load(dataset, progress)?;
        let age = job.workload.age;
        for pass in 1..=age {
            self.grow_old(dataset, pass, progress)?;
        }
        self.rest(true)?;
        if let Some(versions) = &job.paths.versions {
            versions::reset(versions, dataset.count(), age)?;
        }
        Ok((dataset.count(), dataset.total_bytes()))
    }

    /// Replaces every value, in random order and in groups, each a transaction: half of a group is deleted
    /// and inserted again in another order, which leaves holes of other sizes than what comes into them; the
    /// other half is overwritten. Storage age as Sears, van Ingen and Gray (2006) define it.
    fn grow_old(&mut self, dataset: &Dataset, pass: u32, progress: Progress<'_>) -> Result<()> {
        let total = dataset.count();
        let group = usize::try_from(total / GROUPS).unwrap_or(usize::MAX).max(2);
        let run = runs_of(group, dataset.total_bytes() / total.max(1));
        let mut keys = Vec::new();
        visit_permuted(total, u64::from(pass), |key| {
            keys.push(key);
            Ok::<_, HarnessError>(())
        })?;
        // The steps that replace a group.
        let steps = u32::try_from(group + group / 2).unwrap_or(u32::MAX);
        let mix = Mix {
            overwrite: 1,
            insert: 1,
            delete: 1,
            ..Mix::default()
        };
        let workload = Workload {
            operation: Operation::Mix,
            mix: Some(mix),
            per_transaction: PerTransaction::Operations(steps),
            ..Workload::default()
        };
        let mut done = 0;
        for keys in keys.chunks(run) {
            let groups = keys.chunks(group);
            let steps: Vec<_> = groups.flat_map(|keys| replacing(dataset, keys)).collect();
            self.replace(&workload, &steps, pass)?;
            done += keys.len() as u64;
            progress(done, total);
        }
        Ok(())
    }
}

/// How many keys a run replaces: whole groups of so many, of values of so many bytes.
fn runs_of(group: usize, value_bytes: u64) -> usize {
    let groups = RUN_BYTES / (group as u64).saturating_mul(value_bytes).max(1);
    group.saturating_mul(usize::try_from(groups).unwrap_or(1).max(1))
}

/// The steps that give the values of a group another version.
fn replacing(dataset: &Dataset, group: &[u64]) -> Vec<RawStep> {
    let step = |key: &u64, action| {
        let bytes = u32::try_from(dataset.size(*key)).unwrap_or(u32::MAX);
        let step = Step::reading(*key, bytes);
        Step { action, ..step }.encode()
    };
    let (removed, overwritten) = group.split_at(group.len() / 2);
    let deletes = removed.iter().map(|key| step(key, Action::Delete));
    let overwrites = overwritten.iter().map(|key| step(key, Action::Overwrite));
    let inserts = removed.iter().rev().map(|key| step(key, Action::Insert));
    deletes.chain(overwrites).chain(inserts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_holds_whole_groups_and_at_least_one() {
        assert_eq!(runs_of(10, 1 << 20), 60);
        assert_eq!(runs_of(3, 100 << 20), 3);
        assert_eq!(runs_of(2, 0), 2 * (64 << 20));
    }
}
