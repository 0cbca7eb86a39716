//! Results of one study from several machines.

use crate::support::{cell_mut, comparison, contrast, each, id, records, rounds, set};
use stowplan_analysis::{
    Analysis, FindingAcross, FindingGroup, FindingRow, MachinesError, MachinesOutcome, Shown,
    Verdict, analyse, machines,
};
use stowplan_model::{
    Cell, CellId, PerTransaction, Record, Role, RunHeader, SizeDistribution, Sweep,
};

/// `slow` takes so many microseconds, and the base 10,000.
fn times(slow: f64) -> Vec<(&'static str, f64)> {
    let times = [10_000.0, 10_000.0, slow, 5_000.0];
    each("base again slow fast", &times)
}

fn run_on(host: &str, slow: f64) -> Analysis {
    measured(host, &times(slow), |_| {})
}

/// A run on a host, whose header is changed.
fn changed(host: &str, change: impl FnOnce(&mut RunHeader)) -> Analysis {
    measured(host, &times(20_000.0), change)
}

fn measured(host: &str, times: &[(&str, f64)], change: impl FnOnce(&mut RunHeader)) -> Analysis {
    // As plans make it: the control has the key of the baseline that it is a copy of.
    let mut plan = comparison(&["slow", "fast"]);
    plan.cells[1].key = "base".to_owned();
    let mut records = records(&plan, &rounds(times, 0..10));
    if let Record::Run(run) = &mut records[0] {
        run.environment.host = host.to_owned();
        run.environment.file_system.kind = "ext4".to_owned();
        change(run);
    }
    analyse(&records, None).unwrap()
}

/// What is found beside a run on another machine, `a`.
fn beside(other: &Analysis) -> MachinesOutcome {
    machines(&[&run_on("a", 20_000.0), other]).unwrap()
}

/// The rows of a cell in the only comparison.
fn rows<'a>(found: &'a [FindingAcross], key: &str) -> &'a FindingGroup {
    let mut groups = found[0].finding.groups.iter();
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

fn says_nothing(row: &FindingRow) -> bool {
    (row.ratio(), row.verdict) == (None, Some(Verdict::NoData))
}

#[test]
fn verdicts_are_counted_and_no_ratio_is_of_two_machines() {
    let runs = [("a", 20_000.0), ("b", 15_000.0), ("c", 10_000.0)];
    let runs = runs.map(|(host, slow)| run_on(host, slow));
    let found = machines(&runs.each_ref()).unwrap();
    assert_eq!((found.machines.len(), found.distinct), (3, 3));
    let comparison = &found.comparisons[0];
    assert_eq!(reference(comparison), &id("base"));
    assert_eq!(comparison.finding.groups.len(), 2, "no control");
    let slow = rows(&found.comparisons, "slow");
    assert_eq!(slow.with(Verdict::Slower), [0, 1]);
    assert_eq!(slow.with(Verdict::Equivalent), [2]);
    for (run, row) in runs.iter().zip(&slow.rows) {
        let mut contrasts = run.comparisons[0].contrasts.iter();
        let contrast = contrasts.find(|c| c.cell == id("slow")).unwrap();
        assert_eq!(row.ratio(), contrast.estimate);
        assert_eq!(row.verdict, Some(contrast.verdict));
    }
}

#[test]
fn machines_of_one_name_are_told_apart_and_one_machine_counts_once() {
    const XFS: [&str; 2] = ["xfs"; 2];
    // Host, file system and start of each; of labels, without the month.
    let labels = |runs: &[(&str, &str, &str)]| {
        let runs = runs.iter().zip(1..).map(|((host, kind, started), seed)| {
            changed(host, |run| {
                run.environment.file_system.kind = (*kind).to_owned();
                (run.started, run.seed) = (format!("2026-01-{started}Z"), seed);
            })
        });
        let runs: Vec<Analysis> = runs.collect();
        let found = machines(&runs.iter().collect::<Vec<_>>()).unwrap();
        let labels = found.machines.iter().map(|machine| machine.label.clone());
        let labels = labels.collect::<Vec<_>>().join("; ");
        (labels.replace("2026-01-", ""), found.distinct)
    };
    let (first, second) = ("01T00:00:00", "02T00:00:00");
    let (ten, minutes, seconds) = ("01T10:00:00", "01T10:07:00", "01T10:00:07");
    for (kinds, a, b, expected) in [
        (["ext4", "xfs"], first, second, "a (ext4); a (xfs)"),
        (["", "xfs"], first, second, "a (01); a (02)"),
        (XFS, ten, minutes, "a (01 10:00); a (01 10:07)"),
        (XFS, ten, seconds, "a (01 10:00:00); a (01 10:00:07)"),
        (XFS, first, first, "a (result 1); a (result 2)"),
    ] {
        let both = labels(&[("a", kinds[0], a), ("a", kinds[1], b)]);
        assert_eq!(both, (expected.to_owned(), 1));
    }
    let three = labels(&[
        ("a", "xfs", first),
        ("a", "xfs", second),
        ("b", "ext4", first),
    ]);
    assert_eq!(three, ("a (01); a (02); b".to_owned(), 2));
}

#[test]
fn what_is_not_the_same_everywhere_is_left_out_and_named() {
    type Otherwise = fn(&mut Cell);
    let changes: [(&str, &str, Otherwise); 3] = [
        ("slow", "workload", |cell| {
            cell.workload.per_transaction = PerTransaction::Operations(7);
        }),
        ("fast", "store", |cell| {
            cell.store.kind = "sqlite".to_owned();
        }),
        ("fast", "settings", |cell| set(cell, "layout", "flat")),
    ];
    let first = changed("a", |run| {
        set(
            cell_mut(&mut run.plan.comparisons[0], "fast"),
            "layout",
            "tree",
        );
    });
    for (key, what, change) in changes {
        let other = changed("b", |run| {
            change(cell_mut(&mut run.plan.comparisons[0], key));
        });
        let found = machines(&[&first, &other]).unwrap();
        let differences = found.differences.iter();
        let told: Vec<_> = differences.map(|d| (&d.cell, d.machine, d.what)).collect();
        assert_eq!(told, [(&id(key), 1, what)]);
        let row = &rows(&found.comparisons, key).rows[1];
        assert!(says_nothing(row), "{what}");
        // Nothing beats what was left out: only the first machine says that one beats all.
        assert_eq!(found.comparisons[0].complete, [true, false], "{what}");
    }
    let data = changed("b", |run| {
        let dataset = run.plan.datasets.get_mut("blobs").unwrap();
        dataset.size = SizeDistribution::Fixed { bytes: 77 };
    });
    let found = beside(&data);
    let mut groups = found.comparisons[0].finding.groups.iter();
    assert!(groups.all(|group| group.rows[1].verdict == Some(Verdict::NoData)));
    // To beat fewer rivals is not the same finding.
    let mut fewer = run_on("b", 20_000.0);
    let comparison = &mut fewer.comparisons[0];
    comparison.cells.retain(|cell| cell.cell.key != "slow");
    assert_eq!(comparison.fastest, Some(id("fast")));
    let found = beside(&fewer);
    assert!(found.differences.is_empty());
    assert_eq!(found.comparisons[0].complete, [true, false]);
}

#[test]
fn one_result_the_same_twice_and_several_studies_are_refused() {
    let (a, b) = (run_on("a", 20_000.0), run_on("b", 20_000.0));
    assert_eq!(machines(&[&a]), Err(MachinesError::TooFew));
    assert_eq!(machines(&[&a, &b, &a]), Err(MachinesError::Twice(0, 2)));
    let quick = changed("c", |run| run.plan.scale = "quick".to_owned());
    let refused = machines(&[&a, &quick, &b]).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the results are not of one study at one scale: t at scale seed (result 1, 3); t at scale \
         quick (result 2)"
    );
}

#[test]
fn ratios_to_another_baseline_are_none_of_this_comparison_and_of_several_that_to_it_counts() {
    let rebased = changed("b", |run| {
        let comparison = &mut run.plan.comparisons[0];
        comparison.cells[0].role = Role::Candidate;
        comparison.cells[2].role = Role::Baseline;
        comparison.contrasts = vec![contrast("fast", "slow"), contrast("base", "slow")];
    });
    let found = beside(&rebased);
    let comparison = &found.comparisons[0];
    assert_eq!(reference(comparison), &id("base"));
    let mut groups = comparison.finding.groups.iter();
    assert!(groups.all(|group| says_nothing(&group.rows[1])));
    assert_eq!(comparison.reliable, [Some(true), None]);
    let with_more = changed("b", |run| {
        let contrasts = &mut run.plan.comparisons[0].contrasts;
        let more = [contrast("fast", "slow"), contrast("slow", "fast")];
        contrasts.splice(..0, more);
    });
    for row in &rows(&beside(&with_more).comparisons, "slow").rows {
        assert!((row.ratio().unwrap().ratio - 2.0).abs() < 0.05, "{row:?}");
    }
}

#[test]
fn a_machine_that_measured_nothing_has_no_verdicts() {
    let found = beside(&measured("idle", &[], |_| {}));
    assert_eq!(found.comparisons[0].reliable, [Some(true), None]);
    let slow = rows(&found.comparisons, "slow");
    assert_eq!(slow.with(Verdict::Slower), [0]);
    assert_eq!(slow.with(Verdict::NoData), [1]);
}

#[test]
fn a_comparison_of_a_sweep_is_a_part_and_any_other_is_not() {
    for (id, part) in [("c", false), ("size-1024", true)] {
        let runs = ["a", "b"].map(|host| {
            changed(host, |run| {
                run.plan.comparisons[0].id = id.to_owned();
                run.plan.sweeps.push(Sweep {
                    id: "size".to_owned(),
                    a: "a".to_owned(),
                    b: "b".to_owned(),
                });
            })
        });
        let found = machines(&runs.each_ref()).unwrap();
        assert_eq!(found.comparisons[0].part, part);
    }
}
