//! The page: well formed, complete, and without a word to the network.

use crate::holds::says;
use crate::html_blocks::values;
use crate::support::{changed, element, html, markup, three_digits};
use crate::{every, fixture};
use base64::Engine as _;
use std::collections::BTreeSet;
use std::io::Read as _;
use stowplan_analysis::{Finding, FindingRow};
use stowplan_model::Role;
use stowplan_report::render;

fn whole() -> String {
    html(&fixture::analysis(), &fixture::raw_result())
}

/// A page of each kind of document.
fn pages() -> impl Iterator<Item = String> {
    let documents = every::DOCUMENTS.iter();
    documents.map(|(_, document)| render::html::render(document))
}

/// The tags of the page, each without its brackets.
fn tags(page: &str) -> Vec<String> {
    let markup = markup(page);
    let parts = markup.split('<').skip(1);
    parts
        .map(|part| part.split('>').next().unwrap().to_owned())
        .collect()
}

#[test]
fn tags_are_balanced() {
    const VOID: [&str; 3] = ["meta", "link", "br"];
    let mut open: Vec<String> = Vec::new();
    for tag in pages().flat_map(|page| tags(&page)) {
        let name: String = tag.chars().take_while(|c| c.is_alphanumeric()).collect();
        if let Some(closed) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(closed));
        } else if !(tag.starts_with('!') || tag.ends_with('/') || VOID.contains(&name.as_str())) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn nothing_is_loaded_from_anywhere() {
    for page in pages() {
        for tag in tags(&page) {
            let attributes = ["src", "href", "xlink:href"];
            for target in attributes.iter().flat_map(|name| values(&tag, name)) {
                let local = target.starts_with('#') || target.starts_with("data:");
                let article = tag.starts_with("a ") && target.starts_with("https://sqlite.org/");
                assert!(local || article, "{tag}");
            }
        }
        for forbidden in ["@import", "fetch(", "XMLHttpRequest", "http://"] {
            assert!(!page.contains(forbidden), "{forbidden}");
        }
        let mut drawn = page.match_indices("url(");
        assert!(drawn.all(|(at, _)| page[at..].starts_with("url(#")));
        assert!(page.contains("default-src 'none'"));
    }
}

#[test]
fn ids_are_unique_and_links_within_the_page_lead_somewhere() {
    for page in pages() {
        let ids = values(&page, "id");
        let unique: BTreeSet<&str> = ids.iter().copied().collect();
        assert_eq!(ids.len(), unique.len(), "{ids:?}");
        let links = values(&page, "href").into_iter();
        for target in links.filter_map(|link| link.strip_prefix('#')) {
            assert!(unique.contains(target), "#{target}");
        }
    }
}

#[test]
fn every_number_of_every_chart_is_there_with_its_interval_and_rounds() {
    let page = whole();
    let analysis = fixture::analysis();
    let rows = analysis.figures.iter().flat_map(Finding::rows);
    for ratio in rows.filter_map(FindingRow::ratio) {
        let [ratio, low, high] = [ratio.ratio, ratio.low, ratio.high].map(three_digits);
        let interval = format!("{ratio}, interval {low} to {high}, 20 rounds");
        assert!(page.contains(&interval), "{interval}");
    }
    let system = "2015 MacBook Pro, 3.1 GHz i7, 16 GiB, macOS 10.12.5, SSD";
    assert!(page.contains(&format!("<small>{system}</small>")));
    // For screen readers.
    let drawings = "<svg class=\"track\" role=\"img\">";
    let titled = page.matches(&format!("{drawings}<title>")).count();
    assert!(titled > 30, "{titled}");
    assert_eq!(page.matches(drawings).count(), titled);
}

#[test]
fn verdicts_come_before_charts_and_charts_before_tables_and_the_contents_lead_to_each() {
    let page = whole();
    let chapters = "overview charts space comparisons warnings environment method raw";
    let sections = page.split("<section id=\"").skip(1);
    let sections = sections.filter_map(|rest| Some(rest.split_once('"')?.0));
    let chapters: Vec<&str> = chapters.split(' ').collect();
    let found: Vec<&str> = sections.filter(|id| chapters.contains(id)).collect();
    assert_eq!(found, chapters);
    let answer =
        "<b>SQLite, sqlite3_blob_read(), memory-mapped</b></td><td>4.11× [4.03, 4.21]</td>";
    let evidence = "2,000,000 values were read back and compared";
    says(element(&page, "overview"), [answer, evidence]);
    let contents = page.split("<li><a href=\"#").skip(1);
    let contents = contents.filter_map(|rest| Some(rest.split_once('"')?.0));
    assert_eq!(contents.collect::<Vec<_>>(), chapters);
}

#[test]
fn every_percentile_of_every_cell_is_there() {
    let analysis = fixture::analysis();
    let page = whole();
    let mut points = 0;
    let cells = analysis.cells();
    let cells = cells.filter(|found| found.cell.role != Role::Control);
    for (percentile, ns) in cells
        .flat_map(|found| &found.latency)
        .flat_map(|l| &l.curve)
    {
        // 95% has a place in the line, but no mark.
        if *percentile != 95.0 {
            points += 1;
            let time = stowplan_report::time(*ns as f64);
            let tip = format!(", {percentile}%: {time}, of 200,000 operations</title>");
            assert!(page.contains(&tip), "{tip}");
        }
    }
    assert!(points > 20, "{points}");
    assert!(page.contains("<p>Across, the share of operations"));
}

#[test]
fn more_lines_of_latencies_than_can_be_told_apart_are_parted_by_store() {
    let analysis = changed(|run| {
        let cells = &mut run.comparisons[0].cells;
        for number in 0..20 {
            let mut cell = cells[8].clone();
            cell.cell.role = Role::Candidate;
            cell.cell.label = format!("more {number}");
            cell.cell.store.kind = format!("kind {}", number % 2);
            cells.push(cell);
        }
    });
    let page = html(&analysis, "");
    for kind in ["kind 0", "kind 1", "sqlite", "files"] {
        assert!(page.contains(&format!("<h5>{kind}</h5>")), "{kind}");
    }
    let drawing = page.split("<h5>").find(|part| part.starts_with("kind 0"));
    let lines = drawing.unwrap().matches("<path class=\"curve s").count();
    assert_eq!(lines, 10);
}

#[test]
fn latencies_without_a_curve_have_no_drawing() {
    let analysis = changed(|run| {
        let cells = run.comparisons.iter_mut().flat_map(|c| &mut c.cells);
        let latencies = cells.filter_map(|cell| cell.latency.as_mut());
        latencies.for_each(|latency| latency.curve.clear());
    });
    assert!(!html(&analysis, "").contains("<figure class=\"tails\""));
}

#[test]
fn the_raw_result_comes_out_as_it_went_in_of_a_page_that_is_small_and_the_same_every_time() {
    let page = whole();
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
    assert_eq!(page, whole());
    let (_, data) = page.split_once("data:application/gzip;base64,").unwrap();
    let data = data.split('"').next().unwrap();
    let base64 = base64::engine::general_purpose::STANDARD;
    let bytes = base64.decode(data).unwrap();
    let mut text = String::new();
    flate2::read::GzDecoder::new(bytes.as_slice())
        .read_to_string(&mut text)
        .unwrap();
    assert_eq!(text, fixture::raw_result());
}
