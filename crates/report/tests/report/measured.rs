//! Bars and lines of measured quantities, in every format.

use crate::export::row_of;
use crate::holds::says;
use crate::measured_run::analysis;
use crate::support::{PLAIN, VERBOSE, between, element, forms, html, json, markdown, terminal};
use stowplan_analysis::Finding;

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
    let charts = element(&page, "charts");
    for title in [
        "<title>lmdb: 7.38 s ± 31.4 ms</title>",
        "<title>SQL CE 4.0: 25.8 ms ± 583 µs, as published</title>",
        "<title>redb, 4: 38.3/s, interval 37.7/s to 38.9/s</title>",
    ] {
        assert_eq!(charts.matches(title).count(), 1, "{title}");
    }
    let (planes, bars): (Vec<&Finding>, _) = analysis.figures.iter().partition(|f| f.x.is_some());
    let bars = bars.into_iter().flat_map(Finding::rows).count();
    assert_eq!(charts.matches("<rect").count(), bars);
    let points = planes.into_iter().flat_map(Finding::rows);
    let points = points.filter(|row| row.x.is_some()).count();
    assert_eq!(charts.matches("<svg class=\"at\"").count(), points);
    assert!(!charts.contains("NaN") && !charts.contains("inf"));
}

#[test]
fn an_unreliable_session_claims_nothing_in_a_chart() {
    let mut analysis = analysis();
    let is_plane = |figure: &&mut Finding| figure.x.is_some();
    let plane = analysis.figures.iter_mut().find(is_plane);
    plane.unwrap().unreliable = vec!["the title".to_owned()];
    let bars = &mut analysis.figures[0];
    bars.unreliable = vec![bars.groups[0].title.clone()];
    for text in forms(&analysis) {
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
    for (cell, column, expected) in [
        ("insert/sqlite", "block_operations", "200"),
        ("insert/sqlite", "published_seconds", "22.5498"),
        ("insert/sqlite", "published_error_seconds", "0.2185"),
        ("insert/sqlite", "commits_per_block", "200"),
        ("insert/sqlite", "threads", "1"),
        ("insert/sqlite", "durability_delayed", "false"),
        ("threads/redb-4", "threads", "4"),
        ("threads/redb-4", "mix", "read=50 overwrite=50"),
        ("threads/redb-4", "conflicts", "30"),
    ] {
        assert_eq!(row_of(&analysis, cell)[column], expected, "{cell} {column}");
    }
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
    for text in forms(&analysis) {
        says(&text, ["~42.6 ms", "~ extrapolated from a sample."]);
    }
}
