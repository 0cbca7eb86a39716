//! Changes for spreadsheets and scripts.

use super::{Compared, Source};
use crate::csv::{number, row, word};
use stowplan_analysis::compare::{CellChange, Change, Changes, ResourceChange};

/// How the header begins: by it a table of ours is told from a file that someone else wrote.
pub const CSV_START: &str = "base_result,new_result,base_cell,new_cell,";

/// One cell, and what it is compared in.
struct Compare<'a> {
    base: &'a Source<'a>,
    new: &'a Source<'a>,
    changes: &'a Changes,
    cell: &'a CellChange,
}

/// A column: its name, units in it, and how its field is made.
type Column = (&'static str, fn(&Compare<'_>) -> String);

const COLUMNS: [Column; 35] = [
    ("base_result", |at| at.base.name.to_owned()),
    ("new_result", |at| at.new.name.to_owned()),
    ("base_cell", |at| at.cell.base.0.clone()),
    ("new_cell", |at| at.cell.new.0.clone()),
    ("label", |at| at.cell.label.clone()),
    ("comparison", |at| at.cell.title.clone()),
    ("role", |at| word(&at.cell.role)),
    ("metric", |at| word(&at.cell.metric)),
    ("decides", |at| word(&at.changes.decides)),
    ("regression", |at| at.cell.regression.to_string()),
    ("base_time_ns", |at| {
        number(at.cell.base_time_ns.map(|time| time.estimate))
    }),
    ("base_time_low_ns", |at| {
        number(at.cell.base_time_ns.map(|time| time.low))
    }),
    ("base_time_high_ns", |at| {
        number(at.cell.base_time_ns.map(|time| time.high))
    }),
    ("new_time_ns", |at| {
        number(at.cell.new_time_ns.map(|time| time.estimate))
    }),
    ("new_time_low_ns", |at| {
        number(at.cell.new_time_ns.map(|time| time.low))
    }),
    ("new_time_high_ns", |at| {
        number(at.cell.new_time_ns.map(|time| time.high))
    }),
    ("base_rounds", |at| at.cell.time.base_rounds.to_string()),
    ("new_rounds", |at| at.cell.time.new_rounds.to_string()),
    ("time_change", |at| number(Some(at.cell.time.ratio))),
    ("time_change_low", |at| number(Some(at.cell.time.low))),
    ("time_change_high", |at| number(Some(at.cell.time.high))),
    ("time_verdict", |at| word(&at.cell.time_verdict)),
    ("ratio_change", |at| of_ratio(at, |change| change.ratio)),
    ("ratio_change_low", |at| of_ratio(at, |change| change.low)),
    ("ratio_change_high", |at| of_ratio(at, |change| change.high)),
    ("ratio_verdict", |at| {
        at.cell.ratio_verdict.as_ref().map(word).unwrap_or_default()
    }),
    ("same_machine", |at| at.changes.same_machine.to_string()),
    ("threshold", |at| number(at.changes.threshold)),
    ("differences", |at| {
        super::sentences::differences(&at.cell.differences)
    }),
    ("base_allocated_bytes", |at| {
        base(at.cell.resources.allocated_bytes)
    }),
    ("new_allocated_bytes", |at| {
        new(at.cell.resources.allocated_bytes)
    }),
    ("base_write_amplification", |at| {
        base(at.cell.resources.write_amplification)
    }),
    ("new_write_amplification", |at| {
        new(at.cell.resources.write_amplification)
    }),
    ("base_peak_memory_bytes", |at| {
        base(at.cell.resources.peak_memory_bytes)
    }),
    ("new_peak_memory_bytes", |at| {
        new(at.cell.resources.peak_memory_bytes)
    }),
];

fn of_ratio(at: &Compare<'_>, get: fn(&Change) -> f64) -> String {
    number(at.cell.ratio.as_ref().map(get))
}

fn base(change: Option<ResourceChange>) -> String {
    number(change.map(|change| change.base))
}

fn new(change: Option<ResourceChange>) -> String {
    number(change.map(|change| change.new))
}

/// The cells that were compared as CSV (RFC 4180, but with plain line feeds): a header, then a row
/// per cell of each NEW. Changes are NEW over BASE. Empty fields are unknown or do not apply.
#[must_use]
pub fn render(compared: &Compared<'_>) -> String {
    let mut text = row(COLUMNS.map(|(name, _)| name.to_owned()));
    for (new, changes) in &compared.news {
        let base = &compared.base;
        text.extend(changes.cells.iter().map(|cell| {
            let at = Compare {
                base,
                new,
                changes,
                cell,
            };
            row(COLUMNS.map(|(_, field)| field(&at)))
        }));
    }
    text
}
