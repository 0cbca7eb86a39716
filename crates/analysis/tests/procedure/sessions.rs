//! Runs that were broken off and went on.

use crate::support::{comparison, records, rounds};
use stowplan_analysis::{Analysis, analyse};
use stowplan_model::{Environment, Measurement, Record, RunEnd, RunOutcome, Session};

fn resumed(environment: Environment) -> Record {
    Record::Session(Session {
        started: "2026-01-02T00:00:00Z".to_owned(),
        protocol: 3,
        work: None,
        environment: Some(Box::new(environment)),
        removed_bytes: 0,
    })
}

fn end(outcome: RunOutcome, seconds: f64) -> Record {
    Record::End(RunEnd { outcome, seconds })
}

/// So many nanoseconds, times a factor of a few digits.
fn times(ns: u64, factor: f64) -> u64 {
    (ns as f64 * factor) as u64
}

/// Ten rounds, five of them before a break; after it everything takes `slower` times as long.
fn broken(slower: f64, break_: &[Record]) -> Analysis {
    let comparison = comparison(&["other"]);
    let cells = [("base", 10_000.0), ("again", 10_000.0), ("other", 20_000.0)];
    let blocks = rounds(&cells, 0..10);
    let scaled = |mut block: Measurement| {
        if block.round >= 5 {
            block.wall_ns = times(block.wall_ns, slower);
            block.run_delay_ns = block.run_delay_ns.map(|ns| times(ns, slower));
        }
        block
    };
    let blocks = blocks.into_iter().map(scaled);
    let (first, second): (Vec<_>, Vec<_>) = blocks.partition(|block| block.round < 5);
    let mut all = records(&comparison, &first);
    all.extend(break_.iter().cloned());
    all.extend(second.into_iter().map(Record::Measurement));
    all.push(end(RunOutcome::Complete, 3.0));
    analyse(&all, None).unwrap()
}

fn messages(analysis: &Analysis) -> String {
    let messages = analysis.warnings.iter().map(|w| w.message.as_str());
    messages.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_break_changes_no_ratio_and_times_that_did_are_told() {
    let whole = broken(1.0, &[]);
    let quiet = broken(1.0, &[resumed(Environment::default())]);
    assert_eq!(quiet.comparisons, whole.comparisons);
    assert_eq!(quiet.warnings, whole.warnings);
    let slower = broken(1.5, &[resumed(Environment::default())]);
    let (a, b) = (
        &slower.comparisons[0].contrasts,
        &whole.comparisons[0].contrasts,
    );
    assert_eq!(a[0].verdict, b[0].verdict);
    let told = messages(&slower);
    assert!(told.contains("took 50% longer than before: "), "{told}");
    let faster = messages(&broken(0.5, &[resumed(Environment::default())]));
    assert!(faster.contains("took 50% less than before"), "{faster}");
    assert_eq!(
        messages(&broken(1.5, &[])),
        messages(&whole),
        "one session has one time"
    );
}

#[test]
fn what_changed_about_the_machine_is_told() {
    let now = Environment {
        kernel: "6.12".to_owned(),
        ..Environment::default()
    };
    let told = messages(&broken(1.0, &[resumed(now)]));
    let expected =
        "When the run was resumed (2026-01-02T00:00:00Z), the kernel was unknown and is 6.12.";
    assert!(told.contains(expected), "{told}");
}

#[test]
fn a_run_that_went_on_ended_as_its_last_session_did() {
    let stopped = end(RunOutcome::Interrupted, 2.0);
    let resumed = resumed(Environment::default());
    let both = broken(1.0, &[stopped.clone(), resumed.clone()]);
    let ended = both.end.unwrap();
    assert_eq!((ended.outcome, ended.seconds), (RunOutcome::Complete, 5.0));
    let comparison = comparison(&["other"]);
    let mut all = records(&comparison, &[]);
    all.extend([stopped, resumed]);
    assert_eq!(analyse(&all, None).unwrap().end, None, "it was cut off");
}
