//! Numbers for people: three significant digits, and units that fit.

/// What stands where there is no number.
pub(crate) const NOTHING: &str = "–";

/// A time given in nanoseconds, with the unit that leaves one to three digits before the point:
/// `4.10 µs`.
#[must_use]
pub fn time(nanoseconds: f64) -> String {
    const UNITS: [(&str, f64); 4] = [("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];
    if !nanoseconds.is_finite() {
        return NOTHING.to_owned();
    }
    // 999.5 and more would be rounded to 1000 of the smaller unit.
    let (unit, factor) = UNITS
        .into_iter()
        .find(|(_, factor)| nanoseconds.abs() / factor < 999.5)
        .unwrap_or(("s", 1e9));
    format!("{} {unit}", significant(nanoseconds / factor))
}

/// A ratio.
pub(crate) fn ratio(value: f64) -> String {
    significant(value)
}

/// `[2.05, 2.16]`
pub(crate) fn interval(low: f64, high: f64) -> String {
    format!("[{}, {}]", ratio(low), ratio(high))
}

/// A share from 0 to 1 as a percentage: whole from 10% on, one decimal below.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if !percent.is_finite() {
        return NOTHING.to_owned();
    }
    let rounded = format!("{percent:.1}");
    if percent.abs() < 9.95 && !rounded.ends_with(".0") {
        format!("{rounded}%")
    } else {
        format!("{percent:.0}%")
    }
}

/// How much a ratio is above or below 1: `+13%`, `−11%`.
pub(crate) fn difference(ratio: f64) -> String {
    let share = percent((ratio - 1.0).abs());
    match share.as_str() {
        "0%" | NOTHING => share,
        _ if ratio < 1.0 => format!("−{share}"),
        _ => format!("+{share}"),
    }
}

/// A duration given in seconds.
pub(crate) fn seconds(seconds: f64) -> String {
    if seconds >= 99.5 {
        let whole = seconds.round();
        return format!("{:.0} min {:.0} s", (whole / 60.0).floor(), whole % 60.0);
    }
    time(seconds * 1e9)
}

/// A count with its thousands grouped: `100,000`.
#[must_use]
pub fn count(number: u64) -> String {
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

/// A mean number of events per operation: zero is `0`, the rest three significant digits.
pub(crate) fn per_operation(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    significant(value)
}

/// A mean number of bytes.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "three digits are shown; a negative mean of bytes does not exist"
)]
pub(crate) fn bytes(mean: f64) -> String {
    if !mean.is_finite() {
        return NOTHING.to_owned();
    }
    stowplan_model::format_bytes(mean.round() as u64)
}

/// A size in bytes, always exact, in the unit in which it is shortest: `10 kB`, `23.5 KiB`,
/// `1,184 B`. Where both fit, a round decimal number is what the study asked for.
pub(crate) fn size(bytes: u64) -> String {
    const DECIMAL: [(u64, &str); 3] = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    const BINARY: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let whole = |(unit, name): (u64, &str)| {
        let fits = bytes > 0 && bytes.is_multiple_of(unit);
        fits.then(|| format!("{} {name}", bytes / unit))
    };
    let eighths = |(unit, name): (u64, &str)| {
        const DECIMALS: [&str; 8] = ["", ".125", ".25", ".375", ".5", ".625", ".75", ".875"];
        let (whole, eighths) = (bytes / unit, bytes % unit / (unit / 8));
        let fits = whole > 0 && bytes.is_multiple_of(unit / 8);
        let decimals = DECIMALS.get(usize::try_from(eighths).ok()?)?;
        fits.then(|| format!("{whole}{decimals} {name}"))
    };
    let mut decimal = DECIMAL.into_iter().filter_map(whole);
    let mut binary = BINARY.into_iter().filter_map(eighths);
    decimal
        .next()
        .or_else(|| binary.next())
        .unwrap_or_else(|| format!("{} B", count(bytes)))
}

/// Three significant digits, never in exponent form.
fn significant(value: f64) -> String {
    if !value.is_finite() {
        return NOTHING.to_owned();
    }
    if value == 0.0 {
        return "0.00".to_owned();
    }
    // The exponent after rounding: 9.996 has three digits as 10.0, not as 9.996.
    let exponent = format!("{value:.2e}")
        .split_once('e')
        .and_then(|(_, exponent)| exponent.parse::<i32>().ok())
        .unwrap_or(0);
    let decimals = usize::try_from(2 - exponent).unwrap_or(0).min(9);
    format!("{value:.decimals$}")
}

/// A sentence from words that stood within one.
pub(crate) fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(characters).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_has_a_sign_unless_it_is_none() {
        assert_eq!(difference(1.1274), "+13%");
        assert_eq!(difference(0.888), "−11%");
        assert_eq!(difference(1.0001), "0%");
        assert_eq!(difference(f64::NAN), NOTHING);
    }

    #[test]
    fn times_have_three_significant_digits_and_a_fitting_unit() {
        assert_eq!(time(4.1), "4.10 ns");
        assert_eq!(time(999.4), "999 ns");
        assert_eq!(time(999.6), "1.00 µs");
        assert_eq!(time(8_619.0), "8.62 µs");
        assert_eq!(time(12_345_678.0), "12.3 ms");
        assert_eq!(time(2e12), "2000 s");
        assert_eq!(time(f64::NAN), NOTHING);
    }

    #[test]
    fn ratios_have_three_significant_digits() {
        assert_eq!(ratio(2.1), "2.10");
        assert_eq!(ratio(0.4762), "0.476");
        assert_eq!(ratio(9.996), "10.0");
        assert_eq!(ratio(13.75), "13.8");
        assert_eq!(interval(2.051, 2.158), "[2.05, 2.16]");
    }

    #[test]
    fn sizes_are_exact_and_short() {
        let shown = [
            (10_000, "10 kB"),
            (1_000_000, "1 MB"),
            (1_500_000, "1500 kB"),
            (24_064, "23.5 KiB"),
            (7_552, "7.375 KiB"),
            (1 << 20, "1 MiB"),
            (3 << 19, "1.5 MiB"),
            (65_536, "64 KiB"),
            (1_184, "1,184 B"),
            (512, "512 B"),
            (0, "0 B"),
        ];
        for (bytes, text) in shown {
            assert_eq!(size(bytes), text);
        }
    }

    #[test]
    fn counts_and_percentages_are_short() {
        assert_eq!(count(1_228_800_000), "1,228,800,000");
        assert_eq!(count(999), "999");
        assert_eq!(percent(0.05), "5%");
        assert_eq!(percent(0.0345), "3.5%");
        assert_eq!(percent(0.74), "74%");
        assert_eq!(seconds(187.4), "3 min 7 s");
        assert_eq!(per_operation(0.0), "0");
    }
}
