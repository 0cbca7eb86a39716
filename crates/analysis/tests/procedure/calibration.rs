//! What is made of calibrations whose answer is known: a tool that errs must not pass.

use crate::support::{Random, block, cell, near, records};
use stowplan_analysis::analyse;
use stowplan_analysis::calibration::{Calibration, Group, LimitStatus, Subject, calibration};
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

/// The same with one thing changed.
fn but(change: impl FnOnce(&mut Made)) -> Made {
    let mut made = TRUE;
    change(&mut made);
    made
}

/// A comparison whose cells have a store of a setting.
fn comparison(id: &str, name: &str, base: u64, candidates: &[(&str, u64)]) -> Comparison {
    let cell = |key: &str, role: Role, number: u64| {
        let mut cell = cell(key, role);
        cell.id = match role {
            Role::Control => CellId(format!("{id}/{key}-control")),
            _ => CellId(format!("{id}/{key}")),
        };
        cell.settings.set(name, Value::Number(number));
        cell
    };
    let two = [Role::Baseline, Role::Control].map(|role| cell("base", role, base));
    let others = candidates.iter();
    let others = others.map(|(key, number)| cell(key, Role::Candidate, *number));
    let cells: Vec<Cell> = two.into_iter().chain(others).collect();
    let contrast = |cell: &Cell| Contrast {
        cell: cell.id.clone(),
        reference: cells[0].id.clone(),
    };
    Comparison {
        id: id.to_owned(),
        contrasts: cells[2..].iter().map(contrast).collect(),
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

/// What an operation of a cell lasts by its settings, and what a cell takes more that should be
/// identical to its baseline, whose work lasts so long.
fn cost(cell: &Cell, work: f64, error: [f64; 2]) -> f64 {
    let number = |name| match cell.settings.get(name) {
        Some(Value::Number(number)) => *number as f64,
        _ => 0.0,
    };
    let (base, readings) = (number("base"), 24.0 * number("clock"));
    let [more, share] = match cell.role {
        Role::Candidate => error,
        _ => [0.0; 2],
    };
    let more = if base > 0.0 { more } else { 0.0 };
    base * (1.0 + share) + more + readings + work * share
}

impl Made {
    fn records(self) -> Vec<Record> {
        let (mut plans, mut blocks) = (Vec::new(), Vec::new());
        let mut add = |id: &str, (name, base), others: &[(&str, u64)], work: f64, error| {
            let plan = comparison(id, name, base, others);
            blocks.extend(self.blocks(&plan, work, error));
            plans.push(plan);
        };
        let known = [("ns200", 200), ("us2", 2_000), ("us20", 20_000)];
        let (none, ten) = ([0.0; 2], [0.0, self.ten_percent / 1.1 - 1.0]);
        add("clock", ("clock", 0), &[("readings", 4)], 0.0, none);
        add("known", ("base", 0), &known, 0.0, self.error);
        add("cold", ("x", 0), &[("sqlite", 0)], 50_000.0, none);
        add("known-busy", ("base", 0), &known, 0.0, self.busy_error);
        add("ab-001", ("base", 5_000), &[("plus10", 5_500)], 0.0, ten);
        for session in 0..self.sessions[0] {
            let finds = session < self.sessions[1];
            let wrong = if finds { self.wrong_by } else { 0.0 };
            let id = format!("aa-files-{session:03}");
            add(&id, ("x", 0), &[("again", 0)], 4_000.0, [0.0, wrong]);
        }
        let mut all = records(&plans[0], &blocks);
        if let Record::Run(run) = &mut all[0] {
            run.plan.study.name = "calibrate".to_owned();
            run.plan.comparisons = plans;
        }
        all
    }

    fn blocks(self, comparison: &Comparison, work: f64, error: [f64; 2]) -> Vec<Measurement> {
        let mut blocks = Vec::new();
        if (self.lost)(&comparison.id) {
            return blocks;
        }
        let cells = comparison.cells.iter();
        for (cell, round) in cells.flat_map(|cell| (0..10).map(move |round| (cell, round))) {
            let fails = cell.role == Role::Control && (self.unreliable)(&comparison.id);
            let factor = if fails { 1.3 } else { 1.0 };
            let more = work + cost(cell, work, error);
            let [ratio, latency] = self.nothing.map(|nothing| factor * (nothing + more));
            let mut block = timed(cell, round, ratio);
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
            let mut single = timed(cell, round, latency);
            single.block = BlockKind::Latency;
            blocks.extend([block, single]);
        }
        blocks
    }

    fn found(self) -> Calibration {
        found(&self.records()).unwrap()
    }

    fn group(self, subject: Subject) -> Group {
        let mut groups = self.found().groups.into_iter();
        groups.find(|group| group.subject == subject).unwrap()
    }

    /// The subjects that do not pass.
    fn failing(self) -> Vec<Subject> {
        let found = self.found();
        let fails = |group: &&Group| group.status.is_some_and(|status| !status.passes());
        let failing = found.groups.iter().filter(fails);
        let failing: Vec<Subject> = failing.map(|group| group.subject).collect();
        assert_eq!(found.passed, failing.is_empty());
        failing
    }

    /// The figure of this name: its estimate, and what it rests on.
    #[track_caller]
    fn figure(self, subject: Subject, name: &str) -> (f64, Option<u64>) {
        let figures = self.group(subject).figures;
        let figure = figures.iter().find(|figure| figure.name == name);
        let figure = figure.unwrap_or_else(|| panic!("{name}: {figures:?}"));
        (figure.found.unwrap().estimate, figure.of)
    }
}

fn found(records: &[Record]) -> Option<Calibration> {
    calibration(records, &analyse(records, None).unwrap()).unwrap()
}

#[test]
fn a_tool_that_measures_truly_passes_with_the_figures_that_were_put_in() {
    use Subject::{Clock, Cold, Different, Harness, Identical, Known, Warm};
    assert_eq!(TRUE.failing(), []);
    for (subject, name, expected, by) in [
        (Harness, "ratio blocks", 3.5, 0.05),
        (Harness, "latency blocks", 33.0, 0.1),
        (Clock, "a reading takes", 24.0, 0.1),
        (Known, "the ns200", 2.0 + 0.2, 0.2),
        (Known, "the us2", 0.001 + 0.001, 0.001),
        (Known, "the us20", 0.001 + 0.0001, 0.001),
        (Different, "the plus10, found as", 0.1, 0.01),
    ] {
        near(TRUE.figure(subject, name).0, expected, by);
    }
    for (subject, name, share, of) in [
        (Identical, "false claims", 0.0, 4),
        (Different, "the plus10, claimed", 1.0, 1),
        (Different, "the plus10, truth held", 1.0, 1),
        (Different, "the plus10, other way round", 0.0, 1),
        (Cold, "the base, before eviction", 9_000.0, 9_000),
        (Cold, "the base, brought in", 8_000.0, 9_000),
        (Warm, "read from storage", 0.0, 4 * 3 * 10),
    ] {
        assert_eq!(TRUE.figure(subject, name), (share, Some(of)), "{name}");
    }
}

#[test]
fn whatever_is_measured_wrongly_or_not_at_all_fails() {
    use Subject::{Busy, Cold, Different, Harness, Known, Warm};
    let known = |error| but(|made| made.error = error);
    let busy = |error| but(|made| made.busy_error = error);
    let nothing = |nothing| but(|made| made.nothing = nothing);
    let ten_percent = |found_as| but(|made| made.ten_percent = found_as);
    let unreliable = |ids| but(|made| made.unreliable = ids);
    let lost = |ids| but(|made| made.lost = ids);
    let different: fn(&str) -> bool = |id| id.starts_with("ab-");
    for (what, made, failing) in [
        ("16 ns of 200", known([16.0, 0.0]), Some(Known)),
        ("16 ns less", known([-16.0, 0.0]), Some(Known)),
        ("3.2% of 20 us", known([0.0, 0.032]), Some(Known)),
        ("3.2% less", known([0.0, -0.032]), Some(Known)),
        ("2.8%", known([0.0, 0.028]), None),
        ("5.2% of 20 us, busy", busy([0.0, 0.052]), Some(Busy)),
        ("4.8%, busy", busy([0.0, 0.048]), None),
        ("ratio blocks", nothing([15.5, 33.0]), Some(Harness)),
        ("latency blocks", nothing([3.5, 51.0]), Some(Harness)),
        ("within the budget", nothing([14.5, 49.0]), None),
        ("beside the truth", ten_percent(1.14), Some(Different)),
        ("the other way round", ten_percent(0.9), Some(Different)),
        ("unreliable", unreliable(different), Some(Different)),
        ("lost", lost(different), Some(Different)),
        ("a page stayed", but(|made| made.left = 1), Some(Cold)),
        ("no page came", but(|made| made.brought = 0), Some(Cold)),
        ("a read", but(|made| made.warm_reads = 8), Some(Warm)),
    ] {
        assert_eq!(made.failing(), Vec::from_iter(failing), "{what}");
    }
    let reversed = ten_percent(0.9).figure(Different, "the plus10, other way round");
    assert_eq!(reversed, (1.0, Some(1)));
}

#[test]
fn too_many_false_claims_fail() {
    let with = |claims, of| but(|made| made.sessions = [of, claims]);
    assert_eq!(with(4, 76).failing(), [Subject::Identical]);
    let status = |claims, of| with(claims, of).group(Subject::Identical).status;
    // 3.9%, but 11% at most.
    assert_eq!(status(3, 76), Some(LimitStatus::Unsure));
    assert!(with(3, 76).found().passed);
    assert_eq!(status(0, 76), Some(LimitStatus::Met));
    assert_eq!(status(0, 20), Some(LimitStatus::Unsure));
    let farthest = with(3, 76).figure(Subject::Identical, "farthest from 1");
    near(farthest.0, 0.2, 0.01);
    // One within the zone is one where the interval excludes 1.
    let mut small = with(4, 20);
    small.wrong_by = 0.025;
    let claims = small.figure(Subject::Identical, "false claims");
    assert_eq!(claims, (0.2, Some(20)));
    assert_eq!(small.failing(), [Subject::Identical]);
}

#[test]
fn a_tenth_of_the_sessions_may_say_nothing_and_no_more() {
    let all = |id: &str| id.starts_with("aa-");
    let none = |_: &str| false;
    // Sessions 000 to 007 of 100, and 090 and 091.
    let eight = |id: &str| id.strip_prefix("aa-files-").is_some_and(|n| n < "008");
    let two = |id: &str| id == "aa-files-090" || id == "aa-files-091";
    let with = |planned, unreliable, lost| Made {
        sessions: [planned, 0],
        unreliable,
        lost,
        ..TRUE
    };
    let unreliable = with(80, all, none);
    let lost = with(80, none, all);
    for (made, unusable, status) in [
        (unreliable, 80, LimitStatus::Unknown),
        (lost, 80, LimitStatus::Unknown),
        (with(100, eight, two), 10, LimitStatus::Met),
        (with(99, eight, two), 10, LimitStatus::Unknown),
    ] {
        let planned = made.sessions[0];
        let share = f64::from(unusable) / f64::from(planned);
        let told = made.figure(Subject::Identical, "unreliable or lost");
        assert_eq!(told, (share, Some(planned.into())));
        if planned > unusable {
            let told = made.figure(Subject::Identical, "false claims");
            assert_eq!(told, (0.0, Some((planned - unusable).into())));
        }
        assert_eq!(made.group(Subject::Identical).status, Some(status));
        assert_eq!(made.found().passed, status.passes());
    }
    assert_eq!(unreliable.failing(), [Subject::Identical]);
    // Warm blocks are theirs as well.
    assert_eq!(lost.failing(), [Subject::Identical, Subject::Warm]);
}

#[test]
fn what_was_not_measured_does_not_pass_and_any_other_run_is_no_calibration() {
    let mut records = TRUE.records();
    let none = found(&records[..1]).unwrap();
    assert!(!none.passed);
    let (clock, others) = none.groups.split_first().unwrap();
    assert_eq!((clock.subject, clock.status), (Subject::Clock, None));
    let unknown = |group: &Group| group.status == Some(LimitStatus::Unknown);
    assert!(others.iter().all(unknown), "{others:?}");
    if let Record::Run(run) = &mut records[0] {
        run.plan.study.name = "mine".to_owned();
    }
    assert_eq!(found(&records), None);
}
