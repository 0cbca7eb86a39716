//! Bars and lines of measured quantities, in every format.

use crate::export::row_of;
use crate::measured_run::{analysis, records};
use crate::support::{PLAIN, VERBOSE, between, html, json, markdown, terminal};
use stowplan_analysis::{Finding, analyse};
use stowplan_model::Record;

#[test]
fn shows_bars_and_lines_in_80_columns() {
    let text = terminal(&analysis(), &VERBOSE);
    insta::assert_snapshot!(between(&text, "\nCharts\n", "\nEach comparison\n"));
}

#[test]
fn the_table_has_the_class_beside_each_figure_where_promises_differ() {
    let text = terminal(&analysis(), &PLAIN);
    insta::assert_snapshot!(between(&text, "cell ", "\nYCSB A"));
}

#[test]
fn markdown_has_every_figure_with_its_promise() {
    let text = markdown(&analysis());
    insta::assert_snapshot!(between(&text, "## Charts", "## Each comparison"));
}

#[test]
fn the_page_draws_each_figure_once_and_says_it_in_words() {
    let analysis = analysis();
    let page = html(&analysis, "");
    let charts = between(
        &page,
        "<section id=\"charts\">",
        "<section id=\"comparisons\">",
    );
    for title in [
        "<title>lmdb: 7.38 s ± 31.4 ms</title>",
        "<title>SQL CE 4.0: 25.8 ms ± 583 µs, as published</title>",
        "<title>redb, 4: 38.3/s, interval 37.7/s to 38.9/s</title>",
    ] {
        assert_eq!(charts.matches(title).count(), 1, "{title}");
    }
    let drawn = |is_plane: bool| {
        let figures = analysis
            .figures
            .iter()
            .filter(move |f| f.x.is_some() == is_plane);
        figures.flat_map(Finding::rows)
    };
    let bars = drawn(false).count();
    assert_eq!(charts.matches("<rect").count(), bars);
    let points = drawn(true).filter(|row| row.x.is_some()).count();
    assert_eq!(charts.matches("<svg class=\"at\"").count(), points);
    assert!(!charts.contains("NaN") && !charts.contains("inf"));
}

#[test]
fn classes_stand_below_headings_of_their_own_weakest_first() {
    let page = html(&analysis(), "");
    let chart = between(&page, "id=\"bars-phases\"", "</figure>");
    let headings = [
        "D1 process-crash",
        "D2 consistent",
        "D3 durable",
        "reads or floor",
    ];
    let places: Vec<usize> = headings
        .iter()
        .map(|h| chart.find(&format!(">{h}")).unwrap())
        .collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn a_cell_without_blocks_is_said_to_have_no_data() {
    let mut records = records();
    records.retain(|record| match record {
        Record::Measurement(block) => block.cell.0 != "insert/redb",
        _ => true,
    });
    let analysis = analyse(&records, None).unwrap();
    let page = html(&analysis, "");
    let chart = between(&page, "id=\"bars-phases\"", "</figure>");
    assert!(chart.contains("<title>redb: no data</title>"), "{chart}");
    assert!(terminal(&analysis, &PLAIN).contains("no data"));
}

#[test]
fn an_unreliable_session_claims_nothing_in_a_chart() {
    let mut analysis = analysis();
    let title = analysis.figures[0].groups[0].title.clone();
    analysis.figures[0].unreliable = vec![title];
    let mut lines = analysis
        .figures
        .iter_mut()
        .filter(|figure| figure.x.is_some());
    lines.next().unwrap().unreliable = vec!["the title".to_owned()];
    for text in [
        html(&analysis, ""),
        markdown(&analysis),
        terminal(&analysis, &VERBOSE),
    ] {
        assert_eq!(text.matches("Session unreliable").count(), 2, "{text}");
    }
    assert!(html(&analysis, "").contains("class=\"ours uncertain\""));
}

#[test]
fn csv_and_json_have_the_totals_of_a_block() {
    let analysis = analysis();
    let row = row_of(&analysis, "insert/sqlite");
    let [mean, error] = ["block_mean_ns", "block_standard_error_ns"]
        .map(|column| row[column].parse::<f64>().unwrap());
    assert!((mean - 27.88e9).abs() < 1e6, "{mean}");
    assert!((error - 0.119e9).abs() < 1e6, "{error}");
    for (column, expected) in [
        ("block_operations", "200"),
        ("published_seconds", "22.5498"),
        ("published_error_seconds", "0.2185"),
        ("commits_per_block", "200"),
        ("threads", "1"),
        ("durability_delayed", "false"),
    ] {
        assert_eq!(row[column], expected, "{column}");
    }
    let row = row_of(&analysis, "threads/redb-4");
    let told = ["threads", "mix", "conflicts"].map(|column| row[column].as_str());
    assert_eq!(told, ["4", "read=50 overwrite=50", "30"]);
    let document = json(&analysis);
    let block = &document["comparisons"][0]["cells"][0]["block_time"];
    assert_eq!(block["operations"], 200);
    assert_eq!(block["mean_ns"].as_f64(), Some(mean));
    let figures = document["figures"].as_array().unwrap();
    assert_eq!(figures[0]["shown"]["measured"], "block-time");
    assert!(figures.iter().any(|figure| figure["x"] == "window_rows"));
}

#[test]
fn a_block_time_from_a_sample_is_marked_wherever_it_stands() {
    let mut analysis = analysis();
    analysis.figures[0].groups[0].rows[0].sample = true;
    let note = "~ extrapolated from a sample.";
    for text in [
        html(&analysis, ""),
        markdown(&analysis),
        terminal(&analysis, &VERBOSE),
    ] {
        assert!(text.contains("~42.6 ms") && text.contains(note), "{text}");
    }
}
