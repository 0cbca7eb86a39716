//! What a document says, whatever draws it.

use stowplan_report::document::{Block, Cell, Content, Detail, Document, Item, Rows, Table, Text};

/// Every text of the blocks that a form shows, a line each: up to this level of detail.
pub(crate) fn in_text(document: &Document, detail: Detail) -> String {
    let mut lines = Lines {
        detail,
        text: String::new(),
    };
    lines.blocks(&document.blocks);
    lines.text.replace('\u{a0}', " ")
}

/// What the page says.
pub(crate) fn on_page(document: &Document) -> String {
    in_text(document, Detail::Page)
}

/// Lines of what is shown as it is, however wide.
pub(crate) fn as_it_is<'a>(blocks: &'a [Block]) -> Vec<&'a str> {
    let lines = |content: &'a Content| match content {
        Content::Verbatim(text) => text.lines().map(str::trim).collect(),
        Content::Section(section) => as_it_is(&section.blocks),
        _ => Vec::new(),
    };
    blocks
        .iter()
        .flat_map(|block| lines(&block.content))
        .collect()
}

struct Lines {
    detail: Detail,
    text: String,
}

impl Lines {
    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn blocks(&mut self, blocks: &[Block]) {
        for block in blocks {
            if block.detail <= self.detail {
                self.content(&block.content);
            }
        }
    }

    fn content(&mut self, content: &Content) {
        match content {
            Content::Section(section) => {
                self.line(&section.title.text());
                self.blocks(&section.blocks);
            }
            Content::Paragraph(text) | Content::Notice(text) => self.line(&text.text()),
            Content::List(items) => self.list(items),
            Content::Facts(facts) => {
                for (name, value) in facts {
                    self.line(&format!("{name}: {}", value.text()));
                }
            }
            Content::Table(table) => self.table(table),
            Content::Rows(rows) => self.rows(rows),
            Content::Legend(entries) => entries.iter().for_each(|entry| self.line(&entry.text)),
            Content::Verbatim(text) => self.line(text),
            Content::Files(files) => files.iter().for_each(|file| self.line(&file.name)),
        }
    }

    fn list(&mut self, items: &[Item]) {
        for item in items {
            let word = item.badge.as_ref().map_or("", |badge| &badge.word);
            let texts = [&item.title, &item.text, &item.note];
            let texts = texts.map(Text::text).join(" | ");
            self.line(&format!("• {word} {texts}"));
        }
    }

    fn table(&mut self, table: &Table) {
        let heads: Vec<&str> = table.columns.iter().map(|c| c.title.as_str()).collect();
        self.line(&heads.join(" | "));
        for row in &table.rows {
            assert_eq!(row.cells.len(), table.columns.len(), "{}", table.caption);
            let cells: Vec<String> = row.cells.iter().map(cell).collect();
            self.line(&cells.join(" | "));
        }
    }

    fn rows(&mut self, rows: &Rows) {
        for group in &rows.groups {
            self.line(&group.title);
            for row in &group.rows {
                let value = row
                    .value
                    .map_or("no data".to_owned(), |value| value.whole());
                self.line(&format!("{} | {value}", row.label));
            }
        }
        rows.legend.iter().for_each(|entry| self.line(&entry.text));
    }
}

fn cell(cell: &Cell) -> String {
    cell.text.text()
}
