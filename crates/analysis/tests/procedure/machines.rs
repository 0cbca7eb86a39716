//! Results of one study from several machines.

use crate::rebase;
use crate::support::{contrast, id, records, rounds};
use stowplan_analysis::{
    Analysis, FindingAcross, FindingGroup, MachinesError, Shown, Verdict, analyse, machines,
};
use stowplan_model::{CellId, Comparison, Record, Role, RunHeader, SizeDistribution, Sweep, Value};

/// The rows of a cell.
fn group<'a>(found: &'a FindingAcross, key: &str) -> &'a FindingGroup {
    let mut groups = found.finding.groups.iter();
    let group = groups.find(|group| group.rows[0].cell == Some(id(key)));
    group.unwrap()
}

/// The cell that ratios are to.
fn reference(found: &FindingAcross) -> &CellId {
    let Shown::Ratios { to, .. } = &found.finding.shown else {
        panic!("{found:?}");
    };
    to
}

fn planned() -> Comparison {
    rebase::planned(&["slow", "fast"])
}

/// A run on a host, in which `slow` takes so many microseconds and the base 10,000.
fn run_on(host: &str, slow: f64) -> Analysis {
    changed(host, slow, |_| {})
}

fn changed(host: &str, slow: f64, change: impl FnOnce(&mut RunHeader)) -> Analysis {
    let times = [
        ("base", 10_000.0),
        ("again", 10_000.0),
        ("slow", slow),
        ("fast", 5_000.0),
    ];
    let mut records = records(&planned(), &rounds(&times, 0..10));
    let Some(Record::Run(run)) = records.first_mut() else {
        panic!("no header");
    };
    run.environment.host = host.to_owned();
    run.environment.file_system.kind = "ext4".to_owned();
    change(run);
    analyse(&records, None).unwrap()
}

#[test]
fn verdicts_are_counted_and_no_ratio_is_of_two_machines() {
    let runs = [
        run_on("a", 20_000.0),
        run_on("b", 15_000.0),
        run_on("c", 10_000.0),
    ];
    let all: Vec<&Analysis> = runs.iter().collect();
    let found = machines(&all).unwrap();
    assert_eq!((found.machines.len(), found.distinct), (3, 3));
    let comparison = &found.comparisons[0];
    assert_eq!(reference(comparison), &id("base"));
    assert_eq!(comparison.finding.groups.len(), 2, "no control");
    let slow = group(comparison, "slow");
    assert_eq!(slow.with(Verdict::Slower), [0, 1]);
    assert_eq!(slow.with(Verdict::Equivalent), [2]);
    for (run, row) in runs.iter().zip(&slow.rows) {
        let contrasts = &run.comparisons[0].contrasts;
        let contrast = contrasts.iter().find(|c| c.cell == id("slow")).unwrap();
        assert_eq!(
            (row.ratio(), row.verdict),
            (contrast.estimate, Some(contrast.verdict))
        );
    }
}

#[test]
fn machines_of_one_name_are_told_apart_and_one_machine_counts_once() {
    let named = |kind: &str, started: &str| {
        let (kind, started) = (kind.to_owned(), started.to_owned());
        changed("a", 20_000.0, |run| {
            run.environment.file_system.kind = kind;
            run.started = started;
        })
    };
    let labels = |runs: &[Analysis]| {
        let all: Vec<&Analysis> = runs.iter().collect();
        let found = machines(&all).unwrap();
        let labels: Vec<String> = found.machines.iter().map(|m| m.label.clone()).collect();
        (labels, found.distinct)
    };
    let by_system = [
        named("ext4", "2026-01-01T00:00:00Z"),
        named("xfs", "2026-01-02T00:00:00Z"),
    ];
    assert_eq!(
        labels(&by_system),
        (vec!["a (ext4)".to_owned(), "a (xfs)".to_owned()], 1)
    );
    let unknown_system = [
        named("", "2026-01-01T00:00:00Z"),
        named("xfs", "2026-01-02T00:00:00Z"),
    ];
    assert_eq!(
        labels(&unknown_system).0,
        ["a (2026-01-01)", "a (2026-01-02)"]
    );
    let by_day = [
        named("xfs", "2026-01-01T00:00:00Z"),
        named("xfs", "2026-01-02T00:00:00Z"),
        run_on("b", 20_000.0),
    ];
    let (found, distinct) = labels(&by_day);
    assert_eq!(found, ["a (2026-01-01)", "a (2026-01-02)", "b"]);
    assert_eq!(distinct, 2);
    let by_minute = [
        named("xfs", "2026-01-01T10:00:00Z"),
        named("xfs", "2026-01-01T10:07:00Z"),
    ];
    assert_eq!(
        labels(&by_minute).0,
        ["a (2026-01-01 10:00)", "a (2026-01-01 10:07)"]
    );
    let by_second = [
        named("xfs", "2026-01-01T10:00:00Z"),
        named("xfs", "2026-01-01T10:00:07Z"),
    ];
    assert_eq!(
        labels(&by_second).0,
        ["a (2026-01-01 10:00:00)", "a (2026-01-01 10:00:07)"]
    );
    let by_nothing = [1, 2].map(|seed| changed("a", 20_000.0, |run| run.seed = seed));
    assert_eq!(labels(&by_nothing).0, ["a (result 1)", "a (result 2)"]);
}

#[test]
fn what_is_not_the_same_everywhere_is_left_out_and_named() {
    let other = changed("b", 20_000.0, |run| {
        for cell in &mut run.plan.comparisons[0].cells {
            if cell.key == "slow" {
                cell.workload.per_transaction = stowplan_model::PerTransaction::Operations(7);
            }
        }
    });
    let first = run_on("a", 20_000.0);
    let found = machines(&[&first, &other]).unwrap();
    assert_eq!(found.differences.len(), 1);
    let difference = &found.differences[0];
    assert_eq!(
        (difference.cell.clone(), difference.machine, difference.what),
        (id("slow"), 1, "workload")
    );
    let slow = &group(&found.comparisons[0], "slow").rows[1];
    assert_eq!((slow.ratio(), slow.verdict), (None, Some(Verdict::NoData)));
    // Nothing beats what was left out: only the first machine says that one beats all.
    assert_eq!(found.comparisons[0].complete, [true, false]);
    let data = changed("b", 20_000.0, |run| {
        let dataset = run.plan.datasets.get_mut("blobs").unwrap();
        dataset.size = SizeDistribution::Fixed { bytes: 77 };
    });
    let found = machines(&[&first, &data]).unwrap();
    let nothing = |group: &FindingGroup| group.rows[1].verdict == Some(Verdict::NoData);
    assert!(found.comparisons[0].finding.groups.iter().all(nothing));
}

#[test]
fn to_beat_fewer_rivals_is_not_the_same_finding() {
    let mut fewer = run_on("b", 20_000.0);
    let comparison = &mut fewer.comparisons[0];
    comparison.cells.retain(|cell| cell.cell.key != "slow");
    assert_eq!(comparison.fastest, Some(id("fast")));
    let all = run_on("a", 20_000.0);
    let found = machines(&[&fewer, &all]).unwrap();
    assert!(found.differences.is_empty());
    assert_eq!(found.comparisons[0].complete, [false, true]);
}

#[test]
fn one_result_the_same_twice_and_several_studies_are_refused() {
    let (a, b) = (run_on("a", 20_000.0), run_on("b", 20_000.0));
    assert_eq!(machines(&[&a]), Err(MachinesError::TooFew));
    assert_eq!(machines(&[&a, &b, &a]), Err(MachinesError::Twice(0, 2)));
    let quick = changed("c", 20_000.0, |run| run.plan.scale = "quick".to_owned());
    let refused = machines(&[&a, &quick, &b]).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the results are not of one study at one scale: t at scale seed (result 1, 3); t at scale \
         quick (result 2)"
    );
}

#[test]
fn another_store_and_other_settings_are_told_from_another_workload() {
    let what = |change: fn(&mut stowplan_model::Cell)| {
        let other = changed("b", 20_000.0, |run| {
            run.plan.comparisons[0].cells.iter_mut().for_each(|cell| {
                if cell.key == "fast" {
                    change(cell);
                }
            });
        });
        let found = machines(&[&run_on("a", 20_000.0), &other]).unwrap();
        let told: Vec<&str> = found.differences.iter().map(|found| found.what).collect();
        assert_eq!(found.differences[0].cell, id("fast"));
        told.concat()
    };
    assert_eq!(what(|cell| cell.store.kind = "sqlite".to_owned()), "store");
    let first = |run: &mut RunHeader, words: &str| {
        let settings = &mut run.plan.comparisons[0].cells[3].settings;
        settings.set("layout", Value::Word(words.to_owned()));
    };
    let (tree, flat) = (
        changed("a", 20_000.0, |run| first(run, "tree")),
        changed("b", 20_000.0, |run| first(run, "flat")),
    );
    let found = machines(&[&tree, &flat]).unwrap();
    assert_eq!(found.differences[0].what, "settings");
}

#[test]
fn ratios_to_another_baseline_are_none_of_this_comparison() {
    let rebased = changed("b", 20_000.0, |run| {
        let comparison = &mut run.plan.comparisons[0];
        comparison.cells[0].role = Role::Candidate;
        comparison.cells[2].role = Role::Baseline;
        comparison.contrasts = vec![contrast("fast", "slow"), contrast("base", "slow")];
    });
    let found = machines(&[&run_on("a", 20_000.0), &rebased]).unwrap();
    let comparison = &found.comparisons[0];
    assert_eq!(reference(comparison), &id("base"));
    for group in &comparison.finding.groups {
        let row = &group.rows[1];
        assert_eq!((row.ratio(), row.verdict), (None, Some(Verdict::NoData)));
    }
    assert_eq!(comparison.reliable, [Some(true), None]);
}

#[test]
fn of_several_ratios_of_a_cell_the_one_to_the_baseline_counts() {
    let with_more = changed("b", 20_000.0, |run| {
        let contrasts = &mut run.plan.comparisons[0].contrasts;
        contrasts.insert(0, contrast("slow", "fast"));
        contrasts.insert(0, contrast("fast", "slow"));
    });
    let found = machines(&[&run_on("a", 20_000.0), &with_more]).unwrap();
    for row in &group(&found.comparisons[0], "slow").rows {
        assert!((row.ratio().unwrap().ratio - 2.0).abs() < 0.05, "{row:?}");
    }
}

#[test]
fn a_machine_that_measured_nothing_has_no_verdicts() {
    let mut records = records(&planned(), &[]);
    let Some(Record::Run(run)) = records.first_mut() else {
        panic!("no header");
    };
    run.environment.host = "idle".to_owned();
    let idle = analyse(&records, None).unwrap();
    let found = machines(&[&run_on("a", 20_000.0), &idle]).unwrap();
    let comparison = &found.comparisons[0];
    assert_eq!(comparison.reliable, [Some(true), None]);
    let slow = group(comparison, "slow");
    assert_eq!(slow.with(Verdict::Slower), [0]);
    assert_eq!(slow.with(Verdict::NoData), [1]);
}

#[test]
fn a_comparison_of_a_sweep_is_a_part_and_any_other_is_not() {
    let part = |id: &str| {
        let run = |host: &str| {
            changed(host, 20_000.0, |run| {
                run.plan.comparisons[0].id = id.to_owned();
                run.plan.sweeps.push(Sweep {
                    id: "size".to_owned(),
                    a: "a".to_owned(),
                    b: "b".to_owned(),
                });
            })
        };
        let found = machines(&[&run("a"), &run("b")]).unwrap();
        found.comparisons[0].part
    };
    assert_eq!([part("c"), part("size-1024")], [false, true]);
}
