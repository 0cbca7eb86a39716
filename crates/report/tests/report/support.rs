//! The report of a run in each form, and what a reader sees of a page.

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

/// A run on a terminal with `--verbose`.
pub(crate) fn terminal(analysis: &Analysis, options: &TerminalOptions) -> String {
    let options = TerminalOptions {
        detail: Detail::Full,
        ..*options
    };
    render::terminal::render(&run::document(analysis, ""), &options)
}

/// A run on one screen.
pub(crate) fn screen(analysis: &Analysis, options: &TerminalOptions) -> String {
    render::terminal::on_one_screen(|rows| run::screen(analysis, rows), options)
}

/// A run on a terminal with `--quiet`.
pub(crate) fn brief(analysis: &Analysis, options: &TerminalOptions) -> String {
    let options = TerminalOptions {
        detail: Detail::Answer,
        ..*options
    };
    screen(analysis, &options)
}

/// A document on a terminal with `--quiet`.
pub(crate) fn in_brief(document: &Document, options: &TerminalOptions) -> String {
    let options = TerminalOptions {
        detail: Detail::Answer,
        ..*options
    };
    render::terminal::render(document, &options)
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
    let fold = fold(&document.blocks, &id).unwrap();
    let mut said = fold.iter().filter_map(|block| match &block.content {
        Content::Paragraph(text) => Some(text.text()),
        _ => None,
    });
    let lists = fold.iter().filter_map(|block| match &block.content {
        Content::List(items) => Some(items),
        _ => None,
    });
    Found {
        advice: said.next().unwrap(),
        listed: lists.flatten().map(|item| item.text.text()).collect(),
    }
}

fn fold<'a>(blocks: &'a [Block], id: &str) -> Option<&'a [Block]> {
    blocks.iter().find_map(|block| match &block.content {
        Content::Section(section) if section.id == id => Some(section.blocks.as_slice()),
        Content::Section(section) => self::fold(&section.blocks, id),
        _ => None,
    })
}

/// A run as `report.html`.
pub(crate) fn html(analysis: &Analysis, raw: &str) -> String {
    render::html::render(&run::document(analysis, raw))
}

/// A run as `summary.md`.
pub(crate) fn markdown(analysis: &Analysis) -> String {
    render::markdown::render(&run::document(analysis, ""))
}

/// A run as `analysis.json`.
pub(crate) fn json(analysis: &Analysis) -> serde_json::Value {
    let text = stowplan_report::json::render(analysis).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// In one line, each word after one space: where a form breaks its lines is its own business.
pub(crate) fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// From one text to another.
pub(crate) fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let start = text
        .find(from)
        .unwrap_or_else(|| panic!("{from} is not in {text}"));
    let length = text[start..].find(to).unwrap_or(text.len() - start);
    &text[start..start + length]
}

/// What stands in the section, the figure or the fold of the page with this name.
pub(crate) fn element<'a>(page: &'a str, id: &str) -> &'a str {
    let name = format!(" id=\"{id}\"");
    let at = page
        .find(&name)
        .unwrap_or_else(|| panic!("nothing is called {id} in {page}"));
    let start = page[..at].rfind('<').unwrap();
    let tag = page[start + 1..].split([' ', '>']).next().unwrap();
    let (open, close) = (format!("<{tag}"), format!("</{tag}>"));
    let mut end = start;
    let mut depth = 0_usize;
    loop {
        let closed = end + page[end..].find(&close).unwrap();
        depth += page[end..closed].matches(&open).count();
        end = closed + close.len();
        depth -= 1;
        if depth == 0 {
            return &page[start..end];
        }
    }
}

/// What can be read on a page or a part of it: each text between two tags is a line, those of
/// tooltips included.
pub(crate) fn seen(page: &str) -> String {
    let mut lines = Vec::new();
    for part in markup(page).split('<') {
        let (tag, text) = part.split_once('>').unwrap_or(("", part));
        let title = tag.split_once(" title=\"");
        let title = title.and_then(|(_, rest)| rest.split('"').next());
        lines.extend(title.map(read));
        lines.push(read(text));
    }
    lines.retain(|line| !line.trim().is_empty());
    lines.join("\n") + "\n"
}

/// What can be read, as words after one space each.
pub(crate) fn seen_words(page: &str) -> String {
    words(&seen(page))
}

fn read(text: &str) -> String {
    let named = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&amp;", "&"),
    ];
    let plain = text.to_owned();
    named
        .iter()
        .fold(plain, |text, (name, sign)| text.replace(name, sign))
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

/// The text without its ANSI sequences.
pub(crate) fn without_sequences(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plain, part| {
        plain + part.split_once('m').map_or("", |(_, rest)| rest)
    })
}

/// A ratio from 0.1 to 10 as the reports show it.
pub(crate) fn three_digits(ratio: f64) -> String {
    if ratio < 1.0 {
        format!("{ratio:.3}")
    } else {
        format!("{ratio:.2}")
    }
}
