//! Another baseline for a run that was measured already.

use crate::support::{
    RULE, Random, analysis, block_of_log, cell, comparison, contrast, header, id, records, rounds,
};
use stowplan_analysis::{
    Analysis, ContrastOutcome, RebaseError, Verdict, analyse, rebase, undecided,
};
use stowplan_model::{
    Comparison, Extension, Measurement, Record, Role, StoreSpec, Sweep, WarningKind,
};

/// As plans make it: the control has the key of the baseline that it is a copy of.
pub(crate) fn planned(candidates: &[&str]) -> Comparison {
    let mut comparison = comparison(candidates);
    comparison.cells[1].key = "base".to_owned();
    comparison
}

fn measured() -> Vec<Measurement> {
    let times = [
        ("base", 10_000.0),
        ("again", 10_080.0),
        ("slow", 20_000.0),
        ("fast", 5_000.0),
    ];
    rounds(&times, 0..10)
}

fn rebased(records: &[Record], baseline: &str) -> Analysis {
    let mut records = records.to_vec();
    rebase(&mut records, baseline).unwrap();
    analyse(&records, None).unwrap()
}

fn find<'a>(analysis: &'a Analysis, cell: &str, reference: &str) -> &'a ContrastOutcome {
    let mut contrasts = analysis.comparisons[0].contrasts.iter();
    contrasts
        .find(|c| c.cell == id(cell) && c.reference == id(reference))
        .unwrap()
}

#[test]
fn the_ratio_to_the_new_baseline_is_the_inverse_of_what_it_was() {
    let comparison = planned(&["slow", "fast"]);
    let before = analysis(&comparison, &measured());
    let after = rebased(&records(&comparison, &measured()), "slow");
    let was = find(&before, "slow", "base").inverse();
    let is = find(&after, "base", "slow");
    assert_eq!(is.verdict, was.verdict);
    let (is, was) = (is.estimate.unwrap(), was.estimate.unwrap());
    for (is, was) in [
        (is.ratio, was.ratio),
        (is.low, was.low),
        (is.high, was.high),
    ] {
        // Its interval rests on what all ratios show of noise, which are others.
        assert!((is / was - 1.0).abs() < 0.005, "{is} {was}");
    }
    assert_eq!(is.rounds, was.rounds);
    let fast = find(&after, "fast", "slow");
    assert_eq!(fast.verdict, Verdict::Faster);
    assert!(
        (fast.estimate.unwrap().ratio - 0.25).abs() < 0.01,
        "{fast:?}"
    );
    assert_eq!(after.comparisons[0].contrasts.len(), 2);
}

#[test]
fn the_noise_stays_that_of_the_cell_that_was_measured_twice() {
    let comparison = planned(&["slow", "fast"]);
    let before = analysis(&comparison, &measured());
    let after = rebased(&records(&comparison, &measured()), "slow");
    let (before, after) = (&before.comparisons[0], &after.comparisons[0]);
    let [was, is] = [before, after].map(|found| found.control.unwrap());
    assert_eq!(
        (is.estimate.ratio, is.verdict),
        (was.estimate.ratio, was.verdict)
    );
    assert!((before.control.unwrap().estimate.ratio - 1.008).abs() < 0.005);
    assert_eq!(before.noise_floor.to_bits(), after.noise_floor.to_bits());
    assert_eq!(before.reliable, after.reliable);
}

#[test]
fn a_session_that_fails_its_gate_claims_nothing_of_any_baseline() {
    let comparison = planned(&["slow"]);
    let times = [("base", 10_000.0), ("again", 11_500.0), ("slow", 20_000.0)];
    let after = rebased(&records(&comparison, &rounds(&times, 0..10)), "slow");
    assert!(!after.comparisons[0].reliable);
    assert_eq!(find(&after, "base", "slow").verdict, Verdict::Unreliable);
}

#[test]
fn roles_are_exchanged_and_the_baseline_stands_first() {
    let comparison = planned(&["slow", "fast"]);
    let after = rebased(&records(&comparison, &measured()), "c/fast");
    let cells = &after.comparisons[0].cells;
    let roles: Vec<(&str, Role)> = cells
        .iter()
        .map(|cell| (cell.cell.id.0.as_str(), cell.cell.role))
        .collect();
    assert_eq!(
        roles,
        [
            ("c/fast", Role::Baseline),
            ("c/base", Role::Candidate),
            ("c/again", Role::Control),
            ("c/slow", Role::Candidate),
        ]
    );
    assert_eq!(after.comparisons[0].fastest, Some(id("fast")));
    assert_eq!(after.warnings[0].kind, WarningKind::ChosenBaseline);
    let warning = &after.warnings[0].message;
    assert!(warning.contains("c/fast instead of base"), "{warning}");
}

#[test]
fn the_warning_follows_the_header_and_names_the_comparisons_that_keep_their_own() {
    let message = |others: &[&str]| {
        let comparison = planned(&["slow", "fast"]);
        let mut all = records(&comparison, &measured());
        let Record::Run(run) = &mut all[0] else {
            panic!("no header");
        };
        for id in others {
            let mut other = planned(&["fast"]);
            other.id = (*id).to_owned();
            run.plan.comparisons.push(other);
        }
        run.plan.sweeps.push(Sweep {
            id: "size".to_owned(),
            a: "a".to_owned(),
            b: "b".to_owned(),
        });
        rebase(&mut all, "slow").unwrap();
        assert!(matches!(all[0], Record::Run(_)));
        let Record::Warning(warning) = &all[1] else {
            panic!("{:?}", all[1]);
        };
        warning.message.clone()
    };
    assert!(!message(&[]).contains("keep"), "{}", message(&[]));
    let one = message(&["d", "size-1024"]);
    assert!(one.contains("a comparison keeps its own: d. "), "{one}");
    let two = message(&["d", "e"]);
    assert!(two.contains("a comparison keeps its own: d, e. "), "{two}");
}

#[test]
fn choosing_the_planned_baseline_changes_nothing_and_going_back_restores_it() {
    let comparison = planned(&["slow", "fast"]);
    let original = records(&comparison, &measured());
    let mut same = original.clone();
    rebase(&mut same, "base").unwrap();
    assert_eq!(same, original);
    let mut there = original.clone();
    rebase(&mut there, "slow").unwrap();
    rebase(&mut there, "base").unwrap();
    let back = analyse(&there, None).unwrap();
    let before = analysis(&comparison, &measured());
    for (cell, reference) in [("slow", "base"), ("fast", "base")] {
        assert_eq!(find(&back, cell, reference), find(&before, cell, reference));
    }
    assert_eq!(back.comparisons[0].contrasts.len(), 2);
}

#[test]
fn ratios_that_a_chart_asks_for_stay_beside_the_new_ones() {
    let mut comparison = planned(&["slow", "fast", "third"]);
    comparison.contrasts.push(contrast("fast", "third"));
    comparison.contrasts.push(contrast("slow", "fast"));
    let mut times = measured();
    times.extend(rounds(&[("third", 7_000.0)], 0..10));
    let after = rebased(&records(&comparison, &times), "slow");
    let pairs: Vec<(&str, &str)> = after.comparisons[0]
        .contrasts
        .iter()
        .map(|c| (c.cell.0.as_str(), c.reference.0.as_str()))
        .collect();
    assert_eq!(
        pairs,
        [
            ("c/base", "c/slow"),
            ("c/fast", "c/slow"),
            ("c/third", "c/slow"),
            ("c/fast", "c/third"),
        ]
    );
}

#[test]
fn a_cell_that_cannot_be_a_baseline_is_refused_with_the_reason() {
    let mut comparison = planned(&["slow"]);
    comparison.cells.push(cell("floor", Role::Floor));
    let original = records(&comparison, &[]);
    let refused = |name: &str| rebase(&mut original.clone(), name).unwrap_err();
    let unknown = refused("slwo").to_string();
    assert_eq!(
        unknown,
        "no cell is called 'slwo' (there are base, floor, slow); did you mean 'slow'?"
    );
    let unknown = refused("c/slwo").to_string();
    assert!(unknown.contains("did you mean 'c/slow'?"), "{unknown}");
    assert_eq!(refused("floor"), RebaseError::Floor("floor".to_owned()));
    assert!(matches!(refused("c/again"), RebaseError::Unknown { .. }));
    assert_eq!(
        rebase(&mut Vec::new(), "slow").unwrap_err(),
        RebaseError::NoHeader
    );
}

#[test]
fn parts_of_a_sweep_keep_their_reference() {
    let mut comparison = planned(&["slow"]);
    comparison.id = "sweep-4096".to_owned();
    let mut original = vec![header(&comparison)];
    let Record::Run(run) = &mut original[0] else {
        panic!("no header");
    };
    run.plan.sweeps.push(Sweep {
        id: "sweep".to_owned(),
        a: "files".parse::<StoreSpec>().unwrap().to_string(),
        b: "sqlite".to_owned(),
    });
    original.push(Record::Extension(Extension {
        comparisons: vec![planned(&["later"])],
        ..Extension::default()
    }));
    for part in ["slow", "later"] {
        assert_eq!(
            rebase(&mut original.clone(), part),
            Err(RebaseError::Constituent(part.to_owned())),
        );
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
        let available: Vec<Measurement> = (0..40)
            .flat_map(|round| logs.map(|(key, log)| (round, key, log)))
            .map(|(round, key, log)| block_of_log(key, round, 9.0 + log + SPREAD * random.normal()))
            .collect();
        let measured = run_planned(&comparison, &available);
        let after = rebased(&records(&comparison, &measured), "y");
        let estimate = find(&after, "x", "y").estimate.unwrap();
        let truth = (0.055f64 - 0.1).exp();
        missed += u64::from(!(estimate.low..=estimate.high).contains(&truth));
    }
    // 5% of 400, and three standard deviations of a count of that size.
    assert!(
        missed <= 33,
        "{missed} of {RUNS} intervals miss, seeds 0 to {RUNS} ^ 0x5eed"
    );
}

/// The rounds that a run would have had, given what each would have shown.
fn run_planned(comparison: &Comparison, available: &[Measurement]) -> Vec<Measurement> {
    let mut measured: Vec<Measurement> = Vec::new();
    let mut needed: Vec<_> = comparison.cells.iter().map(|c| c.id.clone()).collect();
    for (from, to) in [(0, 10), (10, 20), (20, 40)] {
        let of_now = |m: &&Measurement| (from..to).contains(&m.round) && needed.contains(&m.cell);
        measured.extend(available.iter().filter(of_now).cloned());
        let open = undecided(comparison, &measured, &RULE);
        if open.is_empty() {
            break;
        }
        let cells = open.into_iter().flat_map(|c| [c.cell, c.reference]);
        needed = cells.chain([id("base"), id("again")]).collect();
    }
    measured
}
