//! Sweeps of made-up runs: which comparison of a size counts, and what is no point at all.

use crate::support::{comparison, doing, elsewhere, id, named, planned, rounds};
use stowplan_analysis::{Analysis, BySize, Run, Side, SizeRange, Standing, Verdict};
use stowplan_model::{
    CellFailure, Comparison, Durability, Measurement, Operation, Plan, Record, Sweep,
};

fn sweep() -> Sweep {
    Sweep {
        id: "size".to_owned(),
        a: "a".to_owned(),
        b: "b".to_owned(),
    }
}

/// The comparison of one size, as the harness plans it.
fn member(name: &str) -> Comparison {
    named(name, comparison(&["other"]))
}

/// Ten rounds in which B takes `ratio` times as long as A, and the control `control` times.
fn measured(name: &str, ratio: f64, control: f64) -> Vec<Measurement> {
    let cells = [
        ("base", 10_000.0),
        ("again", 10_000.0 * control),
        ("other", 10_000.0 * ratio),
    ];
    let mut blocks = rounds(&cells, 0..10);
    for block in &mut blocks {
        block.cell = elsewhere(&block.cell, name);
    }
    blocks
}

fn analysed(members: Vec<Comparison>, records: Vec<Record>) -> Analysis {
    let change = |plan: &mut Plan| {
        plan.comparisons.clone_from(&members);
        plan.sweeps = vec![sweep()];
        plan.study.figures.clear();
    };
    planned(&members[0], change, records)
}

fn blocks(of: &[Vec<Measurement>]) -> Vec<Record> {
    let blocks = of.iter().flatten();
    blocks.cloned().map(Record::Measurement).collect()
}

/// The comparisons that its points come from.
fn counted(found: &BySize) -> Vec<&str> {
    let ids = found
        .points()
        .filter_map(|point| point.comparison.as_deref());
    ids.collect()
}

fn failure(name: &str) -> Record {
    Record::Failure(CellFailure {
        cell: elsewhere(&id("other"), name),
        message: "no".to_owned(),
        stderr: String::new(),
    })
}

#[test]
fn a_size_that_never_ran_is_no_point_and_one_that_failed_is_a_gap() {
    let names = ["size-1024", "size-2048", "size-4096"];
    let plan = || names.map(member).to_vec();
    let one = blocks(&[measured("size-1024", 2.0, 1.0)]);
    let won = |size| Run {
        sizes: SizeRange {
            from: size,
            to: size,
        },
        standing: Standing::Wins(Side::A),
        claimed: true,
    };
    let found = &analysed(plan(), one.clone()).by_size[0];
    assert_eq!(found.rows[0].finding.runs, [won(1024)]);
    assert_eq!(counted(found), ["size-1024"]);
    assert_eq!(found.sizes(|_| true), [1024, 2048, 4096]);

    let failed = one.into_iter().chain([failure("size-2048")]).collect();
    let found = &analysed(plan(), failed).by_size[0];
    assert_eq!(counted(found), ["size-1024", "size-2048"]);
    assert_eq!(found.rows[0].points[1].found.estimate, None);
    let undecided = Run {
        standing: Standing::Undecided,
        claimed: false,
        ..won(2048)
    };
    assert_eq!(found.rows[0].finding.runs, [won(1024), undecided]);
}

#[test]
fn a_sweep_of_which_nothing_ran_is_still_one_and_claims_nothing() {
    let found = &analysed(vec![member("size-1024")], Vec::new()).by_size[0];
    assert!(found.rows[0].finding.runs.is_empty());
}

#[test]
fn a_repetition_replaces_a_session_once_it_has_rounds_and_takes_its_warnings_away() {
    let plan = || vec![member("size-1024"), member("size-1024-again")];
    let first = measured("size-1024", 2.0, 1.5);
    let before = analysed(plan(), blocks(std::slice::from_ref(&first)));
    let found = &before.by_size[0];
    assert_eq!(found.rows[0].points[0].found.verdict, Verdict::Unreliable);
    assert_eq!(counted(found), ["size-1024"]);
    assert_eq!(before.warnings.len(), 1, "{:?}", before.warnings);

    let again = measured("size-1024-again", 2.0, 1.0);
    let after = analysed(plan(), blocks(&[first, again]));
    let found = &after.by_size[0];
    assert_eq!(found.rows[0].points[0].found.verdict, Verdict::Slower);
    assert_eq!(counted(found), ["size-1024-again"]);
    assert_eq!(found.superseded, ["size-1024"]);
    assert!(after.warnings.is_empty(), "{:?}", after.warnings);
}

#[test]
fn a_session_that_failed_is_replaced_by_its_repetition_like_any_other() {
    let plan = vec![member("size-1024"), member("size-1024-again")];
    let again = blocks(&[measured("size-1024-again", 2.0, 1.0)]);
    let records = [failure("size-1024")].into_iter().chain(again).collect();
    let found = &analysed(plan, records).by_size[0];
    assert_eq!(counted(found), ["size-1024-again"]);
    assert_eq!(found.superseded, ["size-1024"]);
}

#[test]
fn promises_that_differ_at_any_size_differ() {
    let names = ["size-1024", "size-2048"];
    let writes = |name| doing(Operation::Overwrite, member(name));
    let mut plan = names.map(writes).to_vec();
    assert!(analysed(plan.clone(), Vec::new()).by_size[0].same_durability);
    let odd = plan[1].cells.last_mut().unwrap();
    odd.capabilities.durability.class = Durability::None;
    assert!(!analysed(plan, Vec::new()).by_size[0].same_durability);
}
