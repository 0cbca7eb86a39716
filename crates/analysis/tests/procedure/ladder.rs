//! Costs taken apart whose parts are known: steps, isolated figures, remainders and claims.

use crate::runs::{changed, failed, recorded};
use crate::support::{Random, block, cell, comparison, id, near, planned, records};
use proptest::prelude::*;
use stowplan_analysis::{ContrastOutcome, LadderOutcome, Metric, analyse, rebase};
use stowplan_model::{
    BlockKind, Comparison, LadderSpec, Measurement, Plan, Record, Role, RungSpec, SystemCalls,
};

/// A run of cells that only explain others, beside a baseline, its control and one store.
fn explained(parts: &[&str]) -> Comparison {
    let mut comparison = comparison(&["slow"]);
    let parts = parts.iter().map(|key| cell(key, Role::Part));
    comparison.cells.extend(parts);
    comparison
}

/// A cell, what it does more than the one below, and what that should be made of.
type Rung<'a> = (&'a str, &'a str, &'a [(&'a str, f64)]);

fn ladder(rungs: &[Rung<'_>]) -> LadderSpec {
    let rungs = rungs.iter().map(|(cell, step, isolated)| RungSpec {
        cell: (*cell).to_owned(),
        step: (*step).to_owned(),
        isolated: named(isolated).collect(),
    });
    LadderSpec {
        id: "why".to_owned(),
        title: "Why".to_owned(),
        comparison: "c".to_owned(),
        rungs: rungs.collect(),
    }
}

fn named<T: Copy>(all: &[(&str, T)]) -> impl Iterator<Item = (String, T)> {
    all.iter().map(|(name, value)| ((*name).to_owned(), *value))
}

/// Rounds in which cells take these nanoseconds per operation.
fn blocks(comparison: &Comparison, rounds: u32, ns: impl Fn(&str, u32) -> f64) -> Vec<Measurement> {
    let cells = comparison.cells.iter();
    let keys = cells.map(|cell| cell.id.0.trim_start_matches("c/"));
    let all = keys.flat_map(|key| (0..rounds).map(move |round| (key, round)));
    all.map(|(key, round)| block(key, round, (ns(key, round) * 1000.0).round() as u64))
        .collect()
}

fn taken_apart(
    comparison: &Comparison,
    spec: LadderSpec,
    records: impl IntoIterator<Item = Record>,
) -> Option<LadderOutcome> {
    let found = planned(comparison, |plan| plan.study.ladders = vec![spec], records);
    found.ladders.into_iter().next()
}

/// A read of 3 µs; the same after 10 µs of spinning; that with two pairs of open and close more, of
/// 2.5 µs each.
fn known(key: &str, round: u32) -> f64 {
    let name: u64 = key.bytes().map(u64::from).sum();
    // Up to 20 ns either way, other for each cell and round, and on top of all cells of a round that
    // are none by themselves up to 5 µs, other in each round.
    let jitter = 40.0 * (Random(name << 32 | u64::from(round)).uniform() - 0.5);
    let drift = 5_000.0 * Random(u64::from(round)).uniform();
    match key {
        "spin" => 13_000.0 + drift + jitter,
        "opens" => 18_000.0 + drift + jitter,
        "pair" => 2_500.0 + jitter,
        "slow" => 3_000.0 + jitter,
        _ => 3_000.0 + drift + jitter,
    }
}

fn known_cells() -> Comparison {
    explained(&["spin", "opens", "pair"])
}

fn known_ladder(isolated: &[(&str, f64)]) -> LadderSpec {
    ladder(&[
        ("base", "the read", &[]),
        ("spin", "spinning", &[]),
        ("opens", "two opens and closes", isolated),
    ])
}

/// What the ladder of known costs comes to by these blocks. Within the operation both pairs cost 5 µs;
/// alone, with what they save, 4.5 µs.
fn known_by(blocks: Vec<Measurement>) -> Option<LadderOutcome> {
    let spec = known_ladder(&[("pair", 3.0), ("slow", -1.0)]);
    taken_apart(&known_cells(), spec, recorded(blocks))
}

/// By those of up to forty rounds that are kept.
fn known_where(kept: impl Fn(&str, u32) -> bool) -> Option<LadderOutcome> {
    let mut blocks = blocks(&known_cells(), 40, known);
    blocks.retain(|m| kept(m.cell.0.trim_start_matches("c/"), m.round));
    known_by(blocks)
}

/// Also where times are wall times. What is measured alone stands beside a step.
#[test]
fn known_costs_are_found_although_every_round_drifts_by_more_than_they_are_told_apart_by() {
    // Both ends are widened by the least noise, 1% of up to 23 µs, or 3% where waits are not known.
    for (metric, wait, noise) in [
        (Metric::Corrected, Some(0), 460.0),
        (Metric::Wall, None, 3.0 * 460.0),
    ] {
        let blocks = blocks(&known_cells(), 20, known);
        let found = known_by(changed(blocks, |m| m.run_delay_ns = wait)).unwrap();
        assert_eq!(found.metric, metric);
        let costs: Vec<f64> = found.steps.iter().map(|step| step.cost.estimate).collect();
        near(costs[1], 10_000.0, 20.0);
        near(costs[2], 5_000.0, 20.0);
        for step in &found.steps[1..] {
            let cost = step.cost;
            assert!(cost.high - cost.low < 60.0 + noise, "unpaired: {cost:?}");
            assert!(cost.low <= cost.estimate && cost.estimate <= cost.high);
        }
        let below = found.steps.iter().map(|step| step.below.clone());
        let expected = [None, Some(id("base")), Some(id("spin"))];
        assert_eq!(below.collect::<Vec<_>>(), expected);
        assert_eq!(found.top(), Some(&id("opens")));
        let (whole, sum) = (found.whole.unwrap(), found.sum.unwrap());
        near(costs.iter().sum(), sum, 1e-6);
        let remainder = found.remainder.unwrap();
        near(whole.estimate - sum, remainder.estimate, 1e-6);
        assert!(remainder.low <= 0.0 && remainder.high >= 0.0);
        let shares: f64 = found.steps.iter().map(|step| step.share).sum();
        near(shares, sum / whole.estimate, 1e-9);
        // Nothing stands for the spinning.
        assert_eq!(found.steps[1].isolated, None);
        let alone = found.steps[2].isolated.unwrap();
        near(alone.estimate, 4_500.0, 20.0);
        assert!(alone.low < alone.estimate && alone.estimate < alone.high);
    }
}

/// One that saves time is less than nothing.
#[test]
fn an_interval_is_widened_by_the_noise_of_the_larger_time() {
    let comparison = explained(&["top"]);
    // No noise at all, so the floor is that of a quiet machine: 1%.
    for (top, cost, floor) in [(6_000.0, 3_000.0, 60.0), (2_000.0, -1_000.0, 30.0)] {
        let spec = ladder(&[("base", "a", &[]), ("top", "b", &[])]);
        let times = |key: &str, _| if key == "top" { top } else { 3_000.0 };
        let blocks = recorded(blocks(&comparison, 20, times));
        let found = taken_apart(&comparison, spec, blocks).unwrap();
        let step = &found.steps[1];
        near(step.cost.estimate, cost, 1e-6);
        near(step.cost.low, cost - floor, 1e-6);
        near(step.cost.high, cost + floor, 1e-6);
        near(step.share, cost / top, 1e-9);
        near(found.sum.unwrap(), top, 1e-6);
    }
}

/// The study calls the cell `gone` "cannot do it", by which the plan lists what does not apply.
#[test]
fn steps_around_a_rung_that_failed_or_does_not_apply_are_one_and_say_why() {
    let mut comparison = known_cells();
    let why = ("cannot do it".to_owned(), "no such workload".to_owned());
    comparison.not_applicable.extend([why]);
    let mut spec = known_ladder(&[("pair", 2.0)]);
    let gone = ladder(&[("gone", "what is gone", &[("pair", 1.0)])]);
    spec.rungs.splice(1..1, gone.rungs);
    let records = recorded(blocks(&comparison, 20, known));
    let records = records.chain([failed(id("spin"), "no such store")]);
    let found = taken_apart(&comparison, spec, records).unwrap();
    let [_, step] = &found.steps[..] else {
        panic!("{:?}", found.steps);
    };
    let steps = ["what is gone", "spinning", "two opens and closes"];
    assert_eq!(step.steps, steps);
    near(step.cost.estimate, 15_000.0, 40.0);
    // Nothing stands for the spinning, so what stands for the rest stands for a part of it.
    assert_eq!(step.isolated, None);
    let missing = found.missing.iter().map(|rung| (&*rung.cell, &*rung.why));
    let expected = [
        ("gone", "not applicable: no such workload"),
        ("spin", "it failed: no such store"),
    ];
    assert_eq!(missing.collect::<Vec<_>>(), expected);
}

#[test]
fn rungs_without_enough_rounds_at_either_end_are_left_out_and_named() {
    let few = |key| known_where(|cell, round| round < 20 && (cell != key || round < 9)).unwrap();
    let without_base = few("base");
    let base = &without_base.steps[0];
    assert_eq!(base.steps, ["the read", "spinning"]);
    assert_eq!((base.below.as_ref(), &base.cell), (None, &id("spin")));
    let why = &without_base.missing[0].why;
    assert_eq!(why, "it has 9 rounds, fewer than 10");
    let without_top = few("opens");
    assert_eq!(without_top.top(), Some(&id("spin")));
    assert_eq!(without_top.missing[0].step, "two opens and closes");
    let spinning = without_top.sum.unwrap() - without_top.steps[0].cost.estimate;
    near(spinning, 10_000.0, 40.0);
    // The primitive is no rung, but the step is not explained by it any more.
    assert_eq!(few("pair").steps[2].isolated, None);
}

#[test]
fn a_ladder_of_which_one_rung_is_left_has_no_steps() {
    let found = known_where(|cell, round| round < 20 && cell != "spin" && cell != "opens");
    let found = found.unwrap();
    assert_eq!((&*found.steps, found.whole), (&[][..], None));
    assert_eq!(found.missing.len(), 2);
    // Enough rounds, but none in common.
    let apart = known_where(|cell, round| match cell {
        "spin" => round < 20,
        "opens" => round >= 20,
        _ => true,
    });
    let found = apart.unwrap();
    assert_eq!(found.steps, []);
    assert_eq!(found.missing[0].cell, "opens");
    // Nothing measured at all: there is no ladder to speak of.
    assert_eq!(known_by(Vec::new()), None);
}

#[test]
fn parts_are_compared_with_nothing_and_never_the_fastest() {
    let comparison = explained(&["primitive"]);
    let measured = blocks(&comparison, 20, |key, _| match key {
        "primitive" => 10.0,
        "slow" => 2_000.0,
        _ => 1_000.0,
    });
    let mut records = records(&comparison, &measured);
    let found = analyse(&records, None).unwrap();
    assert_eq!(found.comparisons[0].fastest, Some(id("base")));
    let refused = rebase(&mut records, "primitive").unwrap_err().to_string();
    assert!(refused.contains("only explains other cells"), "{refused}");
    for baseline in ["base", "slow"] {
        rebase(&mut records, baseline).unwrap();
        let outcome = analyse(&records, None).unwrap().comparisons.remove(0);
        assert_eq!(outcome.cell(&id("primitive")).unwrap().rounds, 20);
        let named = |c: &ContrastOutcome| [&c.cell, &c.reference].contains(&&id("primitive"));
        assert!(!outcome.contrasts.iter().any(named));
    }
}

#[test]
fn a_counting_block_tells_counts_and_nothing_else() {
    let measured = blocks(&known_cells(), 20, known);
    let counting = |key: &str, calls: &[(&str, u64)]| Measurement {
        block: BlockKind::Counting,
        bytes: 1,
        minor_faults: 9_000,
        peak_memory_bytes: Some(1 << 40),
        latency: Some("no histogram".to_owned()),
        system_calls: Some(SystemCalls {
            calls: named(calls).collect(),
            ..SystemCalls::default()
        }),
        ..block(key, 7, 90_000_000_000)
    };
    let reads = ("pread64", 1_000);
    let counted = [
        counting("base", &[reads, ("brk", 2)]),
        counting("spin", &[reads]),
        counting("opens", &[reads, ("openat", 2_000), ("close", 2_000)]),
    ];
    let of = |blocks: &[Measurement]| {
        let change = |plan: &mut Plan| plan.study.ladders = vec![known_ladder(&[])];
        planned(&known_cells(), change, recorded(blocks.to_vec()))
    };
    let plain = of(&measured);
    let mut with = of(&[&measured[..], &counted].concat());
    let steps = with.ladders.iter_mut().flat_map(|ladder| &mut ladder.steps);
    let calls: Vec<_> = steps.map(|step| step.calls.take().unwrap()).collect();
    let added = [("close", 2.0), ("openat", 2.0)];
    let expected = [&[("pread64", 1.0)][..], &[], &added].map(|calls| named(calls).collect());
    assert_eq!(calls, expected);
    for cell in with.comparisons.iter_mut().flat_map(|c| &mut c.cells) {
        cell.counts = None;
    }
    assert_eq!(with.comparisons, plain.comparisons);
    assert_eq!(with.ladders, plain.ladders);
    assert_eq!(with.warnings, plain.warnings);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// However steps are ordered and whatever they cost, base and steps telescope to the whole.
    #[test]
    fn without_noise_base_and_steps_add_up_to_the_whole(
        costs in proptest::collection::vec(200.0..20_000.0f64, 4),
    ) {
        let keys = ["base", "spin", "opens", "pair"];
        let of = |key: &str| keys.iter().position(|known| *known == key).map_or(500.0, |i| costs[i].round());
        let rungs = keys.map(|key| (key, key, &[][..]));
        let blocks = recorded(blocks(&known_cells(), 20, |key, _| of(key)));
        let found = taken_apart(&known_cells(), ladder(&rungs), blocks).unwrap();
        prop_assert!((found.sum.unwrap() - of("pair")).abs() < 1e-6);
        prop_assert!(found.remainder.unwrap().estimate.abs() < 1e-6);
        for (step, pair) in found.steps[1..].iter().zip(keys.windows(2)) {
            prop_assert!((step.cost.estimate - (of(pair[1]) - of(pair[0]))).abs() < 1e-6);
        }
    }

    /// With noise, what the sum lacks is the remainder, and steps do not depend on other rungs.
    #[test]
    fn with_noise_the_remainder_is_what_the_sum_lacks(seed in any::<u64>(), noise in 0.0..0.3f64) {
        let blocks = blocks(&known_cells(), 20, |key, round| {
            let name: u64 = key.bytes().map(u64::from).sum();
            let factor = noise * Random(seed ^ (name << 32 | u64::from(round))).normal();
            known(key, round) * factor.exp()
        });
        let found = known_by(blocks.clone()).unwrap();
        let (whole, sum) = (found.whole.unwrap(), found.sum.unwrap());
        let remainder = found.remainder.unwrap();
        prop_assert!((sum + remainder.estimate - whole.estimate).abs() < 1e-6);
        prop_assert!(remainder.high - remainder.low > whole.high - whole.low);
        let mut short = known_ladder(&[]);
        short.rungs.remove(0);
        let alone = taken_apart(&known_cells(), short, recorded(blocks)).unwrap();
        prop_assert_eq!(alone.steps[1].cost, found.steps[2].cost);
    }
}
