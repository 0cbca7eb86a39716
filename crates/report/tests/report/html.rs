//! The page: well formed, complete, and without a word to the network.

use crate::support::{element, html, markup, seen_words, three_digits};
use crate::{every, fixture};
use base64::Engine as _;
use std::collections::BTreeSet;
use std::io::Read as _;
use stowplan_analysis::{Analysis, CellSummary, FindingRow, Verdict};
use stowplan_model::Role;

fn whole() -> String {
    html(&fixture::analysis(), &fixture::raw_result())
}

/// A page of each kind of document.
fn pages() -> Vec<String> {
    let documents = every::documents();
    let pages = documents.iter();
    pages
        .map(|(_, document)| stowplan_report::render::html::render(document))
        .collect()
}

/// What is read of the answers on a page.
fn overview(page: &str) -> String {
    seen_words(element(page, "overview"))
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
    for tag in pages().iter().flat_map(|page| tags(page)) {
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
    pages().iter().for_each(|page| loads_nothing(page));
}

fn loads_nothing(page: &str) {
    for tag in tags(page) {
        for attribute in ["src=\"", "href=\""] {
            for (start, _) in tag.match_indices(attribute) {
                let target = &tag[start + attribute.len()..];
                let local = target.starts_with('#') || target.starts_with("data:");
                let article = tag.starts_with("a ") && target.starts_with("https://sqlite.org/");
                assert!(local || article, "{tag}");
            }
        }
    }
    for forbidden in ["@import", "fetch(", "XMLHttpRequest", "http://"] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    let mut drawn = page.match_indices("url(");
    assert!(drawn.all(|(at, _)| page[at..].starts_with("url(#")));
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn every_number_of_every_chart_is_there_with_its_interval_and_rounds() {
    let analysis = fixture::analysis();
    let page = whole();
    for figure in &analysis.figures {
        assert!(page.contains(&format!("id=\"chart-{}\"", figure.id)));
        for estimate in figure.rows().filter_map(FindingRow::ratio) {
            let interval = format!(
                "{}, interval {} to {}, 20 rounds",
                three_digits(estimate.ratio),
                three_digits(estimate.low),
                three_digits(estimate.high)
            );
            assert!(page.contains(&interval), "{interval}");
        }
        for row in figure.rows() {
            let Some(description) = &row.description else {
                continue;
            };
            let title = format!("{}<small>{description}</small>", row.label);
            assert!(page.contains(&title), "{title}");
        }
    }
    for bytes in ["1,024,512,000", "1,228,800,000"] {
        assert!(page.contains(bytes), "{bytes}");
    }
}

#[test]
fn every_drawing_has_a_title_for_screen_readers() {
    let page = whole();
    let drawings = page.matches("<svg class=\"track\" role=\"img\">").count();
    let titled = page
        .matches("<svg class=\"track\" role=\"img\"><title>")
        .count();
    assert!(drawings > 30, "{drawings}");
    assert_eq!(drawings, titled);
}

#[test]
fn ids_are_unique_and_links_within_the_page_lead_somewhere() {
    for page in pages() {
        let values = |attribute: &str| -> Vec<String> {
            let parts = page.split(attribute).skip(1);
            parts
                .map(|part| part.split('"').next().unwrap().to_owned())
                .collect()
        };
        let ids = values(" id=\"");
        let unique: BTreeSet<_> = ids.iter().cloned().collect();
        assert_eq!(ids.len(), unique.len(), "{ids:?}");
        for target in values("href=\"#") {
            assert!(unique.contains(&target), "#{target}");
        }
    }
}

#[test]
fn verdicts_come_before_charts_and_charts_before_tables() {
    let page = whole();
    let sections = [
        "overview",
        "charts",
        "space",
        "comparisons",
        "warnings",
        "environment",
        "method",
        "raw",
    ];
    let positions = sections.map(|id| page.find(&format!("<section id=\"{id}\">")).unwrap());
    assert!(positions.is_sorted(), "{positions:?}");
    for id in sections {
        assert!(page.contains(&format!("<li><a href=\"#{id}\">")), "{id}");
    }
}

#[test]
fn the_answer_has_its_factor_and_its_interval_and_the_evidence_is_one_sentence() {
    let page = whole();
    let overview = overview(&page);
    assert!(overview.contains("4.11× [4.03, 4.21]"), "{overview}");
    let (_, evidence) = overview.split_once("Why believe it? ").unwrap();
    assert_eq!(
        evidence,
        "Noise: measuring the same thing twice differed by 0.1% to 4.2%, and may by up to 5.7%: too much for any \
         claim in 1 of 4 comparisons; intervals are 1% longer for it; 20 rounds. 2,000,000 values were read back \
         and compared; 4,000,000 operations were timed, in rounds of random order."
    );
}

/// The run with its first comparison so many times.
fn with_comparisons(count: usize) -> Analysis {
    let mut analysis = fixture::analysis();
    let first = analysis.comparisons[0].clone();
    analysis.comparisons = (0..count)
        .map(|number| {
            let mut comparison = first.clone();
            comparison.id = format!("reads-{number}");
            comparison.title = format!("The comparison with number {number}");
            comparison
        })
        .collect();
    analysis.space.clear();
    fixture::decided(analysis)
}

#[test]
fn warnings_stand_above_the_answers() {
    let page = whole();
    let notice = page.find("This run has <a").unwrap();
    assert!(notice < page.find("<section id=\"overview\">").unwrap());
}

/// What the baseline beats says nothing of a rival that it does not beat.
#[test]
fn a_baseline_that_stays_beside_unresolved_rivals_has_no_factor_and_is_not_called_the_one_to_use() {
    let mut analysis = with_comparisons(9);
    for comparison in &mut analysis.comparisons {
        comparison.fastest = None;
        for contrast in &mut comparison.contrasts {
            contrast.verdict = match contrast.verdict {
                Verdict::Faster => Verdict::Unresolved,
                other => other,
            };
        }
    }
    analysis.decide();
    let page = html(&analysis, "");
    let overview = overview(&page);
    assert!(overview.contains("separate files, so far"), "{overview}");
    assert!(!overview.contains('×'), "no factor: {overview}");
}

#[test]
fn every_percentile_of_every_cell_is_there() {
    let analysis = fixture::analysis();
    let page = whole();
    let mut points = 0;
    for comparison in &analysis.comparisons {
        for cell in comparison.cells.iter().filter(|c| !is_control(c)) {
            let Some(latency) = &cell.latency else {
                continue;
            };
            for (percentile, ns) in &latency.curve {
                // 95% has a place in the line, but no mark.
                if *percentile == 95.0 {
                    continue;
                }
                points += 1;
                let time = stowplan_report::time(*ns as f64);
                let tip = format!(", {percentile}%: {time}, of 200,000 operations</title>");
                assert!(page.contains(&tip), "{tip}");
            }
        }
    }
    assert!(points > 20, "{points}");
    assert!(page.contains("<p>Across, the share of operations"));
}

fn is_control(cell: &CellSummary) -> bool {
    cell.cell.role == Role::Control
}

#[test]
fn more_lines_of_latencies_than_can_be_told_apart_are_parted_by_store() {
    let mut analysis = fixture::analysis();
    let cells = &mut analysis.comparisons[0].cells;
    let last = cells.last().unwrap().clone();
    for number in 0..20 {
        let mut cell = last.clone();
        cell.cell.role = Role::Candidate;
        cell.cell.label = format!("more {number}");
        cell.cell.store.kind = format!("kind {}", number % 2);
        cells.push(cell);
    }
    let page = html(&analysis, "");
    for kind in ["kind 0", "kind 1", "sqlite", "files"] {
        assert!(page.contains(&format!("<h5>{kind}</h5>")), "{kind}");
    }
    let drawing = page.split("<h5>kind 0</h5>").nth(1).unwrap();
    let drawing = drawing.split("<h5>").next().unwrap();
    assert_eq!(drawing.matches("<path class=\"curve s").count(), 10);
}

#[test]
fn latencies_without_a_curve_have_no_drawing() {
    let mut analysis = fixture::analysis();
    for cell in analysis.comparisons.iter_mut().flat_map(|c| &mut c.cells) {
        if let Some(latency) = &mut cell.latency {
            latency.curve.clear();
        }
    }
    assert!(!html(&analysis, "").contains("<figure class=\"tails\""));
}

#[test]
fn the_raw_result_comes_out_as_it_went_in() {
    let page = whole();
    let (_, data) = page.split_once("data:application/gzip;base64,").unwrap();
    let data = data.split('"').next().unwrap();
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(data)
        .unwrap();
    let mut text = String::new();
    flate2::read::GzDecoder::new(bytes.as_slice())
        .read_to_string(&mut text)
        .unwrap();
    assert_eq!(text, fixture::raw_result());
}

#[test]
fn the_page_is_small_and_the_same_every_time() {
    let page = whole();
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
    assert_eq!(page, whole());
}

#[test]
fn an_empty_run_is_still_a_page() {
    let page = html(&fixture::empty("Nothing"), "");
    assert!(page.contains("Environment") && !page.contains("href=\"#warnings\""));
    assert!(!page.contains("<section id=\"overview\"") && !page.contains("href=\"#charts\""));
}
