//! What a document says, whatever draws it.

use stowplan_report::document::{Block, Content, Detail, Document, Text};

/// Every text of the blocks that a form shows, a line each: up to this level of detail.
pub(crate) fn in_text(document: &Document, detail: Detail) -> String {
    let mut lines = Vec::new();
    say(&document.blocks, detail, &mut lines);
    lines.push(String::new());
    lines.join("\n").replace('\u{a0}', " ")
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
    let contents = blocks.iter().map(|block| &block.content);
    contents.flat_map(lines).collect()
}

fn say(blocks: &[Block], detail: Detail, lines: &mut Vec<String>) {
    for block in blocks.iter().filter(|block| block.detail <= detail) {
        match &block.content {
            Content::Section(section) => {
                lines.push(section.title.text());
                say(&section.blocks, detail, lines);
            }
            Content::Paragraph(text) | Content::Notice(text) => lines.push(text.text()),
            Content::List(items) => lines.extend(items.iter().map(|item| {
                let word = item.badge.as_ref().map_or("", |badge| &badge.word);
                let texts = [&item.title, &item.text, &item.note];
                format!("• {word} {}", texts.map(Text::text).join(" | "))
            })),
            Content::Facts(facts) => {
                let facts = facts.iter();
                lines.extend(facts.map(|(name, value)| format!("{name}: {}", value.text())));
            }
            Content::Table(table) => {
                let heads: Vec<&str> = table.columns.iter().map(|c| c.title.as_str()).collect();
                lines.push(heads.join(" | "));
                for row in &table.rows {
                    assert_eq!(row.cells.len(), heads.len(), "{}", table.caption);
                    let cells: Vec<String> = row.cells.iter().map(|c| c.text.text()).collect();
                    lines.push(cells.join(" | "));
                }
            }
            Content::Rows(rows) => {
                for group in &rows.groups {
                    lines.push(group.title.clone());
                    lines.extend(group.rows.iter().map(|row| {
                        let value = row.value.map(|value| value.whole());
                        let value = value.unwrap_or("no data".to_owned());
                        format!("{} | {value}", row.label)
                    }));
                }
                lines.extend(rows.legend.iter().map(|entry| entry.text.clone()));
            }
            Content::Legend(entries) => lines.extend(entries.iter().map(|e| e.text.clone())),
            Content::Verbatim(text) => lines.push(text.clone()),
            Content::Files(files) => lines.extend(files.iter().map(|file| file.name.clone())),
        }
    }
}
