//! Two sessions against each other: on made-up runs whose answer is known.

use crate::support::{Random, analysis, block_of_log, cell, comparison, id};
use stowplan_analysis::Analysis;
use stowplan_analysis::compare::{
    CellChange, ChangeVerdict, Changes, Decides, Obstacle, Question, Side, compare,
};
use stowplan_model::{
    CacheState, CellFailure, CellId, Comparison, Durability, Measurement, Operation, Role, Value,
};

/// `base`, its control, `other`, and a floor.
fn with_floor() -> Comparison {
    let mut comparison = comparison(&["other"]);
    comparison.cells.push(cell("floor", Role::Floor));
    comparison
}

/// Rounds in which each cell takes about its time (nanoseconds per operation), with normal noise of
/// 1% from round to round.
fn blocks(seed: u64, times: &[(&str, f64)], rounds: u32) -> Vec<Measurement> {
    let mut random = Random(seed);
    let mut blocks = Vec::new();
    for round in 0..rounds {
        for (key, nanoseconds) in times {
            let log = nanoseconds.ln() + random.normal() / 100.0;
            blocks.push(block_of_log(key, round, log));
        }
    }
    blocks
}

/// A session in which the machine is slower by `drift` and `other` by `slower`.
fn session(seed: u64, drift: f64, slower: f64) -> Analysis {
    let times = [
        ("base", 8_000.0 * drift),
        ("again", 8_000.0 * drift),
        ("other", 4_000.0 * drift * slower),
        ("floor", 2_000.0 * drift),
    ];
    analysis(&with_floor(), &blocks(seed, &times, 20))
}

fn changes(base: &Analysis, new: &Analysis) -> Changes {
    compare(base, new, &Question::default()).unwrap()
}

fn change<'a>(changes: &'a Changes, key: &str) -> &'a CellChange {
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

#[test]
fn without_a_floor_drift_is_assumed_and_said_to_be() {
    let session = |seed| {
        let times = [("base", 8_000.0), ("again", 8_000.0), ("other", 4_000.0)];
        analysis(&comparison(&["other"]), &blocks(seed, &times, 20))
    };
    let found = changes(&session(1), &session(2));
    assert!(found.drift_assumed && found.floors.is_empty());
    let time = found.cells[0].time;
    assert!(time.drift_slower > 0.02 && time.drift_slower == time.drift_faster);
}

#[test]
fn intervals_are_widened_by_the_noise_floors_of_both_runs() {
    let (base, new) = (session(1, 1.0, 1.0), session(2, 1.0, 1.0));
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
    assert_eq!(at(0.2), ChangeVerdict::Small);
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
    let dataset = obstacles(|new| {
        let dataset = new.run.plan.datasets.get_mut("blobs").unwrap();
        dataset.count = 2000;
        dataset.seed = 9;
    });
    let Obstacle::Dataset { differences } = &dataset[0] else {
        panic!("{dataset:?}");
    };
    let told: Vec<&str> = differences
        .iter()
        .map(|difference| &*difference.what)
        .collect();
    assert_eq!(told, ["values", "seed"]);

    let workload = obstacles(|new| {
        for summary in &mut new.comparisons[0].cells {
            summary.cell.workload.threads = 4;
        }
    });
    let Obstacle::Workload { differences } = &workload[0] else {
        panic!("{workload:?}");
    };
    assert_eq!((&*differences[0].what, differences.len()), ("threads", 1));

    let cold = obstacles(|new| {
        for summary in &mut new.comparisons[0].cells {
            summary.cell.workload.cache = CacheState::Cold;
        }
    });
    assert!(
        matches!(
            cold[..],
            [Obstacle::CacheState {
                new: CacheState::Cold,
                ..
            }]
        ),
        "{cold:?}"
    );

    let unreliable = obstacles(|new| new.comparisons[0].reliable = false);
    assert_eq!(unreliable, [Obstacle::Unreliable { side: Side::New }]);

    let failed = obstacles(|new| {
        new.comparisons[0].cells[2].rounds = 0;
        new.failures.push(CellFailure {
            cell: id("other"),
            message: "the disk is full".to_owned(),
            stderr: String::new(),
        });
    });
    assert!(
        matches!(&failed[..], [Obstacle::Failed { side: Side::New, message }] if message == "the disk is full"),
        "{failed:?}"
    );

    let few = obstacles(|new| new.comparisons[0].cells[2].rounds = 9);
    assert_eq!(
        few,
        [Obstacle::TooFewRounds {
            base: 20,
            new: 9,
            needed: 10
        }]
    );

    let gone = obstacles(|new| {
        new.comparisons[0].cells.remove(2);
    });
    assert_eq!(gone, [Obstacle::OnlyIn { side: Side::Base }]);

    let cannot = obstacles(|new| {
        let comparison = &mut new.comparisons[0];
        comparison.cells.remove(2);
        let why = "it cannot".to_owned();
        comparison
            .not_applicable
            .insert("other".to_owned(), why.clone());
    });
    let why = "it cannot".to_owned();
    assert_eq!(
        cannot,
        [Obstacle::NotApplicable {
            side: Side::New,
            why
        }]
    );
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
    assert!(matches!(
        found.not_compared[0].reasons[..],
        [Obstacle::Durability { .. }]
    ));
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
    let alone: Vec<&CellId> = found
        .not_compared
        .iter()
        .map(|left_out| &left_out.cell)
        .collect();
    assert_eq!(alone, [&id("base"), &id("other")]);
    let mut left_out = found.not_compared.iter();
    assert!(left_out.all(|left_out| left_out.reasons == [Obstacle::PairedOtherwise]));
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
    let base = analysis(plan, &blocks(1, &old, 20));
    let mut new = analysis(plan, &blocks(2, new, 20));
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
