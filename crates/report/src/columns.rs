//! Tables whose columns are data, a line each.

use crate::document::{Align, Cell, Column, TableBuilder, Value};
use crate::value::{self, Unit, float};
use serde::Serialize;
use serde_json::Value as Json;

/// A row with its numbers as JSON, in which columns that are data find them.
pub(crate) struct Written<T> {
    pub(crate) of: T,
    json: Json,
}

impl<T> Written<T> {
    pub(crate) fn new(of: T, numbers: &impl Serialize) -> Self {
        let json = serde_json::to_value(numbers).unwrap_or_default();
        Self { of, json }
    }
}

/// Rows of these things, which are their own numbers.
pub(crate) fn rows<T: Serialize>(things: impl IntoIterator<Item = T>) -> Vec<Written<T>> {
    let things = things.into_iter();
    things
        .map(|of| Written {
            json: serde_json::to_value(&of).unwrap_or_default(),
            of,
        })
        .collect()
}

/// Columns that are data, a line each: title, where the number stands in the JSON of a row, what the
/// number is, weight, and help. What no format knows, `other` shows, which is given its name behind
/// what it is: `text:`, `number:`, or that by which it is sorted, `bytes:` or `ns:`.
pub(crate) fn listed<'a, T: 'a>(
    lines: &'static str,
    other: impl Fn(&str, &T) -> Cell + Copy + 'a,
) -> Vec<TableBuilder<'a, Written<T>>> {
    let columns = lines.lines().map(move |line| {
        let mut fields = line.splitn(5, '|').map(str::trim);
        let mut next = || fields.next().unwrap_or_default();
        let (title, place, format, weight, help) = (next(), next(), next(), next(), next());
        let (format, name) = format.split_once(':').unwrap_or((format, ""));
        let column = Column {
            title: title.to_owned(),
            help: help.to_owned(),
            unit: match format {
                "time" | "seconds" | "time-interval" | "ns" => "ns",
                "bytes" => "B",
                _ => "",
            },
            align: match format {
                "text" => Align::Left,
                _ => Align::Right,
            },
            weight: weight.parse().unwrap_or(1),
        };
        TableBuilder::new(column, move |row: &Written<T>| match name {
            "" => shown(format, row.json.pointer(place)).unwrap_or_default(),
            name => other(name, &row.of),
        })
    });
    columns.collect()
}

/// What a row has there, in this format.
fn shown(format: &str, found: Option<&Json>) -> Option<Cell> {
    let found = found?;
    let number =
        |text: fn(f64) -> String| Some(Cell::number(found.as_f64()?, text(found.as_f64()?)));
    let of = |name: &str| found.get(name)?.as_f64();
    let ends = || Some((of("low")?, of("high")?));
    let time = |ns: f64| Unit::Time.text(ns);
    match format {
        "time" => number(time),
        "seconds" => Some(Cell::number(
            found.as_f64()? * 1e9,
            time(found.as_f64()? * 1e9),
        )),
        "bytes" => number(value::bytes),
        "ratio" => number(value::ratio),
        "hundredths" => number(|ratio| format!("{ratio:.2}")),
        "thousandths" => number(|ratio| Unit::Thousandths.text(ratio)),
        "percent" => number(|share| value::minus(&value::percent(share))),
        "per-op" => number(value::per_operation),
        "count" => {
            Some(found.as_u64()?).map(|count| Cell::number(float(count), value::count(count)))
        }
        "text" => Some(Cell::text(found.as_str()?)),
        "interval" => ends().map(|(low, high)| Cell::number(low, value::interval(low, high))),
        "time-interval" => ends()
            .map(|(low, high)| Cell::spread(Some(Value::new(low, Unit::Time).between(low, high)))),
        _ => {
            let (low, high) = ends()?;
            let whole = Value::new(of("ratio")?, Unit::Ratio).between(low, high);
            Some(Cell::number(whole.number, whole.whole()))
        }
    }
}
