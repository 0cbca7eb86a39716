//! Sweeps of made-up runs: which comparison of a size counts, and what is no point at all.

use crate::runs::{changed, failed, recorded, sizes};
use crate::support::{comparison, doing, elsewhere, id, named, planned, rounds};
use stowplan_analysis::{Analysis, BySize, Run, Side, Standing, Verdict};
use stowplan_model::{Comparison, Durability, Measurement, Operation, Plan, Record, Sweep};

/// The comparison of one size, as the harness plans it.
fn member(name: &str) -> Comparison {
    named(name, comparison(&["other"]))
}

fn lost(name: &str) -> Record {
    failed(elsewhere(&id("other"), name), "no")
}

/// The comparisons that its points come from.
fn counted(found: &BySize) -> Vec<&str> {
    let points = found.points().map(|point| point.comparison.as_deref());
    points.flatten().collect()
}

/// Ten rounds in which B takes twice as long as A, and the control `control` times.
fn measured(name: &str, control: f64) -> Vec<Measurement> {
    let cells = [("base", 1e4), ("again", 1e4 * control), ("other", 2e4)];
    let blocks = rounds(&cells, 0..10);
    changed(blocks, |block| block.cell = elsewhere(&block.cell, name))
}

fn analysed(members: Vec<Comparison>, records: impl IntoIterator<Item = Record>) -> Analysis {
    let change = |plan: &mut Plan| {
        plan.comparisons.clone_from(&members);
        let [id, a, b] = ["size", "a", "b"].map(str::to_owned);
        plan.sweeps = vec![Sweep { id, a, b }];
        plan.study.figures.clear();
    };
    planned(&members[0], change, records)
}

#[test]
fn a_size_that_never_ran_is_no_point_and_one_that_failed_is_a_gap() {
    let run = |size, standing| Run {
        sizes: sizes(size, size),
        standing,
        claimed: standing != Standing::Undecided,
    };
    let runs = [
        run(1024, Standing::Wins(Side::A)),
        run(2048, Standing::Undecided),
    ];
    let names = ["size-1024", "size-2048", "size-4096"];
    let ran = || recorded(measured("size-1024", 1.0));
    let none = analysed(names.map(member).to_vec(), []);
    let one = analysed(names.map(member).to_vec(), ran());
    let gap = analysed(names.map(member).to_vec(), ran().chain([lost("size-2048")]));
    for (found, points) in [(none, 0), (one, 1), (gap, 2)] {
        let found = &found.by_size[0];
        assert_eq!(counted(found), names[..points]);
        assert_eq!(found.rows[0].finding.runs, runs[..points]);
        assert_eq!(found.sizes(|_| true), [1024, 2048, 4096]);
        assert_eq!(found.rows[0].points[1].found.estimate, None);
    }
}

#[test]
fn a_repetition_replaces_a_session_once_it_has_rounds_and_takes_its_warnings_away() {
    let plan = || ["size-1024", "size-1024-again"].map(member).to_vec();
    let first = measured("size-1024", 1.5);
    let before = analysed(plan(), recorded(first.clone()));
    let found = &before.by_size[0];
    assert_eq!(found.rows[0].points[0].found.verdict, Verdict::Unreliable);
    assert_eq!(counted(found), ["size-1024"]);
    assert_eq!(before.warnings.len(), 1, "{:?}", before.warnings);

    let again = measured("size-1024-again", 1.0);
    let after = analysed(plan(), recorded([first, again.clone()].concat()));
    let failed = [lost("size-1024")].into_iter();
    let after_failure = analysed(plan(), failed.chain(recorded(again)));
    for after in [after, after_failure] {
        let found = &after.by_size[0];
        assert_eq!(found.rows[0].points[0].found.verdict, Verdict::Slower);
        assert_eq!(counted(found), ["size-1024-again"]);
        assert_eq!(found.superseded, ["size-1024"]);
        assert!(after.warnings.is_empty(), "{:?}", after.warnings);
    }
}

#[test]
fn promises_that_differ_at_any_size_differ() {
    let writes = |name| doing(Operation::Overwrite, member(name));
    let mut plan = ["size-1024", "size-2048"].map(writes).to_vec();
    assert!(analysed(plan.clone(), []).by_size[0].same_durability);
    plan[1].cells[2].capabilities.durability.class = Durability::None;
    assert!(!analysed(plan, []).by_size[0].same_durability);
}
