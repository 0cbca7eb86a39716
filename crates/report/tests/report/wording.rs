//! The sentence for each verdict.

use crate::fixture;
use stowplan_analysis::Verdict;
use stowplan_model::RunOutcome;
use stowplan_report::wording;

/// The sentences about one comparison.
fn texts(comparison: usize) -> Vec<String> {
    let findings = wording::findings(&fixture::analysis()).swap_remove(comparison);
    findings.statements.into_iter().map(|s| s.text).collect()
}

#[test]
fn faster_and_slower_are_worded_in_the_direction_above_one() {
    let reads = texts(0);
    assert_eq!(
        reads[1],
        "SQLite, prepared SELECT: 4.10 µs per read, 2.10 times as fast as separate files (8.62 \
         µs); interval 2.06 to 2.15, 20 rounds."
    );
    let overwrites = texts(1);
    assert!(
        overwrites[0].contains("218 µs per overwrite, 1.25 times as long as separate files"),
        "{}",
        overwrites[0]
    );
}

#[test]
fn a_weaker_promise_stands_in_the_sentence() {
    let overwrites = texts(1);
    let weaker = overwrites.iter().find(|text| text.contains("1.97 times"));
    let weaker = weaker.unwrap();
    assert!(
        weaker.contains(", but promises less: none against consistent, atomic."),
        "{weaker}"
    );
}

#[test]
fn an_unreliable_session_claims_nothing() {
    let findings = wording::findings(&fixture::analysis()).swap_remove(2);
    assert!(
        findings
            .headline
            .starts_with("No verdict: session unreliable")
    );
    assert!(findings.statements.is_empty(), "the headline says it once");
    assert!(
        findings.noise.contains("4.2% (interval 1.03 to 1.06)"),
        "{}",
        findings.noise
    );
    assert!(!findings.advice.contains("use"), "{}", findings.advice);
}

#[test]
fn a_failed_cell_is_named_with_its_failure() {
    let failed = texts(3);
    assert!(failed[1].contains("no verdict, because redb failed: redb: the database is locked"));
}

#[test]
fn the_fastest_is_named_only_if_the_analysis_found_one() {
    let analysis = fixture::analysis();
    let findings = wording::findings(&analysis);
    assert!(
        findings[0]
            .headline
            .starts_with("Fastest: “SQLite, sqlite3_blob_read(), memory-")
    );
    assert!(!findings[1].headline.contains("Fastest"));
    let mut undecided = analysis;
    undecided.comparisons[0].fastest = None;
    let findings = wording::findings(&undecided);
    assert!(
        findings[0]
            .headline
            .starts_with("Faster than separate files: “SQLite, sqlite3_blob_read()"),
        "{}",
        findings[0].headline
    );
}

#[test]
fn a_baseline_that_wins_is_kept() {
    let mut analysis = fixture::analysis();
    let baseline = analysis.comparisons[0].cells[0].cell.id.clone();
    analysis.comparisons[0].fastest = Some(baseline);
    let findings = wording::findings(&analysis).swap_remove(0);
    assert!(
        findings.headline.starts_with("Fastest: separate files. "),
        "{}",
        findings.headline
    );
    assert!(
        findings.advice.contains("stay with separate files"),
        "{}",
        findings.advice
    );
}

#[test]
fn every_verdict_without_a_winner_has_advice_that_claims_no_more() {
    let cases = [
        (Verdict::Equivalent, "speed is no reason to leave"),
        (Verdict::Slower, "speed is no reason to leave"),
        (Verdict::SmallDifference, "speed is no reason to leave"),
        (Verdict::Unresolved, "some cells have no verdict yet"),
        (Verdict::NoData, "some cells have no verdict yet"),
    ];
    for (verdict, expected) in cases {
        let mut analysis = fixture::analysis();
        let comparison = &mut analysis.comparisons[0];
        comparison.fastest = None;
        for contrast in &mut comparison.contrasts {
            contrast.verdict = verdict;
        }
        let findings = wording::findings(&analysis).swap_remove(0);
        assert!(
            findings.advice.contains(expected),
            "{verdict:?}: {}",
            findings.advice
        );
        assert!(!findings.headline.contains("Fastest"), "{verdict:?}");
    }
}

#[test]
fn the_ending_is_worded_unless_the_run_is_complete() {
    let mut analysis = fixture::analysis();
    assert_eq!(wording::ending(&analysis), None);
    for outcome in [RunOutcome::Budget, RunOutcome::Interrupted] {
        analysis.end.as_mut().unwrap().outcome = outcome;
        assert!(wording::ending(&analysis).unwrap().contains("3 min 7 s"));
    }
}
