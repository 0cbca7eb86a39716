//! Mixes, stores that change, and threads in a plan.

use super::*;

/// A study of one comparison with the cells `a`, its baseline, and `b`.
fn two(workload: &str, a: &str, b: &str) -> Study {
    study(&format!(
        r#"
        name = "t"
        title = "t"
        question = "?"
        datasets.d = {{ count = 100, size = {{ distribution = "fixed", bytes = 10 }} }}
        [[comparison]]
        id = "c"
        title = "c"
        dataset = "d"
        baseline = "a"
        workload = {{ {workload} }}
        [comparison.cells]
        a = {{ {a} }}
        b = {{ {b} }}
    "#
    ))
}

fn planned(workload: &str, a: &str, b: &str) -> Result<Plan> {
    plan(
        two(workload, a, b),
        &PlanOptions::default(),
        &Drivers::built_in(),
    )
}

fn alone(workload: &str) -> Result<Cell> {
    let cell = r#"store = "files""#;
    planned(workload, cell, cell).map(|plan| plan.comparisons[0].cells[0].clone())
}

const MIX: &str = r#"operation = "mix", mix = { read = 3, insert = 1, delete = 1 }"#;

#[test]
fn blocks_that_change_their_store_go_through_the_dataset_and_have_a_place_of_their_own() {
    let life = r#"operation = "mix", order = "lifecycle", mix = { insert = 1, overwrite = 5, delete = 1 }"#;
    for (workload, operations) in [
        (r#"operation = "insert""#, Some(100)),
        (r#"operation = "delete""#, Some(100)),
        (MIX, Some(100)),
        (life, Some(700)),
        (r#"operation = "delete", operations = 7"#, Some(7)),
    ] {
        let cell = alone(workload).unwrap();
        assert_eq!(cell.workload.operations, operations, "{workload}");
        assert_eq!(cell.instance, "d.files.own", "{workload}");
    }
    let read = alone(r#"operation = "read", order = "zipfian""#).unwrap();
    assert_eq!(
        (read.workload.operations, read.instance.as_str()),
        (None, "d.files.layout-dir-names-off")
    );
}

#[test]
fn a_block_needs_values_for_the_keys_that_it_visits_once_and_for_no_others() {
    let many = |workload: &str| alone(&format!("{workload}, operations = 101"));
    for fine in [
        MIX,
        r#"operation = "read", order = "uniform""#,
        r#"operation = "mix", mix = { read = 100, insert = 1 }, order = "ascending""#,
        r#"operation = "mix", order = "lifecycle", mix = { insert = 1, delete = 1 }"#,
    ] {
        assert!(many(fine).is_ok(), "{fine}");
    }
    for (wrong, message) in [
        (
            r#"operation = "read""#,
            "more operations than the dataset has values (100)",
        ),
        (
            r#"operation = "delete""#,
            "more operations than the dataset has values (100)",
        ),
        (
            r#"operation = "mix", order = "uniform", mix = { delete = 100, read = 1 }"#,
            "deletes every value",
        ),
    ] {
        let error = many(wrong).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    let error = alone(&format!("{MIX}, operations = 1_000")).unwrap_err();
    assert!(
        error.to_string().contains("visits 800 values once each"),
        "{error}"
    );
}

#[test]
fn several_threads_need_a_store_that_they_can_share() {
    let b = r#"store = "sqlite:location=memory,journal=memory", label = "memory""#;
    let plan = planned("threads = 4", r#"store = "files""#, b).unwrap();
    let comparison = &plan.comparisons[0];
    assert_eq!(comparison.cells.len(), 2);
    let reason = &comparison.not_applicable["memory"];
    assert!(reason.ends_with("it can run with threads = 1"), "{reason}");
    assert!(describe(&plan, false, 80, None, &Drivers::built_in()).contains("; 4 threads"));
}

#[test]
fn what_a_mix_needs_and_a_store_has_not_is_told() {
    let b = r#"store = "files", label = "b", workload = { delivery = "in-place" }"#;
    let mix = r#"operation = "mix", mix = { read = 9, overwrite = 1 }"#;
    let plan = planned(mix, r#"store = "files""#, b).unwrap();
    let reason = &plan.comparisons[0].not_applicable["b"];
    assert!(reason.contains("cannot deliver 'in-place'"), "{reason}");
    assert!(
        describe(&plan, false, 80, None, &Drivers::built_in())
            .contains("; mix of read 9, overwrite 1")
    );
}

#[test]
fn cells_share_the_steps_of_a_comparison_and_may_differ_in_threads_and_transactions() {
    let with = |workload: &str| {
        let b = format!(r#"store = "sqlite", workload = {{ {workload} }}"#);
        let mix = r#"operation = "mix", mix = { read = 9, scan = 1 }, order = "zipfian""#;
        planned(mix, r#"store = "sqlite""#, &b)
    };
    assert!(with("per_transaction = 5").is_ok());
    for other in [
        "order = \"uniform\"",
        "mix = { read = 8, scan = 1 }",
        "scan_rows = 5",
    ] {
        let error = with(other).unwrap_err().to_string();
        assert!(error.contains("its own [[comparison]]"), "{error}");
        assert!(
            error.contains("a warm mix of read 9, scan 1, zipfian"),
            "{error}"
        );
    }
    // Where every key comes once, the order may be what is compared.
    let b = r#"store = "files", workload = { order = "ascending" }"#;
    assert!(planned("operation = \"insert\"", r#"store = "files""#, b).is_ok());
}

#[test]
fn a_delayed_promise_is_left_out_where_one_is_required() {
    let mut one = alone("operation = \"overwrite\"").unwrap();
    let study = two("", r#"store = "files""#, r#"store = "files""#);
    let options = PlanOptions {
        durability: Some(Durability::Consistent),
        ..PlanOptions::default()
    };
    one.capabilities.durability.class = Durability::Durable;
    assert_eq!(objection(&one, &study, &options), None);
    one.capabilities.durability.delayed = true;
    assert!(objection(&one, &study, &options).is_some());
}

#[test]
fn a_table_is_one_operation() {
    let workload = r#"operation = "create-table""#;
    let cell = r#"store = "sqlite""#;
    let plan = planned(workload, cell, cell).unwrap();
    let cell = &plan.comparisons[0].cells[0];
    assert_eq!(cell.workload.operations, Some(1));
    assert!(cell.instance.ends_with(".own"));
}

#[test]
fn connections_with_caches_of_their_own_share_the_memory_budget() {
    let cache = |spec: &str, threads| {
        let resolved = resolve(
            &Drivers::built_in(),
            &spec.parse().unwrap(),
            64 << 20,
            threads,
        )
        .unwrap();
        resolved.settings.number("cache")
    };
    assert_eq!(cache("sqlite", 1), 64 << 20);
    assert_eq!(cache("sqlite", 8), 8 << 20);
    assert_eq!(
        cache("sqlite:cache=1MiB", 8),
        1 << 20,
        "what is given stays"
    );
    assert_eq!(cache("redb", 8), 64 << 20, "one for all");
}

#[test]
fn cells_that_commit_other_numbers_of_operations_at_once_are_refused_with_what_to_set() {
    let cells = |workload, own: &str| {
        let b = format!(r#"store = "files:write=rename", workload = {{ {own} }}"#);
        planned(workload, r#"store = "files""#, &b)
    };
    let overwrite = r#"operation = "overwrite", operations = 50"#;
    let message = cells(overwrite, "operations = 20").unwrap_err().to_string();
    assert_eq!(
        message,
        "comparison 'c': one commit ends 50 operations of cell 'a' and 20 of 'b', so each bears \
         another share of it: set the same 'operations' for both, or how many operations share a \
         transaction ('per_transaction', a number)"
    );
    assert!(cells(overwrite, "operations = 50").is_ok(), "the same");
    assert!(cells(overwrite, "").is_ok(), "that of the comparison");
    let each = r#"operation = "overwrite", operations = 50, per_transaction = 1"#;
    assert!(cells(each, "operations = 20").is_ok(), "none is shared");
    let read = r#"operation = "read", operations = 50"#;
    assert!(
        cells(read, "operations = 20").is_ok(),
        "nothing is committed"
    );
}

#[test]
fn neighbours_that_take_more_memory_than_is_free_are_refused_with_the_numbers() {
    let beside = |compute_threads, memory| Workload {
        beside: Some(Neighbours {
            compute_threads,
            memory,
            kind: NeighbourKind::Threads,
        }),
        ..Workload::default()
    };
    let free = || (Some(8 << 20), 100 << 20);
    let refused = too_little_memory(&beside(64, true), free).unwrap();
    assert!(
        refused.starts_with("64 threads that stream through memory beside a block: 67.1 MB each")
            && refused.ends_with("4.29 GB in all, and only 105 MB of memory are free"),
        "{refused}"
    );
    assert_eq!(
        too_little_memory(&beside(64, true), || (None, u64::MAX)),
        None
    );
    assert_eq!(
        too_little_memory(&beside(64, true), || (None, 0)),
        None,
        "unknown"
    );
    assert_eq!(too_little_memory(&beside(64, false), free), None);
    assert_eq!(too_little_memory(&Workload::default(), free), None);
}

#[test]
fn a_percentile_for_which_the_dataset_has_too_few_values_is_refused_before_the_rounds() {
    let study = STUDY.replacen(
        "title = \"Warm reads\"",
        "title = \"R\"\nmeasure = \"p999\"",
        1,
    );
    let study = study.replacen("many = {", "#", 1);
    plan(
        super::study(&study),
        &only(&["read/sql"]),
        &Drivers::built_in(),
    )
    .unwrap();
    let few = study.replacen("count = 1_000", "count = 999", 1);
    let message = refusal(&few, &only(&["read/sql"]));
    assert!(
        message.contains("visits each of 999 values once")
            && message.contains("takes 1000 at least"),
        "{message}"
    );
}
