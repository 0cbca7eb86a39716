//! Costs taken apart whose parts are known: steps, isolated figures, remainders and claims.

use crate::support::{Random, analysis, block, cell, comparison, id, planned};
use proptest::prelude::*;
use std::collections::BTreeMap;
use stowplan_analysis::{Analysis, Interval, LadderOutcome, analyse};
use stowplan_model::{
    BlockKind, CellFailure, ClaimSpec, Comparison, LadderSpec, Measurement, Plan, Record, Role,
    RungSpec, SystemCalls, TestSpec,
};

/// A run of cells that only explain others, beside a baseline, its control and one store.
fn explained(parts: &[&str]) -> Comparison {
    let mut comparison = comparison(&["slow"]);
    let parts = parts.iter().map(|key| cell(key, Role::Part));
    comparison.cells.extend(parts);
    comparison
}

fn rung(cell: &str, step: &str, isolated: &[(&str, f64)]) -> RungSpec {
    let isolated = isolated.iter();
    RungSpec {
        cell: cell.to_owned(),
        step: step.to_owned(),
        isolated: isolated
            .map(|(key, often)| ((*key).to_owned(), *often))
            .collect(),
    }
}

fn ladder(rungs: Vec<RungSpec>) -> LadderSpec {
    LadderSpec {
        id: "why".to_owned(),
        title: "Why".to_owned(),
        comparison: "c".to_owned(),
        rungs,
    }
}

/// Nanoseconds per operation of a cell in a round.
type Times<'a> = &'a dyn Fn(&str, u32) -> f64;

fn blocks(comparison: &Comparison, rounds: u32, times: Times<'_>) -> Vec<Measurement> {
    let keys: Vec<&str> = comparison.cells.iter().map(key_of).collect();
    let rounds = (0..rounds).flat_map(|round| keys.iter().map(move |key| (*key, round)));
    rounds
        .map(|(key, round)| block(key, round, (times(key, round) * 1000.0).round() as u64))
        .collect()
}

fn key_of(cell: &stowplan_model::Cell) -> &str {
    cell.id.0.trim_start_matches("c/")
}

fn run(
    comparison: &Comparison,
    (ladders, claims): (&[LadderSpec], &[ClaimSpec]),
    records: impl IntoIterator<Item = Record>,
) -> Analysis {
    let change = |plan: &mut Plan| {
        plan.study.ladders = ladders.to_vec();
        plan.study.claims = claims.to_vec();
    };
    planned(comparison, change, records)
}

fn taken_apart(comparison: &Comparison, spec: LadderSpec, times: Times<'_>) -> LadderOutcome {
    let measured = blocks(comparison, 20, times);
    let records = measured.into_iter().map(Record::Measurement);
    run(comparison, (&[spec], &[]), records).ladders.remove(0)
}

/// What every cell of a round has on top: up to 5 µs, other in each round.
fn drift(round: u32) -> f64 {
    5_000.0 * Random(u64::from(round)).uniform()
}

/// Up to 20 ns either way, other for each cell and round.
fn jitter(key: &str, round: u32) -> f64 {
    let name: u64 = key.bytes().map(u64::from).sum();
    40.0 * (Random(name << 32 | u64::from(round)).uniform() - 0.5)
}

/// A read of 3 µs; the same after 10 µs of spinning; that with two pairs of open and close more, of
/// 2.5 µs each.
fn known(key: &str, round: u32) -> f64 {
    let cost = match key {
        "spin" => 13_000.0,
        "opens" => 18_000.0,
        "pair" => return 2_500.0 + jitter(key, round),
        _ => 3_000.0,
    };
    cost + drift(round) + jitter(key, round)
}

/// What the ladder of known costs comes to by these blocks.
fn known_by(
    comparison: &Comparison,
    blocks: impl IntoIterator<Item = Measurement>,
) -> Option<LadderOutcome> {
    let records = blocks.into_iter().map(Record::Measurement);
    let found = run(comparison, (&[known_ladder()], &[]), records);
    found.ladders.into_iter().next()
}

fn known_ladder() -> LadderSpec {
    ladder(vec![
        rung("base", "the read", &[]),
        rung("spin", "spinning", &[]),
        rung("opens", "two opens and closes", &[("pair", 2.0)]),
    ])
}

fn assert_near(found: f64, expected: f64, within: f64) {
    assert!((found - expected).abs() <= within, "{found} for {expected}");
}

#[test]
fn known_costs_are_found_although_every_round_drifts_by_more_than_they_are_told_apart_by() {
    let found = taken_apart(
        &explained(&["spin", "opens", "pair"]),
        known_ladder(),
        &known,
    );
    let costs: Vec<f64> = found.steps.iter().map(|step| step.cost.estimate).collect();
    assert_near(costs[1], 10_000.0, 20.0);
    assert_near(costs[2], 5_000.0, 20.0);
    for step in &found.steps[1..] {
        let cost = step.cost;
        // Both ends are widened by the least noise, 1% of up to 23 µs.
        assert!(cost.high - cost.low < 60.0 + 460.0, "unpaired: {cost:?}");
        assert!(cost.low <= cost.estimate && cost.estimate <= cost.high);
    }
    assert_eq!(found.steps[0].below, None);
    assert_eq!(found.steps[2].below, Some(id("spin")));
    assert_eq!(found.top(), Some(&id("opens")));
    let (whole, sum) = (found.whole.unwrap(), found.sum.unwrap());
    assert_near(costs.iter().sum(), sum, 1e-6);
    let remainder = found.remainder.unwrap();
    assert_near(whole.estimate - sum, remainder.estimate, 1e-6);
    assert!(
        remainder.low <= 0.0 && remainder.high >= 0.0,
        "{remainder:?}"
    );
    let shares: f64 = found.steps.iter().map(|step| step.share).sum();
    assert_near(shares, sum / whole.estimate, 1e-9);
}

#[test]
fn an_interval_is_widened_by_the_noise_of_the_larger_time() {
    let comparison = explained(&["more"]);
    // No noise at all, so the floor is that of a quiet machine: 1%.
    let times = |key: &str, _| if key == "more" { 6_000.0 } else { 3_000.0 };
    let spec = ladder(vec![rung("base", "a", &[]), rung("more", "b", &[])]);
    let cost = taken_apart(&comparison, spec, &times).steps[1].cost;
    assert_near(cost.estimate, 3_000.0, 1e-6);
    assert_near(cost.low, 2_940.0, 1e-6);
    assert_near(cost.high, 3_060.0, 1e-6);
}

#[test]
fn a_step_that_saves_time_is_less_than_nothing() {
    let comparison = explained(&["less"]);
    let times = |key: &str, _| if key == "less" { 2_000.0 } else { 3_000.0 };
    let spec = ladder(vec![rung("base", "a", &[]), rung("less", "b", &[])]);
    let found = taken_apart(&comparison, spec, &times);
    assert_near(found.steps[1].cost.estimate, -1_000.0, 1e-6);
    assert_near(found.steps[1].share, -0.5, 1e-9);
    assert_near(found.sum.unwrap(), 2_000.0, 1e-6);
}

#[test]
fn isolated_figures_stand_beside_those_of_the_ladder() {
    let spec = ladder(vec![
        rung("base", "the read", &[]),
        rung("spin", "spinning", &[]),
        rung(
            "opens",
            "two opens and closes",
            &[("pair", 3.0), ("slow", -1.0)],
        ),
    ]);
    // Within the operation both pairs cost 5 µs; alone, with what they save, 4.5 µs.
    let times = |key: &str, round| match key {
        "slow" => 3_000.0,
        _ => known(key, round),
    };
    let comparison = explained(&["spin", "opens", "pair"]);
    let found = taken_apart(&comparison, spec, &times);
    let isolated = found.steps[2].isolated.unwrap();
    assert_near(isolated.estimate, 4_500.0, 20.0);
    assert!(isolated.low < isolated.estimate && isolated.estimate < isolated.high);
    // Nothing stands for the spinning.
    assert_eq!(found.steps[1].isolated, None);
}

#[test]
fn steps_around_a_rung_that_failed_are_one() {
    let comparison = explained(&["spin", "opens", "pair"]);
    let measured = blocks(&comparison, 20, &known);
    let failure = CellFailure {
        cell: id("spin"),
        message: "no such store".to_owned(),
        stderr: String::new(),
    };
    let records = measured.into_iter().map(Record::Measurement);
    let records = records.chain([Record::Failure(failure)]);
    let found = run(&comparison, (&[known_ladder()], &[]), records)
        .ladders
        .remove(0);
    assert_eq!(found.steps.len(), 2);
    assert_eq!(found.steps[1].steps, ["spinning", "two opens and closes"]);
    assert_near(found.steps[1].cost.estimate, 15_000.0, 40.0);
    // Nothing stands for the spinning, so what stands for the rest stands for half of it.
    assert_eq!(found.steps[1].isolated, None);
    assert_eq!(found.missing[0].cell, "spin");
    assert_eq!(found.missing[0].why, "it failed: no such store");
}

#[test]
fn rungs_without_enough_rounds_at_either_end_are_left_out_and_named() {
    let comparison = explained(&["spin", "opens", "pair"]);
    let few = |key: &'static str| {
        let measured = blocks(&comparison, 20, &known);
        let kept = measured
            .into_iter()
            .filter(move |m| m.cell != id(key) || m.round < 9);
        known_by(&comparison, kept).unwrap()
    };
    let without_base = few("base");
    let base = &without_base.steps[0];
    assert_eq!(base.steps, ["the read", "spinning"]);
    assert_eq!((base.below.as_ref(), &base.cell), (None, &id("spin")));
    assert_eq!(
        without_base.missing[0].why,
        "it has 9 rounds, fewer than 10"
    );
    let without_top = few("opens");
    assert_eq!(without_top.top(), Some(&id("spin")));
    assert_eq!(without_top.missing[0].step, "two opens and closes");
    assert_near(
        without_top.sum.unwrap() - without_top.steps[0].cost.estimate,
        10_000.0,
        40.0,
    );
    // The primitive is no rung, but the step is not explained by it any more.
    let without_primitive = few("pair");
    assert_eq!(without_primitive.steps[2].isolated, None);
}

#[test]
fn a_ladder_of_which_one_rung_is_left_has_no_steps() {
    let comparison = explained(&["spin", "opens", "pair"]);
    let measured = blocks(&comparison, 20, &known).into_iter();
    let kept = measured.filter(|m| m.cell != id("spin") && m.cell != id("opens"));
    let found = known_by(&comparison, kept).unwrap();
    assert_eq!(
        (found.steps.len(), found.whole, found.missing.len()),
        (0, None, 2)
    );
    // Enough rounds, but none in common.
    let apart = blocks(&comparison, 40, &known).into_iter();
    let apart = apart.filter(|m| match m.cell.0.as_str() {
        "c/spin" => m.round < 20,
        "c/opens" => m.round >= 20,
        _ => true,
    });
    let found = known_by(&comparison, apart).unwrap();
    assert_eq!(found.steps, []);
    assert_eq!(found.missing[0].cell, "opens");
    // Nothing measured at all: there is no ladder to speak of.
    assert_eq!(known_by(&comparison, []), None);
}

#[test]
fn wall_times_are_taken_apart_where_the_comparison_is_of_wall_time() {
    let comparison = explained(&["spin", "opens", "pair"]);
    let measured = blocks(&comparison, 20, &known)
        .into_iter()
        .map(|m| Measurement {
            run_delay_ns: None,
            ..m
        });
    let found = known_by(&comparison, measured).unwrap();
    assert_eq!(found.metric, stowplan_analysis::Metric::Wall);
    assert_near(found.steps[1].cost.estimate, 10_000.0, 20.0);
}

/// The study calls the cell `gone` "cannot do it", by which the plan lists what does not apply.
#[test]
fn a_rung_and_a_claim_without_a_cell_say_why_it_does_not_apply() {
    let mut comparison = explained(&["spin"]);
    let why = "no such workload".to_owned();
    comparison
        .not_applicable
        .insert("cannot do it".to_owned(), why);
    let rungs = ["base", "gone", "spin"].map(|key| rung(key, "a step", &[]));
    let claim = ClaimSpec {
        test: vec![TestSpec {
            of: vec![id("gone")],
            to: vec![id("base")],
            at_least: Some(1.0),
            ..TestSpec::default()
        }],
        ..ClaimSpec::default()
    };
    let records = blocks(&comparison, 20, &known).into_iter();
    let records = records.map(Record::Measurement);
    let specs = (&[ladder(rungs.to_vec())][..], &[claim][..]);
    let found = run(&comparison, specs, records);
    let said = "not applicable: no such workload";
    assert_eq!(found.ladders[0].missing[0].why, said);
    assert_eq!(found.claims[0].missing[0].why, said);
}

#[test]
fn parts_are_compared_with_nothing_and_never_the_fastest() {
    let comparison = explained(&["primitive"]);
    let measured = blocks(&comparison, 20, &|key: &str, _| match key {
        "primitive" => 10.0,
        "slow" => 2_000.0,
        _ => 1_000.0,
    });
    let found = analysis(&comparison, &measured);
    let outcome = &found.comparisons[0];
    assert_eq!(outcome.fastest, Some(id("base")));
    let named = |c: &stowplan_analysis::ContrastOutcome| {
        [&c.cell, &c.reference].contains(&&id("primitive"))
    };
    assert!(!outcome.contrasts.iter().any(named));
    assert_eq!(outcome.cell(&id("primitive")).unwrap().rounds, 20);
    let mut records = crate::support::records(&comparison, &measured);
    let refused = stowplan_analysis::rebase(&mut records, "primitive").unwrap_err();
    assert!(
        refused.to_string().contains("only explains other cells"),
        "{refused}"
    );
    stowplan_analysis::rebase(&mut records, "slow").unwrap();
    let rebased = analyse(&records, None).unwrap();
    assert!(!rebased.comparisons[0].contrasts.iter().any(named));
}

#[test]
fn a_counting_block_tells_counts_and_nothing_else() {
    let comparison = explained(&["spin", "opens", "pair"]);
    let measured = blocks(&comparison, 20, &known);
    let counting = |key: &str, calls: &[(&str, u64)]| Measurement {
        block: BlockKind::Counting,
        round: 7,
        bytes: 1,
        minor_faults: 9_000,
        peak_memory_bytes: Some(1 << 40),
        latency: Some("no histogram".to_owned()),
        system_calls: Some(SystemCalls {
            calls: calls.iter().map(|(n, c)| ((*n).to_owned(), *c)).collect(),
            ..SystemCalls::default()
        }),
        ..block(key, 7, 90_000_000_000)
    };
    let counted = [
        counting("base", &[("pread64", 1_000), ("brk", 2)]),
        counting("spin", &[("pread64", 1_000)]),
        counting(
            "opens",
            &[("pread64", 1_000), ("openat", 2_000), ("close", 2_000)],
        ),
    ];
    let of = |blocks: &[Measurement]| {
        let records = blocks.iter().cloned().map(Record::Measurement);
        run(&comparison, (&[known_ladder()], &[]), records)
    };
    let plain = of(&measured);
    let mut with = of(&[&measured[..], &counted].concat());
    let steps = &with.ladders[0].steps;
    assert_eq!(
        steps[0].calls,
        Some(BTreeMap::from([("pread64".to_owned(), 1.0)]))
    );
    assert_eq!(steps[1].calls, Some(BTreeMap::new()));
    let added = BTreeMap::from([("close".to_owned(), 2.0), ("openat".to_owned(), 2.0)]);
    assert_eq!(steps[2].calls, Some(added));
    for cell in with.comparisons.iter_mut().flat_map(|c| &mut c.cells) {
        cell.counts = None;
    }
    for step in with.ladders.iter_mut().flat_map(|ladder| &mut ladder.steps) {
        step.calls = None;
    }
    assert_eq!(with.comparisons, plain.comparisons);
    assert_eq!(with.ladders, plain.ladders);
    assert_eq!(with.warnings, plain.warnings);
}

fn width(interval: &Interval) -> f64 {
    interval.high - interval.low
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// However steps are ordered and whatever they cost, base and steps telescope to the whole.
    #[test]
    fn without_noise_base_and_steps_add_up_to_the_whole(
        costs in proptest::collection::vec(200.0..20_000.0f64, 4),
    ) {
        let keys = ["base", "spin", "opens", "pair"];
        let comparison = explained(&["spin", "opens", "pair"]);
        let of = |key: &str| keys.iter().position(|known| *known == key).map_or(500.0, |i| costs[i].round());
        let rungs = keys.iter().map(|key| rung(key, key, &[])).collect();
        let found = taken_apart(&comparison, ladder(rungs), &|key, _| of(key));
        prop_assert!((found.sum.unwrap() - of("pair")).abs() < 1e-6);
        prop_assert!(found.remainder.unwrap().estimate.abs() < 1e-6);
        for (step, pair) in found.steps[1..].iter().zip(keys.windows(2)) {
            prop_assert!((step.cost.estimate - (of(pair[1]) - of(pair[0]))).abs() < 1e-6);
        }
    }

    /// With noise, what the sum lacks is the remainder, and steps do not depend on other rungs.
    #[test]
    fn with_noise_the_remainder_is_what_the_sum_lacks(seed in any::<u64>(), noise in 0.0..0.3f64) {
        let comparison = explained(&["spin", "opens", "pair"]);
        let times = move |key: &str, round| {
            let name: u64 = key.bytes().map(u64::from).sum();
            let factor = noise * Random(seed ^ (name << 32 | u64::from(round))).normal();
            known(key, round) * factor.exp()
        };
        let found = taken_apart(&comparison, known_ladder(), &times);
        let (whole, sum) = (found.whole.unwrap(), found.sum.unwrap());
        let remainder = found.remainder.unwrap();
        prop_assert!((sum + remainder.estimate - whole.estimate).abs() < 1e-6);
        prop_assert!(width(&remainder) > width(&whole));
        let short = ladder(known_ladder().rungs.split_off(1));
        let alone = taken_apart(&comparison, short, &times);
        prop_assert_eq!(alone.steps[1].cost, found.steps[2].cost);
    }
}
