//! Values from (seed, key, version): any value, any version, any part of it, on any thread.

use crate::DatasetError;
use crate::random::{Random, scatter_all};
use stowplan_model::{Content, DatasetSpec, SizeBin, SizeDistribution};

/// Compressible values repeat in pieces of this many bytes, so that stores which compress pages
/// find the same ratio in each. Also the unit in which values are compared.
const PIECE_BYTES: usize = 4096;
/// Each piece begins with at least so many random bytes, or versions of a value would be equal.
const RANDOM_BYTES_MIN: usize = 8;
/// What follows the random part of a piece. Not 0: file systems may store zeros as holes.
const FILLER: u8 = b'.';

/// Separates the seeds of sizes from those of content.
const SIZES: u64 = 1;
const BYTES: u64 = 2;

/// Makes the sizes and bytes of values, in any order, on any thread.
#[derive(Debug, Clone)]
pub struct Generator {
    sizes: SizeDistribution,
    content: Content,
    size_seed: u64,
    byte_seed: u64,
}

impl Generator {
    /// A generator for a dataset.
    ///
    /// # Errors
    /// The numbers of the description contradict each other, or a value could have 4 GiB or
    /// more.
    pub fn new(spec: &DatasetSpec) -> Result<Self, DatasetError> {
        spec.size.check().map_err(DatasetError::invalid)?;
        if let SizeDistribution::AsFound | SizeDistribution::Like { .. } = spec.size {
            return Err(DatasetError::invalid(
                "the place that the sizes come from was not looked at",
            ));
        }
        let largest = spec.size.largest();
        if u32::try_from(largest).is_err() {
            return Err(DatasetError::invalid(format!(
                "values of {largest} bytes cannot be measured; the largest have 4294967295"
            )));
        }
        if let Content::Compressible { ratio } = spec.content
            && !(0.0..=1.0).contains(&ratio)
        {
            return Err(DatasetError::invalid(format!(
                "the compressed share {ratio} must be from 0 to 1"
            )));
        }
        Ok(Self {
            sizes: spec.size.clone(),
            content: spec.content,
            size_seed: scatter_all(&[spec.seed, SIZES]),
            byte_seed: scatter_all(&[spec.seed, BYTES]),
        })
    }

    /// Size of the value of `key`, in bytes; the same for every version.
    #[must_use]
    pub fn size(&self, key: u64) -> usize {
        let mut random = Random::new(scatter_all(&[self.size_seed, key]));
        let size = match self.sizes {
            SizeDistribution::AsFound | SizeDistribution::Like { .. } => 0, // refused by `new`
            SizeDistribution::Histogram { ref bins } => of_histogram(bins, &mut random),
            SizeDistribution::Fixed { bytes } => bytes,
            SizeDistribution::Uniform { min, max } => min + random.below(max - min + 1),
            SizeDistribution::LogNormal { median, sigma, max } => {
                log_normal(median, sigma, max, &mut random)
            }
            SizeDistribution::Kvtest { size, variance } => {
                // The remainder of a signed number is signed, as in SQLite.
                let deviation = random.number().cast_signed() % (variance + 1).cast_signed();
                size.saturating_add_signed(deviation)
            }
        };
        usize::try_from(size).unwrap_or(usize::MAX)
    }

    /// Fills `out`, which has the value's size, with the bytes of this version; version 0 is
    /// the one that the dataset holds. Versions differ with certainty for any purpose if the
    /// value has 8 bytes or more.
    pub fn fill(&self, key: u64, version: u32, out: &mut [u8]) {
        self.fill_part(key, version, out.len(), 0, out);
    }

    /// Whether `value` is this version of the value of `key`, byte for byte. Allocates nothing.
    #[must_use]
    pub fn matches(&self, key: u64, version: u32, value: &[u8]) -> bool {
        value.len() == self.size(key) && self.filled(key, version, value)
    }

    /// Whether [`Self::fill`] gives these bytes, for a value of their length. Allocates nothing.
    #[must_use]
    pub fn filled(&self, key: u64, version: u32, value: &[u8]) -> bool {
        let mut expected = [0; PIECE_BYTES];
        value.chunks(PIECE_BYTES).enumerate().all(|(index, piece)| {
            let expected = &mut expected[..piece.len()];
            self.fill_part(key, version, value.len(), index * PIECE_BYTES, expected);
            piece == expected
        })
    }

    /// The bytes from `from` on of a value of `size` bytes.
    pub(crate) fn fill_part(
        &self,
        key: u64,
        version: u32,
        size: usize,
        from: usize,
        out: &mut [u8],
    ) {
        let stream = scatter_all(&[self.byte_seed, key, u64::from(version)]);
        match self.content {
            Content::Random => fill_random(stream, from, out),
            Content::Compressible { ratio } => fill_compressible(stream, ratio, size, from, out),
            Content::Guid => fill_guids(stream, from, out),
        }
    }
}

/// A row by its number of values, then a size within it.
fn of_histogram(bins: &[SizeBin], random: &mut Random) -> u64 {
    let values = bins.iter().map(|bin| bin.values).sum::<u64>();
    let mut rest = random.below(values.max(1));
    for bin in bins {
        if rest < bin.values {
            return bin.from + random.below(bin.to - bin.from + 1);
        }
        rest -= bin.values;
    }
    0
}

/// By Box and Muller's transform. The last bits of `ln` and `exp` may differ between platforms
/// and with them a size; a dataset on disk carries its sizes, so nothing relies on it.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "sizes are below 2^32 and clamped"
)]
fn log_normal(median: u64, sigma: f64, max: u64, random: &mut Random) -> u64 {
    let radius = (-2.0 * (1.0 - random.unit()).ln()).sqrt();
    let normal = radius * (std::f64::consts::TAU * random.unit()).cos();
    let size = (median as f64 * (sigma * normal).exp()).round();
    (size.min(max as f64) as u64).max(1)
}

/// Random part, filler, random part, filler, …
fn fill_compressible(stream: u64, ratio: f64, size: usize, from: usize, out: &mut [u8]) {
    let mut position = from;
    let mut rest = out;
    while !rest.is_empty() {
        let piece = position - position % PIECE_BYTES;
        let piece_bytes = PIECE_BYTES.min(size - piece);
        let filler = piece + random_bytes(piece_bytes, ratio);
        let end = piece + piece_bytes;
        let next = if position < filler { filler } else { end };
        let (part, behind) = rest.split_at_mut(rest.len().min(next - position));
        if position < filler {
            fill_random(stream, position, part);
        } else {
            part.fill(FILLER);
        }
        position += part.len();
        rest = behind;
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of at most 4096"
)]
fn random_bytes(piece_bytes: usize, ratio: f64) -> usize {
    let share = (piece_bytes as f64 * ratio).round() as usize;
    share.max(RANDOM_BYTES_MIN).min(piece_bytes)
}

/// The bytes from `from` on of a stream. Each word depends on its position only, so that the
/// processor computes several at once.
fn fill_random(stream: u64, from: usize, out: &mut [u8]) {
    let skip = from % 8;
    let mut index = (from / 8) as u64;
    let mut out = out;
    if skip != 0 {
        let head = (8 - skip).min(out.len());
        let (first, rest) = out.split_at_mut(head);
        first.copy_from_slice(&word(stream, index).to_le_bytes()[skip..skip + head]);
        out = rest;
        index += 1;
    }
    let (words, tail) = out.as_chunks_mut::<8>();
    for place in words {
        *place = word(stream, index).to_le_bytes();
        index += 1;
    }
    tail.copy_from_slice(&word(stream, index).to_le_bytes()[..tail.len()]);
}

/// Characters of a GUID.
const GUID_BYTES: usize = 36;

/// GUIDs of version 4 as RFC 9562 writes them, one after the other, from the byte `from` on.
fn fill_guids(stream: u64, from: usize, out: &mut [u8]) {
    let mut position = from;
    let mut rest = out;
    while !rest.is_empty() {
        let (index, skip) = (position / GUID_BYTES, position % GUID_BYTES);
        let (part, behind) = rest.split_at_mut(rest.len().min(GUID_BYTES - skip));
        part.copy_from_slice(&guid(stream, index as u64)[skip..skip + part.len()]);
        position += part.len();
        rest = behind;
    }
}

fn guid(stream: u64, index: u64) -> [u8; GUID_BYTES] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let halves = [word(stream, 2 * index), word(stream, 2 * index + 1)];
    let mut nibbles = halves
        .into_iter()
        .flat_map(|half| (0..16).map(move |n| (half >> (60 - 4 * n) & 15) as usize));
    std::array::from_fn(|place| match place {
        8 | 13 | 18 | 23 => b'-',
        14 => {
            nibbles.next();
            b'4'
        }
        19 => DIGITS[8 | nibbles.next().unwrap_or(0) & 3],
        _ => DIGITS[nibbles.next().unwrap_or(0)],
    })
}

/// One word of a stream: wyrand (Wang Yi, wyhash), with the state computed from the index.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "folds both halves")]
fn word(stream: u64, index: u64) -> u64 {
    let state = stream.wrapping_add((index + 1).wrapping_mul(0xa076_1d64_78bd_642f));
    let product = u128::from(state) * u128::from(state ^ 0xe703_7ed1_a0b4_28db);
    (product >> 64) as u64 ^ product as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::ZlibEncoder};
    use proptest::prelude::*;
    use std::io::Write;

    fn generator(size: SizeDistribution, content: Content) -> Generator {
        let spec = DatasetSpec {
            count: 1,
            size,
            content,
            seed: 7,
            from: None,
        };
        Generator::new(&spec).unwrap()
    }

    fn fixed(bytes: u64, content: Content) -> Generator {
        generator(SizeDistribution::Fixed { bytes }, content)
    }

    fn value(generator: &Generator, key: u64, version: u32) -> Vec<u8> {
        let mut out = vec![0; generator.size(key)];
        generator.fill(key, version, &mut out);
        out
    }

    fn compressed_share(bytes: &[u8]) -> f64 {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap().len() as f64 / bytes.len() as f64
    }

    #[test]
    fn random_content_cannot_be_compressed() {
        let random = fixed(1 << 20, Content::Random);
        assert!(compressed_share(&value(&random, 1, 0)) >= 0.999);
        let small = fixed(100, Content::Random);
        let joined: Vec<u8> = (1..5_000).flat_map(|key| value(&small, key, 0)).collect();
        assert!(compressed_share(&joined) >= 0.999);
    }

    #[test]
    fn every_byte_value_is_about_equally_frequent() {
        let bytes = value(&fixed(1 << 20, Content::Random), 1, 0);
        let mut counts = [0u32; 256];
        for byte in &bytes {
            counts[usize::from(*byte)] += 1;
        }
        // 4096 expected, standard deviation 64.
        assert!(counts.iter().all(|n| (3_700..4_500).contains(n)));
    }

    #[test]
    fn compressible_content_meets_its_ratio() {
        for ratio in [0.1, 0.25, 0.5, 0.8, 1.0] {
            for bytes in [10_000, 1 << 20] {
                let content = fixed(bytes, Content::Compressible { ratio });
                let share = compressed_share(&value(&content, 1, 0));
                assert!((share - ratio).abs() < 0.02, "{bytes} {ratio}: {share}");
            }
        }
    }

    #[test]
    fn versions_of_wholly_compressible_values_still_differ() {
        let content = fixed(4096, Content::Compressible { ratio: 0.0 });
        assert_ne!(value(&content, 1, 0), value(&content, 1, 1));
    }

    #[test]
    fn uniform_sizes_meet_their_ends_and_their_mean() {
        let uniform = generator(
            SizeDistribution::Uniform { min: 10, max: 19 },
            Content::Random,
        );
        let mut counts = [0u32; 10];
        for key in 1..=100_000 {
            counts[uniform.size(key) - 10] += 1;
        }
        assert!(
            counts.iter().all(|n| (9_500..10_500).contains(n)),
            "{counts:?}"
        );
    }

    #[test]
    fn kvtest_sizes_favour_the_middle_twofold() {
        let kvtest = generator(
            SizeDistribution::Kvtest {
                size: 10,
                variance: 4,
            },
            Content::Random,
        );
        let mut counts = [0u32; 9];
        for key in 1..=100_000 {
            counts[kvtest.size(key) - 6] += 1;
        }
        // -4..=4 are remainders of 5: 0 from either sign.
        for (index, n) in counts.iter().enumerate() {
            let expected = if index == 4 { 20_000 } else { 10_000 };
            assert!(n.abs_diff(expected) < 700, "{counts:?}");
        }
    }

    #[test]
    fn log_normal_sizes_have_their_median_spread_and_cut() {
        let sizes = SizeDistribution::LogNormal {
            median: 1_000,
            sigma: 1.0,
            max: 20_000,
        };
        let log_normal = generator(sizes, Content::Random);
        let mut drawn: Vec<usize> = (1..=20_001).map(|key| log_normal.size(key)).collect();
        drawn.sort_unstable();
        assert!((970..1_030).contains(&drawn[10_000]), "{}", drawn[10_000]);
        // One standard deviation below the median: e^-1 of it, at the 15.87% quantile.
        assert!((350..386).contains(&drawn[3_174]), "{}", drawn[3_174]);
        assert_eq!(drawn[20_000], 20_000);
    }

    #[test]
    fn sizes_of_a_histogram_have_its_shares_and_stay_within_its_rows() {
        let bin = |from, to, values| SizeBin { from, to, values };
        let bins = vec![bin(0, 0, 1), bin(10, 19, 2), bin(1_000, 1_000, 1)];
        let histogram = generator(SizeDistribution::Histogram { bins }, Content::Random);
        let mut counts = [0u32; 3];
        for key in 1..=40_000 {
            match histogram.size(key) {
                0 => counts[0] += 1,
                10..20 => counts[1] += 1,
                1_000 => counts[2] += 1,
                other => panic!("{other}"),
            }
        }
        for (count, expected) in counts.into_iter().zip([10_000u32, 20_000, 10_000]) {
            assert!(count.abs_diff(expected) < 500, "{counts:?}");
        }
    }

    #[test]
    fn sizes_that_nobody_looked_at_and_contradictory_numbers_are_refused() {
        let bin = |from, to, values| SizeBin { from, to, values };
        let sizes = [
            SizeDistribution::AsFound,
            SizeDistribution::Like { like: "d".into() },
            SizeDistribution::Histogram { bins: Vec::new() },
            SizeDistribution::Histogram {
                bins: vec![bin(5, 9, 1), bin(9, 12, 1)],
            },
            SizeDistribution::Uniform { min: 2, max: 1 },
            SizeDistribution::Fixed { bytes: 1 << 32 },
        ];
        let compressible = (
            SizeDistribution::Fixed { bytes: 1 },
            Content::Compressible { ratio: 1.5 },
        );
        let random = sizes.map(|size| (size, Content::Random));
        for (size, content) in random.into_iter().chain([compressible]) {
            let spec = DatasetSpec {
                count: 1,
                size,
                content,
                seed: 1,
                from: None,
            };
            assert!(Generator::new(&spec).is_err(), "{spec:?}");
        }
    }

    #[test]
    fn a_value_with_one_changed_byte_or_another_length_does_not_match() {
        let random = fixed(10_000, Content::Random);
        let mut bytes = value(&random, 3, 2);
        assert!(random.matches(3, 2, &bytes));
        assert!(!random.matches(3, 1, &bytes) && !random.matches(4, 2, &bytes));
        assert!(!random.matches(3, 2, &bytes[..9_999]));
        bytes[9_999] ^= 1;
        assert!(!random.matches(3, 2, &bytes));
    }

    #[test]
    fn the_bytes_of_a_seed_never_change() {
        // A change here makes every dataset another one: results of before are of other values.
        let random = generator(
            SizeDistribution::Uniform {
                min: 10,
                max: 1_000,
            },
            Content::Random,
        );
        let sizes: Vec<usize> = (1..=4).map(|key| random.size(key)).collect();
        let crc = crc32fast::hash(&value(&random, 1, 3));
        assert_eq!((sizes, crc), (vec![36, 930, 352, 202], 2_766_371_083));
    }

    fn any_content() -> impl Strategy<Value = Content> {
        prop_oneof![
            Just(Content::Random),
            (0.0..=1.0).prop_map(|ratio| Content::Compressible { ratio }),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn regenerating_gives_the_same_bytes_and_another_version_others(
            bytes in 8u64..20_000, content in any_content(), key: u64, version in 0u32..1_000
        ) {
            let generator = fixed(bytes, content);
            let first = value(&generator, key, version);
            prop_assert!(generator.matches(key, version, &first));
            prop_assert_eq!(&first, &value(&generator, key, version));
            prop_assert_ne!(&first, &value(&generator, key, version + 1));
        }

        #[test]
        fn a_part_is_what_the_whole_has_there(
            bytes in 1u64..20_000, content in any_content(), at in 0.0f64..1.0, length in 0usize..9_000
        ) {
            let generator = fixed(bytes, content);
            let whole = value(&generator, 5, 1);
            let from = (at * bytes as f64) as usize;
            let end = (from + length).min(whole.len());
            let mut part = vec![0; end - from];
            generator.fill_part(5, 1, whole.len(), from, &mut part);
            prop_assert_eq!(&part[..], &whole[from..end]);
        }

        #[test]
        fn sizes_stay_in_their_range(key: u64, seed: u64) {
            let distributions = [
                (SizeDistribution::Fixed { bytes: 9 }, 9..=9),
                (SizeDistribution::Uniform { min: 3, max: 8 }, 3..=8),
                (SizeDistribution::Uniform { min: 3, max: 3 }, 3..=3),
                (SizeDistribution::LogNormal { median: 50, sigma: 3.0, max: 90 }, 1..=90),
                (SizeDistribution::Kvtest { size: 20, variance: 20 }, 0..=40),
            ];
            for (size, range) in distributions {
                let spec = DatasetSpec { count: 1, size, content: Content::Random, seed, from: None };
                prop_assert!(range.contains(&Generator::new(&spec).unwrap().size(key)));
            }
        }
    }
}
