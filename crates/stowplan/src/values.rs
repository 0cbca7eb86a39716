//! Values of options: times, shares, sizes, counts, states of the cache, classes of durability. Nothing but the text is
//! needed to read them.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::path::PathBuf;
use std::time::Duration;
use stowplan_model::{CacheState, Durability, parse_count, parse_size};

/// States of the page cache that can be asked for.
pub(crate) const CACHE_STATES: &[(CacheState, &str)] = &[
    (CacheState::Warm, "In the page cache"),
    (CacheState::Cold, "Data not in memory, names still are"),
    (
        CacheState::AllCold,
        "Nothing in memory, as after a reboot; for the whole machine, so it takes root",
    ),
    (
        CacheState::AsFound,
        "As it happens to be; nothing is checked",
    ),
];

/// What an acknowledged write survives.
pub(crate) const DURABILITIES: &[(Durability, &str)] = &[
    (Durability::None, "Nothing is promised"),
    (
        Durability::ProcessCrash,
        "It survives the end of the process",
    ),
    (
        Durability::Consistent,
        "Power loss leaves a consistent state",
    ),
    (Durability::Durable, "It survives power loss"),
];

/// `90s`, `3m`, `1.5h`, or seconds.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let split = text
        .find(|c: char| c.is_ascii_alphabetic())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor = match unit {
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(format!("'{unit}' is no unit of time; write 90s, 3m or 1h")),
    };
    let seconds = number
        .trim()
        .parse::<f64>()
        .map_err(|_| "write 90s, 3m or 1h".to_owned())?;
    let seconds = seconds * factor;
    if !(seconds.is_finite() && (1.0..=1e7).contains(&seconds)) {
        return Err("it must be from 1s to 2777h".to_owned());
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// `2%`, as a share.
pub(crate) fn percent(text: &str) -> Result<f64, String> {
    percent_within(text, 0.1, 50.0)
}

/// A percentage from `low` to `high`, as a share. A bare number is refused: `10` may be meant as 10%,
/// and `0.1` as well, and a gate that is 100 times too wide catches nothing.
pub(crate) fn percent_within(text: &str, low: f64, high: f64) -> Result<f64, String> {
    let typed = text.trim();
    let number = typed.strip_suffix('%');
    let percent = number.unwrap_or(typed).trim().parse::<f64>();
    let percent = percent.map_err(|_| "write for example 2%".to_owned())?;
    if number.is_none() {
        return Err(format!("write {typed}% if that is meant"));
    }
    if (low..=high).contains(&percent) {
        Ok(percent * 0.01)
    } else {
        Err(format!("it must be from {low}% to {high}%"))
    }
}

/// The size of SQLite's page cache, as typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cache {
    /// Pages.
    Pages(u64),
    /// Bytes.
    Bytes(u64),
}

pub(crate) fn cache(text: &str) -> Result<Cache, String> {
    let negative = text.trim().strip_prefix('-');
    let said = |error: stowplan_model::ParseSizeError| error.to_string();
    if let Some(kibibytes) = negative {
        let bytes = parse_count(kibibytes).map_err(said)?.checked_mul(1024);
        return bytes
            .map(Cache::Bytes)
            .ok_or_else(|| format!("{kibibytes} KiB is not below 2^64 bytes"));
    }
    match parse_count(text) {
        Ok(pages) => Ok(Cache::Pages(pages)),
        Err(_) => parse_size(text).map(Cache::Bytes).map_err(said),
    }
}

/// A count with the suffixes of kvtest's integerValue(), in any case, but in 64 bits, and nothing unknown.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    let typed = text.trim();
    blob_size(typed.strip_prefix('+').unwrap_or(typed))
}

pub(crate) fn blob_size(text: &str) -> Result<u64, String> {
    match size(text)? {
        0 => Err("it must be at least 1".to_owned()),
        size => Ok(size),
    }
}

pub(crate) fn page_size(text: &str) -> Result<u64, String> {
    let size = size(text)?;
    if size.is_power_of_two() && (512..=65_536).contains(&size) {
        Ok(size)
    } else {
        Err("it must be a power of two from 512 to 65536".to_owned())
    }
}

/// Reads one of these values by its name; help lists them with what each means.
pub(crate) fn one_of<T: Copy + Send + Sync + 'static>(
    values: &'static [(T, &'static str)],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let shown =
        move |(value, help): &(T, &'static str)| PossibleValue::new(name(*value)).help(*help);
    PossibleValuesParser::new(values.iter().map(shown)).try_map(move |typed| {
        let found = values.iter().find(|(value, _)| name(*value) == typed);
        found.map(|(value, _)| *value).ok_or("it is none of them")
    })
}

/// `xfs=/mnt/xfs`. The name of a file system may have an equals sign itself: behind the one that ends it a
/// path begins.
pub(crate) fn named_directory(text: &str) -> Result<(String, PathBuf), String> {
    let path = text
        .find("=/")
        .or_else(|| text.find("=."))
        .or_else(|| text.find('='));
    let parts = path.map(|at| (&text[..at], &text[at + 1..]));
    match parts {
        Some((name, path)) if !name.is_empty() && !path.is_empty() => {
            Ok((name.to_owned(), path.into()))
        }
        _ => Err("write NAME=DIR, such as xfs=/mnt/xfs".to_owned()),
    }
}

pub(crate) fn size(text: &str) -> Result<u64, String> {
    parse_size(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::test_runner::Config;

    #[test]
    fn times_and_shares_are_read() {
        assert_eq!(duration("3m"), Ok(Duration::from_secs(180)));
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert!(duration("3 parsecs").is_err());
        assert!(duration("nan").is_err());
        assert_eq!(percent("2%"), Ok(0.02));
        assert!(percent("200%").is_err());
    }

    #[test]
    fn a_bare_number_is_no_percentage() {
        for bare in ["10", "0.1", "0.05", "1e1"] {
            let told = percent_within(bare, 0.1, 1000.0).unwrap_err();
            assert_eq!(told, format!("write {bare}% if that is meant"));
        }
        assert_eq!(percent_within("1000%", 0.1, 1000.0), Ok(10.0));
        assert!(percent_within("1001%", 0.1, 1000.0).is_err());
        assert!(percent_within("nan%", 0.1, 1000.0).is_err());
    }

    #[test]
    fn a_count_is_read_as_kvtest_reads_it_and_never_wraps() {
        for (typed, read) in [
            ("1000", 1_000),
            ("+5", 5),
            ("0x64", 100),
            ("+0X64", 100),
            ("10k", 10_000),
            ("10K", 10_000),
            ("1KB", 1_000),
            ("1kib", 1_024),
            ("2mB", 2_000_000),
            ("2MiB", 2 << 20),
            ("3g", 3_000_000_000),
            ("3GB", 3_000_000_000),
            ("16GIB", 16 << 30),
            ("1.5k", 1_500),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(count(typed), Ok(read), "{typed}");
        }
        for (typed, why) in [
            ("1potato", "unknown suffix 'potato'"),
            ("0x10q", "not a number"),
            ("0x10k", "not a number"),
            ("0", "at least 1"),
            ("-5", "not a number"),
            ("++5", "not a number"),
            ("", "not a number"),
            ("k", "not a number"),
            ("0x", "not a number"),
            ("0xk", "not a number"),
            ("18446744073709551616", "below 2^64"),
            ("99999999999GiB", "below 2^64"),
        ] {
            let told = count(typed).unwrap_err();
            assert!(told.contains(why), "{typed}: {told}");
        }
    }

    #[test]
    fn a_cache_is_pages_unless_it_has_a_suffix_of_bytes_or_a_sign() {
        assert_eq!(cache("1000"), Ok(Cache::Pages(1000)));
        assert_eq!(cache("2k"), Ok(Cache::Pages(2000)));
        assert_eq!(cache("4MiB"), Ok(Cache::Bytes(4 << 20)));
        assert_eq!(cache("-2000"), Ok(Cache::Bytes(2_048_000)));
        assert!(cache("many").is_err());
        assert!(cache("-99999999999999999999").is_err());
        assert!(cache("-18446744073709551615").is_err());
    }

    #[test]
    fn a_directory_is_named_for_a_file_system_whose_name_may_have_options() {
        let read =
            |text| named_directory(text).map(|(name, path)| format!("{name} {}", path.display()));
        assert_eq!(read("xfs=/mnt/a=b"), Ok("xfs /mnt/a=b".to_owned()));
        assert_eq!(read("xfs=mnt"), Ok("xfs mnt".to_owned()));
        let with_options = read("btrfs:compress=zstd=../mnt");
        assert_eq!(with_options, Ok("btrfs:compress=zstd ../mnt".to_owned()));
        for wrong in ["xfs", "=/mnt", "xfs=", ""] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    /// Failures are printed with what led to them, and leave no file behind.
    fn cases() -> Config {
        Config {
            failure_persistence: None,
            ..Config::with_cases(2_000)
        }
    }

    proptest! {
        #![proptest_config(cases())]

        #[test]
        fn what_is_typed_is_refused_in_words_or_within_bounds(
            text in prop_oneof![
                "\\PC{0,12}",
                "[+-]?(0[xX])?[0-9a-f_,.]{0,20} ?[a-zA-Z%]{0,4}",
                "[0-9]{1,4}(\\.[0-9]{1,3})?(s|m|min|h|%|e[0-9]{1,3})?",
                any::<f64>().prop_map(|number| number.to_string()),
                any::<f64>().prop_map(|number| format!("{number}%")),
                prop::sample::select(vec!["nan", "inf", "-inf", "nan%", "infinity", "1e400", "0x", "-", "+"])
                    .prop_map(str::to_owned),
            ]
        ) {
            match duration(&text) {
                Ok(time) => prop_assert!((1.0..=1e7).contains(&time.as_secs_f64())),
                Err(why) => prop_assert!(!why.is_empty()),
            }
            if let Ok(share) = percent(&text) {
                prop_assert!((0.001..=0.5).contains(&share));
            }
            for read in [count, blob_size] {
                prop_assert_ne!(read(&text), Ok(0));
            }
            if let Ok(bytes) = page_size(&text) {
                prop_assert!(bytes.is_power_of_two());
            }
            let _ = (cache(&text), size(&text));
        }

        #[test]
        fn a_number_with_a_unit_is_that_many_of_them(number in 1u64..10_000_000) {
            prop_assert_eq!(duration(&format!("{number}s")), Ok(Duration::from_secs(number)));
            prop_assert_eq!(count(&format!("+{number}k")), Ok(number * 1_000));
            prop_assert_eq!(cache(&number.to_string()), Ok(Cache::Pages(number)));
            prop_assert_eq!(cache(&format!("-{number}")), Ok(Cache::Bytes(number * 1_024)));
            let share = percent(&format!("{}%", number % 50 + 1));
            prop_assert!(share.is_ok_and(|share| (share * 100.0 - (number % 50 + 1) as f64).abs() < 1e-9));
        }
    }
}
