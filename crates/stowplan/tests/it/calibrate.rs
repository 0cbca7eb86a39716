//! `stowplan calibrate`, at a scale that says nothing of the machine: what it leaves behind, and that
//! all it says is one thing. No figure is judged here; that everything is measured, `.ci/calibrate-check` looks.

use crate::bench::{Bench, entries};
use serde_json::Value;
use std::process::Stdio;
use stowplan_model::{Record, RunOutcome};

/// Without sessions of identical cells and without busy processes.
const TINY: &[&str] = &[
    "calibrate",
    "--scale",
    "quick",
    "--sessions",
    "0",
    "--busy",
    "0",
    // Else a busy machine has fewer rounds.
    "--budget",
    "10m",
    "--output",
    "out",
];

#[test]
fn a_calibration_is_a_run_like_any_other_and_says_everywhere_the_same() {
    let bench = Bench::on_disk();
    let run = bench.run(&[TINY, &["--json"]].concat());
    let document: Value = serde_json::from_str(&run.stdout()).unwrap();
    let passed = document["passed"].as_bool().unwrap();
    run.exits(if passed { 0 } else { 1 });
    assert_eq!(document["document"], "calibration");
    let out = bench.path("out");
    assert_eq!(entries(&out), ["report.html", "result.jsonl", "summary.md"]);

    let ended =
        |record: &Record| matches!(record, Record::End(end) if end.outcome == RunOutcome::Complete);
    assert!(bench.records("out").iter().any(ended));

    let verdict = document["verdict"].as_str().unwrap();
    let short = bench.run(&["report", "out"]).exits(0).stdout();
    assert!(short.lines().count() <= 40, "{short}");
    let report = bench.run(&["report", "out", "--verbose"]);
    let text = report.exits(0).stdout();
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(text.lines().next(), Some("Calibration"));
    assert!(words(&text).contains(&words(verdict)), "{text}\n{verdict}");
    let long: Vec<&str> = text
        .lines()
        .filter(|line| line.chars().count() > 80 && !line.starts_with("The report"))
        .collect();
    assert!(long.is_empty(), "{long:#?}");
    for title in ["Clock", "Cost of the harness"] {
        assert!(text.lines().any(|line| line == title), "{title}: {text}");
    }
    for file in ["summary.md", "report.html"] {
        let file = std::fs::read_to_string(out.join(file)).unwrap();
        assert!(file.contains("Cost of the harness"), "{file}");
    }
    bench.run(&["resume", "out"]).refuses("it is a calibration");
}

#[test]
fn a_busy_process_ends_with_its_parent() {
    let bench = Bench::new();
    let mut command = bench.command(&["busy"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    assert!(child.try_wait().unwrap().is_none());
    // As when the parent is killed: its end of the pipe is closed.
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_measured() {
    let bench = Bench::new();
    bench
        .run(&["calibrate", "--busy", "1000"])
        .refuses("--busy");
    bench
        .run(&["calibrate", "--work", "nowhere"])
        .refuses("nowhere: there is no such directory");
    assert_eq!(entries(&bench.path(".")), ["small.toml"]);
}
