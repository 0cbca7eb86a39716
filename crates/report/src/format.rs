//! Numbers for people: three significant digits, and units that fit.

pub use stowplan_model::format_count as count;
pub(crate) use stowplan_model::format_size as size;

/// What stands where there is no number.
pub(crate) const NOTHING: &str = "–";

/// What stands where a number is finer than what it was read from.
pub(crate) const BELOW_RESOLUTION: &str = "below resolution";

/// What there is, as text; otherwise [`NOTHING`].
pub(crate) fn maybe<T>(found: Option<T>, text: impl FnOnce(T) -> String) -> String {
    found.map_or_else(|| NOTHING.to_owned(), text)
}

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
    format!("{} {unit}", ratio(nanoseconds / factor))
}

/// A mark of an axis of ratios, without digits that say nothing: `0.5`.
pub(crate) fn ratio_tick(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A space at which no line breaks. Text forms show it as any other.
pub(crate) const NO_BREAK: char = '\u{a0}';

/// `[2.05, 2.16]`, which stays on one line.
pub(crate) fn interval(low: f64, high: f64) -> String {
    between(&ratio(low), &ratio(high))
}

/// `[4.10 µs, 12.3 ms]`: the ends of an interval as text, on one line.
pub(crate) fn between(low: &str, high: &str) -> String {
    unbroken(&format!("[{low}, {high}]"))
}

/// The same text on one line.
pub(crate) fn unbroken(text: &str) -> String {
    text.replace(' ', NO_BREAK.encode_utf8(&mut [0; 4]))
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

/// A share of which it matters that it is not nothing: `below 0.1%`.
pub(crate) fn share(share: f64) -> String {
    if share > 0.0 && share < 0.0005 {
        "below 0.1%".to_owned()
    } else {
        percent(share)
    }
}

/// The least and the most of these values, as text.
pub(crate) fn ends(
    values: impl Iterator<Item = f64>,
    text: fn(f64) -> String,
) -> Option<(String, String)> {
    let ends = values.map(|value| (value, value));
    let (least, most) = ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
    Some((text(least), text(most)))
}

/// `0.2%`, `0.2% to 1.3%`
pub(crate) fn span(values: impl Iterator<Item = f64>, text: fn(f64) -> String) -> Option<String> {
    let (least, most) = ends(values, text)?;
    Some(match least == most {
        true => most,
        false => format!("{least} to {most}"),
    })
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

/// A mean number of events per operation: zero is `0`, the rest three significant digits.
pub(crate) fn per_operation(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    ratio(value)
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

/// A ratio, or another number without a unit: three significant digits, never in exponent form.
pub(crate) fn ratio(value: f64) -> String {
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

/// `1 cell`, `1,234 cells`
pub(crate) fn counted(number: impl TryInto<u64>, noun: &str) -> String {
    let number = number.try_into().unwrap_or(u64::MAX);
    let s = if number == 1 { "" } else { "s" };
    format!("{} {noun}{s}", count(number))
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
        assert_eq!(interval(2.051, 2.158), "[2.05,\u{a0}2.16]");
    }

    #[test]
    fn percentages_and_durations_are_short() {
        assert_eq!(percent(0.05), "5%");
        assert_eq!(percent(0.0345), "3.5%");
        assert_eq!(percent(0.74), "74%");
        assert_eq!(seconds(187.4), "3 min 7 s");
        assert_eq!(per_operation(0.0), "0");
    }
}
