//! The page of a document that has every kind of block.

use crate::sample_document::{bars, sample, sizes, why, with};
use stowplan_report::document::{Content, File, Section, paragraph};
use stowplan_report::render::html::render;

/// The levels of the headings of a page, in their order.
fn headings(page: &str) -> Vec<u8> {
    let body = page.split_once("<body>").unwrap().1;
    let starts = body.match_indices("<h");
    let levels = starts.filter_map(|(at, _)| {
        let mut rest = body[at + 2..].chars();
        let level = rest.next()?.to_digit(10)?;
        (rest.next()? == '>').then_some(level as u8)
    });
    levels.collect()
}

/// The values of an attribute, in their order.
pub(crate) fn values<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
    let start = format!(" {attribute}=\"");
    let found = page.split(start.as_str()).skip(1);
    found.map(|rest| rest.split_once('"').unwrap().0).collect()
}

#[test]
fn headings_are_nested_without_gaps() {
    let levels = headings(&render(&sample()));
    assert_eq!(levels[0], 1);
    assert_eq!(levels.iter().filter(|level| **level == 1).count(), 1);
    for pair in levels.windows(2) {
        assert!(pair[1] <= pair[0] + 1, "{levels:?}");
    }
    assert!(levels.contains(&5), "{levels:?}");
}

#[test]
fn of_two_blocks_with_one_name_the_second_has_another() {
    let page = render(&sample());
    let ids = values(&page, "id");
    for id in ["finding-read", "finding-read-2", "finding-read-3"] {
        assert_eq!(
            ids.iter().filter(|found| **found == id).count(),
            1,
            "{ids:?}"
        );
    }
}

#[test]
fn a_section_cannot_take_the_name_of_a_part_of_the_page() {
    let section = Section::new("A", vec![paragraph("b")]).named("main");
    let page = render(&with(vec![section.into()]));
    assert_eq!(values(&page, "id"), ["main", "main-2"]);
}

#[test]
fn every_row_and_every_piece_has_its_value_and_is_explained_once() {
    let page = render(&with(vec![bars().into()]));
    let numbers = values(&page, "data-value");
    assert_eq!(numbers, ["1", "0.62", "1.1", "0.48", "1.5"]);
    for explained in [
        "SQLite SELECT: 1.10, interval 0.800 to 1.40, 10 rounds",
        "redb: no data",
    ] {
        assert_eq!(page.matches(explained).count(), 1, "{explained}");
    }
    let page = render(&with(vec![why().into()]));
    let pieces = values(&page, "data-value").len();
    assert_eq!(pieces, 3 + 1);
}

#[test]
fn a_section_without_content_has_no_heading_and_is_not_in_the_contents() {
    let empty = Section::new("Nothing here", Vec::new())
        .named("empty")
        .in_contents("Nothing");
    assert!(!render(&with(vec![empty.into()])).contains("Nothing"));
}

#[test]
fn many_files_of_great_size_are_not_carried() {
    // Noise cannot be compressed: each of these takes most of what a page may carry.
    let mut state = 1_u32;
    let mut noise = String::new();
    while noise.len() < 6 << 20 {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        noise.push(char::from(33 + (state % 94) as u8));
    }
    let file = File {
        of: "m".to_owned(),
        name: "result.jsonl".to_owned(),
        content: noise,
    };
    let page = |files| render(&with(vec![Content::Files(files).into()]));
    let both = page(vec![file.clone(), file.clone()]);
    assert!(both.contains("They are not in this page") && both.len() < 1 << 20);
    let one = page(vec![file]);
    assert!(one.contains("id=\"raw-result\" download=\"result.jsonl.gz\""));
}

#[test]
fn a_line_is_interrupted_where_there_is_no_data() {
    let page = render(&with(sizes()));
    let curves = page.split("class=\"curve own\" d=\"").skip(1);
    let steps = curves.map(|path| path.split('"').next().unwrap().matches('L').count());
    // Of either plane: four points before the gap, and the only one behind it is no line.
    assert_eq!(steps.collect::<Vec<_>>(), [3, 3]);
}

#[test]
fn the_page_begins_as_html_with_the_mark_of_a_report() {
    let page = render(&sample());
    assert!(page.starts_with("<!DOCTYPE html>\n<!-- stowplan report -->\n"));
}
