//! Sizes and counts as people type them.
//!
//! `10k` is 10,000 and `10KiB` is 10,240, always; kvtest's looser reading (where `k` can be
//! either) is not offered. Hexadecimal (`0x2800`) takes no suffix.

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;
use thiserror::Error;

/// Why a size or a count could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ParseSizeError {
    /// There was no digit where a number should start.
    #[error("'{0}' is not a number; write for example 4096, 10k (10,000) or 10KiB (10,240)")]
    NotANumber(String),
    /// The letters behind the number are no known unit.
    #[error("'{text}' has the unknown suffix '{suffix}'; known are {known}")]
    UnknownSuffix {
        /// The whole text.
        text: String,
        /// Its suffix.
        suffix: String,
        /// The suffixes that would have been accepted.
        known: &'static str,
    },
    /// The value does not fit into 64 bits, or is not a whole number.
    #[error("'{0}' is not a whole number below 2^64")]
    OutOfRange(String),
}

const SIZE_SUFFIXES: &str = "B, k or kB, M or MB, G or GB, T or TB (powers of 1,000) and KiB, MiB, GiB, TiB (powers of 1,024)";
const COUNT_SUFFIXES: &str = "k, M, G (powers of 1,000)";

/// Bytes: `4096`, `10k`, `1.5MB`, `64KiB`, `0x1000`; `_` and `,` may group digits.
///
/// # Errors
/// An unknown suffix, no number, a fraction of a byte, or a value of 2^64 or more.
pub fn parse_size(text: &str) -> Result<u64, ParseSizeError> {
    parse_with(text, size_factor, SIZE_SUFFIXES)
}

/// A count: `100000`, `100k`, `1.5M`, `0x10`.
///
/// # Errors
/// As [`parse_size`]; byte units are unknown suffixes here.
pub fn parse_count(text: &str) -> Result<u64, ParseSizeError> {
    parse_with(text, count_factor, COUNT_SUFFIXES)
}

/// For fields of study files that are sizes: a whole number of bytes, or text as [`parse_size`] reads
/// it. Results hold numbers only.
pub(crate) fn size_or_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    struct Size;

    impl Visitor<'_> for Size {
        type Value = u64;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a size: a whole number of bytes, 0 or more, or text such as \"10k\"")
        }

        fn visit_u64<E: de::Error>(self, bytes: u64) -> Result<u64, E> {
            Ok(bytes)
        }

        fn visit_i64<E: de::Error>(self, bytes: i64) -> Result<u64, E> {
            u64::try_from(bytes).map_err(|_| E::invalid_value(de::Unexpected::Signed(bytes), &self))
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<u64, E> {
            parse_size(text).map_err(E::custom)
        }
    }

    deserializer.deserialize_any(Size)
}

/// As [`size_or_text`], for lists of them.
pub(crate) fn sizes_or_texts<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<u64>, D::Error> {
    #[derive(Deserialize)]
    struct Size(#[serde(deserialize_with = "size_or_text")] u64);

    let sizes = Vec::<Size>::deserialize(deserializer)?;
    Ok(sizes.into_iter().map(|size| size.0).collect())
}

fn size_factor(suffix: &str) -> Option<u64> {
    Some(match suffix.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" => 1_000,
        "m" | "mb" => 1_000_000,
        "g" | "gb" => 1_000_000_000,
        "t" | "tb" => 1_000_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        "tib" => 1 << 40,
        _ => return None,
    })
}

fn count_factor(suffix: &str) -> Option<u64> {
    Some(match suffix.to_ascii_lowercase().as_str() {
        "" => 1,
        "k" => 1_000,
        "m" => 1_000_000,
        "g" => 1_000_000_000,
        _ => return None,
    })
}

fn parse_with(
    text: &str,
    factor: fn(&str) -> Option<u64>,
    known: &'static str,
) -> Result<u64, ParseSizeError> {
    let trimmed = text.trim();
    let out_of_range = || ParseSizeError::OutOfRange(text.to_owned());
    if let Some(hex) = trimmed
        .strip_prefix("0x")
        .or_else(|| trimmed.strip_prefix("0X"))
    {
        if hex.is_empty() || !hex.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(ParseSizeError::NotANumber(text.to_owned()));
        }
        return u64::from_str_radix(hex, 16).map_err(|_| out_of_range());
    }
    let digits_end = trimmed
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '_' | ',')))
        .unwrap_or(trimmed.len());
    let (number, suffix) = trimmed.split_at(digits_end);
    let number: String = number.chars().filter(|c| !matches!(c, '_' | ',')).collect();
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    if whole.is_empty() || fraction.contains('.') {
        return Err(ParseSizeError::NotANumber(text.to_owned()));
    }
    let suffix = suffix.trim();
    let unit = factor(suffix).ok_or_else(|| ParseSizeError::UnknownSuffix {
        text: text.to_owned(),
        suffix: suffix.to_owned(),
        known,
    })?;
    scale(whole, fraction, unit).ok_or_else(out_of_range)
}

/// `whole.fraction * unit`, exactly, or nothing when that is no u64.
fn scale(whole: &str, fraction: &str, unit: u64) -> Option<u64> {
    let fraction = fraction.trim_end_matches('0');
    let denominator = 10u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let numerator = format!("{whole}{fraction}").parse::<u128>().ok()?;
    let scaled = numerator.checked_mul(u128::from(unit))?;
    if scaled % denominator != 0 {
        return None;
    }
    u64::try_from(scaled / denominator).ok()
}

/// A count with its thousands grouped: `100,000`.
#[must_use]
pub fn format_count(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A size that was chosen, always exact, in the unit in which it is shortest: `10 kB`, `23.5 KiB`,
/// `1,184 B`. Where both kinds of units fit, a round decimal number is what was asked for.
#[must_use]
pub fn format_size(bytes: u64) -> String {
    const DECIMAL: [(u64, &str); 4] = [
        (1_000_000_000_000, "TB"),
        (1_000_000_000, "GB"),
        (1_000_000, "MB"),
        (1_000, "kB"),
    ];
    const BINARY: [(u64, &str); 4] = [
        (1 << 40, "TiB"),
        (1 << 30, "GiB"),
        (1 << 20, "MiB"),
        (1 << 10, "KiB"),
    ];
    // A binary unit may be divided by eight: sizes between two powers of two are.
    let decimal = DECIMAL.into_iter().map(|(unit, name)| (unit, unit, name));
    let binary = BINARY
        .into_iter()
        .map(|(unit, name)| (unit, unit / 8, name));
    decimal
        .chain(binary)
        .find(|(unit, part, _)| bytes >= *unit && bytes.is_multiple_of(*part))
        .map_or_else(
            || format!("{} B", format_count(bytes)),
            |(unit, part, name)| {
                let thousandths = bytes % unit / part * (1_000 * part / unit);
                let text = format!("{}.{thousandths:03}", bytes / unit);
                let text = text.trim_end_matches('0').trim_end_matches('.');
                format!("{text} {name}")
            },
        )
}

/// An amount that was found: three significant digits, powers of 1,000 (`1.02 GB`, `409 MB`,
/// `812 B`); a whole number of units is one (`10 kB`), as [`format_size`] has it for sizes that were
/// chosen.
#[must_use]
pub fn format_bytes(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["B", "kB", "MB", "GB", "TB", "PB"];
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let mut value = bytes as f64;
    let mut unit = 0;
    let mut divisor = 1;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        divisor *= 1000;
        unit += 1;
    }
    let decimals = match value {
        _ if bytes.is_multiple_of(divisor) => 0,
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn decimal_and_binary_suffixes_differ() {
        assert_eq!(parse_size("10k"), Ok(10_000));
        assert_eq!(parse_size("10KiB"), Ok(10_240));
        assert_eq!(parse_size("4GiB"), Ok(4 << 30));
        assert_eq!(parse_size("1.5MB"), Ok(1_500_000));
        assert_eq!(parse_size("0x1000"), Ok(4096));
        assert_eq!(parse_size("100_000"), Ok(100_000));
        assert_eq!(parse_count("100k"), Ok(100_000));
    }

    #[test]
    fn an_unknown_suffix_is_an_error_that_lists_the_known_ones() {
        let message = parse_size("10kk").unwrap_err().to_string();
        assert!(
            message.contains("'kk'") && message.contains("KiB"),
            "{message}"
        );
        assert!(parse_count("10KiB").is_err(), "a count has no byte units");
    }

    #[test]
    fn what_does_not_fit_is_refused_and_never_wrapped() {
        assert!(matches!(
            parse_size("20000000T"),
            Err(ParseSizeError::OutOfRange(_))
        ));
        assert!(matches!(
            parse_size("18446744073709551616"),
            Err(ParseSizeError::OutOfRange(_))
        ));
        assert_eq!(parse_size("18446744073709551615"), Ok(u64::MAX));
        assert!(matches!(
            parse_size("1.5"),
            Err(ParseSizeError::OutOfRange(_))
        ));
        for bad in ["", "k", "-1", "1.2.3k", "0x", "0xg", "."] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes_for_people_have_three_digits() {
        assert_eq!(format_bytes(812), "812 B");
        assert_eq!(format_bytes(1_024_512_000), "1.02 GB");
        assert_eq!(format_bytes(999_999), "1.00 MB");
        assert_eq!(format_bytes(409_000_000), "409 MB");
        assert_eq!(format_bytes(9_999), "10.0 kB");
        for bytes in [0, 999, 10_000, 5_000_000, 999_000_000_000] {
            assert_eq!(format_bytes(bytes), format_size(bytes), "a whole number");
        }
    }

    #[test]
    fn chosen_sizes_are_exact_and_short() {
        let shown = [
            (0, "0 B"),
            (512, "512 B"),
            (1_024, "1 KiB"),
            (1_184, "1,184 B"),
            (10_000, "10 kB"),
            (24_064, "23.5 KiB"),
            (7_552, "7.375 KiB"),
            (65_536, "64 KiB"),
            (1_000_000, "1 MB"),
            (1_500_000, "1500 kB"),
            (1 << 20, "1 MiB"),
            (3 << 19, "1.5 MiB"),
            (2 << 30, "2 GiB"),
            (1 << 40, "1 TiB"),
        ];
        for (bytes, text) in shown {
            assert_eq!(format_size(bytes), text);
        }
        assert_eq!(format_count(1_228_800_000), "1,228,800,000");
        assert_eq!(format_count(999), "999");
    }

    proptest! {
        #[test]
        fn a_chosen_size_reads_as_itself(n: u32) {
            for part in [1, 128, 1_000, 1 << 17, 1_000_000] {
                let size = u64::from(n) * part;
                prop_assert_eq!(parse_size(&format_size(size)), Ok(size));
            }
        }

        #[test]
        fn parsing_never_panics(text in "\\PC{0,24}") {
            let _ = parse_size(&text);
            let _ = parse_count(&text);
        }

        #[test]
        fn a_plain_number_reads_as_itself(n: u64) {
            prop_assert_eq!(parse_size(&n.to_string()), Ok(n));
            prop_assert_eq!(parse_size(&format!("0x{n:x}")), Ok(n));
        }
    }
}
