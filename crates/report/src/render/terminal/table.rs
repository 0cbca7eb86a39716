//! Tables: columns that do not fit are left out, the lightest first; what is essential wraps, and
//! goes on in a further line, before any of it is lost. No cell is ever cut.

use super::canvas::{Canvas, FAINT, Line, OURS, PLAIN, PUBLISHED, sign_style};
use crate::document::{Align, Cell, Column, Detail, Row, Table};
use anstyle::Style;
use unicode_width::UnicodeWidthStr;

/// The first column keeps at least this width, as long as a column that is not essential can be
/// left out for it; other columns of text do as long as anything else gives way.
const TEXT: usize = 24;
/// The width that is kept for essential columns: rather than without them, labels wrap.
const NARROWEST: usize = 10;
/// Titles that are wider than this wrap before a column is left out.
const TITLE: usize = 8;
/// Space between columns, and before what continues a row.
const GAP: usize = 2;

/// A column by its index, its width, and whether its cells stand right.
type Field = (usize, usize, bool);

/// Draws the table.
pub(super) fn draw(canvas: &mut Canvas, table: &Table, detail: Detail) {
    let rows: Vec<&Row> = table.rows.iter().collect();
    if rows.is_empty() || table.columns.is_empty() {
        return;
    }
    let columns = table.columns.iter().enumerate();
    let mut columns: Vec<Sheet> = columns
        .map(|(index, column)| Sheet::of(canvas, column, index, &rows))
        .collect();
    if table.is_heat_map {
        return heat_map(canvas, &columns);
    }
    let lightest = u8::from(detail < Detail::Full);
    let mut index = 0;
    columns.retain(|column| {
        index += 1;
        index == 1 || column.weight >= lightest && column.has_content()
    });
    leave_out(canvas.width, &mut columns);
    let lines = arranged(canvas.width, &columns);
    draw_rows(canvas, &columns, &lines);
}

/// A column as it is drawn.
struct Sheet {
    /// Its title, then its cells.
    lines: Vec<Line>,
    right: bool,
    weight: u8,
    /// The width at which nothing wraps.
    natural: usize,
    /// The width below which it is rather left out, or put into a further line.
    least: usize,
}

/// The width at which a title takes one line, or at most two if it is long and has words to break
/// between.
fn least_of_title(title: &Line, text: &str) -> usize {
    if title.width() <= TITLE {
        return title.width();
    }
    let longest_word = text.split(' ').map(UnicodeWidthStr::width).max();
    let mut widths = title.width().div_ceil(2)..TITLE;
    let in_two = widths.find(|width| title.wrap(*width).len() <= 2);
    in_two.unwrap_or(TITLE).max(longest_word.unwrap_or(0))
}

impl Sheet {
    fn of(canvas: &Canvas, column: &Column, index: usize, rows: &[&Row]) -> Self {
        let title = canvas.ink(&column.title, FAINT);
        let least = least_of_title(&title, &column.title);
        let cells = rows.iter().map(|row| cell(canvas, row.cells.get(index)));
        let lines: Vec<Line> = [title].into_iter().chain(cells).collect();
        let widest = |lines: &[Line]| lines.iter().map(Line::width).max().unwrap_or(0);
        let right = column.align == Align::Right;
        let body = widest(&lines[1..]);
        Self {
            natural: widest(&lines),
            least: least.max(if right { body } else { body.min(TEXT) }),
            lines,
            right,
            weight: column.weight,
        }
    }

    fn has_content(&self) -> bool {
        self.lines[1..].iter().any(|cell| !cell.is_empty())
    }
}

/// What a cell shows: its text, then its sign.
fn cell(canvas: &Canvas, cell: Option<&Cell>) -> Line {
    let Some(cell) = cell else {
        return Line::default();
    };
    let text = canvas.text(&cell.text, cell_style(cell));
    let sign = cell.sign.map(|sign| canvas.sign(sign));
    text.joined(" ", sign.unwrap_or_default())
}

/// By the sign; a published ratio, which has none, by the side of 1 on which it lies.
fn cell_style(cell: &Cell) -> Style {
    match (cell.sign, cell.shade) {
        (Some(sign), _) => sign_style(sign),
        (None, Some(shade)) if shade > 0 => OURS,
        (None, Some(shade)) if shade < 0 => PUBLISHED,
        _ => PLAIN,
    }
}

/// Leaves out what is not essential and does not fit.
fn leave_out(width: usize, columns: &mut Vec<Sheet>) {
    while columns.len() > 2 {
        let weights = columns.iter().enumerate().skip(1);
        let Some((lightest, column)) = weights.min_by_key(|(_, column)| column.weight) else {
            return;
        };
        if column.weight >= Column::ESSENTIAL || needed(columns, TEXT) <= width {
            return;
        }
        columns.remove(lightest);
    }
}

/// How wide a line with all columns must be, where the first one keeps a width of `label`.
fn needed(columns: &[Sheet], label: usize) -> usize {
    let [first, others @ ..] = columns else {
        return 0;
    };
    let others = others.iter().map(|column| column.least + GAP);
    first.natural.min(label) + others.sum::<usize>()
}

/// Which columns stand in which line of a row, and how wide. Where not all fit in one, the first has
/// one for itself.
fn arranged(width: usize, columns: &[Sheet]) -> Vec<Vec<Field>> {
    let fits = needed(columns, NARROWEST) <= width;
    let mut lines: Vec<Vec<Field>> = Vec::new();
    let mut used = width;
    for (index, column) in columns.iter().enumerate() {
        let least = match index {
            0 if fits => column.natural.min(NARROWEST),
            0 => width,
            _ => column.least.min(width - GAP),
        };
        let gap = if index == 0 { 0 } else { GAP };
        match lines.last_mut() {
            Some(line) if used + gap + least <= width => line.push((index, least, column.right)),
            _ => {
                lines.push(vec![(index, least, column.right)]);
                used = 0;
            }
        }
        used += gap + least;
    }
    for line in &mut lines {
        let gaps = GAP * line.iter().filter(|(index, ..)| *index > 0).count();
        let taken: usize = line.iter().map(|(_, least, _)| least).sum();
        let mut spare = width.saturating_sub(taken + gaps);
        for (index, least, _) in line {
            let more = columns[*index].natural.saturating_sub(*least).min(spare);
            *least += more;
            spare -= more;
        }
    }
    lines
}

/// The titles, and then each row, over all its lines.
fn draw_rows(canvas: &mut Canvas, columns: &[Sheet], lines: &[Vec<Field>]) {
    let rows = columns.first().map_or(0, |column| column.lines.len());
    for row in 0..rows {
        for fields in lines {
            draw_line(canvas, columns, fields, row);
        }
    }
}

/// Cells side by side, each in as many lines as it needs; titles end where the cells begin.
fn draw_line(canvas: &mut Canvas, columns: &[Sheet], fields: &[Field], row: usize) {
    let cell = |field: &Field| &columns[field.0].lines[row];
    let continues = fields.iter().all(|(index, ..)| *index > 0);
    if continues && fields.iter().all(|field| cell(field).is_empty()) {
        return;
    }
    let wrapped = fields.iter().map(|field| cell(field).wrap(field.1));
    let wrapped: Vec<Vec<Line>> = wrapped.collect();
    let height = wrapped.iter().map(Vec::len).max().unwrap_or(0);
    for at in 0..height {
        let mut line = Line::default();
        for (parts, (index, width, right)) in wrapped.iter().zip(fields) {
            let missing = if row == 0 { height - parts.len() } else { 0 };
            let part = at.checked_sub(missing).and_then(|at| parts.get(at));
            let part = part.cloned().unwrap_or_default().pad(*width, *right);
            let gap = if *index == 0 { 0 } else { GAP };
            line = line.then(Line::spaces(gap)).then(part);
        }
        canvas.line(&line);
    }
}

/// Columns of one width; those that do not fit follow below.
fn heat_map(canvas: &mut Canvas, columns: &[Sheet]) {
    let [first, others @ ..] = columns else {
        return;
    };
    let label = first.natural.min(canvas.width / 3);
    let room = canvas.width - label;
    let widest = others.iter().map(|column| column.natural).max();
    let width = widest.unwrap_or(0).clamp(1, room - GAP);
    let others: Vec<usize> = (1..columns.len()).collect();
    for (index, chunk) in others.chunks((room / (width + GAP)).max(1)).enumerate() {
        if index > 0 {
            canvas.blank();
        }
        let fields = chunk.iter().map(|index| (*index, width, true));
        let line: Vec<Field> = [(0, label, first.right)]
            .into_iter()
            .chain(fields)
            .collect();
        draw_rows(canvas, columns, &[line]);
    }
}
