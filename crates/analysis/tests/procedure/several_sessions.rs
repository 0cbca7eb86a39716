//! Several sessions on each side, the session as the unit: on made-up runs whose answer is known.

use crate::compare::{change, left_out, question};
use crate::support::{analysis, comparison, each, id, near, noisy, set, with_floor};
use stowplan_analysis::Analysis;
use stowplan_analysis::compare::{
    ChangeVerdict, Changes, Decides, PairingError, Question, Turns, Unit, compare,
    compare_sessions, judge_together,
};
use stowplan_model::{Comparison, Role};

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
        let times = [8_000.0, 8_000.0, 4_000.0 * slower, 2_000.0].map(|ns| ns * machine);
        session(&plan, *hour, &each("base again other floor", &times))
    });
    sessions.collect()
}

fn asked(base: &[Analysis], new: &[Analysis]) -> Result<Changes, PairingError> {
    let [base, new] = [base, new].map(|side| side.iter().collect::<Vec<_>>());
    compare_sessions(&base, &new, &Question::default())
}

fn changes(base: &[Analysis], new: &[Analysis]) -> Changes {
    asked(base, new).unwrap()
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
    let time = other.time;
    assert_eq!((time.base_sessions, time.base_rounds), (4, 40));
    // The spread of the sessions holds it all.
    let widened = [time.noise_floor, time.drift_slower, time.drift_faster];
    assert_eq!(widened, [0.0; 3]);
    let mean = EVEN.map(|(_, machine)| machine.ln()).iter().sum::<f64>() / 4.0;
    let estimate = other.base_time_ns.unwrap().estimate;
    near(estimate / (4_000.0 * mean.exp()), 1.0, 1e-3);
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
    assert!((1.1..1.2).contains(&time.low) && 1.2 < time.high);
    assert!(time.p_slower < 0.01 && other.adjusted_p.unwrap() >= time.p_slower);
    assert_eq!(found.family, 2, "base and other");
    let back = changes(&side(&ODD, 1.2), &side(&EVEN, 1.0));
    assert_eq!(change(&back, "other").time_verdict, ChangeVerdict::Faster);
    assert_eq!(back.regressions().count(), 0);
}

#[test]
fn one_session_on_one_side_and_several_on_the_other_are_refused() {
    let (sides, both) = (side(&EVEN, 1.0), side(&ODD, 1.0));
    for (base, new) in [(1, 4), (4, 1), (0, 4), (2, 0)] {
        let refused = asked(&sides[..base], &both[..new]);
        assert_eq!(refused, Err(PairingError::Sessions { base, new }));
    }
    assert!(asked(&sides[..2], &both[..2]).is_ok());
}

#[test]
fn sessions_that_took_no_turns_are_said_to_and_widened_by_what_the_floors_shifted() {
    let [mut base, mut new] = [
        side(&[(0, 1.0), (1, 1.002), (2, 1.001)], 1.0),
        side(&[(3, 1.1), (4, 1.102), (5, 1.101)], 1.0),
    ];
    let found = changes(&base, &new);
    assert_eq!(found.turns, Turns::BaseFirst);
    let other = change(&found, "other");
    near(other.time.drift_slower, 1.1_f64.ln(), 0.002);
    let time = other.time;
    assert!(time.raw_low > 1.09 && time.low < 1.0, "{time:?}");
    assert!(time.p_slower > 0.05 && !other.regression);
    assert_eq!(changes(&new, &base).turns, Turns::NewFirst);
    // Without a floor nothing tells.
    for session in base.iter_mut().chain(&mut new) {
        let cells = &mut session.comparisons[0].cells;
        cells.retain(|cell| cell.cell.role != Role::Floor);
    }
    let found = changes(&base, &new);
    assert!(found.drift_assumed);
    assert!(change(&found, "other").time.drift_faster > 0.02);
}

/// The sessions of both sides in an order such as `BNNB`, an hour each; the machine is so much slower in
/// the hours that `slow` tells.
fn in_order(order: &str, slow: impl Fn(usize) -> f64) -> [Vec<Analysis>; 2] {
    ['B', 'N'].map(|wanted| {
        let hours = order.chars().enumerate();
        let hours = hours.filter(|(_, side)| *side == wanted);
        let sessions: Vec<(usize, f64)> = hours.map(|(hour, _)| (hour, slow(hour))).collect();
        side(&sessions, 1.0)
    })
}

#[test]
fn one_session_between_those_of_the_other_side_is_no_turn() {
    for (orders, expected) in [
        ("BNBNBNBN NBNBNB BNNBBNNB BNNB BNNBNN BNBBNBN", Turns::Taken),
        ("BN BBNN BBBBNNNNB BBNNNNBB BBNBNN", Turns::BaseFirst),
        ("NNNNBBBBN NBNBBBBBBBBB", Turns::NewFirst),
    ] {
        for order in orders.split(' ') {
            let [base, new] = in_order(order, |_| 1.0);
            assert_eq!(changes(&base, &new).turns, expected, "{order}");
        }
    }
    // A machine that became slower is no regression though one session of BASE came last.
    let [base, new] = in_order("BBBBNNNNB", |hour| if hour < 4 { 1.0 } else { 1.1 });
    let found = changes(&base, &new);
    let time = change(&found, "other").time;
    assert!(time.raw_low > 1.01 && time.drift_slower > 0.07, "{time:?}");
    assert_eq!(found.regressions().count(), 0, "{time:?}");
}

#[test]
fn starts_are_points_in_time_and_not_texts() {
    let (mut base, mut new) = (side(&EVEN[..2], 1.0), side(&ODD[..2], 1.0));
    for (base_at, new_at, expected) in [
        ("05:00+05:00 06:00+05:00", "02:00Z 03:00Z", Turns::BaseFirst),
        ("05:00Z 05:00Z", "05:00Z 05:00Z", Turns::Unknown),
        ("05:00Z 06:00Z", "yesterday 08:00Z", Turns::Unknown),
    ] {
        for (side, times) in [(&mut base, base_at), (&mut new, new_at)] {
            for (session, time) in side.iter_mut().zip(times.split(' ')) {
                session.run.started = format!("2026-01-01T{time}");
            }
        }
        assert_eq!(changes(&base, &new).turns, expected, "{new_at}");
    }
}

#[test]
fn a_session_in_which_a_cell_cannot_be_used_is_left_out_as_long_as_two_are_left() {
    let (mut base, mut new) = (side(&EVEN, 1.0), side(&ODD, 1.0));
    new.truncate(3);
    new[1].comparisons[0].cells[2].rounds = 9;
    let found = changes(&base, &new);
    let other = change(&found, "other").time;
    assert_eq!((other.base_sessions, other.new_sessions), (4, 2));
    new[0].comparisons[0].reliable = false;
    let found = changes(&base, &new);
    let [why] = &left_out(&found, "other").reasons[..] else {
        panic!("{found:?}");
    };
    assert!(why.reason.starts_with("too few sessions"), "{why:?}");
    let sessions = &why.differences[0];
    let told = (sessions.base.as_deref(), sessions.new.as_deref());
    assert_eq!(told, (Some("4"), Some("1")));
    assert!(found.unresolved().any(|cell| *cell == id("other")));
    // Sessions of one side that did not do the same are none of the same program.
    set(&mut base[2].comparisons[0].cells[2].cell, "layout", "tree");
    let found = changes(&base, &side(&ODD, 1.0));
    let [why] = &left_out(&found, "other").reasons[..] else {
        panic!("{found:?}");
    };
    assert_eq!(why.reason, "the sessions of BASE did not do the same");
    assert_eq!(why.differences[0].what, "layout");
    assert_eq!(found.unresolved().next(), None, "no measuring mends that");
}

#[test]
fn another_boot_is_told_where_the_sides_differ_by_it() {
    let (mut base, mut new) = (side(&EVEN[..2], 1.0), side(&ODD[..2], 1.0));
    let mut told = |of_base: [&str; 2], of_new: [&str; 2]| {
        for (side, names) in [(&mut base, of_base), (&mut new, of_new)] {
            for (session, name) in side.iter_mut().zip(names) {
                session.boots = vec![name.to_owned()];
            }
        }
        let found = changes(&base, &new);
        assert!(found.same_machine, "started again it is the same");
        let all = found.environment.into_iter().map(|told| told.difference);
        all.map(|d| [d.base, d.new].map(Option::unwrap_or_default))
            .collect::<Vec<_>>()
    };
    let both = ["11111111-a", "22222222-b"];
    assert_eq!(told(both, ["22222222-b", "11111111-a"]), [["", ""]; 0]);
    let third = ["33333333-c", "33333333-c"];
    assert_eq!(told(both, third), [["11111111 or 22222222", "33333333"]]);
}

/// Three sessions each of so many cells; the first one takes 3.1% longer in NEW, where sessions
/// differ by 1%.
fn one_of(cells: usize) -> Changes {
    let keys: Vec<String> = (0..cells).map(|cell| format!("c{cell}")).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let plan = comparison(&keys);
    let names = format!("base again {}", keys.join(" "));
    let session = |hour: usize, machine: f64, slower: f64| {
        let mut times = vec![4_000.0 * machine; 2 + cells];
        (times[0], times[1]) = (8_000.0 * machine, 8_000.0 * machine);
        times[2] *= slower;
        session(&plan, hour, &each(&names, &times))
    };
    let base = [(0, 0.99), (2, 1.0), (4, 1.01)].map(|(hour, machine)| session(hour, machine, 1.0));
    let new = [(1, 1.0), (3, 1.01), (5, 0.99)].map(|(hour, machine)| session(hour, machine, 1.031));
    changes(&base, &new)
}

#[test]
fn what_is_a_regression_by_itself_is_none_among_many_cells_or_among_other_comparisons() {
    let (few, many) = (one_of(1), one_of(20));
    let cell = change(&few, "c0");
    let told = (cell.time_verdict, cell.regression);
    assert_eq!(told, (ChangeVerdict::Slower, true), "{cell:?}");
    assert!((0.01..0.025).contains(&cell.time.p_slower), "{cell:?}");
    let cell = change(&many, "c0");
    let told = (many.family, cell.time_verdict, cell.regression);
    assert_eq!(told, (21, ChangeVerdict::Slower, false));
    assert!(cell.adjusted_p.unwrap() > 0.2, "{cell:?}");
    near(many.expected_false(), 21.0 * 0.05, 1e-12);
    assert!(many.unresolved().any(|cell| *cell == id("c0")));
    let mut all = [few.clone(), many.clone()];
    judge_together(&mut all);
    for changes in &all {
        let cell = change(changes, "c0");
        assert_eq!((changes.family, cell.regression), (23, false));
        let p = cell.adjusted_p.unwrap();
        assert!(p > 0.2 && p <= 1.0, "{p}");
    }
    // Those where nothing decides are not of the family.
    let mut all = [few, many];
    all[1].decides = Decides::Nothing;
    judge_together(&mut all);
    assert_eq!(all[0].family, 2);
    assert!(change(&all[0], "c0").regression);
    assert_eq!(change(&all[1], "c0").adjusted_p, None);
}

#[test]
fn the_p_value_of_rounds_is_that_of_the_widened_interval() {
    let (base, new) = (side(&EVEN[..1], 1.0), side(&[(1, 1.0)], 1.1));
    let p = |threshold: Option<f64>| {
        let question = question(|asked| asked.threshold = threshold);
        let found = compare(&base[0], &new[0], &question).unwrap();
        let time = change(&found, "other").time;
        let limit = threshold.unwrap_or(0.0).ln_1p();
        assert_eq!(time.p_slower <= 0.05, time.low.ln() > limit, "{time:?}");
        time.p_slower
    };
    assert!(p(None) < 0.001);
    near(p(Some(0.3)), 1.0, 1e-12);
    let rising = (0..40).map(|step| p(Some(0.07 + f64::from(step) / 2_500.0)));
    let rising: Vec<f64> = rising.collect();
    assert!(rising.is_sorted(), "{rising:?}");
    assert!(rising.iter().any(|p| (0.01..0.9).contains(p)), "{rising:?}");
}
