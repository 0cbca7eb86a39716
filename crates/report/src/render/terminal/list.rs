//! Lists.

use super::canvas::{Canvas, FAINT, Line, PLAIN, STRONG, style};
use crate::document::{Item, List, ListStyle, Tone};

/// Draws the items.
pub(super) fn draw(canvas: &mut Canvas, list: &List) {
    match list.style {
        ListStyle::Bullets => list.items.iter().for_each(|item| bullet(canvas, item)),
        ListStyle::Answers => list.items.iter().for_each(|item| answer(canvas, item)),
    }
}

/// A bullet whose colour says what was found.
fn sign(canvas: &Canvas, item: &Item) -> Line {
    let tone = item.badge.as_ref().map_or(Tone::Faint, |badge| badge.tone);
    canvas.ink("•", style(tone))
}

fn bullet(canvas: &mut Canvas, item: &Item) {
    let word = item.badge.as_ref();
    let word = word.map(|badge| canvas.ink(&badge.word, style(badge.tone)));
    let said = word
        .unwrap_or_default()
        .joined(": ", canvas.text(&item.title, STRONG))
        .joined(": ", canvas.text(&item.text, PLAIN));
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
    let title = canvas.text(&item.title, PLAIN);
    canvas.hanging(sign(canvas, item), 2, &title);
    canvas.paragraph(&canvas.text(&item.text, STRONG), 2);
    canvas.paragraph(&canvas.text(why, FAINT), 2);
}
