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
                    failed = step_bytes(key, bytes).and_then(|bytes| put(Step { key, bytes }));
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
