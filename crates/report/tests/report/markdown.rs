//! `summary.md`, and what an answer says of other times.

use crate::fixture;
use crate::holds::says;
use crate::support::{changed, findings, markdown};
use stowplan_analysis::{ComparisonOutcome, ContrastOutcome, TotalOutcome, Verdict};
use stowplan_model::CellId;

#[test]
fn says_everything_in_one_document() {
    insta::assert_snapshot!(markdown(&fixture::analysis()));
}

/// Gives the cells these times with the final flush, and the ratios those that follow.
fn set_totals(comparison: &mut ComparisonOutcome, totals: &[(&str, f64)]) {
    let total = |id: &CellId| {
        let key = id.0.rsplit('/').next().unwrap();
        let found = totals.iter().find(|(known, _)| [key, ""].contains(known));
        found.map(|(_, total)| *total)
    };
    for cell in &mut comparison.cells {
        cell.total_ns = total(&cell.cell.id);
    }
    for contrast in &mut comparison.contrasts {
        let both = total(&contrast.cell).zip(total(&contrast.reference));
        contrast.total = both.map(|(ours, theirs)| {
            let estimate = fixture::estimate(ours / theirs, 0.012);
            let verdict = fixture::judge(&estimate);
            TotalOutcome { estimate, verdict }
        });
    }
}

#[test]
fn a_drain_that_reverses_a_verdict_stands_beside_it() {
    // The others all take the same.
    let totals = [("off", 900_000.0), ("", 192_400.0)];
    let text = markdown(&changed(|run| set_totals(&mut run.comparisons[1], &totals)));
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
    let analysis = changed(|run| {
        let overwrites = &mut run.comparisons[1];
        let claim = overwrites.cells[0].cell.capabilities.durability;
        for cell in &mut overwrites.cells {
            cell.cell.capabilities.durability = claim;
        }
        set_totals(overwrites, totals);
    });
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
    let with_four_threads = |ratio, half_width| {
        changed(|run| {
            let reads = &mut run.comparisons[0];
            let cell = &mut reads.cells[3].cell;
            (cell.workload.threads, cell.label) = (4, "four".to_owned());
            let is_its = |found: &&mut ContrastOutcome| found.cell == cell.id;
            let contrast = reads.contrasts.iter_mut().find(is_its).unwrap();
            contrast.verdict = Verdict::Faster;
            contrast.estimate = Some(fixture::estimate(ratio, half_width));
        })
    };
    let said = findings(&with_four_threads(0.1, 0.01), 0).advice;
    says(&said, ["; doing other work, four (10.0× ["]);
    // As far as the intervals overlap, nothing is said.
    assert!(!markdown(&with_four_threads(0.24, 0.05)).contains("doing other work"));
}

#[test]
fn nothing_is_said_to_be_believed_without_any_ratio() {
    let analysis = changed(|run| {
        let comparisons = run.comparisons.iter_mut();
        for contrast in comparisons.flat_map(|found| &mut found.contrasts) {
            (contrast.estimate, contrast.verdict) = (None, Verdict::NoData);
        }
    });
    assert!(!markdown(&analysis).contains("0 rounds in random order"));
}
