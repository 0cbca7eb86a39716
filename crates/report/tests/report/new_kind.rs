//! A kind of finding that nobody has thought of needs nothing but its blocks: every form shows them,
//! and no renderer knows of it.

use stowplan_report::document::{
    Axis, Block, Cell, ChartRow, Detail, Document, Fill, RowGroup, Rows, Scale, Section, Sign,
    Table, Text, Unit, Value, headed, number, paragraph, text_column,
};
use stowplan_report::render::terminal::TerminalOptions;
use stowplan_report::render::{html, markdown, terminal};
use unicode_width::UnicodeWidthStr as _;

/// A label that would run, or break a table, if it were not escaped.
const HOSTILE: &str = "<script>alert(1)</script>|x";

/// How loud a store is, as nobody measures it.
struct Noise {
    store: &'static str,
    loudness: f64,
    interval: (f64, f64),
}

const FOUND: [Noise; 2] = [
    Noise {
        store: "files",
        loudness: 31_500.0,
        interval: (30_500.0, 32_500.0),
    },
    Noise {
        store: "lmdb",
        loudness: 28_400.0,
        interval: (28_000.0, 28_500.0),
    },
];

/// All that a new kind of finding has to write to be shown in every form.
fn finding() -> Block {
    let unit = Unit::Bytes;
    let heard = move |noise: &Noise| {
        let (low, high) = noise.interval;
        Some(Value::new(noise.loudness, unit).between(low, high))
    };
    let columns = vec![
        text_column("store", "", |noise: &Noise| Cell::text(noise.store)),
        number("loudness", "", move |noise| Cell::value(heard(noise))),
    ];
    let scale = Scale::linear(40_000.0);
    let axis = |title| Axis::new(title, scale, scale.ticks(), |at| unit.tick(at));
    let rows = FOUND.iter().map(|noise| ChartRow {
        sign: Some(Sign::Below),
        ..ChartRow::bar(noise.store, heard(noise), Fill::Ours)
    });
    let mut night = RowGroup::of("At night", rows.collect());
    night.notices.push("The window was open.".to_owned());
    let rows = Rows::new("How loud", axis("loudness"), vec![night]);
    // Twice as far away a store is quieter by 6,000.
    let lines = FOUND.iter().map(|noise| {
        let heard = [1.0, 2.0, 4.0].map(|metres: f64| {
            let value = Value::new(noise.loudness - 6_000.0 * metres.log2(), unit);
            ChartRow {
                x: metres,
                ..ChartRow::bar(format!("{metres} m"), Some(value), Fill::Ours)
            }
        });
        RowGroup::of(noise.store, heard.into())
    });
    let across = Scale::logarithmic(1.0, 4.0);
    let far = Axis::new("distance", across, vec![1.0, 2.0], |at| format!("{at} m"));
    let lines = headed("In the room next door", lines.collect());
    let plane = Rows::new("Loudness by distance", axis("loudness"), lines).across(far);
    let table = Table::of("How loud stores are", columns, &FOUND);
    let far = Section::figure("noise-far", "Farther away", vec![plane.into()]);
    let about = paragraph("Stores differ, which one can hear.");
    let blocks = vec![about, table.into(), rows.into(), far.into()];
    Section::figure("noise", "Noise", blocks).into()
}

fn document(blocks: Vec<Block>) -> Document {
    Document {
        kind: "Stowplan report".to_owned(),
        title: "What one hears".to_owned(),
        question: Text::default(),
        byline: Vec::new(),
        blocks,
    }
}

fn on_a_terminal(document: &Document, width: usize) -> String {
    let options = TerminalOptions {
        width,
        colour: false,
        detail: Detail::Summary,
    };
    terminal::render(document, &options)
}

/// In one line, each word after one space: where a form breaks its lines is its own business.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_form_says_all_of_it() {
    let document = document(vec![finding()]);
    for text in [
        on_a_terminal(&document, 100),
        html::render(&document),
        markdown::render(&document),
    ] {
        let text = words(&text);
        let sentences = [
            "Stores differ, which one can hear.",
            "At night",
            "The window was open.",
            "Farther away",
            "In the room next door",
        ];
        // Of the table and of the rows; of the intervals; of what was heard from 4 m.
        let figures = ["31.5 kB", "28.4 kB", "30.5", "32.5", "19.5 kB", "16.4 kB"];
        for said in sentences.iter().chain(&figures) {
            assert!(text.contains(said), "{said} is missing:\n{text}");
        }
        assert!(text.matches("31.5 kB").count() >= 2, "{text}");
    }
}

#[test]
fn the_page_draws_each_value_once_and_links_find_it() {
    let page = html::render(&document(vec![finding()]));
    for id in ["id=\"noise\"", "id=\"noise-far\""] {
        assert_eq!(page.matches(id).count(), 1, "{id}");
    }
    for sentence in [
        "files: 31.5 kB, interval 30.5 kB to 32.5 kB",
        "lmdb, 4 m: 16.4 kB",
    ] {
        assert_eq!(page.matches(sentence).count(), 1, "{sentence}");
    }
    assert!(!page.contains("NaN"));
}

#[test]
fn a_terminal_of_any_width_has_room_for_it() {
    let document = document(vec![finding()]);
    for width in [60, 80, 120] {
        let text = on_a_terminal(&document, width);
        assert!(text.lines().all(|line| line.width() <= width), "{text}");
        assert!(words(&text).contains("31.5 kB"), "{text}");
    }
}

#[test]
fn what_others_have_written_stays_text() {
    let row = ChartRow::bar(HOSTILE, None, Fill::Ours);
    let axis = Axis::new("", Scale::linear(1.0), Vec::new(), |_| String::new());
    let rows = Rows::new(HOSTILE, axis, vec![RowGroup::of(HOSTILE, vec![row])]);
    let columns = vec![text_column("store", "", |name: &&str| Cell::text(*name))];
    let table = Table::of(HOSTILE, columns, &[HOSTILE]);
    let document = document(vec![table.into(), rows.into(), paragraph(HOSTILE)]);
    assert!(!html::render(&document).contains("<script>alert"));
    let text = markdown::render(&document);
    assert!(!text.contains("<script>"), "{text}");
    let rows = text.lines().filter(|line| line.contains("script"));
    for row in rows.filter(|line| line.starts_with('|')) {
        assert!(row.contains("\\|x"), "{row}");
    }
}

#[test]
fn what_is_asked_for_only_is_shown_only_then() {
    let table = Section::fold("All figures", vec![finding()]);
    let document = document(vec![
        paragraph("Listen."),
        Block::from(table).at(Detail::Full),
    ]);
    let text = on_a_terminal(&document, 80);
    assert!(
        text.contains("Listen.") && !text.contains("31.5 kB"),
        "{text}"
    );
    let all = TerminalOptions {
        width: 80,
        colour: false,
        detail: Detail::Full,
    };
    for text in [
        terminal::render(&document, &all),
        markdown::render(&document),
        html::render(&document),
    ] {
        assert!(text.contains("31.5 kB"), "{text}");
    }
}
