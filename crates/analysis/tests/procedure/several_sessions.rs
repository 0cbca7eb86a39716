//! Several sessions on each side, the session as the unit: on made-up runs whose answer is known.

use crate::compare::change;
use crate::support::{analysis, comparison, id, noisy, with_floor};
use stowplan_analysis::Analysis;
use stowplan_analysis::compare::{
    ChangeVerdict, Changes, Decides, NotCompared, Obstacle, PairingError, Question, Turns, Unit,
    compare, compare_sessions, judge_together,
};
use stowplan_model::{Comparison, Role, Value};

/// A session that began in this hour, in which each cell takes its time (nanoseconds per operation)
/// with normal noise of 0.1% from round to round.
fn session(plan: &Comparison, hour: usize, times: &[(&str, f64)]) -> Analysis {
    let mut session = analysis(plan, &noisy(hour as u64, 1_000.0, times, 10));
    session.run.started = format!("2026-01-01T{hour:02}:00:00+00:00");
    session
}

/// The sessions of one side: for each when it began and how much slower the machine was; `other` is
/// slower by itself.
fn side(sessions: &[(usize, f64)], slower: f64) -> Vec<Analysis> {
    let plan = with_floor();
    let sessions = sessions.iter().map(|(hour, machine)| {
        let times = [
            ("base", 8_000.0 * machine),
            ("again", 8_000.0 * machine),
            ("other", 4_000.0 * machine * slower),
            ("floor", 2_000.0 * machine),
        ];
        session(&plan, *hour, &times)
    });
    sessions.collect()
}

fn asked(
    base: &[Analysis],
    new: &[Analysis],
    question: &Question,
) -> Result<Changes, PairingError> {
    let [base, new] = [base, new].map(|side| side.iter().collect::<Vec<_>>());
    compare_sessions(&base, &new, question)
}

fn changes(base: &[Analysis], new: &[Analysis]) -> Changes {
    asked(base, new, &Question::default()).unwrap()
}

/// Machines that are 0 to 6% slower, in turns: BASE in even hours, NEW in odd ones.
const EVEN: [(usize, f64); 4] = [(0, 1.0), (2, 1.06), (4, 1.02), (6, 1.03)];
const ODD: [(usize, f64); 4] = [(1, 1.05), (3, 1.0), (5, 1.03), (7, 1.02)];

#[test]
fn what_sessions_of_the_same_program_differ_by_is_no_change() {
    let (base, new) = (side(&EVEN, 1.0), side(&ODD, 1.0));
    let found = changes(&base, &new);
    assert_eq!((found.unit, found.turns), (Unit::Session, Turns::Taken));
    assert_eq!((found.base_sessions, found.new_sessions), (4, 4));
    assert!(!found.drift_assumed);
    let other = change(&found, "other");
    assert_eq!(other.time_verdict, ChangeVerdict::NoChange, "{other:?}");
    assert_eq!((other.time.base_sessions, other.time.base_rounds), (4, 40));
    let widened = [
        other.time.noise_floor,
        other.time.drift_slower,
        other.time.drift_faster,
    ];
    assert_eq!(widened, [0.0; 3], "the spread of the sessions holds it all");
    let time = other.base_time_ns.unwrap();
    let mean = EVEN.map(|(_, machine)| machine.ln()).iter().sum::<f64>() / 4.0;
    assert!(
        (time.estimate / (4_000.0 * mean.exp()) - 1.0).abs() < 1e-3,
        "{time:?}"
    );
    // The ratio to the baseline does not know how slow the machine was.
    let ratio = other.ratio.unwrap();
    assert!(ratio.low > 0.998 && ratio.high < 1.002, "{ratio:?}");
    // Of the same sessions, one pair by its rounds.
    let pair = compare(&base[0], &new[0], &Question::default()).unwrap();
    assert_eq!(pair.unit, Unit::Round);
    assert!(pair.cells[0].time.raw_low > 1.04, "{:?}", pair.cells[0]);
}

#[test]
fn a_fifth_more_than_sessions_differ_by_is_a_regression() {
    let found = changes(&side(&EVEN, 1.0), &side(&ODD, 1.2));
    let other = &found.cells[0];
    assert_eq!((&other.base, other.regression), (&id("other"), true));
    let time = other.time;
    assert!(
        time.low < 1.2 && 1.2 < time.high && time.low > 1.1,
        "{time:?}"
    );
    assert!(time.p_slower < 0.01 && other.adjusted_p.unwrap() >= time.p_slower);
    assert_eq!(found.family, 2, "base and other");
    let back = changes(&side(&ODD, 1.2), &side(&EVEN, 1.0));
    assert_eq!(change(&back, "other").time_verdict, ChangeVerdict::Faster);
    assert_eq!(back.regressions().count(), 0);
}

#[test]
fn one_session_on_one_side_and_several_on_the_other_are_refused() {
    let (base, new) = (side(&EVEN, 1.0), side(&ODD, 1.0));
    for (ours, theirs) in [(1, 4), (4, 1), (0, 4), (2, 0)] {
        let refused = asked(&base[..ours], &new[..theirs], &Question::default());
        let sessions = PairingError::Sessions {
            base: ours,
            new: theirs,
        };
        assert_eq!(refused, Err(sessions));
    }
    assert!(asked(&base[..2], &new[..2], &Question::default()).is_ok());
}

#[test]
fn sessions_that_took_no_turns_are_said_to_and_widened_by_what_the_floors_shifted() {
    let early = [(0, 1.0), (1, 1.002), (2, 1.001)];
    let late = [(3, 1.1), (4, 1.102), (5, 1.101)];
    let found = changes(&side(&early, 1.0), &side(&late, 1.0));
    assert_eq!(found.turns, Turns::BaseFirst);
    let other = change(&found, "other");
    assert!(
        (other.time.drift_slower - 1.1_f64.ln()).abs() < 0.002,
        "{other:?}"
    );
    assert!(
        other.time.raw_low > 1.09 && other.time.low < 1.0,
        "{other:?}"
    );
    assert!(other.time.p_slower > 0.05 && !other.regression);
    assert_eq!(
        changes(&side(&late, 1.0), &side(&early, 1.0)).turns,
        Turns::NewFirst
    );
    // Without a floor nothing tells.
    let [base, new] = [early, late].map(|sessions| {
        let mut side = side(&sessions, 1.0);
        for session in &mut side {
            session.comparisons[0]
                .cells
                .retain(|cell| cell.cell.role != Role::Floor);
        }
        side
    });
    let found = changes(&base, &new);
    assert!(found.drift_assumed);
    assert!(change(&found, "other").time.drift_faster > 0.02);
}

/// The sessions of both sides in an order such as `BNNB`, an hour each; the machine is so much slower in
/// the hours that `slow` tells.
fn in_order(order: &str, slow: impl Fn(usize) -> f64) -> [Vec<Analysis>; 2] {
    ['B', 'N'].map(|wanted| {
        let hours = order
            .chars()
            .enumerate()
            .filter(|(_, side)| *side == wanted);
        let sessions: Vec<(usize, f64)> = hours.map(|(hour, _)| (hour, slow(hour))).collect();
        side(&sessions, 1.0)
    })
}

#[test]
fn one_session_between_those_of_the_other_side_is_no_turn() {
    let orders = [
        ("BNBNBNBN", Turns::Taken),
        ("NBNBNB", Turns::Taken),
        ("BNNBBNNB", Turns::Taken),
        ("BNNB", Turns::Taken),
        ("BNNBNN", Turns::Taken),
        ("BNBBNBN", Turns::Taken),
        ("BBNN", Turns::BaseFirst),
        ("BBBBNNNNB", Turns::BaseFirst),
        ("NNNNBBBBN", Turns::NewFirst),
        ("BBNNNNBB", Turns::BaseFirst),
        ("NBNBBBBBBBBB", Turns::NewFirst),
        ("BBNBNN", Turns::BaseFirst),
    ];
    for (order, expected) in orders {
        let [base, new] = in_order(order, |_| 1.0);
        assert_eq!(changes(&base, &new).turns, expected, "{order}");
    }
    let [mut base, mut new] = in_order("BN", |_| 1.0);
    assert_eq!(changes(&base, &new).turns, Turns::BaseFirst);
    new[0].run.started = base[0].run.started.clone();
    assert_eq!(changes(&base, &new).turns, Turns::Unknown);
    base[0].run.started = "yesterday".to_owned();
    assert_eq!(changes(&base, &new).turns, Turns::Unknown);
}

#[test]
fn a_machine_that_became_slower_is_no_regression_though_one_session_of_base_came_last() {
    let [base, new] = in_order("BBBBNNNNB", |hour| if hour < 4 { 1.0 } else { 1.1 });
    let found = changes(&base, &new);
    let other = change(&found, "other");
    assert!(other.time.raw_low > 1.01, "{other:?}");
    assert!(other.time.drift_slower > 0.07, "{other:?}");
    assert_eq!(found.regressions().count(), 0, "{other:?}");
}

#[test]
fn starts_are_points_in_time_and_not_texts() {
    let [mut base, mut new] = [side(&EVEN[..2], 1.0), side(&ODD[..2], 1.0)];
    for (session, hour) in base.iter_mut().zip(["05", "06"]) {
        session.run.started = format!("2026-01-01T{hour}:00:00+05:00");
    }
    for (session, hour) in new.iter_mut().zip(["02", "03"]) {
        session.run.started = format!("2026-01-01T{hour}:00:00Z");
    }
    assert_eq!(changes(&base, &new).turns, Turns::BaseFirst);
    new[0].run.started = "yesterday".to_owned();
    assert_eq!(changes(&base, &new).turns, Turns::Unknown);
}

/// Why `other` was not compared.
fn obstacles(found: &Changes) -> &[Obstacle] {
    let mut all = found.not_compared.iter();
    let is_other = |left_out: &&NotCompared| left_out.cell == id("other");
    &all.find(is_other).unwrap().reasons
}

#[test]
fn a_session_in_which_a_cell_cannot_be_used_is_left_out_as_long_as_two_are_left() {
    let (base, mut new) = (side(&EVEN, 1.0), side(&ODD[..3], 1.0));
    new[1].comparisons[0].cells[2].rounds = 9;
    let found = changes(&base, &new);
    let other = change(&found, "other").time;
    assert_eq!((other.base_sessions, other.new_sessions), (4, 2));
    new[0].comparisons[0].reliable = false;
    let found = changes(&base, &new);
    let [left] = obstacles(&found) else {
        panic!("{found:?}");
    };
    assert!(left.reason.starts_with("too few sessions"), "{left:?}");
    let sessions = &left.differences[0];
    assert_eq!(
        (sessions.base.as_deref(), sessions.new.as_deref()),
        (Some("4"), Some("1"))
    );
    assert!(found.unresolved().any(|cell| *cell == id("other")));
}

#[test]
fn sessions_of_one_side_that_did_not_do_the_same_are_none_of_the_same_program() {
    let (mut base, new) = (side(&EVEN, 1.0), side(&ODD, 1.0));
    let settings = &mut base[2].comparisons[0].cells[2].cell.settings;
    settings.set("layout", Value::Word("tree".to_owned()));
    let found = changes(&base, &new);
    let [alike] = obstacles(&found) else {
        panic!("{found:?}");
    };
    assert_eq!(alike.reason, "the sessions of BASE did not do the same");
    assert_eq!(alike.differences[0].what, "layout");
    assert!(
        found.unresolved().next().is_none(),
        "no measuring mends that"
    );
}

#[test]
fn another_boot_is_told_where_the_sides_differ_by_it() {
    let boots = |sides: &mut [Analysis], names: &[&str]| {
        for (session, name) in sides.iter_mut().zip(names) {
            session.boots = vec![(*name).to_owned()];
        }
    };
    let (mut base, mut new) = (side(&EVEN[..2], 1.0), side(&ODD[..2], 1.0));
    boots(&mut base, &["11111111-a", "22222222-b"]);
    boots(&mut new, &["22222222-b", "11111111-a"]);
    assert_eq!(changes(&base, &new).environment, []);
    boots(&mut new, &["33333333-c", "33333333-c"]);
    let found = changes(&base, &new);
    let [boot] = &found.environment[..] else {
        panic!("{found:?}");
    };
    assert_eq!(
        boot.difference.base.as_deref(),
        Some("11111111 or 22222222")
    );
    assert_eq!(boot.difference.new.as_deref(), Some("33333333"));
    assert!(
        found.same_machine,
        "a machine that was started again is the same"
    );
}

/// Three sessions each of so many cells; the first one takes 3.1% longer in NEW, where sessions
/// differ by 1%.
fn one_of(cells: usize) -> Changes {
    let keys: Vec<String> = (0..cells).map(|cell| format!("c{cell}")).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let plan = comparison(&keys);
    let session = |hour: usize, machine: f64, slower: f64| {
        let of = |key: &&'static str| (*key, 8_000.0 * machine);
        let mut times: Vec<(&str, f64)> = ["base", "again"].iter().map(of).collect();
        let others = keys.iter().enumerate();
        times.extend(others.map(|(number, key)| {
            let slower = if number == 0 { slower } else { 1.0 };
            (*key, 4_000.0 * machine * slower)
        }));
        session(&plan, hour, &times)
    };
    let base = [(0, 0.99), (2, 1.0), (4, 1.01)].map(|(hour, machine)| session(hour, machine, 1.0));
    let new = [(1, 1.0), (3, 1.01), (5, 0.99)].map(|(hour, machine)| session(hour, machine, 1.031));
    changes(&base, &new)
}

#[test]
fn what_is_a_regression_by_itself_is_none_among_many_cells() {
    let few = one_of(1);
    let cell = change(&few, "c0");
    assert_eq!(
        (cell.time_verdict, cell.regression),
        (ChangeVerdict::Slower, true),
        "{cell:?}"
    );
    assert!((0.01..0.025).contains(&cell.time.p_slower), "{cell:?}");
    let many = one_of(20);
    let cell = change(&many, "c0");
    assert_eq!(
        (many.family, cell.time_verdict),
        (21, ChangeVerdict::Slower)
    );
    assert!(
        !cell.regression && cell.adjusted_p.unwrap() > 0.2,
        "{cell:?}"
    );
    assert!((many.expected_false() - 21.0 * 0.05).abs() < 1e-12);
    assert!(many.unresolved().any(|cell| *cell == id("c0")));
}

#[test]
fn comparisons_that_decide_together_are_one_family() {
    let mut all = vec![one_of(1), one_of(20)];
    judge_together(&mut all);
    for changes in &all {
        assert_eq!(changes.family, 23);
        let cell = change(changes, "c0");
        assert!(!cell.regression, "{cell:?}");
        let p = cell.adjusted_p.unwrap();
        assert!(p > 0.2 && p <= 1.0, "{p}");
    }
    let mut elsewhere = one_of(20);
    elsewhere.decides = Decides::Nothing;
    let mut all = vec![one_of(1), elsewhere];
    judge_together(&mut all);
    assert_eq!(all[0].family, 2);
    assert!(change(&all[0], "c0").regression);
    assert!(change(&all[1], "c0").adjusted_p.is_none());
}

#[test]
fn the_p_value_of_rounds_is_that_of_the_widened_interval() {
    let (base, new) = (side(&EVEN[..1], 1.0), side(&[(1, 1.0)], 1.1));
    let p = |threshold| {
        let question = Question {
            threshold,
            ..Question::default()
        };
        let found = compare(&base[0], &new[0], &question).unwrap();
        let cell = change(&found, "other").clone();
        let limit = threshold.unwrap_or(0.0_f64).ln_1p();
        assert_eq!(
            cell.time.p_slower <= 0.05,
            cell.time.low.ln() > limit,
            "{cell:?}"
        );
        cell.time.p_slower
    };
    assert!(p(None) < 0.001);
    assert!((p(Some(0.3)) - 1.0).abs() < 1e-12);
    let rising: Vec<f64> = (0..40)
        .map(|step| p(Some(0.07 + f64::from(step) / 2_500.0)))
        .collect();
    assert!(rising.is_sorted(), "{rising:?}");
    assert!(rising.iter().any(|p| (0.01..0.9).contains(p)), "{rising:?}");
}
