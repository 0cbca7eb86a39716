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
fn the_same_is_told_in_ascii_and_in_40_columns() {
    let narrow = TerminalOptions {
        width: 40,
        unicode: false,
        ..VERBOSE
    };
    let text = terminal(&analysis(), &narrow);
    let why = between(&text, "Why: ", "\nEach comparison\n");
    assert!(why.is_ascii(), "{why}");
    assert!(why.lines().all(|line| line.len() <= 40), "{why}");
    insta::assert_snapshot!(why);
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
    let told = "fetches 11.8 kB from storage (4.10 kB of names and inodes) in one request";
    assert!(text.contains(told), "{text}");
    analysis.cold[0].cells[0].metadata_proved = false;
    let text = markdown(&analysis);
    let told = "(4.10 kB of names and inodes; too little to prove that none was in memory)";
    assert!(text.contains(told), "{text}");
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
    assert_eq!(document["ladders"][0]["steps"][2]["cost"]["ns"], 2_690.0);
    assert_eq!(
        document["ladders"][0]["steps"][2]["isolated"]["agreement"],
        "less"
    );
    assert_eq!(document["claims"][0]["verdict"], "holds");
    assert_eq!(document["cold"][0]["cells"][1]["storage_bytes"], 35_700.0);
    let cells = document["comparisons"][0]["cells"].as_array().unwrap();
    assert_eq!(cells[2]["counts"]["calls"]["frequent"][0][0], "pread64");
}

#[test]
fn the_page_draws_each_piece_where_the_one_below_ends() {
    let page = html(&analysis(), "");
    let figure = element(&page, "ladder-reads");
    let pieces = |of: &str| -> Vec<(f64, f64, f64)> {
        let row = figure
            .split("<div class=\"row\"")
            .find(|row| row.contains(of))
            .unwrap();
        let number = |text: &str, name: &str| -> f64 {
            let start = text.find(name).unwrap() + name.len();
            let end = start + text[start..].find(['"', '%']).unwrap();
            text[start..end].parse().unwrap()
        };
        row.split("<svg class=\"part\"")
            .skip(1)
            .filter(|part| part.contains("height=\"20\""))
            .map(|part| {
                (
                    number(part, " x=\""),
                    number(part, " width=\""),
                    number(part, "data-value=\""),
                )
            })
            .collect()
    };
    let files = pieces("<div class=\"label\">Files<");
    // The remainder is 0, and what has no length is not drawn.
    assert_eq!(files.len(), 4);
    let scale = files[0].1 / files[0].2;
    for pair in files.windows(2) {
        assert!(
            (pair[0].0 + pair[0].1 - pair[1].0).abs() < 0.02,
            "{files:?}"
        );
        assert!(
            (pair[1].1 - scale * pair[1].2.max(0.0)).abs() < 0.02,
            "{files:?}"
        );
    }
    // What saves time takes no room, and what follows begins where it stands.
    let sqlite = pieces("<div class=\"label\">SQLite<");
    assert!(sqlite[2].1 == 0.0 && sqlite[2].2 < 0.0, "{sqlite:?}");
    assert!(
        (sqlite[0].1 / sqlite[0].2 - scale).abs() < 1e-6,
        "one axis for both"
    );
    assert!(figure.contains("class=\"saving\""));
}

#[test]
fn a_hostile_step_stays_text_on_the_page() {
    let mut analysis = analysis();
    analysis.ladders[0].steps[0].steps = vec!["<script>alert(1)</script>".to_owned()];
    analysis.claims[0].quote = "<b onclick=x>".to_owned();
    analysis.ladders[0].id = "\"><script>".to_owned();
    let page = html(&analysis, "");
    let why = between(&page, "<section id=\"why\"", "</section>");
    assert!(!why.contains("<script"), "{why}");
    let claims = element(&page, "claims");
    assert!(!claims.contains("<b onclick"), "{claims}");
    assert!(claims.contains("&lt;b onclick=x&gt;"), "{claims}");
}
