//! What is made of calibrations whose answer is known: a tool that errs must not pass.

use crate::support::{Random, block, cell, header};
use stowplan_analysis::analyse;
use stowplan_analysis::calibration::{
    Calibration, Figure, Group, LimitStatus, Subject, calibration,
};
use stowplan_model::{
    BlockKind, Cell, CellId, Comparison, Contrast, Measurement, Record, Residency, Role, Value,
};

/// A calibration that was never made.
#[derive(Clone, Copy)]
struct Made {
    /// Nanoseconds of an operation of the store that does nothing, in ratio and latency blocks.
    nothing: [f64; 2],
    /// What is added to each known cost: nanoseconds, and a share of it.
    error: [f64; 2],
    /// The same beside busy processes.
    busy_error: [f64; 2],
    /// Sessions of identical cells, and how many of them find a difference.
    sessions: [u32; 2],
    /// The share by which these differ.
    wrong_by: f64,
    /// Which sessions have a control that differs from its baseline, and which have no block.
    unreliable: fn(&str) -> bool,
    lost: fn(&str) -> bool,
    /// What a difference of 10% is found as.
    ten_percent: f64,
    /// Pages left in the cache by eviction, and those that a block brings in.
    left: u64,
    brought: u64,
    /// Blocks of 512 bytes that a warm block reads from storage.
    warm_reads: u64,
}

const TRUE: Made = Made {
    nothing: [3.5, 33.0],
    error: [2.0, 0.001],
    busy_error: [4.0, 0.01],
    sessions: [4, 0],
    wrong_by: 0.2,
    unreliable: |_| false,
    lost: |_| false,
    ten_percent: 1.1,
    left: 0,
    brought: 800,
    warm_reads: 0,
};

const ROUNDS: u32 = 10;

fn cell_of(comparison: &str, key: &str, role: Role, settings: &[(&str, u64)]) -> Cell {
    let mut cell = cell(key, role);
    let copy = if role == Role::Control {
        "-control"
    } else {
        ""
    };
    cell.id = CellId(format!("{comparison}/{key}{copy}"));
    for (name, number) in settings {
        cell.settings.set(name, Value::Number(*number));
    }
    cell
}

/// A comparison whose cells have a store of a setting.
fn comparison(id: &str, name: &str, base: u64, candidates: &[(&str, u64)]) -> Comparison {
    let cell = |key, role, number| cell_of(id, key, role, &[(name, number)]);
    let mut cells = vec![
        cell("base", Role::Baseline, base),
        cell("base", Role::Control, base),
    ];
    let others = candidates.iter();
    cells.extend(others.map(|(key, number)| cell(key, Role::Candidate, *number)));
    Comparison {
        id: id.to_owned(),
        contrasts: cells[2..]
            .iter()
            .map(|cell| Contrast {
                cell: cell.id.clone(),
                reference: cells[0].id.clone(),
            })
            .collect(),
        cells,
        ..crate::support::comparison(&[])
    }
}

/// A block with so many nanoseconds for each operation, give or take a thousandth.
fn timed(cell: &Cell, round: u32, each_ns: f64) -> Measurement {
    let name: u64 = cell.id.0.bytes().map(u64::from).sum();
    let mut random = Random(name << 32 | u64::from(round));
    let jitter = 1.0 + (random.uniform() - 0.5) / 500.0;
    let operations = 1_000_000;
    Measurement {
        cell: cell.id.clone(),
        operations,
        ..block("", round, (each_ns * jitter * operations as f64) as u64)
    }
}

impl Made {
    fn records(self) -> Vec<Record> {
        let known: [(&str, u64); 3] = [("ns200", 200), ("us2", 2_000), ("us20", 20_000)];
        let mut all = vec![
            (
                comparison("clock", "clock", 0, &[("readings", 4)]),
                0.0,
                [0.0; 2],
            ),
            (comparison("known", "base", 0, &known), 0.0, self.error),
            (
                comparison("cold", "x", 0, &[("sqlite", 0)]),
                50_000.0,
                [0.0; 2],
            ),
            (
                comparison("known-busy", "base", 0, &known),
                0.0,
                self.busy_error,
            ),
            (
                comparison("ab-001", "base", 5_000, &[("plus10", 5_500)]),
                0.0,
                [0.0, self.ten_percent / 1.1 - 1.0],
            ),
        ];
        for session in 0..self.sessions[0] {
            let id = format!("aa-files-{session:03}");
            let wrong = match session < self.sessions[1] {
                true => self.wrong_by,
                false => 0.0,
            };
            all.push((
                comparison(&id, "x", 0, &[("again", 0)]),
                4_000.0,
                [0.0, wrong],
            ));
        }
        let measured: Vec<Measurement> = all
            .iter()
            .flat_map(|(comparison, work, error)| self.blocks(comparison, *work, *error))
            .collect();
        let first = all[0].0.clone();
        let Record::Run(mut run) = header(&first) else {
            unreachable!("the header is a run");
        };
        run.plan.study.name = "calibrate".to_owned();
        run.plan.comparisons = all.into_iter().map(|(comparison, ..)| comparison).collect();
        let measured = measured.into_iter().map(Record::Measurement);
        [Record::Run(run)].into_iter().chain(measured).collect()
    }

    fn blocks(self, comparison: &Comparison, work: f64, error: [f64; 2]) -> Vec<Measurement> {
        let mut blocks = Vec::new();
        if (self.lost)(&comparison.id) {
            return blocks;
        }
        for (cell, round) in comparison
            .cells
            .iter()
            .flat_map(|cell| (0..ROUNDS).map(move |round| (cell, round)))
        {
            let [ratio, latency] = self.nothing;
            let fails = cell.role == Role::Control && (self.unreliable)(&comparison.id);
            let factor = if fails { 1.3 } else { 1.0 };
            let time = |nothing: f64| {
                factor * (nothing + work + cost(cell, error) + wrong(cell, work, error))
            };
            let mut block = timed(cell, round, time(ratio));
            if comparison.id == "cold" {
                block.residency = Some(Residency {
                    resident_pages: self.left,
                    checked_pages: 900,
                    before_eviction_pages: Some(900),
                    after_block_pages: Some(self.brought),
                });
            } else if work > 0.0 {
                block.in_blocks = self.warm_reads;
            }
            blocks.push(block);
            blocks.push(Measurement {
                block: BlockKind::Latency,
                ..timed(cell, round, time(latency))
            });
        }
        blocks
    }

    fn found(self) -> Calibration {
        let records = self.records();
        let analysis = analyse(&records, None).unwrap();
        calibration(&records, &analysis).unwrap().unwrap()
    }

    fn group(self, subject: Subject) -> Group {
        let mut groups = self.found().groups.into_iter();
        groups.find(|group| group.subject == subject).unwrap()
    }

    /// The subjects that do not pass.
    fn failing(self) -> Vec<Subject> {
        let found = self.found();
        let groups = found.groups.iter();
        let failing: Vec<Subject> = groups
            .filter(|group| group.status.is_some_and(|status| !status.passes()))
            .map(|group| group.subject)
            .collect();
        assert_eq!(found.passed, failing.is_empty());
        failing
    }
}

/// The figure of this name: its estimate, and what it rests on.
#[track_caller]
fn figure(group: &Group, name: &str) -> (f64, Option<u64>) {
    let mut figures = group.figures.iter();
    let figure = figures.find(|figure| figure.name == name);
    let figure: &Figure = figure.unwrap_or_else(|| panic!("{name}: {group:?}"));
    (figure.found.unwrap().estimate, figure.of)
}

/// What an operation of a cell lasts by its settings.
fn cost(cell: &Cell, error: [f64; 2]) -> f64 {
    let number = |name| match cell.settings.get(name) {
        Some(Value::Number(number)) => *number as f64,
        _ => 0.0,
    };
    let readings = 24.0 * number("clock");
    let base = number("base");
    match cell.role {
        Role::Candidate if base > 0.0 => base * (1.0 + error[1]) + error[0] + readings,
        _ => base + readings,
    }
}

/// What a cell takes more that should be identical.
fn wrong(cell: &Cell, work: f64, error: [f64; 2]) -> f64 {
    match cell.role {
        Role::Candidate => work * error[1],
        _ => 0.0,
    }
}

#[test]
fn a_tool_that_measures_truly_passes_with_the_figures_that_were_put_in() {
    let found = TRUE.found();
    assert!(found.passed, "{found:?}");
    let near = |subject, name: &str, expected: f64, by: f64| {
        let (found, _) = figure(&TRUE.group(subject), name);
        assert!((found - expected).abs() <= by, "{name}: {found}");
    };
    near(Subject::Harness, "ratio blocks", 3.5, 0.05);
    near(Subject::Harness, "latency blocks", 33.0, 0.1);
    near(Subject::Clock, "a reading takes", 24.0, 0.1);
    near(Subject::Known, "the ns200", 2.0 + 0.2, 0.2);
    near(Subject::Known, "the us2", 0.001 + 0.001, 0.001);
    near(Subject::Known, "the us20", 0.001 + 0.0001, 0.001);
    let identical = TRUE.group(Subject::Identical);
    assert_eq!(figure(&identical, "false claims"), (0.0, Some(4)));
    let different = TRUE.group(Subject::Different);
    near(Subject::Different, "the plus10, found as", 0.1, 0.01);
    for (what, share) in [
        ("claimed", 1.0),
        ("truth held", 1.0),
        ("other way round", 0.0),
    ] {
        let name = format!("the plus10, {what}");
        assert_eq!(figure(&different, &name), (share, Some(1)), "{what}");
    }
    let cold = TRUE.group(Subject::Cold);
    assert_eq!(
        figure(&cold, "the base, before eviction"),
        (9_000.0, Some(9_000))
    );
    assert_eq!(
        figure(&cold, "the base, brought in"),
        (8_000.0, Some(9_000))
    );
    let warm = TRUE.group(Subject::Warm);
    assert_eq!(figure(&warm, "read from storage"), (0.0, Some(4 * 3 * 10)));
}

#[test]
fn a_known_cost_that_is_recovered_wrongly_fails() {
    let with = |error| Made { error, ..TRUE }.failing();
    assert_eq!(with([16.0, 0.0]), [Subject::Known], "16 ns of 200");
    assert_eq!(with([-16.0, 0.0]), [Subject::Known]);
    assert_eq!(with([0.0, 0.032]), [Subject::Known], "3.2% of 20 us");
    assert_eq!(with([0.0, -0.032]), [Subject::Known]);
    assert_eq!(with([0.0, 0.028]), []);
    let with = |busy_error| Made { busy_error, ..TRUE }.failing();
    assert_eq!(with([0.0, 0.052]), [Subject::Busy], "5.2% of 20 us");
    assert_eq!(with([0.0, 0.048]), []);
}

#[test]
fn too_many_false_claims_fail() {
    let with = |claims, of| Made {
        sessions: [of, claims],
        ..TRUE
    };
    assert_eq!(with(4, 76).failing(), [Subject::Identical]);
    let status = |claims, of| with(claims, of).group(Subject::Identical).status;
    // 3.9%, but 11% at most.
    assert_eq!(status(3, 76), Some(LimitStatus::Unsure));
    assert!(with(3, 76).found().passed);
    assert_eq!(status(0, 76), Some(LimitStatus::Met));
    assert_eq!(status(0, 20), Some(LimitStatus::Unsure));
    let (farthest, _) = figure(&with(3, 76).group(Subject::Identical), "farthest from 1");
    assert!((farthest - 0.2).abs() < 0.01);
}

#[test]
fn a_difference_within_the_zone_is_a_false_claim_where_the_interval_excludes_1() {
    let made = Made {
        sessions: [20, 4],
        wrong_by: 0.025,
        ..TRUE
    };
    let identical = made.group(Subject::Identical);
    assert_eq!(figure(&identical, "false claims"), (0.2, Some(20)));
    assert_eq!(made.failing(), [Subject::Identical]);
}

/// Sessions that say nothing, and what becomes of the figure of the others.
#[track_caller]
fn unusable(made: Made, [unreliable, lost]: [usize; 2], status: LimitStatus) {
    let identical = made.group(Subject::Identical);
    let [planned, unusable] = [made.sessions[0] as usize, unreliable + lost];
    let share = unusable as f64 / planned as f64;
    let told = figure(&identical, "unreliable or lost");
    assert_eq!(told, (share, Some(planned as u64)));
    if planned > unusable {
        let heard = (planned - unusable) as u64;
        assert_eq!(figure(&identical, "false claims"), (0.0, Some(heard)));
    }
    assert_eq!(identical.status, Some(status));
    assert_eq!(made.found().passed, status.passes());
}

#[test]
fn a_tool_that_refuses_to_say_anything_does_not_pass() {
    let identical = |id: &str| id.starts_with("aa-");
    let eighty = Made {
        sessions: [80, 0],
        ..TRUE
    };
    let unreliable = Made {
        unreliable: identical,
        ..eighty
    };
    unusable(unreliable, [80, 0], LimitStatus::Unknown);
    assert_eq!(unreliable.failing(), [Subject::Identical]);
    let lost = Made {
        lost: identical,
        ..eighty
    };
    unusable(lost, [0, 80], LimitStatus::Unknown);
    // Warm blocks are theirs as well.
    assert_eq!(lost.failing(), [Subject::Identical, Subject::Warm]);
}

#[test]
fn a_tenth_of_the_sessions_may_say_nothing_and_no_more() {
    let with = |sessions, unreliable, lost| Made {
        sessions: [sessions, 0],
        unreliable,
        lost,
        ..TRUE
    };
    // Sessions 000 to 007 of 100, and 090 and 091.
    let eight = |id: &str| id.strip_prefix("aa-files-").is_some_and(|n| n < "008");
    let two = |id: &str| id == "aa-files-090" || id == "aa-files-091";
    unusable(with(100, eight, two), [8, 2], LimitStatus::Met);
    unusable(with(99, eight, two), [8, 2], LimitStatus::Unknown);
}

#[test]
fn known_differences_of_which_no_session_says_anything_do_not_pass() {
    let different = |id: &str| id.starts_with("ab-");
    let unreliable = Made {
        unreliable: different,
        ..TRUE
    };
    assert_eq!(unreliable.failing(), [Subject::Different]);
    let lost = Made {
        lost: different,
        ..TRUE
    };
    assert_eq!(lost.failing(), [Subject::Different]);
}

#[test]
fn a_harness_above_its_budget_fails() {
    let with = |nothing| Made { nothing, ..TRUE }.failing();
    assert_eq!(with([15.5, 33.0]), [Subject::Harness]);
    assert_eq!(with([3.5, 51.0]), [Subject::Harness]);
    assert_eq!(with([14.5, 49.0]), []);
}

#[test]
fn an_interval_beside_the_truth_fails_and_so_does_a_claim_the_other_way_round() {
    let with = |ten_percent| Made {
        ten_percent,
        ..TRUE
    };
    assert_eq!(with(1.14).failing(), [Subject::Different]);
    assert_eq!(with(0.9).failing(), [Subject::Different]);
    let reversed = figure(
        &with(0.9).group(Subject::Different),
        "the plus10, other way round",
    );
    assert_eq!(reversed, (1.0, Some(1)));
}

#[test]
fn what_stayed_in_the_cache_was_not_cold_and_what_read_was_not_warm() {
    let left = Made { left: 1, ..TRUE };
    assert_eq!(left.failing(), [Subject::Cold]);
    let nothing_came = Made { brought: 0, ..TRUE };
    assert_eq!(nothing_came.failing(), [Subject::Cold]);
    let reading = Made {
        warm_reads: 8,
        ..TRUE
    };
    assert_eq!(reading.failing(), [Subject::Warm]);
}

#[test]
fn what_was_not_measured_does_not_pass() {
    let records: Vec<Record> = TRUE.records().into_iter().take(1).collect();
    let analysis = analyse(&records, None).unwrap();
    let found = calibration(&records, &analysis).unwrap().unwrap();
    assert!(!found.passed);
    let (clock, others) = found.groups.split_first().unwrap();
    assert_eq!((clock.subject, clock.status), (Subject::Clock, None));
    for group in others {
        assert_eq!(
            group.status,
            Some(LimitStatus::Unknown),
            "{:?}",
            group.subject
        );
    }
}

#[test]
fn any_other_run_is_no_calibration() {
    let mut records = TRUE.records();
    if let Record::Run(run) = &mut records[0] {
        run.plan.study.name = "mine".to_owned();
    }
    let analysis = analyse(&records, None).unwrap();
    assert_eq!(calibration(&records, &analysis).unwrap(), None);
}
