//! Measured quantities in words: titles, values with their intervals, and marks of an axis.

use crate::document::{Cell, Scale};
use crate::format;

use stowplan_analysis::Quantity;
use stowplan_model::{DurabilityClaim, Measure};

/// What a chart of it shows, as the beginning of a sentence.
pub(crate) fn title(measure: Measure) -> &'static str {
    match measure {
        Measure::Time => "Time per operation",
        Measure::BlockTime => "Time of all operations of a block",
        Measure::Throughput => "Operations per second",
        Measure::Cpu => "CPU time per operation",
        Measure::PeakMemory => "Largest resident set of a worker",
        Measure::Footprint => "Bytes allocated on disk",
        Measure::WriteAmplification => "Bytes sent to storage per byte written",
    }
}

/// How to read a chart of it: what the whiskers are, and which end is good.
pub(crate) fn reading(measure: Measure) -> &'static str {
    match measure {
        Measure::Time => "The whisker is its interval. Less is faster.",
        Measure::BlockTime => {
            "Mean over the rounds; the whisker is its standard error. Less is faster."
        }
        Measure::Throughput => "The whisker is their interval. More is faster.",
        Measure::Cpu => "User and kernel, all threads. Less is better.",
        Measure::PeakMemory => "The harness's own few MB are part of it. Less is better.",
        Measure::Footprint => "After what the store calls a checkpoint. Less is better.",
        Measure::WriteAmplification => {
            "The final flush is part of it: checkpoint, close, syncfs. Less is better."
        }
    }
}

/// A value: `22.5 s`, `1,230/s`.
pub(crate) fn value(measure: Measure, value: f64) -> String {
    match measure {
        Measure::Time | Measure::BlockTime | Measure::Cpu => format::time(value),
        Measure::Throughput => format!("{}/s", rate(value)),
        Measure::PeakMemory | Measure::Footprint => format::bytes(value),
        Measure::WriteAmplification => format::ratio(value),
    }
}

/// The unit of plain numbers.
pub(crate) fn unit(measure: Measure) -> &'static str {
    match measure {
        Measure::Time | Measure::BlockTime | Measure::Cpu => "ns",
        Measure::Throughput => "1/s",
        Measure::PeakMemory | Measure::Footprint => "B",
        Measure::WriteAmplification => "",
    }
}

/// Three significant digits, thousands grouped.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rate of operations is positive and far below 2^53"
)]
pub(crate) fn rate(value: f64) -> String {
    if !value.is_finite() || value < 999.5 {
        return format::ratio(value);
    }
    let step = 10f64.powi(value.log10().floor() as i32 - 2);
    format::count(((value / step).round() * step).round() as u64)
}

/// What stands behind the value: `± 218 ms`, or the ends of its interval.
pub(crate) fn spread(measure: Measure, quantity: &Quantity) -> String {
    let Some((low, high)) = quantity.ends else {
        return String::new();
    };
    if measure == Measure::BlockTime {
        return format!("± {}", value(measure, high - quantity.value));
    }
    if measure == Measure::Throughput {
        // Numbers with commas in them are not set apart by a comma.
        return format::unbroken(&format!("[{} to {}]", rate(low), rate(high)));
    }
    let (low, high) = (value(measure, low), value(measure, high));
    // The unit of both is said once.
    match (low.split_once(' '), high.split_once(' ')) {
        (Some((number, unit)), Some((_, other))) if unit == other => format::between(number, &high),
        _ => format::between(&low, &high),
    }
}

/// What stands behind a value as a cell of a table, sorted by how far the ends lie apart.
pub(crate) fn spread_cell(ends: Option<(f64, f64)>, spread: &str) -> Cell {
    Cell::maybe(ends.map(|(low, high)| high - low), |_| spread.to_owned())
}

/// Value and spread: `22.5 s ± 218 ms`.
pub(crate) fn text(measure: Measure, quantity: &Quantity) -> String {
    let value = value(measure, quantity.value);
    match spread(measure, quantity).as_str() {
        "" => value,
        spread => format!("{value} {spread}"),
    }
}

/// The same as part of a sentence.
pub(crate) fn sentence(measure: Measure, quantity: &Quantity) -> String {
    let shown = |at| value(measure, at);
    let said = shown(quantity.value);
    match quantity.ends {
        None => said,
        Some((_, high)) if measure == Measure::BlockTime => {
            format!("{said}, standard error {}", shown(high - quantity.value))
        }
        Some((low, high)) => format!("{said}, interval {} to {}", shown(low), shown(high)),
    }
}

/// A mark of the axis, without digits that say nothing: `2 µs`.
pub(crate) fn tick(measure: Measure, at: f64) -> String {
    let text = value(measure, at);
    let split = text.find([' ', '/']).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    if !number.contains('.') {
        return text;
    }
    let number = number.trim_end_matches('0').trim_end_matches('.');
    format!("{number}{unit}")
}

/// Marks of an axis, at most six, so that their labels have room.
pub(crate) fn ticks(scale: &Scale) -> Vec<f64> {
    let mut ticks = scale.ticks();
    if ticks.len() < 3 && scale.is_logarithmic() {
        ticks = scale.fine_ticks();
    }
    let step = ticks.len().div_ceil(6).max(1);
    ticks.into_iter().step_by(step).collect()
}

/// A promise as a heading: `D2 consistent, atomic`.
pub(crate) fn class(claim: &DurabilityClaim) -> String {
    format!("{} {claim}", claim.class.code())
}

/// The same in a few letters, for a column: `D2`, and `late` for what begins later. Atomicity stands
/// in the sentence about promises.
pub(crate) fn short_class(claim: &DurabilityClaim) -> String {
    let late = if claim.delayed { " late" } else { "" };
    format!("{}{late}", claim.class.code())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_some_marks_and_not_too_many() {
        let spans = [79e3..111e3, 1.0..1e9, 0.1..3.0, 5.0..5.0, 2e6..4e6];
        for (low, high) in spans.map(|span| (span.start, span.end)) {
            let scale = Scale::logarithmic(low, high);
            let marks = ticks(&scale);
            assert!((1..=6).contains(&marks.len()), "{low} to {high}: {marks:?}");
        }
        assert!((2..=6).contains(&ticks(&Scale::linear(8.5)).len()));
    }

    #[test]
    fn a_value_has_its_unit_and_its_spread() {
        let with_ends = [
            (Measure::BlockTime, [22.5e9, 22.3e9, 22.7e9]),
            (Measure::Time, [1.5e6, 1.4e6, 1.6e6]),
            (Measure::Time, [1e6, 0.9e6, 1.6e6]),
            (Measure::Throughput, [123_456.0, 99.0, 200e3]),
        ];
        let shown = with_ends.map(|(measure, [value, low, high])| {
            let ends = Some((low, high));
            let text = text(measure, &Quantity { value, ends });
            assert!(text.contains('±') || !text[text.find('[').unwrap()..].contains(' '));
            text.replace(format::NO_BREAK, " ")
        });
        let expected = [
            "22.5 s ± 200 ms",
            "1.50 ms [1.40, 1.60 ms]",
            "1.00 ms [900 µs, 1.60 ms]",
            "123,000/s [99.0 to 200,000]",
        ];
        assert_eq!(shown, expected);
        assert_eq!(value(Measure::Throughput, 999.9), "1,000/s");
        assert_eq!(value(Measure::PeakMemory, 5e6), "5 MB");
        assert_eq!(value(Measure::WriteAmplification, 3.21), "3.21");
        assert_eq!(tick(Measure::Time, 2_000.0), "2 µs");
        assert_eq!(tick(Measure::Throughput, 5_000.0), "5,000/s");
        assert_eq!(tick(Measure::WriteAmplification, 10.0), "10");
    }
}
