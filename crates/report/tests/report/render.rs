//! What holds of documents, whatever is in them.

use crate::html_blocks::values;
use crate::sample_document::{sample, with};
use crate::support::{PLAIN, without_sequences, words};
use insta::assert_snapshot;
use proptest::prelude::*;
use proptest::test_runner::Config;
use stowplan_report::document::*;
use stowplan_report::render::terminal::TerminalOptions;
use stowplan_report::render::{html, markdown, terminal};
use stowplan_report::steers;
use unicode_width::UnicodeWidthStr as _;

/// What text that is shown as it is begins with.
const AS_IT_IS: &str = "$ ";

fn on_terminal(document: &Document, width: usize, detail: Detail) -> String {
    let options = TerminalOptions {
        width,
        colour: false,
        detail,
    };
    terminal::render(document, &options)
}

#[test]
fn nothing_of_a_document_is_cut_whatever_the_width() {
    for width in [60, 80, 120] {
        let text = on_terminal(&sample(), width, Detail::Full);
        for whole in ["[0.613, 0.793]", "1.58× as long", "[2.62, 3.31]"] {
            assert!(text.contains(whole), "{whole} is not in\n{text}");
        }
    }
}

#[test]
fn a_document_says_the_same_with_colours() {
    let options = TerminalOptions {
        colour: true,
        ..PLAIN
    };
    let coloured = terminal::render(&sample(), &options);
    let plain = terminal::render(&sample(), &PLAIN);
    assert_ne!(coloured, plain);
    assert_eq!(without_sequences(&coloured), plain);
}

#[test]
fn a_document_on_a_terminal() {
    assert_snapshot!(on_terminal(&sample(), 80, Detail::Summary));
}

#[test]
fn a_document_on_a_narrow_terminal() {
    assert_snapshot!(on_terminal(&sample(), 60, Detail::Full));
}

#[test]
fn a_document_as_markdown() {
    assert_snapshot!(markdown::render(&sample()));
}

#[test]
fn every_form_says_all_of_it() {
    for text in [
        on_terminal(&sample(), 120, Detail::Full),
        html::render(&sample()),
        markdown::render(&sample()),
    ] {
        let text = words(&text);
        // Of lists, tables, groups of rows, rows, pieces, legends, heat maps, planes and facts.
        for said in [
            "2.89 times as fast as files",
            "1.58× as long",
            "Too noisy to decide.",
            "~ extrapolated from a sample.",
            "0.62",
            "what no step explains",
            "floor 0.48 (a file that stays open)",
            "From 100 KiB on, files are.",
            "Throughput against threads",
            "nothing promised",
            "Open and close: 3.60 µs of 6.30 µs.",
        ] {
            assert!(text.contains(said), "{said} is missing:\n{text}");
        }
    }
}

#[test]
fn what_is_asked_for_only_is_shown_only_then() {
    let more = paragraph("All figures").at(Detail::Full);
    let document = with(vec![paragraph("Listen."), more]);
    let normal = on_terminal(&document, 80, Detail::Summary);
    assert!(normal.contains("Listen.") && !normal.contains("All figures"));
    for text in [
        on_terminal(&document, 80, Detail::Full),
        markdown::render(&document),
        html::render(&document),
    ] {
        assert!(text.contains("All figures"), "{text}");
    }
}

/// Documents of everything there is, whose labels are whatever somebody could think of who writes a
/// study file.
mod hostile_blocks {
    use super::*;
    use prop::collection::vec;
    use prop::option;
    use prop::sample::select;

    fn label() -> impl Strategy<Value = String> {
        const FOUND: [&str; 17] = [
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
            "wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww",
        ];
        prop_oneof![
            2 => select(&FOUND[..]).prop_map(str::to_owned),
            1 => Just(String::new()),
            1 => any::<String>(),
        ]
    }

    fn labels<const N: usize>() -> impl Strategy<Value = [String; N]> {
        vec(label(), N).prop_map(|labels| labels.try_into().unwrap())
    }

    fn text() -> impl Strategy<Value = Text> {
        let tones = select(&[Tone::Plain, Tone::Strong, Tone::Faint, Tone::Bad][..]);
        let span = (label(), tones, option::of((any::<bool>(), label())));
        let span = span.prop_map(|(text, tone, link)| {
            let link = link.map(|(here, to)| if here { "#" } else { "https://" }.to_owned() + &to);
            Span { text, tone, link }
        });
        vec(span, 0..3).prop_map(Text)
    }

    fn number() -> impl Strategy<Value = f64> {
        prop_oneof![0.01..20.0, any::<f64>()]
    }

    fn sign() -> impl Strategy<Value = Option<Sign>> {
        option::of(select(&Sign::ALL[..]))
    }

    fn badge() -> impl Strategy<Value = Option<Badge>> {
        let tone = Tone::Good;
        option::of(label().prop_map(move |word| Badge { word, tone }))
    }

    fn list() -> impl Strategy<Value = Content> {
        let item = (badge(), vec(text(), 3)).prop_map(|(badge, mut texts)| Item {
            badge,
            title: texts.remove(0),
            text: texts.remove(0),
            note: texts.remove(0),
        });
        vec(item, 0..4).prop_map(Content::List)
    }

    fn table() -> impl Strategy<Value = Content> {
        let align = select(&[Align::Left, Align::Right][..]);
        let column = (labels(), 0u8..12, align).prop_map(|([title, help], weight, align)| Column {
            title,
            help,
            unit: "",
            align,
            weight,
        });
        let cell = (text(), sign(), label()).prop_map(|(text, sign, help)| Cell {
            text,
            sign,
            help,
            ..Cell::default()
        });
        let row = vec(cell, 0..9).prop_map(|cells| Row { cells });
        let parts = (label(), vec(column, 0..9), vec(row, 0..4), any::<bool>());
        parts.prop_map(|(caption, columns, rows, is_heat_map)| {
            Content::Table(Table {
                caption,
                columns,
                rows,
                is_heat_map,
            })
        })
    }

    fn value() -> impl Strategy<Value = Value> {
        let unit = select(&[Unit::Time, Unit::Rate, Unit::Ratio, Unit::Percent][..]);
        let spread = prop_oneof![
            Just(Spread::Unknown),
            (number(), number()).prop_map(|(low, high)| Spread::Interval(low, high)),
            number().prop_map(Spread::Error),
        ];
        (number(), spread, unit).prop_map(|(number, spread, unit)| Value {
            spread,
            ..Value::new(number, unit)
        })
    }

    fn shape() -> impl Strategy<Value = Shape> {
        prop_oneof![
            Just(Shape::Bar(Fill::Uncertain)),
            Just(Shape::Point),
            number().prop_map(|from| Shape::Piece(from, Fill::Ours)),
        ]
    }

    fn axis() -> impl Strategy<Value = Axis> {
        let scale = prop_oneof![
            (number(), number()).prop_map(|(low, high)| Scale::logarithmic(low, high)),
            number().prop_map(Scale::linear),
        ];
        let ticks = vec((number(), label()), 0..4);
        (label(), scale, ticks).prop_map(|(title, scale, ticks)| Axis {
            title,
            scale,
            ticks,
        })
    }

    fn marks() -> impl Strategy<Value = Vec<Mark>> {
        let kind = select(&[MarkKind::Reference, MarkKind::Floor][..]);
        let mark = (number(), kind, label()).prop_map(|(at, kind, sign)| Mark { at, kind, sign });
        vec(mark, 0..3)
    }

    fn legend_entries() -> impl Strategy<Value = Vec<LegendEntry>> {
        const KEYS: [Key; 5] = [
            Key::Interval,
            Key::Fill(Fill::Published),
            Key::Mark(MarkKind::Level),
            Key::Sign(Sign::JustBelow),
            Key::Unclaimed,
        ];
        let entry = (select(&KEYS[..]), label()).prop_map(|(key, text)| LegendEntry { key, text });
        vec(entry, 0..4)
    }

    fn rows() -> impl Strategy<Value = Content> {
        let row = (labels(), shape(), option::of(value()), sign());
        let row = row.prop_map(|([label, detail, help], shape, value, sign)| ChartRow {
            label,
            detail,
            x: 1.0,
            value,
            shape,
            sign,
            help,
        });
        let texts = || vec(label(), 0..2);
        let group = (labels(), texts(), texts(), vec(row, 0..4)).prop_map(
            |([heading, title], notices, remarks, rows)| RowGroup {
                heading,
                title,
                notices,
                remarks,
                rows,
            },
        );
        let parts = (label(), axis(), vec(group, 0..3), marks(), legend_entries());
        parts.prop_map(|(summary, axis, groups, marks, legend)| {
            Content::Rows(Rows {
                marks,
                legend,
                ..Rows::new(summary, axis, groups)
            })
        })
    }

    fn plane() -> impl Strategy<Value = Content> {
        let ends = option::of((label(), label()));
        (rows(), axis(), ends).prop_map(|(content, axis, ends)| {
            let Content::Rows(rows) = content else {
                return content;
            };
            let edges = [0.9, 1.1].map(|at| Mark::new(at, MarkKind::Edge));
            Content::Rows(Rows {
                across: Some(Across {
                    axis,
                    ends,
                    unclaimed: None,
                }),
                marks: rows.marks.into_iter().chain(edges).collect(),
                ..rows
            })
        })
    }

    fn files() -> impl Strategy<Value = Content> {
        let file = labels().prop_map(|[of, name, content]| File { of, name, content });
        vec(file, 0..3).prop_map(Content::Files)
    }

    /// Whoever asks for text as it is gets lines as wide as they are; each says that it is one.
    fn verbatim() -> impl Strategy<Value = String> {
        label().prop_map(|text| {
            text.lines()
                .map(|line| format!("{AS_IT_IS}{line}\n"))
                .collect()
        })
    }

    fn content() -> impl Strategy<Value = Content> {
        prop_oneof![
            text().prop_map(Content::Paragraph),
            text().prop_map(Content::Notice),
            list(),
            vec((label(), text()), 0..3).prop_map(Content::Facts),
            table(),
            table(),
            rows(),
            plane(),
            legend_entries().prop_map(Content::Legend),
            verbatim().prop_map(Content::Verbatim),
            files(),
        ]
    }

    fn nested() -> impl Strategy<Value = Content> {
        content().prop_recursive(2, 12, 3, |inner| {
            let blocks = || vec(inner.clone().prop_map(Block::from), 0..3);
            const LOOKS: [Look; 5] = [
                Look::Plain,
                Look::Figure,
                Look::Columns,
                Look::Fold,
                Look::Finding,
            ];
            let said = (text(), text(), badge());
            let section = (labels(), said, select(&LOOKS[..]), blocks());
            section.prop_map(|([id, contents], (title, found, badge), look, blocks)| {
                Content::Section(Section {
                    look,
                    found,
                    badge,
                    ..Section::new(title, blocks).named(id).in_contents(contents)
                })
            })
        })
    }

    pub(super) fn document() -> impl Strategy<Value = Document> {
        let blocks = vec(nested().prop_map(Block::from), 1..5);
        (labels(), text(), blocks).prop_map(|([kind, title], question, blocks)| Document {
            kind,
            byline: vec![question.clone()],
            title,
            question,
            blocks,
        })
    }
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
        document in hostile_blocks::document(),
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
    fn on_the_page_labels_are_text(document in hostile_blocks::document()) {
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
    fn in_markdown_labels_are_text(document in hostile_blocks::document()) {
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
        let columns = (0..6).map(|index| Column {
            title: format!("title {index}"),
            align: if index % 2 == 0 { Align::Left } else { Align::Right },
            weight: Column::ESSENTIAL + index,
            ..Column::default()
        });
        let rows = cells.iter().map(|cells| {
            let first = Cell::text("some cell or other");
            let cells = cells.iter().map(|text| Cell::text(format!("[{text}]")));
            Row { cells: [first].into_iter().chain(cells).collect() }
        });
        let table = Table {
            columns: columns.collect(),
            rows: rows.collect(),
            ..Table::default()
        };
        let document = with(vec![table.into()]);
        let text = on_terminal(&document, width, Detail::Summary);
        for cell in cells.iter().flatten() {
            let cell = format!("[{cell}]");
            prop_assert!(text.contains(&cell), "{cell} is not in\n{text}");
        }
    }
}
