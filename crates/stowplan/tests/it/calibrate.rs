//! `stowplan calibrate`, at a scale that says nothing of the machine: what it leaves behind, and that
//! all it says is one thing. No figure is judged here.

use crate::bench::{Bench, entries};
use serde_json::Value;
use std::process::Stdio;
use stowplan_model::{Record, RunOutcome};

/// The smallest calibration that has some of everything.
const TINY: &[&str] = &[
    "calibrate",
    "--scale",
    "quick",
    "--sessions",
    "1",
    "--busy",
    "1",
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

    everything_was_measured(&bench, &document);

    let verdict = document["verdict"].as_str().unwrap();
    let short = bench.run(&["report", "out"]).exits(0).stdout();
    assert!(short.lines().count() <= 40, "{short}");
    let report = bench.run(&["report", "out", "--verbose"]);
    let text = report.exits(0).stdout();
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (title, first) = text.split_once('\n').unwrap();
    assert_eq!(title, "Calibration");
    assert!(
        words(first).starts_with(&words(verdict)),
        "{text}\n{verdict}"
    );
    let long: Vec<&str> = text
        .lines()
        .filter(|line| line.chars().count() > 80 && !line.starts_with("The report"))
        .collect();
    assert!(long.is_empty(), "{long:#?}");
    for title in [
        "Clock",
        "What the harness costs",
        "Known costs beside a busy process",
    ] {
        assert!(text.lines().any(|line| line == title), "{title}: {text}");
    }
    for file in ["summary.md", "report.html"] {
        let file = std::fs::read_to_string(out.join(file)).unwrap();
        assert!(file.contains("Known costs beside a busy process"), "{file}");
    }
    bench.run(&["resume", "out"]).refuses("it is a calibration");
}

#[track_caller]
fn everything_was_measured(bench: &Bench, document: &Value) {
    let records = bench.records("out");
    let ended =
        |record: &Record| matches!(record, Record::End(end) if end.outcome == RunOutcome::Complete);
    assert!(records.iter().any(ended));
    let beside = |record: &Record| matches!(record, Record::Extension(more) if more.comparisons[0].id == "known-busy");
    assert!(records.iter().any(beside));
    for known in ["known", "busy"] {
        let costs = document[known]["costs"].as_array().unwrap();
        let costs: Vec<f64> = costs
            .iter()
            .map(|c| c["known_ns"].as_f64().unwrap())
            .collect();
        assert_eq!(costs, [200.0, 2_000.0, 20_000.0]);
    }
    // A busy machine may find its control to fail: then it is planned and not lost, and no claim.
    assert_eq!(document["identical"]["unusable"]["planned"], 1);
    assert_eq!(document["identical"]["unusable"]["lost"], 0);
    let different = document["different"].as_array().unwrap();
    let truths: Vec<f64> = different
        .iter()
        .map(|d| d["truth"].as_f64().unwrap())
        .collect();
    assert_eq!(truths, [1.02, 1.05, 1.1]);
    // Those of five rounds, of the store that does nothing and its control, in two comparisons.
    assert_eq!(document["latency_cost"]["blocks"], 20);
    for cold in document["cold"].as_array().unwrap() {
        assert_eq!(cold["evicted_pages"], 0, "{cold}");
        assert_eq!(cold["blocks"], 10, "{cold}");
        assert!(cold["before_pages"].as_u64() > Some(0), "{cold}");
        assert!(cold["after_pages"].as_u64() > Some(0), "{cold}");
    }
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
