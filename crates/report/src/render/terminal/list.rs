//! Lists.

use super::canvas::{Canvas, FAINT, Line, PLAIN, STRONG, style};
use super::chart;
use crate::document::{Detail, Item, List, ListStyle, Tone};

/// Draws the items. Steps are rows of the chart that they explain, so that they are shown only if
/// everything is.
pub(super) fn draw(canvas: &mut Canvas, list: &List, detail: Detail) {
    match list.style {
        ListStyle::Bullets => list.items.iter().for_each(|item| bullet(canvas, item)),
        ListStyle::Answers => list.items.iter().for_each(|item| answer(canvas, item)),
        ListStyle::Figures if list.items.iter().all(is_titled) => lines(canvas, &list.items),
        ListStyle::Figures => figures(canvas, &list.items),
        ListStyle::Steps if detail >= Detail::Full => figures(canvas, &list.items),
        ListStyle::Steps => {}
    }
}

/// What stands before an item: how it is drawn in a chart, or a bullet whose colour says what was
/// found.
fn sign(canvas: &Canvas, item: &Item) -> Line {
    let drawn = item.key.and_then(chart::key);
    let tone = item.badge.as_ref().map_or(Tone::Faint, |badge| badge.tone);
    canvas.drawn([drawn.unwrap_or(('•', style(tone)))])
}

fn bullet(canvas: &mut Canvas, item: &Item) {
    let word = item
        .badge
        .as_ref()
        .map(|badge| canvas.ink(&badge.word, style(badge.tone)));
    let title = canvas.text(&item.title, STRONG);
    let text = canvas.text(&item.text, PLAIN);
    let figure = canvas.text(&item.figure, FAINT);
    let colon = || canvas.ink(": ", PLAIN);
    let said = word.unwrap_or_default().joined(colon(), title);
    let said = said.joined(colon(), text).joined(Line::spaces(1), figure);
    canvas.hanging(sign(canvas, item), 2, &said);
    canvas.paragraph(&canvas.text(&item.note, FAINT), 2);
}

/// The question, the answer, and why; the figure is in that, unless there is nothing else.
fn answer(canvas: &mut Canvas, item: &Item) {
    let why = if item.note.is_empty() {
        &item.figure
    } else {
        &item.note
    };
    let answer = canvas.text(&item.text, STRONG);
    match item.title.is_empty() {
        true => canvas.hanging(sign(canvas, item), 2, &answer),
        false => {
            let title = canvas.text(&item.title, PLAIN);
            canvas.hanging(sign(canvas, item), 2, &title);
            canvas.paragraph(&answer, 2);
        }
    }
    canvas.paragraph(&canvas.text(why, FAINT), 2);
}

fn is_titled(item: &Item) -> bool {
    !item.title.is_empty()
}

/// A line for each: its figure, and beside that what it is of.
fn lines(canvas: &mut Canvas, items: &[Item]) {
    let figure = |item: &Item| canvas.text(&item.figure, FAINT);
    let figures: Vec<Line> = items.iter().map(figure).collect();
    let width = figures.iter().map(Line::width).max().unwrap_or(0);
    // Longer figures leave no room beside them.
    let fits = width <= canvas.width / 2;
    let indent = if fits && width > 0 { width + 4 } else { 2 };
    for (item, figure) in items.iter().zip(figures) {
        let title = canvas.text(&item.title, PLAIN);
        let colon = canvas.ink(": ", PLAIN);
        let said = title.joined(colon, canvas.text(&item.text, PLAIN));
        let (beside, below) = match fits {
            true => (figure, Line::default()),
            false => (Line::default(), figure),
        };
        let prefix = sign(canvas, item).joined(Line::spaces(1), beside);
        canvas.hanging(prefix, indent, &said);
        canvas.paragraph(&below, indent);
        canvas.paragraph(&canvas.text(&item.note, FAINT), indent);
    }
}

/// Figures below each other, and what they are of beside them; an item with a title begins anew.
fn figures(canvas: &mut Canvas, items: &[Item]) {
    for items in items.chunk_by(|_, next| next.title.is_empty()) {
        let figure = |item: &Item| canvas.text(&item.figure, FAINT);
        let figures: Vec<Line> = items.iter().map(figure).collect();
        let indent = figures.iter().filter(|figure| !figure.is_empty());
        let indent = indent.map(|figure| figure.width() + 4).max().unwrap_or(2);
        // Longer figures stand above what they are of.
        let indent = if indent > canvas.width * 3 / 5 {
            4
        } else {
            indent
        };
        for (item, figure) in items.iter().zip(figures) {
            if !item.title.is_empty() {
                canvas.hanging(sign(canvas, item), 2, &canvas.text(&item.title, STRONG));
            }
            let gap = if figure.is_empty() { 0 } else { 2 };
            let prefix = Line::spaces(gap).then(figure);
            canvas.hanging(prefix, indent, &canvas.text(&item.text, PLAIN));
            canvas.paragraph(&canvas.text(&item.note, FAINT), indent);
        }
    }
}
