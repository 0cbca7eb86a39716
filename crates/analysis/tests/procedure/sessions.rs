//! Runs that were broken off and went on.

use crate::support::{comparison, records, rounds};
use std::collections::BTreeMap;
use stowplan_analysis::{Analysis, analyse};
use stowplan_model::{
    Environment, FileSystemsRecord, Record, RunEnd, RunOutcome, Session, Warning, WarningKind,
};

/// The run goes on, on a machine of this kernel.
fn resumed(kernel: &str) -> Record {
    let environment = Environment {
        kernel: kernel.to_owned(),
        ..Environment::default()
    };
    Record::Session(Session {
        started: "2026-01-02T00:00:00Z".to_owned(),
        protocol: 3,
        work: None,
        on: BTreeMap::new(),
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

/// Ten rounds, five of them before a break; after it everything takes `slower` times as long.
fn broken(slower: f64, break_: &[Record]) -> Analysis {
    let cells = [("base", 10_000.0), ("again", 10_000.0), ("other", 20_000.0)];
    let mut all = records(&comparison(&["other"]), &rounds(&cells, 0..5));
    all.extend(break_.iter().cloned());
    all.extend(rounds(&cells, 5..10).into_iter().map(|mut block| {
        block.wall_ns = (block.wall_ns as f64 * slower) as u64;
        Record::Measurement(block)
    }));
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
    let quiet = broken(1.0, &[resumed("")]);
    assert_eq!(quiet.comparisons, whole.comparisons);
    assert_eq!(quiet.warnings, whole.warnings);
    let slower = broken(1.5, &[resumed("")]);
    let verdict = |found: &Analysis| found.comparisons[0].contrasts[0].verdict;
    assert_eq!(verdict(&slower), verdict(&whole));
    let told = messages(&slower);
    assert!(told.contains("took 50% longer than before: "), "{told}");
    let told = messages(&broken(0.5, &[resumed("")]));
    assert!(told.contains("took 50% less than before"), "{told}");
    // One session has one time.
    assert_eq!(messages(&broken(1.5, &[])), messages(&whole));
}

#[test]
fn what_changed_about_the_machine_is_told_and_file_systems_that_a_session_made_are_none_of_it() {
    let told = messages(&broken(1.0, &[resumed("6.12")]));
    let expected =
        "When the run was resumed (2026-01-02T00:00:00Z), the kernel was unknown and is 6.12.";
    assert!(told.contains(expected), "{told}");
    let made = |how: &str| {
        let on = BTreeMap::from([("xfs".to_owned(), how.to_owned())]);
        Record::FileSystems(FileSystemsRecord { on })
    };
    let sessions = [made("xfs mounted rw"), resumed(""), made("xfs mounted ro")];
    let both = broken(1.0, &sessions);
    assert_eq!(both.run.environment.file_systems["xfs"], "xfs mounted ro");
    assert_eq!(both.warnings, broken(1.0, &[]).warnings);
}

#[test]
fn a_run_that_went_on_ended_as_its_last_session_did() {
    let stopped = [end(RunOutcome::Interrupted, 2.0), resumed("")];
    let ended = broken(1.0, &stopped).end.unwrap();
    assert_eq!((ended.outcome, ended.seconds), (RunOutcome::Complete, 5.0));
    let mut all = records(&comparison(&["other"]), &[]);
    all.extend(stopped);
    assert_eq!(analyse(&all, None).unwrap().end, None, "it was cut off");
}

/// What a run warns of whose sessions recorded these figures (`|` between sessions), each after its
/// kind: what is told, and the sessions where any are named.
fn warned(sessions: &str) -> String {
    let mut all = records(&comparison(&["other"]), &[]);
    for (place, session) in sessions.split('|').enumerate() {
        all.extend((place > 0).then(|| resumed("")));
        all.extend(session.split_whitespace().map(|figure| {
            let kind = match figure.split_once(':').unwrap().0 {
                "load" => WarningKind::Load,
                "writes" => WarningKind::ForeignWrites,
                "small" => WarningKind::WorkingSet,
                _ => WarningKind::Other,
            };
            Record::Warning(Warning {
                kind,
                message: figure.to_owned(),
                advice: "Stop it.".to_owned(),
            })
        }));
    }
    let analysis = analyse(&all, None).unwrap();
    assert_eq!(analysis.sessions, sessions.split('|').count());
    let told = analysis.warnings.iter();
    let told = told.map(|warning| format!("{} {:?}", warning.message, warning.sessions));
    told.collect::<Vec<_>>().join(", ")
}

#[test]
fn warnings_of_several_sessions_are_one_where_only_a_figure_differs_and_of_one_session_stay_apart()
{
    for (sessions, expected) in [
        // The last figure is told.
        (
            "load:3 small:1 | load:4 | load:5",
            "load:5 [1, 2, 3], small:1 []",
        ),
        ("load:3.9 | | load:3.9", "load:3.9 [1, 3]"),
        ("| load:3.9", "load:3.9 [2]"),
        ("load:3.9 |", "load:3.9 [1]"),
        ("writes:980kB | writes:1.2MB", "writes:1.2MB [1, 2]"),
        ("load:3.9 load:4.1", "load:3.9 [], load:4.1 []"),
        // What is not of the moment is one where it is equal, and told without its only session.
        ("other:1 | other:2", "other:1 [], other:2 []"),
        ("other:1 | | other:1", "other:1 [1, 3]"),
        ("| other:1", "other:1 []"),
    ] {
        assert_eq!(warned(sessions), expected, "{sessions}");
    }
}
