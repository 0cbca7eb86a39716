//! What a run prints and leaves behind.

use crate::bench::{Bench, SMALL, entries};
use std::collections::BTreeSet;
use std::sync::LazyLock;
use stowplan_model::{BlockKind, Measurement, Record, RunOutcome, Verification};

/// What a run of both comparisons left, on a real disk and with blocks as large as trials make them.
struct Run {
    stdout: String,
    stderr: String,
    left: Vec<String>,
    records: Vec<Record>,
}

/// One run, which several tests look at.
static RUN: LazyLock<Run> = LazyLock::new(|| {
    let bench = Bench::on_disk();
    let sized = SMALL
        .replace("count = 300", "count = 3_000")
        .replace(", operations = 100", "")
        .replace("operations = 50", "operations = 200");
    bench.write("sized.toml", &sized);
    let run = bench.run("study sized.toml --output out --rounds 4");
    run.exits(0);
    Run {
        stdout: run.stdout(),
        stderr: run.stderr(),
        left: entries(&bench.path("out")),
        records: bench.records("out"),
    }
});

/// The blocks of the rounds of a cell.
fn ratio_blocks(cell: &str) -> Vec<&'static Measurement> {
    let block = |record: &'static Record| match record {
        Record::Measurement(m) if m.cell.0 == cell && m.block == BlockKind::Ratio => Some(m),
        _ => None,
    };
    RUN.records.iter().filter_map(block).collect()
}

fn verifications() -> impl Iterator<Item = &'static Verification> {
    RUN.records.iter().filter_map(|record| match record {
        Record::Verification(verification) => Some(verification),
        _ => None,
    })
}

#[test]
fn a_study_runs_from_its_file_to_its_report() {
    let Run { stdout, stderr, .. } = &*RUN;
    assert!(stdout.contains("A small study") && stdout.contains("report.html"));
    assert!(!stdout.contains('\x1b'), "no colour in a pipe");
    assert!(!stderr.contains('\r'), "no live progress in a pipe");
    let fits = |line: &str| line.chars().count() <= 80 || line.contains("out/");
    assert!(stdout.lines().all(fits), "{stdout}");
    assert_eq!(RUN.left, ["report.html", "result.jsonl", "summary.md"]);
    assert!(matches!(RUN.records.first(), Some(Record::Run(_))));
    let last = RUN.records.last();
    assert!(matches!(last, Some(Record::End(end)) if end.outcome == RunOutcome::Complete));
}

#[test]
fn every_cell_is_measured_in_every_round() {
    for cell in "read/dir read/dir#2 read/sql read/floor write/dir#2 write/wal".split(' ') {
        let rounds: BTreeSet<u32> = ratio_blocks(cell).iter().map(|m| m.round).collect();
        // One that something else spoiled is made up for by another.
        assert!(rounds.len() >= 4, "{cell}: {rounds:?}");
    }
}

#[test]
fn every_value_of_every_cell_is_checked() {
    let verified = |v: &'static Verification| {
        assert_eq!(v.values, 3_000);
        v.cell.0.as_str()
    };
    let verified: BTreeSet<&str> = verifications().map(verified).collect();
    for cell in "read/dir read/sql read/floor write/dir write/wal".split(' ') {
        assert!(verified.contains(cell), "{cell}: {verified:?}");
    }
}

#[test]
fn every_block_delivers_what_its_steps_announce_and_positions_differ_between_rounds() {
    for cell in ["read/dir", "read/dir#2", "read/sql", "read/floor"] {
        for m in ratio_blocks(cell) {
            assert!(
                m.operations >= 1_000 && m.bytes >= m.operations * 500,
                "{m:?}"
            );
            assert!(m.wall_ns > 0 && m.thread_cpu_ns > 0);
        }
    }
    let blocks = ratio_blocks("read/dir");
    let positions: BTreeSet<_> = blocks.iter().map(|m| m.position).collect();
    assert!(
        positions.len() > 1,
        "the order must change from round to round"
    );
}

#[test]
fn overwritten_values_are_checked_by_version() {
    let overwritten: Vec<u64> = verifications().map(|v| v.overwritten).collect();
    assert!(overwritten.iter().any(|n| *n > 500), "{overwritten:?}");
}

#[test]
fn json_is_one_document_and_nothing_else_and_the_result_alone_gives_the_same() {
    let bench = Bench::new();
    let run = bench.run(
        "study small.toml --output out --rounds 2 --json --only read --verbose --color always",
    );
    assert!(run.exits(0).json().is_object());
    let again = bench.run("report out --json");
    assert_eq!(again.exits(0).stdout(), run.stdout());
}

#[test]
fn a_dry_run_says_what_it_needs_and_writes_nothing() {
    let bench = Bench::new();
    for (more, said) in [
        ("", "(8 cells, at most 40 rounds)"),
        ("--verbose", "blob-mmap"),
    ] {
        let run = bench.run(&format!("study fasterthanfs --dry-run {more}"));
        run.exits(0)
            .prints("100000 values")
            .prints(said)
            .prints("of disk and");
    }
    assert_eq!(entries(&bench.path(".")), ["small.toml"]);
}

#[test]
fn the_work_directory_is_removed_unless_it_is_to_be_kept() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("disk")).unwrap();
    let study = "study small.toml --rounds 1 --only read";
    bench
        .run(&format!("{study} --output out --work disk"))
        .exits(0);
    assert!(entries(&bench.path("disk")).is_empty());
    bench.run(&format!("{study} --output kept --keep")).exits(0);
    assert!(entries(&bench.path("kept")).len() > 3);
}
