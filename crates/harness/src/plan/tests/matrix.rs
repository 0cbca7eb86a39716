//! Matrices in a plan, and the room of what they build.

use super::*;

const MATRIX: &str = r#"
name = "m"
title = "M"
question = "?"

[scales.quick]
skip = ["write"]
max_rounds = 10
[scales.quick.matrix.read]
sizes = [20_000]
rows = [4_096]
bytes = 1_000_000

[[matrix]]
id = "read"
title = "Reads"
sizes = [10_000, 20_000, 50_000]
bytes = 400_000_000
internal = { store = "sqlite" }
row_setting = "page_size"
rows = [1_024, 2_048, 16_384, 40_960]
external = { store = "files-indexed" }

[[matrix]]
id = "write"
title = "Writes"
workload = { operation = "overwrite" }
sizes = [20_000]
bytes = 400_000_000
block_bytes = 10_000_000
max_rounds = 20
internal = { store = "sqlite:journal=off" }
row_setting = "page_size"
rows = [1_024]
external = { store = "files-indexed:write=in-place" }
"#;

fn text() -> String {
    MATRIX.replace("40_960", "65_536")
}

fn matrix(options: &PlanOptions) -> Plan {
    plan(study(&text()), options, &Drivers::built_in()).unwrap()
}

#[test]
fn the_comparisons_of_matrices_are_planned_size_by_size() {
    let plan = matrix(&PlanOptions::default());
    let expected = ["read-10k", "read-20k", "write-20k", "read-50k"];
    assert_eq!(comparison_ids(&plan), expected);
    assert_eq!(
        ids(comparison(&plan, "write-20k")),
        [
            "write-20k/external",
            "write-20k/external#2",
            "write-20k/1024"
        ]
    );
    assert_eq!(comparison(&plan, "write-20k").max_rounds, 20);
    let operations = cell(&plan, "write-20k/1024").workload.operations;
    assert_eq!(operations, Some(500));
    let datasets: Vec<&String> = plan.datasets.keys().collect();
    assert_eq!(datasets, ["20000x20k", "40000x10k", "8000x50k"]);
}

#[test]
fn rows_stand_in_the_order_of_their_values() {
    let plan = matrix(&PlanOptions::default());
    let keys: Vec<&str> = plan.comparisons[0]
        .cells
        .iter()
        .map(|cell| cell.key.as_str())
        .collect();
    let expected = ["external", "external", "1024", "2048", "16384", "65536"];
    assert_eq!(keys, expected);
}

#[test]
fn matrices_share_what_is_built_alike() {
    let plan = matrix(&PlanOptions::default());
    let instance = |id| cell(&plan, id).instance.as_str();
    for (read, write) in [
        ("read-20k/1024", "write-20k/1024"),
        ("read-20k/external", "write-20k/external"),
    ] {
        assert_eq!(instance(read), instance(write), "its second build");
    }
    assert_ne!(instance("read-20k/1024"), instance("read-20k/16384"));
    assert_ne!(instance("read-20k/1024"), instance("read-50k/1024"));
}

#[test]
fn a_value_that_the_setting_does_not_take_is_refused_with_its_cell() {
    let message = refusal(MATRIX, &PlanOptions::default());
    assert!(
        message.contains("comparison 'read-10k', cell '40960'") && message.contains("power of two"),
        "{message}"
    );
}

#[test]
fn a_scale_changes_and_skips_matrices() {
    let plan = matrix(&at("quick"));
    assert_eq!(comparison_ids(&plan), ["read-20k"]);
    let read = comparison(&plan, "read-20k");
    assert_eq!(
        ids(read),
        ["read-20k/external", "read-20k/external#2", "read-20k/4096"]
    );
    assert_eq!(read.max_rounds, 10);
    assert_eq!(plan.datasets["50x20k"].count, 50);
    assert_eq!(plan.study.matrices[0].rows, [4_096], "as it is analysed");
}

#[test]
fn only_takes_a_matrix_by_its_name_or_one_of_its_comparisons_or_cells() {
    let ids_of = |names: &[&str]| {
        let plan = matrix(&only(names));
        let ids = comparison_ids(&plan);
        ids.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(ids_of(&["read"]), ["read-10k", "read-20k", "read-50k"]);
    assert_eq!(ids_of(&["read-50k", "write"]), ["write-20k", "read-50k"]);
    assert_eq!(ids_of(&["read-10k/1024"]), ["read-10k"]);
    let message = refusal(&text(), &only(&["raed"]));
    assert!(message.contains("did you mean 'read'?"), "{message}");
    assert!(
        !message.contains("read-10k/1024"),
        "the cells of a matrix are too many to list: {message}"
    );
    let message = refusal(&text(), &only(&["read-10k/1042"]));
    assert!(
        message.contains("did you mean 'read-10k/1024'?"),
        "{message}"
    );
}

#[test]
fn the_disk_must_hold_one_size_of_a_matrix_unless_everything_is_kept() {
    let whole = matrix(&PlanOptions::default());
    let column = |names: &[&str]| needs(&matrix(&only(names)), false).disk_bytes;
    let at_a_time = needs(&whole, false).disk_bytes;
    // Sequences, 16 bytes for a step, replace each other; they differ by comparison.
    let but_for_sequences = |room: u64, expected: u64| room.abs_diff(expected) < 5_000_000;
    let columns = ["read-10k", "read-20k", "write-20k", "read-50k"].map(|name| column(&[name]));
    let largest = columns.iter().copied().max().unwrap_or(0);
    assert!(
        but_for_sequences(at_a_time, largest),
        "reads and overwrites follow each other: {at_a_time}"
    );
    let kept = needs(&whole, true).disk_bytes;
    // What the overwrites need is there for the reads.
    let all = columns[0] + columns[1] + columns[3];
    assert!(but_for_sequences(kept, all), "{kept}");
    assert!(at_a_time > 6 * 400_000_000, "the dataset and five stores");
    assert!(
        needs(&whole, false).least_seconds >= needs(&whole, true).least_seconds,
        "everything is built either way"
    );
}

#[test]
fn what_is_used_again_later_needs_its_room_in_between() {
    // The other tests' study: `blobs` in the first three comparisons, `spare` in the last.
    let plan = planned(&PlanOptions::default());
    let read = &plan.comparisons[0];
    assert_eq!(
        comparison_ids(&plan),
        ["read", "cold", "write", "lax-first"]
    );
    let (datasets, instances) = uses(&plan.comparisons[1..]);
    let unused: Vec<&str> = read
        .cells
        .iter()
        .filter(|cell| !instances.contains_key(&*cell.instance))
        .map(|cell| cell.key.as_str())
        .collect();
    assert_eq!(unused, ["sql", "tree"], "files are read cold later");
    assert!(datasets.contains_key("blobs") && datasets.contains_key("spare"));
    assert!(!uses(&plan.comparisons[3..]).0.contains_key("blobs"));
    let (datasets, instances) = uses(&plan.comparisons);
    let files = &*cell(&plan, "read/dir").instance;
    assert_eq!(instances[files], 0..=1, "writes have their own");
    assert_eq!(datasets["spare"], 3..=3);
}
