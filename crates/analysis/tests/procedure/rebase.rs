//! Another baseline for a run that was measured already.

use crate::support::{
    Random, block_of_log, cell, comparison, contrast, header, id, records, rounds, run,
};
use stowplan_analysis::{Analysis, ContrastOutcome, RebaseError, Verdict, analyse, rebase};
use stowplan_model::{Comparison, Extension, Measurement, Plan, Record, Role, Sweep, WarningKind};

/// As plans make it: the control has the key of the baseline that it is a copy of.
fn planned(candidates: &[&str]) -> Comparison {
    let mut comparison = comparison(candidates);
    comparison.cells[1].key = "base".to_owned();
    comparison
}

/// A run whose control takes so long.
fn measured(again: f64) -> Vec<Record> {
    let control = [("base", 1e4), ("again", again)];
    let times = [control, [("slow", 2e4), ("fast", 5e3)]].concat();
    records(&planned(&["slow", "fast"]), &rounds(&times, 0..10))
}

fn slow_and_fast() -> Vec<Record> {
    measured(10_080.0)
}

fn find(analysis: &Analysis, cell: &str, reference: &str) -> ContrastOutcome {
    let mut all = analysis.comparisons[0].contrasts.iter();
    let found = all.find(|c| c.cell == id(cell) && c.reference == id(reference));
    found.unwrap().clone()
}

fn rebased(records: &[Record], baseline: &str) -> Analysis {
    let mut records = records.to_vec();
    rebase(&mut records, baseline).unwrap();
    analyse(&records, None).unwrap()
}

#[test]
fn the_ratio_to_the_new_baseline_is_the_inverse_of_what_it_was() {
    let before = analyse(&slow_and_fast(), None).unwrap();
    let after = rebased(&slow_and_fast(), "slow");
    let was = find(&before, "slow", "base").inverse();
    let is = find(&after, "base", "slow");
    assert_eq!(is.verdict, was.verdict);
    let [is, was] = [&is, &was].map(|found| found.estimate.unwrap());
    for off in [is.ratio / was.ratio, is.low / was.low, is.high / was.high] {
        // Its interval rests on what all ratios show of noise, which are others.
        assert!((off - 1.0).abs() < 0.005, "{is:?} {was:?}");
    }
    assert_eq!(is.rounds, was.rounds);
    let fast = find(&after, "fast", "slow");
    assert_eq!(fast.verdict, Verdict::Faster);
    let ratio = fast.estimate.unwrap().ratio;
    assert!((ratio - 0.25).abs() < 0.01, "{fast:?}");
    assert_eq!(after.comparisons[0].contrasts.len(), 2);
}

#[test]
fn the_noise_and_the_gate_stay_those_of_the_cell_that_was_measured_twice() {
    for (again, reliable) in [(10_080.0, true), (11_500.0, false)] {
        let measured = measured(again);
        let before = &analyse(&measured, None).unwrap().comparisons[0];
        let after = rebased(&measured, "slow");
        let verdict = find(&after, "base", "slow").verdict;
        assert_eq!(verdict != Verdict::Unreliable, reliable);
        let after = &after.comparisons[0];
        let [was, is] = [before, after].map(|found| found.control.unwrap());
        assert_eq!(is.verdict, was.verdict);
        assert_eq!(is.estimate.ratio, was.estimate.ratio);
        assert!((was.estimate.ratio - again / 10_000.0).abs() < 0.005);
        assert_eq!(before.noise_floor.to_bits(), after.noise_floor.to_bits());
        assert_eq!([before.reliable, after.reliable], [reliable; 2]);
    }
}

#[test]
fn roles_are_exchanged_and_the_baseline_stands_first() {
    let after = rebased(&slow_and_fast(), "c/fast");
    let cells = after.comparisons[0].cells.iter();
    let roles = cells.map(|cell| (&*cell.cell.id.0, cell.cell.role));
    let expected = [
        ("c/fast", Role::Baseline),
        ("c/base", Role::Candidate),
        ("c/again", Role::Control),
        ("c/slow", Role::Candidate),
    ];
    assert_eq!(roles.collect::<Vec<_>>(), expected);
    assert_eq!(after.comparisons[0].fastest, Some(id("fast")));
    assert_eq!(after.warnings[0].kind, WarningKind::ChosenBaseline);
    let warning = &after.warnings[0].message;
    assert!(warning.contains("c/fast instead of base"), "{warning}");
}

fn sweep(id: &str) -> Sweep {
    let [id, a, b] = [id, "a", "b"].map(str::to_owned);
    Sweep { id, a, b }
}

fn plan(records: &mut [Record]) -> &mut Plan {
    match &mut records[0] {
        Record::Run(run) => &mut run.plan,
        other => panic!("no header: {other:?}"),
    }
}

#[test]
fn the_warning_follows_the_header_and_names_the_comparisons_that_keep_their_own() {
    for (others, said) in [
        (&[][..], None),
        (&["d", "size-1024"], Some("keeps its own: d. ")),
        (&["d", "e"], Some("keeps its own: d, e. ")),
    ] {
        let mut all = slow_and_fast();
        let plan = plan(&mut all);
        for id in others {
            let mut other = planned(&["fast"]);
            (*id).clone_into(&mut other.id);
            plan.comparisons.push(other);
        }
        plan.sweeps.push(sweep("size"));
        rebase(&mut all, "slow").unwrap();
        let [Record::Run(_), Record::Warning(warning), ..] = &all[..] else {
            panic!("{all:?}");
        };
        let keeps = warning.message.find("a comparison keep");
        assert_eq!(keeps.is_some(), said.is_some(), "{}", warning.message);
        assert!(warning.message.contains(said.unwrap_or_default()));
    }
}

#[test]
fn choosing_the_planned_baseline_changes_nothing_and_going_back_restores_it() {
    let original = slow_and_fast();
    let mut same = original.clone();
    rebase(&mut same, "base").unwrap();
    assert_eq!(same, original);
    rebase(&mut same, "slow").unwrap();
    let back = rebased(&same, "base");
    let before = analyse(&original, None).unwrap();
    for cell in ["slow", "fast"] {
        assert_eq!(find(&back, cell, "base"), find(&before, cell, "base"));
    }
    assert_eq!(back.comparisons[0].contrasts.len(), 2);
}

#[test]
fn ratios_that_a_chart_asks_for_stay_beside_the_new_ones() {
    let mut comparison = planned(&["slow", "fast", "third"]);
    comparison.contrasts.push(contrast("fast", "third"));
    comparison.contrasts.push(contrast("slow", "fast"));
    let mut after = records(&comparison, &[]);
    rebase(&mut after, "slow").unwrap();
    let found = analyse(&after, None).unwrap();
    let contrasts = found.comparisons[0].contrasts.iter();
    let pairs: Vec<_> = contrasts.map(|c| (&*c.cell.0, &*c.reference.0)).collect();
    let expected = [
        ("c/base", "c/slow"),
        ("c/fast", "c/slow"),
        ("c/third", "c/slow"),
        ("c/fast", "c/third"),
    ];
    assert_eq!(pairs, expected);
}

#[test]
fn a_cell_that_cannot_be_a_baseline_is_refused_with_the_reason() {
    let mut comparison = planned(&["slow"]);
    comparison.cells.push(cell("floor", Role::Floor));
    let original = records(&comparison, &[]);
    let refused = |name: &str| rebase(&mut original.clone(), name).unwrap_err();
    let unknown = "no cell is called 'slwo' (there are base, floor, slow); did you mean 'slow'?";
    assert_eq!(refused("slwo").to_string(), unknown);
    let unknown = refused("c/slwo").to_string();
    assert!(unknown.contains("did you mean 'c/slow'?"), "{unknown}");
    assert_eq!(refused("floor"), RebaseError::Floor("floor".to_owned()));
    assert!(matches!(refused("c/again"), RebaseError::Unknown { .. }));
    let none = rebase(&mut Vec::new(), "slow");
    assert_eq!(none, Err(RebaseError::NoHeader));
}

#[test]
fn parts_of_a_sweep_keep_their_reference() {
    let mut comparison = planned(&["slow"]);
    comparison.id = "sweep-4096".to_owned();
    let mut original = vec![header(&comparison)];
    plan(&mut original).sweeps.push(sweep("sweep"));
    original.push(Record::Extension(Extension {
        comparisons: vec![planned(&["later"])],
        ..Extension::default()
    }));
    for part in ["slow", "later"] {
        let refused = Err(RebaseError::Constituent(part.to_owned()));
        assert_eq!(rebase(&mut original.clone(), part), refused);
    }
}

/// Rounds end when the planned contrasts are decided, which has to do with the data. The intervals
/// of the others must still hold: those of all looks do so together.
#[test]
fn an_interval_to_another_baseline_misses_no_more_often_than_promised() {
    const RUNS: u64 = 400;
    const SPREAD: f64 = 0.04;
    // Against the base, one is decided early or late, as it happens, and one seldom at all.
    let logs = [("base", 0.0), ("again", 0.0), ("x", 0.055), ("y", 0.1)];
    let comparison = planned(&["x", "y"]);
    let mut missed = 0;
    for seed in 0..RUNS {
        let mut random = Random(seed ^ 0x5eed);
        let mut blocks: Vec<Measurement> = (0..40)
            .flat_map(|round| logs.map(|(key, log)| (round, key, log)))
            .map(|(round, key, log)| block_of_log(key, round, 9.0 + log + SPREAD * random.normal()))
            .collect();
        // The rounds that a run would have had, given what each would have shown.
        let had = run(&comparison, &blocks);
        blocks.retain(|m| (m.round as usize) < had.cell(&m.cell).unwrap().rounds);
        let after = rebased(&records(&comparison, &blocks), "y");
        let estimate = find(&after, "x", "y").estimate.unwrap();
        let truth = (0.055f64 - 0.1).exp();
        missed += u64::from(!(estimate.low..=estimate.high).contains(&truth));
    }
    // 5% of 400, and three standard deviations of a count of that size.
    assert!(missed <= 33, "{missed} of {RUNS}, seeds 0.. ^ 0x5eed");
}
