//! What is recommended, from runs whose answer is known: by verdicts and intervals, never by
//! estimates alone.

use crate::findings::writing;
use crate::support::{analysis, comparison, contrast, outcome, records, rounds};
use stowplan_analysis::{
    Answer, ComparisonOutcome, Kind, Open, Promises, Recommendation, Verdict, When, WorkDifference,
    analyse, cell_differences, workload_differences,
};
use stowplan_model::{
    AccessOrder, Cell, CellFailure, Comparison, Durability, DurabilityClaim, Measurement,
    Operation, PerTransaction, Record, Scanned, WorkloadSpec,
};

const BASE: [(&str, f64); 2] = [("base", 10_000.0), ("again", 10_000.0)];

fn measured(cells: &[(&str, f64)], number: u32) -> Vec<Measurement> {
    rounds(&[&BASE, cells].concat(), 0..number)
}

fn recommendation(comparison: &Comparison, blocks: &[Measurement]) -> Recommendation {
    outcome(comparison, blocks).recommendation
}

fn cell<'a>(comparison: &'a mut Comparison, key: &str) -> &'a mut Cell {
    let mut cells = comparison.cells.iter_mut();
    cells.find(|cell| cell.key == key).unwrap()
}

/// The same blocks, each of which is flushed in so many microseconds; the lead-in wrote as well, a
/// third of it all.
fn flushed(mut blocks: Vec<Measurement>, flushes: &[(&str, f64)]) -> Vec<Measurement> {
    for block in &mut blocks {
        let key = block.cell.0.trim_start_matches("c/");
        let micros = flushes.iter().find(|(name, _)| *name == key);
        block.outside.drain_ns = micros.map_or(0, |(_, micros)| (micros * 1_500.0) as u64);
    }
    blocks
}

#[test]
fn rows_by_one_statement_are_other_work_so_they_are_neither_the_fastest_nor_keep_another_from_it() {
    let mut comparison = writing(comparison(&["rows", "quick"]));
    cell(&mut comparison, "rows").workload.rows_per_statement = Some(100);
    comparison.contrasts.push(contrast("rows", "quick"));
    let blocks = measured(&[("rows", 2_000.0), ("quick", 5_000.0)], 10);
    let found = outcome(&comparison, &blocks);
    assert_eq!(found.fastest.as_ref().unwrap().0, "c/quick");
    let advice = &found.recommendation;
    assert_eq!(advice.kind, Kind::Use);
    assert_eq!(advice.choice.as_ref().unwrap().0, "c/quick");
    let [other] = &*advice.alternatives else {
        panic!("{advice:?}");
    };
    assert_eq!(
        (other.when, other.cell.0.as_str()),
        (When::OtherWorkWillDo, "c/rows")
    );
    let work: Vec<String> = other.work.iter().map(WorkDifference::in_words).collect();
    assert_eq!(
        work,
        ["100 rows by each statement against one row by each statement"]
    );
}

#[test]
fn whatever_else_is_done_is_other_work() {
    let other = |change: fn(&mut Cell)| {
        let mut comparison = writing(comparison(&["other"]));
        change(cell(&mut comparison, "other"));
        outcome(&comparison, &measured(&[("other", 5_000.0)], 10)).fastest
    };
    assert!(other(|_| ()).is_some());
    let changes: [fn(&mut Cell); 6] = [
        |cell| cell.workload.order = AccessOrder::Ascending,
        |cell| cell.workload.threads = 4,
        |cell| cell.workload.sample_of = Some(1_000_000),
        |cell| cell.workload.age = 2,
        |cell| cell.workload.per_transaction = PerTransaction::Operations(1),
        // All operations of a block share one commit.
        |cell| cell.workload.operations = Some(100_000),
    ];
    for (place, change) in changes.into_iter().enumerate() {
        assert_eq!(other(change), None, "{place}");
    }
    assert!(other(|cell| cell.workload.rows_per_statement = Some(1)).is_some());
}

#[test]
fn a_longer_block_is_no_other_work_unless_its_operations_share_a_commit() {
    let workload = |operation, per_transaction, operations| {
        WorkloadSpec {
            operation: Some(operation),
            per_transaction,
            operations: Some(operations),
            ..WorkloadSpec::default()
        }
        .complete()
    };
    let one = Some(PerTransaction::Operations(1));
    for (operation, per_transaction, counts) in [
        (Operation::Read, None, false),
        (Operation::Overwrite, one, false),
        (Operation::Overwrite, None, true),
    ] {
        let ours = workload(operation, per_transaction, 1_000);
        let theirs = workload(operation, per_transaction, 2_000);
        let [difference] = &*workload_differences(&ours, &theirs) else {
            panic!("{operation}");
        };
        assert_eq!(difference.counts(&ours), counts, "{operation}");
    }
}

#[test]
fn a_cell_that_is_scanned_or_on_a_file_system_of_its_own_is_no_rival_of_one_that_is_not() {
    let mut scanned = comparison(&["fast"]);
    let blocks = measured(&[("fast", 5_000.0)], 20);
    let labels = |comparison: &Comparison| -> Vec<String> {
        let found = outcome(comparison, &blocks);
        found.rivals().map(|rival| rival.cell.key.clone()).collect()
    };
    assert_eq!(labels(&scanned), ["base", "fast"]);
    cell(&mut scanned, "fast").on = "tmpfs".to_owned();
    assert_eq!(labels(&scanned), ["base"]);
    cell(&mut scanned, "fast").on.clear();
    cell(&mut scanned, "fast").scanned = Scanned::Open;
    assert_eq!(labels(&scanned), ["base"]);
    let fast = cell(&mut scanned, "fast").clone();
    let [difference] = &*cell_differences(&fast, cell(&mut scanned, "base")) else {
        panic!("it is scanned, and no more");
    };
    let (ours, theirs) = (&difference.ours, &difference.theirs);
    assert_eq!(
        (&**ours, &**theirs),
        ("a scanner that is asked", "no scanner")
    );
}

#[test]
fn a_ratio_with_the_final_flush_is_judged_as_any_other() {
    let comparison = writing(comparison(&["other"]));
    let blocks = measured(&[("other", 5_000.0)], 10);
    let blocks = flushed(
        blocks,
        &[("base", 10_000.0), ("again", 10_000.0), ("other", 45_000.0)],
    );
    let found = outcome(&comparison, &blocks);
    let contrast = &found.contrasts[0];
    let total = contrast.total.unwrap();
    assert_eq!(contrast.verdict, Verdict::Faster);
    assert_eq!(total.verdict, Verdict::Slower);
    // (5 + 45) / (10 + 10)
    assert!((total.estimate.ratio - 2.5).abs() < 0.02, "{total:?}");
    assert!(total.estimate.low < 2.5 && 2.5 < total.estimate.high);
    assert_eq!(total.estimate.rounds, 10);
    assert_eq!(contrast.inverse().total.unwrap().verdict, Verdict::Faster);
    let reads = outcome(&crate::support::comparison(&["other"]), &blocks);
    assert_eq!(reads.contrasts[0].total, None);
}

#[test]
fn where_it_depends_nothing_is_preferred() {
    let mut comparison = writing(comparison(&["weak"]));
    cell(&mut comparison, "weak").capabilities.durability = promise(Durability::None);
    let with = |flush: f64| {
        let blocks = measured(&[("weak", 5_000.0)], 10);
        let flushes = [("base", 1_000.0), ("again", 1_000.0), ("weak", flush)];
        recommendation(&comparison, &flushed(blocks, &flushes))
    };
    let lost = with(20_000.0);
    assert_eq!(lost.kind, Kind::Depends);
}

#[test]
fn it_depends_on_the_flush_only_where_both_orders_are_shown() {
    let comparison = writing(comparison(&["other"]));
    let with = |flush: f64| {
        let blocks = measured(&[("other", 5_000.0)], 10);
        let flushes = [("base", 1_000.0), ("again", 1_000.0), ("other", flush)];
        recommendation(&comparison, &flushed(blocks, &flushes))
    };
    let reversed = with(20_000.0);
    assert_eq!(reversed.kind, Kind::Depends);
    assert_eq!(reversed.choice.unwrap().0, "c/other");
    assert_eq!(reversed.flush.unwrap().sooner.unwrap().0, "c/base");
    // 11.15 against 11 ms is no difference that is shown, whatever the estimates say.
    let even = with(6_150.0);
    assert_eq!(even.kind, Kind::Use);
    let flush = even.flush.unwrap();
    assert_eq!(flush.sooner, None);
    assert_eq!(flush.verdict, Some(Verdict::Equivalent));
    assert!(flush.ratio.unwrap().ratio > 1.0, "by points it is reversed");
    assert_eq!(with(500.0).flush, None, "it says the same");
}

#[test]
fn of_two_candidates_it_depends_between_the_one_that_answers_sooner_and_the_one_done_sooner() {
    let mut comparison = writing(comparison(&["quick", "done"]));
    comparison.contrasts.push(contrast("quick", "done"));
    let with = |flush: f64| {
        let blocks = measured(&[("quick", 3_000.0), ("done", 5_000.0)], 10);
        let flushes = [
            ("base", 10_000.0),
            ("again", 10_000.0),
            ("quick", flush),
            ("done", 2_000.0),
        ];
        let found = outcome(&comparison, &flushed(blocks, &flushes));
        assert_eq!(found.fastest.as_ref().unwrap().0, "c/quick");
        found.recommendation
    };
    let reversed = with(30_000.0);
    assert_eq!(reversed.kind, Kind::Depends, "33 ms against 7 ms and 20 ms");
    assert_eq!(reversed.choice.unwrap().0, "c/quick");
    assert_eq!(reversed.flush.unwrap().sooner.unwrap().0, "c/done");
    // Done later than the other candidate, and still sooner than the baseline.
    let lead = with(9_000.0);
    assert_eq!(lead.kind, Kind::Use, "12 ms against 7 ms and 20 ms");
    assert_eq!(lead.flush.unwrap().sooner.unwrap().0, "c/done");
    assert_eq!(with(1_000.0).flush.and_then(|flush| flush.sooner), None);
}

#[test]
fn where_totals_are_too_noisy_nothing_depends_on_them() {
    let comparison = writing(comparison(&["other"]));
    let mut blocks = measured(&[("other", 5_000.0)], 10);
    for block in &mut blocks {
        // The flush of identical cells differs from round to round by more than anything else.
        let wild = 1 << ((u64::from(block.round) * 7 + block.cell.0.len() as u64) % 12);
        let more = if block.cell.0 == "c/other" { 3 } else { 1 };
        block.outside.drain_ns = 1_000_000 * wild * more;
    }
    let found = outcome(&comparison, &blocks);
    let total = found.contrasts[0].total.unwrap();
    assert!(total.estimate.ratio > 1.1, "{total:?}");
    assert!(!matches!(total.verdict, Verdict::Slower | Verdict::Faster));
    assert_eq!(found.recommendation.kind, Kind::Use);
}

#[test]
fn a_baseline_that_beats_all_is_stayed_with_unless_another_is_shown_to_be_done_sooner() {
    let comparison = writing(comparison(&["slow"]));
    let blocks = measured(&[("slow", 20_000.0)], 10);
    let stay = recommendation(&comparison, &blocks);
    assert_eq!(stay.kind, Kind::Stay);
    let over = stay.over.unwrap();
    assert_eq!(over.cell.0, "c/slow");
    assert!(over.ratio.high < 1.0, "the choice over what is behind it");
    let late = [("base", 50_000.0), ("again", 50_000.0), ("slow", 1_000.0)];
    let depends = recommendation(&comparison, &flushed(blocks, &late));
    assert_eq!(depends.kind, Kind::Depends);
    assert_eq!(depends.choice.unwrap().0, "c/base");
    assert_eq!(depends.flush.unwrap().sooner.unwrap().0, "c/slow");
}

fn promise(class: Durability) -> DurabilityClaim {
    DurabilityClaim {
        class,
        atomic: true,
        delayed: false,
    }
}

#[test]
fn what_keeps_the_promise_is_preferred_and_what_is_faster_and_weaker_stands_beside_it() {
    let mut comparison = writing(comparison(&["keeps", "weak"]));
    cell(&mut comparison, "weak").capabilities.durability = promise(Durability::None);
    let blocks = measured(&[("keeps", 5_000.0), ("weak", 1_000.0)], 10);
    let found = recommendation(&comparison, &blocks);
    assert_eq!(found.kind, Kind::Prefer);
    assert_eq!(found.choice.as_ref().unwrap().0, "c/keeps");
    assert_eq!(found.condition(), None);
    let [weaker] = &*found.alternatives else {
        panic!("{found:?}");
    };
    assert_eq!(
        (weaker.when, weaker.cell.0.as_str()),
        (When::LessIsEnough, "c/weak")
    );
    assert_eq!(weaker.promise, Some(promise(Durability::None)));
}

#[test]
fn where_only_what_promises_less_is_faster_that_is_the_condition() {
    let mut comparison = writing(comparison(&["weak"]));
    cell(&mut comparison, "weak").capabilities.durability = promise(Durability::None);
    let found = recommendation(&comparison, &measured(&[("weak", 1_000.0)], 10));
    assert_eq!(found.kind, Kind::Prefer);
    assert_eq!(found.condition().unwrap().is, Promises::Less);
}

#[test]
fn of_those_that_are_faster_one_that_keeps_promise_and_work_is_preferred() {
    let preferred = |cells: &[(&str, f64)], change: &dyn Fn(&mut Cell, &str)| {
        let keys: Vec<&str> = cells.iter().map(|(key, _)| *key).collect();
        let mut comparison = writing(comparison(&keys));
        for key in keys {
            change(cell(&mut comparison, key), key);
        }
        let found = recommendation(&comparison, &measured(cells, 10));
        (found.kind, found.choice.map(|choice| choice.0))
    };
    let prefers = |key: &str| (Kind::Prefer, Some(format!("c/{key}")));
    let both = [("a", 5_000.0), ("b", 4_000.0)];
    let weak = |cell: &mut Cell, _: &str| cell.capabilities.durability = promise(Durability::None);
    let other = |cell: &mut Cell, _: &str| cell.workload.order = AccessOrder::Ascending;
    let only_b = |change: fn(&mut Cell, &str)| {
        move |cell: &mut Cell, key: &str| {
            if key == "b" {
                change(cell, key);
            }
        }
    };
    assert_eq!(preferred(&both, &only_b(weak)), prefers("a"));
    // Of those that do the same work it beats each.
    let uses = (Kind::Use, Some("c/a".to_owned()));
    assert_eq!(preferred(&both, &only_b(other)), uses);
    assert_eq!(preferred(&both, &other), prefers("b"));
    assert_eq!(preferred(&both, &weak), prefers("b"));
    let one = [("a", 20_000.0), ("b", 4_000.0)];
    assert_eq!(preferred(&one, &only_b(weak)), prefers("b"));
}

#[test]
fn a_small_gain_that_may_be_one_that_matters_keeps_the_question_open() {
    let comparison = comparison(&["near", "slow"]);
    let kept = |near: f64| {
        let blocks = measured(&[("near", near), ("slow", 20_000.0)], 40);
        let found = recommendation(&comparison, &blocks);
        assert_eq!(found.kind, Kind::Keep, "{found:?}");
        found
    };
    let small = kept(9_500.0);
    assert_eq!(small.unbeaten[0].verdict, Verdict::SmallDifference);
    assert!(small.may_change());
    // As far on the other side of 1, no gain is possible.
    let other_way = kept(10_500.0);
    assert_eq!(other_way.unbeaten[0].verdict, Verdict::SmallDifference);
    assert!(!other_way.may_change());
    assert!(!kept(10_010.0).may_change(), "equivalent");
}

#[test]
fn of_several_that_are_faster_the_one_with_the_smallest_ratio_is_named_and_not_called_the_fastest()
{
    let comparison = comparison(&["near", "nearest"]);
    let blocks = measured(&[("near", 5_010.0), ("nearest", 5_000.0)], 10);
    let found = outcome(&comparison, &blocks);
    assert_eq!(found.fastest, None);
    let advice = found.recommendation;
    assert_eq!(advice.kind, Kind::Prefer);
    assert_eq!(advice.choice.unwrap().0, "c/nearest");
}

#[test]
fn all_equivalent_is_no_choice() {
    let found = recommendation(&comparison(&["same"]), &measured(&[("same", 10_000.0)], 10));
    assert_eq!((found.kind, found.choice), (Kind::Equivalent, None));
}

#[test]
fn why_nothing_can_be_said_is_said() {
    let simple = comparison(&["other"]);
    let open = |comparison: &Comparison, blocks: &[Measurement]| {
        let found = recommendation(comparison, blocks);
        assert_eq!((found.kind, &found.choice), (Kind::Open, &None));
        found.open.unwrap()
    };
    let other = [("other", 20_000.0)];
    assert_eq!(
        open(&simple, &measured(&other, 2)),
        Open::TooFewRounds {
            rounds: 2,
            needed: 10
        }
    );
    assert_eq!(open(&comparison(&[]), &measured(&[], 10)), Open::Alone);
    let apart = [("base", 10_000.0), ("again", 11_600.0)];
    let noisy_alone = rounds(&apart, 0..10);
    assert_eq!(
        open(&comparison(&[]), &noisy_alone),
        Open::Alone,
        "no quieter machine helps"
    );
    let noisy = [("base", 10_000.0), ("again", 10_400.0), ("other", 20_000.0)];
    assert_eq!(open(&simple, &rounds(&noisy, 0..10)), Open::Unreliable);
    let mut no_control = simple.clone();
    no_control.cells.remove(1);
    assert_eq!(
        open(&no_control, &measured(&other, 10)),
        Open::ControlTooShort
    );
    let mut failed = records(&simple, &measured(&other, 10));
    failed.push(Record::Failure(CellFailure {
        cell: crate::support::id("other"),
        message: "gone".to_owned(),
        stderr: String::new(),
    }));
    let failed = analyse(&failed, None).unwrap().comparisons.remove(0);
    assert_eq!(failed.recommendation.open, Some(Open::Failed));
}

#[test]
fn what_was_not_decided_is_listed_with_what_it_leaves_open() {
    let mut blocks = measured(&[("other", 10_000.0)], 10);
    for block in blocks.iter_mut().filter(|block| block.cell.0 == "c/other") {
        block.wall_ns = block.wall_ns * (7 + u64::from(block.round) % 7) / 10;
    }
    let found = recommendation(&comparison(&["other"]), &blocks);
    assert_eq!(found.open, Some(Open::Undecided));
    assert!(found.unbeaten[0].may_be_faster);
}

#[test]
fn the_answers_of_a_run_are_in_its_analysis_and_follow_from_its_verdicts() {
    let comparison = comparison(&["slow"]);
    let mut found = analysis(&comparison, &measured(&[("slow", 20_000.0)], 10));
    let [answer] = &*found.answers else {
        panic!("{:?}", found.answers);
    };
    assert!(matches!(
        answer,
        Answer::Comparison { kind: Kind::Stay, choice: Some(choice), .. } if choice.0 == "c/base"
    ));
    let outcome: &mut ComparisonOutcome = &mut found.comparisons[0];
    outcome.fastest = None;
    outcome.contrasts[0].verdict = Verdict::Unresolved;
    found.decide();
    let kept = matches!(
        found.answers[0],
        Answer::Comparison {
            kind: Kind::Keep,
            ..
        }
    );
    assert!(kept, "no gain is possible");
}

#[test]
fn cells_with_the_same_label_get_labels_that_tell_them_apart_everywhere() {
    let mut comparison = writing(comparison(&["rows", "same", "each"]));
    for cell in &mut comparison.cells {
        cell.label = "SQLite".to_owned();
    }
    cell(&mut comparison, "rows").workload.rows_per_statement = Some(100);
    cell(&mut comparison, "each").workload.per_transaction = PerTransaction::Operations(1);
    let cells = [("rows", 9_000.0), ("same", 9_500.0), ("each", 20_000.0)];
    let found = analysis(&comparison, &measured(&cells, 10));
    let labels = |cells: &mut dyn Iterator<Item = &Cell>| -> Vec<String> {
        cells.map(|cell| cell.label.clone()).collect()
    };
    let expected = [
        "SQLite",
        "SQLite",
        "SQLite, 100 rows by each statement",
        "SQLite (same)",
        "SQLite, 1 operation",
    ];
    let measured = labels(&mut found.comparisons[0].cells.iter().map(|c| &c.cell));
    assert_eq!(measured[..4], expected[..4]);
    assert!(measured[4].starts_with("SQLite, "), "{measured:?}");
    assert_eq!(measured[1], "SQLite", "the control is a copy of the first");
    let planned = &found.run.plan.comparisons[0].cells;
    assert_eq!(labels(&mut planned.iter()), measured);
}
