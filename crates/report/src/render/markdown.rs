//! A document as Markdown: what is drawn elsewhere is a table here.

use super::{carries_files, is_told};
use crate::document::{
    Align, Block, Cell, ChartRow, Content, Detail, Document, Item, Key, LegendEntry, Look, Row,
    RowGroup, Rows, Section, Table, Text, Tone,
};
use crate::steers;
use crate::value::NO_BREAK;
use maud::html;

/// The document as Markdown.
#[must_use]
pub fn render(document: &Document) -> String {
    let mut page = Page::default();
    page.text.push_str(crate::MARK);
    page.text.push('\n');
    page.paragraph(&format!("# {}", escape(&document.title)));
    page.paragraph(&inline(&document.question));
    page.blocks(&document.blocks, 2);
    page.text
}

/// The document as far as it is written.
#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    /// Lines behind an empty one; none without content.
    fn paragraph(&mut self, text: &str) {
        if !text.is_empty() {
            self.text.push_str(&format!("\n{text}\n"));
        }
    }

    fn lines(&mut self, lines: impl IntoIterator<Item = String>) {
        let lines: Vec<String> = lines.into_iter().collect();
        self.paragraph(&lines.join("\n"));
    }

    fn blocks(&mut self, blocks: &[Block], level: usize) {
        let drawn = |block: &Block| block.detail == Detail::Page;
        for (index, block) in blocks.iter().enumerate().filter(|(_, block)| !drawn(block)) {
            match &block.content {
                // The table beside a plane says more.
                Content::Rows(rows) if rows.across.is_some() && has_table(&blocks[index..]) => {}
                Content::Section(fold) if index > 0 && repeats(&blocks[index - 1], fold) => {}
                content => self.content(content, level),
            }
        }
    }

    fn content(&mut self, content: &Content, level: usize) {
        match content {
            Content::Section(section) => self.section(section, level),
            Content::Paragraph(text) => self.paragraph(&inline(text)),
            Content::Notice(text) => self.paragraph(&bold(&text.text())),
            Content::List(items) => {
                self.lines(items.iter().map(|found| format!("- {}", item(found))));
            }
            Content::Facts(facts) => {
                let fact = |(name, value): &(String, Text)| {
                    format!("- {}: {}", escape(name), inline(value))
                };
                self.lines(facts.iter().map(fact));
            }
            Content::Table(table) => self.table(table),
            Content::Rows(rows) => self.rows(rows),
            Content::Legend(entries) => self.legend(entries),
            Content::Verbatim(text) => self.verbatim(text),
            // They are for the page.
            Content::Files(_) => {}
        }
    }

    fn heading(&mut self, level: usize, title: &Text) {
        let title = escape(&title.text());
        if !title.is_empty() {
            self.paragraph(&format!("{} {title}", "#".repeat(level.min(6))));
        }
    }

    fn section(&mut self, section: &Section, level: usize) {
        if carries_files(&section.blocks) {
            return;
        }
        let is_fold = section.look == Look::Fold;
        let below = level + usize::from(!section.title.is_empty() && !is_fold);
        let title = |page: &mut Self| match is_fold {
            false => page.heading(level, &section.title),
            true => {
                let summary = html! { (section.title.text().replace(steers, " ")) }.into_string();
                page.paragraph(&format!("<details><summary>{summary}</summary>"));
            }
        };
        if !self.headed(title, &section.blocks, below) {
            if !section.found.is_empty() {
                let said = [inline(&section.title), inline(&section.found)];
                self.paragraph(&said.join(": "));
            }
        } else if is_fold {
            self.paragraph("</details>");
        }
    }

    fn headed(&mut self, above: impl FnOnce(&mut Self), blocks: &[Block], level: usize) -> bool {
        let start = self.text.len();
        above(self);
        let body = self.text.len();
        self.blocks(blocks, level);
        let has_any = self.text.len() > body;
        if !has_any {
            self.text.truncate(start);
        }
        has_any
    }

    fn table(&mut self, table: &Table) {
        let heads = table.columns.iter();
        let heads = heads.map(|column| (escape(&column.title), column.align));
        let heads: Vec<(String, Align)> = heads.collect();
        let rows = table.rows.iter();
        let cells = |row: &Row| -> Vec<String> {
            let cells = (0..heads.len()).map(|index| row.cells.get(index));
            cells.map(cell).collect()
        };
        self.grid(&heads, &rows.map(cells).collect::<Vec<_>>());
    }

    /// A table without the columns that have neither a title nor a text.
    fn grid(&mut self, heads: &[(String, Align)], rows: &[Vec<String>]) {
        let is_shown = |index: &usize| {
            let mut texts = rows
                .iter()
                .map(|row| &row[*index])
                .chain([&heads[*index].0]);
            texts.any(|text| !text.is_empty())
        };
        let shown: Vec<usize> = (0..heads.len()).filter(is_shown).collect();
        if rows.is_empty() || shown.is_empty() {
            return;
        }
        let line = |text: &dyn Fn(usize) -> String| {
            let texts: Vec<String> = shown.iter().map(|index| text(*index)).collect();
            format!("| {} |", texts.join(" | "))
        };
        let titles = line(&|index| heads[index].0.clone());
        let rule = line(&|index| match heads[index].1 {
            Align::Left => "---".to_owned(),
            Align::Right => "---:".to_owned(),
        });
        let rows = rows.iter().map(|row| line(&|index| row[index].clone()));
        self.lines([titles, rule].into_iter().chain(rows));
    }

    fn rows(&mut self, chart: &Rows) {
        let heads = [
            (String::new(), Align::Left),
            (escape(&chart.axis.title), Align::Right),
            (String::new(), Align::Left),
        ];
        let mut rows: Vec<Vec<String>> = Vec::new();
        for group in &chart.groups {
            let titles = [&group.heading, &group.title].into_iter();
            let titles = titles.filter(|title| !title.is_empty());
            rows.extend(titles.map(|title| fields(bold(title), "", "", String::new())));
            rows.extend(group.rows.iter().map(chart_row));
            self.lines(said_of(group, &group.notices).map(|text| bold(&text)));
        }
        self.grid(&heads, &rows);
        let remarks = chart.groups.iter();
        let remarks = remarks.flat_map(|group| said_of(group, &group.remarks));
        self.lines(remarks.map(|text| format!("- {}", escape(&text))));
        self.legend(&chart.legend);
    }

    /// What the signs say, and at which values lines lie; nothing else is drawn.
    fn legend(&mut self, entries: &[LegendEntry]) {
        let entries = entries.iter().filter_map(|entry| match entry.key {
            Key::Sign(sign) | Key::Point(sign) => {
                Some(format!("{} {}", sign.glyph(), escape(&entry.text)))
            }
            Key::Mark(_) => Some(escape(&entry.text)),
            _ => None,
        });
        let text = entries.collect::<Vec<_>>().join("; ");
        self.paragraph(&text);
    }

    fn verbatim(&mut self, text: &str) {
        let clean = |line: &str| line.replace(steers, " ");
        let text = text.lines().map(clean).collect::<Vec<_>>().join("\n");
        let runs = text.split(|c| c != '`').map(str::len);
        let fence = "`".repeat(runs.max().unwrap_or(0).max(2) + 1);
        self.paragraph(&format!("{fence}\n{text}\n{fence}"));
    }
}

/// Whether a block shows a table, be it folded.
fn has_table(blocks: &[Block]) -> bool {
    blocks.iter().any(|block| match &block.content {
        Content::Table(_) => true,
        Content::Section(fold) if fold.look == Look::Fold => has_table(&fold.blocks),
        _ => false,
    })
}

/// Whether a fold says what the rows before it say.
fn repeats(before: &Block, fold: &Section) -> bool {
    let is_plane = |rows: &Rows| rows.across.is_some();
    let is_shown = !matches!(&before.content, Content::Rows(rows) if is_plane(rows));
    is_shown && is_told(&before.content, fold)
}

/// Those of the texts that say something, with this between them.
fn joined<const N: usize>(between: &str, mut texts: [String; N]) -> String {
    let said = texts.iter_mut().filter(|text| !text.is_empty());
    said.map(std::mem::take).collect::<Vec<_>>().join(between)
}

/// A title, what was found in a word, and the rest; the figure of an answer is in its reason.
fn item(item: &Item) -> String {
    let badge = item.badge.as_ref().map(|badge| escape(&badge.word));
    let (title, said) = (bold(&item.title.text()), inline(&item.text));
    let said = joined(": ", [title, badge.unwrap_or_default(), said]);
    joined("; ", [said, inline(&item.note)])
}

fn cell(cell: Option<&Cell>) -> String {
    let text = cell.map(|cell| inline(&cell.text)).unwrap_or_default();
    match cell.and_then(|cell| cell.sign) {
        Some(sign) => format!("{text} {}", sign.glyph()),
        None => text,
    }
}

fn chart_row(row: &ChartRow) -> Vec<String> {
    let sign = row.sign.map(|sign| sign.glyph().to_string());
    let label = escape(&row.detailed());
    fields(label, &row.text(), &row.spread(), sign.unwrap_or_default())
}

fn fields(label: String, value: &str, spread: &str, aside: String) -> Vec<String> {
    vec![label, joined(" ", [escape(value), escape(spread)]), aside]
}

/// Texts about a group, with its name.
fn said_of<'a>(group: &'a RowGroup, texts: &'a [String]) -> impl Iterator<Item = String> {
    texts.iter().map(|text| match group.title.as_str() {
        "" => text.clone(),
        title => format!("{title}: {text}"),
    })
}

/// Text with what is strong in it, and its links.
fn inline(text: &Text) -> String {
    let spans = text.0.iter().map(|span| {
        let shown = match span.tone {
            Tone::Strong => bold(&span.text),
            _ => characters(&span.text),
        };
        match span.link.as_deref().filter(|to| to.starts_with("https://")) {
            Some(to) => format!("[{shown}](<{}>)", address(to)),
            None => shown,
        }
    });
    beginning(&spans.collect::<String>())
}

/// Emphasis begins and ends at what is no space.
fn bold(text: &str) -> String {
    let inner = text.trim();
    if inner.is_empty() {
        return text.replace(steers, " ");
    }
    let space = |is: bool| if is { " " } else { "" };
    let (start, end) = (space(text.starts_with(' ')), space(text.ends_with(' ')));
    format!("{start}**{}**{end}", characters(inner))
}

/// An address that ends where its brackets do, and breaks no table.
fn address(to: &str) -> String {
    let kept = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?#@!$&'*+,;=%".contains(&byte);
    to.bytes()
        .map(|byte| match kept(byte) {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        })
        .collect()
}

/// Text that Markdown must not read as anything else: labels come from study files.
fn escape(text: &str) -> String {
    beginning(&characters(text))
}

fn characters(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' => {
                escaped.push('\\');
                escaped.push(character);
            }
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            c if steers(c) || c == NO_BREAK => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

/// What stands at the beginning of a line is no heading, item, rule or block.
fn beginning(text: &str) -> String {
    let text = text.trim();
    let begins = |what: &&str| text.starts_with(what);
    if ["#", "- ", "+ ", "--", "==", "~~~"].iter().any(begins) || ["-", "+", "="].contains(&text) {
        return format!("\\{text}");
    }
    let number = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = &text[..text.len() - number.len()];
    match number.strip_prefix(['.', ')']) {
        Some(rest) if !digits.is_empty() && (rest.is_empty() || rest.starts_with(' ')) => {
            format!("{digits}\\{number}")
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_cannot_break_a_table_a_fold_or_a_link_or_run() {
        for (text, escaped) in [
            ("a|b\n<script>`", "a\\|b &lt;script&gt;\\`"),
            ("# a \u{202e}b", "\\# a  b"),
            ("-->", "\\--&gt;"),
            ("1. a", "1\\. a"),
            ("1.5 ms", "1.5 ms"),
        ] {
            assert_eq!(escape(text), escaped);
        }
        let to = address("https://a/b>) | [c](d");
        assert_eq!(to, "https://a/b%3E%29%20%7C%20%5Bc%5D%28d");
        let block = crate::document::paragraph("x");
        let mut page = Page::default();
        page.section(&Section::fold("a|b <c>", vec![block]), 2);
        let text = "\n<details><summary>a|b &lt;c&gt;</summary>\n\nx\n\n</details>\n";
        assert_eq!(page.text, text);
    }
}
