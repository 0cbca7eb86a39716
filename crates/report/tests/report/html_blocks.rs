//! The page of blocks, whatever they tell.

use crate::every::DOCUMENTS;
use crate::support::with;
use stowplan_report::document::{
    Axis, Block, ChartRow, Content, File, Fill, RowGroup, Rows, Scale, Section, Unit, Value,
    paragraph,
};
use stowplan_report::render::html::render;

/// The values of an attribute, in their order.
pub(crate) fn values<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
    let start = format!(" {attribute}=\"");
    let found = page.split(start.as_str()).skip(1);
    found.map(|rest| rest.split_once('"').unwrap().0).collect()
}

fn section(title: &str, blocks: Vec<Block>) -> Section {
    Section::new(title, blocks).in_contents(title)
}

#[test]
fn a_page_has_the_mark_of_a_report_and_its_headings_are_nested_without_gaps() {
    for (name, document) in DOCUMENTS.iter() {
        let page = render(document);
        assert!(page.starts_with("<!DOCTYPE html>\n<!-- stowplan report -->\n"));
        let body = page.split_once("<body>").unwrap().1;
        let starts = body.split("<h").skip(1);
        let levels = starts.filter_map(|rest| rest.split_once('>')?.0.parse().ok());
        let levels: Vec<u8> = levels.collect();
        assert_eq!(levels[0], 1, "{name}");
        for pair in levels.windows(2) {
            assert!(pair[1] > 1 && pair[1] <= pair[0] + 1, "{name}: {levels:?}");
        }
    }
}

#[test]
fn what_has_the_name_of_a_part_of_the_page_or_of_another_block_gets_another_name() {
    let named = |name| section("A", vec![paragraph("b")]).named(name).into();
    let page = render(&with(vec![
        named("main"),
        named("a"),
        named("a"),
        named("a"),
    ]));
    let names = ["main", "main-2", "a", "a-2", "a-3"];
    assert_eq!(values(&page, "id"), names);
}

#[test]
fn a_section_without_content_has_no_heading_and_is_not_in_the_contents() {
    let empty = section("Nothing here", Vec::new()).named("empty");
    assert!(!render(&with(vec![empty.into()])).contains("Nothing"));
}

#[test]
fn many_files_of_great_size_are_not_carried() {
    // Noise cannot be compressed: each of these takes most of what a page may carry.
    let mut state = 1_u32;
    let noise = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        char::from(33 + (state % 94) as u8)
    });
    let file = File {
        of: "m".to_owned(),
        name: "result.jsonl".to_owned(),
        content: noise.take(6 << 20).collect(),
    };
    let page = |files| render(&with(vec![Content::Files(files).into()]));
    let both = page(vec![file.clone(), file.clone()]);
    assert!(both.contains("They are not in this page") && both.len() < 1 << 20);
    let one = page(vec![file]);
    assert!(one.contains("id=\"raw-result\" download=\"result.jsonl.gz\""));
}

#[test]
fn a_line_is_interrupted_where_there_is_no_data() {
    let axis = || {
        Axis::new("", Scale::logarithmic(1.0, 6.0), Vec::new(), |_| {
            String::new()
        })
    };
    let points = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0].map(|x| ChartRow {
        x,
        ..ChartRow::bar(
            "",
            (x != 5.0).then(|| Value::new(x, Unit::Ratio)),
            Fill::Ours,
        )
    });
    let groups = vec![RowGroup::of("", points.into())];
    let page = render(&with(vec![
        Rows::new("", axis(), groups).across(axis()).into(),
    ]));
    let curves = page.split("class=\"curve own\" d=\"").skip(1);
    let steps = curves.map(|path| path.split('"').next().unwrap().matches('L').count());
    // Four points before the gap, and the only one behind it is no line.
    assert_eq!(steps.collect::<Vec<_>>(), [3]);
}
