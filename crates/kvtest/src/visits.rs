//! Which keys a run visits, in which order.

use crate::KvtestError;
use crate::inspect::{self, Container};
use std::path::Path;
use stowplan_dataset::sequence::{Sequence, Step, step_bytes, visit_permuted, write_visits};
use stowplan_dataset::{random, room};
use stowplan_harness::interrupt::Interrupt;
use stowplan_model::{AccessOrder, Action, KeySurvey};

/// Draws in a row that may meet no key. kvtest itself would draw for ever where too few of the
/// numbers up to the largest key are keys.
const MOST_MISSES: u32 = 1 << 22;
/// Bytes of a visit in the list of them, and of what stands before it.
const VISIT_BYTES: u64 = 16;

/// What there is to visit, mapped from a file: its memory does not grow with the data.
#[derive(Debug)]
pub struct Keys {
    /// Keys from 1 to the largest one that is visited, with sizes; no empty values.
    sequence: Sequence,
    /// What was found.
    pub survey: KeySurvey,
}

impl Keys {
    /// Surveys a place without reading its values; `file` gets the list of keys.
    ///
    /// # Errors
    /// The place cannot be read, `max_id` lies beyond the data, or there is nothing to visit.
    pub fn survey(
        place: &Path,
        container: Container,
        max_id: Option<u64>,
        file: &Path,
    ) -> Result<Self, KvtestError> {
        let most = max_id.unwrap_or(u64::MAX);
        let (mut survey, mut smallest) = (KeySurvey::default(), None);
        inspect::values(place, container, &mut |key, bytes| {
            smallest.get_or_insert(key);
            note(&mut survey, key, bytes, most);
            Ok(())
        })?;
        if let Some(max_id) = max_id.filter(|max_id| *max_id > survey.largest_key) {
            return Err(KvtestError::invalid(format!(
                "--max-id {max_id} lies beyond the data of {}: its largest key is {}",
                place.display(),
                survey.largest_key
            )));
        }
        if survey.visited == 0 {
            let bound =
                max_id.map_or_else(String::new, |max_id| format!(" up to --max-id {max_id}"));
            let why = match smallest {
                None => String::new(),
                Some(_) if survey.empty > 0 => format!("{bound}: all are empty"),
                Some(smallest) => format!("{bound}: its smallest key is {smallest}"),
            };
            return Err(KvtestError::invalid(format!(
                "{} has no value to visit{why}",
                place.display()
            )));
        }
        let mut failed = Ok::<_, KvtestError>(());
        write_visits(file, survey.visited, |put| {
            inspect::values(place, container, &mut |key, bytes| {
                if failed.is_ok() && bytes > 0 && key <= most {
                    failed =
                        step_bytes(key, bytes).and_then(|bytes| put(Step::reading(key, bytes)));
                }
                Ok(())
            })?;
            std::mem::replace(&mut failed, Ok(()))
        })?;
        Ok(Self::of(Sequence::open(file)?, survey, max_id))
    }

    fn of(sequence: Sequence, mut survey: KeySurvey, max_id: Option<u64>) -> Self {
        survey.max_id = max_id.unwrap_or(survey.largest_key);
        survey.missing = survey.max_id - survey.visited - survey.empty;
        // Behind the last value there may be some, too.
        let behind = survey.visited + survey.empty + 1;
        survey.first_missing = survey
            .first_missing
            .or((survey.missing > 0).then_some(behind));
        Self { sequence, survey }
    }

    /// Number of values that are visited.
    pub fn visited(&self) -> u64 {
        self.sequence.count()
    }

    /// The smallest key that is visited.
    pub fn smallest_key(&self) -> u64 {
        self.sequence.get(0).key
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

    /// Where a key stands, if it does.
    fn find(&self, key: u64) -> Option<u64> {
        let index = self.below(key);
        (index < self.visited() && self.sequence.get(index).key == key).then_some(index)
    }
}

/// Counts one more value; keys rise, and those above `most` are not visited.
fn note(survey: &mut KeySurvey, key: u64, bytes: u64, most: u64) {
    survey.values += 1;
    survey.bytes = survey.bytes.saturating_add(bytes);
    survey.largest_key = key;
    if key > most {
        return;
    }
    let expected = survey.visited + survey.empty + 1;
    if key > expected {
        survey.first_missing.get_or_insert(expected);
    }
    if bytes > 0 {
        survey.visited += 1;
    } else {
        survey.empty += 1;
        survey.first_empty.get_or_insert(key);
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

/// Which blocks there were: what comes next goes on behind them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Cursor {
    /// Visits of the passes over all keys that were begun.
    position: u64,
    /// Passes that are complete.
    pass: u64,
}

impl Cursor {
    /// Behind a block of `operations` of `n` keys.
    fn behind(self, operations: u64, n: u64) -> Self {
        // At most 2^64: the position is below n, which is a number of records in a file.
        let position = u128::from(self.position) + u128::from(operations);
        let n = u128::from(n);
        Self {
            position: (position % n) as u64,
            pass: self.pass.wrapping_add((position / n) as u64),
        }
    }
}

/// What a block's visits are written with.
pub(super) struct VisitWriter<'a> {
    pub(super) path: &'a Path,
    pub(super) keys: &'a Keys,
    /// What is done at each.
    pub(super) action: Action,
    pub(super) interrupt: &'a Interrupt,
}

impl Visits {
    /// Refuses what the list of visits has no room for below `work`.
    pub(super) fn require_room(&self, work: &Path, lead_in: u64) -> Result<(), KvtestError> {
        let visits = self.count.saturating_add(lead_in).saturating_add(1);
        let bytes = visits.saturating_mul(VISIT_BYTES);
        room::require_free(work, bytes).map_err(|error| {
            KvtestError::invalid(format!(
                "--count {} is too large: the list of the visits in {error}",
                self.count
            ))
        })
    }

    /// Writes the visits of a block: `lead_in` and then `operations` of them. What is timed goes
    /// on behind what was timed in the block before, until each key was visited; the lead-in
    /// comes from before it. Returns where the next block goes on.
    pub(super) fn write(
        &self,
        to: &VisitWriter<'_>,
        cursor: Cursor,
        lead_in: u64,
        operations: u64,
    ) -> Result<Cursor, KvtestError> {
        let total = lead_in.checked_add(operations).ok_or_else(|| {
            KvtestError::invalid(format!("{operations} visits are too many for a block"))
        })?;
        let n = to.keys.visited();
        let cursor = if self.as_kvtest {
            Cursor::default()
        } else {
            cursor
        };
        let (start, back) = (to.keys.below(self.start) % n, lead_in % n);
        write_visits(to.path, total, |put| {
            let put = &mut |index: u64| {
                to.check_interrupt()?;
                put(Step {
                    action: to.action,
                    ..to.keys.sequence.get(index % n)
                })
            };
            match self.order {
                AccessOrder::Ascending => {
                    let first = (start + cursor.position) % n + n - back;
                    (0..total).try_for_each(|i| put(first % n + i % n))
                }
                AccessOrder::Descending => {
                    let first = start + n - cursor.position + back;
                    (0..total).try_for_each(|i| put(first % n + n - i % n))
                }
                AccessOrder::Random if self.as_kvtest => self.like_kvtest(to, total, put),
                AccessOrder::Random => {
                    let before = (cursor.position + n - back) % n;
                    self.shuffled(to, cursor.pass, (before, lead_in), put)?;
                    self.shuffled(to, cursor.pass, (cursor.position, operations), put)
                }
                order => Err(KvtestError::invalid(format!(
                    "blobs are not visited in the order '{order}' here; random, ascending and descending are possible"
                ))),
            }
        })?;
        Ok(cursor.behind(operations, n))
    }

    /// `total` keys in the random order of a pass, from `first` on and round; then all again in the
    /// order of the next, until there are enough.
    fn shuffled(
        &self,
        to: &VisitWriter<'_>,
        mut pass: u64,
        (first, total): (u64, u64),
        put: &mut dyn FnMut(u64) -> Result<(), KvtestError>,
    ) -> Result<(), KvtestError> {
        let n = to.keys.visited();
        let mut done = 0;
        while done < total {
            let seed = random::scatter_all(&[self.seed, pass]);
            let end = first + (total - done).min(n);
            // The order is drawn from its beginning: what lies behind its end comes in another go.
            for (from, to_here) in [(first, end.min(n)), (0, end.saturating_sub(n))] {
                if from == to_here {
                    continue;
                }
                let mut position = 0;
                visit_permuted(n, seed, |number| {
                    to.check_interrupt()?;
                    if (from..to_here).contains(&position) {
                        put(number - 1)?;
                    }
                    position += 1;
                    Ok::<_, KvtestError>(())
                })?;
            }
            done += end - first;
            pass = pass.wrapping_add(1);
        }
        Ok(())
    }

    /// The keys that kvtest draws, with its generator and its seed; those without a value, which
    /// it would count as fast reads, are left out.
    fn like_kvtest(
        &self,
        to: &VisitWriter<'_>,
        total: u64,
        put: &mut dyn FnMut(u64) -> Result<(), KvtestError>,
    ) -> Result<(), KvtestError> {
        let keys = to.keys;
        let (mut x, mut y) = (0x333a_13cd_u32, 0xecb2_adea_u32);
        let mut key = self.start;
        let mut done = 0;
        let mut misses = 0;
        while done < total {
            if let Some(index) = keys.find(key) {
                put(index)?;
                done += 1;
                misses = 0;
            } else {
                to.check_interrupt()?;
                misses += 1;
                if misses == MOST_MISSES {
                    return Err(too_sparse(keys));
                }
            }
            x = (x >> 1) ^ (0_u32.wrapping_sub(x & 1) & 0xd000_0001);
            y = y.wrapping_mul(1_103_515_245).wrapping_add(12_345);
            key = u64::from(x ^ y) % keys.survey.max_id + 1;
        }
        Ok(())
    }
}

impl VisitWriter<'_> {
    /// A list may take minutes to write.
    fn check_interrupt(&self) -> Result<(), KvtestError> {
        if self.interrupt.raised() {
            return Err(KvtestError::INTERRUPTED);
        }
        Ok(())
    }
}

fn too_sparse(keys: &Keys) -> KvtestError {
    KvtestError::invalid(format!(
        "kvtest's random keys met none of the {} values in {MOST_MISSES} draws from 1 to {}, where \
         kvtest would draw for ever; leave --as-kvtest out, which visits only keys that are there, \
         or draw from fewer keys with --max-id",
        keys.visited(),
        keys.survey.max_id
    ))
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
        write_visits::<KvtestError>(&file, keys.len() as u64, |put| {
            keys.iter().try_for_each(|key| {
                let bytes = step_bytes::<KvtestError>(*key, *key * 10)?;
                put(Step::reading(*key, bytes))
            })
        })
        .unwrap();
        let mut survey = KeySurvey::default();
        for key in keys {
            note(&mut survey, *key, *key * 10, u64::MAX);
        }
        Keys::of(Sequence::open(&file).unwrap(), survey, None)
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

    /// The keys of blocks in a row, each with its lead-in, given as (lead-in, operations).
    fn blocks(visits: &Visits, keys: &Keys, blocks: &[(u64, u64)]) -> Vec<Vec<u64>> {
        let work = tempfile::tempdir().unwrap();
        let path = work.path().join("visits");
        let interrupt = Interrupt::never();
        let to = VisitWriter {
            path: &path,
            keys,
            action: Action::Overwrite,
            interrupt: &interrupt,
        };
        let mut cursor = Cursor::default();
        let mut block = |(lead_in, operations): &(u64, u64)| {
            cursor = visits.write(&to, cursor, *lead_in, *operations).unwrap();
            let sequence = Sequence::open(&path).unwrap();
            (0..sequence.count())
                .map(|i| sequence.get(i))
                .inspect(|step| assert_eq!(u64::from(step.bytes), step.key * 10))
                .inspect(|step| assert_eq!(step.action, Action::Overwrite))
                .map(|step| step.key)
                .collect()
        };
        blocks.iter().map(&mut block).collect()
    }

    fn visited(visits: &Visits, keys: &Keys, lead_in: u64, operations: u64) -> Vec<u64> {
        blocks(visits, keys, &[(lead_in, operations)]).remove(0)
    }

    fn refused(visits: &Visits, keys: &Keys, interrupt: &Interrupt, operations: u64) -> String {
        let work = tempfile::tempdir().unwrap();
        let path = work.path().join("visits");
        let to = VisitWriter {
            path: &path,
            keys,
            action: Action::Read,
            interrupt,
        };
        let error = visits.write(&to, Cursor::default(), 1, operations);
        assert!(!path.exists());
        error.unwrap_err().to_string()
    }

    #[test]
    fn rising_and_falling_visits_begin_where_told_and_go_round() {
        let keys = keys(&[1, 2, 3, 5, 8]);
        let rising = visits(AccessOrder::Ascending, 3, false);
        assert_eq!(visited(&rising, &keys, 0, 7), [3, 5, 8, 1, 2, 3, 5]);
        let falling = visits(AccessOrder::Descending, 3, false);
        assert_eq!(visited(&falling, &keys, 0, 7), [3, 2, 1, 8, 5, 3, 2]);
        let gap = visits(AccessOrder::Ascending, 4, false);
        assert_eq!(visited(&gap, &keys, 0, 2), [5, 8], "4 has no value");
    }

    #[test]
    fn a_lead_in_comes_from_behind_the_first_key() {
        let keys = keys(&[1, 2, 3, 4, 5, 6]);
        let rising = visits(AccessOrder::Ascending, 3, false);
        assert_eq!(visited(&rising, &keys, 2, 3), [1, 2, 3, 4, 5]);
        let falling = visits(AccessOrder::Descending, 3, false);
        assert_eq!(visited(&falling, &keys, 2, 3), [5, 4, 3, 2, 1]);
    }

    #[test]
    fn each_block_goes_on_behind_the_one_before_unless_kvtest_is_followed() {
        let keys = keys(&[1, 2, 3, 4, 5, 6, 7]);
        let three = [(0, 3), (2, 3)];
        let rising = visits(AccessOrder::Ascending, 1, false);
        let expected = [vec![1, 2, 3], vec![2, 3, 4, 5, 6]];
        assert_eq!(blocks(&rising, &keys, &three), expected);
        let falling = visits(AccessOrder::Descending, 7, false);
        let expected = [vec![7, 6, 5], vec![6, 5, 4, 3, 2]];
        assert_eq!(blocks(&falling, &keys, &three), expected);
        let theirs = visits(AccessOrder::Ascending, 1, true);
        let three = [(0, 3), (0, 3)];
        assert_eq!(blocks(&theirs, &keys, &three), [[1, 2, 3], [1, 2, 3]]);
    }

    #[test]
    fn kvtests_random_keys_are_those_of_its_own_generator() {
        let all: Vec<u64> = (1..=100).collect();
        let keys = keys(&all);
        let random = visits(AccessOrder::Random, 1, true);
        // Printed by kvtest's randInt() itself.
        let expected = [1, 93, 47, 45, 72, 65, 35, 31, 65, 27, 42, 67];
        assert_eq!(visited(&random, &keys, 0, 12), expected);
    }

    #[test]
    fn keys_without_a_value_are_left_out_of_kvtests_random_ones() {
        let keys = keys(&[1, 50, 100]);
        let random = visits(AccessOrder::Random, 2, true);
        let visited = visited(&random, &keys, 0, 20);
        assert_eq!(visited.len(), 20);
        assert!(visited.iter().all(|key| [1, 50, 100].contains(key)));
    }

    #[test]
    fn kvtests_random_keys_end_with_the_reason_where_they_meet_too_few_values() {
        let keys = keys(&[1, 400_000_000]);
        let random = visits(AccessOrder::Random, 400_000_000, true);
        let message = refused(&random, &keys, &Interrupt::never(), 1_000);
        assert!(message.contains("none of the 2 values"), "{message}");
        assert!(message.contains("--max-id"), "{message}");
    }

    #[test]
    fn writing_visits_ends_with_ctrl_c_whatever_the_order() {
        let keys = keys(&[1, 400_000_000]);
        let interrupt = Interrupt::never();
        interrupt.raise();
        let orders = [
            AccessOrder::Ascending,
            AccessOrder::Descending,
            AccessOrder::Random,
        ];
        for (order, as_kvtest) in orders.into_iter().flat_map(|o| [(o, false), (o, true)]) {
            let message = refused(&visits(order, 1, as_kvtest), &keys, &interrupt, 1 << 40);
            assert!(message.contains("interrupted"), "{order:?}: {message}");
        }
    }

    #[test]
    fn more_visits_than_have_room_are_refused_and_never_wrapped() {
        let work = tempfile::tempdir().unwrap();
        let refused = |count, lead_in| {
            let visits = Visits {
                count,
                ..visits(AccessOrder::Ascending, 1, false)
            };
            visits.require_room(work.path(), lead_in)
        };
        refused(1_000, 500).unwrap();
        for (count, lead_in) in [(u64::MAX, 1_250), (u64::MAX, 0), (1 << 60, 0), (1 << 50, 9)] {
            let error = refused(count, lead_in).unwrap_err().to_string();
            let named = format!("--count {count} is too large");
            assert!(error.contains(&named), "{error}");
        }
        let message = super::tests::refused(
            &visits(AccessOrder::Ascending, 1, false),
            &keys(&[1]),
            &Interrupt::never(),
            u64::MAX,
        );
        assert!(message.contains("too many"), "{message}");
    }

    #[test]
    fn the_first_missing_key_is_told() {
        let first = |all: &[u64]| keys(all).survey.first_missing;
        assert_eq!(first(&[1, 2, 3]), None);
        assert_eq!(first(&[2, 3]), Some(1));
        assert_eq!(first(&[1, 2, 4]), Some(3));
        let mut survey = KeySurvey::default();
        for (key, bytes) in [(1, 0), (2, 0), (3, 9), (9, 9)] {
            note(&mut survey, key, bytes, 5);
        }
        let sequence = keys(&[3]).sequence;
        let survey = Keys::of(sequence, survey, Some(5)).survey;
        assert_eq!((survey.missing, survey.first_missing), (2, Some(4)));
        assert_eq!((survey.empty, survey.first_empty), (2, Some(1)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_random_order_visits_each_key_once_before_any_again(
            set in prop::collection::btree_set(1u64..5_000, 1..60), passes in 1u64..4,
            before in 1u64..200,
        ) {
            let all: Vec<u64> = set.iter().copied().collect();
            let keys = keys(&all);
            let n = all.len() as u64;
            let random = visits(AccessOrder::Random, 1, false);
            let visited = blocks(&random, &keys, &[(0, before), (0, n * passes)]).remove(1);
            for pass in visited.chunks(all.len()) {
                prop_assert_eq!(&pass.iter().copied().collect::<BTreeSet<_>>(), &set);
            }
        }

        #[test]
        fn successive_blocks_visit_fresh_keys_until_all_were_visited(
            set in prop::collection::btree_set(1u64..500, 1..60), start in 1u64..600,
            sizes in prop::collection::vec((0u64..70, 1u64..70), 1..40),
            order in prop::sample::select(vec![
                AccessOrder::Ascending, AccessOrder::Descending, AccessOrder::Random,
            ]),
        ) {
            let all: Vec<u64> = set.iter().copied().collect();
            let blocks = blocks(&visits(order, start, false), &keys(&all), &sizes);
            let timed: Vec<u64> = blocks
                .iter()
                .zip(&sizes)
                .flat_map(|(block, (lead_in, _))| block.iter().skip(*lead_in as usize))
                .copied()
                .take(all.len())
                .collect();
            let distinct: BTreeSet<u64> = timed.iter().copied().collect();
            prop_assert_eq!(distinct.len(), timed.len());
        }

        #[test]
        fn a_round_that_divides_the_keys_does_not_return_to_its_own(count in 1u64..20, parts in 2u64..9) {
            let all: Vec<u64> = (1..=count * parts).collect();
            let rounds = vec![(0, count); parts as usize];
            for order in [AccessOrder::Ascending, AccessOrder::Descending] {
                let blocks = blocks(&visits(order, 1, false), &keys(&all), &rounds);
                let visited: BTreeSet<u64> = blocks.concat().into_iter().collect();
                prop_assert_eq!(visited.len() as u64, count * parts);
            }
        }

        #[test]
        fn every_order_from_any_start_visits_only_keys_that_are_there(
            set in prop::collection::btree_set(1u64..500, 1..40),
            start in 1u64..600, lead_in in 0u64..50, operations in 1u64..90,
            order in prop::sample::select(vec![
                AccessOrder::Ascending, AccessOrder::Descending, AccessOrder::Random,
            ]),
        ) {
            let all: Vec<u64> = set.iter().copied().collect();
            let visited = visited(&visits(order, start, false), &keys(&all), lead_in, operations);
            prop_assert_eq!(visited.len() as u64, lead_in + operations);
            prop_assert!(visited.iter().all(|key| set.contains(key)));
        }
    }
}
