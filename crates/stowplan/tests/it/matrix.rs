//! Matrices of settings and sizes, from their file to what remains of them.

use crate::bench::{Bench, entries};
use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;
use stowplan_model::Record;

/// Three sizes by two page sizes, which take about two seconds.
const MATRIX: &str = r#"
name = "places"
title = "Places"
question = "Inside or outside?"
[[matrix]]
id = "read"
title = "Reads"
sizes = [1_000, 2_000, 4_000]
bytes = 400_000
block_bytes = 200_000
max_rounds = 10
internal = { store = "sqlite", label = "SQLite" }
row_setting = "page_size"
rows = [1_024, 4_096]
external = { store = "files-indexed", label = "files" }
[matrix.published]
label = "long ago"
sizes = [1_000, 4_000]
ratios = { 4096 = [2.5, 0.5] }
[[matrix]]
id = "write"
title = "Overwrites"
workload = { operation = "overwrite" }
sizes = [2_000]
bytes = 400_000
block_bytes = 200_000
max_rounds = 10
internal = { store = "sqlite:journal=off,synchronous=off" }
row_setting = "page_size"
rows = [1_024]
external = { store = "files-indexed:write=in-place" }
"#;

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("places.toml", MATRIX);
    bench
}

const RUN: &str = "study places.toml --output out";

#[test]
fn a_matrix_is_measured_and_analysed_cell_by_cell() {
    let bench = bench();
    let document = bench.run(&format!("{RUN} --json")).exits(0).json();
    let matrices = document["by_size"].as_array().unwrap();
    assert_eq!(matrices.len(), 2);
    let rows = matrices[0]["rows"].as_array().unwrap();
    for (row, setting) in rows.iter().zip(["1024", "4096"]) {
        assert_eq!(row["setting"], setting);
        let points = row["points"].as_array().unwrap();
        for (point, size) in points.iter().zip(["1k", "2k", "4k"]) {
            assert_eq!(point["comparison"], format!("read-{size}"));
            let ratio = |what: &str| point["estimate"][what].as_f64().unwrap();
            assert!(
                0.0 < ratio("low") && ratio("low") <= ratio("ratio"),
                "{point}"
            );
        }
    }
    let published = |row: usize| rows[row]["points"][2]["published"].clone();
    assert_eq!(
        [published(0), published(1)],
        [serde_json::Value::Null, 0.5.into()]
    );
    assert_eq!(rows.len(), 2);
}

/// The sizes of which something lies in the work directory, each time that it is looked at.
fn sizes_seen(bench: &Bench, line: &str) -> BTreeSet<Vec<&'static str>> {
    let mut run = bench.silently(line);
    let work = bench.path("out/work");
    let mut seen = BTreeSet::new();
    while run.try_wait().unwrap().is_none() {
        let names: Vec<String> = std::fs::read_dir(&work)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        let sizes = ["400x1k", "200x2k", "100x4k"];
        let there = |size: &&str| names.iter().any(|name| name.contains(*size));
        seen.insert(sizes.into_iter().filter(there).collect());
        thread::sleep(Duration::from_millis(2));
    }
    assert!(run.wait().unwrap().success());
    seen
}

#[test]
fn the_disk_never_holds_more_than_one_size_each_is_built_once_and_everything_is_gone_at_the_end() {
    let bench = bench();
    let seen = sizes_seen(&bench, &format!("{RUN} --rounds 2"));
    for size in ["400x1k", "200x2k", "100x4k"] {
        assert!(seen.contains(&vec![size]), "{size} in {seen:?}");
    }
    assert!(seen.iter().all(|sizes| sizes.len() <= 1), "{seen:?}");
    assert_eq!(
        entries(&bench.path("out")),
        ["report.html", "result.jsonl", "summary.md"]
    );
    let records = bench.records("out");
    let built: Vec<&str> = records
        .iter()
        .filter_map(|record| match record {
            Record::Preparation(made) => Some(made.what.as_str()),
            _ => None,
        })
        .collect();
    let distinct: BTreeSet<&&str> = built.iter().collect();
    assert_eq!(built.len(), distinct.len(), "{built:?}");
    // Three sizes, each with its dataset, and two builds of two databases, and of files; and stores of
    // their own for the two cells that write.
    assert_eq!(built.len(), 3 * 7 + 2, "{built:?}");
    let weighed = records.iter().filter_map(|record| match record {
        Record::Footprint(f) if !f.after_workloads => Some(&f.instance),
        _ => None,
    });
    assert_eq!(weighed.collect::<BTreeSet<_>>().len(), 3 * 3);
}

#[test]
fn with_keep_every_size_stays() {
    let bench = bench();
    let seen = sizes_seen(&bench, &format!("{RUN} --rounds 2 --keep"));
    assert!(
        seen.contains(&vec!["400x1k", "200x2k", "100x4k"]),
        "{seen:?}"
    );
    let left = entries(&bench.path("out/work"));
    let stores = left.iter().filter(|name| name.starts_with("store-"));
    // Two builds of each, and one of those that the cells which write have of their own.
    assert_eq!(stores.count(), 3 * 3 * 2 + 2, "{left:?}");
}

#[test]
fn a_dry_run_tells_the_room_of_one_size_and_with_keep_of_all() {
    let bench = Bench::new();
    let dry = "study intern-v-extern --scale full --dry-run";
    bench
        .run(dry)
        .exits(0)
        .prints("read-10k")
        .prints("overwrite-1m")
        .prints("\nneeds about 2.59 GB of disk");
    bench
        .run(&format!("{dry} --keep"))
        .prints("\nneeds about 19.1 GB of disk");
}

#[test]
fn a_mistake_in_a_matrix_is_refused_where_it_stands() {
    let bench = bench();
    let (of_read, of_write) = ("rows = [1_024, 4_096]", "rows = [1_024]\n");
    for (right, wrong, said) in [
        (
            of_read,
            "rows = [4_096, 1_024]",
            "bad.toml:14:8: matrix 'read', rows: give each once, by rising number",
        ),
        (
            of_read,
            "rows = [1_024]",
            "matrix 'read', published: there is no row '4096'",
        ),
        (
            of_write,
            "rows = [1_000]\n",
            "bad.toml:30:9: matrix 'write', rows: store spec",
        ),
    ] {
        bench.write("bad.toml", &MATRIX.replace(right, wrong));
        bench.run("study bad.toml").refuses(said);
    }
}

#[test]
fn each_mistake_of_the_stores_of_a_matrix_is_told_once_where_it_stands() {
    let bench = bench();
    let wrong = MATRIX
        .replace("\"sqlite\", label", "\"sqlit\", label")
        .replace(
            "files-indexed:write=in-place",
            "files-indexed:write=inplace",
        )
        .replace("rows = [1_024]\n", "rows = [1_024, 5_000]\n")
        .replacen(
            "rows = [1_024, 4_096]\n",
            "rows = [1_024, 4_096]\nbeside = { other = { store = \"flat:raed=mmap\" } }\n",
            1,
        );
    bench.write("bad.toml", &wrong);
    let run = bench.run("study bad.toml");
    let told = run.exits(2).stderr();
    let told: Vec<&str> = told.lines().collect();
    for begins in [
        "bad.toml:12:12: matrix 'read', internal: unknown store 'sqlit'",
        "bad.toml:15:20: matrix 'read', beside: store spec 'flat:raed=mmap'",
        "bad.toml:31:16: matrix 'write', rows: store spec",
        "bad.toml:32:12: matrix 'write', external: store spec",
    ] {
        let line = told.iter().filter(|line| line.contains(begins));
        assert_eq!(line.count(), 1, "{begins}: {told:#?}");
    }
    assert_eq!(told.len(), 4, "{told:#?}");
}
