//! Costs taken apart, in every form.

use crate::support::{VERBOSE, between, element, html, markdown, terminal};
use crate::why_run::analysis;
use stowplan_report::render::terminal::TerminalOptions;
use stowplan_report::{csv, json};

#[test]
fn steps_claims_and_counts_have_room_in_80_columns() {
    let text = terminal(&analysis(), &VERBOSE);
    insta::assert_snapshot!(between(&text, "Why: ", "\nEach comparison\n"));
}

#[test]
fn markdown_has_every_figure() {
    let text = markdown(&analysis());
    insta::assert_snapshot!(between(&text, "## Why: ", "## Each comparison"));
}

#[test]
fn what_is_fetched_of_names_stands_apart_from_data() {
    let mut analysis = analysis();
    analysis.cold[0].cells[0].metadata_bytes = Some(4_100.0);
    analysis.cold[0].cells[0].metadata_proved = true;
    let text = markdown(&analysis);
    assert!(text.contains("| 11.8 kB | 4.10 kB | 1.00 |"), "{text}");
    analysis.cold[0].cells[0].metadata_proved = false;
    let text = markdown(&analysis);
    assert!(text.contains("| 4.10 kB ? |"), "{text}");
}

#[test]
fn parts_stand_apart_and_are_never_an_answer() {
    let analysis = analysis();
    let verbose = TerminalOptions {
        width: 120,
        ..VERBOSE
    };
    let text = terminal(&analysis, &verbose);
    assert!(text.contains("Parts, which only explain others"), "{text}");
    let csv = csv::render(&analysis);
    assert_eq!(
        csv.lines().filter(|line| line.contains(",part,")).count(),
        3
    );
    let overview = between(&text, "What to do", "Why believe");
    assert!(!overview.contains("kept open"), "{overview}");
}

#[test]
fn json_has_ladders_claims_counts_and_what_explains_cold_reads() {
    let text = json::render(&analysis()).unwrap();
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    let step = &document["ladders"][0]["steps"][2];
    assert_eq!(step["cost"]["estimate"], 2_690.0);
    assert!(step["isolated"]["estimate"].is_number());
    assert_eq!(document["claims"][0]["verdict"], "holds");
    assert_eq!(document["cold"][0]["cells"][1]["storage_bytes"], 35_700.0);
    let cells = document["comparisons"][0]["cells"].as_array().unwrap();
    assert_eq!(cells[2]["counts"]["calls"]["frequent"][0][0], "pread64");
}

#[test]
fn the_page_draws_each_piece_where_the_one_below_ends() {
    let page = html(&analysis(), "");
    let figure = element(&page, "ladder-reads");
    let (_, files) = figure.split_once("<div class=\"group\">Files<").unwrap();
    let (files, _) = files.split_once("<div class=\"label\">the whole<").unwrap();
    let number = |text: &str, name: &str| -> f64 {
        let start = text.find(name).unwrap() + name.len();
        let end = start + text[start..].find(['"', '%']).unwrap();
        text[start..end].parse().unwrap()
    };
    let rects = files.split("<rect").skip(1);
    let rects: Vec<(f64, f64)> = rects
        .map(|rect| (number(rect, " x=\""), number(rect, " width=\"")))
        .collect();
    assert_eq!(rects.len(), 5, "four steps and the remainder");
    for pair in rects.windows(2) {
        let begins = pair[0].0 + pair[0].1;
        assert!((begins - pair[1].0).abs() < 0.02, "{rects:?}");
    }
    assert!(
        figure.contains("class=\"saving\""),
        "what saves time takes no room"
    );
}
