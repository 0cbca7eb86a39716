//! `summary.md`.

use crate::fixture;
use crate::support::{findings, html, markdown};
use stowplan_analysis::{ComparisonOutcome, TotalOutcome, Verdict};
use stowplan_model::CellId;

#[test]
fn says_everything_in_one_document() {
    insta::assert_snapshot!(markdown(&fixture::analysis()));
}

#[test]
fn both_documents_carry_the_mark_of_a_report_near_the_top() {
    let analysis = fixture::analysis();
    let page = html(&analysis, "");
    for text in [markdown(&analysis), page] {
        let position = text.find(stowplan_report::MARK).unwrap();
        assert!(position < 100, "{position}");
    }
}

#[test]
fn the_overview_says_how_firm_each_answer_is_and_no_more() {
    let cases = [
        (Verdict::Equivalent, "| any: equivalent |"),
        (Verdict::Slower, "| separate files |"),
        (Verdict::Faster, "| prefer "),
        (Verdict::Unresolved, "| not decided |"),
        (Verdict::NoData, "| not decided |"),
    ];
    for (verdict, expected) in cases {
        let mut analysis = fixture::analysis();
        let comparison = &mut analysis.comparisons[0];
        comparison.fastest = None;
        for contrast in &mut comparison.contrasts {
            contrast.verdict = verdict;
        }
        analysis.decide();
        let text = markdown(&analysis);
        let row = text.lines().find(|line| line.starts_with("| Reading"));
        let row = row.unwrap().replace("**", "");
        assert!(row.contains(expected), "{verdict:?}: {row}");
    }
}

#[test]
fn a_baseline_that_wins_is_ahead_of_the_next() {
    let mut analysis = fixture::analysis();
    let comparison = &mut analysis.comparisons[0];
    comparison.fastest = Some(comparison.cells[0].cell.id.clone());
    comparison.contrasts[0].verdict = Verdict::Slower;
    analysis.decide();
    let text = markdown(&analysis);
    let expected = "1.01× \\[0.992, 1.04\\]";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn a_drain_that_reverses_a_verdict_stands_beside_it() {
    let mut analysis = fixture::analysis();
    let totals = |key: &str| Some(if key == "off" { 900_000.0 } else { 192_400.0 });
    set_totals(&mut analysis.comparisons[1], totals);
    analysis.decide();
    let text = markdown(&analysis);
    let expected = "; including the final flush to disk “separate files, truncated and written” is done \
                    sooner: 192 µs against 900 µs";
    assert!(text.contains(expected), "{text}");
    let depends = "it depends on when the data must be on disk: “SQLite, no journal, synchronous=OFF” \
                   answers sooner, “separate files, truncated and written” is done sooner";
    assert_eq!(text.matches(depends).count(), 1, "{text}");
    assert!(!text.contains("refer “SQLite, no journal"), "{text}");
}

/// The advice on overwrites, were the cells to have these total times in nanoseconds
/// and to promise the same.
fn overwrites_at_rest(totals: &[(&str, f64)]) -> String {
    let mut analysis = fixture::analysis();
    let comparison = &mut analysis.comparisons[1];
    let claim = comparison.cells[0].cell.capabilities.durability;
    for cell in &mut comparison.cells {
        cell.cell.capabilities.durability = claim;
    }
    set_totals(comparison, |key| {
        let total = totals.iter().find(|(known, _)| *known == key);
        total.map(|(_, total)| *total)
    });
    analysis.decide();
    findings(&analysis, 1).advice
}

#[test]
fn a_factor_that_shrinks_when_the_data_is_at_rest_has_the_other_beside_it() {
    let said = overwrites_at_rest(&[("dir", 192_000.0), ("off", 96_000.0), ("wal", 90_000.0)]);
    let expected = "; including the final flush to disk 2.00× [1.96,\u{a0}2.04].";
    assert!(said.ends_with(expected), "{said}");
    assert!(said.contains("prefer “SQLite, no journal"), "{said}");
    let said = overwrites_at_rest(&[("dir", 192_000.0), ("off", 96_000.0), ("wal", 60_000.0)]);
    let expected = "2.00× [1.96,\u{a0}2.04], and “SQLite, WAL, synchronous=NORMAL” is done sooner: \
                    60.0 µs against 96.0 µs.";
    assert!(said.ends_with(expected), "{said}");
    let said = overwrites_at_rest(&[("dir", 192_000.0), ("off", 34_000.0)]);
    assert!(!said.contains("flush"), "{said}");
}

#[test]
fn what_is_faster_with_more_threads_is_named_and_is_no_rival() {
    let mut analysis = fixture::analysis();
    let comparison = &mut analysis.comparisons[0];
    let fastest = comparison.fastest.clone().unwrap();
    let baseline = comparison.cells[0].cell.id.clone();
    let faster = |contrast: &&mut stowplan_analysis::ContrastOutcome| {
        contrast.reference == baseline && contrast.cell != fastest
    };
    let contrast = comparison.contrasts.iter_mut().find(faster).unwrap();
    contrast.verdict = Verdict::Faster;
    contrast.estimate = Some(fixture::estimate(0.1, 0.01));
    let id = contrast.cell.clone();
    let cell = comparison.cells.iter_mut().find(|c| c.cell.id == id);
    let cell = &mut cell.unwrap().cell;
    (cell.workload.threads, cell.label) = (4, "four".to_owned());
    analysis.decide();
    let said = findings(&analysis, 0).advice;
    assert!(said.contains("; doing other work, four (10.0× ["), "{said}");
    // As far as the intervals overlap, nothing is said.
    let contrasts = &mut analysis.comparisons[0].contrasts;
    let contrast = contrasts
        .iter_mut()
        .find(|c| c.cell == id && c.reference == baseline);
    contrast.unwrap().estimate = Some(fixture::estimate(0.24, 0.05));
    analysis.decide();
    assert!(!markdown(&analysis).contains("doing other work"));
}

#[test]
fn nothing_is_said_to_be_believed_without_any_ratio() {
    let mut analysis = fixture::analysis();
    for comparison in &mut analysis.comparisons {
        for contrast in &mut comparison.contrasts {
            (contrast.estimate, contrast.verdict) = (None, Verdict::NoData);
        }
    }
    assert!(!markdown(&analysis).contains("0 rounds in random order"));
}

/// Gives the cells these times with the final flush, and the ratios to the baseline those that follow.
pub(crate) fn set_totals(comparison: &mut ComparisonOutcome, totals: impl Fn(&str) -> Option<f64>) {
    for cell in &mut comparison.cells {
        cell.total_ns = totals(&cell.cell.key);
    }
    let total = |id: &CellId| totals(id.0.rsplit('/').next().unwrap());
    for contrast in &mut comparison.contrasts {
        let both = total(&contrast.cell).zip(total(&contrast.reference));
        contrast.total = both.map(|(ours, theirs)| {
            let estimate = fixture::estimate(ours / theirs, 0.012);
            let verdict = fixture::judge(&estimate);
            TotalOutcome { estimate, verdict }
        });
    }
}
