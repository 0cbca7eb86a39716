//! Two sessions against each other: on made-up runs whose answer is known.

use crate::support::{analysis, comparison, id, noisy, with_floor};
use stowplan_analysis::Analysis;
use stowplan_analysis::compare::{
    CellChange, ChangeVerdict, Changes, Decides, Obstacle, Question, compare,
};
use stowplan_model::{
    CacheState, Cell, CellFailure, CellId, Comparison, Durability, Operation, Role, Value,
};

/// A session in which the machine is slower by `drift` and `other` by `slower`.
fn session(seed: u64, drift: f64, slower: f64) -> Analysis {
    let times = [
        ("base", 8_000.0 * drift),
        ("again", 8_000.0 * drift),
        ("other", 4_000.0 * drift * slower),
        ("floor", 2_000.0 * drift),
    ];
    analysis(&with_floor(), &noisy(seed, 100.0, &times, 20))
}

fn changes(base: &Analysis, new: &Analysis) -> Changes {
    compare(base, new, &Question::default()).unwrap()
}

pub(crate) fn change<'a>(changes: &'a Changes, key: &str) -> &'a CellChange {
    let mut cells = changes.cells.iter();
    cells.find(|cell| cell.base == id(key)).unwrap()
}

#[test]
fn the_same_result_twice_shows_no_change() {
    let session = session(1, 1.0, 1.0);
    let found = changes(&session, &session);
    assert!(found.same_machine && found.environment.is_empty() && found.not_compared.is_empty());
    assert_eq!(found.decides, Decides::Time);
    let names: Vec<&CellId> = found.cells.iter().map(|cell| &cell.base).collect();
    assert_eq!(names.len(), 2, "neither control nor floor: {names:?}");
    for cell in &found.cells {
        assert_eq!(cell.time.ratio, 1.0);
        assert_eq!(cell.time_verdict, ChangeVerdict::NoChange, "{cell:?}");
        assert!(!cell.regression);
    }
}

#[test]
fn a_slower_cell_regresses_in_time_and_in_its_ratio_and_stands_first() {
    let found = changes(&session(1, 1.0, 1.0), &session(2, 1.0, 1.2));
    let other = &found.cells[0];
    assert_eq!(other.base, id("other"));
    assert!(other.regression, "{other:?}");
    let ratio = other.ratio.unwrap();
    for change in [other.time, ratio] {
        assert!(change.low < 1.2 && 1.2 < change.high, "{change:?}");
        assert!(change.low > 1.1, "{change:?}");
    }
    let back = changes(&session(2, 1.0, 1.2), &session(1, 1.0, 1.0));
    assert_eq!(change(&back, "other").time_verdict, ChangeVerdict::Faster);
    assert_eq!(back.regressions().count(), 0);
}

#[test]
fn what_the_floor_shifted_widens_times_so_that_a_slower_machine_is_no_regression() {
    let found = changes(&session(1, 1.0, 1.0), &session(2, 1.1, 1.0));
    let floor = found.floors[0].time;
    assert!((floor.ratio - 1.1).abs() < 0.02, "{floor:?}");
    for cell in &found.cells {
        let time = cell.time;
        assert!((time.drift_slower - floor.ratio.ln()).abs() < 1e-12);
        assert_eq!(time.drift_faster, 0.0);
        assert!(!cell.regression, "{cell:?}");
    }
    let ratio = change(&found, "other").ratio.unwrap();
    let floor = found.floors[0].ratio.unwrap();
    assert!((ratio.drift_slower - floor.ratio.ln().max(0.0)).abs() < 1e-12);
    assert!(ratio.drift_slower < 0.02, "{ratio:?}");
    assert!(ratio.low < 1.0 && ratio.high > 1.0, "{ratio:?}");
}

#[test]
fn what_slowed_the_floor_cannot_have_made_a_cell_faster() {
    let base = session(1, 1.0, 1.0);
    // The floor takes 1.2 times as long, `other` 1/1.2 of its time.
    let found = changes(&base, &session(2, 1.2, 1.0 / 1.44));
    let other = change(&found, "other");
    assert_eq!(other.time_verdict, ChangeVerdict::Faster, "{other:?}");
}

/// A session whose cells take the same time as in any other one.
fn without_floor(seed: u64, rounds: u32) -> Analysis {
    let times = [("base", 8_000.0), ("again", 8_000.0), ("other", 4_000.0)];
    analysis(&comparison(&["other"]), &noisy(seed, 100.0, &times, rounds))
}

#[test]
fn without_a_floor_drift_is_assumed_and_said_to_be() {
    let found = changes(&without_floor(1, 20), &without_floor(2, 20));
    assert!(found.drift_assumed && found.floors.is_empty());
    let time = found.cells[0].time;
    assert!(time.drift_slower > 0.02 && time.drift_slower == time.drift_faster);
}

#[test]
fn intervals_are_widened_by_the_noise_floors_of_both_runs() {
    let sessions = [
        [session(1, 1.0, 1.0), session(2, 1.0, 1.0)],
        [without_floor(1, 20), without_floor(2, 20)],
    ];
    for [base, new] in sessions {
        let found = changes(&base, &new);
        let both = base.comparisons[0].noise_floor + new.comparisons[0].noise_floor;
        for cell in &found.cells {
            let time = cell.time;
            assert!((time.noise_floor - both).abs() < 1e-12);
            let widened = (time.raw_low / time.low).ln();
            assert!(
                (widened - both - time.drift_slower).abs() < 1e-9,
                "{time:?}"
            );
            let widened = (time.high / time.raw_high).ln();
            assert!(
                (widened - both - time.drift_faster).abs() < 1e-9,
                "{time:?}"
            );
        }
    }
}

#[test]
fn a_threshold_must_lie_outside_the_whole_interval() {
    let (base, new) = (session(1, 1.0, 1.0), session(2, 1.0, 1.2));
    let at = |threshold: f64| {
        let question = Question {
            threshold: Some(threshold),
            ..Question::default()
        };
        let found = compare(&base, &new, &question).unwrap();
        change(&found, "other").time_verdict
    };
    assert_eq!(at(0.1), ChangeVerdict::Slower);
    assert_eq!(at(0.2), ChangeVerdict::Differs);
    assert_eq!(at(0.5), ChangeVerdict::Small);
}

#[test]
fn what_is_only_less_than_the_threshold_is_not_called_unchanged() {
    let (base, new) = (session(1, 1.0, 1.0), session(2, 1.15, 1.0));
    let at = |threshold| {
        let question = Question {
            threshold,
            ..Question::default()
        };
        let found = compare(&base, &new, &question).unwrap();
        change(&found, "base").time_verdict
    };
    assert_eq!(at(None), ChangeVerdict::Unresolved);
    assert_eq!(at(Some(0.1)), ChangeVerdict::Unresolved);
    assert_eq!(at(Some(0.3)), ChangeVerdict::WithinThreshold);
    let question = Question {
        threshold: Some(0.005),
        ..Question::default()
    };
    let found = compare(&base, &session(3, 1.0, 1.0), &question).unwrap();
    assert_eq!(found.zone, 0.005);
    let verdict = change(&found, "base").time_verdict;
    assert_eq!(verdict, ChangeVerdict::Unresolved, "{found:?}");
}

#[test]
fn on_another_machine_nothing_decides_unless_asked_to() {
    let base = session(1, 1.0, 1.0);
    let mut new = session(2, 2.0, 1.2);
    new.run.environment.cpu = Some("another".to_owned());
    let found = changes(&base, &new);
    assert!(!found.same_machine);
    assert_eq!(found.decides, Decides::Nothing);
    assert_eq!(found.regressions().count(), 0);
    // Twice as slow is what the floor explains, and 1.2 times that is more.
    let other = change(&found, "other");
    assert!(other.time.drift_slower > 0.6, "{other:?}");
    assert_eq!(other.time_verdict, ChangeVerdict::Slower);
    assert!(change(&found, "base").time.low < 1.0, "{found:?}");
    let by_ratio = Question {
        by: Some(Decides::Ratio),
        ..Question::default()
    };
    let found = compare(&base, &new, &by_ratio).unwrap();
    let regressed: Vec<&CellId> = found.regressions().map(|cell| &cell.base).collect();
    assert_eq!(regressed, [&id("other")]);
    assert!(
        change(&found, "base").ratio.is_none(),
        "it has no ratio to itself"
    );
}

#[test]
fn a_baseline_of_other_settings_is_none_to_relate_to() {
    let base = session(1, 1.0, 1.0);
    let mut new = session(2, 1.0, 1.0);
    let baseline = &mut new.comparisons[0].cells[0].cell;
    baseline
        .settings
        .set("layout", Value::Word("tree".to_owned()));
    let found = changes(&base, &new);
    assert!(change(&found, "other").ratio.is_none());
    let shown = &change(&found, "base").differences;
    assert_eq!(
        (&*shown[0].what, shown[0].new.as_deref()),
        ("layout", Some("tree"))
    );
}

/// Why `other` was not compared.
fn obstacles(spoil: impl Fn(&mut Analysis)) -> Vec<Obstacle> {
    let base = session(1, 1.0, 1.0);
    let mut new = session(2, 1.0, 1.0);
    spoil(&mut new);
    let found = changes(&base, &new);
    assert!(
        !found.cells.iter().any(|cell| cell.base == id("other")),
        "{found:?}"
    );
    let mut left_out = found.not_compared.into_iter();
    left_out
        .find(|left_out| left_out.cell == id("other"))
        .unwrap()
        .reasons
}

#[test]
fn what_is_not_the_same_is_not_compared_and_the_reason_is_named() {
    let told = |reasons: Vec<Obstacle>| -> (String, String) {
        let [reason] = reasons.try_into().unwrap();
        let differences = reason.differences.iter().map(|difference| {
            let side = |text: &Option<String>| text.clone().unwrap_or_default();
            let (base, new) = (side(&difference.base), side(&difference.new));
            format!("{} {base} -> {new}", difference.what)
        });
        (reason.reason, differences.collect::<Vec<_>>().join(", "))
    };
    let each = |change: fn(&mut Cell)| {
        told(obstacles(|new| {
            let cells = new.comparisons[0].cells.iter_mut();
            cells.for_each(|summary| change(&mut summary.cell));
        }))
    };
    let is = |told: (String, String), reason: &str, differences: &str| {
        assert_eq!((told.0.as_str(), told.1.as_str()), (reason, differences));
    };
    let dataset = obstacles(|new| {
        let dataset = new.run.plan.datasets.get_mut("blobs").unwrap();
        dataset.count = 2000;
        dataset.seed = 9;
    });
    is(
        told(dataset),
        "not the same",
        "values 1000 -> 2000, seed 1 -> 9",
    );
    let threads = each(|cell| cell.workload.threads = 4);
    is(threads, "not the same", "threads one thread -> 4 threads");
    let cold = each(|cell| cell.workload.cache = CacheState::Cold);
    is(cold, "not the same", "page cache warm -> cold");

    let unreliable = told(obstacles(|new| new.comparisons[0].reliable = false));
    assert!(
        unreliable.0.starts_with("NEW: unreliable: "),
        "{unreliable:?}"
    );
    let failed = obstacles(|new| {
        new.comparisons[0].cells[2].rounds = 0;
        new.failures.push(CellFailure {
            cell: id("other"),
            message: "the disk is full".to_owned(),
            stderr: String::new(),
        });
    });
    assert!(failed[0].of_measurement);
    is(told(failed), "NEW: failed: the disk is full", "");
    let few = told(obstacles(|new| new.comparisons[0].cells[2].rounds = 9));
    is(few, "NEW: 9 rounds of at least 10", "");

    let gone = obstacles(|new| {
        new.comparisons[0].cells.remove(2);
    });
    assert!(!gone[0].of_measurement);
    is(told(gone), "not in NEW", "");
    let cannot = obstacles(|new| {
        let comparison = &mut new.comparisons[0];
        comparison.cells.remove(2);
        let why = "it cannot".to_owned();
        comparison
            .not_applicable
            .insert("the other".to_owned(), why);
    });
    is(told(cannot), "not applicable in NEW: it cannot", "");
}

#[test]
fn a_promise_counts_for_writes_only() {
    let promise = |writes: bool| {
        let mut sessions = [session(1, 1.0, 1.0), session(2, 1.0, 1.0)];
        for summary in sessions
            .iter_mut()
            .flat_map(|s| &mut s.comparisons[0].cells)
        {
            if writes {
                summary.cell.workload.operation = Operation::Overwrite;
            }
        }
        let [base, mut new] = sessions;
        new.comparisons[0].cells[2]
            .cell
            .capabilities
            .durability
            .class = Durability::None;
        changes(&base, &new)
    };
    assert_eq!(promise(false).cells.len(), 2);
    let found = promise(true);
    assert_eq!(found.cells.len(), 1);
    let [reason] = &found.not_compared[0].reasons[..] else {
        panic!("{found:?}");
    };
    assert_eq!(reason.differences[0].what, "durability promise");
}

#[test]
fn cells_are_compared_by_name_unless_they_are_paired() {
    let (base, new) = (session(1, 1.0, 1.0), session(2, 1.0, 1.0));
    let pair = |a: &str, b: &str| Question {
        cells: vec![(id(a), id(b))],
        ..Question::default()
    };
    let found = compare(&base, &new, &pair("other", "base")).unwrap();
    assert_eq!(found.cells.len(), 1);
    assert_eq!(
        (&found.cells[0].base, &found.cells[0].new),
        (&id("other"), &id("base"))
    );
    assert!(found.cells[0].regression, "it takes twice as long");
    assert_eq!(found.cells[0].ratio, None, "one of them is a baseline");
    let alone: Vec<&CellId> = found
        .not_compared
        .iter()
        .map(|left_out| &left_out.cell)
        .collect();
    assert_eq!(alone, [&id("base"), &id("other")]);
    let mut left_out = found.not_compared.iter();
    assert!(left_out.all(|left_out| left_out.reasons[0].reason == "paired otherwise by --cells"));
    let twice = |a: (&str, &str), b: (&str, &str)| {
        let question = Question {
            cells: vec![(id(a.0), id(a.1)), (id(b.0), id(b.1))],
            ..Question::default()
        };
        compare(&base, &new, &question).unwrap_err().to_string()
    };
    assert_eq!(
        twice(("other", "base"), ("other", "other")),
        "'c/other' of BASE is paired twice; pair it once"
    );
    assert_eq!(
        twice(("other", "base"), ("base", "base")),
        "'c/base' of NEW is paired twice; pair it once"
    );
    let error = compare(&base, &new, &pair("othre", "base")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "BASE has no cell 'c/othre'; did you mean 'c/other'?"
    );
}

/// The changes of a session whose program is the same, on this machine and on another one.
fn here_and_elsewhere(plan: &Comparison, new: &[(&str, f64)], question: &Question) -> [Changes; 2] {
    let old: Vec<(&str, f64)> = new.iter().map(|(key, _)| (*key, 4_000.0)).collect();
    let base = analysis(plan, &noisy(1, 100.0, &old, 20));
    let mut new = analysis(plan, &noisy(2, 100.0, new, 20));
    let here = compare(&base, &new, question).unwrap();
    new.run.environment.kernel = "7.0".to_owned();
    [here, compare(&base, &new, question).unwrap()]
}

#[test]
fn intervals_are_as_wide_between_machines_as_on_one() {
    let by = |by, threshold| Question {
        by,
        threshold,
        ..Question::default()
    };
    let questions = [
        by(Some(Decides::Time), None),
        by(Some(Decides::Ratio), None),
        by(None, Some(0.01)),
    ];
    let floor = [
        ("base", 4_100.0),
        ("again", 4_100.0),
        ("other", 4_100.0),
        ("floor", 4_120.0),
    ];
    for question in questions {
        for (plan, times) in [
            (with_floor(), &floor[..]),
            (comparison(&["other"]), &floor[..3]),
        ] {
            let [here, elsewhere] = here_and_elsewhere(&plan, times, &question);
            assert!(!elsewhere.same_machine);
            assert_eq!(here.drift_assumed, elsewhere.drift_assumed);
            assert_eq!(here.cells, elsewhere.cells);
            assert_eq!(elsewhere.regressions().count(), 0, "{elsewhere:?}");
        }
    }
}

#[test]
fn only_the_same_floor_in_both_tells_what_shifted() {
    let (base, mut new) = (session(1, 1.0, 1.0), session(2, 1.0, 1.0));
    // The floor of NEW is other code, and takes half the time.
    let floor = new.comparisons[0].cells.iter_mut();
    let mut floor = floor.filter(|summary| summary.cell.role == Role::Floor);
    let floor = floor.next().unwrap();
    let settings = &mut floor.cell.settings;
    settings.set("read", Value::Word("mmap".to_owned()));
    for (_, log) in &mut floor.series {
        *log -= 2.0_f64.ln();
    }
    let found = changes(&base, &new);
    assert!(found.drift_assumed && found.floors.is_empty(), "{found:?}");
    let shown = change(&found, "floor");
    assert_eq!(shown.time_verdict, ChangeVerdict::Faster);
    assert_eq!(shown.differences[0].what, "read");
    let time = change(&found, "other").time;
    assert!(time.drift_faster < 0.04, "{time:?}");

    let by_hand = Question {
        cells: vec![(id("floor"), id("other"))],
        ..Question::default()
    };
    let found = compare(&base, &session(2, 1.0, 1.0), &by_hand).unwrap();
    assert_eq!(found.floors, changes(&base, &session(2, 1.0, 1.0)).floors);
    assert_eq!(change(&found, "floor").new, id("other"));
    assert!(change(&found, "floor").regression);
}

#[test]
fn ten_rounds_are_enough_and_of_a_ratio_they_must_be_those_of_both_cells() {
    let (base, mut new) = (without_floor(1, 10), without_floor(2, 10));
    let found = changes(&base, &new);
    assert_eq!(found.cells.len(), 2, "{found:?}");
    assert!(change(&found, "other").ratio.is_some());
    // The baseline lacks the round that the other cell has, and has one more instead.
    for (round, _) in &mut new.comparisons[0].cells[0].series {
        *round += 1;
    }
    let found = changes(&base, &new);
    assert!(change(&found, "other").ratio.is_none(), "nine in common");
    assert_eq!(found.cells.len(), 2);
}

#[test]
fn a_cell_that_failed_once_and_was_measured_again_is_compared() {
    let (base, mut new) = (without_floor(1, 10), without_floor(2, 10));
    new.failures.push(CellFailure {
        cell: id("other"),
        message: "killed".to_owned(),
        stderr: String::new(),
    });
    assert_eq!(changes(&base, &new).not_compared, []);
}

/// The same result with a second comparison, `d`, whose floor takes `by` times as long.
fn with_another_comparison(mut analysis: Analysis, by: f64) -> Analysis {
    let mut other = analysis.comparisons[0].clone();
    other.id = "d".to_owned();
    for cell in &mut other.cells {
        cell.cell.id = CellId(cell.cell.id.0.replacen('c', "d", 1));
        if cell.cell.role == Role::Floor {
            for (_, log) in &mut cell.series {
                *log += by.ln();
            }
        }
    }
    analysis.comparisons.push(other);
    analysis
}

#[test]
fn drift_is_that_of_the_floors_of_the_same_comparison_or_else_of_all() {
    let base = with_another_comparison(session(1, 1.0, 1.0), 1.0);
    let mut new = with_another_comparison(session(2, 1.0, 1.0), 1.5);
    let slower = |changes: &Changes, name: &str| {
        let mut cells = changes.cells.iter();
        let cell = cells.find(|cell| cell.base.0 == name).unwrap();
        cell.time.drift_slower.exp()
    };
    let found = changes(&base, &new);
    assert!(slower(&found, "c/other") < 1.1, "{found:?}");
    assert!(slower(&found, "d/other") > 1.4, "{found:?}");
    // Without a floor of its own, a comparison may have been slowed like any of the others.
    for cells in new.comparisons.iter_mut().map(|c| &mut c.cells) {
        cells.retain(|cell| cell.cell.id.0 != "c/floor");
    }
    assert!(slower(&changes(&base, &new), "c/other") > 1.4);
}

#[test]
fn a_floor_of_other_data_tells_nothing() {
    let (base, mut new) = (session(1, 1.0, 1.0), session(2, 1.0, 1.0));
    let dataset = new.run.plan.datasets.get_mut("blobs").unwrap();
    dataset.seed = 9;
    let found = changes(&base, &new);
    assert!(
        found.floors.is_empty() && found.cells.is_empty(),
        "{found:?}"
    );
}

#[test]
fn slower_cells_stand_before_faster_ones_and_the_larger_of_two_changes_first() {
    let plan = comparison(&["a", "b", "c"]);
    let session = |seed, factors: [f64; 3]| {
        let mut times = vec![("base", 8_000.0), ("again", 8_000.0)];
        let others = ["a", "b", "c"].into_iter().zip(factors);
        times.extend(others.map(|(key, factor)| (key, 4_000.0 * factor)));
        analysis(&plan, &noisy(seed, 100.0, &times, 20))
    };
    let (base, mut new) = (session(1, [1.0; 3]), session(2, [1.2, 1.5, 0.5]));
    // On another machine none is a regression, and the verdicts alone decide.
    for cpu in [None, Some("another".to_owned())] {
        new.run.environment.cpu = cpu;
        let found = changes(&base, &new);
        let cells = found.cells.iter();
        let order: Vec<&str> = cells.map(|cell| cell.base.0.as_str()).collect();
        assert_eq!(order, ["c/b", "c/a", "c/c", "c/base"]);
    }
}

#[test]
fn resources_are_related_and_held_against_the_threshold_either_way() {
    let memory = |bytes: u64| {
        let mut session = session(bytes, 1.0, 1.0);
        session.comparisons[0].cells[0].peak_memory_bytes = Some(bytes);
        session
    };
    let beyond = |new: u64, threshold: Option<f64>| {
        let question = Question {
            threshold,
            ..Question::default()
        };
        let found = compare(&memory(100), &memory(new), &question).unwrap();
        let change = change(&found, "base").resources["peak_memory_bytes"];
        assert_eq!((change.base, change.new), (100.0, new as f64));
        assert!((change.ratio - new as f64 / 100.0).abs() < 1e-12);
        change.beyond_threshold
    };
    let with = |new| beyond(new, Some(0.25));
    assert_eq!([with(124), with(125), with(126)], [false, false, true]);
    assert_eq!([with(81), with(79)], [false, true]);
    assert!(!beyond(1_000, None));
}

#[test]
fn settings_and_how_often_stores_are_built_anew_are_shown_once() {
    let (base, mut new) = (session(1, 1.0, 1.0), session(2, 1.0, 1.0));
    new.run.plan.comparisons[0].rebuild_every = Some(5);
    let mut base = base;
    for (session, layout) in [(&mut base, "flat"), (&mut new, "tree")] {
        let cell = &mut session.comparisons[0].cells[2];
        let layout = Value::Word(layout.to_owned());
        cell.cell.settings.set("layout", layout.clone());
        let mut effective = cell.cell.settings.clone();
        effective.set("cache", layout);
        cell.effective = Some(effective);
    }
    let found = changes(&base, &new);
    let shown = &change(&found, "other").differences;
    let told: Vec<&str> = shown.iter().map(|found| found.what.as_str()).collect();
    assert_eq!(told, ["stores built anew", "layout", "cache"]);
    assert_eq!(shown[0].new.as_deref(), Some("every 5 rounds"));
}

#[test]
fn with_a_threshold_time_decides_on_another_machine_too() {
    let base = session(1, 1.0, 1.0);
    let mut new = session(2, 1.0, 1.0);
    new.run.environment.cpu = Some("another".to_owned());
    let question = Question {
        threshold: Some(0.1),
        ..Question::default()
    };
    let found = compare(&base, &new, &question).unwrap();
    assert_eq!((found.same_machine, found.decides), (false, Decides::Time));
}

#[test]
fn a_floor_promises_nothing_whatever_its_settings_say() {
    let sessions = [session(1, 1.0, 1.0), session(2, 1.0, 1.0)];
    let [base, new] = sessions.map(|mut session| {
        for summary in &mut session.comparisons[0].cells {
            summary.cell.workload.operation = Operation::Overwrite;
            if summary.cell.role == Role::Floor {
                summary.cell.capabilities.durability.class = Durability::None;
            }
        }
        session
    });
    let paired = Question {
        cells: vec![(id("floor"), id("other"))],
        ..Question::default()
    };
    let found = compare(&base, &new, &paired).unwrap();
    assert_eq!(change(&found, "floor").new, id("other"));
}
