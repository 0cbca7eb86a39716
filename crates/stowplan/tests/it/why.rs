//! Costs taken apart with `--why`: what is added, counted and drawn, and what is said where
//! something is missing.
use crate::bench::{Bench, Finished};
use std::collections::BTreeMap;
use stowplan_model::{BlockKind, Measurement, Record};

/// Values of 10,000 bytes: two overflow pages each, and the page that the row begins on, which a cache
/// this small never holds.
const STUDY: &str = r#"
name = "reads"
title = "Reads"
question = "What do they do?"
memory_budget = 65_536
[datasets.blobs]
count = 1_000
size = { distribution = "fixed", bytes = 10_000 }
[[comparison]]
id = "read"
title = "Reads"
dataset = "blobs"
baseline = "files"
[comparison.cells]
files = { store = "files" }
sql = { store = "sqlite" }
"#;

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("reads.toml", STUDY);
    bench
}

/// What was counted of each cell.
fn counted(records: &[Record]) -> BTreeMap<String, &Measurement> {
    let blocks = records.iter().filter_map(|record| match record {
        Record::Measurement(block) if block.block == BlockKind::Counting => Some(block),
        _ => None,
    });
    blocks.map(|block| (block.cell.0.clone(), block)).collect()
}

/// System calls per operation; nothing where they could not be counted.
fn calls(block: &Measurement) -> Option<BTreeMap<String, f64>> {
    let mut calls = block.system_calls.clone()?.calls;
    if cfg!(debug_assertions) {
        // A check of the standard library before each close, in builds such as this.
        calls.remove("fcntl");
    }
    let per = |count: u64| count as f64 / block.operations as f64;
    Some(
        calls
            .into_iter()
            .map(|(n, count)| (n, per(count)))
            .collect(),
    )
}

#[test]
fn a_file_read_is_open_fstat_read_and_close_and_an_sqlite_read_is_three_preads() {
    let bench = bench();
    bench
        .run("study reads.toml --why --rounds 1 --output out")
        .exits(0);
    let records = bench.records("out");
    let Record::Run(header) = &records[0] else {
        panic!("a result begins with its run");
    };
    let study = &header.plan.study;
    assert_eq!(study.ladders.len(), 2);
    let counted = counted(&records);
    let of = |cell: &str| calls(counted[&format!("read/{cell}")]);
    let (Some(files), Some(sql)) = (of("files"), of("sql")) else {
        eprintln!("not tested: system calls cannot be counted here");
        return;
    };
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    assert_eq!(names, ["close", "fstat", "openat", "read"]);
    assert!(files.values().all(|times| *times == 1.0), "{files:?}");
    assert!((2.9..3.5).contains(&sql["pread64"]), "{sql:?}");
    let steps = study.ladders.iter().find(|l| l.id == "why-read-files");
    let steps = &steps.unwrap().rungs;
    let all: Vec<f64> = steps
        .iter()
        .map(|rung| of(&rung.cell).unwrap().values().sum())
        .collect();
    assert_eq!(all, [1.0, 1.0, 3.0, 4.0], "{steps:?}");
    bench.run("report out --quiet").exits(0);
}

#[test]
fn without_strace_everything_else_runs_and_says_what_is_missing() {
    let bench = bench();
    let mut command =
        bench.command("study reads.toml --why --only read/files --rounds 1 --output out");
    let run = Finished::of(command.env("PATH", bench.path("nothing")));
    run.exits(0).warns("strace: not installed");
    let records = bench.records("out");
    let counted = counted(&records);
    assert!(counted.len() >= 4, "{:?}", counted.keys());
    assert!(counted.values().all(|block| block.system_calls.is_none()));
}
