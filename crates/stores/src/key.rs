//! Keys, and the forms in which engines keep them.

use crate::options::{Described, Settings};
use crate::{Result, StoreError};
use std::fmt;

/// The key of a value: an integer, as in kvtest. Datasets number their values from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub u64);

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

crate::choice! {
    /// The form in which a store keeps its keys.
    pub enum KeyForm {
        /// A number; where an engine orders bytes, eight of them, the highest first.
        Integer = "integer",
        /// Text of 36 characters in the form of a GUID. Neighbouring numbers lie far apart.
        Text = "text",
    }
}

/// The setting `key` of stores that offer both forms.
pub const KEY_FORM: Described<KeyForm> = KeyForm::setting(
    KeyForm::Integer,
    "how keys are kept: as numbers, or as GUID text of 36 characters, in an order of its own",
)
.shapes_layout();

/// Characters of a key as text.
pub const KEY_TEXT_BYTES: usize = 36;

/// A key as bytes, in place, and there where an engine can read a number.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(8))]
pub struct KeyBytes {
    bytes: [u8; KEY_TEXT_BYTES],
    len: usize,
}

impl AsRef<[u8]> for KeyBytes {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl KeyBytes {
    #[inline]
    fn of_number(number: [u8; 8]) -> Self {
        let mut bytes = [0; KEY_TEXT_BYTES];
        bytes[..8].copy_from_slice(&number);
        Self { bytes, len: 8 }
    }

    /// The text; empty for a key that is kept as a number.
    #[must_use]
    #[inline]
    pub fn text(&self) -> &str {
        std::str::from_utf8(self.as_ref()).unwrap_or_default()
    }
}

impl KeyForm {
    /// What the setting `key` says: a number where there is no such setting.
    ///
    /// # Errors
    /// It says something else.
    pub fn of(settings: &Settings) -> Result<Self> {
        KEY_FORM.read("key", settings)
    }

    /// The bytes of a key. Both forms are made within the timed window, as an application makes
    /// them; text costs some nanoseconds, the same in every store.
    #[must_use]
    #[inline]
    pub fn bytes(self, key: Key) -> KeyBytes {
        match self {
            Self::Integer => KeyBytes::of_number(key.0.to_be_bytes()),
            Self::Text => KeyBytes {
                bytes: text(key),
                len: KEY_TEXT_BYTES,
            },
        }
    }

    /// The bytes of a key for an engine that compares numbers, in the machine's own order.
    #[must_use]
    #[inline]
    pub fn native(self, key: Key) -> KeyBytes {
        match self {
            Self::Integer => KeyBytes::of_number(key.0.to_ne_bytes()),
            Self::Text => self.bytes(key),
        }
    }

    /// The key of such bytes.
    ///
    /// # Errors
    /// They are no key in this form.
    pub fn native_key(self, bytes: &[u8]) -> Result<Key> {
        match (self, bytes.try_into()) {
            (Self::Integer, Ok(number)) => Ok(Key(u64::from_ne_bytes(number))),
            _ => self.key(bytes),
        }
    }

    /// The key of these bytes.
    ///
    /// # Errors
    /// They are no key in this form.
    pub fn key(self, bytes: &[u8]) -> Result<Key> {
        let key = match self {
            Self::Integer => bytes.try_into().ok().map(u64::from_be_bytes),
            Self::Text => number(bytes),
        };
        key.map(Key).ok_or_else(|| {
            let detail = format!("'{}' is none of ours", bytes.escape_ascii());
            StoreError::engine("read a key", detail)
        })
    }
}

/// Separates the second half of a text from the first.
const SECOND_HALF: u64 = 0x9e37_79b9_7f4a_7c15;

/// The digits of two numbers made from the key, each of which determines it.
fn text(key: Key) -> [u8; KEY_TEXT_BYTES] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let halves = [scatter(key.0), scatter(key.0 ^ SECOND_HALF)];
    let mut text = [b'-'; KEY_TEXT_BYTES];
    let mut nibble = 0;
    for (place, character) in text.iter_mut().enumerate() {
        if !matches!(place, 8 | 13 | 18 | 23) {
            let digit = halves[nibble / 16] >> (60 - 4 * (nibble % 16)) & 15;
            let digit = digit as usize;
            *character = DIGITS[digit];
            nibble += 1;
        }
    }
    text
}

/// The number whose text this is. Scans ask for each row, within the timed window, so nothing is
/// allocated.
fn number(bytes: &[u8]) -> Option<u64> {
    let mut first_half = bytes.iter().filter(|byte| **byte != b'-').take(16);
    let scattered = first_half.try_fold(0, |number, byte| {
        let digit = char::from(*byte).to_digit(16)?;
        Some(number << 4 | u64::from(digit))
    })?;
    let key = gather(scattered);
    (text(Key(key)) == bytes).then_some(key)
}

/// A permutation of the 64-bit numbers in which neighbours lie far apart: the finaliser of
/// splitmix64 (Steele, Lea and Flood 2014).
fn scatter(key: u64) -> u64 {
    let key = (key ^ (key >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let key = (key ^ (key >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    key ^ (key >> 31)
}

/// The inverse of [`scatter`].
fn gather(key: u64) -> u64 {
    let key = (key ^ (key >> 31) ^ (key >> 62)).wrapping_mul(0x3196_42b2_d24d_8ec3);
    let key = (key ^ (key >> 27) ^ (key >> 54)).wrapping_mul(0x96de_1b17_3f11_9089);
    key ^ (key >> 30) ^ (key >> 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_has_the_form_of_a_guid() {
        let text = KeyForm::Text.bytes(Key(1));
        let parts: Vec<usize> = text.text().split('-').map(str::len).collect();
        assert_eq!(parts, [8, 4, 4, 4, 12], "{}", text.text());
    }

    #[test]
    fn numbers_as_bytes_are_ordered_as_numbers() {
        let bytes = |key| KeyForm::Integer.bytes(Key(key)).as_ref().to_vec();
        assert!(bytes(1) < bytes(2) && bytes(255) < bytes(256));
    }

    #[test]
    fn what_is_no_key_is_an_error() {
        let mut other = KeyForm::Text.bytes(Key(7)).as_ref().to_vec();
        other[35] ^= 1;
        for bytes in [&b""[..], b"1234567", &other, &[0xff; 36]] {
            for form in [KeyForm::Integer, KeyForm::Text] {
                assert!(form.key(bytes).is_err(), "{bytes:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn a_key_comes_back_from_either_form(key: u64) {
            for form in [KeyForm::Integer, KeyForm::Text] {
                let bytes = form.bytes(Key(key));
                prop_assert_eq!(form.key(bytes.as_ref()).unwrap(), Key(key));
            }
        }
    }
}
