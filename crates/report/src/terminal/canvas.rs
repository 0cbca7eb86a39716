//! Lines of styled text that never exceed a width.

use crate::steers;
use anstyle::{AnsiColor, Style};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// What a piece of text means; only with colour does it show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Heading,
    Strong,
    Faint,
    Good,
    Bad,
    Warning,
    Ours,
    Published,
}

impl Tone {
    fn style(self) -> Style {
        let colour = |colour: AnsiColor| Style::new().fg_color(Some(colour.into()));
        match self {
            Self::Plain => Style::new(),
            Self::Heading => Style::new().bold().underline(),
            Self::Strong => Style::new().bold(),
            Self::Faint => Style::new().dimmed(),
            Self::Good => colour(AnsiColor::Green),
            Self::Bad => colour(AnsiColor::Red),
            Self::Warning | Self::Published => colour(AnsiColor::Yellow),
            Self::Ours => colour(AnsiColor::Blue),
        }
    }
}

/// A text with one tone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) text: String,
    pub(crate) tone: Tone,
}

/// A text with a tone.
pub(crate) fn span(text: impl Into<String>, tone: Tone) -> Span {
    Span {
        text: text.into(),
        tone,
    }
}

/// The report as far as it is written.
pub(crate) struct Canvas {
    text: String,
    pub(crate) width: usize,
    pub(crate) unicode: bool,
    colour: bool,
}

impl Canvas {
    pub(crate) fn new(width: usize, colour: bool, unicode: bool) -> Self {
        Self {
            text: String::new(),
            width,
            unicode,
            colour,
        }
    }

    pub(crate) fn finish(self) -> String {
        self.text
    }

    /// One line. What would exceed the width is cut.
    pub(crate) fn line(&mut self, spans: &[Span]) {
        let mut left = self.width;
        let mut line = String::new();
        for span in spans {
            let text = cut(&self.drawable(&span.text), left);
            left -= text.width();
            if self.colour && span.tone != Tone::Plain && !text.is_empty() {
                let style = span.tone.style();
                line.push_str(&format!("{style}{text}{style:#}"));
            } else {
                line.push_str(&text);
            }
        }
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    pub(crate) fn blank(&mut self) {
        self.text.push('\n');
    }

    pub(crate) fn heading(&mut self, title: &str) {
        self.blank();
        self.paragraph(title, 0, Tone::Heading);
    }

    /// A text over as many lines as it needs, each indented.
    pub(crate) fn paragraph(&mut self, text: &str, indent: usize, tone: Tone) {
        self.hanging(&[], indent, text, tone);
    }

    /// `prefix`, then the text; its further lines are indented by `indent`.
    pub(crate) fn hanging(&mut self, prefix: &[Span], indent: usize, text: &str, tone: Tone) {
        let text = self.drawable(text);
        let used: usize = prefix
            .iter()
            .map(|span| self.drawable(&span.text).width())
            .sum();
        let indentation = " ".repeat(indent);
        for (index, part) in wrap(&text, self.width.saturating_sub(indent))
            .into_iter()
            .enumerate()
        {
            let mut spans = Vec::new();
            if index == 0 && !prefix.is_empty() {
                spans.extend_from_slice(prefix);
                spans.push(span(" ".repeat(indent.saturating_sub(used)), Tone::Plain));
            } else {
                spans.push(span(indentation.clone(), Tone::Plain));
            }
            spans.push(span(part, tone));
            self.line(&spans);
        }
    }

    /// The text as this terminal can draw it. Control characters, which a label from a study file
    /// could contain, would steer the terminal; without Unicode, the characters of our own
    /// drawings and units get ASCII ones of the same width.
    fn drawable(&self, text: &str) -> String {
        let ascii = |c: char| match c {
            'µ' => 'u',
            '×' | '✗' => 'x',
            '–' | '─' | '━' | '−' => '-',
            '█' => '#',
            '▒' => '=',
            '│' => '|',
            '┊' => ':',
            '├' => '[',
            '┤' => ']',
            '•' => '*',
            '●' => 'o',
            '▲' => '+',
            '▼' => '-',
            '△' => '>',
            '▽' => '<',
            '≈' => '=',
            '·' => '.',
            '“' | '”' => '"',
            other => other,
        };
        text.chars()
            .map(|c| if steers(c) { '\u{fffd}' } else { c })
            .map(|c| if self.unicode { c } else { ascii(c) })
            .collect()
    }
}

/// The longest start of `text` that is at most `width` wide.
pub(crate) fn cut(text: &str, width: usize) -> String {
    let mut used = 0;
    text.chars()
        .take_while(|c| {
            used += c.width().unwrap_or(0);
            used <= width
        })
        .collect()
}

/// `text` in lines of at most `width`, broken at spaces, and within a word only if it is wider
/// than a line.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        if !line.is_empty() && line.width() + 1 + word.width() > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        for character in word.chars() {
            if line.width() + character.width().unwrap_or(0) > width && !line.is_empty() {
                lines.push(std::mem::take(&mut line));
            }
            line.push(character);
        }
    }
    lines.push(line);
    lines
}

/// `text` with spaces up to `width`, on the left if it is to stand right.
pub(crate) fn pad(text: &str, width: usize, right: bool) -> String {
    let missing = " ".repeat(width.saturating_sub(text.width()));
    if right {
        format!("{missing}{text}")
    } else {
        format!("{text}{missing}")
    }
}

/// Neighbours of one tone as one span.
pub(crate) fn merge(cells: &[(char, Tone)]) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for (sign, tone) in cells {
        match spans.last_mut() {
            Some(last) if last.tone == *tone => last.text.push(*sign),
            _ => spans.push(span(*sign, *tone)),
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_wrap_and_longer_words_break() {
        assert_eq!(wrap("a bb ccc", 4), ["a bb", "ccc"]);
        assert_eq!(wrap("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(wrap("", 3), [""]);
        assert_eq!(wrap("漢字漢字", 5), ["漢字", "漢字"]);
    }

    #[test]
    fn a_control_character_does_not_reach_the_terminal() {
        let mut canvas = Canvas::new(40, false, true);
        canvas.line(&[span("a\u{1b}[31mb", Tone::Plain)]);
        assert!(!canvas.finish().contains('\u{1b}'));
    }
}
