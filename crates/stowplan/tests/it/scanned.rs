//! Cells between whose store and files a scanner stands; as root with one, and without root without. Scanners that are
//! killed or stopped: `.ci/kill-loop scanned`.
use crate::bench::Bench;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use stowplan_model::{BlockKind, Measurement, Record, Scanned, read_records};

const STUDY: &str = r#"
name = "scanned"
title = "Scanned"
question = "What does it cost?"
[datasets.blobs]
count = 100
size = { distribution = "fixed", bytes = 3_000 }
[[comparison]]
id = "read"
title = "Reads"
dataset = "blobs"
workload = { operation = "read", operations = 50 }
baseline = "files"
max_rounds = 2
[comparison.cells]
files = { store = "files", label = "files" }
asked = { store = "files", label = "asked", scanned = "open" }
read = { store = "files", label = "read", scanned = "read" }
sqlite = { store = "sqlite", label = "SQLite", scanned = "read" }
memory = { store = "sqlite:location=memory", label = "in memory", scanned = "open" }
"#;

/// The result of a run.
static RESULT: LazyLock<String> = LazyLock::new(|| {
    let bench = Bench::new();
    bench.write("scanned.toml", STUDY);
    bench
        .run("study scanned.toml --output out --quiet")
        .exits(0);
    let left = scanners(&bench.path(""));
    assert!(left.is_empty(), "{left:?}");
    bench.text("out/result.jsonl")
});

/// Whether this user's runs have scanners; says so where not.
#[expect(
    clippy::print_stderr,
    reason = "a test that cannot run where it is says so"
)]
fn may_scan(records: &[Record]) -> bool {
    let may = blocks(records, "read/asked").next().is_some();
    if !may {
        eprintln!("nothing is scanned here: that takes root");
    }
    may
}

fn blocks<'r>(records: &'r [Record], cell: &str) -> impl Iterator<Item = &'r Measurement> {
    let of_cell = move |record: &'r Record| match record {
        Record::Measurement(block) if block.cell.0 == cell && block.block == BlockKind::Ratio => {
            Some(block)
        }
        _ => None,
    };
    records.iter().filter_map(of_cell)
}

/// Processes that are scanners of what lies in a directory.
fn scanners(place: &Path) -> Vec<PathBuf> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let scans = |process: &PathBuf| {
        let line = std::fs::read_to_string(process.join("cmdline")).unwrap_or_default();
        line.contains("\0scanner\0") && line.contains(place.to_str().unwrap())
    };
    processes
        .map(|process| process.path())
        .filter(scans)
        .collect()
}

#[test]
fn a_scanner_is_asked_about_each_file_and_reads_what_it_is_to_read() {
    let (records, _) = read_records(&RESULT);
    let Some(Record::Run(header)) = records.first() else {
        panic!("a result begins with its run");
    };
    let comparison = &header.plan.comparisons[0];
    assert!(comparison.not_applicable["in memory"].contains("no files"));
    if !may_scan(&records) {
        for label in ["asked", "read", "SQLite"] {
            assert!(comparison.not_applicable[label].contains("sudo"));
        }
        return;
    }
    let cell = comparison.cells.iter().find(|cell| cell.key == "read");
    assert_eq!(cell.unwrap().scanned, Scanned::Read);
    assert!(blocks(&records, "read/files").all(|block| block.scanner.is_none()));
    for (cell, bytes) in [("read/asked", 0), ("read/read", 3_000)] {
        for block in blocks(&records, cell) {
            let (did, all) = (block.scanner.unwrap(), block.lead_in_operations + 50);
            // A driver may read a value before its first operation.
            assert!((all..=all + 1).contains(&did.opens), "{block:?}");
            assert_eq!(did.read_bytes, did.opens * bytes);
            assert!(did.longest_wait_ns > 0);
        }
    }
    for block in blocks(&records, "read/sqlite") {
        let did = block.scanner.unwrap();
        assert!((1..=4).contains(&did.opens), "{block:?}");
        assert!(did.read_bytes > 300_000, "the database is read: {block:?}");
    }
}

#[test]
fn a_scanned_cell_is_named_as_one_and_is_no_rival_of_others() {
    if !may_scan(&read_records(&RESULT).0) {
        return;
    }
    let bench = Bench::new();
    bench
        .write("scanned.toml", STUDY)
        .write("result.jsonl", &RESULT);
    let document = bench.run("report result.jsonl --json").json();
    let cells = document["comparisons"][0]["cells"].as_array().unwrap();
    let scanned = |key: &str| {
        let of_key = |cell: &&Value| cell["cell"]["key"] == key;
        cells.iter().find(of_key).unwrap()["cell"]["scanned"].clone()
    };
    assert_eq!(
        (scanned("files"), scanned("asked")),
        (Value::Null, "open".into())
    );
    let dry = bench.run("study scanned.toml --dry-run");
    dry.exits(0).prints("a scanner that reads");
}
