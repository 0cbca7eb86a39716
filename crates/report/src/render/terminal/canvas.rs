//! Lines of styled text that never exceed a width. Whatever is drawn passes through
//! [`Canvas::ink`], so that nothing steers the terminal.

use crate::document::{Sign, Text, Tone};
use crate::steers;
use crate::value::NO_BREAK;
use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthChar as _;

/// Without a style.
pub(super) const PLAIN: Style = Style::new();
/// What matters most.
pub(super) const STRONG: Style = Style::new().bold();
/// What may be skipped.
pub(super) const FAINT: Style = Style::new().dimmed();
/// The headings of the document itself.
pub(super) const HEADING: Style = Style::new().bold().underline();

/// This machine, and the first of two sides.
pub(super) const OURS: Style = AnsiColor::Blue.on_default();
/// Published figures, and the second of two sides.
pub(super) const PUBLISHED: Style = AnsiColor::Yellow.on_default();

/// What a tone looks like where there is colour.
pub(super) fn style(tone: Tone) -> Style {
    match tone {
        Tone::Plain => PLAIN,
        Tone::Strong => STRONG,
        Tone::Faint => FAINT,
        Tone::Good => AnsiColor::Green.on_default(),
        Tone::Bad => AnsiColor::Red.on_default(),
        Tone::Warning => AnsiColor::Yellow.on_default(),
    }
}

/// One colour for each side; nothing is claimed of what is faint.
pub(super) fn sign_style(sign: Sign) -> Style {
    match sign {
        Sign::Above | Sign::JustAbove => OURS,
        Sign::Below | Sign::JustBelow => PUBLISHED,
        Sign::Even => PLAIN,
        Sign::Open | Sign::Unreliable | Sign::Nothing => FAINT,
    }
}

/// A styled text, as the terminal can draw it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Line(Vec<(char, Style)>);

impl Line {
    pub(super) fn spaces(count: usize) -> Self {
        Self(vec![(' ', PLAIN); count])
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn width(&self) -> usize {
        self.0.iter().map(|(c, _)| c.width().unwrap_or(0)).sum()
    }

    #[must_use]
    pub(super) fn then(mut self, more: Self) -> Self {
        self.0.extend(more.0);
        self
    }

    /// This, `between`, which is ASCII, and that; nothing between if one of them is empty.
    #[must_use]
    pub(super) fn joined(mut self, between: &str, more: Self) -> Self {
        if !(self.is_empty() || more.is_empty()) {
            self.0.extend(between.chars().map(|c| (c, PLAIN)));
        }
        self.then(more)
    }

    /// With spaces up to `width`, on the left if it is to stand right.
    #[must_use]
    pub(super) fn pad(self, width: usize, right: bool) -> Self {
        let missing = Self::spaces(width.saturating_sub(self.width()));
        if right {
            missing.then(self)
        } else {
            self.then(missing)
        }
    }

    /// In lines of at most `width`, broken at spaces, and within a word only if it is wider than a
    /// line: behind what separates its parts, if it has any.
    pub(super) fn wrap(&self, width: usize) -> Vec<Self> {
        // The widest characters take three columns.
        let width = width.max(3);
        let mut lines = Vec::new();
        let (mut line, mut used) = (Self::default(), 0);
        let words = self.0.split(|(c, _)| *c == ' ');
        for word in words.filter(|word| !word.is_empty()) {
            let wide = |(c, _): &(char, Style)| c.width().unwrap_or(0);
            if used > 0 && used + 1 + word.iter().map(wide).sum::<usize>() > width {
                lines.push(std::mem::take(&mut line));
                used = 0;
            }
            if used > 0 {
                line.0.push((' ', word[0].1));
                used += 1;
            }
            for ink in word {
                while used + wide(ink) > width {
                    // A word that is wider than a line begins one.
                    let tail = line.0.split_off(behind_separator(&line.0));
                    lines.push(std::mem::replace(&mut line, Self(tail)));
                    used = line.width();
                }
                line.0.push(*ink);
                used += wide(ink);
            }
        }
        lines.push(line);
        lines
    }
}

/// Where the last part of a word begins; its end where nothing separates parts.
fn behind_separator(word: &[(char, Style)]) -> usize {
    let separates = |(c, _): &(char, Style)| matches!(c, '/' | '-' | '_' | ',' | ':');
    let last = word.iter().rposition(separates);
    last.map_or(word.len(), |at| at + 1)
}

/// The report as far as it is written.
pub(super) struct Canvas {
    pub(super) text: String,
    pub(super) width: usize,
    colour: bool,
}

impl Canvas {
    pub(super) fn new(width: usize, colour: bool) -> Self {
        Self {
            text: String::new(),
            width,
            colour,
        }
    }

    /// A text in a style.
    pub(super) fn ink(&self, text: &str, style: Style) -> Line {
        self.drawn(text.chars().map(|c| (c, style)))
    }

    /// A text whose letters are not exchanged for what the terminal can draw: other letters would be another
    /// command. What would steer the terminal does not reach it.
    pub(super) fn as_it_is(&self, text: &str) -> Line {
        let shown = |c| if steers(c) { '\u{fffd}' } else { c };
        Line(text.chars().map(|c| (shown(c), PLAIN)).collect())
    }

    pub(super) fn sign(&self, sign: Sign) -> Line {
        self.drawn([(sign.glyph(), sign_style(sign))])
    }

    /// A text whose plain pieces have the style `base`, and whose others have its effects.
    pub(super) fn text(&self, text: &Text, base: Style) -> Line {
        let spans = text.0.iter().flat_map(|span| {
            let style = match span.tone {
                Tone::Plain => base,
                tone => style(tone) | base.get_effects(),
            };
            span.text.chars().map(move |c| (c, style))
        });
        self.drawn(spans)
    }

    /// Characters as a terminal can draw them. Those which would steer it, which a label from a study file could
    /// contain, do not reach it.
    pub(super) fn drawn(&self, inks: impl IntoIterator<Item = (char, Style)>) -> Line {
        let mut line = Line::default();
        for (character, style) in inks {
            match character {
                ' '..='~' | NO_BREAK => line.0.push((character, style)),
                '\n' | '\t' => line.0.push((' ', style)),
                // It may widen the character before it, after that has been measured.
                '\u{fe0f}' => {}
                c if steers(c) => line.0.push(('\u{fffd}', style)),
                c => line.0.push((c, style)),
            }
        }
        line
    }

    /// One line, which is to be no wider than the canvas.
    pub(super) fn line(&mut self, line: &Line) {
        let end = line.0.iter().rposition(|(c, _)| *c != ' ');
        let mut current = PLAIN;
        for (character, style) in line.0.iter().take(end.map_or(0, |end| end + 1)) {
            self.switch(&mut current, *style);
            self.text.push(match *character {
                NO_BREAK => ' ',
                character => character,
            });
        }
        self.switch(&mut current, PLAIN);
        self.text.push('\n');
    }

    fn switch(&mut self, current: &mut Style, to: Style) {
        if self.colour && *current != to {
            self.text.push_str(&format!("{current:#}{to}"));
            *current = to;
        }
    }

    /// An empty line, unless there is one, or nothing that it would part.
    pub(super) fn blank(&mut self) {
        if !(self.text.is_empty() || self.text.ends_with("\n\n")) {
            self.text.push('\n');
        }
    }

    /// A text over as many lines as it needs, each indented.
    pub(super) fn paragraph(&mut self, text: &Line, indent: usize) {
        self.hanging(Line::default(), indent, text);
    }

    /// `prefix`, then the text; its further lines are indented by `indent`. A prefix that is longer
    /// stands above.
    pub(super) fn hanging(&mut self, mut prefix: Line, indent: usize, text: &Line) {
        if prefix.is_empty() && text.is_empty() {
            return;
        }
        if prefix.width() >= indent && !prefix.is_empty() {
            prefix.wrap(self.width).iter().for_each(|l| self.line(l));
            prefix = Line::default();
        }
        for part in text.wrap(self.width.saturating_sub(indent)) {
            let start = std::mem::take(&mut prefix);
            self.line(&start.pad(indent, false).then(part));
        }
    }

    /// Texts beside each other, in as many lines as they need.
    pub(super) fn flow(&mut self, items: impl IntoIterator<Item = Line>) {
        const GAP: &str = "   ";
        let mut line = Line::default();
        for item in items {
            if !line.is_empty() && line.width() + GAP.len() + item.width() > self.width {
                self.line(&std::mem::take(&mut line));
            }
            if item.width() > self.width {
                self.paragraph(&item, 0);
            } else {
                line = line.joined(GAP, item);
            }
        }
        if !line.is_empty() {
            self.line(&line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_wrap_longer_ones_break_and_what_a_terminal_must_not_obey_does_not_reach_it() {
        let interval = format!("a {} b", crate::value::interval(2.06, 2.15));
        for (text, width, expected) in [
            ("a bb ccc", 4, "a bb\nccc\n"),
            ("abcdefgh", 3, "abc\ndef\ngh\n"),
            ("漢字漢字", 5, "漢字\n漢字\n"),
            ("mattn/go-sqlite3", 14, "mattn/go-\nsqlite3\n"),
            ("DIRECT_OVERFLOW_READ=0", 14, "DIRECT_\nOVERFLOW_\nREAD=0\n"),
            ("a/漢字漢字", 5, "a/\n漢字\n漢字\n"),
            // It stays on one line and is written with plain spaces.
            (&interval, 12, "a\n[2.06, 2.15]\nb\n"),
            ("a\u{1b}[31mb\u{9b}2J", 40, "a\u{fffd}[31mb\u{fffd}2J\n"),
        ] {
            let mut canvas = Canvas::new(width, false);
            canvas.paragraph(&canvas.ink(text, PLAIN), 0);
            assert_eq!(canvas.text, expected);
        }
    }

    #[test]
    fn every_colour_ends_before_its_line_does() {
        let mut canvas = Canvas::new(40, true);
        canvas.line(&canvas.ink("a", STRONG).then(canvas.ink("b", FAINT)));
        assert_eq!(canvas.text, "\u{1b}[1ma\u{1b}[0m\u{1b}[2mb\u{1b}[0m\n");
    }
}
