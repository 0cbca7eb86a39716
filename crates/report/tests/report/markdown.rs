//! `summary.md`.

use crate::fixture;
use stowplan_analysis::Verdict;
use stowplan_report::markdown::render;

#[test]
fn says_everything_in_one_document() {
    insta::assert_snapshot!(render(&fixture::analysis()));
}

#[test]
fn both_documents_carry_the_mark_of_a_report_near_the_top() {
    let analysis = fixture::analysis();
    let page = stowplan_report::html::render(&analysis, "");
    for text in [render(&analysis), page] {
        let position = text.find(stowplan_report::MARK).unwrap();
        assert!(position < 100, "{position}");
    }
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

#[test]
fn the_overview_says_how_firm_each_answer_is_and_no_more() {
    let cases = [
        (
            Verdict::Equivalent,
            "equivalent: **choose by something else",
        ),
        (Verdict::Slower, "none faster: **stay with separate files**"),
        (Verdict::Faster, "faster: **prefer "),
        (Verdict::Unresolved, "none faster: **no reason to leave"),
        (Verdict::NoData, "no verdict: **measure again**"),
    ];
    for (verdict, expected) in cases {
        let mut analysis = fixture::analysis();
        let comparison = &mut analysis.comparisons[0];
        comparison.fastest = None;
        for contrast in &mut comparison.contrasts {
            contrast.verdict = verdict;
        }
        let text = render(&analysis);
        let row = text.lines().find(|line| line.starts_with("| Reading"));
        let row = row.unwrap();
        assert!(row.contains(expected), "{verdict:?}: {row}");
    }
}

#[test]
fn a_baseline_that_wins_is_ahead_of_the_next() {
    let mut analysis = fixture::analysis();
    let comparison = &mut analysis.comparisons[0];
    comparison.fastest = Some(comparison.cells[0].cell.id.clone());
    comparison.contrasts[0].verdict = Verdict::Slower;
    let text = render(&analysis);
    let expected = "fastest: **stay with separate files** | 1.01 times as fast as separate files \
                    in a tree \\[";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn a_drain_that_reverses_a_verdict_stands_beside_it() {
    let mut analysis = fixture::analysis();
    for cell in &mut analysis.comparisons[1].cells {
        if cell.cell.key == "off" {
            cell.total_ns = Some(900_000.0);
        }
    }
    let text = render(&analysis);
    let expected = "but slower with bringing the data to rest: 900 µs against 192 µs";
    assert!(text.contains(expected), "{text}");
}
