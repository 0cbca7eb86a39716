//! What is recommended, from runs whose answer is known: by verdicts and intervals, never by
//! estimates alone.

use crate::support::{
    analysis, cell_mut, comparison, contrast, doing, each, failure, outcome, records, rounds, ten,
};
use stowplan_analysis::{
    Answer, Kind, Open, Promises, Recommendation, Verdict, When, analyse, cell_differences,
};
use stowplan_model::{
    AccessOrder, Cell, Comparison, Delivery, Durability, DurabilityClaim, Measurement, Operation,
    PerTransaction, Record, Scanned,
};

/// A comparison of writes.
fn writing(candidates: &[&str]) -> Comparison {
    doing(Operation::Overwrite, comparison(candidates))
}

fn recommendation(comparison: &Comparison, blocks: &[Measurement]) -> Recommendation {
    outcome(comparison, blocks).recommendation
}

/// What is to be done with which cell.
fn told(found: &Recommendation) -> (Kind, &str) {
    (
        found.kind,
        found.choice.as_ref().map_or("", |choice| &choice.0),
    )
}

/// The same blocks, each of which is flushed in so many microseconds: those of the baseline and its
/// control, and of the others. The lead-in wrote as well, a third of it all.
fn flushed(mut blocks: Vec<Measurement>, base: f64, others: &[(&str, f64)]) -> Vec<Measurement> {
    for block in &mut blocks {
        let key = block.cell.0.trim_start_matches("c/");
        let micros = others.iter().find(|(name, _)| *name == key);
        let micros = micros.map_or(base, |(_, micros)| *micros);
        block.outside.drain_ns = (micros * 1_500.0) as u64;
    }
    blocks
}

/// The cell that is done sooner with the final flush than the one that is chosen.
fn sooner(found: &Recommendation) -> Option<&str> {
    Some(&found.flush.as_ref()?.sooner.as_ref()?.0)
}

#[test]
fn rows_by_one_statement_are_other_work_so_they_are_neither_the_fastest_nor_keep_another_from_it() {
    let mut comparison = writing(&["rows", "quick"]);
    cell_mut(&mut comparison, "rows")
        .workload
        .rows_per_statement = Some(100);
    comparison.contrasts.push(contrast("rows", "quick"));
    let found = outcome(&comparison, &ten(&[("rows", 2_000.0), ("quick", 5_000.0)]));
    assert_eq!(found.fastest.as_ref().unwrap().0, "c/quick");
    let advice = &found.recommendation;
    assert_eq!(told(advice), (Kind::Use, "c/quick"));
    let other = &advice.alternatives[0];
    let told = (other.when, &*other.cell.0, advice.alternatives.len());
    assert_eq!(told, (When::OtherWorkWillDo, "c/rows", 1));
    let words = "100 rows by each statement against one row by each statement";
    assert_eq!(other.work[0].in_words(), words);
}

#[test]
fn whatever_else_is_done_is_other_work() {
    // What beats all, and how many rivals there are.
    let other = |change: fn(&mut Cell)| {
        let mut comparison = writing(&["other"]);
        change(cell_mut(&mut comparison, "other"));
        let found = outcome(&comparison, &ten(&[("other", 5_000.0)]));
        let rivals = found.rivals().count();
        (found.fastest.map(|cell| cell.0), rivals)
    };
    let changes: [fn(&mut Cell); 7] = [
        |cell| cell.workload.delivery = Delivery::InPlace,
        |cell| cell.workload.order = AccessOrder::Ascending,
        |cell| cell.workload.threads = 4,
        |cell| cell.workload.sample_of = Some(1_000_000),
        |cell| cell.workload.age = 2,
        |cell| cell.workload.per_transaction = PerTransaction::Operations(1),
        // All operations of a block share one commit.
        |cell| cell.workload.operations = Some(100_000),
    ];
    for (place, change) in changes.into_iter().enumerate() {
        assert_eq!(other(change).0, None, "{place}");
    }
    let fastest = Some("c/other".to_owned());
    assert_eq!(other(|_| ()), (fastest.clone(), 2));
    let one_row = other(|cell| cell.workload.rows_per_statement = Some(1));
    assert_eq!(one_row.0, fastest);
    // A longer block is no other work unless its operations share a commit.
    let mut each = writing(&["other"]);
    for cell in &mut each.cells {
        cell.workload.per_transaction = PerTransaction::Operations(1);
    }
    for mut comparison in [each, comparison(&["other"])] {
        cell_mut(&mut comparison, "other").workload.operations = Some(100_000);
        let found = outcome(&comparison, &ten(&[("other", 5_000.0)]));
        assert!(found.fastest.is_some());
    }
    // What lies elsewhere or is looked through is no rival.
    assert_eq!(other(|cell| cell.on = "tmpfs".to_owned()).1, 1);
    assert_eq!(other(|cell| cell.scanned = Scanned::Open).1, 1);
    let plain = comparison(&["fast"]).cells.remove(2);
    let mut scanned = plain.clone();
    scanned.scanned = Scanned::Open;
    let differences = cell_differences(&scanned, &plain);
    let words = (&*differences[0].ours, &*differences[0].theirs);
    assert_eq!(words, ("a scanner that is asked", "no scanner"));
    assert_eq!(differences.len(), 1);
}

#[test]
fn a_ratio_with_the_final_flush_is_judged_as_any_other() {
    let blocks = flushed(ten(&[("other", 5_000.0)]), 10_000.0, &[("other", 45_000.0)]);
    let found = outcome(&writing(&["other"]), &blocks);
    let contrast = &found.contrasts[0];
    let total = contrast.total.unwrap();
    let verdicts = (contrast.verdict, total.verdict);
    assert_eq!(verdicts, (Verdict::Faster, Verdict::Slower));
    // (5 + 45) / (10 + 10)
    assert!((total.estimate.ratio - 2.5).abs() < 0.02, "{total:?}");
    assert!(total.estimate.low < 2.5 && 2.5 < total.estimate.high);
    assert_eq!(total.estimate.rounds, 10);
    assert_eq!(contrast.inverse().total.unwrap().verdict, Verdict::Faster);
    let reads = outcome(&comparison(&["other"]), &blocks);
    assert_eq!(reads.contrasts[0].total, None);
}

#[test]
fn it_depends_on_the_flush_only_where_both_orders_are_shown() {
    let mut comparison = writing(&["other"]);
    let with = |comparison: &Comparison, time: f64, base: f64, other: f64| {
        let blocks = ten(&[("other", time)]);
        recommendation(comparison, &flushed(blocks, base, &[("other", other)]))
    };
    let reversed = with(&comparison, 5_000.0, 1_000.0, 20_000.0);
    assert_eq!(told(&reversed), (Kind::Depends, "c/other"));
    assert_eq!(sooner(&reversed), Some("c/base"));
    // 11.15 against 11 ms is no difference that is shown, whatever the estimates say.
    let even = with(&comparison, 5_000.0, 1_000.0, 6_150.0);
    assert_eq!((even.kind, sooner(&even)), (Kind::Use, None));
    let flush = even.flush.unwrap();
    assert_eq!(flush.verdict, Some(Verdict::Equivalent));
    assert!(flush.ratio.unwrap().ratio > 1.0, "by points it is reversed");
    let same = with(&comparison, 5_000.0, 1_000.0, 500.0);
    assert_eq!(same.flush, None, "it says the same");
    // A baseline that beats all is stayed with unless another is shown to be done sooner.
    let stay = with(&comparison, 20_000.0, 0.0, 0.0);
    assert_eq!(told(&stay), (Kind::Stay, "c/base"));
    let over = stay.over.unwrap();
    assert_eq!(over.cell.0, "c/other");
    assert!(over.ratio.high < 1.0, "the choice over what is behind it");
    let depends = with(&comparison, 20_000.0, 50_000.0, 1_000.0);
    assert_eq!(told(&depends), (Kind::Depends, "c/base"));
    assert_eq!(sooner(&depends), Some("c/other"));
    // Where it depends, what promises less is not preferred either.
    cell_mut(&mut comparison, "other").capabilities.durability = NO_PROMISE;
    let weak = with(&comparison, 5_000.0, 1_000.0, 20_000.0);
    assert_eq!(weak.kind, Kind::Depends);
}

#[test]
fn of_two_candidates_it_depends_between_the_one_that_answers_sooner_and_the_one_done_sooner() {
    let mut comparison = writing(&["quick", "done"]);
    comparison.contrasts.push(contrast("quick", "done"));
    for (flush, kind, expected) in [
        // 33 ms against 7 ms and 20 ms.
        (30_000.0, Kind::Depends, Some("c/done")),
        // 12 ms: later than the other candidate, and still sooner than the baseline.
        (9_000.0, Kind::Use, Some("c/done")),
        (1_000.0, Kind::Use, None),
    ] {
        let blocks = ten(&[("quick", 3_000.0), ("done", 5_000.0)]);
        let flushes = [("quick", flush), ("done", 2_000.0)];
        let found = outcome(&comparison, &flushed(blocks, 10_000.0, &flushes));
        assert_eq!(found.fastest.unwrap().0, "c/quick");
        assert_eq!(told(&found.recommendation), (kind, "c/quick"), "{flush}");
        assert_eq!(sooner(&found.recommendation), expected, "{flush}");
    }
}

#[test]
fn where_totals_are_too_noisy_nothing_depends_on_them() {
    let mut blocks = ten(&[("other", 5_000.0)]);
    for block in &mut blocks {
        // The flush of identical cells differs from round to round by more than anything else.
        let wild = 1 << ((u64::from(block.round) * 7 + block.cell.0.len() as u64) % 12);
        let more = if block.cell.0 == "c/other" { 3 } else { 1 };
        block.outside.drain_ns = 1_000_000 * wild * more;
    }
    let found = outcome(&writing(&["other"]), &blocks);
    let total = found.contrasts[0].total.unwrap();
    assert!(total.estimate.ratio > 1.1, "{total:?}");
    assert!(!matches!(total.verdict, Verdict::Slower | Verdict::Faster));
    assert_eq!(found.recommendation.kind, Kind::Use);
}

const NO_PROMISE: DurabilityClaim = DurabilityClaim {
    class: Durability::None,
    atomic: true,
    delayed: false,
};

#[test]
fn of_those_that_are_faster_one_that_keeps_promise_and_work_is_preferred() {
    let preferred = |times: [f64; 2], a: fn(&mut Cell), b: fn(&mut Cell)| {
        let mut comparison = writing(&["a", "b"]);
        a(cell_mut(&mut comparison, "a"));
        b(cell_mut(&mut comparison, "b"));
        recommendation(&comparison, &ten(&[("a", times[0]), ("b", times[1])]))
    };
    let keep: fn(&mut Cell) = |_| ();
    let weak: fn(&mut Cell) = |cell| cell.capabilities.durability = NO_PROMISE;
    let other: fn(&mut Cell) = |cell| cell.workload.order = AccessOrder::Ascending;
    let (both, slow) = ([5_000.0, 4_000.0], [20_000.0, 4_000.0]);
    for (times, a, b, kind, choice, less) in [
        (both, keep, weak, Kind::Prefer, "c/a", false),
        // Of those that do the same work it beats each.
        (both, keep, other, Kind::Use, "c/a", false),
        (both, other, other, Kind::Prefer, "c/b", false),
        // Where only what promises less is faster that is the condition.
        (both, weak, weak, Kind::Prefer, "c/b", true),
        (slow, keep, weak, Kind::Prefer, "c/b", true),
    ] {
        let found = preferred(times, a, b);
        assert_eq!(told(&found), (kind, choice));
        let condition = found.condition().map(|promise| promise.is);
        assert_eq!(condition, less.then_some(Promises::Less));
    }
    // What is faster and weaker stands beside it.
    let weaker = preferred(both, keep, weak).alternatives.remove(0);
    assert_eq!((weaker.when, &*weaker.cell.0), (When::LessIsEnough, "c/b"));
    assert_eq!(weaker.promise, Some(NO_PROMISE));
}

#[test]
fn a_small_gain_that_may_be_one_that_matters_keeps_the_question_open() {
    let comparison = comparison(&["near", "slow"]);
    for (near, verdict, may_change) in [
        (9_500.0, Verdict::SmallDifference, true),
        // As far on the other side of 1, no gain is possible.
        (10_500.0, Verdict::SmallDifference, false),
        (10_010.0, Verdict::Equivalent, false),
    ] {
        let times = each(
            "base again near slow",
            &[10_000.0, 10_000.0, near, 20_000.0],
        );
        let found = recommendation(&comparison, &rounds(&times, 0..40));
        let told = (found.kind, found.unbeaten[0].verdict, found.may_change());
        assert_eq!(told, (Kind::Keep, verdict, may_change));
    }
}

#[test]
fn of_several_that_are_faster_the_one_with_the_smallest_ratio_is_named_and_not_called_the_fastest()
{
    let times = [("near", 5_010.0), ("nearest", 5_000.0)];
    let found = outcome(&comparison(&["near", "nearest"]), &ten(&times));
    assert_eq!(found.fastest, None);
    assert_eq!(told(&found.recommendation), (Kind::Prefer, "c/nearest"));
    let same = recommendation(&comparison(&["same"]), &ten(&[("same", 10_000.0)]));
    assert_eq!(told(&same), (Kind::Equivalent, ""));
}

#[test]
fn why_nothing_can_be_said_is_said() {
    let (simple, alone) = (comparison(&["other"]), comparison(&[]));
    let mut no_control = simple.clone();
    no_control.cells.remove(1);
    let measured = |again: f64, number: u32| {
        let times = [("base", 10_000.0), ("again", again), ("other", 20_000.0)];
        rounds(&times, 0..number)
    };
    let mut wild = ten(&[("other", 10_000.0)]);
    for block in wild.iter_mut().filter(|block| block.cell.0 == "c/other") {
        block.wall_ns = block.wall_ns * (7 + u64::from(block.round) % 7) / 10;
    }
    let too_few = Open::TooFewRounds {
        rounds: 2,
        needed: 10,
    };
    for (comparison, blocks, why) in [
        (&simple, measured(10_000.0, 2), too_few),
        // No quieter machine helps where there is nothing to compare with.
        (&alone, measured(10_000.0, 10), Open::Alone),
        (&alone, measured(11_600.0, 10), Open::Alone),
        (&simple, measured(10_400.0, 10), Open::Unreliable),
        (&no_control, measured(10_000.0, 10), Open::ControlTooShort),
        (&simple, wild.clone(), Open::Undecided),
    ] {
        let found = recommendation(comparison, &blocks);
        assert_eq!(told(&found), (Kind::Open, ""));
        assert_eq!(found.open, Some(why));
    }
    assert!(recommendation(&simple, &wild).unbeaten[0].may_be_faster);
    let mut failed = records(&simple, &measured(10_000.0, 10));
    failed.push(Record::Failure(failure("other", "gone")));
    let failed = analyse(&failed, None).unwrap().comparisons.remove(0);
    assert_eq!(failed.recommendation.open, Some(Open::Failed));
}

#[test]
fn the_answers_of_a_run_are_in_its_analysis_and_follow_from_its_verdicts() {
    let mut found = analysis(&comparison(&["slow"]), &ten(&[("slow", 20_000.0)]));
    let answer = |found: &[Answer]| match found {
        [Answer::Comparison { kind, choice, .. }] => (*kind, choice.clone().map(|cell| cell.0)),
        other => panic!("{other:?}"),
    };
    let stay = (Kind::Stay, Some("c/base".to_owned()));
    assert_eq!(answer(&found.answers), stay);
    found.comparisons[0].fastest = None;
    found.comparisons[0].contrasts[0].verdict = Verdict::Unresolved;
    found.decide();
    assert_eq!(answer(&found.answers).0, Kind::Keep, "no gain is possible");
}

#[test]
fn cells_with_the_same_label_get_labels_that_tell_them_apart_everywhere() {
    let mut comparison = writing(&["rows", "same", "each"]);
    for cell in &mut comparison.cells {
        cell.label = "SQLite".to_owned();
    }
    comparison.cells[2].workload.rows_per_statement = Some(100);
    comparison.cells[4].workload.per_transaction = PerTransaction::Operations(1);
    let times = [("rows", 9_000.0), ("same", 9_500.0), ("each", 20_000.0)];
    let found = analysis(&comparison, &ten(&times));
    let planned = found.run.plan.comparisons[0].cells.iter();
    let planned: Vec<&str> = planned.map(|cell| &*cell.label).collect();
    let measured = found.comparisons[0].cells.iter();
    let measured: Vec<&str> = measured.map(|summary| &*summary.cell.label).collect();
    // The control is a copy of the first.
    let rows = "SQLite, 100 rows by each statement";
    assert_eq!(measured[..4], ["SQLite", "SQLite", rows, "SQLite (same)"]);
    assert!(measured[4].starts_with("SQLite, "), "{measured:?}");
    assert_eq!(planned, measured);
}
