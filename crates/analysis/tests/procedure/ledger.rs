//! Claims whose truth is known: figures within bounds, on them and outside, in one comparison and in two.

use crate::support::{Random, block, comparison, footprint, histogram, named, planned};
use proptest::prelude::*;
use stowplan_analysis::{Analysis, ClaimOutcome, ClaimVerdict, Interval, ledger, untested};
use stowplan_model::{
    BlockKind, CellId, ClaimMeasure, ClaimSpec, Comparison, Footprint, Measurement, Plan, Record,
    Statistic, SyncCalls, TestSpec,
};

/// The comparison `c` with these cells beside `base`, and `d`, which is the same by other rounds.
fn two(candidates: &[&str]) -> [Comparison; 2] {
    let first = comparison(candidates);
    let second = named("d", first.clone());
    [first, second]
}

fn cells(names: &[&str]) -> Vec<CellId> {
    names
        .iter()
        .map(|name| CellId((*name).to_owned()))
        .collect()
}

fn test(of: &[&str], to: &[&str], bounds: [Option<f64>; 2]) -> TestSpec {
    TestSpec {
        of: cells(of),
        to: cells(to),
        at_least: bounds[0],
        at_most: bounds[1],
        ..TestSpec::default()
    }
}

fn claim(tests: Vec<TestSpec>) -> ClaimSpec {
    ClaimSpec {
        id: "claim".to_owned(),
        quote: "it is so".to_owned(),
        test: tests,
        ..ClaimSpec::default()
    }
}

/// Twelve rounds of both comparisons: what a cell takes in each, in microseconds, with up to 1% of noise
/// that nothing shares.
fn blocks(comparisons: &[Comparison], times: &dyn Fn(&str) -> f64) -> Vec<Measurement> {
    let of = |comparison: &Comparison| {
        let cells = comparison.cells.clone();
        (0..12).flat_map(move |round| cells.clone().into_iter().map(move |cell| (cell, round)))
    };
    let all = comparisons.iter().flat_map(of);
    all.map(|(cell, round)| {
        let name: u64 = cell.id.0.bytes().map(u64::from).sum();
        let noise = 1.0 + (Random(name << 32 | u64::from(round)).uniform() - 0.5) / 50.0;
        let key = cell.id.0.trim_end_matches("again").to_owned();
        let key = if key.ends_with('/') {
            format!("{key}base")
        } else {
            key
        };
        Measurement {
            cell: cell.id.clone(),
            ..block("base", round, (times(&key) * 1e3 * noise) as u64)
        }
    })
    .collect()
}

fn run(comparisons: &[Comparison], claims: &[ClaimSpec], blocks: Vec<Measurement>) -> Analysis {
    run_with(comparisons, claims, blocks, &[])
}

/// The same where some sizes are known, too.
fn run_with(
    comparisons: &[Comparison],
    claims: &[ClaimSpec],
    blocks: Vec<Measurement>,
    sizes: &[Record],
) -> Analysis {
    let change = |plan: &mut Plan| {
        plan.comparisons = comparisons.to_vec();
        plan.study.claims = claims.to_vec();
    };
    let blocks = blocks.into_iter().map(Record::Measurement);
    planned(&comparisons[0], change, blocks.chain(sizes.to_vec()))
}

/// What becomes of a claim where `c/slow` takes 20 µs, `c/base` 10, and of `d` half as much.
fn decided(spec: ClaimSpec) -> ClaimOutcome {
    let comparisons = two(&["slow"]);
    let times = |cell: &str| match cell {
        "c/slow" => 20_000.0,
        "c/base" | "d/slow" => 10_000.0,
        _ => 5_000.0,
    };
    let blocks = blocks(&comparisons, &times);
    run(&comparisons, &[spec], blocks).claims.remove(0)
}

#[test]
fn a_ratio_holds_inside_its_bounds_fails_outside_and_is_undecided_on_them() {
    for (bounds, verdict) in [
        ([Some(1.5), None], ClaimVerdict::Holds),
        ([Some(1.5), Some(2.5)], ClaimVerdict::Holds),
        ([Some(2.0), None], ClaimVerdict::Undecided),
        ([None, Some(2.0)], ClaimVerdict::Undecided),
        ([Some(2.5), None], ClaimVerdict::Fails),
        ([None, Some(1.5)], ClaimVerdict::Fails),
        ([Some(2.5), Some(3.0)], ClaimVerdict::Fails),
    ] {
        for (of, to, across) in [("c/slow", "c/base", false), ("c/slow", "d/slow", true)] {
            let found = decided(claim(vec![test(&[of], &[to], bounds)]));
            assert_eq!(found.verdict, verdict, "{of} over {to} {bounds:?}");
            let figure = &found.figures[0];
            let estimate = figure.estimate.unwrap();
            assert!((estimate.estimate - 2.0).abs() < 0.02, "{estimate:?}");
            assert!(estimate.low < 2.0 && estimate.high > 2.0, "{estimate:?}");
            // A ratio of one comparison rests on the look at which it was decided.
            let rounds = if across { 12 } else { 10 };
            assert_eq!((figure.across, figure.rounds), (across, rounds));
            assert_eq!(figure.of[0].label, "the slow");
        }
    }
}

#[test]
fn a_figure_of_one_comparison_is_the_ratio_that_its_table_shows() {
    let comparisons = two(&["slow"]);
    let blocks = blocks(&comparisons, &|cell| {
        if cell.ends_with("slow") { 3.0 } else { 2.0 }
    });
    let spec = claim(vec![test(&["c/slow"], &["c/base"], [Some(1.0), None])]);
    let found = run(&comparisons, &[spec], blocks);
    let shown = found.comparisons[0].contrasts[0].estimate.unwrap();
    let figure = found.claims[0].figures[0].estimate.unwrap();
    assert_eq!(
        (figure.estimate, figure.low, figure.high),
        (shown.ratio, shown.low, shown.high)
    );
}

#[test]
fn cells_are_added_up_round_by_round_or_by_their_intervals() {
    // 20 over 10 + 10, and 20 over 10 + 5 of two comparisons.
    let of = |to: &[&str], bounds| decided(claim(vec![test(&["c/slow"], to, bounds)]));
    let same = of(&["c/base", "c/base"], [Some(0.9), Some(1.1)]);
    assert_eq!(same.verdict, ClaimVerdict::Holds, "{same:#?}");
    let across = of(&["c/base", "d/base"], [Some(1.25), Some(1.42)]);
    assert_eq!(across.verdict, ClaimVerdict::Holds, "{across:#?}");
    assert_eq!(
        of(&["c/base", "d/base"], [Some(0.9), Some(1.1)]).verdict,
        ClaimVerdict::Fails
    );
}

#[test]
fn a_sum_over_two_comparisons_is_known_no_better_than_its_parts() {
    let one = decided(claim(vec![test(
        &["c/slow"],
        &["c/base"],
        [Some(1.0), None],
    )]));
    let two = decided(claim(vec![test(
        &["c/slow"],
        &["d/slow"],
        [Some(1.0), None],
    )]));
    let width = |claim: &ClaimOutcome| {
        let estimate = claim.figures[0].estimate.unwrap();
        (estimate.high / estimate.low).ln()
    };
    assert!(width(&two) > width(&one), "{one:#?} {two:#?}");
}

#[test]
fn an_order_holds_if_each_cell_is_slower_than_the_one_before() {
    let order = |names: &[&str]| {
        decided(ClaimSpec {
            order: cells(names),
            ..claim(Vec::new())
        })
    };
    assert_eq!(
        order(&["d/base", "c/base", "c/slow"]).verdict,
        ClaimVerdict::Holds
    );
    assert_eq!(
        order(&["d/base", "c/slow", "c/base"]).verdict,
        ClaimVerdict::Fails
    );
    assert_eq!(
        order(&["d/base", "d/slow", "c/base"]).verdict,
        ClaimVerdict::Undecided
    );
}

#[test]
fn one_figure_that_fails_decides_and_one_that_is_missing_leaves_open() {
    let holds = || test(&["c/slow"], &["c/base"], [Some(1.5), None]);
    let fails = || test(&["c/slow"], &["c/base"], [Some(3.0), None]);
    let gone = || test(&["e/slow"], &["c/base"], [Some(1.5), None]);
    for (tests, verdict) in [
        (vec![holds(), fails(), gone()], ClaimVerdict::Fails),
        (vec![holds(), gone()], ClaimVerdict::Undecided),
        (vec![holds(), holds()], ClaimVerdict::Holds),
        (vec![gone()], ClaimVerdict::NoData),
    ] {
        let is_missing = tests.iter().any(|test| test.of[0].0 == "e/slow");
        let found = decided(claim(tests));
        assert_eq!(found.verdict, verdict, "{found:#?}");
        assert_eq!(found.missing.len(), usize::from(is_missing));
        for missing in found.missing {
            assert_eq!(missing.cell, "e/slow");
            assert_eq!(missing.why, "it was left out of this run");
        }
    }
}

#[test]
fn nothing_is_claimed_of_a_session_that_failed_its_control_but_bytes_are() {
    let comparisons = two(&["slow"]);
    let mut measured = blocks(&comparisons, &|_| 10.0);
    for block in &mut measured {
        if block.cell.0 == "c/again" {
            block.wall_ns *= 2;
            block.thread_cpu_ns *= 2;
            block.process_cpu_ns *= 2;
        }
    }
    let space = [("base", 1_000), ("slow", 1_200), ("slow", 1_210)];
    let space = space.map(|(key, bytes)| footprint(&format!("store-of-{key}"), bytes, false));
    let weighed = |bounds| TestSpec {
        measure: ClaimMeasure::Footprint,
        ..test(&["c/slow"], &["c/base"], bounds)
    };
    let claims = [
        claim(vec![test(&["c/slow"], &["c/base"], [Some(0.5), None])]),
        claim(vec![test(&["d/slow"], &["c/base"], [Some(0.5), None])]),
        claim(vec![weighed([Some(1.15), Some(1.25)])]),
        claim(vec![weighed([Some(1.205), None])]),
        claim(vec![weighed([None, Some(1.1)])]),
    ];
    let found = run_with(&comparisons, &claims, measured, &space);
    let verdicts: Vec<ClaimVerdict> = found.claims.iter().map(|claim| claim.verdict).collect();
    assert_eq!(
        verdicts,
        [
            ClaimVerdict::Unreliable,
            ClaimVerdict::Unreliable,
            ClaimVerdict::Holds,
            ClaimVerdict::Undecided,
            ClaimVerdict::Fails
        ]
    );
    let bytes = found.claims[2].figures[0].estimate.unwrap();
    assert_eq!((bytes.low, bytes.high), (1.2, 1.21));
}

#[test]
fn shares_rates_and_syncs_are_figures_by_themselves() {
    let comparisons = two(&["slow"]);
    let mut measured = blocks(&comparisons, &|_| 10_000.0);
    for block in &mut measured {
        block.page_fill = Some(0.5 + f64::from(block.round) / 1_000.0);
        block.index_fill = Some(0.7);
        block.syncs = Some(SyncCalls {
            fsync: 4,
            ..SyncCalls::default()
        });
        block.commits = 2;
        block.process_cpu_ns = block.wall_ns / 4;
    }
    let alone = |measure, bounds| {
        let spec = TestSpec {
            measure,
            ..test(&["c/slow"], &[], bounds)
        };
        claim(vec![spec])
    };
    // 10 ms for 1,000 operations.
    let claims = [
        alone(ClaimMeasure::PageFill, [Some(0.4), Some(0.6)]),
        alone(ClaimMeasure::PageFill, [Some(0.505), None]),
        alone(ClaimMeasure::IndexFill, [Some(0.6), Some(0.8)]),
        alone(ClaimMeasure::Throughput, [Some(90_000.0), Some(110_000.0)]),
        alone(ClaimMeasure::Throughput, [Some(200_000.0), None]),
        alone(ClaimMeasure::SyncsPerCommit, [Some(2.0), Some(2.0)]),
        alone(ClaimMeasure::SyncsPerCommit, [None, Some(0.0)]),
        alone(ClaimMeasure::CpuShare, [None, Some(0.3)]),
    ];
    let found = run(&comparisons, &claims, measured);
    let verdicts: Vec<ClaimVerdict> = found.claims.iter().map(|claim| claim.verdict).collect();
    use ClaimVerdict::{Fails, Holds, Undecided};
    assert_eq!(
        verdicts,
        [Holds, Undecided, Holds, Holds, Fails, Holds, Fails, Holds],
        "{:#?}",
        found.claims
    );
}

#[test]
fn what_no_block_did_is_nothing_and_no_lack_of_data() {
    let comparisons = two(&["slow"]);
    let mut measured = blocks(&comparisons, &|_| 10_000.0);
    for block in &mut measured {
        let fsync = u64::from(block.cell.0 != "c/slow") * 4;
        block.syncs = Some(SyncCalls {
            fsync,
            ..SyncCalls::default()
        });
        block.commits = 2;
    }
    let fewer = |to: &str| {
        claim(vec![TestSpec {
            measure: ClaimMeasure::SyncsPerCommit,
            ..test(&["c/slow"], &[to], [None, Some(0.5)])
        }])
    };
    let claims = [fewer("c/base"), fewer("d/slow")];
    for found in run(&comparisons, &claims, measured).claims {
        let figure = &found.figures[0];
        let ends = figure.estimate.map(|e| (e.low, e.estimate, e.high));
        assert_eq!(ends, Some((0.0, 0.0, 0.0)), "{found:#?}");
        assert_eq!(found.verdict, ClaimVerdict::Holds);
    }
}

#[test]
fn space_is_that_of_the_blocks_whose_times_are_compared() {
    let comparisons = two(&["slow"]);
    let mut measured = blocks(&comparisons, &|_| 10_000.0);
    let filled = |block: &mut Measurement, allocated_bytes| {
        block.footprint = Some(Footprint {
            apparent_bytes: allocated_bytes,
            allocated_bytes,
            files: 1,
            directories: 1,
        });
    };
    for block in &mut measured {
        filled(block, 1_000_000);
    }
    // Blocks for latencies, and those whose calls are counted, write less.
    for kind in [BlockKind::Latency, BlockKind::Counting] {
        let mut shorter = measured[..8].to_vec();
        for block in &mut shorter {
            block.block = kind;
            filled(block, 200_000);
        }
        measured.extend(shorter);
    }
    let spec = TestSpec {
        measure: ClaimMeasure::Footprint,
        ..test(&["c/slow"], &["c/base"], [Some(0.99), Some(1.01)])
    };
    let found = run(&comparisons, &[claim(vec![spec])], measured)
        .claims
        .remove(0);
    let figure = &found.figures[0];
    assert_eq!((found.verdict, figure.rounds), (ClaimVerdict::Holds, 12));
}

#[test]
fn figures_of_a_comparison_about_a_percentile_are_all_of_that() {
    let mut comparisons = two(&["slow"]);
    for comparison in &mut comparisons {
        comparison.measure = Statistic::P99;
    }
    let mut measured = blocks(&comparisons, &|_| 10_000.0);
    for block in &mut measured {
        // The same time in all, and other slow operations.
        let slow = if block.cell.0.ends_with("slow") {
            60_000
        } else {
            20_000
        };
        let all = (0..950).map(|_| 9_000).chain((0..50).map(|_| slow));
        block.latency = Some(histogram(all));
    }
    let bounds = [Some(2.9), Some(3.1)];
    let claims = [
        claim(vec![test(&["c/slow"], &["c/base"], bounds)]),
        claim(vec![test(
            &["c/slow", "c/slow"],
            &["c/base", "c/base"],
            bounds,
        )]),
        claim(vec![test(&["c/slow"], &["d/base"], bounds)]),
    ];
    for found in run(&comparisons, &claims, measured).claims {
        let estimate = found.figures[0].estimate.unwrap();
        assert!((estimate.estimate - 3.0).abs() < 0.02, "{found:#?}");
    }
}

#[test]
fn corrected_time_is_widened_by_its_own_noise() {
    // Blocks that sync: both clocks count. The control is 8% off by wall time and not at all by corrected time.
    let comparisons = two(&["slow"]);
    let mut measured = blocks(&comparisons, &|cell| {
        if cell == "c/slow" { 20_000.0 } else { 10_000.0 }
    });
    for block in &mut measured {
        block.syncs = Some(SyncCalls {
            fsync: 1,
            ..SyncCalls::default()
        });
        if block.cell.0.ends_with("again") && block.round % 2 == 0 {
            let more = block.wall_ns / 6;
            block.wall_ns += more;
            block.run_delay_ns = Some(more);
        }
    }
    // Twice the cell, so that it is no plain ratio.
    let sum = test(&["c/slow", "c/slow"], &["c/base"], [Some(3.0), None]);
    let found = run(&comparisons, &[claim(vec![sum])], measured);
    let figure = &found.claims[0].figures[0];
    let width = |interval: Interval| (interval.high / interval.low).ln();
    let (wall, corrected) = (figure.estimate.unwrap(), figure.beside.unwrap());
    assert!(
        found.comparisons[0].noise_floor > 0.05,
        "{:?}",
        found.comparisons[0].noise_floor
    );
    assert!(width(corrected) < 0.06 && width(wall) > 0.1, "{figure:#?}");
}

#[test]
fn to_one_of_two_cells_is_enough_where_either_will_do() {
    for ([other, one, two], keys, verdict) in [
        ([20.0, 10.0, 30.0], 3, ClaimVerdict::Holds),
        ([20.0, 30.0, 10.0], 3, ClaimVerdict::Holds),
        // It is faster than both.
        ([10.0, 20.0, 30.0], 3, ClaimVerdict::Fails),
        // It is faster than one of them, and no slower than the other.
        ([10.0, 10.0, 30.0], 3, ClaimVerdict::Undecided),
        // One is missing, and may be faster.
        ([10.0, 20.0, 0.0], 2, ClaimVerdict::Undecided),
        ([20.0, 10.0, 0.0], 2, ClaimVerdict::Holds),
    ] {
        let comparisons = [comparison(&["other", "one", "two"][..keys])];
        let times = |cell: &str| match cell {
            "c/other" => other,
            "c/one" => one,
            "c/two" => two,
            _ => 50.0,
        };
        let spec = TestSpec {
            or_to: cells(&["c/two"]),
            ..test(&["c/other"], &["c/one"], [Some(1.0), None])
        };
        let blocks = blocks(&comparisons, &times);
        let found = run(&comparisons, &[claim(vec![spec])], blocks);
        let found = &found.claims[0];
        assert_eq!(found.verdict, verdict, "{other} {one} {two} {found:#?}");
        let [shown] = &found.figures[..] else {
            unreachable!("{found:#?}")
        };
        assert!(shown.estimate.is_some(), "{shown:#?}");
        let [to, or_to] = [&shown.to, &shown.or_to].map(|cells| times(&cells[0].cell.0));
        assert!(keys == 2 || to <= or_to, "the nearer is shown: {shown:#?}");
    }
}

#[test]
fn the_ledger_has_a_column_for_each_machine_and_each_claim_once() {
    let of = |study: &str, host: &str| {
        let comparisons = two(&["slow"]);
        let blocks = blocks(&comparisons, &|_| 10.0);
        let spec = claim(vec![test(&["c/slow"], &["c/base"], [None, Some(2.0)])]);
        let mut found = run(&comparisons, &[spec], blocks);
        found.run.plan.study.name = study.to_owned();
        found.run.environment.host = host.to_owned();
        found
    };
    let results = [of("s", "a"), of("t", "a"), of("s", "b"), of("s", "a")];
    let mut unmeasured = results[0].run.plan.study.clone();
    unmeasured.name = "u".to_owned();
    let found = ledger(&results.iter().collect::<Vec<_>>(), &[unmeasured]);
    assert_eq!(found.machines, ["a", "b", "a (2)"]);
    let rows: Vec<(&str, Vec<bool>)> = found
        .claims
        .iter()
        .map(|claim| {
            (
                claim.study.as_str(),
                claim.on.iter().map(Option::is_some).collect(),
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("u", vec![false, false, false]),
            ("s", vec![true, true, true]),
            ("t", vec![true, false, false])
        ]
    );
    assert_eq!(found.claims[1].verdicts(), [ClaimVerdict::Holds; 3]);
}

#[test]
fn two_machines_of_one_name_have_two_columns_with_other_names() {
    let of = |study: &str, cpu: &str, file_system: &str| {
        let comparisons = two(&["slow"]);
        let mut found = run(&comparisons, &[], Vec::new());
        found.run.plan.study.name = study.to_owned();
        found.run.environment.host = "a".to_owned();
        found.run.environment.cpu = Some(cpu.to_owned());
        found.run.environment.file_system.kind = file_system.to_owned();
        found
    };
    let results = [
        of("s", "x", "ext4"),
        of("s", "y", "xfs"),
        of("t", "x", "ext4"),
        of("s", "y", "xfs"),
    ];
    let found = ledger(&results.iter().collect::<Vec<_>>(), &[]);
    assert_eq!(found.machines, ["a (ext4)", "a (xfs)", "a (xfs) (2)"]);
}

#[test]
fn what_would_decide_a_claim_is_known_before_anything_is_measured() {
    let comparisons = two(&["slow"]);
    let spec = claim(vec![test(&["c/slow"], &["c/gone"], [Some(2.0), None])]);
    let study = run(&comparisons, &[spec], Vec::new()).run.plan.study;
    let found = untested(&study).remove(0);
    assert_eq!(found.verdict, ClaimVerdict::NoData);
    let figure = &found.figures[0];
    assert_eq!((figure.at_least, figure.estimate), (Some(2.0), None));
    assert_eq!(figure.to[0].label, "cannot do it");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever the ratio and its bound, a verdict is never against the interval that it shows, and what
    /// holds with a bound does not fail with the same bound from the other side.
    #[test]
    fn verdict_and_interval_agree(ratio in 0.2..5.0f64, bound in 0.2..5.0f64, across in any::<bool>()) {
        let comparisons = two(&["slow"]);
        let times = |cell: &str| if cell == "c/slow" { 10_000.0 * ratio } else { 10_000.0 };
        let blocks = blocks(&comparisons, &times);
        let to = if across { "d/base" } else { "c/base" };
        let claims = [[Some(bound), None], [None, Some(bound)]];
        let claims = claims.map(|bounds| claim(vec![test(&["c/slow"], &[to], bounds)]));
        let found = run(&comparisons, &claims, blocks).claims;
        let interval = found[0].figures[0].estimate.unwrap();
        let expected = |inside: bool, outside: bool| match (inside, outside) {
            (true, _) => ClaimVerdict::Holds,
            (_, true) => ClaimVerdict::Fails,
            _ => ClaimVerdict::Undecided,
        };
        prop_assert_eq!(found[0].verdict, expected(interval.low >= bound, interval.high < bound));
        prop_assert_eq!(found[1].verdict, expected(interval.high <= bound, interval.low > bound));
        prop_assert!(interval.low <= ratio * 1.02 && interval.high >= ratio * 0.98);
    }
}
