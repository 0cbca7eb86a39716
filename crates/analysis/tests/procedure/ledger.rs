//! Claims whose truth is known: figures within bounds, on them and outside, in one comparison and in two.

use crate::runs::{changed, recorded};
use crate::support::{Random, block, comparison, footprint, histogram, named, planned, syncs};
use proptest::prelude::*;
use std::collections::BTreeMap;
use stowplan_analysis::{Analysis, ClaimOutcome, ClaimVerdict, Interval, ledger, untested};
use stowplan_model::{
    BlockKind, CellId, ClaimMeasure, ClaimSpec, Comparison, Footprint as Space, Measurement, Plan,
    Record, Statistic, TestSpec,
};

/// The comparison `c` of `slow` with `base`, and `d`, which is the same by other rounds.
fn two() -> [Comparison; 2] {
    let first = comparison(&["slow"]);
    let second = named("d", first.clone());
    [first, second]
}

/// Cells by their names, a blank between two.
fn cells(names: &str) -> Vec<CellId> {
    let names = names.split_whitespace();
    names.map(|name| CellId(name.to_owned())).collect()
}

fn test(of: &str, to: &str, bounds: [Option<f64>; 2]) -> TestSpec {
    TestSpec {
        of: cells(of),
        to: cells(to),
        at_least: bounds[0],
        at_most: bounds[1],
        ..TestSpec::default()
    }
}

fn measuring(measure: ClaimMeasure, test: TestSpec) -> ClaimSpec {
    claim(vec![TestSpec { measure, ..test }])
}

fn claim(test: Vec<TestSpec>) -> ClaimSpec {
    ClaimSpec {
        id: "claim".to_owned(),
        quote: "it is so".to_owned(),
        test,
        ..ClaimSpec::default()
    }
}

fn ratio(of: &str, to: &str, bounds: [Option<f64>; 2]) -> ClaimSpec {
    claim(vec![test(of, to, bounds)])
}

/// Twelve rounds of both comparisons: what a cell takes in each, in microseconds, with up to 1% of noise
/// that nothing shares.
fn blocks(comparisons: &[Comparison], times: impl Fn(&str) -> f64) -> Vec<Measurement> {
    let cells = comparisons.iter().flat_map(|comparison| &comparison.cells);
    let all = cells.flat_map(|cell| (0..12).map(move |round| (cell.id.clone(), round)));
    let blocks = all.map(|(cell, round)| {
        let name: u64 = cell.0.bytes().map(u64::from).sum();
        let noise = 1.0 + (Random(name << 32 | u64::from(round)).uniform() - 0.5) / 50.0;
        let block = block("base", round, (times(&cell.0) * 1e3 * noise) as u64);
        Measurement { cell, ..block }
    });
    blocks.collect()
}

/// The findings where blocks, and besides them some sizes, are known.
fn run(
    comparisons: &[Comparison],
    claims: &[ClaimSpec],
    blocks: Vec<Measurement>,
    sizes: &[Record],
) -> Analysis {
    let change = |plan: &mut Plan| {
        plan.comparisons = comparisons.to_vec();
        plan.study.claims = claims.to_vec();
    };
    let records = recorded(blocks).chain(sizes.to_vec());
    planned(&comparisons[0], change, records)
}

/// What becomes of a claim where `c/slow` takes 20 µs, `c/base` 10, and of `d` half as much.
fn decided(spec: ClaimSpec) -> ClaimOutcome {
    let blocks = blocks(&two(), |cell| match cell {
        "c/slow" => 20_000.0,
        "c/base" | "c/again" | "d/slow" => 10_000.0,
        _ => 5_000.0,
    });
    run(&two(), &[spec], blocks, &[]).claims.remove(0)
}

fn width(interval: Interval) -> f64 {
    (interval.high / interval.low).ln()
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
        // A ratio of one comparison rests on the look at which it was decided.
        let widths = [("c/base", false, 10), ("d/slow", true, 12)].map(|(to, across, rounds)| {
            let found = decided(ratio("c/slow", to, bounds));
            assert_eq!(found.verdict, verdict, "{to} {bounds:?}");
            let figure = &found.figures[0];
            let estimate = figure.estimate.unwrap();
            assert!((estimate.estimate - 2.0).abs() < 0.02, "{estimate:?}");
            assert!(estimate.low < 2.0 && estimate.high > 2.0, "{estimate:?}");
            assert_eq!((figure.across, figure.rounds), (across, rounds));
            assert_eq!(figure.of[0].label, "the slow");
            width(estimate)
        });
        assert!(widths[0] < widths[1], "what nothing shares is known worse");
    }
}

#[test]
fn a_figure_of_one_comparison_is_the_ratio_that_its_table_shows() {
    let blocks = blocks(&two(), |cell| [2.0, 3.0][usize::from(cell == "c/slow")]);
    let spec = ratio("c/slow", "c/base", [Some(1.0), None]);
    let found = run(&two(), &[spec], blocks, &[]);
    let shown = found.comparisons[0].contrasts[0].estimate.unwrap();
    let figure = found.claims[0].figures[0].estimate.unwrap();
    let figure = (figure.estimate, figure.low, figure.high);
    assert_eq!(figure, (shown.ratio, shown.low, shown.high));
}

#[test]
fn cells_are_added_up_or_each_is_slower_than_the_one_before() {
    use ClaimVerdict::{Fails, Holds, Undecided};
    let order = |order: &str| ClaimSpec {
        order: cells(order),
        ..claim(Vec::new())
    };
    let sum = |to: &str, [least, most]: [f64; 2]| ratio("c/slow", to, [Some(least), Some(most)]);
    for (claim, verdict) in [
        // 20 over 10 + 10, round by round; and 20 over 10 + 5 of two comparisons, by their intervals.
        (sum("c/base c/base", [0.9, 1.1]), Holds),
        (sum("c/base d/base", [1.25, 1.42]), Holds),
        (sum("c/base d/base", [0.9, 1.1]), Fails),
        (order("d/base c/base c/slow"), Holds),
        (order("d/base c/slow c/base"), Fails),
        (order("d/base d/slow c/base"), Undecided),
    ] {
        let found = decided(claim);
        assert_eq!(found.verdict, verdict, "{found:#?}");
    }
}

#[test]
fn one_figure_that_fails_decides_and_one_that_is_missing_leaves_open() {
    let holds = || test("c/slow", "c/base", [Some(1.5), None]);
    let fails = || test("c/slow", "c/base", [Some(3.0), None]);
    let gone = || test("e/slow", "c/base", [Some(1.5), None]);
    for (tests, missing, verdict) in [
        (vec![holds(), fails(), gone()], 1, ClaimVerdict::Fails),
        (vec![holds(), gone()], 1, ClaimVerdict::Undecided),
        (vec![holds(), holds()], 0, ClaimVerdict::Holds),
        (vec![gone()], 1, ClaimVerdict::NoData),
    ] {
        let found = decided(claim(tests));
        assert_eq!(found.verdict, verdict, "{found:#?}");
        assert_eq!(found.missing.len(), missing);
        for missing in found.missing {
            let why = "it was left out of this run";
            assert_eq!((&*missing.cell, &*missing.why), ("e/slow", why));
        }
    }
}

#[test]
fn nothing_is_claimed_of_a_session_that_failed_its_control_but_bytes_are() {
    use ClaimMeasure::{Footprint, Time};
    use ClaimVerdict::{Fails, Holds, Undecided, Unreliable};
    let times = |cell: &str| [10.0, 20.0][usize::from(cell == "c/again")];
    let space = [("base", 1_000), ("slow", 1_200), ("slow", 1_210)];
    let space = space.map(|(key, bytes)| footprint(&format!("store-of-{key}"), bytes, false));
    for (measure, of, bounds, verdict) in [
        (Time, "c/slow", [Some(0.5), None], Unreliable),
        (Time, "d/slow", [Some(0.5), None], Unreliable),
        (Footprint, "c/slow", [Some(1.15), Some(1.25)], Holds),
        (Footprint, "c/slow", [Some(1.205), None], Undecided),
        (Footprint, "c/slow", [None, Some(1.1)], Fails),
    ] {
        let claim = measuring(measure, test(of, "c/base", bounds));
        let found = run(&two(), &[claim], blocks(&two(), times), &space);
        assert_eq!(found.claims[0].verdict, verdict, "{measure:?} {bounds:?}");
        let figure = found.claims[0].figures[0].estimate;
        let bytes = figure.is_some_and(|bytes| (bytes.low, bytes.high) == (1.2, 1.21));
        assert_eq!(bytes, measure == Footprint, "{figure:?}");
    }
}

/// Space, too, is that of blocks whose times are compared.
#[test]
fn shares_rates_and_syncs_are_figures_by_themselves_and_what_no_block_did_is_nothing() {
    use ClaimMeasure::{CpuShare, Footprint, IndexFill, PageFill, SyncsPerCommit, Throughput};
    use ClaimVerdict::{Fails, Holds, Undecided};
    // 10 ms for 1,000 operations.
    let mut measured = changed(blocks(&two(), |_| 10_000.0), |block| {
        block.page_fill = Some(0.5 + f64::from(block.round) / 1_000.0);
        block.index_fill = Some(0.7);
        block.syncs = syncs(4 * u64::from(block.cell.0 != "c/slow"));
        block.commits = 2;
        block.process_cpu_ns = block.wall_ns / 4;
        block.footprint = Some(Space {
            allocated_bytes: 1_000_000,
            ..Space::default()
        });
    });
    // Blocks for latencies, and those whose calls are counted, write less.
    for kind in [BlockKind::Latency, BlockKind::Counting] {
        measured.extend(changed(measured[..8].to_vec(), |block| {
            block.block = kind;
            block.footprint = Some(Space::default());
        }));
    }
    for (measure, of, to, bounds, verdict) in [
        (PageFill, "d/slow", "", [Some(0.4), Some(0.6)], Holds),
        (PageFill, "d/slow", "", [Some(0.505), None], Undecided),
        (IndexFill, "d/slow", "", [Some(0.6), Some(0.8)], Holds),
        (Throughput, "d/slow", "", [Some(9e4), Some(1.1e5)], Holds),
        (Throughput, "d/slow", "", [Some(2e5), None], Fails),
        (SyncsPerCommit, "d/slow", "", [Some(2.0), Some(2.0)], Holds),
        (SyncsPerCommit, "d/slow", "", [None, Some(0.0)], Fails),
        (CpuShare, "d/slow", "", [None, Some(0.3)], Holds),
        (SyncsPerCommit, "c/slow", "c/base", [None, Some(0.0)], Holds),
        (SyncsPerCommit, "c/slow", "d/slow", [None, Some(0.0)], Holds),
        (Footprint, "c/slow", "c/base", [Some(1.0), Some(1.0)], Holds),
    ] {
        let claim = measuring(measure, test(of, to, bounds));
        let found = run(&two(), &[claim], measured.clone(), &[]);
        let found = &found.claims[0];
        assert_eq!(found.verdict, verdict, "{found:#?}");
        assert_eq!(found.figures[0].rounds, 12, "{found:#?}");
    }
}

#[test]
fn figures_of_a_comparison_about_a_percentile_are_all_of_that() {
    let comparisons = two().map(|comparison| Comparison {
        measure: Statistic::P99,
        ..comparison
    });
    let measured = changed(blocks(&comparisons, |_| 10_000.0), |block| {
        // The same time in all, and other slow operations.
        let slow = [20_000, 60_000][usize::from(block.cell.0.ends_with("slow"))];
        let all = (0..950).map(|_| 9_000).chain((0..50).map(|_| slow));
        block.latency = Some(histogram(all));
    });
    let cells = [
        ("c/slow", "c/base"),
        ("c/slow c/slow", "c/base c/base"),
        ("c/slow", "d/base"),
    ];
    let claims = cells.map(|(of, to)| ratio(of, to, [Some(2.9), Some(3.1)]));
    for found in run(&comparisons, &claims, measured, &[]).claims {
        let estimate = found.figures[0].estimate.unwrap();
        assert!((estimate.estimate - 3.0).abs() < 0.02, "{found:#?}");
    }
}

#[test]
fn corrected_time_is_widened_by_its_own_noise() {
    // Blocks that sync: both clocks count. The control is 8% off by wall time and not at all by corrected time.
    let times = |cell: &str| [10_000.0, 20_000.0][usize::from(cell == "c/slow")];
    let measured = changed(blocks(&two(), times), |block| {
        block.syncs = syncs(1);
        if block.cell.0.ends_with("again") && block.round % 2 == 0 {
            let more = block.wall_ns / 6;
            block.wall_ns += more;
            block.run_delay_ns = Some(more);
        }
    });
    // Twice the cell, so that it is no plain ratio.
    let sum = ratio("c/slow c/slow", "c/base", [Some(3.0), None]);
    let found = run(&two(), &[sum], measured, &[]);
    let figure = &found.claims[0].figures[0];
    let (wall, corrected) = (figure.estimate.unwrap(), figure.beside.unwrap());
    assert!(found.comparisons[0].noise_floor > 0.05);
    assert!(width(corrected) < 0.06 && width(wall) > 0.1, "{figure:#?}");
}

#[test]
fn to_one_of_two_cells_is_enough_where_either_will_do() {
    for ([other, one, two], verdict) in [
        ([20.0, 10.0, 30.0], ClaimVerdict::Holds),
        ([20.0, 30.0, 10.0], ClaimVerdict::Holds),
        // It is faster than both.
        ([10.0, 20.0, 30.0], ClaimVerdict::Fails),
        // It is faster than one of them, and no slower than the other.
        ([10.0, 10.0, 30.0], ClaimVerdict::Undecided),
        // One is missing, and may be faster.
        ([10.0, 20.0, f64::NAN], ClaimVerdict::Undecided),
        ([20.0, 10.0, f64::NAN], ClaimVerdict::Holds),
    ] {
        let missing = usize::from(two.is_nan());
        let comparisons = [comparison(&["other", "one", "two"][..3 - missing])];
        let known = [("c/other", other), ("c/one", one), ("c/two", two)];
        let known = BTreeMap::from(known);
        let times = |cell: &str| known.get(cell).copied().unwrap_or(50.0);
        let spec = TestSpec {
            or_to: cells("c/two"),
            ..test("c/other", "c/one", [Some(1.0), None])
        };
        let blocks = blocks(&comparisons, times);
        let found = run(&comparisons, &[claim(vec![spec])], blocks, &[]);
        let found = &found.claims[0];
        assert_eq!(found.verdict, verdict, "{other} {one} {two} {found:#?}");
        assert_eq!(found.figures.len(), 1);
        let shown = &found.figures[0];
        assert!(shown.estimate.is_some(), "{shown:#?}");
        let [to, or_to] = [&shown.to, &shown.or_to].map(|cells| times(&cells[0].cell.0));
        // The nearer is shown.
        assert!(missing == 1 || to <= or_to, "{shown:#?}");
    }
}

/// A result of a study, by a host and its file system, each of which has its processor.
fn result_of(names: &str) -> Analysis {
    let spec = ratio("c/slow", "c/base", [None, Some(2.0)]);
    let mut found = run(&two(), &[spec], blocks(&two(), |_| 10.0), &[]);
    let mut names = names.split_whitespace().map(str::to_owned);
    found.run.plan.study.name = names.next().unwrap();
    let environment = &mut found.run.environment;
    environment.host = names.next().unwrap();
    environment.cpu = names.next();
    environment.file_system.kind = environment.cpu.clone().unwrap();
    found
}

#[test]
fn the_ledger_has_a_column_for_each_machine_and_each_claim_once() {
    let all = ["s a ext4", "t a ext4", "s b ext4", "s a ext4", "s a xfs"];
    let results = all.map(result_of);
    let mut unmeasured = results[0].run.plan.study.clone();
    unmeasured.name = "u".to_owned();
    let found = ledger(&results.each_ref(), &[unmeasured]);
    assert_eq!(found.machines, ["a (ext4)", "b", "a (ext4) (2)", "a (xfs)"]);
    let rows = found.claims.iter().map(|claim| {
        let on: Vec<bool> = claim.on.iter().map(Option::is_some).collect();
        (claim.study.as_str(), on)
    });
    let first = vec![true, false, false, false];
    let expected = [("u", vec![false; 4]), ("s", vec![true; 4]), ("t", first)];
    assert_eq!(rows.collect::<Vec<_>>(), expected);
    assert_eq!(found.claims[1].verdicts(), [ClaimVerdict::Holds; 4]);
}

#[test]
fn what_would_decide_a_claim_is_known_before_anything_is_measured() {
    let spec = ratio("c/slow", "c/gone", [Some(2.0), None]);
    let study = run(&two(), &[spec], Vec::new(), &[]).run.plan.study;
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
    fn verdict_and_interval_agree(actual in 0.2..5.0f64, bound in 0.2..5.0f64, across in any::<bool>()) {
        let blocks = blocks(&two(), |cell| if cell == "c/slow" { 1e4 * actual } else { 1e4 });
        let to = if across { "d/base" } else { "c/base" };
        let claims = [[Some(bound), None], [None, Some(bound)]];
        let claims = claims.map(|bounds| ratio("c/slow", to, bounds));
        let found = run(&two(), &claims, blocks, &[]).claims;
        let interval = found[0].figures[0].estimate.unwrap();
        let expected = |inside: bool, outside: bool| match (inside, outside) {
            (true, _) => ClaimVerdict::Holds,
            (_, true) => ClaimVerdict::Fails,
            _ => ClaimVerdict::Undecided,
        };
        prop_assert_eq!(found[0].verdict, expected(interval.low >= bound, interval.high < bound));
        prop_assert_eq!(found[1].verdict, expected(interval.high <= bound, interval.low > bound));
        prop_assert!(interval.low <= actual * 1.02 && interval.high >= actual * 0.98);
    }
}
