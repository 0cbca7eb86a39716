//! Sizes and counts as people type them.
//!
//! `10k` is 10,000 and `10KiB` is 10,240, always; kvtest's looser reading (where `k` can be
//! either) is not offered. Hexadecimal (`0x2800`) takes no suffix.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use thiserror::Error;

/// Why a size or a count could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ParseSizeError(String);

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
    #[derive(Deserialize)]
    #[serde(
        untagged,
        expecting = "expected a size: a whole number of bytes, 0 or more, or text such as \"10k\""
    )]
    enum Size {
        Bytes(u64),
        Text(String),
    }

    match Size::deserialize(deserializer)? {
        Size::Bytes(bytes) => Ok(bytes),
        Size::Text(text) => parse_size(&text).map_err(D::Error::custom),
    }
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

/// Units of sizes, each kind from the largest down.
const UNITS: [(&str, u64); 8] = [
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
];

/// The decimal units may go without their last letter.
fn size_factor(suffix: &str) -> Option<u64> {
    let is = |name: &str| name.eq_ignore_ascii_case(suffix);
    let mut units = UNITS.into_iter();
    let unit = units.find(|(name, _)| is(name) || name.len() == 2 && is(&name[..1]));
    let byte = suffix.is_empty() || is("B");
    unit.map(|(_, factor)| factor).or(byte.then_some(1))
}

fn count_factor(suffix: &str) -> Option<u64> {
    let known = ["", "k", "m", "g"]
        .iter()
        .any(|known| known.eq_ignore_ascii_case(suffix));
    size_factor(suffix).filter(|_| known)
}

fn parse_with(
    text: &str,
    factor: fn(&str) -> Option<u64>,
    known: &'static str,
) -> Result<u64, ParseSizeError> {
    let wrong = |what: &str| ParseSizeError(format!("'{text}' {what}"));
    let no_number =
        || wrong("is not a number; write for example 4096, 10k (10,000) or 10KiB (10,240)");
    let out_of_range = || wrong("is not a whole number below 2^64");
    let trimmed = text.trim();
    if let Some(hex) = trimmed
        .strip_prefix("0x")
        .or_else(|| trimmed.strip_prefix("0X"))
    {
        if hex.is_empty() || !hex.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(no_number());
        }
        return u64::from_str_radix(hex, 16).map_err(|_| out_of_range());
    }
    let is_of_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '_' | ',');
    let digits_end = trimmed.find(|c| !is_of_number(c)).unwrap_or(trimmed.len());
    let (number, suffix) = trimmed.split_at(digits_end);
    let number: String = number.chars().filter(|c| !matches!(c, '_' | ',')).collect();
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    if whole.is_empty() || fraction.contains('.') {
        return Err(no_number());
    }
    let suffix = suffix.trim();
    let unknown = || {
        wrong(&format!(
            "has the unknown suffix '{suffix}'; known are {known}"
        ))
    };
    let unit = factor(suffix).ok_or_else(unknown)?;
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

/// A size as store specs have it: `64KiB`, or `1500` where no binary unit is exact.
pub fn spec_size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes;
    let mut unit = 0;
    while value != 0 && value.is_multiple_of(1024) && unit + 1 < UNITS.len() {
        value /= 1024;
        unit += 1;
    }
    format!("{value}{}", UNITS[unit])
}

/// A count with its thousands grouped: `100,000`.
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
pub fn format_size(bytes: u64) -> String {
    // A binary unit may be divided by eight: sizes between two powers of two are.
    UNITS
        .into_iter()
        .map(|(name, unit)| {
            (
                unit,
                if name.ends_with("iB") { unit / 8 } else { unit },
                name,
            )
        })
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
pub fn format_bytes(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["B", "kB", "MB", "GB", "TB", "PB"];
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
    fn a_size_is_shown_in_the_largest_unit_that_is_exact_and_reads_back() {
        for (bytes, expected) in [
            (0, "0"),
            (512, "512"),
            (1_500, "1500"),
            (4_096, "4KiB"),
            (33_554_432, "32MiB"),
            (64 << 30, "64GiB"),
            (2048 << 40, "2048TiB"),
            ((1 << 40) - 512, "1099511627264"),
        ] {
            assert_eq!(spec_size(bytes), expected);
            assert_eq!(parse_size(expected), Ok(bytes));
        }
    }

    #[test]
    fn decimal_and_binary_suffixes_differ() {
        for (text, bytes) in [
            ("10k", 10_000),
            ("10KiB", 10_240),
            ("4GiB", 4 << 30),
            ("1.5MB", 1_500_000),
            ("0x1000", 4096),
            ("100_000", 100_000),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
        assert_eq!(parse_count("100k"), Ok(100_000));
        assert!(parse_count("10KiB").is_err(), "a count has no byte units");
    }

    #[test]
    fn what_is_no_size_or_does_not_fit_is_refused_and_never_wrapped() {
        for (text, said) in [
            ("20000000T", "below 2^64"),
            ("18446744073709551616", "below 2^64"),
            ("1.5", "below 2^64"),
            ("10kk", "'kk'"),
            ("10kk", "KiB"),
        ] {
            let message = parse_size(text).unwrap_err().to_string();
            assert!(message.contains(said), "{text}: {message}");
        }
        for bad in ["", "k", "-1", "1.2.3k", "0x", "0xg", "."] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes_for_people_have_three_digits_and_chosen_ones_are_exact_and_short() {
        for (bytes, text) in [
            (812, "812 B"),
            (1_024_512_000, "1.02 GB"),
            (999_999, "1.00 MB"),
            (9_999, "10.0 kB"),
        ] {
            assert_eq!(format_bytes(bytes), text);
        }
        for bytes in [0, 999, 10_000, 5_000_000, 999_000_000_000] {
            assert_eq!(format_bytes(bytes), format_size(bytes), "a whole number");
        }
        for (bytes, text) in [
            (0, "0 B"),
            (1_024, "1 KiB"),
            (1_184, "1,184 B"),
            (10_000, "10 kB"),
            (7_552, "7.375 KiB"),
            (65_536, "64 KiB"),
            (1_000_000, "1 MB"),
            (1_500_000, "1500 kB"),
            (3 << 19, "1.5 MiB"),
            (2 << 30, "2 GiB"),
            (1 << 40, "1 TiB"),
        ] {
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
    }
}
