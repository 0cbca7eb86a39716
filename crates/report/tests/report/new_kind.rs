//! A kind of finding that nobody has thought of needs nothing but its blocks: every form shows them,
//! and no renderer knows of it.

use crate::holds::says;
use crate::html_blocks::values;
use crate::support::{on_terminal, with};
use stowplan_report::document::{
    Axis, Block, Cell, ChartRow, Detail, Fill, Item, RowGroup, Rows, Scale, Section, Sign, Table,
    Tone, Unit, Value, facts, headed, listed, number, paragraph, plain, text_column,
};
use stowplan_report::render::{html, markdown};
use unicode_width::UnicodeWidthStr as _;

/// How loud a store is, as nobody measures it: its name, its loudness, and an interval of that.
type Noise = (&'static str, f64, [f64; 2]);

const FOUND: [Noise; 2] = [
    ("files", 31_500.0, [30_500.0, 32_500.0]),
    ("lmdb", 28_400.0, [28_000.0, 28_500.0]),
];

/// All that a new kind of finding has to write to be shown in every form.
fn finding() -> Block {
    let unit = Unit::Bytes;
    let heard =
        |(_, loudness, [low, high]): &Noise| Some(Value::new(*loudness, unit).between(*low, *high));
    let columns = vec![
        text_column("store", "", |noise: &Noise| Cell::text(noise.0)),
        number("loudness", "", |noise| Cell::value(heard(noise))),
    ];
    let scale = Scale::linear(40_000.0);
    let axis = |title| Axis::new(title, scale, scale.ticks(), |at| unit.tick(at));
    let rows = FOUND.iter().map(|noise| ChartRow {
        sign: Some(Sign::Below),
        ..ChartRow::bar(noise.0, heard(noise), Fill::Ours)
    });
    let silent = ChartRow::bar("redb", None, Fill::Ours);
    let mut night = RowGroup::of("At night", rows.chain([silent]).collect());
    night.notices.push("The window was open.".to_owned());
    let rows = Rows::new("How loud", axis("loudness"), vec![night]);
    // Twice as far away a store is quieter by 6,000.
    let lines = FOUND.iter().map(|(store, loudness, _)| {
        let heard = [1.0, 2.0, 4.0].map(|metres: f64| {
            let value = Value::new(loudness - 6_000.0 * metres.log2(), unit);
            ChartRow {
                x: metres,
                ..ChartRow::bar(format!("{metres} m"), Some(value), Fill::Ours)
            }
        });
        RowGroup::of(*store, heard.into())
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

#[test]
fn every_form_says_all_of_it_and_the_page_draws_each_value_once() {
    let heard = Item {
        title: plain("The neighbours"),
        note: plain("Nobody asked them twice."),
        ..Item::of(plain("They heard lmdb.")).with_badge("heard", Tone::Bad)
    };
    let heard = listed(vec![heard]).unwrap();
    let document = with(vec![
        finding(),
        heard,
        facts([("Hour", "23:00".to_owned())]),
    ]);
    let page = html::render(&document);
    let screens = [60, 80, 120].map(|width| on_terminal(&document, width, Detail::Summary));
    for (text, width) in screens.iter().zip([60, 80, 120]) {
        assert!(text.lines().all(|line| line.width() <= width), "{text}");
    }
    let texts = screens.into_iter().chain([markdown::render(&document)]);
    for text in texts.chain([page.clone()]) {
        let sentences = [
            "Stores differ, which one can hear.",
            "At night",
            "The window was open.",
            "Farther away",
            "In the room next door",
            "no data",
            "The neighbours",
            "heard",
            "They heard lmdb.",
            "Nobody asked them twice.",
            "23:00",
        ];
        // Of the table and of the rows; of the intervals; of what was heard from 4 m.
        let figures = ["31.5 kB", "28.4 kB", "30.5", "32.5", "19.5 kB", "16.4 kB"];
        says(&text, sentences.into_iter().chain(figures));
        assert!(text.matches("31.5 kB").count() >= 2, "{text}");
    }
    for once in [
        "id=\"noise\"",
        "id=\"noise-far\"",
        "files: 31.5 kB, interval 30.5 kB to 32.5 kB",
        "lmdb, 4 m: 16.4 kB",
    ] {
        assert_eq!(page.matches(once).count(), 1, "{once}");
    }
    assert_eq!(values(&page, "data-value"), ["31500", "28400"]);
    assert!(!page.contains("NaN"));
}
