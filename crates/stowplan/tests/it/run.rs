//! What a run prints and leaves behind.

use crate::bench::{Bench, entries};
use std::collections::BTreeSet;
use stowplan_model::{BlockKind, Record, RunOutcome};

#[test]
fn a_study_runs_from_its_file_to_its_report() {
    let bench = Bench::new();
    let run = bench.run(&["study", "small.toml", "--output", "out", "--rounds", "10"]);
    run.exits(0).prints("SQLite").prints("report.html");
    assert!(!run.stdout().contains('\x1b'), "no colour in a pipe");
    assert!(!run.stderr().contains('\r'), "no live progress in a pipe");
    assert!(
        run.stdout()
            .lines()
            .all(|line| line.chars().count() <= 80 || line.contains("out/"))
    );
    assert_eq!(
        entries(&bench.path("out")),
        ["report.html", "result.jsonl", "summary.md"]
    );

    let records = bench.records("out");
    assert!(matches!(records.first(), Some(Record::Run(_))));
    assert!(
        matches!(records.last(), Some(Record::End(end)) if end.outcome == RunOutcome::Complete)
    );
    let verified: BTreeSet<_> = records
        .iter()
        .filter_map(|record| match record {
            Record::Verification(v) => {
                assert_eq!(v.values, 3_000);
                Some(v.cell.0.clone())
            }
            _ => None,
        })
        .collect();
    for cell in [
        "read/dir",
        "read/sql",
        "read/floor",
        "write/dir",
        "write/wal",
    ] {
        assert!(
            verified.contains(cell),
            "{cell} was not verified: {verified:?}"
        );
    }
    for cell in [
        "read/dir",
        "read/dir#2",
        "read/sql",
        "read/floor",
        "write/dir#2",
        "write/wal",
    ] {
        let rounds: BTreeSet<u32> = records
            .iter()
            .filter_map(|record| match record {
                Record::Measurement(m) if m.cell.0 == cell && m.block == BlockKind::Ratio => {
                    Some(m.round)
                }
                _ => None,
            })
            .collect();
        assert_eq!(rounds.len(), 10, "{cell}");
    }
}

#[test]
fn every_block_delivers_what_its_steps_announce_and_positions_differ_between_rounds() {
    let bench = Bench::new();
    bench
        .run(&[
            "study",
            "small.toml",
            "--output",
            "out",
            "--rounds",
            "10",
            "--only",
            "read",
        ])
        .exits(0);
    let mut positions = BTreeSet::new();
    for record in bench.records("out") {
        if let Record::Measurement(m) = record {
            assert!(
                m.operations >= 1_000 && m.bytes >= m.operations * 500,
                "{m:?}"
            );
            assert!(m.wall_ns > 0 && m.thread_cpu_ns > 0);
            if m.cell.0 == "read/dir" {
                positions.insert(m.position);
            }
        }
    }
    assert!(
        positions.len() > 1,
        "the order must change from round to round"
    );
}

#[test]
fn overwritten_values_are_checked_by_version() {
    let bench = Bench::new();
    bench
        .run(&[
            "study",
            "small.toml",
            "--output",
            "out",
            "--rounds",
            "10",
            "--only",
            "write",
        ])
        .exits(0);
    let overwritten: Vec<u64> = bench
        .records("out")
        .iter()
        .filter_map(|record| match record {
            Record::Verification(v) => Some(v.overwritten),
            _ => None,
        })
        .collect();
    assert!(overwritten.iter().any(|n| *n > 1_000), "{overwritten:?}");
}

#[test]
fn json_is_one_document_and_nothing_else() {
    let bench = Bench::new();
    let run = bench.run(&[
        "study",
        "small.toml",
        "--output",
        "out",
        "--rounds",
        "10",
        "--json",
        "--only",
        "read",
    ]);
    run.exits(0);
    let document: serde_json::Value = serde_json::from_str(&run.stdout()).unwrap();
    assert!(document.is_object());
    let again = bench.run(&["report", "out", "--json"]);
    assert_eq!(
        again.exits(0).stdout(),
        run.stdout(),
        "the result alone gives the same analysis"
    );
}

#[test]
fn a_dry_run_says_what_it_needs_and_writes_nothing() {
    let bench = Bench::new();
    let run = bench.run(&["study", "fasterthanfs", "--dry-run"]);
    run.exits(0)
        .prints("100000 values")
        .prints("blob-mmap")
        .prints("of disk and");
    assert_eq!(entries(&bench.path(".")), ["small.toml"]);
}

#[test]
fn stores_and_studies_are_listed() {
    let bench = Bench::new();
    bench
        .run(&["stores"])
        .exits(0)
        .prints("files")
        .prints("sqlite")
        .prints("flat");
    bench
        .run(&["stores", "sqlite"])
        .exits(0)
        .prints("page_size=4KiB")
        .prints("synchronous");
    bench
        .run(&["stores", "sqlit"])
        .refuses("did you mean 'sqlite'?");
    bench.run(&["stores", "rocksbd"]).refuses("'rocksdb'?");
    bench.run(&["studies"]).exits(0).prints("fasterthanfs");
}

#[test]
fn the_work_directory_is_removed_unless_it_is_to_be_kept() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("disk")).unwrap();
    let arguments = [
        "study",
        "small.toml",
        "--output",
        "out",
        "--work",
        "disk",
        "--rounds",
        "10",
        "--only",
        "read",
    ];
    bench.run(&arguments).exits(0);
    assert!(entries(&bench.path("disk")).is_empty());
    let keep = [
        "study",
        "small.toml",
        "--output",
        "out2",
        "--rounds",
        "10",
        "--only",
        "read",
        "--keep",
    ];
    bench.run(&keep).exits(0);
    assert!(entries(&bench.path("out2")).len() > 3);
}

#[test]
fn a_work_directory_that_does_not_exist_is_named_and_not_made() {
    let bench = Bench::new();
    let arguments = ["study", "small.toml", "--output", "out", "--work", "disc"];
    bench
        .run(&arguments)
        .refuses("--work disc: there is no such directory; create it");
    assert!(!bench.path("disc").exists() && !bench.path("out").exists());
}
