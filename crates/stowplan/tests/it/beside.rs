//! Blocks with busy neighbours, and comparisons about slow operations.
use crate::bench::{Bench, entries, until};
use crate::ending::{everybody_goes, processes_in, signal};
use stowplan_model::Record;

/// A store alone, beside a thread of its own process, and beside a process; by the slowest operation.
const BESIDE: &str = r#"
name = "beside"
title = "Beside neighbours"
question = "Does it matter?"
[datasets.blobs]
count = 200
size = { distribution = "fixed", bytes = 300 }
[[comparison]]
id = "read"
title = "Reads"
dataset = "blobs"
measure = "max"
workload = { operation = "read", operations = 100 }
baseline = "alone"
[comparison.cells]
alone = { store = "files", label = "alone" }
thread = { store = "files", label = "a thread", workload = { beside = { compute_threads = 1 } } }
process = { store = "files", label = "a process", workload = { beside = { compute_threads = 1, memory = true, as = "processes" } } }
"#;

#[test]
fn neighbours_are_there_for_their_blocks_only_and_the_slowest_operation_is_judged() {
    let bench = Bench::new();
    bench.write("beside.toml", BESIDE);
    let study = "study beside.toml --rounds 10 --output out --json";
    let document = bench.run(study).exits(0).json();
    assert!(
        processes_in(&bench.path("")).is_empty(),
        "a neighbour is left"
    );
    let comparison = &document["comparisons"][0];
    assert_eq!(
        (&comparison["measure"], &comparison["metric"]),
        (&"max".into(), &"wall".into())
    );
    for contrast in comparison["contrasts"].as_array().unwrap() {
        assert_eq!(contrast["estimate"]["rounds"], 10, "{contrast}");
    }
    for cell in comparison["cells"].as_array().unwrap() {
        assert!(cell["statistic_ns"]["estimate"].as_f64() >= cell["time_ns"]["estimate"].as_f64());
        assert_eq!(cell["latency"]["count"], 1_000, "{cell}");
    }
    // What a thread beside it does is none of the cell's.
    for record in bench.records("out") {
        if let Record::Measurement(block) = record {
            assert!(
                block.process_cpu_ns <= 2 * block.thread_cpu_ns.max(1_000_000),
                "{block:?}"
            );
        }
    }
    bench
        .run("report out --verbose")
        .fits()
        .says("slowest operation of each block of 100 operations");
}

#[test]
fn a_percentile_takes_as_many_operations_and_neighbours_a_driver_that_has_them() {
    let bench = Bench::new();
    for (right, wrong, told) in [
        (
            "\"max\"",
            "\"p999\"",
            "have no 99.9th percentile, which takes 1000 at least",
        ),
        ("\"max\"", "\"p95\"", "unknown variant `p95`"),
        (
            "compute_threads = 1 }",
            "compute_threads = 99 }",
            "compute_threads must be from 0 to 64",
        ),
        (
            "compute_threads = 1 }",
            "compute_threads = 1 }, threads = 2",
            "write as = \"processes\"",
        ),
        (
            "compute_threads = 1 }",
            "compute_threads = 1 }, operations = 50",
            "set the same 'operations'",
        ),
    ] {
        bench.write("beside.toml", &BESIDE.replace(right, wrong));
        let refused = bench.run("study beside.toml --dry-run");
        refused.refuses(told);
    }
}

#[test]
fn neighbours_die_with_a_run_that_is_killed() {
    let bench = Bench::new();
    bench.write("beside.toml", BESIDE);
    let mut child = bench.silently("study beside.toml --output out --quiet");
    let is_busy = || {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let lines = processes.filter_map(|entry| {
            let own = std::fs::read_link(entry.path().join("cwd")).ok()? == bench.path("");
            let line = std::fs::read_to_string(entry.path().join("cmdline")).ok()?;
            own.then_some(line)
        });
        lines
            .into_iter()
            .any(|line| line.contains("\0busy\0--memory"))
    };
    until(|| is_busy().then_some(()));
    signal(&child, "-KILL");
    child.wait().unwrap();
    everybody_goes(&bench);
    assert_eq!(
        entries(&bench.path("")),
        ["beside.toml", "out", "small.toml"]
    );
}
