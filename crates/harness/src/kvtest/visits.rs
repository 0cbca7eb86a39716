//! Which keys a run visits, in which order.

use crate::sequence::{Sequence, Step, step_bytes, visit_permuted, write_visits};
use crate::{HarnessError, random};
use std::path::Path;
use stowplan_model::AccessOrder;
use stowplan_stores::inspect::{self, Held};

/// What there is to visit, mapped from a file: its memory does not grow with the data.
#[derive(Debug)]
pub struct Keys {
    /// Keys from 1 to the largest one that is visited, with sizes; no empty values.
    sequence: Sequence,
    /// Values there are.
    pub values: u64,
    /// Bytes of all of them.
    pub bytes: u64,
    /// The largest key there is.
    pub largest_key: u64,
    /// The largest key that is visited.
    pub max_id: u64,
    /// Keys from 1 to `max_id` that have no value.
    pub missing: u64,
    /// Values up to `max_id` without a byte, which are not visited, and the first of them.
    pub empty: u64,
    /// The first empty value's key.
    pub first_empty: Option<u64>,
}

impl Keys {
    /// Surveys a place without reading its values; `file` gets the list of keys.
    ///
    /// # Errors
    /// The place cannot be read, `max_id` lies beyond the data, or there is nothing to visit.
    pub fn survey(
        place: &Path,
        held: Held,
        max_id: Option<u64>,
        file: &Path,
    ) -> Result<Self, HarnessError> {
        let mut survey = Survey::default();
        inspect::values(place, held, &mut |key, bytes| {
            survey.note(key, bytes, max_id);
            Ok(())
        })?;
        if let Some(max_id) = max_id.filter(|max_id| *max_id > survey.largest_key) {
            return Err(HarnessError::invalid(format!(
                "--max-id {max_id} lies beyond the data of {}: its largest key is {}",
                place.display(),
                survey.largest_key
            )));
        }
        if survey.visited == 0 {
            return Err(HarnessError::invalid(format!(
                "{} has no value to visit{}",
                place.display(),
                if survey.empty > 0 {
                    ": all are empty"
                } else {
                    ""
                }
            )));
        }
        let mut failed = Ok(());
        write_visits(file, survey.visited, |put| {
            inspect::values(place, held, &mut |key, bytes| {
                if failed.is_ok() && bytes > 0 && max_id.is_none_or(|max_id| key <= max_id) {
                    failed = step_bytes(key, bytes).and_then(|bytes| {
                        put(Step {
                            key,
                            bytes,
                            write: false,
                        })
                    });
                }
                Ok(())
            })?;
            std::mem::replace(&mut failed, Ok(()))
        })?;
        let max_id = max_id.unwrap_or(survey.largest_key);
        Ok(Self {
            sequence: Sequence::open(file)?,
            values: survey.values,
            bytes: survey.bytes,
            largest_key: survey.largest_key,
            max_id,
            missing: max_id - survey.visited - survey.empty,
            empty: survey.empty,
            first_empty: survey.first_empty,
        })
    }

    /// Number of values that are visited.
    #[must_use]
    pub fn visited(&self) -> u64 {
        self.sequence.count()
    }

    /// The first key that is missing, if one is.
    #[must_use]
    pub fn first_missing(&self) -> Option<u64> {
        if self.missing == 0 {
            return None;
        }
        let mut expected = 1;
        for index in 0..self.visited() {
            let key = self.sequence.get(index).key;
            if key != expected && Some(expected) != self.first_empty {
                break;
            }
            expected = key + 1;
        }
        Some(expected)
    }

    /// How many keys lie below this one.
    fn below(&self, key: u64) -> u64 {
        let (mut low, mut high) = (0, self.visited());
        while low < high {
            let middle = low.midpoint(high);
            if self.sequence.get(middle).key < key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The step of a key, if there is one.
    fn find(&self, key: u64) -> Option<Step> {
        let index = self.below(key);
        (index < self.visited())
            .then(|| self.sequence.get(index))
            .filter(|step| step.key == key)
    }
}

#[derive(Debug, Default)]
struct Survey {
    values: u64,
    bytes: u64,
    largest_key: u64,
    visited: u64,
    empty: u64,
    first_empty: Option<u64>,
}

impl Survey {
    fn note(&mut self, key: u64, bytes: u64, max_id: Option<u64>) {
        self.values += 1;
        self.bytes += bytes;
        self.largest_key = key;
        if max_id.is_some_and(|max_id| key > max_id) {
            return;
        }
        if bytes > 0 {
            self.visited += 1;
        } else {
            self.empty += 1;
            self.first_empty.get_or_insert(key);
        }
    }
}

/// Which keys are visited, and in which order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visits {
    /// Number of visits.
    pub count: u64,
    /// The first key; where it has no value, the next one that has.
    pub start: u64,
    /// In which order.
    pub order: AccessOrder,
    /// Seed of a random order.
    pub seed: u64,
    /// Whether each block visits the same keys, and a random order is kvtest's own, which visits
    /// some keys several times and others never.
    pub as_kvtest: bool,
}

impl Visits {
    /// Writes the visits of a block to `path`: `lead_in` and then `operations` of them. Each
    /// `turn` goes on where others would not be.
    pub(super) fn write(
        &self,
        path: &Path,
        keys: &Keys,
        turn: u64,
        lead_in: u64,
        operations: u64,
    ) -> Result<(), HarnessError> {
        let total = lead_in + operations;
        let n = keys.visited();
        let turn = if self.as_kvtest { 0 } else { turn };
        // Wrapping: a far turn is only another place.
        let begin = (keys.below(self.start) % n).wrapping_add(turn.wrapping_mul(total)) % n;
        let back = lead_in % n;
        write_visits(path, total, |put| match self.order {
            AccessOrder::Ascending => {
                (0..total).try_for_each(|i| put(keys.sequence.get((begin + n - back + i) % n)))
            }
            AccessOrder::Descending => (0..total)
                .try_for_each(|i| put(keys.sequence.get((begin + back + (n - i % n)) % n))),
            AccessOrder::Random if self.as_kvtest => self.like_kvtest(keys, total, put),
            AccessOrder::Random => self.shuffled(keys, turn, total, put),
        })
    }

    /// Each key once, in random order; then each once more in another, until there are enough.
    fn shuffled(
        &self,
        keys: &Keys,
        turn: u64,
        total: u64,
        put: &mut dyn FnMut(Step) -> Result<(), HarnessError>,
    ) -> Result<(), HarnessError> {
        let mut done = 0;
        let mut pass = 0;
        while done < total {
            let seed = random::scatter_all(&[self.seed, turn, pass]);
            visit_permuted(keys.visited(), seed, |number| {
                if done < total {
                    done += 1;
                    put(keys.sequence.get(number - 1))?;
                }
                Ok(())
            })?;
            pass += 1;
        }
        Ok(())
    }

    /// The keys that kvtest draws, with its generator and its seed; those without a value, which
    /// it would count as fast reads, are left out.
    fn like_kvtest(
        &self,
        keys: &Keys,
        total: u64,
        put: &mut dyn FnMut(Step) -> Result<(), HarnessError>,
    ) -> Result<(), HarnessError> {
        let (mut x, mut y) = (0x333a_13cd_u32, 0xecb2_adea_u32);
        let mut key = self.start;
        let mut done = 0;
        while done < total {
            if let Some(step) = keys.find(key) {
                put(step)?;
                done += 1;
            }
            x = (x >> 1) ^ (0_u32.wrapping_sub(x & 1) & 0xd000_0001);
            y = y.wrapping_mul(1_103_515_245).wrapping_add(12_345);
            key = u64::from(x ^ y) % keys.max_id + 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// A survey of these keys, each with a value of ten times its number of bytes.
    fn keys(keys: &[u64]) -> Keys {
        let work = tempfile::tempdir().unwrap();
        let file = work.path().join("keys");
        write_visits(&file, keys.len() as u64, |put| {
            keys.iter().try_for_each(|key| {
                let bytes = step_bytes(*key, *key * 10)?;
                put(Step {
                    key: *key,
                    bytes,
                    write: false,
                })
            })
        })
        .unwrap();
        let largest_key = *keys.last().unwrap();
        Keys {
            sequence: Sequence::open(&file).unwrap(),
            values: keys.len() as u64,
            bytes: 0,
            largest_key,
            max_id: largest_key,
            missing: largest_key - keys.len() as u64,
            empty: 0,
            first_empty: None,
        }
    }

    fn visits(order: AccessOrder, start: u64, as_kvtest: bool) -> Visits {
        Visits {
            count: 0,
            start,
            order,
            seed: 7,
            as_kvtest,
        }
    }

    fn visited(visits: &Visits, keys: &Keys, turn: u64, lead_in: u64, operations: u64) -> Vec<u64> {
        let work = tempfile::tempdir().unwrap();
        let path = work.path().join("visits");
        visits
            .write(&path, keys, turn, lead_in, operations)
            .unwrap();
        let sequence = Sequence::open(&path).unwrap();
        (0..sequence.count())
            .map(|i| sequence.get(i))
            .inspect(|step| assert_eq!(u64::from(step.bytes), step.key * 10))
            .map(|step| step.key)
            .collect()
    }

    #[test]
    fn rising_and_falling_visits_begin_where_told_and_go_round() {
        let keys = keys(&[1, 2, 3, 5, 8]);
        let rising = visits(AccessOrder::Ascending, 3, false);
        assert_eq!(visited(&rising, &keys, 0, 0, 7), [3, 5, 8, 1, 2, 3, 5]);
        let falling = visits(AccessOrder::Descending, 3, false);
        assert_eq!(visited(&falling, &keys, 0, 0, 7), [3, 2, 1, 8, 5, 3, 2]);
        let gap = visits(AccessOrder::Ascending, 4, false);
        assert_eq!(visited(&gap, &keys, 0, 0, 2), [5, 8], "4 has no value");
    }

    #[test]
    fn a_lead_in_comes_from_behind_the_first_key() {
        let keys = keys(&[1, 2, 3, 4, 5, 6]);
        let rising = visits(AccessOrder::Ascending, 3, false);
        assert_eq!(visited(&rising, &keys, 0, 2, 3), [1, 2, 3, 4, 5]);
        let falling = visits(AccessOrder::Descending, 3, false);
        assert_eq!(visited(&falling, &keys, 0, 2, 3), [5, 4, 3, 2, 1]);
    }

    #[test]
    fn each_block_goes_on_behind_the_one_before_unless_kvtest_is_followed() {
        let keys = keys(&[1, 2, 3, 4, 5, 6, 7]);
        let ours = visits(AccessOrder::Ascending, 1, false);
        assert_eq!(visited(&ours, &keys, 1, 0, 3), [4, 5, 6]);
        let theirs = visits(AccessOrder::Ascending, 1, true);
        assert_eq!(visited(&theirs, &keys, 1, 0, 3), [1, 2, 3]);
    }

    #[test]
    fn kvtests_random_keys_are_those_of_its_own_generator() {
        let all: Vec<u64> = (1..=100).collect();
        let keys = keys(&all);
        let random = visits(AccessOrder::Random, 1, true);
        // Printed by kvtest's randInt() itself.
        let expected = [1, 93, 47, 45, 72, 65, 35, 31, 65, 27, 42, 67];
        assert_eq!(visited(&random, &keys, 5, 0, 12), expected);
    }

    #[test]
    fn keys_without_a_value_are_left_out_of_kvtests_random_ones() {
        let keys = keys(&[1, 50, 100]);
        let random = visits(AccessOrder::Random, 2, true);
        let visited = visited(&random, &keys, 0, 0, 20);
        assert_eq!(visited.len(), 20);
        assert!(visited.iter().all(|key| [1, 50, 100].contains(key)));
    }

    #[test]
    fn the_first_missing_key_is_told() {
        assert_eq!(keys(&[1, 2, 3]).first_missing(), None);
        assert_eq!(keys(&[2, 3]).first_missing(), Some(1));
        assert_eq!(keys(&[1, 2, 4]).first_missing(), Some(3));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_random_order_visits_each_key_once_before_any_again(
            set in prop::collection::btree_set(1u64..5_000, 1..60), turn in 0u64..9, passes in 1u64..4
        ) {
            let all: Vec<u64> = set.iter().copied().collect();
            let keys = keys(&all);
            let n = all.len() as u64;
            let random = visits(AccessOrder::Random, 1, false);
            let visited = visited(&random, &keys, turn, 0, n * passes);
            for pass in visited.chunks(all.len()) {
                prop_assert_eq!(&pass.iter().copied().collect::<BTreeSet<_>>(), &set);
            }
        }

        #[test]
        fn every_order_from_any_start_visits_only_keys_that_are_there(
            set in prop::collection::btree_set(1u64..500, 1..40),
            start in 1u64..600, turn: u64, lead_in in 0u64..50, operations in 1u64..90,
            order in prop::sample::select(vec![
                AccessOrder::Ascending, AccessOrder::Descending, AccessOrder::Random,
            ]),
        ) {
            let all: Vec<u64> = set.iter().copied().collect();
            let visited = visited(&visits(order, start, false), &keys(&all), turn, lead_in, operations);
            prop_assert_eq!(visited.len() as u64, lead_in + operations);
            prop_assert!(visited.iter().all(|key| set.contains(key)));
        }
    }
}
