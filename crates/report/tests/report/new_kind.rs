//! A kind of finding that nobody has thought of needs nothing but its blocks: every form shows them,
//! and no renderer knows of it.

use stowplan_report::document::{
    Axis, Bar, Block, Cell, ChartRow, Detail, Document, Fill, Fold, Key, LegendEntry, Line,
    LineKind, Mark, MarkKind, Panel, Plane, Point, RowGroup, Rows, Scale, Section, Shape, Sign,
    Table, Text, number, paragraph, text_column,
};
use stowplan_report::render::terminal::TerminalOptions;
use stowplan_report::render::{html, markdown, terminal};
use unicode_width::UnicodeWidthStr as _;

/// A label that would run, or break a table, if it were not escaped.
const HOSTILE: &str = "<script>alert(1)</script>|x";

/// How loud a store is.
struct Noise {
    store: &'static str,
    loudness: f64,
    interval: (f64, f64),
}

const FOUND: [Noise; 2] = [
    Noise {
        store: "files",
        loudness: 31.5,
        interval: (30.5, 32.5),
    },
    Noise {
        store: "lmdb",
        loudness: 28.25,
        interval: (28.0, 28.5),
    },
];

impl Noise {
    fn value(&self) -> String {
        format!("{} dB", self.loudness)
    }

    fn spread(&self) -> String {
        format!("[{}, {}]", self.interval.0, self.interval.1)
    }

    fn row(&self) -> ChartRow {
        ChartRow {
            label: self.store.to_owned(),
            detail: "one metre away".to_owned(),
            shape: Shape::Bar(Bar {
                value: self.loudness,
                fill: Fill::Ours,
            }),
            interval: Some(self.interval),
            value: self.value(),
            spread: self.spread(),
            number: Some(self.loudness),
            sign: Some(Sign::Below),
            tooltip: format!("{} was heard at {}", self.store, self.value()),
        }
    }

    /// Twice as far away it is quieter by 6.
    fn line(&self, index: usize) -> Line {
        let points = [1.0, 2.0, 4.0].map(|metres: f64| {
            let heard = self.loudness - 6.0 * metres.log2();
            Point {
                x: metres,
                y: Some(heard),
                interval: None,
                shape: None,
                label: format!("{metres} m"),
                value: format!("{heard} dB"),
                spread: String::new(),
                tooltip: format!("{} from {metres} m: {heard} dB", self.store),
            }
        });
        Line {
            label: self.store.to_owned(),
            kind: LineKind::Series(index),
            points: points.into(),
        }
    }
}

fn table(found: &[Noise]) -> Table {
    let columns = vec![
        text_column("store", "", |noise: &Noise| Cell::text(noise.store)),
        number("loudness", "one metre away", |noise: &Noise| {
            Cell::number(noise.loudness, noise.value())
        })
        .in_unit("dB")
        .weighing(2),
    ];
    Table::of("How loud stores are", columns, found)
}

fn rows() -> Rows {
    let scale = Scale::linear(40.0);
    Rows {
        summary: "How loud stores are".to_owned(),
        axis: Axis::new("loudness", scale, scale.ticks(), |at| format!("{at} dB")),
        groups: vec![RowGroup {
            title: "At night".to_owned(),
            notices: vec!["The window was open.".to_owned()],
            remarks: vec!["Nobody spoke.".to_owned()],
            rows: FOUND.iter().map(Noise::row).collect(),
            ..RowGroup::default()
        }],
        marks: vec![Mark {
            at: 20.0,
            kind: MarkKind::Level,
            sign: String::new(),
        }],
        legend: vec![LegendEntry::new(
            Key::Mark(MarkKind::Level),
            "an empty room, 20 dB",
        )],
    }
}

fn plane() -> Plane {
    let (x, y) = (Scale::logarithmic(1.0, 4.0), Scale::linear(40.0));
    let lines = FOUND.iter().enumerate();
    Plane {
        summary: "Loudness by distance".to_owned(),
        x: Axis::new("distance", x, vec![1.0, 2.0, 4.0], |at| format!("{at} m")),
        y: Axis::new("loudness", y, y.ticks(), |at| format!("{at} dB")),
        ends: None,
        panels: vec![Panel {
            id: String::new(),
            title: "In the room next door".to_owned(),
            lines: lines.map(|(index, noise)| noise.line(index)).collect(),
        }],
        areas: Vec::new(),
        levels: Vec::new(),
        legend: Vec::new(),
        on_terminal: true,
    }
}

/// All that the new kind of finding had to write.
fn finding() -> Block {
    let blocks = vec![
        paragraph("Stores differ by 3.25 dB, which one can hear."),
        table(&FOUND).into(),
        rows().into(),
        Section::figure("noise-far", "Farther away", vec![plane().into()]).into(),
    ];
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

fn on_a_terminal(document: &Document, width: usize, unicode: bool) -> String {
    let options = TerminalOptions {
        width,
        colour: false,
        unicode,
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
        on_a_terminal(&document, 100, true),
        html::render(&document),
        markdown::render(&document),
    ] {
        let text = words(&text);
        let sentences = [
            "Stores differ by 3.25 dB, which one can hear.",
            "At night",
            "The window was open.",
            "Nobody spoke.",
            "an empty room, 20 dB",
            "Farther away",
            "In the room next door",
        ];
        // Of the table and of the rows; of the intervals; of what was heard from 4 m.
        let figures = ["31.5 dB", "28.25 dB", "30.5", "32.5", "19.5 dB", "16.25 dB"];
        for said in sentences.iter().chain(&figures) {
            assert!(text.contains(said), "{said} is missing:\n{text}");
        }
        assert!(text.matches("31.5 dB").count() >= 2, "{text}");
    }
}

#[test]
fn the_page_draws_each_value_once_and_links_find_it() {
    let page = html::render(&document(vec![finding()]));
    for id in ["id=\"noise\"", "id=\"noise-far\""] {
        assert_eq!(page.matches(id).count(), 1, "{id}");
    }
    for sentence in ["files was heard at 31.5 dB", "lmdb from 4 m: 16.25 dB"] {
        assert_eq!(page.matches(sentence).count(), 1, "{sentence}");
    }
    assert!(!page.contains("NaN"));
}

#[test]
fn a_terminal_of_any_width_has_room_for_it() {
    let document = document(vec![finding()]);
    for width in [60, 80, 120] {
        let text = on_a_terminal(&document, width, true);
        assert!(text.lines().all(|line| line.width() <= width), "{text}");
        assert!(words(&text).contains("31.5 dB"), "{text}");
        assert!(on_a_terminal(&document, width, false).is_ascii());
    }
}

#[test]
fn what_others_have_written_stays_text() {
    let mut rows = rows();
    rows.groups[0].rows[0].label = HOSTILE.to_owned();
    let noise = Noise {
        store: HOSTILE,
        ..FOUND[0]
    };
    let blocks = vec![table(&[noise]).into(), rows.into(), paragraph(HOSTILE)];
    let document = document(blocks);
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
    let table = Fold::new("All figures", vec![table(&FOUND).into()]);
    let document = document(vec![
        paragraph("Listen."),
        Block::from(table).at(Detail::Full),
    ]);
    let text = on_a_terminal(&document, 80, true);
    assert!(
        text.contains("Listen.") && !text.contains("31.5 dB"),
        "{text}"
    );
    let all = TerminalOptions {
        width: 80,
        colour: false,
        unicode: true,
        detail: Detail::Full,
    };
    for text in [
        terminal::render(&document, &all),
        markdown::render(&document),
        html::render(&document),
    ] {
        assert!(text.contains("31.5 dB"), "{text}");
    }
}
