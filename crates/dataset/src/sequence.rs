//! Operation sequences: which keys a round visits, in which order.
//!
//! A sequence is drawn once per comparison and round, shared by the cells of the round, and
//! mapped by their workers, foreign ones included. Where keys do not repeat and the same ones are
//! there after a block as before it, it names every key of the dataset exactly once; else it is as
//! long as the largest block. A block is a window of it, and indices are cyclic.
//!
//! ```text
//! offset  bytes  content
//!      0      8  "STOWSEQ1"
//!      8      8  number of records n, at least 1
//!     16   16 n  records: key u64, size of its value in bytes u32, what is done u16 (0 read,
//!                 1 overwrite, 2 modify, 3 insert, 4 delete, 5 scan), values to scan u16
//! ```
//!
//! Integers are little-endian. The size stands beside the key so that a worker can check the
//! length of each value in the timed loop without touching another cache line.

mod draw;
mod zipf;

use crate::Dataset;
use crate::DatasetError;
use crate::random::{Random, scatter_all};
use draw::Draw;
pub use draw::{values_deleted, values_needed};
use memmap2::{Mmap, MmapOptions};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::path::Path;
use stowplan_model::{AccessOrder, Action, Workload};

const MAGIC: &[u8; 8] = b"STOWSEQ1";
const HEADER_BYTES: usize = 16;
/// Some steps in their order: one slice of a sequence, and another where it goes over the end.
pub type Window<'a> = [&'a [RawStep]; 2];

/// The steps of a window, one after the other.
#[inline]
pub fn steps<'a>(window: &Window<'a>) -> impl DoubleEndedIterator<Item = Step> + use<'a> {
    let [first, second] = *window;
    first.iter().chain(second).map(Step::decode)
}

/// Number of steps.
#[must_use]
pub fn len(window: &Window<'_>) -> u64 {
    window.iter().map(|part| part.len() as u64).sum()
}

/// Bytes that steps deliver or write, where they say it: scans do not.
#[must_use]
pub fn bytes_of(timed: &[Window<'_>]) -> u64 {
    let bytes = |action, bytes: u32| match action {
        Action::Delete | Action::Scan => 0,
        Action::Modify => 2 * u64::from(bytes),
        Action::Read | Action::Overwrite | Action::Insert => u64::from(bytes),
    };
    let steps = timed.iter().flat_map(steps);
    steps.map(|step| bytes(step.action, step.bytes)).sum()
}

/// Some of the steps of a window.
#[must_use]
pub fn slices<'a>(window: &Window<'a>, range: &Range<usize>) -> Window<'a> {
    let [first, second] = *window;
    let cut = first.len();
    [
        &first[range.start.min(cut)..range.end.min(cut)],
        &second[range.start.saturating_sub(cut)..range.end.saturating_sub(cut)],
    ]
}

/// Steps as the file of a sequence of their own.
#[must_use]
pub fn file_of(windows: &[Window<'_>]) -> Vec<u8> {
    let count: u64 = windows.iter().map(len).sum();
    let mut bytes = [&MAGIC[..], &count.to_le_bytes()].concat();
    for raw in windows.iter().flatten().copied().flatten() {
        bytes.extend(raw);
    }
    bytes
}

/// Bytes of a step on disk.
pub const RECORD_BYTES: usize = 16;
/// Keys shuffled at a time: 16 MiB of them, whatever the dataset.
const BUCKET_KEYS: u64 = 2 << 20;

/// One step of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Key to visit.
    pub key: u64,
    /// Size of its value, in bytes.
    pub bytes: u32,
    /// What is done.
    pub action: Action,
    /// Values that a scan visits; 0 for anything else.
    pub rows: u16,
}

/// One step as it lies in the file.
pub type RawStep = [u8; RECORD_BYTES];

impl Step {
    /// Reads it from the file's bytes.
    #[must_use]
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "takes its parts")]
    pub fn decode(raw: &RawStep) -> Self {
        let raw = u128::from_le_bytes(*raw);
        let action = Action::ALL.get((raw >> 96) as usize & 0xff).copied();
        Self {
            key: raw as u64,
            bytes: (raw >> 64) as u32,
            action: action.unwrap_or_default(),
            rows: (raw >> 112) as u16,
        }
    }

    /// One that reads a value.
    #[must_use]
    pub fn reading(key: u64, bytes: u32) -> Self {
        Self {
            key,
            bytes,
            action: Action::Read,
            rows: 0,
        }
    }

    /// As it stands on disk.
    #[must_use]
    pub fn encode(self) -> RawStep {
        let (low, bytes) = (u128::from(self.key), u128::from(self.bytes));
        let (action, rows) = (self.action as u128, u128::from(self.rows));
        (low | bytes << 64 | action << 96 | rows << 112).to_le_bytes()
    }
}

/// The seed of one round's sequence.
#[must_use]
pub fn seed(run_seed: u64, comparison: &str, round: u32) -> u64 {
    let name: Vec<u64> = comparison.bytes().map(u64::from).collect();
    scatter_all(&[run_seed, u64::from(round), scatter_all(&name)])
}

/// Which keys of a dataset belong to one of several cells that write to one store: a value is only ever
/// written by one of them. The same keys in every round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Part {
    /// Which part, from 0.
    pub number: u64,
    /// How many parts there are, at least 1.
    pub of: u64,
}

impl Part {
    /// The one part that has all keys.
    pub const ALL: Self = Self { number: 0, of: 1 };

    /// Whether a key belongs to it: each to exactly one part. In a random order they are drawn, so that those of a
    /// part lie all over the store; in an ordered one neighbours stay together.
    fn has(self, key: u64, count: u64, order: AccessOrder) -> bool {
        let place = match order {
            AccessOrder::Ascending | AccessOrder::Descending => {
                (u128::from(key) - 1) * u128::from(self.of) / u128::from(count.max(1))
            }
            _ => u128::from(scatter_all(&[PARTS, key]) % self.of.max(1)),
        };
        place == u128::from(self.number)
    }

    /// How many of `count` keys belong to it.
    #[must_use]
    pub fn count(self, count: u64, order: AccessOrder) -> u64 {
        match self {
            Self::ALL => count,
            part => (1..=count)
                .filter(|key| part.has(*key, count, order))
                .count() as u64,
        }
    }
}

/// Separates the draw of parts from others.
const PARTS: u64 = 0x7061_7274;

/// Writes a sequence of `steps` steps over the keys of `dataset` that belong to `part` to `path`, for a workload:
/// complete under its name, or not at all. `seed` decides what is random: the order of keys, and how many values
/// scans visit.
///
/// # Errors
/// A value of 4 GiB or more, fewer values than the steps need, or the file system refuses.
pub fn write(
    path: &Path,
    dataset: &Dataset,
    workload: &Workload,
    steps: u64,
    seed: u64,
    part: Part,
) -> Result<(), DatasetError> {
    let count = dataset.count();
    let size = |key| match key <= count {
        true => dataset.size(key),
        false => dataset.generator().size(key),
    };
    write_part(path, count, workload, steps, seed, part, &size)
}

/// Writes the steps on values of the given sizes, whether there is a dataset or not.
///
/// # Errors
/// As [`write()`].
pub fn write_steps(
    path: &Path,
    count: u64,
    workload: &Workload,
    steps: u64,
    seed: u64,
    size: impl Fn(u64) -> usize,
) -> Result<(), DatasetError> {
    write_part(path, count, workload, steps, seed, Part::ALL, &size)
}

fn write_part(
    path: &Path,
    count: u64,
    workload: &Workload,
    steps: u64,
    seed: u64,
    part: Part,
    size: &dyn Fn(u64) -> usize,
) -> Result<(), DatasetError> {
    let draw = Draw {
        count,
        part,
        workload,
        steps,
        seed,
        size,
    };
    write_visits(path, steps, |put| draw.all(put))
}

/// The size of a value as a step holds it.
///
/// # Errors
/// It has 4 GiB or more.
pub fn step_bytes<E: From<DatasetError>>(key: u64, bytes: u64) -> Result<u32, E> {
    u32::try_from(bytes).map_err(|_| {
        E::from(DatasetError::invalid(format!(
            "value {key} has {bytes} bytes; the largest that can be measured has 4294967295"
        )))
    })
}

/// Writes the `count` steps that `visits` puts to `path`: complete under its name, or not at all.
///
/// # Errors
/// Those of `visits`, or the file system refuses.
pub fn write_visits<E: From<DatasetError>>(
    path: &Path,
    count: u64,
    visits: impl FnOnce(&mut dyn FnMut(Step) -> Result<(), E>) -> Result<(), E>,
) -> Result<(), E> {
    let directory = path.parent().unwrap_or(Path::new("."));
    let partial = tempfile::Builder::new()
        .prefix(".sequence-")
        .tempfile_in(directory)
        .map_err(DatasetError::io("create a file in", directory))?;
    let mut out = BufWriter::with_capacity(1 << 18, partial);
    let write_error = || DatasetError::io("write", path);
    out.write_all(MAGIC).map_err(write_error())?;
    out.write_all(&count.to_le_bytes()).map_err(write_error())?;
    visits(&mut |step| {
        let written = out.write_all(&step.encode());
        Ok(written.map_err(write_error())?)
    })?;
    let partial = out
        .into_inner()
        .map_err(|e| write_error()(e.into_error()))?;
    partial
        .persist(path)
        .map_err(|e| DatasetError::io("rename to", path)(e.error))?;
    Ok(())
}

/// Calls `visit` with each number from 1 to `count` once, in random order.
///
/// # Errors
/// The first of `visit`.
pub fn visit_permuted<E>(
    count: u64,
    seed: u64,
    mut visit: impl FnMut(u64) -> Result<(), E>,
) -> Result<(), E> {
    visit_shuffled(count, count.div_ceil(BUCKET_KEYS), seed, &mut visit)
}

/// A uniformly random permutation in bounded memory: each key falls into a random bucket, and
/// each bucket is shuffled (Rao 1961, Sandelius 1962). One bucket is Fisher and Yates's method.
fn visit_shuffled<E>(
    count: u64,
    buckets: u64,
    seed: u64,
    visit: &mut impl FnMut(u64) -> Result<(), E>,
) -> Result<(), E> {
    let mut random = Random::new(seed);
    let bucket_seed = random.number();
    let mut keys = Vec::new();
    for bucket in 0..buckets {
        keys.clear();
        keys.extend((1..=count).filter(|key| {
            buckets == 1 || Random::new(bucket_seed ^ scatter_all(&[*key])).below(buckets) == bucket
        }));
        shuffle(&mut keys, &mut random);
        keys.iter().try_for_each(|key| visit(*key))?;
    }
    Ok(())
}

/// Fisher–Yates.
pub fn shuffle<T>(items: &mut [T], random: &mut Random) {
    for last in (1..items.len()).rev() {
        #[expect(clippy::cast_possible_truncation, reason = "at most `last`")]
        let other = random.below(last as u64 + 1) as usize;
        items.swap(last, other);
    }
}

/// A sequence, mapped from its file.
#[derive(Debug)]
pub struct Sequence {
    map: Mmap,
    count: u64,
}

impl Sequence {
    /// Maps a sequence.
    ///
    /// # Errors
    /// The file cannot be read, or is no complete sequence.
    pub fn open(path: &Path) -> Result<Self, DatasetError> {
        let file = File::open(path).map_err(DatasetError::io("open", path))?;
        #[expect(unsafe_code, reason = "mapping a file is unsafe by nature")]
        // SAFETY: the file lies in the work directory of this run, is complete once it has this
        // name, and is never changed or shortened afterwards.
        let map = unsafe { MmapOptions::new().populate().map(&file) }
            .map_err(DatasetError::io("map", path))?;
        let damaged = |detail: String| DatasetError::damaged(path, detail);
        let (header, records) = map
            .split_at_checked(HEADER_BYTES)
            .ok_or_else(|| damaged("it is shorter than its header".to_owned()))?;
        let (magic, count) = header.split_at(MAGIC.len());
        if magic != MAGIC {
            return Err(damaged("it does not begin with STOWSEQ1".to_owned()));
        }
        let count = u64::from_le_bytes(count.try_into().unwrap_or_default());
        let (steps, rest) = records.as_chunks::<RECORD_BYTES>();
        if count == 0 || steps.len() as u64 != count || !rest.is_empty() {
            return Err(damaged(format!(
                "it announces {count} records and holds {} bytes of them",
                records.len()
            )));
        }
        Ok(Self { map, count })
    }

    /// Number of steps.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The step at a cyclic index.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "below the length of a slice"
    )]
    pub fn get(&self, index: u64) -> Step {
        Step::decode(&self.steps()[(index % self.count) as usize])
    }

    /// `length` steps from the cyclic index `first`, as one slice and, where they go over the
    /// end, another.
    ///
    /// # Errors
    /// `length` is larger than the sequence: steps would repeat within a block.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "below the length of a slice"
    )]
    pub fn window(&self, first: u64, length: u64) -> Result<Window<'_>, DatasetError> {
        if length > self.count {
            return Err(DatasetError::invalid(format!(
                "a block of {length} operations does not fit a sequence of {}",
                self.count
            )));
        }
        let (before, from) = self.steps().split_at((first % self.count) as usize);
        let straight = from.len().min(length as usize);
        Ok([&from[..straight], &before[..length as usize - straight]])
    }

    fn steps(&self) -> &[RawStep] {
        self.map[HEADER_BYTES..].as_chunks().0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use stowplan_model::AccessOrder;

    fn ordered(order: AccessOrder) -> Workload {
        Workload {
            order,
            ..Workload::default()
        }
    }

    #[test]
    fn each_key_belongs_to_one_part_whatever_the_order_and_no_part_is_much_larger_than_others() {
        for order in [
            AccessOrder::Random,
            AccessOrder::Ascending,
            AccessOrder::Descending,
        ] {
            for of in [1, 2, 5, 9] {
                let parts = (0..of).map(|number| Part { number, of });
                for key in 1..=10_000 {
                    let having = parts.clone().filter(|part| part.has(key, 10_000, order));
                    assert_eq!(having.count(), 1, "key {key}, {of} parts, {order}");
                }
                for part in parts {
                    let keys = part.count(10_000, order);
                    let even = 10_000 / of;
                    assert!(keys.abs_diff(even) <= even / 10, "{part:?} has {keys}");
                }
            }
        }
        let neighbours = Part { number: 1, of: 4 };
        let has = |key| neighbours.has(key, 100, AccessOrder::Ascending);
        assert!((26..=50).all(has) && !has(25) && !has(51));
    }

    fn sequence(count: u64, order: AccessOrder, seed: u64) -> Sequence {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("s");
        write_steps(&path, count, &ordered(order), count, seed, |key| {
            key as usize * 3
        })
        .unwrap();
        assert_eq!(
            std::fs::read_dir(&directory).unwrap().count(),
            1,
            "no temporary file stays behind"
        );
        Sequence::open(&path).unwrap()
    }

    fn keys(sequence: &Sequence) -> Vec<u64> {
        (0..sequence.count()).map(|i| sequence.get(i).key).collect()
    }

    #[test]
    fn ordered_sequences_go_from_one_end_to_the_other() {
        assert_eq!(keys(&sequence(4, AccessOrder::Ascending, 9)), [1, 2, 3, 4]);
        assert_eq!(keys(&sequence(4, AccessOrder::Descending, 9)), [4, 3, 2, 1]);
    }

    #[test]
    fn the_size_of_the_value_stands_beside_its_key() {
        let sequence = sequence(100, AccessOrder::Random, 9);
        for index in 0..100 {
            let step = sequence.get(index);
            assert_eq!(u64::from(step.bytes), step.key * 3);
        }
    }

    #[test]
    fn every_order_of_three_keys_is_equally_likely() {
        let mut seen = std::collections::BTreeMap::new();
        for seed in 0..12_000 {
            let mut order = Vec::new();
            let mut push = |key| {
                order.push(key);
                Ok::<_, DatasetError>(())
            };
            visit_shuffled(3, 1 + seed % 2, seed, &mut push).unwrap();
            *seen.entry(order).or_insert(0u32) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(
            seen.values().all(|n| (1_850..2_150).contains(n)),
            "{seen:?}"
        );
    }

    #[test]
    fn seeds_differ_by_run_comparison_and_round() {
        let seeds = [
            seed(1, "read", 0),
            seed(2, "read", 0),
            seed(1, "reads", 0),
            seed(1, "read", 1),
        ];
        let distinct: std::collections::BTreeSet<_> = seeds.iter().collect();
        assert_eq!(distinct.len(), seeds.len());
    }

    #[test]
    fn a_window_longer_than_the_sequence_is_refused() {
        assert!(sequence(4, AccessOrder::Ascending, 0).window(0, 5).is_err());
    }

    #[test]
    fn a_cut_sequence_is_reported_with_its_path() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("s");
        write_steps(&path, 4, &ordered(AccessOrder::Ascending), 4, 0, |_| 1).unwrap();
        let whole = std::fs::read(&path).unwrap();
        for length in [0, 7, 15, 16, 33, whole.len() - 1] {
            std::fs::write(&path, &whole[..length]).unwrap();
            let message = Sequence::open(&path).unwrap_err().to_string();
            assert!(message.contains("/s is damaged"), "{length}: {message}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn a_random_order_visits_each_key_exactly_once(
            count in 1u64..400, buckets in 1u64..5, seed: u64
        ) {
            let mut keys = Vec::new();
            let mut push = |key| { keys.push(key); Ok::<_, DatasetError>(()) };
            visit_shuffled(count, buckets, seed, &mut push).unwrap();
            keys.sort_unstable();
            prop_assert_eq!(keys, (1..=count).collect::<Vec<_>>());
        }

        #[test]
        fn a_window_is_what_cyclic_indices_give(
            count in 1u64..50, first: u64, length in 0u64..50
        ) {
            let sequence = sequence(count, AccessOrder::Random, 5);
            let length = length.min(count);
            let window = sequence.window(first, length).unwrap();
            let steps: Vec<_> = window.into_iter().flatten().map(Step::decode).collect();
            // Indices are cyclic in the count, not in 2^64.
            let start = first % count;
            let expected: Vec<_> = (start..start + length).map(|i| sequence.get(i)).collect();
            prop_assert_eq!(steps, expected);
        }
    }
}
