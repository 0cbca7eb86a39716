//! What was compared, and how.

use super::{Side, interval};
use crate::words::note;
use crate::{noise, value};
use stowplan_analysis::compare::{CellChange, Changes, Decides, Turns, Unit};

/// What there is to say of each way to compare.
const WORDS: &str = include_str!("../words/compare.txt");

pub(super) fn told(title: &str, filled: &[(&str, String)]) -> Option<String> {
    note(WORDS, title, filled)
}

/// `small: fasterthanfs, scale seed, 2026-11-21 16:20, stowplan 0.1.0 (309e19b) on vm`; of several
/// sessions with when the first began and the last.
fn described(side: &Side<'_>) -> String {
    let run = &side.first.analysis.run;
    let machine = &run.environment;
    let commit = machine.tool_commit.as_deref().map(|commit| {
        let short: String = commit.chars().take(7).collect();
        format!(" ({short})")
    });
    let mut starts: Vec<String> = side
        .all()
        .map(|source| minute(&source.analysis.run.started))
        .collect();
    starts.sort_unstable();
    let starts = match starts.as_slice() {
        [first, .., last] => format!("{first} to {last}"),
        only => only.concat(),
    };
    format!(
        "{}: {}, scale {}, {starts}, stowplan {}{} on {}",
        side.name(),
        run.plan.study.name,
        run.plan.scale,
        machine.tool_version,
        commit.unwrap_or_default(),
        machine.host
    )
}

/// `2026-11-21 16:20`
fn minute(started: &str) -> String {
    let start: String = started.chars().take("2026-11-21T16:20".len()).collect();
    start.replacen('T', " ", 1)
}

/// Which results these are, what intervals rest on, what decides and what is a regression.
pub(super) fn notes(base: &Side<'_>, new: &Side<'_>, changes: &Changes) -> Vec<String> {
    let sides = [("BASE", base), ("NEW", new)];
    let sides = sides.map(|(name, side)| format!("{name} is {}", described(side)));
    if changes.cells.is_empty() {
        return sides.into();
    }
    let cells = changes.cells.iter();
    let drift = |cell: &CellChange| cell.time.drift_slower.max(cell.time.drift_faster).exp_m1();
    let drifts = || cells.clone().map(drift);
    let noise = cells.clone().map(|cell| cell.time.noise_floor.exp_m1());
    let limit = changes.threshold.unwrap_or(0.0);
    let sign = if limit > 0.0 { "+" } else { "" };
    let expected = format!("{:.2}", changes.expected_false());
    let machines = match (changes.same_machine, changes.unit) {
        (false, _) => "The machines differ",
        (true, Unit::Round) => "Both ran on the same machine",
        (true, Unit::Session) => "All ran on the same machine",
    };
    let order = match changes.turns {
        Turns::BaseFirst => " Here BASE ran first.",
        Turns::NewFirst => " Here NEW ran first.",
        Turns::Taken | Turns::Unknown => "",
    };
    let judged = changes.judged().count();
    let filled = [
        ("machines", machines.to_owned()),
        ("order", order.to_owned()),
        ("limit", format!("{sign}{}", value::percent(limit))),
        ("noise", noise::span(noise).unwrap_or_default()),
        ("drift", noise::span(drifts()).unwrap_or_default()),
        ("most", value::percent(drifts().fold(0.0, f64::max))),
        ("base", changes.base_sessions.to_string()),
        ("new", changes.new_sessions.to_string()),
        ("cells", value::counted(judged, "cell")),
        (
            "expected",
            expected
                .trim_end_matches('0')
                .trim_end_matches('.')
                .to_owned(),
        ),
        ("family", changes.family.to_string()),
        ("floors", floors(changes)),
    ];
    let decides = match changes.decides {
        Decides::Time => "time decides",
        Decides::Ratio => "ratio decides",
        Decides::Nothing => "nothing decides",
    };
    let widened = match (changes.unit, changes.turns, changes.drift_assumed) {
        (Unit::Session, Turns::Taken, _) => "sessions in turns",
        (Unit::Session, _, false) => "sessions, drift seen",
        (Unit::Session, _, true) => "sessions, drift assumed",
        (Unit::Round, _, false) => "rounds, drift seen",
        (Unit::Round, _, true) => "rounds, drift assumed",
    };
    let titles = [
        Some(decides),
        Some(widened),
        (!changes.floors.is_empty()).then_some("floors"),
        (judged > 0).then_some("by chance"),
        (changes.unit == Unit::Round).then_some("single sessions"),
    ];
    let notes = titles.into_iter().flatten();
    let notes = notes.filter_map(|title| told(title, &filled));
    sides.into_iter().chain(notes).collect()
}

/// `read/floor +0.4% [−1.8%, +2.7%]`
fn floors(changes: &Changes) -> String {
    let floors = changes.floors.iter().map(|floor| {
        let (change, interval) = (value::difference(floor.time.ratio), interval(&floor.time));
        format!("{} {change} {interval}", floor.cell)
    });
    floors.collect::<Vec<_>>().join(", ")
}
