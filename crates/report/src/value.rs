//! Numbers for people: three significant digits, and units that fit. A [`Value`] is formatted where it
//! is shown.

use stowplan_analysis::{Interval, Quantity, RatioEstimate};
use stowplan_model::Measure;

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

/// Keeps a text on one line.
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

/// What a number is of, and so how it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds, which may be less than 0.
    Time,
    /// Bytes.
    Bytes,
    /// Operations per second.
    Rate,
    /// A ratio, or another number without a unit, in three digits.
    Ratio,
    /// A ratio in three decimals.
    Thousandths,
    /// A share, as a percentage in three digits.
    Percent,
    /// A whole number.
    Count,
}

impl Unit {
    /// That of a measured quantity.
    pub(crate) fn of(measure: Measure) -> Self {
        match measure {
            Measure::Time | Measure::BlockTime | Measure::Cpu => Self::Time,
            Measure::Throughput => Self::Rate,
            Measure::PeakMemory | Measure::Footprint => Self::Bytes,
            Measure::WriteAmplification => Self::Ratio,
        }
    }

    /// The unit of plain numbers; empty where they have none.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Time => "ns",
            Self::Bytes => "B",
            Self::Rate => "1/s",
            Self::Ratio | Self::Thousandths | Self::Percent | Self::Count => "",
        }
    }

    /// The number with its unit: `22.5 s`, `1,230/s`.
    #[must_use]
    pub fn text(self, number: f64) -> String {
        match self {
            Self::Time if number == 0.0 => "0 ns".to_owned(),
            Self::Time => minus(&time(number)),
            Self::Bytes => bytes(number),
            Self::Rate => format!("{}/s", rate(number)),
            Self::Ratio => ratio(number),
            Self::Thousandths => format!("{number:.3}"),
            Self::Percent if number == 0.0 => "0%".to_owned(),
            Self::Percent => minus(&format!("{}%", ratio(number * 100.0))),
            Self::Count => format!("{number:.0}"),
        }
    }

    /// The number as the mark of an axis: no digits that say nothing.
    #[must_use]
    pub fn tick(self, number: f64) -> String {
        let text = self.text(number);
        let split = text.find([' ', '/', '%']).unwrap_or(text.len());
        let (number, unit) = text.split_at(split);
        if !number.contains('.') {
            return text;
        }
        let number = number.trim_end_matches('0').trim_end_matches('.');
        format!("{number}{unit}")
    }
}

/// How far a value is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Spread {
    /// Nobody says.
    Unknown,
    /// The ends of its interval.
    Interval(f64, f64),
    /// Its standard error, or how precisely it could be read.
    Error(f64),
}

/// A number with its interval, as every form shows it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Value {
    /// The number.
    pub number: f64,
    /// How far it is known.
    pub spread: Spread,
    /// What it is of.
    pub unit: Unit,
    /// What stands before it, such as `~`.
    pub mark: &'static str,
}

impl Value {
    /// A number that nobody gives an interval.
    #[must_use]
    pub fn new(number: f64, unit: Unit) -> Self {
        Self {
            number,
            spread: Spread::Unknown,
            unit,
            mark: "",
        }
    }

    /// The value with these ends of its interval.
    #[must_use]
    pub fn between(self, low: f64, high: f64) -> Self {
        Self {
            spread: Spread::Interval(low, high),
            ..self
        }
    }

    /// The value with an error, if there is one.
    #[must_use]
    pub fn give_or_take(self, error: Option<f64>) -> Self {
        Self {
            spread: error.map_or(self.spread, Spread::Error),
            ..self
        }
    }

    /// A quantity.
    pub(crate) fn of(unit: Unit, quantity: &Quantity) -> Self {
        let value = Self::new(quantity.value, unit).give_or_take(quantity.error);
        match quantity.ends {
            None => value,
            Some((low, high)) => value.between(low, high),
        }
    }

    /// Where it may be drawn: its interval, or what an error makes of it.
    #[must_use]
    pub fn ends(&self) -> Option<(f64, f64)> {
        match self.spread {
            Spread::Unknown => None,
            Spread::Interval(low, high) => Some((low, high)),
            Spread::Error(error) => Some(((self.number - error).max(0.0), self.number + error)),
        }
    }

    /// The number with its unit.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{}{}", self.mark, self.unit.text(self.number))
    }

    /// What stands behind it: `± 218 ms`, or the ends of its interval; may be empty.
    #[must_use]
    pub fn spread(&self) -> String {
        let (low, high) = match self.spread {
            Spread::Unknown => return String::new(),
            Spread::Error(error) => return format!("± {}", self.unit.tick(error)),
            // Numbers with commas in them are not set apart by a comma.
            Spread::Interval(low, high) if self.unit == Unit::Rate => {
                return unbroken(&format!("[{} to {}]", rate(low), rate(high)));
            }
            Spread::Interval(low, high) => (self.unit.text(low), self.unit.text(high)),
        };
        // The unit of both is said once.
        match (low.split_once(' '), high.split_once(' ')) {
            (Some((number, unit)), Some((_, other))) if unit == other => between(number, &high),
            _ => between(&low, &high),
        }
    }

    /// Number and spread: `22.5 s ± 218 ms`.
    #[must_use]
    pub fn whole(&self) -> String {
        let spread = self.spread();
        match spread.is_empty() {
            true => self.text(),
            false => format!("{} {spread}", self.text()),
        }
    }

    /// The value as part of a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let text = self.text();
        match self.spread {
            Spread::Unknown => text,
            Spread::Error(error) => format!("{text} ± {}", self.unit.tick(error)),
            Spread::Interval(low, high) => {
                let [low, high] = [low, high].map(|end| self.unit.text(end));
                format!("{text}, interval {low} to {high}")
            }
        }
    }
}

impl From<&RatioEstimate> for Value {
    fn from(found: &RatioEstimate) -> Self {
        Self::new(found.ratio, Unit::Ratio).between(found.low, found.high)
    }
}

/// A time in nanoseconds.
impl From<&Interval> for Value {
    fn from(found: &Interval) -> Self {
        Self::new(found.estimate, Unit::Time).between(found.low, found.high)
    }
}

/// The text with signs of minus in place of hyphens.
pub(crate) fn minus(text: &str) -> String {
    text.replace('-', "−")
}

/// Three significant digits, thousands grouped.
pub(crate) fn rate(value: f64) -> String {
    if !value.is_finite() || value < 999.5 {
        return ratio(value);
    }
    let step = 10f64.powi(value.log10().floor() as i32 - 2);
    count(((value / step).round() * step).round() as u64)
}

/// A difference as a share, or as a factor where it is one or more.
pub(crate) fn by_how_much(part: f64) -> String {
    if part.is_finite() && part >= 1.0 {
        format!("{}×", ratio(part + 1.0))
    } else {
        percent(part)
    }
}

/// A size in three digits and binary units.
pub(crate) fn short_size(size: u64) -> String {
    const UNITS: [(&str, f64); 3] = [
        ("GiB", 1_073_741_824.0),
        ("MiB", 1_048_576.0),
        ("KiB", 1_024.0),
    ];
    let size = float(size);
    let unit = UNITS.into_iter().find(|(_, unit)| size >= *unit);
    let Some((name, unit)) = unit else {
        return format!("{size} B");
    };
    let value = size / unit;
    let digits = match value {
        _ if value < 9.995 => format!("{value:.2}"),
        _ if value < 99.95 => format!("{value:.1}"),
        _ => return format!("{value:.0} {name}"),
    };
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    format!("{digits} {name}")
}

/// A count as a number to draw or to sort by.
pub(crate) fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_significant_digits_and_a_fitting_unit() {
        for (ns, shown) in [
            (4.1, "4.10 ns"),
            (999.4, "999 ns"),
            (999.6, "1.00 µs"),
            (8_619.0, "8.62 µs"),
            (12_345_678.0, "12.3 ms"),
            (2e12, "2000 s"),
            (f64::NAN, NOTHING),
        ] {
            assert_eq!(time(ns), shown);
        }
    }

    #[test]
    fn numbers_are_short_and_have_a_sign_or_a_unit_where_they_need_one() {
        for (shown, expected) in [
            (difference(1.1274), "+13%"),
            (difference(0.888), "−11%"),
            (difference(1.0001), "0%"),
            (difference(f64::NAN), NOTHING),
            (ratio(2.1), "2.10"),
            (ratio(0.4762), "0.476"),
            (ratio(9.996), "10.0"),
            (ratio(13.75), "13.8"),
            (interval(2.051, 2.158), "[2.05,\u{a0}2.16]"),
            (percent(0.05), "5%"),
            (percent(0.0345), "3.5%"),
            (percent(0.74), "74%"),
            (seconds(187.4), "3 min 7 s"),
            (per_operation(0.0), "0"),
            // A difference that doubles is a factor.
            (by_how_much(0.013), "1.3%"),
            (by_how_much(0.5), "50%"),
            (by_how_much(14.2), "15.2×"),
        ] {
            assert_eq!(shown, expected);
        }
    }

    #[test]
    fn sizes_of_a_sweep_are_short_and_in_one_kind_of_unit() {
        for (bytes, text) in [
            (512, "512 B"),
            (1_024, "1 KiB"),
            (2_432, "2.38 KiB"),
            (10_000, "9.77 KiB"),
            (10_240, "10 KiB"),
            (23_600, "23 KiB"),
            (128_000, "125 KiB"),
            (1_000_000, "977 KiB"),
            (1 << 20, "1 MiB"),
            (3 << 19, "1.5 MiB"),
            (1 << 30, "1 GiB"),
        ] {
            assert_eq!(short_size(bytes), text);
        }
    }
}
