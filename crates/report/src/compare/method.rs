//! What was compared, and how; and what changed around it.

use super::Side;
use super::sentences::{difference, interval, percent};
use crate::document::{Block, bullets, folded};
use crate::words::note;
use crate::{noise, value};
use stowplan_analysis::compare::{CellChange, Changes, Decides, Turns, Unit};

/// What there is to say of each way to compare.
const WORDS: &str = include_str!("../words/compare.txt");

/// A commit is named by so many digits.
const COMMIT: usize = 7;

/// A fold of what was compared, and how.
pub(super) fn fold(base: &Side<'_>, new: &Side<'_>, changes: &Changes) -> Option<Block> {
    let sides = [("BASE", base), ("NEW", new)];
    let sources = sides.map(|(name, side)| format!("{name} is {}", described(side)));
    let notes = match changes.cells.is_empty() {
        true => Vec::new(),
        false => notes(changes),
    };
    let list = bullets(sources.into_iter().chain(notes))?;
    Some(folded("What was compared, and how", list))
}

/// A fold of what changed around the measurements; nothing if nothing did.
pub(super) fn surroundings(changes: &Changes) -> Option<Block> {
    // What makes it another machine first.
    let changed = changes.environment.iter();
    let (machine, rest): (Vec<_>, Vec<_>) = changed.partition(|change| change.another_machine);
    let all = machine.into_iter().chain(rest);
    let list = bullets(all.map(|change| difference(&change.difference)))?;
    Some(folded("What changed around it", list))
}

/// `small: fasterthanfs, scale seed, 2026-11-21 16:20, stowplan 0.1.0 (309e19b) on vm`; of several
/// sessions with when the first began and the last.
fn described(side: &Side<'_>) -> String {
    let run = &side.first.analysis.run;
    let machine = &run.environment;
    let commit = machine.tool_commit.as_deref().map(|commit| {
        let short: String = commit.chars().take(COMMIT).collect();
        format!(" ({short})")
    });
    let starts = side
        .all()
        .map(|source| minute(&source.analysis.run.started));
    let (first, last) = starts.fold(
        (minute(&run.started), String::new()),
        |(first, last), start| (first.min(start.clone()), last.max(start)),
    );
    let starts = match side.more.is_empty() {
        true => first,
        false => format!("{first} to {last}"),
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

/// What intervals rest on, what decides and what is a regression.
fn notes(changes: &Changes) -> Vec<String> {
    let cells = changes.cells.iter();
    let drift = |cell: &CellChange| cell.time.drift_slower.max(cell.time.drift_faster).exp_m1();
    let drifts = || cells.clone().map(drift);
    let noise = cells.clone().map(|cell| cell.time.noise_floor.exp_m1());
    let limit = changes.threshold.unwrap_or(0.0);
    let sign = if limit > 0.0 { "+" } else { "" };
    let expected = format!("{:.2}", changes.expected_false());
    let expected = expected.trim_end_matches('0').trim_end_matches('.');
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
        ("expected", expected.to_owned()),
        ("family", changes.family.to_string()),
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
    let note = |title: &str| note(WORDS, title, &filled);
    let by_chance = || note("by chance").filter(|_| judged > 0);
    let single = || note("single sessions").filter(|_| changes.unit == Unit::Round);
    let notes = [
        note(decides),
        note(widened),
        floors(changes),
        by_chance(),
        single(),
    ];
    notes.into_iter().flatten().collect()
}

/// `The floors, the same trivial code in both: read/floor +0.4% [−1.8%, +2.7%].`
fn floors(changes: &Changes) -> Option<String> {
    let floors = changes.floors.iter().map(|floor| {
        let (change, interval) = (percent(&floor.time), interval(&floor.time));
        format!("{} {change} {interval}", floor.cell)
    });
    let floors = floors.collect::<Vec<_>>().join(", ");
    let text = format!("The floors, the same trivial code in both: {floors}.");
    (!changes.floors.is_empty()).then_some(text)
}
