//! `summary.md`.

use crate::fixture;
use stowplan_report::markdown::render;

#[test]
fn says_everything_in_one_document() {
    insta::assert_snapshot!(render(&fixture::analysis()));
}

#[test]
fn every_row_of_a_table_has_as_many_fields_as_its_header() {
    let text = render(&fixture::analysis());
    let fields = |line: &str| line.replace("\\|", "").matches('|').count();
    let mut expected = None;
    let mut tables = 0;
    for line in text.lines() {
        if !line.starts_with('|') {
            expected = None;
            continue;
        }
        tables += usize::from(expected.is_none());
        assert_eq!(
            fields(line),
            *expected.get_or_insert(fields(line)),
            "{line}"
        );
    }
    assert!(tables >= 10, "{tables} tables");
}

#[test]
fn a_label_with_markup_stays_text() {
    let text = render(&fixture::analysis());
    assert!(!text.contains("<script>"), "{text}");
}
