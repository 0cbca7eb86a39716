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
pub(crate) const PIECE: usize = 1 << 20;
/// zlib's default, which the `sqlite3` shell uses.
const LEVEL: u32 = 6;
/// No deflated stream expands by more (1032:1 is the limit of the format), beside its head and tail.
const EXPANSION_MAX: u64 = 1_032;

/// Whether a deflated stream of `stored` bytes can hold `size`.
pub(crate) fn is_possible(stored: u64, size: u64) -> bool {
    size <= stored.saturating_mul(EXPANSION_MAX)
}

/// Deflates values that are held as a whole.
pub(crate) struct Deflater {
    compressor: Compressor,
    room: Vec<u8>,
}

impl Deflater {
    pub(crate) fn new() -> Self {
        Self {
            // In range by its type's own default.
            compressor: Compressor::new(CompressionLvl::default()),
            room: Vec::new(),
        }
    }

    /// The value deflated, if that is smaller.
    pub(crate) fn smaller(&mut self, value: &[u8]) -> Option<&[u8]> {
        let most = value.len().checked_sub(1)?;
        if self.room.len() < most {
            self.room.resize(most, 0);
        }
        let room = &mut self.room[..most];
        let length = self.compressor.zlib_compress(value, room).ok()?;
        Some(&self.room[..length])
    }
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
    let mut decoder = ZlibDecoder::new(stream);
    let mut piece = vec![0; PIECE];
    let mut left = size;
    loop {
        let length = decoder.read(&mut piece)?;
        if length == 0 {
            break;
        }
        let wrong = || Error::new(ErrorKind::InvalidData, "it holds more than its size");
        left = left.checked_sub(length as u64).ok_or_else(wrong)?;
        out(&piece[..length])?;
    }
    if left > 0 {
        let wrong = Error::new(ErrorKind::InvalidData, "it holds less than its size");
        return Err(wrong.into());
    }
    Ok(())
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
