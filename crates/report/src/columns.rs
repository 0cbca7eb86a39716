//! The columns of tables, by what their numbers are.

use crate::cells::label;
use crate::document::{self, Cell, TableBuilder};
use crate::value;
use serde::Serialize;
use serde_json::Value;
use std::marker::PhantomData;
use stowplan_analysis::CellSummary;
use stowplan_model::DurabilityClaim;

/// Makes columns of a table each row of which is of a `T`. Cells without a number stay empty.
pub(crate) struct Columns<T>(PhantomData<fn(T)>);

impl<T> Columns<T> {
    pub(crate) const fn new() -> Self {
        Self(PhantomData)
    }

    /// Text.
    pub(crate) fn text<'a>(
        &self,
        title: impl Into<String>,
        text: impl Fn(&T) -> String + 'a,
    ) -> TableBuilder<'a, T> {
        document::text_column(title, "", move |row: &T| Cell::text(text(row)))
    }

    /// Text with a tone or more to know of it.
    pub(crate) fn cell<'a>(
        &self,
        title: impl Into<String>,
        cell: impl Fn(&T) -> Cell + 'a,
    ) -> TableBuilder<'a, T> {
        document::text_column(title, "", cell)
    }

    /// What was measured, which names the row.
    pub(crate) fn name<'a>(&self, of: impl Fn(&T) -> &CellSummary + 'a) -> TableBuilder<'a, T> {
        self.text("cell", move |row| label(of(row)))
            .help("what was timed")
    }

    /// What it promises for what it writes.
    pub(crate) fn durability<'a>(
        &self,
        of: impl Fn(&T) -> &CellSummary + 'a,
    ) -> TableBuilder<'a, T> {
        let words = |claim: DurabilityClaim| claim.to_string();
        let text = move |row: &T| of(row).promise().map(words).unwrap_or_default();
        self.text("durability", text)
            .help("what an acknowledged write survives")
    }

    /// Numbers with words of their own.
    pub(crate) fn number<'a>(
        &self,
        title: impl Into<String>,
        cell: impl Fn(&T) -> Cell + 'a,
    ) -> TableBuilder<'a, T> {
        document::number(title, "", cell)
    }

    /// Numbers in this format.
    pub(crate) fn formatted<'a>(
        &self,
        format: fn(f64) -> String,
        title: impl Into<String>,
        value: impl Fn(&T) -> Option<f64> + 'a,
    ) -> TableBuilder<'a, T> {
        self.number(title, move |row| Cell::maybe(value(row), format))
    }

    /// Times in nanoseconds.
    pub(crate) fn time<'a>(
        &self,
        title: impl Into<String>,
        time: impl Fn(&T) -> Option<f64> + 'a,
    ) -> TableBuilder<'a, T> {
        self.formatted(value::time, title, time).in_unit("ns")
    }

    /// Bytes.
    pub(crate) fn bytes<'a>(
        &self,
        title: impl Into<String>,
        bytes: impl Fn(&T) -> Option<f64> + 'a,
    ) -> TableBuilder<'a, T> {
        self.formatted(value::bytes, title, bytes).in_unit("B")
    }

    /// Mean numbers of events per operation.
    pub(crate) fn per_operation<'a>(
        &self,
        title: impl Into<String>,
        events: impl Fn(&T) -> Option<f64> + 'a,
    ) -> TableBuilder<'a, T> {
        self.formatted(value::per_operation, title, events)
    }

    /// Whole numbers.
    pub(crate) fn count<'a>(
        &self,
        title: impl Into<String>,
        count: impl Fn(&T) -> Option<u64> + 'a,
    ) -> TableBuilder<'a, T> {
        self.number(title, move |row| {
            count(row).map_or_else(Cell::default, |count| {
                Cell::number(value::float(count), value::count(count))
            })
        })
    }
}

/// A thing that is one row, with what its columns take their numbers from, as JSON.
pub(crate) struct Written<T> {
    pub(crate) of: T,
    json: Value,
}

impl<T> Written<T> {
    pub(crate) fn new(of: T, numbers: &impl Serialize) -> Self {
        let json = serde_json::to_value(numbers).unwrap_or_default();
        Self { of, json }
    }
}

/// Columns that are data, a line each: title, where the number stands in the JSON of a row, what the
/// number is, weight, and help. What no format knows, `other` shows, which is given its name; before
/// that of a text stands `text:`, and of what is sorted by bytes or nanoseconds `bytes:` or `ns:`.
pub(crate) fn listed<'a, T: 'a>(
    lines: &'static str,
    other: impl Fn(&str, &T) -> Cell + Copy + 'a,
) -> impl Iterator<Item = TableBuilder<'a, Written<T>>> {
    lines.lines().map(move |line| {
        let mut fields = line.splitn(5, '|').map(str::trim);
        let mut next = || fields.next().unwrap_or_default();
        let (title, place, format, weight, help) = (next(), next(), next(), next(), next());
        let field = move |row: &Written<T>| row.json.pointer(place).cloned();
        let number = move |row: &Written<T>| field(row).and_then(|found| found.as_f64());
        let make = Columns::<Written<T>>::new();
        let column = match format {
            "time" => make.time(title, number),
            "seconds" => make.time(title, move |row| Some(number(row)? * 1e9)),
            "bytes" => make.bytes(title, number),
            "ratio" => make.formatted(value::ratio, title, number),
            "percent" => make.formatted(value::percent, title, number),
            "per-op" => make.per_operation(title, number),
            "count" => make.count(title, move |row| field(row)?.as_u64()),
            "text" => make.text(title, move |row| {
                let found = field(row);
                let text = found.as_ref().and_then(Value::as_str);
                text.unwrap_or_default().to_owned()
            }),
            format => match format.split_once(':') {
                Some((unit @ ("bytes" | "ns"), name)) => make
                    .number(title, move |row| other(name, &row.of))
                    .in_unit(if unit == "ns" { "ns" } else { "B" }),
                Some((_, name)) => make.cell(title, move |row| other(name, &row.of)),
                None => make.number(title, move |row| other(format, &row.of)),
            },
        };
        column.help(help).weighing(weight.parse().unwrap_or(1))
    })
}

#[cfg(test)]
mod tests {
    const TABLES: [&str; 6] = [
        include_str!("tables/counts.txt"),
        include_str!("tables/latency.txt"),
        include_str!("tables/measured.txt"),
        include_str!("tables/published.txt"),
        include_str!("tables/space.txt"),
        include_str!("tables/times.txt"),
    ];

    #[test]
    fn each_line_of_a_table_has_a_title_a_place_a_format_and_a_weight() {
        for line in TABLES.iter().flat_map(|table| table.lines()) {
            let fields: Vec<&str> = line.splitn(5, '|').map(str::trim).collect();
            let [title, place, format, weight, _] = fields[..] else {
                panic!("{line}");
            };
            assert!(!title.is_empty() && !format.is_empty(), "{line}");
            assert!(place.starts_with('/'), "{line}");
            assert!(weight.parse::<u32>().is_ok(), "{line}");
        }
    }
}
