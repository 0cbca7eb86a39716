//! What holds of documents, whatever is in them.

use crate::every::DOCUMENTS;
use crate::fixture;
use crate::html_blocks::values;
use crate::support::{PLAIN, on_terminal, with};
use proptest::prelude::*;
use proptest::test_runner::Config;
use std::iter::Cycle;
use std::vec::IntoIter;
use stowplan_report::document::*;
use stowplan_report::render::terminal::TerminalOptions;
use stowplan_report::render::{html, markdown, terminal};
use stowplan_report::{run, steers};
use unicode_width::UnicodeWidthStr as _;

/// What text that is shown as it is begins with.
const AS_IT_IS: &str = "$ ";

#[test]
fn a_document_says_the_same_with_colours() {
    let colour = true;
    let document = run::document(&fixture::analysis(), "");
    let coloured = terminal::render(&document, &TerminalOptions { colour, ..PLAIN });
    let plain = terminal::render(&document, &PLAIN);
    assert_ne!(coloured, plain);
    let mut parts = coloured.split('\u{1b}');
    let first = parts.next().unwrap().to_owned();
    let read = parts.fold(first, |read, part| read + part.split_once('m').unwrap().1);
    assert_eq!(read, plain);
}

/// Whoever writes a study file could think of these.
const LABELS: [&str; 17] = [
    "files",
    "SQLite, mapped into memory as a whole",
    "<script>alert(1)</script>",
    "</script><b onclick=\"x\" id='a'>&\u{1b}[31m\u{202e}",
    "a|b\\|c\\",
    "```\n~~~",
    "  # no heading",
    "- no item",
    "12. no item",
    "\u{1b}[31mred\u{9b}2J\u{7}",
    "\u{202e}desrever",
    "漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字",
    "❤\u{fe0f}👩\u{200d}💻é±µ",
    "[a](javascript:b) ![c](https://d)",
    "<!-- --> </details> &lt;",
    "**a** _b_ https://example.org/<",
    "wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww",
];

/// What stands in a document in place of its labels and numbers, and which of its parts are left.
#[derive(Debug)]
struct Hostile {
    labels: Cycle<IntoIter<String>>,
    numbers: Cycle<IntoIter<f64>>,
    left: Cycle<IntoIter<bool>>,
}

impl Hostile {
    fn number(&mut self) -> f64 {
        self.numbers.next().unwrap()
    }

    fn labels<'a>(&mut self, labels: impl IntoIterator<Item = &'a mut String>) {
        let others = labels.into_iter().zip(&mut self.labels);
        others.for_each(|(label, other)| *label = other);
    }

    fn texts<'a>(&mut self, texts: impl IntoIterator<Item = &'a mut Text>) {
        for text in texts {
            let mut label = || self.labels.next().unwrap();
            let [here, elsewhere] = ["#", "https://"].map(|start| start.to_owned() + &label());
            let linked = strong(label()).linked(&here);
            *text = linked.then(faint(label()).linked(&elsewhere)).then(label());
        }
    }

    /// Spoils each of those that are left.
    fn each<T>(&mut self, all: &mut Vec<T>, spoil: impl Fn(&mut Self, &mut T)) {
        all.retain(|_| self.left.next().unwrap());
        all.iter_mut().for_each(|one| spoil(self, one));
    }

    fn block(&mut self, block: &mut Block) {
        match &mut block.content {
            Content::Section(section) => {
                self.texts([&mut section.title, &mut section.found]);
                let badge = section.badge.as_mut().map(|badge| &mut badge.word);
                self.labels(badge.into_iter().chain(&mut section.in_contents));
                self.labels([&mut section.id]);
                self.each(&mut section.blocks, Self::block);
            }
            Content::Paragraph(text) | Content::Notice(text) => self.texts([text]),
            Content::List(items) => self.each(items, |source, item| {
                source.texts([&mut item.title, &mut item.text, &mut item.note]);
                source.labels(item.badge.as_mut().map(|badge| &mut badge.word));
            }),
            Content::Facts(facts) => self.each(facts, |source, (name, value)| {
                source.labels([name]);
                source.texts([value]);
            }),
            Content::Table(table) => {
                self.labels([&mut table.caption]);
                self.each(&mut table.columns, |source, column| {
                    source.labels([&mut column.title, &mut column.help]);
                });
                self.each(&mut table.rows, |source, row| {
                    source.each(&mut row.cells, |source, cell| {
                        source.texts([&mut cell.text]);
                        source.labels([&mut cell.help]);
                    });
                });
            }
            Content::Rows(rows) => self.rows(rows),
            Content::Legend(entries) => self.legend(entries),
            // Lines of text that is shown as it is are as wide as they are; each says that it is one.
            Content::Verbatim(text) => {
                self.labels([&mut *text]);
                let lines = text.lines().map(|line| format!("{AS_IT_IS}{line}\n"));
                *text = lines.collect();
            }
            Content::Files(files) => self.each(files, |source, file| {
                source.labels([&mut file.of, &mut file.name, &mut file.content]);
            }),
        }
    }

    fn legend(&mut self, entries: &mut Vec<LegendEntry>) {
        self.each(entries, |source, entry| source.labels([&mut entry.text]));
    }

    fn axis(&mut self, axis: &mut Axis) {
        self.labels([&mut axis.title]);
        axis.scale = match self.left.next().unwrap() {
            true => Scale::linear(self.number()),
            false => Scale::logarithmic(self.number(), self.number()),
        };
        self.each(&mut axis.ticks, |source, (at, label)| {
            *at = source.number();
            source.labels([label]);
        });
    }

    fn rows(&mut self, rows: &mut Rows) {
        self.labels([&mut rows.summary]);
        self.axis(&mut rows.axis);
        if let Some(across) = &mut rows.across {
            self.axis(&mut across.axis);
            let ends = across.ends.iter_mut();
            self.labels(ends.flat_map(|(above, below)| [above, below]));
        }
        self.each(&mut rows.marks, |source, mark| {
            mark.at = source.number();
            source.labels([&mut mark.sign]);
        });
        self.legend(&mut rows.legend);
        self.each(&mut rows.groups, |source, group| {
            group.notices.push(String::new());
            group.remarks.push(String::new());
            source.labels([&mut group.heading, &mut group.title]);
            source.labels(group.notices.iter_mut().chain(&mut group.remarks));
            source.each(&mut group.rows, Self::row);
        });
    }

    fn row(&mut self, row: &mut ChartRow) {
        self.labels([&mut row.label, &mut row.detail, &mut row.help]);
        if let Shape::Piece(from, _) = &mut row.shape {
            *from = self.number();
        }
        if let Some(value) = &mut row.value {
            value.number = self.number();
            value.spread = match value.spread {
                Spread::Unknown => Spread::Unknown,
                Spread::Interval(..) => Spread::Interval(self.number(), self.number()),
                Spread::Error(_) => Spread::Error(self.number()),
            };
        }
    }
}

/// A part of some document, whose labels and numbers are whatever somebody could think of who
/// writes a study file.
fn hostile() -> impl Strategy<Value = Document> {
    use prop::{bool::weighted, collection::vec, sample::select};
    let label = prop_oneof![
        2 => select(&LABELS[..]).prop_map(str::to_owned),
        1 => Just(String::new()),
        1 => any::<String>(),
    ];
    let number = prop_oneof![0.01..20.0, any::<f64>()];
    let spoilt = (
        vec(label, 1..60),
        vec(number, 1..60),
        vec(weighted(0.7), 1..60),
    );
    (0..DOCUMENTS.len(), spoilt).prop_map(|(which, (labels, numbers, left))| {
        let mut source = Hostile {
            labels: labels.into_iter().cycle(),
            numbers: numbers.into_iter().cycle(),
            left: left.into_iter().cycle(),
        };
        let mut document = DOCUMENTS[which].1.clone();
        source.labels([&mut document.kind, &mut document.title]);
        source.texts(document.byline.iter_mut().chain([&mut document.question]));
        source.each(&mut document.blocks, Hostile::block);
        document
    })
}

/// The text without the content of its fences, in which everything stands as it is.
fn without_fences(text: &str) -> Vec<&str> {
    let mut fence: Option<&str> = None;
    let mut lines = Vec::new();
    for line in text.lines() {
        match fence {
            Some(open) if line == open => fence = None,
            Some(_) => {}
            None if line.starts_with("```") => fence = Some(line),
            None => lines.push(line),
        }
    }
    assert_eq!(fence, None);
    lines
}

/// The pipes that part the cells of a table.
fn pipes(line: &str) -> usize {
    let mut escaped = false;
    let parts = line.chars().filter(|c| {
        let parts = *c == '|' && !escaped;
        escaped = *c == '\\' && !escaped;
        parts
    });
    parts.count()
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::with_cases(192) })]

    #[test]
    fn no_line_is_wider_than_the_terminal_and_none_steers_it(
        document in hostile(),
        width in prop::sample::select(vec![40usize, 60, 80, 120]),
    ) {
        let text = on_terminal(&document, width, Detail::Full);
        for line in text.lines() {
            prop_assert!(!line.chars().any(steers), "{line:?}");
            if !line.trim_start().starts_with(AS_IT_IS) {
                prop_assert!(line.width() <= width, "{line:?} is {} wide", line.width());
            }
        }
    }

    #[test]
    fn what_is_to_be_pasted_keeps_its_lines_and_their_indentation(
        lines in prop::collection::vec("( {4}){0,3}[!-~é漢]{1,20}( [!-~é漢]{1,30}){0,12}", 1..6),
        width in prop::sample::select(vec![40usize, 80, 200]),
        depth in 0..2,
    ) {
        let block: Block = Content::Verbatim(lines.join("\n")).into();
        let block = match depth {
            0 => block,
            _ => Section::new("Do it", vec![block]).into(),
        };
        let text = on_terminal(&with(vec![block]), width, Detail::Summary);
        let last: Vec<&str> = text.lines().rev().take(lines.len()).collect();
        match &lines[..] {
            [command] => prop_assert_eq!(last[0].trim_start(), command.trim_start()),
            lines => prop_assert_eq!(last.into_iter().rev().collect::<Vec<_>>(), lines),
        }
    }

    #[test]
    fn on_the_page_labels_are_text(document in hostile()) {
        let page = html::render(&document);
        prop_assert_eq!(page.matches("</script>").count(), 1, "its own script only");
        prop_assert!(!page.contains("<b onclick") && !page.contains("<script>alert"));
        prop_assert!(!page.contains(|c| steers(c) && !matches!(c, '\n' | '\t')));
        // No attribute but those of the renderer: a quote in a label would begin another.
        prop_assert!(values(&page, "onclick").is_empty() && !page.contains("\"x\" id"));
        for name in values(&page, "id") {
            let is_kept = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
            prop_assert!(name.chars().all(is_kept), "{name}");
        }
    }

    #[test]
    fn in_markdown_labels_are_text(document in hostile()) {
        let text = markdown::render(&document);
        let body = text.strip_prefix(stowplan_report::MARK).unwrap();
        let lines = without_fences(body);
        for line in &lines {
            let ours = ["<details><summary>", "</summary>", "</details>", "](<https://"];
            let rest = ours.iter().fold((*line).to_owned(), |line, ours| line.replace(ours, ""));
            prop_assert!(!rest.contains('<'), "{line:?}");
        }
        for table in lines.split(|line| !line.starts_with("| ")).filter(|t| !t.is_empty()) {
            prop_assert!(table.len() >= 3 && table[1].contains("---"), "{table:?}");
            for row in table {
                prop_assert_eq!(pipes(row), pipes(table[0]), "{:?}", table);
            }
        }
    }

    #[test]
    fn no_essential_cell_of_a_table_is_lost(
        cells in prop::collection::vec(prop::collection::vec("[a-z]{1,12}( [a-z]{1,8})?", 5), 1..4),
        width in prop::sample::select(vec![60usize, 80, 120]),
    ) {
        let bracketed = |index: usize| move |cells: &Vec<String>| Cell::text(format!("[{}]", cells[index]));
        let first = text_column("title", "", |_: &Vec<String>| Cell::text("some cell or other"));
        let others = (0..5).map(|index| match index % 2 {
            0 => number(format!("title {index}"), "", bracketed(index)),
            _ => text_column(format!("title {index}"), "", bracketed(index)),
        });
        let columns = [first].into_iter().chain(others).zip(Column::ESSENTIAL..);
        let columns = columns.map(|(column, weight)| column.weighing(weight)).collect();
        let table = Table::of("", columns, &cells);
        let document = with(vec![table.into()]);
        let text = on_terminal(&document, width, Detail::Summary);
        for cell in cells.iter().flatten() {
            let cell = format!("[{cell}]");
            prop_assert!(text.contains(&cell), "{cell} is not in\n{text}");
        }
    }
}
