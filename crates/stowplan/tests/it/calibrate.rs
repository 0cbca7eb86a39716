//! `stowplan calibrate`, at a scale that says nothing of the machine: what it leaves behind, and that
//! all it says is one thing. No figure is judged here; that everything is measured, `.ci/calibrate-check` looks.

use crate::bench::{Bench, entries, flat};
use std::process::Stdio;
use stowplan_model::{Record, RunOutcome};

#[test]
fn a_calibration_is_a_run_like_any_other_and_says_everywhere_the_same() {
    let bench = Bench::on_disk();
    // Without sessions of identical cells and without busy processes; a busy machine would else have fewer rounds.
    let line = "calibrate --scale quick --sessions 0 --busy 0 --budget 10m --output out --json \
                --verbose --color always";
    let run = bench.run(line);
    let document = run.json();
    let passed = document["passed"].as_bool().unwrap();
    run.exits(if passed { 0 } else { 1 });
    assert_eq!(document["document"], "calibration");
    let out = bench.path("out");
    assert_eq!(entries(&out), ["report.html", "result.jsonl", "summary.md"]);

    let ended =
        |record: &Record| matches!(record, Record::End(end) if end.outcome == RunOutcome::Complete);
    assert!(bench.records("out").iter().any(ended));

    let short = bench.run("report out").exits(0).stdout();
    assert!(short.lines().count() <= 40, "{short}");
    let report = bench.run("report out --verbose");
    let verdict = document["verdict"].as_str().unwrap();
    let text = report.exits(0).fits().says(&flat(verdict)).stdout();
    assert_eq!(text.lines().next(), Some("Calibration"));
    for title in ["Clock", "Cost of the harness"] {
        assert!(text.lines().any(|line| line == title), "{title}: {text}");
    }
    for file in ["summary.md", "report.html"] {
        let file = bench.text(&format!("out/{file}"));
        assert!(file.contains("Cost of the harness"), "{file}");
    }
    bench.run("resume out").refuses("it is a calibration");
}

#[test]
fn a_busy_process_ends_with_its_parent() {
    let bench = Bench::new();
    let mut command = bench.command("busy");
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    assert!(child.try_wait().unwrap().is_none());
    // As when the parent is killed: its end of the pipe is closed.
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}
