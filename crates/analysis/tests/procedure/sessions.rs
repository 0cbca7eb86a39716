//! Runs that were broken off and went on.

use crate::support::{comparison, records, rounds};
use std::collections::BTreeMap;
use stowplan_analysis::{Analysis, analyse};
use stowplan_model::{
    Environment, FileSystemsRecord, Measurement, Record, RunEnd, RunOutcome, Session, Warning,
    WarningKind,
};

fn resumed(environment: Environment) -> Record {
    Record::Session(Session {
        started: "2026-01-02T00:00:00Z".to_owned(),
        protocol: 3,
        work: None,
        on: Default::default(),
        environment: Some(Box::new(environment)),
        max_rounds: None,
        boot_id: None,
        removed_bytes: 0,
    })
}

fn end(outcome: RunOutcome, seconds: f64) -> Record {
    Record::End(RunEnd {
        outcome,
        seconds,
        phases: None,
        needs: None,
    })
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

pub(crate) fn messages(analysis: &Analysis) -> String {
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
fn file_systems_that_a_session_made_are_of_the_machine_and_no_change_of_it() {
    let made = |how: &str| {
        let on = BTreeMap::from([("xfs".to_owned(), how.to_owned())]);
        Record::FileSystems(FileSystemsRecord { on })
    };
    let resumed = resumed(Environment::default());
    let both = broken(
        1.0,
        &[made("xfs mounted rw"), resumed, made("xfs mounted ro")],
    );
    assert_eq!(both.run.environment.file_systems["xfs"], "xfs mounted ro");
    assert_eq!(both.warnings, broken(1.0, &[]).warnings);
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

fn warning(kind: WarningKind, message: &str) -> Record {
    Record::Warning(Warning {
        kind,
        message: message.to_owned(),
        advice: "Stop it.".to_owned(),
    })
}

/// What a run warns of whose sessions recorded these warnings, with the sessions of each.
fn warned(sessions: &[&[Record]]) -> Vec<(String, Vec<usize>)> {
    let mut all = records(&comparison(&["other"]), &[]);
    for (place, session) in sessions.iter().enumerate() {
        if place > 0 {
            all.push(resumed(Environment::default()));
        }
        all.extend(session.iter().cloned());
    }
    let analysis = analyse(&all, None).unwrap();
    assert_eq!(analysis.sessions, sessions.len());
    let warnings = analysis.warnings.into_iter();
    warnings.map(|w| (w.message, w.sessions)).collect()
}

#[test]
fn what_several_sessions_recorded_is_one_warning_with_the_last_figure() {
    let load = |figure: &str| {
        let text = format!("Other work runs (load average {figure} on 2 CPUs).");
        warning(WarningKind::Load, &text)
    };
    let other = warning(WarningKind::WorkingSet, "The data is small.");
    let three = warned(&[
        &[load("3.9"), other.clone()],
        &[load("4.1")],
        &[load("4.5")],
    ]);
    let expected = [
        (
            "Other work runs (load average 4.5 on 2 CPUs).".to_owned(),
            vec![1, 2, 3],
        ),
        ("The data is small.".to_owned(), vec![]),
    ];
    assert_eq!(three, expected);
    let gap = warned(&[&[load("3.9")], &[], &[load("3.9")]]);
    assert_eq!(gap[0].1, [1, 3], "{gap:?}");
    assert!(gap[0].0.contains("average 3.9 on"), "{gap:?}");
    let writes = |rate: &str| {
        let text = format!("Writes: {rate} per second to vda. Others write.");
        warning(WarningKind::ForeignWrites, &text)
    };
    let rates = warned(&[&[writes("980 kB")], &[writes("1.2 MB")]]);
    let last = "Writes: 1.2 MB per second to vda. Others write.";
    assert_eq!(rates, [(last.to_owned(), vec![1, 2])]);
    assert_eq!(warned(&[&[], &[load("3.9")]])[0].1, [2]);
    assert_eq!(warned(&[&[load("3.9")], &[]])[0].1, [1]);
}

#[test]
fn warnings_of_one_session_stay_apart_and_name_none() {
    let load = |figure: &str| warning(WarningKind::Load, &format!("Load {figure} is high."));
    let one = warned(&[&[load("3.9"), load("4.1")]]);
    assert_eq!(one.len(), 2, "{one:?}");
    assert!(
        one.iter().all(|(_, sessions)| sessions.is_empty()),
        "{one:?}"
    );
    // It need not be of the session that began last before it: what could not be read is told last.
    let damage = warned(&[&[], &[warning(WarningKind::Other, "A line is damaged.")]]);
    assert_eq!(damage[0].1, [0; 0], "{damage:?}");
}

#[test]
fn other_warnings_of_several_sessions_are_one_only_where_they_are_equal() {
    let lost = |count: u32| warning(WarningKind::Other, &format!("{count} values are lost."));
    let apart = warned(&[&[lost(1)], &[lost(2)]]);
    let expected = [1, 2].map(|count| (format!("{count} values are lost."), vec![]));
    assert_eq!(apart, expected);
    let equal = warned(&[&[lost(1)], &[], &[lost(1)]]);
    assert_eq!(equal, [("1 values are lost.".to_owned(), vec![1, 3])]);
}
