//! Dealing the steps of a block out to its threads.

use std::collections::{HashMap, HashSet};
use stowplan_dataset::sequence::{RawStep, Window, steps};
use stowplan_model::{Action, PerTransaction, Workload};

/// Deals the steps of a window to so many threads: transaction by transaction, each to the thread
/// that has the fewest steps (with equal transactions: one after the other). Steps on a key that is
/// inserted or deleted all go to the thread that gets the first of them, so that their order holds.
pub(super) fn deal(window: &Window<'_>, workload: &Workload, threads: usize) -> Vec<Vec<RawStep>> {
    let changed: HashSet<u64> = steps(window)
        .filter(|step| matches!(step.action, Action::Insert | Action::Delete))
        .map(|step| step.key)
        .collect();
    // Where all is one transaction, each thread has one.
    let group = match workload.per_transaction {
        PerTransaction::All => 1,
        PerTransaction::Operations(_) => workload.group().max(1),
    };
    let mut owners: HashMap<u64, usize> = HashMap::new();
    let mut shares: Vec<Vec<RawStep>> = vec![Vec::new(); threads.max(1)];
    let mut next = 0;
    let raws = window.iter().copied().flatten();
    for (index, (raw, step)) in (0u64..).zip(raws.zip(steps(window))) {
        if index % group == 0 {
            next = fewest(&shares);
        }
        let thread = if changed.contains(&step.key) {
            *owners.entry(step.key).or_insert(next)
        } else {
            next
        };
        shares[thread].push(*raw);
    }
    shares
}

fn fewest(shares: &[Vec<RawStep>]) -> usize {
    let numbered = shares.iter().map(Vec::len).enumerate();
    numbered
        .min_by_key(|(_, length)| *length)
        .map_or(0, |(thread, _)| thread)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use stowplan_dataset::sequence::{Step, write_steps};
    use stowplan_model::{AccessOrder, Mix, Operation};

    fn drawn(workload: &Workload, count: u64, steps: u64, seed: u64) -> Vec<RawStep> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("s");
        write_steps(&path, count, workload, steps, seed, |_| 1).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        bytes[16..].as_chunks().0.to_vec()
    }

    fn sorted(steps: impl IntoIterator<Item = RawStep>) -> Vec<RawStep> {
        let mut steps: Vec<RawStep> = steps.into_iter().collect();
        steps.sort_unstable();
        steps
    }

    proptest! {
        #[test]
        fn every_step_is_dealt_once_and_the_life_of_a_key_lies_with_one_thread_in_order(
            order in prop::sample::select(vec![
                AccessOrder::Random, AccessOrder::Zipfian, AccessOrder::Latest,
                AccessOrder::Lifecycle,
            ]),
            per in 1u32..9, threads in 1usize..7, seed: u64,
        ) {
            let workload = Workload {
                operation: Operation::Mix,
                order,
                per_transaction: PerTransaction::Operations(per),
                mix: Some(Mix { read: 2, overwrite: 3, insert: 1, delete: 1, ..Mix::default() }),
                ..Workload::default()
            };
            let all = drawn(&workload, 300, 200, seed);
            let shares = deal(&[&all[..90], &all[90..]], &workload, threads);
            prop_assert_eq!(shares.len(), threads);
            prop_assert_eq!(sorted(shares.iter().flatten().copied()), sorted(all.clone()));
            let changed = |step: &Step| matches!(step.action, Action::Insert | Action::Delete);
            for key in all.iter().map(Step::decode).filter(changed).map(|step| step.key) {
                let of_key = |steps: &[RawStep]| -> Vec<RawStep> {
                    steps.iter().copied().filter(|raw| Step::decode(raw).key == key).collect()
                };
                let whole = of_key(&all);
                prop_assert!(shares.iter().any(|share| of_key(share) == whole), "key {}", key);
            }
        }
    }

    #[test]
    fn transactions_of_equal_length_go_round() {
        let workload = Workload {
            per_transaction: PerTransaction::Operations(2),
            order: AccessOrder::Ascending,
            ..Workload::default()
        };
        let all = drawn(&workload, 12, 12, 0);
        let shares = deal(&[&all, &[]], &workload, 3);
        let keys = |share: &[RawStep]| -> Vec<u64> {
            share.iter().map(|raw| Step::decode(raw).key).collect()
        };
        assert_eq!(keys(&shares[0]), [1, 2, 7, 8]);
        assert_eq!(keys(&shares[1]), [3, 4, 9, 10]);
        assert_eq!(keys(&shares[2]), [5, 6, 11, 12]);
    }

    #[test]
    fn lives_are_shared_evenly() {
        let workload = Workload {
            operation: Operation::Mix,
            order: AccessOrder::Lifecycle,
            per_transaction: PerTransaction::Operations(1),
            mix: Some(Mix {
                overwrite: 10,
                insert: 1,
                delete: 1,
                ..Mix::default()
            }),
            ..Workload::default()
        };
        let all = drawn(&workload, 40, 40 * 12, 0);
        for share in deal(&[&all, &[]], &workload, 4) {
            assert_eq!(share.len(), 120);
        }
    }
}
