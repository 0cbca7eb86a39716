//! Deflating and inflating values: zlib streams, which is what `sqlar` holds.
//!
//! Values up to [`WHOLE_MAX`] go through libdeflate in one piece, larger ones through a stream, so that
//! memory stays bounded whatever the size.

use flate2::Compression;
use flate2::read::{ZlibDecoder, ZlibEncoder};
use libdeflater::{CompressionLvl, Compressor, Decompressor};
use std::io::{Error, ErrorKind, Read};

/// Values up to this many bytes are held in memory as a whole.
pub(crate) const WHOLE_MAX: u64 = 16 << 20;
/// What is read or written at once of a larger one.
const PIECE: usize = 1 << 20;
/// zlib's default, which the `sqlite3` shell uses.
const LEVEL: u32 = 6;
/// libdeflate's level for about the size of zlib's default.
const WHOLE_LEVEL: i32 = 5;
/// No deflated stream expands by more (1032:1 is the limit of the format), beside its head and tail.
pub(crate) const EXPANSION_MAX: u64 = 1_032;

/// Whether a deflated stream of `stored` bytes can hold `size`.
pub(crate) fn is_possible(stored: u64, size: u64) -> bool {
    size <= stored.saturating_mul(EXPANSION_MAX)
}

/// Deflates values that are held as a whole.
pub(crate) struct Deflater {
    compressor: Compressor,
    room: Vec<u8>,
    /// By a hash of it, the last sequence of four bytes that has it.
    last: Vec<u32>,
}

impl Deflater {
    pub(crate) fn new() -> Self {
        let level = CompressionLvl::new(WHOLE_LEVEL).unwrap_or_default();
        Self {
            compressor: Compressor::new(level),
            room: Vec::new(),
            last: Vec::new(),
        }
    }

    /// The value deflated, if that is smaller, as far as a look at parts of it says.
    pub(crate) fn smaller(&mut self, value: &[u8]) -> Option<&[u8]> {
        let most = value.len().checked_sub(1)?;
        if seems_incompressible(value, &mut self.last) {
            return None;
        }
        if self.room.len() < most {
            self.room.resize(most, 0);
        }
        let room = &mut self.room[..most];
        let length = self.compressor.zlib_compress(value, room).ok()?;
        Some(&self.room[..length])
    }
}

/// Bytes of a part that is looked at: those up to which deflating looks back, and some more.
const PART: usize = 40 << 10;
/// A longer value has a part for each so many bytes.
const PART_OF: usize = 256 << 10;
/// Of less nothing can be said.
const LOOKED_AT_LEAST: usize = 1 << 10;
/// Huffman coding alone saves less than a hundredth above so many bits of entropy in a byte.
const BITS_SPENT: f64 = 7.92;
/// Fewer than one in so many sequences of four bytes come again.
const SELDOM: usize = 128;

/// Whether a value looks compressed or encrypted already: deflating it would take long, and save little.
fn seems_incompressible(value: &[u8], last: &mut Vec<u32>) -> bool {
    if value.len() < LOOKED_AT_LEAST {
        return false;
    }
    let mut counts = [0_u32; 256];
    // As many as there are sequences in a part, or half as many.
    let bits = value.len().min(PART).ilog2();
    last.clear();
    last.resize(1 << bits, 0);
    let (mut looked_at, mut repeated) = (0, 0);
    for part in parts(value) {
        for byte in part {
            counts[usize::from(*byte)] += 1;
        }
        for four in part.windows(4) {
            let four = u32::from_le_bytes([four[0], four[1], four[2], four[3]]);
            let seen = &mut last[(four.wrapping_mul(0x9e37_79b1) >> (32 - bits)) as usize];
            repeated += usize::from(*seen == four);
            *seen = four;
        }
        looked_at += part.len();
    }
    repeated < looked_at / SELDOM && entropy(&counts, looked_at as f64) > BITS_SPENT
}

/// All of a short value; of a longer one parts that lie evenly in it: its head says least about it.
fn parts(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    // They do not overlap: what lies in two would seem to come again.
    let (parts, length) = (value.len().div_ceil(PART_OF), value.len().min(PART));
    let beyond = value.len() - length;
    (0..parts).map(move |part| &value[beyond * (2 * part + 1) / (2 * parts)..][..length])
}

/// Bits in a byte, by how often each of them occurs among `total`, with the correction of Miller and Madow (1955)
/// for how few there are.
fn entropy(counts: &[u32; 256], total: f64) -> f64 {
    let seen = counts.iter().filter(|count| **count > 0);
    let (mut bits, mut kinds) = (0.0, 0.0);
    for count in seen {
        let share = f64::from(*count) / total;
        bits -= share * share.log2();
        kinds += 1.0;
    }
    bits + (kinds - 1.0) / (2.0 * total * std::f64::consts::LN_2)
}

/// Inflates values that are held as a whole.
pub(crate) struct Inflater {
    decompressor: Decompressor,
    value: Vec<u8>,
}

impl Inflater {
    pub(crate) fn new() -> Self {
        Self {
            decompressor: Decompressor::new(),
            value: Vec::new(),
        }
    }

    /// The value of exactly `size` bytes, at most [`WHOLE_MAX`]; nothing if the stream is damaged or
    /// holds another number of bytes.
    pub(crate) fn inflate(&mut self, stream: &[u8], size: usize) -> Option<&[u8]> {
        if self.value.len() < size {
            self.value.resize(size, 0);
        }
        let room = &mut self.value[..size];
        let length = self.decompressor.zlib_decompress(stream, room).ok()?;
        (length == size).then_some(&self.value[..size])
    }
}

/// Deflates while it is read.
pub(crate) fn deflating<R: Read>(value: R) -> ZlibEncoder<R> {
    ZlibEncoder::new(value, Compression::new(LEVEL))
}

/// Inflates a stream piece by piece, and no further than `size` bytes.
///
/// # Errors
/// The stream is damaged or does not hold exactly `size` bytes ([`ErrorKind::InvalidData`]), or what is
/// read or `out` fails.
pub(crate) fn inflate_stream<E>(
    stream: impl Read,
    size: u64,
    out: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E>
where
    E: From<Error>,
{
    let wrong = |why| Err(Error::new(ErrorKind::InvalidData, why).into());
    let mut decoder = ZlibDecoder::new(stream).take(size);
    if each_piece(&mut decoder, E::from, out)? < size {
        return wrong("it holds less than its size");
    }
    match decoder.into_inner().read(&mut [0])? {
        0 => Ok(()),
        _ => wrong("it holds more than its size"),
    }
}

/// Hands out all there is, piece by piece, and says how many bytes that were; `failed` is about what is read.
pub(crate) fn each_piece<E>(
    mut from: impl Read,
    failed: impl Fn(Error) -> E,
    take: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<u64, E> {
    let mut piece = vec![0; PIECE];
    let mut total = 0;
    loop {
        let length = from.read(&mut piece).map_err(&failed)?;
        if length == 0 {
            return Ok(total);
        }
        take(&piece[..length])?;
        total += length as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(length: usize) -> Vec<u8> {
        (0..length).map(|i| (i % 251 % 16) as u8).collect()
    }

    #[test]
    fn what_is_deflated_is_smaller_and_inflates_to_the_same_either_way() {
        let mut deflater = Deflater::new();
        let mut inflater = Inflater::new();
        for length in [40, 1_000, 100_000] {
            let value = text(length);
            let deflated = deflater.smaller(&value).unwrap().to_vec();
            assert!(deflated.len() < value.len());
            assert_eq!(inflater.inflate(&deflated, length), Some(&value[..]));
            let mut streamed = Vec::new();
            deflating(&value[..]).read_to_end(&mut streamed).unwrap();
            for stream in [&deflated, &streamed] {
                let mut whole = Vec::new();
                inflate_stream::<Error>(&stream[..], length as u64, &mut |piece| {
                    whole.extend_from_slice(piece);
                    Ok(())
                })
                .unwrap();
                assert_eq!(whole, value);
            }
        }
        assert_eq!(deflater.smaller(b""), None);
        assert_eq!(deflater.smaller(b"x"), None);
    }

    #[test]
    fn what_is_compressed_already_is_not_deflated_again() {
        let words: Vec<u8> = (0..150_000_u64)
            .flat_map(|n| (n * n % 9_973).to_string().into_bytes())
            .collect();
        let mut deflater = Deflater::new();
        // As random as what a good coder leaves (xorshift).
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        };
        let compressed: Vec<u8> = (0..2 * PART_OF).map(|_| next()).collect();
        let seems_incompressible = |value: &[u8]| seems_incompressible(value, &mut Vec::new());
        for length in [
            LOOKED_AT_LEAST,
            5_000,
            20_481,
            PART + 1,
            PART_OF,
            PART_OF + 1,
        ] {
            assert!(seems_incompressible(&compressed[..length]), "{length}");
            assert!(!seems_incompressible(&words[..length]), "{length}");
            // Half of it is text, or comes again.
            let half = length / 2;
            let mixed = [&compressed[..half], &words[..half]].concat();
            assert!(
                half < LOOKED_AT_LEAST || !seems_incompressible(&mixed),
                "{length}"
            );
        }
        for (block, times) in [(1_000, 20), (32_000, 31)] {
            let repeated = compressed[..block].repeat(times);
            assert!(deflater.smaller(&repeated).unwrap().len() < block + block / 2);
        }
        // Text with noise wherever a few small parts would be looked at.
        let mut mixed = words[..400_000].to_vec();
        for eighth in [1, 3, 5, 7] {
            let middle = mixed.len() * eighth / 8;
            mixed[middle - 24_000..middle + 24_000].copy_from_slice(&compressed[..48_000]);
        }
        assert!(deflater.smaller(&mixed).unwrap().len() < 350_000);
    }

    #[test]
    fn a_stream_that_holds_another_number_of_bytes_is_refused_both_ways() {
        let value = text(10_000);
        let mut deflater = Deflater::new();
        let deflated = deflater.smaller(&value).unwrap().to_vec();
        for size in [0, 9_999, 10_001] {
            assert_eq!(Inflater::new().inflate(&deflated, size), None);
            let mut seen = 0;
            let refused = inflate_stream::<Error>(&deflated[..], size as u64, &mut |piece| {
                seen += piece.len();
                Ok(())
            });
            assert!(refused.is_err() && seen <= size, "{size}: {seen}");
        }
        assert!(!is_possible(deflated.len() as u64, 1 << 40));
    }
}
