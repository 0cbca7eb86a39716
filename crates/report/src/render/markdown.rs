//! A document as Markdown: what is drawn elsewhere is a table here.

use super::{as_rows, detailed};
use crate::document::{
    Align, Block, Cell, ChartRow, Content, Detail, Document, Fold, Item, Key, LegendEntry, List,
    ListStyle, Medium, PointShape, RowGroup, Rows, Section, Shape, Sign, Table, Text, Tone,
};
use crate::format::NO_BREAK;
use crate::steers;

/// Where its blocks may be meant to be shown.
const MEDIA: [Medium; 2] = [Medium::Every, Medium::Text];

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
        let shown = |block: &&Block| block.is_shown(Detail::Full, &MEDIA);
        let shown: Vec<&Block> = blocks.iter().filter(shown).collect();
        for (index, block) in shown.iter().enumerate() {
            match &block.content {
                Content::Plane(plane) if !shown[index..].iter().any(|b| has_table(b)) => {
                    self.rows(&as_rows(plane));
                }
                content => self.content(content, level),
            }
        }
    }

    fn content(&mut self, content: &Content, level: usize) {
        match content {
            Content::Section(section) => self.section(section, level),
            Content::Fold(fold) => self.fold(fold, level),
            Content::Columns(sections) => {
                for section in sections {
                    self.section(section, level);
                }
            }
            Content::Paragraph(text) => self.paragraph(&inline(text)),
            Content::Notice(text) => self.paragraph(&bold(&text.text())),
            Content::List(list) => self.list(list),
            Content::Facts(facts) => self.lines(
                facts
                    .iter()
                    .map(|(name, value)| format!("- {}: {}", escape(name), inline(value))),
            ),
            Content::Table(table) => self.table(table),
            Content::Rows(rows) => self.rows(rows),
            Content::Legend(entries) => self.legend(entries),
            Content::Verbatim(text) => self.verbatim(text),
            // The table beside it says the same; files are for the page.
            Content::Plane(_) | Content::Files(_) => {}
        }
    }

    fn heading(&mut self, level: usize, title: &Text) {
        let title = escape(&title.text());
        self.paragraph(&format!("{} {title}", "#".repeat(level.min(6))));
    }

    /// The blocks below their heading, which is not shown without any.
    fn section(&mut self, section: &Section, level: usize) {
        let start = self.text.len();
        let titled = !section.title.is_empty();
        if titled {
            self.heading(level, &section.title);
        }
        let body = self.text.len();
        self.blocks(&section.blocks, level + usize::from(titled));
        if self.text.len() == body {
            self.text.truncate(start);
        }
    }

    fn fold(&mut self, fold: &Fold, level: usize) {
        let start = self.text.len();
        if fold.is_heading {
            self.heading(level, &fold.title);
        } else {
            let summary = in_html(&fold.title.text());
            self.paragraph(&format!("<details><summary>{summary}</summary>"));
        }
        let body = self.text.len();
        self.blocks(&fold.blocks, level + usize::from(fold.is_heading));
        if self.text.len() == body {
            self.text.truncate(start);
            let said = [inline(&fold.title), inline(&fold.found)];
            if !fold.found.is_empty() {
                self.paragraph(&said.join(": "));
            }
        } else if !fold.is_heading {
            self.paragraph("</details>");
        }
    }

    fn list(&mut self, list: &List) {
        let items = list.items.iter().enumerate();
        self.lines(items.map(|(index, item)| match list.style {
            ListStyle::Steps => format!("{}. {}", index + 1, self::item(item, list.style)),
            // Figures belong to the last title.
            ListStyle::Figures if index > 0 && item.title.is_empty() => {
                format!("  - {}", self::item(item, list.style))
            }
            _ => format!("- {}", self::item(item, list.style)),
        }));
    }

    fn table(&mut self, table: &Table) {
        let heads = table.columns.iter();
        let heads = heads.map(|column| (escape(&column.title), column.align));
        let heads: Vec<(String, Align)> = heads.collect();
        let rows = table.rows.iter().filter(|row| row.detail <= Detail::Full);
        let cells = |row: &crate::document::Row| {
            let cells = (0..heads.len()).map(|index| row.cells.get(index));
            cells
                .map(|found| found.map(cell).unwrap_or_default())
                .collect()
        };
        let rows: Vec<Vec<String>> = rows.map(cells).collect();
        self.grid(&heads, &rows);
    }

    fn grid(&mut self, heads: &[(String, Align)], rows: &[Vec<String>]) {
        if rows.is_empty() || heads.is_empty() {
            return;
        }
        let row = |cells: &[String]| format!("| {} |", cells.join(" | "));
        let titles: Vec<String> = heads.iter().map(|(title, _)| title.clone()).collect();
        let rules = heads.iter().map(|(_, align)| match align {
            Align::Left => "---".to_owned(),
            Align::Right => "---:".to_owned(),
        });
        let rules: Vec<String> = rules.collect();
        let rows = rows.iter().map(|cells| row(cells));
        self.lines([row(&titles), row(&rules)].into_iter().chain(rows));
    }

    fn rows(&mut self, chart: &Rows) {
        let mut rows = Vec::new();
        for group in &chart.groups {
            let titles = [&group.heading, &group.title];
            let titles = titles.into_iter().filter(|title| !title.is_empty());
            rows.extend(titles.map(|title| [bold(title), String::new(), String::new()]));
            group.rows.iter().for_each(|row| chart_row(row, &mut rows));
            self.lines(said_of(group, &group.notices).map(|text| bold(&text)));
        }
        self.three_columns(&chart.axis.title, rows);
        let remarks = chart.groups.iter();
        let remarks = remarks.flat_map(|group| said_of(group, &group.remarks));
        self.lines(remarks.map(|text| format!("- {}", escape(&text))));
        self.legend(&chart.legend);
    }

    /// The last column, of signs, only if there are any.
    fn three_columns(&mut self, title: &str, rows: Vec<[String; 3]>) {
        let count = if rows.iter().any(|row| !row[2].is_empty()) {
            3
        } else {
            2
        };
        let heads = [
            (String::new(), Align::Left),
            (escape(title), Align::Right),
            (String::new(), Align::Left),
        ];
        let rows: Vec<Vec<String>> = rows.iter().map(|row| row[..count].to_vec()).collect();
        self.grid(&heads[..count], &rows);
    }

    /// What the signs say, and at which values lines lie; nothing else is drawn.
    fn legend(&mut self, entries: &[LegendEntry]) {
        let entries = entries.iter().filter_map(|entry| match entry.key {
            Key::Sign(sign) | Key::Point(PointShape::Sign(sign)) => {
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
fn has_table(block: &Block) -> bool {
    match &block.content {
        Content::Table(_) => true,
        Content::Fold(fold) => fold
            .blocks
            .iter()
            .any(|block| block.is_shown(Detail::Full, &MEDIA) && has_table(block)),
        _ => false,
    }
}

/// A title, what was found in a word, and the rest; the figure of an answer is in its reason.
fn item(item: &Item, style: ListStyle) -> String {
    let joined = |parts: [&str; 2], between: &str| {
        let parts = parts.into_iter().filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join(between)
    };
    let is_answer = style == ListStyle::Answers;
    let badge = item.badge.as_ref().map(|badge| escape(&badge.word));
    let badge = badge.filter(|_| matches!(style, ListStyle::Answers | ListStyle::Bullets));
    let (title, text, note) = (&item.title, &item.text, inline(&item.note));
    let figure = inline(&item.figure);
    let (title, text, figure) = match is_answer {
        true if note.is_empty() => (inline(title), bold(&text.text()), figure),
        true => (inline(title), bold(&text.text()), String::new()),
        false => (bold(&title.text()), inline(text), figure),
    };
    let asked = joined([&title, &badge.unwrap_or_default()], ": ");
    let said = match style {
        ListStyle::Answers | ListStyle::Bullets => joined([&text, &figure], " "),
        ListStyle::Figures | ListStyle::Steps => joined([&figure, &text], " "),
    };
    joined([&joined([&asked, &said], ": "), &note], "; ")
}

fn cell(cell: &Cell) -> String {
    let text = inline(&cell.text);
    cell.sign
        .map_or(text.clone(), |sign| format!("{text} {}", sign.glyph()))
}

/// A row, or of what consists of pieces one for each and one for the whole.
fn chart_row(row: &ChartRow, rows: &mut Vec<[String; 3]>) {
    let label = detailed(row);
    let Shape::Segments { pieces, thin } = &row.shape else {
        rows.push(fields(&label, &row.value, &row.spread, row.sign));
        return;
    };
    rows.push([bold(&label), String::new(), String::new()]);
    for (index, piece) in pieces.iter().enumerate() {
        let mut fields = fields(&piece.label, &piece.value, &piece.spread, None);
        if let Some(alone) = thin.get(index).filter(|thin| !thin.value.is_empty()) {
            fields[2] = format!("alone {}", escape(&alone.value));
        }
        rows.push(fields);
    }
    rows.push(fields("the whole", &row.value, &row.spread, row.sign));
}

fn fields(label: &str, value: &str, spread: &str, sign: Option<Sign>) -> [String; 3] {
    let sign = sign.map(|sign| sign.glyph().to_string());
    let value = match spread {
        "" => escape(value),
        spread => format!("{} {}", escape(value), escape(spread)),
    };
    [escape(label), value, sign.unwrap_or_default()]
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
    let (start, end) = match inner.is_empty() {
        true => return text.replace(steers, " "),
        false => (text.starts_with(' '), text.ends_with(' ')),
    };
    let space = |is: bool| if is { " " } else { "" };
    format!("{}**{}**{}", space(start), characters(inner), space(end))
}

/// An address that ends where its brackets do, and breaks no table.
fn address(to: &str) -> String {
    let mut address = String::with_capacity(to.len());
    for byte in to.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => address.push(char::from(byte)),
            b'-' | b'.' | b'_' | b'~' | b':' | b'/' | b'?' | b'#' | b'@' | b'!' | b'$' | b'&'
            | b'\'' | b'*' | b'+' | b',' | b';' | b'=' | b'%' => address.push(char::from(byte)),
            other => address.push_str(&format!("%{other:02X}")),
        }
    }
    address
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

/// Text within HTML, where nothing else is read as Markdown.
fn in_html(text: &str) -> String {
    let text = text.replace(steers, " ").replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_cannot_break_a_table_or_run() {
        assert_eq!(escape("a|b\n<script>`"), "a\\|b &lt;script&gt;\\`");
        assert_eq!(escape("# a \u{202e}b"), "\\# a  b");
        assert_eq!(escape("-->"), "\\--&gt;");
        assert_eq!(escape("1. a"), "1\\. a");
        assert_eq!(escape("1.5 ms"), "1.5 ms");
    }

    #[test]
    fn what_is_folded_is_named_as_html() {
        let block = crate::document::paragraph("x");
        let mut page = Page::default();
        page.fold(&Fold::new("a|b <c>", vec![block]), 2);
        let text = "\n<details><summary>a|b &lt;c&gt;</summary>\n\nx\n\n</details>\n";
        assert_eq!(page.text, text);
    }

    #[test]
    fn an_address_cannot_end_its_link() {
        let to = address("https://a/b>) | [c](d");
        assert_eq!(to, "https://a/b%3E%29%20%7C%20%5Bc%5D%28d");
    }
}
