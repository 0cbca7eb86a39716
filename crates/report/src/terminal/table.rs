//! Tables for terminals: columns that do not fit are left out, least important first, and the
//! first column wraps.

use super::canvas::{Canvas, Span, Tone, pad, span, wrap};
use unicode_width::UnicodeWidthStr as _;

/// The first column keeps at least this width, as long as a column that is not essential can be
/// left out for it.
const LABEL: usize = 24;
/// The same for essential columns: rather than without them, labels wrap.
const NARROWEST_LABEL: usize = 10;
/// Columns of at least this weight are essential.
const ESSENTIAL: u8 = 5;
/// Space between columns.
const GAP: usize = 2;

/// A column behind the first.
pub(crate) struct Column {
    pub(crate) title: &'static str,
    /// Columns with a smaller number are left out first.
    pub(crate) weight: u8,
    /// Numbers stand to the right.
    pub(crate) right: bool,
}

/// A row: its label, and a field per column.
pub(crate) struct Row {
    pub(crate) label: String,
    pub(crate) fields: Vec<Span>,
}

/// Draws the table.
pub(crate) fn draw(canvas: &mut Canvas, title: &str, columns: &[Column], rows: &[Row]) {
    let widths: Vec<usize> = columns
        .iter()
        .enumerate()
        .map(|(index, column)| {
            let fields = rows.iter().map(|row| row.fields[index].text.width());
            fields.fold(column.title.width(), usize::max)
        })
        .collect();
    let longest = rows.iter().map(|row| row.label.width());
    let longest = longest.fold(title.width(), usize::max);
    // A column in which no row has anything is left out as well.
    let mut shown: Vec<usize> = (0..columns.len())
        .filter(|index| rows.iter().any(|row| !row.fields[*index].text.is_empty()))
        .collect();
    while shown.len() > 1 {
        let lightest = shown.iter().copied().min_by_key(|i| columns[*i].weight);
        let Some(lightest) = lightest else { break };
        let wanted = if columns[lightest].weight < ESSENTIAL {
            LABEL
        } else {
            NARROWEST_LABEL
        };
        if label_width(canvas, &shown, &widths) >= wanted.min(longest) {
            break;
        }
        shown.retain(|index| *index != lightest);
    }
    let label = label_width(canvas, &shown, &widths).min(longest).max(1);
    let titles = columns.iter().map(|column| span(column.title, Tone::Faint));
    let header = Row {
        label: title.to_owned(),
        fields: titles.collect(),
    };
    for (index, row) in std::iter::once(&header).chain(rows).enumerate() {
        let tone = if index == 0 { Tone::Faint } else { Tone::Plain };
        for (line, part) in wrap(&row.label, label).iter().enumerate() {
            let mut spans = vec![span(pad(part, label, false), tone)];
            for column in shown.iter().filter(|_| line == 0) {
                let field = &row.fields[*column];
                let text = pad(&field.text, widths[*column], columns[*column].right);
                spans.push(span(" ".repeat(GAP), Tone::Plain));
                spans.push(span(text, field.tone));
            }
            canvas.line(&spans);
        }
    }
}

/// What is left for the first column beside those shown.
fn label_width(canvas: &Canvas, shown: &[usize], widths: &[usize]) -> usize {
    let used: usize = shown.iter().map(|index| widths[*index] + GAP).sum();
    canvas.width.saturating_sub(used)
}
