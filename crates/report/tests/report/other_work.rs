//! Where cells do not do the same work, whatever is said of one of them says so.

use crate::fixture;
use crate::support::{Found, findings, words};
use stowplan_analysis::{Analysis, ComparisonOutcome, Verdict};
use stowplan_model::{Durability, DurabilityClaim, Operation};

const OVERWRITES: usize = 1;

/// The run, with cells of the overwrites that promise this, and what else is done to them.
pub(crate) fn analysis(
    promises: &[(&str, Durability)],
    change: impl Fn(&mut Analysis),
) -> Analysis {
    let mut analysis = fixture::analysis();
    for cell in &mut analysis.comparisons[OVERWRITES].cells {
        let promise = promises.iter().find(|(key, _)| *key == cell.cell.key);
        if let Some((_, class)) = promise {
            cell.cell.workload.operation = Operation::Overwrite;
            cell.cell.capabilities.durability = DurabilityClaim {
                class: *class,
                atomic: true,
                delayed: false,
            };
        }
    }
    change(&mut analysis);
    analysis.decide();
    analysis
}

fn found(analysis: &Analysis) -> Found {
    findings(analysis, OVERWRITES)
}

fn overwrites(analysis: &mut Analysis) -> &mut ComparisonOutcome {
    &mut analysis.comparisons[OVERWRITES]
}

/// The cell with this key works with so many threads.
fn with_threads(analysis: &mut Analysis, key: &str, threads: u32) {
    let mut cells = overwrites(analysis).cells.iter_mut();
    let cell = cells.find(|cell| cell.cell.key == key).unwrap();
    cell.cell.workload.threads = threads;
}

const OTHER_WORK: &str = "4 threads against one thread";

#[test]
fn a_weaker_alternative_says_its_other_work() {
    let promises = [("dir", Durability::Durable), ("wal", Durability::Durable)];
    let with = |threads| analysis(&promises, |a| with_threads(a, "off", threads));
    let alike = found(&with(1)).advice;
    assert!(!alike.contains("threads"), "{alike}");
    let other = found(&with(4)).advice;
    let expected = format!(
        "; where weaker durability (none) is enough, “SQLite, no journal, synchronous=OFF” \
         (5.61× [5.49, 5.74]; {OTHER_WORK})."
    );
    assert!(words(&other).ends_with(&expected), "{other}");
}

#[test]
fn a_safer_alternative_says_its_other_work() {
    let with = |threads| analysis(&[], |a| with_threads(a, "wal", threads));
    let safer = "; where more must survive a crash, “SQLite, WAL, synchronous=NORMAL” \
                 (consistent, atomic";
    let alike = found(&with(1)).advice;
    assert!(alike.ends_with(&format!("{safer}).")), "{alike}");
    let other = found(&with(4)).advice;
    assert!(
        other.ends_with(&format!("{safer}; {OTHER_WORK}).")),
        "{other}"
    );
}

/// Nothing is faster than the baseline.
fn with_nothing_faster(analysis: &mut Analysis) {
    for contrast in &mut overwrites(analysis).contrasts {
        (contrast.verdict, contrast.total) = (Verdict::Slower, None);
    }
}

#[test]
fn what_promises_more_says_its_other_work() {
    let said = |keys: &[&str], promises: &[(&str, Durability)]| {
        let analysis = analysis(promises, |a| {
            with_nothing_faster(a);
            keys.iter().for_each(|key| with_threads(a, key, 4));
        });
        found(&analysis).advice
    };
    let safe = "; where more must survive a crash, “separate files, temporary file and rename” \
                (process-crash, atomic";
    let wal = "“SQLite, WAL, synchronous=NORMAL” (consistent, atomic";
    let alike = said(&[], &[]);
    assert!(alike.ends_with(&format!("{safe}) and {wal}).")), "{alike}");
    let one = said(&["wal"], &[]);
    let expected = format!("{safe}) and {wal}; {OTHER_WORK}).");
    assert!(one.ends_with(&expected), "{one}");
    let two = said(&["safe", "wal"], &[]);
    let expected = format!("{safe}; {OTHER_WORK}) and {wal}; {OTHER_WORK}).");
    assert!(two.ends_with(&expected), "{two}");
}

#[test]
fn one_that_is_faster_by_other_work_is_not_called_the_fastest() {
    let advice = |keys: &[&str]| {
        let analysis = analysis(&[], |a| {
            keys.iter().for_each(|key| with_threads(a, key, 4));
            let slow = ["overwrites/safe", "overwrites/wal"];
            let faster = if keys.len() == 1 { 2 } else { 1 };
            for contrast in &mut overwrites(a).contrasts {
                if slow[..faster].contains(&contrast.cell.0.as_str()) {
                    contrast.verdict = Verdict::Slower;
                }
            }
        });
        found(&analysis).advice
    };
    for keys in [&["off"][..], &["off", "wal"]] {
        let said = advice(keys);
        let because = "; it does other work (4 threads against one thread)";
        assert!(said.contains(because), "{said}");
    }
}

#[test]
fn why_there_is_no_ratio_is_said_by_the_rounds_in_common() {
    let analysis = analysis(&[], |a| {
        let comparison = overwrites(a);
        for (place, cell) in comparison.cells.iter_mut().enumerate() {
            cell.rounds = 12;
            let first = if place == 0 { 0 } else { 9 };
            cell.series = (first..first + 12).map(|round| (round, 1.0)).collect();
        }
        for contrast in &mut comparison.contrasts {
            (contrast.estimate, contrast.verdict) = (None, Verdict::NoData);
        }
    });
    let found = found(&analysis);
    let text = &found.listed[0];
    assert!(
        text.ends_with("no verdict, because there are too few rounds (3 of 10) to compare."),
        "{text}"
    );
}
