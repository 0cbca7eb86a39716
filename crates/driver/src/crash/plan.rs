//! What is committed, in which order: drawn from a seed, so that a judge knows it too.

use std::collections::{BTreeMap, BTreeSet};
use stowplan_dataset::random::{Random, scatter_all};
use stowplan_model::{Capabilities, Operation};

/// Values that are there from the start.
const FIRST_KEYS: u64 = 24;
/// Keys that there may be.
const KEYS: u64 = 40;
/// The most keys that a transaction changes.
const KEYS_AT_ONCE: u64 = 4;
/// Bytes of most values, and of the largest.
const USUAL_BYTES: u64 = 1_500;
const MOST_BYTES: u64 = 12_000;
/// At the beginning of each value: its key and its version, in hexadecimal digits. All of it is text, which every column
/// takes.
const HEADER: usize = 32;

/// What a transaction does to a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Insert,
    Overwrite,
    Delete,
}

/// The versions of a key: from which transaction on (0: from the start) it has which; nothing where it
/// is not there. A version is the number of the transaction that wrote it.
pub(super) type History = Vec<(u64, Option<u64>)>;

/// Everything that is done to a store.
pub(super) struct Plan {
    seed: u64,
    resizes: bool,
    /// Whether several keys change at once, and order among transactions is promised.
    pub(super) transactions: bool,
    /// Transaction by transaction, from number 1 on.
    pub(super) steps: Vec<Vec<(u64, Change)>>,
    /// By key.
    pub(super) histories: BTreeMap<u64, History>,
}

impl Plan {
    pub(super) fn new(seed: u64, transactions: u64, can: &Capabilities) -> Self {
        let mut random = Random::new(scatter_all(&[seed, 1]));
        let can_do = |operation| can.operations.contains(&operation);
        let (inserts, deletes) = (can_do(Operation::Insert), can_do(Operation::Delete));
        let first = (1..=FIRST_KEYS).map(|key| (key, vec![(0, Some(0))]));
        let mut plan = Self {
            seed,
            resizes: can.resizes,
            transactions: can.transactions,
            steps: Vec::new(),
            histories: first.collect(),
        };
        let mut alive: BTreeSet<u64> = (1..=FIRST_KEYS).collect();
        for number in 1..=transactions {
            let several = match can.transactions {
                true => 1 + random.below(KEYS_AT_ONCE),
                false => 1,
            };
            let mut step: BTreeMap<u64, Change> = BTreeMap::new();
            while (step.len() as u64) < several {
                let key = 1 + random.below(if inserts { KEYS } else { FIRST_KEYS });
                let change = match alive.contains(&key) {
                    true if deletes && random.below(8) == 0 => Change::Delete,
                    true => Change::Overwrite,
                    false if inserts => Change::Insert,
                    false => continue,
                };
                step.entry(key).or_insert(change);
            }
            for (key, change) in &step {
                let version = (*change != Change::Delete).then_some(number);
                match version {
                    Some(_) => alive.insert(*key),
                    None => alive.remove(key),
                };
                let history = plan
                    .histories
                    .entry(*key)
                    .or_insert_with(|| vec![(0, None)]);
                history.push((number, version));
            }
            plan.steps.push(step.into_iter().collect());
        }
        plan
    }

    /// The keys that are there from the start.
    pub(super) fn first_keys(&self) -> std::ops::RangeInclusive<u64> {
        1..=FIRST_KEYS
    }

    /// The bytes of a version of a key.
    pub(super) fn value(&self, key: u64, version: u64) -> Vec<u8> {
        let sized_by = if self.resizes { version } else { 0 };
        let mut random = Random::new(scatter_all(&[self.seed, 2, key, sized_by]));
        let most = if random.below(4) == 0 {
            MOST_BYTES
        } else {
            USUAL_BYTES
        };
        let len = HEADER + usize::try_from(random.below(most)).unwrap_or(0);
        let mut bytes = Vec::with_capacity(len + 16);
        bytes.extend(format!("{key:016x}{version:016x}").bytes());
        let mut random = Random::new(scatter_all(&[self.seed, 3, key, version]));
        while bytes.len() < len {
            bytes.extend(format!("{:016x}", random.number()).bytes());
        }
        bytes.truncate(len);
        bytes
    }

    /// The version that a value says it is, if it says one.
    pub(super) fn version_of(&self, key: u64, value: &[u8]) -> Option<u64> {
        let (said, version) = value.get(..HEADER)?.split_at(HEADER / 2);
        let number = |digits| u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
        let (said, version) = (number(said)?, number(version)?);
        let history = self.histories.get(&key)?;
        let known = history.iter().any(|(_, each)| *each == Some(version));
        (said == key && known).then_some(version)
    }

    /// The version that a key has after so many transactions; nothing if it is not there.
    pub(super) fn after(&self, key: u64, transactions: u64) -> Option<u64> {
        let history = self.histories.get(&key)?;
        let last = history.iter().rev().find(|(from, _)| *from <= transactions);
        last.and_then(|(_, version)| *version)
    }
}
