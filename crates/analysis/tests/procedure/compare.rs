//! Two sessions against each other: on made-up runs whose answer is known.

use crate::support::{analysis, comparison, each, failure, id, near, noisy, set, with_floor};
use ChangeVerdict::{Differs, Faster, Slower, Small, Unresolved, WithinThreshold};
use stowplan_analysis::compare::{
    CellChange, ChangeVerdict, Changes, Decides, NotCompared, Question, compare,
};
use stowplan_analysis::{Analysis, CellSummary};
use stowplan_model::{CacheState, CellId, Comparison, Durability, Operation, Role, Workload};

/// A session in which the machine is slower by `drift` and `other` by `slower`.
fn session(seed: u64, drift: f64, slower: f64) -> Analysis {
    let times = [8_000.0, 8_000.0, 4_000.0 * slower, 2_000.0].map(|ns| ns * drift);
    let times = each("base again other floor", &times);
    analysis(&with_floor(), &noisy(seed, 100.0, &times, 20))
}

/// A session without a floor, whose cells take the same time as in any other one.
fn without_floor(seed: u64, rounds: u32) -> Analysis {
    let times = each("base again other", &[8_000.0, 8_000.0, 4_000.0]);
    analysis(&comparison(&["other"]), &noisy(seed, 100.0, &times, rounds))
}

/// Two sessions of the same program.
fn pair() -> [Analysis; 2] {
    [1, 2].map(|seed| session(seed, 1.0, 1.0))
}

fn cells(analysis: &mut Analysis) -> &mut Vec<CellSummary> {
    &mut analysis.comparisons[0].cells
}

fn slow(cell: &mut CellSummary, factor: f64) {
    let rounds = cell.series.iter_mut();
    rounds.for_each(|(_, log)| *log += factor.ln());
}

fn on_another_machine(mut analysis: Analysis) -> Analysis {
    analysis.run.environment.cpu = Some("another".to_owned());
    analysis
}

pub(crate) fn question(change: impl FnOnce(&mut Question)) -> Question {
    let mut question = Question::default();
    change(&mut question);
    question
}

fn above(threshold: f64) -> Question {
    question(|asked| asked.threshold = Some(threshold))
}

fn by(decides: Decides) -> Question {
    question(|asked| asked.by = Some(decides))
}

fn paired(cells: &[(&str, &str)]) -> Question {
    let cells = cells.iter().map(|(base, new)| (id(base), id(new)));
    question(|asked| asked.cells = cells.collect())
}

fn asked(base: &Analysis, new: &Analysis, question: &Question) -> Changes {
    compare(base, new, question).unwrap()
}

fn changes(base: &Analysis, new: &Analysis) -> Changes {
    asked(base, new, &Question::default())
}

pub(crate) fn change<'a>(changes: &'a Changes, key: &str) -> &'a CellChange {
    let mut cells = changes.cells.iter();
    cells.find(|cell| cell.base == id(key)).unwrap()
}

/// Why this cell was not compared.
pub(crate) fn left_out<'a>(changes: &'a Changes, key: &str) -> &'a NotCompared {
    let mut all = changes.not_compared.iter();
    all.find(|left_out| left_out.cell == id(key)).unwrap()
}

#[test]
fn a_slower_cell_regresses_in_time_and_in_its_ratio_and_stands_first() {
    let (before, after) = (session(1, 1.0, 1.0), session(2, 1.0, 1.2));
    let found = changes(&before, &after);
    let other = &found.cells[0];
    assert_eq!((&other.base, other.regression), (&id("other"), true));
    for change in [other.time, other.ratio.unwrap()] {
        assert!(change.low < 1.2 && 1.2 < change.high, "{change:?}");
        assert!(change.low > 1.1, "{change:?}");
    }
    let back = changes(&after, &before);
    assert_eq!(change(&back, "other").time_verdict, Faster);
    assert_eq!(back.regressions().count(), 0);
}

#[test]
fn what_the_floor_shifted_widens_times_so_that_a_slower_machine_is_no_regression() {
    let base = session(1, 1.0, 1.0);
    let found = changes(&base, &session(2, 1.1, 1.0));
    let floor = &found.floors[0];
    near(floor.time.ratio, 1.1, 0.02);
    for cell in &found.cells {
        near(cell.time.drift_slower, floor.time.ratio.ln(), 1e-12);
        assert_eq!((cell.time.drift_faster, cell.regression), (0.0, false));
    }
    let ratio = change(&found, "other").ratio.unwrap();
    let of_floor = floor.ratio.unwrap().ratio.ln();
    near(ratio.drift_slower, of_floor.max(0.0), 1e-12);
    assert!(ratio.drift_slower < 0.02, "{ratio:?}");
    assert!(ratio.low < 1.0 && ratio.high > 1.0, "{ratio:?}");
    // What slowed the floor to 1.2 times its time cannot have made `other` faster.
    let found = changes(&base, &session(2, 1.2, 1.0 / 1.44));
    assert_eq!(change(&found, "other").time_verdict, Faster);
}

#[test]
fn intervals_are_widened_by_the_noise_floors_of_both_runs_and_by_drift_on_any_machine() {
    let without = [1, 2].map(|seed| without_floor(seed, 20));
    // A machine that is slower by 2.5%, and its floor by less.
    let slower = |of: &Comparison, new: &[(&str, f64)]| {
        let old: Vec<(&str, f64)> = new.iter().map(|(key, _)| (*key, 4_000.0)).collect();
        [(1, &old[..]), (2, new)].map(|(seed, times)| analysis(of, &noisy(seed, 100.0, times, 20)))
    };
    let times = ["base", "again", "other"].map(|key| (key, 4_100.0));
    let with_its_floor = [&times[..], &[("floor", 4_120.0)]].concat();
    let drifted = [
        (slower(&with_floor(), &with_its_floor), true),
        (slower(&comparison(&["other"]), &times), false),
    ];
    for ([base, new], _) in &drifted {
        for question in [by(Decides::Time), by(Decides::Ratio)] {
            assert_eq!(asked(base, new, &question).regressions().count(), 0);
        }
    }
    let alike = [(pair(), true), (without, false)];
    for ([base, new], has_floor) in alike.into_iter().chain(drifted) {
        let found = changes(&base, &new);
        assert_eq!(found.drift_assumed, !has_floor);
        assert_eq!(found.floors.is_empty(), !has_floor);
        let moved = on_another_machine(new.clone());
        for question in [by(Decides::Time), by(Decides::Ratio)] {
            let [here, elsewhere] = [&new, &moved].map(|new| asked(&base, new, &question));
            assert!(here.same_machine && !elsewhere.same_machine);
            assert_eq!(here.cells, elsewhere.cells);
        }
        let both = base.comparisons[0].noise_floor + new.comparisons[0].noise_floor;
        for time in found.cells.iter().map(|cell| cell.time) {
            near(time.noise_floor, both, 1e-12);
            let (low, high) = (time.raw_low / time.low, time.high / time.raw_high);
            near(low.ln(), both + time.drift_slower, 1e-9);
            near(high.ln(), both + time.drift_faster, 1e-9);
            let as_assumed = time.drift_slower > 0.02 && time.drift_slower == time.drift_faster;
            assert!(has_floor || as_assumed, "{time:?}");
        }
    }
}

#[test]
fn a_threshold_must_lie_outside_the_whole_interval_and_less_than_it_is_not_unchanged() {
    let base = session(1, 1.0, 1.0);
    let (slower, drifted) = (session(2, 1.0, 1.2), session(2, 1.15, 1.0));
    let same = session(3, 1.0, 1.0);
    for (new, key, threshold, verdict) in [
        (&slower, "other", Some(0.1), Slower),
        (&slower, "other", Some(0.2), Differs),
        (&slower, "other", Some(0.5), Small),
        (&drifted, "base", None, Unresolved),
        (&drifted, "base", Some(0.1), Unresolved),
        (&drifted, "base", Some(0.3), WithinThreshold),
        (&same, "base", Some(0.005), Unresolved),
    ] {
        let found = asked(&base, new, &question(|asked| asked.threshold = threshold));
        assert_eq!(change(&found, key).time_verdict, verdict, "{threshold:?}");
        let zone = threshold.map_or(0.05, |limit| limit.min(0.05));
        assert_eq!(found.zone, zone);
    }
}

#[test]
fn on_another_machine_nothing_decides_unless_asked_to() {
    let base = session(1, 1.0, 1.0);
    let new = on_another_machine(session(2, 2.0, 1.2));
    let found = changes(&base, &new);
    assert_eq!(found.decides, Decides::Nothing);
    assert_eq!(found.regressions().count(), 0);
    // Twice as slow is what the floor explains, and 1.2 times that is more.
    let other = change(&found, "other");
    assert!(other.time.drift_slower > 0.6, "{other:?}");
    assert_eq!(other.time_verdict, Slower);
    assert!(change(&found, "base").time.low < 1.0, "{found:?}");
    let found = asked(&base, &new, &by(Decides::Ratio));
    let regressed: Vec<&CellId> = found.regressions().map(|cell| &cell.base).collect();
    assert_eq!(regressed, [&id("other")]);
    assert_eq!(change(&found, "base").ratio, None, "it has none to itself");
    assert_eq!(asked(&base, &new, &above(0.1)).decides, Decides::Time);
}

#[test]
fn what_is_not_the_same_is_not_compared_and_the_reason_is_named() {
    fn workload(new: &mut Analysis) -> &mut Workload {
        &mut cells(new)[2].cell.workload
    }
    let unreliable =
        "NEW: unreliable: measuring the same thing twice differed by more than noise explains";
    type Spoil = fn(&mut Analysis);
    let table: [(&str, &str, Spoil); 8] = [
        ("not the same", "values 1000 -> 2000, seed 1 -> 9", |new| {
            let dataset = new.run.plan.datasets.get_mut("blobs").unwrap();
            (dataset.count, dataset.seed) = (2000, 9);
        }),
        ("not the same", "threads one thread -> 4 threads", |new| {
            workload(new).threads = 4;
        }),
        ("not the same", "page cache warm -> cold", |new| {
            workload(new).cache = CacheState::Cold;
        }),
        (unreliable, "", |new| new.comparisons[0].reliable = false),
        ("NEW: failed: the disk is full", "", |new| {
            cells(new)[2].rounds = 0;
            new.failures.push(failure("other", "the disk is full"));
        }),
        ("NEW: 9 rounds of at least 10", "", |new| {
            cells(new)[2].rounds = 9;
        }),
        ("not in NEW", "", |new| drop(cells(new).remove(2))),
        ("not applicable in NEW: it cannot", "", |new| {
            cells(new).remove(2);
            let not_applicable = &mut new.comparisons[0].not_applicable;
            not_applicable.insert("the other".to_owned(), "it cannot".to_owned());
        }),
    ];
    for (reason, differences, spoil) in table {
        let [base, mut new] = pair();
        spoil(&mut new);
        let found = changes(&base, &new);
        assert!(found.cells.iter().all(|cell| cell.base != id("other")));
        let [told] = &left_out(&found, "other").reasons[..] else {
            panic!("{reason}: {found:?}");
        };
        let side = |text: &Option<String>| text.clone().unwrap_or_default();
        let shown = told.differences.iter();
        let shown = shown.map(|d| format!("{} {} -> {}", d.what, side(&d.base), side(&d.new)));
        let shown: Vec<String> = shown.collect();
        assert_eq!((&*told.reason, &*shown.join(", ")), (reason, differences));
        assert_eq!(told.of_measurement, reason.starts_with("NEW: "), "{reason}");
    }
}

#[test]
fn a_promise_counts_for_writes_only_and_a_floor_makes_none() {
    // In both sessions a floor that says what it does not do, and in NEW a cell that promises less.
    let with = |operation: Operation, role: Role, both: bool| {
        let mut sessions = pair();
        for (place, session) in sessions.iter_mut().enumerate() {
            for summary in cells(session) {
                summary.cell.workload.operation = operation;
                if summary.cell.role == role && (both || place == 1) {
                    summary.cell.capabilities.durability.class = Durability::None;
                }
            }
        }
        sessions
    };
    let [base, new] = with(Operation::Read, Role::Candidate, false);
    assert_eq!(changes(&base, &new).cells.len(), 2);
    let [base, new] = with(Operation::Overwrite, Role::Candidate, false);
    let found = changes(&base, &new);
    assert_eq!(found.cells.len(), 1);
    let [reason] = &left_out(&found, "other").reasons[..] else {
        panic!("{found:?}");
    };
    assert_eq!(reason.differences[0].what, "durability promise");
    let [base, new] = with(Operation::Overwrite, Role::Floor, true);
    let found = asked(&base, &new, &paired(&[("floor", "other")]));
    assert_eq!(change(&found, "floor").new, id("other"));
}

#[test]
fn cells_are_compared_by_name_unless_they_are_paired() {
    let [base, new] = pair();
    let found = asked(&base, &new, &paired(&[("other", "base")]));
    let cell = &found.cells[0];
    assert_eq!((&cell.base, &cell.new), (&id("other"), &id("base")));
    assert!(cell.regression, "it takes twice as long");
    assert_eq!(cell.ratio, None, "one of them is a baseline");
    let left_out = found.not_compared.iter();
    let left_out = left_out.map(|left| (left.cell.clone(), &*left.reasons[0].reason));
    let otherwise = ["base", "other"].map(|key| (id(key), "paired otherwise by --cells"));
    assert_eq!(left_out.collect::<Vec<_>>(), otherwise);
    let refused = |cells: &[(&str, &str)], expected: &str| {
        let error = compare(&base, &new, &paired(cells)).unwrap_err();
        assert_eq!(error.to_string(), expected);
    };
    let twice = "is paired twice; pair it once";
    let of_base = [("other", "base"), ("other", "other")];
    refused(&of_base, &format!("'c/other' of BASE {twice}"));
    let of_new = [("other", "base"), ("base", "base")];
    refused(&of_new, &format!("'c/base' of NEW {twice}"));
    let unknown = "BASE has no cell 'c/othre'; did you mean 'c/other'?";
    refused(&[("othre", "base")], unknown);
}

#[test]
fn only_the_same_floor_on_the_same_data_tells_what_shifted() {
    let [base, same] = pair();
    // The floor of NEW is other code, and takes half the time.
    let mut new = same.clone();
    let floor = &mut cells(&mut new)[3];
    set(&mut floor.cell, "read", "mmap");
    slow(floor, 0.5);
    let found = changes(&base, &new);
    assert!(found.drift_assumed && found.floors.is_empty(), "{found:?}");
    let shown = change(&found, "floor");
    assert_eq!(shown.time_verdict, Faster);
    assert_eq!(shown.differences[0].what, "read");
    let time = change(&found, "other").time;
    assert!(time.drift_faster < 0.04, "{time:?}");
    // Pairing it by hand with another cell takes nothing from what it tells.
    let found = asked(&base, &same, &paired(&[("floor", "other")]));
    assert_eq!(found.floors, changes(&base, &same).floors);
    assert!(change(&found, "floor").regression);
    let mut other_data = same;
    other_data.run.plan.datasets.get_mut("blobs").unwrap().seed = 9;
    let found = changes(&base, &other_data);
    assert_eq!((found.floors.len(), found.cells.len()), (0, 0));
}

#[test]
fn a_ratio_needs_ten_rounds_of_both_cells_and_a_baseline_of_the_same_settings() {
    let (base, mut new) = (without_floor(1, 10), without_floor(2, 10));
    // What failed once and was measured again is compared.
    new.failures.push(failure("other", "killed"));
    let found = changes(&base, &new);
    assert_eq!((found.cells.len(), found.not_compared.len()), (2, 0));
    assert!(change(&found, "other").ratio.is_some());
    let mut tree = new.clone();
    set(&mut cells(&mut tree)[0].cell, "layout", "tree");
    let found = changes(&base, &tree);
    assert_eq!(change(&found, "other").ratio, None);
    let shown = &change(&found, "base").differences[0];
    let told = (&*shown.what, shown.new.as_deref());
    assert_eq!(told, ("layout", Some("tree")));
    // The baseline lacks the round that the other cell has, and has one more instead.
    let rounds = cells(&mut new)[0].series.iter_mut();
    rounds.for_each(|(round, _)| *round += 1);
    let found = changes(&base, &new);
    assert_eq!(change(&found, "other").ratio, None, "nine in common");
    assert_eq!(found.cells.len(), 2);
}

/// The same result with a second comparison, `d`, whose floor takes `by` times as long.
fn with_another_comparison(mut analysis: Analysis, by: f64) -> Analysis {
    let mut other = analysis.comparisons[0].clone();
    other.id = "d".to_owned();
    for cell in &mut other.cells {
        cell.cell.id = CellId(cell.cell.id.0.replacen('c', "d", 1));
    }
    slow(&mut other.cells[3], by);
    analysis.comparisons.push(other);
    analysis
}

#[test]
fn drift_is_that_of_the_floors_of_the_same_comparison_or_else_of_all() {
    let [base, new] = pair();
    let base = with_another_comparison(base, 1.0);
    let mut new = with_another_comparison(new, 1.5);
    let slower = |new: &Analysis, name: &str| {
        let found = changes(&base, new);
        let mut cells = found.cells.iter();
        let cell = cells.find(|cell| cell.base.0 == name).unwrap();
        cell.time.drift_slower.exp()
    };
    assert!(slower(&new, "c/other") < 1.1);
    assert!(slower(&new, "d/other") > 1.4);
    // Without a floor of its own, a comparison may have been slowed like any of the others.
    cells(&mut new).remove(3);
    assert!(slower(&new, "c/other") > 1.4);
}

#[test]
fn slower_cells_stand_before_faster_ones_and_the_larger_of_two_changes_first() {
    let plan = comparison(&["a", "b", "c"]);
    let session = |seed, [a, b, c]: [f64; 3]| {
        let times = [8_000.0, 8_000.0, 4_000.0 * a, 4_000.0 * b, 4_000.0 * c];
        let times = each("base again a b c", &times);
        analysis(&plan, &noisy(seed, 100.0, &times, 20))
    };
    let (base, new) = (session(1, [1.0; 3]), session(2, [1.2, 1.5, 0.5]));
    // On another machine none is a regression, and the verdicts alone decide.
    for new in [new.clone(), on_another_machine(new)] {
        let found = changes(&base, &new);
        let order: Vec<&str> = found.cells.iter().map(|cell| &*cell.base.0).collect();
        assert_eq!(order, ["c/b", "c/a", "c/c", "c/base"]);
    }
}

#[test]
fn resources_are_related_and_held_against_the_threshold_either_way() {
    let memory = |bytes: u64| {
        let mut session = session(bytes, 1.0, 1.0);
        cells(&mut session)[0].peak_memory_bytes = Some(bytes);
        session
    };
    let beyond = |new: u64, question: &Question| {
        let found = asked(&memory(100), &memory(new), question);
        let change = change(&found, "base").resources["peak_memory_bytes"];
        assert_eq!((change.base, change.new), (100.0, new as f64));
        near(change.ratio, new as f64 / 100.0, 1e-12);
        change.beyond_threshold
    };
    let with = [79, 81, 124, 125, 126].map(|new| beyond(new, &above(0.25)));
    assert_eq!(with, [true, false, false, false, true]);
    assert!(!beyond(1_000, &Question::default()));
}

#[test]
fn settings_and_how_often_stores_are_built_anew_are_shown_once() {
    let [mut base, mut new] = pair();
    new.run.plan.comparisons[0].rebuild_every = Some(5);
    for (session, layout) in [(&mut base, "flat"), (&mut new, "tree")] {
        let cell = &mut cells(session)[2];
        set(&mut cell.cell, "layout", layout);
        let mut effective = cell.cell.clone();
        set(&mut effective, "cache", layout);
        cell.effective = Some(effective.settings);
    }
    let found = changes(&base, &new);
    let shown = &change(&found, "other").differences;
    let told: Vec<&str> = shown.iter().map(|found| &*found.what).collect();
    assert_eq!(told, ["stores built anew", "layout", "cache"]);
    assert_eq!(shown[0].new.as_deref(), Some("every 5 rounds"));
}
