//! A document for a terminal: text that wraps, tables that keep what is essential, and charts drawn
//! with characters.

mod canvas;
mod chart;
mod table;

use crate::document::{
    Badge, Block, Content, Detail, Document, Item, Look, Section, Text, Tone, plain, toned,
};
use crate::render::{carries_files, is_told};
use anstyle::Style;
use canvas::{Canvas, FAINT, HEADING, Line, PLAIN, STRONG, style};

/// What the terminal can do and how much is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalOptions {
    /// Columns, of which 40 to 120 are used.
    pub width: usize,
    /// Whether to colour with ANSI sequences.
    pub colour: bool,
    /// Which blocks are wanted.
    pub detail: Detail,
}

/// The document as text. No line is wider than the terminal, and nothing is cut to make it so; but text that
/// is to stand as it is ([`Content::Verbatim`]) is never broken.
#[must_use]
pub fn render(document: &Document, options: &TerminalOptions) -> String {
    let width = options.width.clamp(40, 120);
    let mut writer = Writer {
        canvas: Canvas::new(width, options.colour),
        detail: options.detail,
    };
    writer.paragraph(&plain(&document.title), STRONG);
    if options.detail >= Detail::Full {
        let byline = document.byline.iter();
        let byline: Vec<Line> = byline.map(|text| writer.canvas.text(text, FAINT)).collect();
        writer.canvas.flow(byline);
    }
    writer.blocks(&document.blocks, 0);
    writer.canvas.text
}

/// Lines that one screen has room for, beside the one that says where the page is.
const SCREEN: usize = 38;
/// More rows than any screen has.
const MOST_ROWS: usize = 30;

/// What `document` makes of as many rows as one screen of 80 columns has room for.
#[must_use]
pub fn on_one_screen(document: impl Fn(usize) -> Document, options: &TerminalOptions) -> String {
    let texts = (0..=MOST_ROWS)
        .rev()
        .map(|rows| render(&document(rows), options));
    let mut texts = texts.peekable();
    while let Some(text) = texts.next() {
        if text.lines().count() <= SCREEN || texts.peek().is_none() {
            return text;
        }
    }
    String::new()
}

/// A document that has room on a screen, or all of it to those who ask.
#[must_use]
pub fn in_short(document: &Document, options: &TerminalOptions) -> String {
    match options.detail {
        Detail::Summary => on_one_screen(|rows| document.shortened(rows), options),
        Detail::Answer | Detail::Full | Detail::Page => render(document, options),
    }
}

/// The report as far as it is written.
struct Writer {
    canvas: Canvas,
    detail: Detail,
}

impl Writer {
    fn blocks(&mut self, blocks: &[Block], depth: usize) {
        let mut before: Option<&Content> = None;
        let detail = self.detail;
        let shown = |block: &&Block| block.detail <= detail;
        for block in blocks.iter().filter(shown) {
            let told = match (&block.content, before) {
                (Content::Section(fold), Some(before)) => is_told(before, fold),
                _ => false,
            };
            if told {
                continue;
            }
            let start = self.canvas.text.len();
            if before.is_some_and(|before| is_apart(before, &block.content)) {
                self.canvas.blank();
            }
            let body = self.canvas.text.len();
            self.content(&block.content, depth);
            if self.canvas.text.len() > body {
                before = Some(&block.content);
            } else {
                self.canvas.text.truncate(start);
            }
        }
    }

    fn content(&mut self, content: &Content, depth: usize) {
        match content {
            Content::Section(section) => self.section(section, depth),
            Content::Paragraph(text) => self.paragraph(text, PLAIN),
            Content::Notice(text) => self.paragraph(text, style(Tone::Warning)),
            Content::List(items) => items.iter().for_each(|item| self.item(item)),
            Content::Facts(facts) => facts.iter().for_each(|(name, value)| {
                let text = plain(format!("{name}: ")).then(value.clone());
                self.hanging(Line::default(), &text);
            }),
            Content::Table(found) => table::draw(&mut self.canvas, found, self.detail),
            Content::Rows(rows) => chart::rows(&mut self.canvas, rows),
            Content::Legend(entries) => chart::legend(&mut self.canvas, entries),
            Content::Verbatim(text) => self.verbatim(text, depth),
            // A terminal cannot carry files.
            Content::Files(_) => {}
        }
    }

    fn section(&mut self, section: &Section, depth: usize) {
        if carries_files(&section.blocks) {
            return;
        }
        let tone = section
            .badge
            .as_ref()
            .map_or(Tone::Plain, |badge| badge.tone);
        let title = |page: &mut Self| match section.look {
            Look::Fold => page.paragraph(&section.title, STRONG),
            _ => page.heading(&section.title, tone, depth),
        };
        if !self.headed(title, &section.blocks, depth + 1) && !section.found.is_empty() {
            let bullet = self.canvas.ink("•", style(tone));
            let title = section.title.clone().then(": ");
            self.hanging(bullet, &title.then(section.found.clone()));
        }
    }

    /// An item behind a bullet whose colour says what was found.
    fn item(&mut self, item: &Item) {
        let canvas = &mut self.canvas;
        let tone = |badge: &Badge| style(badge.tone);
        let bullet = canvas.ink("•", item.badge.as_ref().map_or(FAINT, tone));
        let word = item.badge.as_ref();
        let word = word.map(|badge| canvas.ink(&badge.word, tone(badge)));
        let said = word
            .unwrap_or_default()
            .joined(": ", canvas.text(&item.title, STRONG))
            .joined(": ", canvas.text(&item.text, PLAIN));
        canvas.hanging(bullet, 2, &said);
        canvas.paragraph(&canvas.text(&item.note, FAINT), 2);
    }

    /// The blocks below what stands above them, which is not shown without any; whether there are any.
    fn headed(&mut self, above: impl FnOnce(&mut Self), blocks: &[Block], depth: usize) -> bool {
        let start = self.canvas.text.len();
        above(self);
        let body = self.canvas.text.len();
        self.blocks(blocks, depth);
        let has_any = self.canvas.text.len() > body;
        if !has_any {
            self.canvas.text.truncate(start);
        }
        has_any
    }

    fn heading(&mut self, title: &Text, tone: Tone, depth: usize) {
        if title.is_empty() {
            return;
        }
        self.canvas.blank();
        let base = if depth == 0 { HEADING } else { STRONG };
        let title = match tone {
            Tone::Plain => title.clone(),
            tone => toned(title.text(), tone),
        };
        self.paragraph(&title, base);
    }

    fn paragraph(&mut self, text: &Text, base: Style) {
        let text = self.canvas.text(text, base);
        self.canvas.paragraph(&text, 0);
    }

    fn hanging(&mut self, prefix: Line, text: &Text) {
        let text = self.canvas.text(text, PLAIN);
        self.canvas.hanging(prefix, 2, &text);
    }

    /// Lines as they are, to be pasted: none is broken, however narrow the terminal is. A command of one line
    /// stands apart by an indent, which a shell does not mind.
    fn verbatim(&mut self, text: &str, depth: usize) {
        let is_one = text.lines().count() < 2;
        let indent = if is_one && depth > 0 { 2 } else { 0 };
        for line in text.lines() {
            let line = self.canvas.as_it_is(line);
            self.canvas.line(&Line::spaces(indent).then(line));
        }
    }
}

/// Whether an empty line parts two neighbours: after a section, between drawings, around what is
/// folded elsewhere, between a notice or a list and a table, and where text as it is adjoins facts or
/// other such text.
fn is_apart(before: &Content, after: &Content) -> bool {
    use Content::{Facts, List, Notice, Rows, Section, Table, Verbatim};
    match (before, after) {
        (Verbatim(_), Verbatim(_) | Facts(_)) | (Facts(_), Verbatim(_)) => true,
        (Table(_) | Rows(_), Table(_) | Rows(_)) => true,
        (Notice(_) | List(_), Table(_)) => true,
        (Notice(_) | List(_) | Table(_), Section(after)) if is_folded(after) => true,
        (Section(before), Section(after)) if is_folded(before) && is_folded(after) => true,
        (before, Section(after)) if after.title.is_empty() => is_section(before),
        _ => is_section(before) && !is_section(after),
    }
}

fn is_folded(section: &Section) -> bool {
    matches!(section.look, Look::Fold | Look::Finding)
}

fn is_section(content: &Content) -> bool {
    matches!(content, Content::Section(section) if section.look != Look::Fold)
}
