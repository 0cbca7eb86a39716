//! The report of a run in each form, and what a reader sees of a page.

use crate::fixture;
use stowplan_analysis::Analysis;
use stowplan_report::document::{Block, Content, Detail, Document};
use stowplan_report::render::{self, terminal::TerminalOptions};
use stowplan_report::run;

/// What most tests look at: 80 columns without colour.
pub(crate) const PLAIN: TerminalOptions = TerminalOptions {
    width: 80,
    colour: false,
    detail: Detail::Summary,
};

/// The same with `--verbose`.
pub(crate) const VERBOSE: TerminalOptions = TerminalOptions {
    detail: Detail::Full,
    ..PLAIN
};

/// As wide as lines become.
pub(crate) const WIDE: TerminalOptions = TerminalOptions {
    width: 120,
    ..PLAIN
};

/// The invented run, were this different in it.
pub(crate) fn changed(change: impl FnOnce(&mut Analysis)) -> Analysis {
    let mut analysis = fixture::analysis();
    change(&mut analysis);
    fixture::decided(analysis)
}

/// A run on a terminal with `--verbose`.
pub(crate) fn terminal(analysis: &Analysis, options: &TerminalOptions) -> String {
    let detail = Detail::Full;
    let document = run::document(analysis, "");
    render::terminal::render(&document, &TerminalOptions { detail, ..*options })
}

/// A run on one screen.
pub(crate) fn screen(analysis: &Analysis, options: &TerminalOptions) -> String {
    render::terminal::on_one_screen(|rows| run::screen(analysis, rows), options)
}

/// A run on a terminal with `--quiet`.
pub(crate) fn brief(analysis: &Analysis, options: &TerminalOptions) -> String {
    let detail = Detail::Answer;
    screen(analysis, &TerminalOptions { detail, ..*options })
}

/// A document of these blocks.
pub(crate) fn with(blocks: Vec<Block>) -> Document {
    Document {
        blocks,
        ..Document::default()
    }
}

/// A document on a terminal of this width.
pub(crate) fn on_terminal(document: &Document, width: usize, detail: Detail) -> String {
    let mut options = PLAIN;
    (options.width, options.detail) = (width, detail);
    render::terminal::render(document, &options)
}

/// A document on a terminal with `--quiet`.
pub(crate) fn in_brief(document: &Document, options: &TerminalOptions) -> String {
    let detail = Detail::Answer;
    render::terminal::render(document, &TerminalOptions { detail, ..*options })
}

/// A run as `report.html`.
pub(crate) fn html(analysis: &Analysis, raw: &str) -> String {
    render::html::render(&run::document(analysis, raw))
}

/// A run as `summary.md`.
pub(crate) fn markdown(analysis: &Analysis) -> String {
    render::markdown::render(&run::document(analysis, ""))
}

/// A run in each form for people, with all there is to know.
pub(crate) fn forms(analysis: &Analysis) -> [String; 3] {
    let page = html(analysis, "");
    [terminal(analysis, &PLAIN), markdown(analysis), page]
}

/// A run as `analysis.json`.
pub(crate) fn json(analysis: &Analysis) -> serde_json::Value {
    let text = stowplan_report::json::render(analysis).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// What is said of one comparison before its numbers.
pub(crate) struct Found {
    pub(crate) advice: String,
    /// Everything that is listed there.
    pub(crate) listed: Vec<String>,
}

/// What is said of the comparison at this place.
pub(crate) fn findings(analysis: &Analysis, place: usize) -> Found {
    let id = format!("finding-{}", analysis.comparisons[place].id);
    let document = run::document(analysis, "");
    let (mut said, mut listed) = (Vec::new(), Vec::new());
    for block in fold(&document.blocks, &id).unwrap() {
        match &block.content {
            Content::Paragraph(text) => said.push(text.text()),
            Content::List(items) => listed.extend(items.iter().map(|item| item.text.text())),
            _ => {}
        }
    }
    let advice = said.swap_remove(0);
    Found { advice, listed }
}

fn fold<'a>(blocks: &'a [Block], id: &str) -> Option<&'a [Block]> {
    blocks.iter().find_map(|block| match &block.content {
        Content::Section(section) if section.id == id => Some(section.blocks.as_slice()),
        Content::Section(section) => self::fold(&section.blocks, id),
        _ => None,
    })
}

/// In one line, each word after one space: where a form breaks its lines is its own business.
pub(crate) fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// From one text to another.
pub(crate) fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let start = text.find(from);
    let start = start.unwrap_or_else(|| panic!("{from} is not in {text}"));
    let length = text[start..].find(to).unwrap_or(text.len() - start);
    &text[start..start + length]
}

/// What stands in the section, the figure or the fold of the page with this name.
pub(crate) fn element<'a>(page: &'a str, id: &str) -> &'a str {
    let at = page.find(&format!(" id=\"{id}\""));
    let at = at.unwrap_or_else(|| panic!("nothing is called {id} in {page}"));
    let start = page[..at].rfind('<').unwrap();
    let tag = page[start + 1..].split([' ', '>']).next().unwrap();
    let (open, close) = (format!("<{tag}"), format!("</{tag}>"));
    let closed = page[start..].match_indices(&close);
    let mut ends = closed.map(|(at, _)| &page[start..start + at + close.len()]);
    let is_whole = |part: &&str| part.matches(&open).count() == part.matches(&close).count();
    ends.find(is_whole).unwrap()
}

/// The page without what stands in `script` and `style`: there, `<` is no tag.
pub(crate) fn markup(page: &str) -> String {
    let mut text = page.to_owned();
    for element in ["script", "style"] {
        let (open, close) = (format!("<{element}>"), format!("</{element}>"));
        while let Some(start) = text.find(&open) {
            let end = start + text[start..].find(&close).unwrap() + close.len();
            text.replace_range(start..end, "");
        }
    }
    text
}

/// A ratio from 0.1 to 10 as the reports show it.
pub(crate) fn three_digits(ratio: f64) -> String {
    let digits = if ratio < 1.0 { 3 } else { 2 };
    format!("{ratio:.digits$}")
}
