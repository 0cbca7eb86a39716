//! What the operations of a block take altogether: times in one table, and what remains of them in a second one,
//! which shows only when everything is asked for.

use super::canvas::{Canvas, Tone, span};
use super::table::{self, Column, Row};
use crate::format::count;
use crate::total::{Total, Totals, totals};
use stowplan_analysis::{Analysis, ComparisonOutcome};
use stowplan_model::{Role, format_bytes};

/// A column: title, weight, whether it is numeric, and its text.
type Field = (&'static str, u8, bool, fn(&Total) -> String);

const TIMES: [Field; 6] = [
    ("to last row", 8, true, Total::to_last_row_text),
    ("with commit", 9, true, Total::with_commit_text),
    ("mean ± error", 5, true, Total::mean_text),
    ("published", 7, true, Total::published_text),
    ("commits", 6, true, Total::commits_text),
    ("fill", 4, true, Total::page_fill_text),
];

const ROWS: Field = ("rows", 5, true, |total| {
    total.rows.map_or_else(String::new, count)
});

const SPACE: [Field; 4] = [
    ("peak memory", 9, true, |total| {
        total.peak_memory.map_or_else(String::new, format_bytes)
    }),
    ("allocated", 8, true, |total| {
        total.allocated.map_or_else(String::new, format_bytes)
    }),
    ("page fill", 7, true, Total::page_fill_text),
    ("durability", 6, false, |total| total.durability.clone()),
];

/// The totals of a comparison that has them.
pub(super) fn draw(
    canvas: &mut Canvas,
    analysis: &Analysis,
    comparison: &ComparisonOutcome,
    verbose: bool,
) {
    let Some(mut totals) = totals(analysis, comparison) else {
        return;
    };
    if !verbose {
        let mut cells = comparison.cells.iter();
        let mut shown = || {
            let hidden = |role| matches!(role, Role::Control | Role::Part);
            cells.next().is_some_and(|c| !hidden(c.cell.role))
        };
        totals.rows.retain(|_| shown());
    }
    canvas.blank();
    canvas.paragraph(&totals.caption, 0, Tone::Plain);
    let rows = (totals.same_rows.is_none()).then_some(ROWS);
    let times: Vec<Field> = rows.into_iter().chain(TIMES).collect();
    table(canvas, &totals, &times);
    for note in &totals.notes {
        canvas.paragraph(note, 0, Tone::Faint);
    }
    if verbose {
        canvas.blank();
        table(canvas, &totals, &SPACE);
    }
}

fn table(canvas: &mut Canvas, totals: &Totals, fields: &[Field]) {
    let columns: Vec<Column> = fields
        .iter()
        .map(|(title, weight, right, _)| Column {
            title,
            weight: *weight,
            right: *right,
        })
        .collect();
    let row = |total: &Total| Row {
        label: total.label.clone(),
        fields: fields
            .iter()
            .map(|(_, _, _, text)| span(text(total), Tone::Plain))
            .collect(),
    };
    let rows: Vec<Row> = totals.rows.iter().map(row).collect();
    table::draw(canvas, "cell", &columns, &rows);
}
