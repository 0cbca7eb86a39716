//! Matrices for terminals: aligned tables in two colours, whose signs say the same without.

use super::canvas::{Canvas, Span, Tone, pad, span};
use super::sign_tone;
use crate::matrix::{Field, Matrix};
use unicode_width::UnicodeWidthStr as _;

/// Space between columns.
const GAP: usize = 2;

/// Draws a matrix: what the numbers are, the numbers, what the signs say, and the rules.
pub(super) fn draw(canvas: &mut Canvas, matrix: &Matrix<'_>, verbose: bool) {
    canvas.heading(matrix.title);
    canvas.paragraph(&matrix.subtitle, 0, Tone::Plain);
    for note in &matrix.notes {
        canvas.paragraph(note, 0, Tone::Warning);
    }
    canvas.blank();
    table(canvas, matrix, &matrix.ours);
    super::sign_legend(canvas, &matrix.legend);
    match &matrix.published {
        Some((label, fields)) if verbose => {
            canvas.blank();
            canvas.paragraph(&format!("Published: {label}"), 0, Tone::Plain);
            table(canvas, matrix, fields);
        }
        Some(_) => {
            let hint = "The published matrix is shown with --verbose.";
            canvas.paragraph(hint, 0, Tone::Faint);
        }
        None => {}
    }
    canvas.blank();
    canvas.paragraph("Rules of thumb on this machine", 0, Tone::Strong);
    for rule in &matrix.rules {
        canvas.hanging(&[span("•", Tone::Faint)], 2, rule, Tone::Plain);
    }
    if let Some(remark) = matrix.remark {
        canvas.paragraph(remark, 0, Tone::Plain);
    }
    canvas.paragraph(&matrix.evidence, 0, Tone::Faint);
}

/// The fields below the heads of the columns; columns that do not fit follow below.
fn table(canvas: &mut Canvas, matrix: &Matrix<'_>, fields: &[Vec<Field>]) {
    let heads = matrix.rows.iter().chain([&matrix.row_title]);
    let label = heads.map(|head| head.width()).max().unwrap_or(0);
    let label = label.min(canvas.width / 3);
    let texts = fields.iter().flatten().map(|field| field.text.width() + 2);
    let heads = matrix.columns.iter().map(|column| column.width());
    let column = texts.chain(heads).max().unwrap_or(0);
    let room = canvas.width.saturating_sub(label);
    let at_once = (room / (column + GAP)).max(1);
    let columns: Vec<usize> = (0..matrix.columns.len()).collect();
    for (index, columns) in columns.chunks(at_once).enumerate() {
        if index > 0 {
            canvas.blank();
        }
        block(canvas, matrix, fields, columns, (label, column));
    }
}

fn block(
    canvas: &mut Canvas,
    matrix: &Matrix<'_>,
    fields: &[Vec<Field>],
    columns: &[usize],
    (label, column): (usize, usize),
) {
    let gap = || span(" ".repeat(GAP), Tone::Plain);
    let mut line = vec![span(pad(&matrix.row_title, label, false), Tone::Faint)];
    for index in columns {
        // The sign stands to the right of the numbers.
        let head = pad(&format!("{}  ", matrix.columns[*index]), column, true);
        line.extend([gap(), span(head, Tone::Faint)]);
    }
    canvas.line(&line);
    for (head, fields) in matrix.rows.iter().zip(fields) {
        let mut line = vec![span(pad(head, label, true), Tone::Plain)];
        for index in columns {
            line.extend([gap(), number(&fields[*index], column)]);
        }
        canvas.line(&line);
    }
}

fn number(field: &Field, width: usize) -> Span {
    let sign = field.sign.map_or(' ', crate::document::Sign::glyph);
    let text = pad(&format!("{} {sign}", field.text), width, true);
    span(text, field_tone(field))
}

/// By the sign; a published ratio, which has none, by the side of 1 on which it lies.
fn field_tone(field: &Field) -> Tone {
    match (field.sign, field.shade) {
        (Some(sign), _) => sign_tone(sign),
        (None, Some(shade)) if shade > 0 => Tone::Ours,
        (None, Some(shade)) if shade < 0 => Tone::Published,
        _ => Tone::Plain,
    }
}
