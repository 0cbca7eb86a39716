//! What was compared, and how; and what changed around it.

use super::Side;
use super::sentences::{difference, interval, percent};
use crate::document::{Block, bullets, folded};
use crate::{noise, value};
use stowplan_analysis::compare::{Changes, Decides, Turns, Unit};

/// A commit is named by so many digits.
const COMMIT: usize = 7;

/// A fold of what was compared, and how.
pub(super) fn fold(base: &Side<'_>, new: &Side<'_>, changes: &Changes) -> Option<Block> {
    let sides = [("BASE", base), ("NEW", new)];
    let sources = sides.map(|(name, side)| format!("{name} is {}", described(side)));
    let notes = [
        Some(decider(changes)),
        widening(changes),
        floors(changes),
        by_chance(changes),
        order(changes),
    ];
    let notes = notes
        .into_iter()
        .flatten()
        .filter(|_| !changes.cells.is_empty());
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

/// On which machines the runs were, what decided, and what a regression is.
fn decider(changes: &Changes) -> String {
    let limit = changes.threshold.unwrap_or(0.0);
    let sign = if limit > 0.0 { "+" } else { "" };
    let regression = format!(
        "A regression is a cell whose whole interval lies above {sign}{}.",
        value::percent(limit)
    );
    let machines = if changes.same_machine {
        match changes.unit {
            Unit::Round => "Both ran on the same machine",
            Unit::Session => "All ran on the same machine",
        }
    } else {
        "The machines differ"
    };
    match changes.decides {
        Decides::Time => format!("{machines}; the time per operation decides. {regression}"),
        Decides::Ratio => format!("{machines}; the ratio to the baseline decides. {regression}"),
        Decides::Nothing => format!(
            "{machines}, so that nothing is called a regression: give --threshold to have the time \
             decide all the same, or --by ratio to have the ratio to the baseline decide."
        ),
    }
}

/// `Intervals are 95%, unpaired, and widened by 2% to 2.4% for the noise within both runs …`
fn widening(changes: &Changes) -> Option<String> {
    if changes.unit == Unit::Session {
        return Some(by_sessions(changes));
    }
    let cells = changes.cells.iter();
    let noise = noise::span(cells.clone().map(|cell| cell.time.noise_floor.exp_m1()))?;
    let drift = cells.map(|cell| cell.time.drift_slower.max(cell.time.drift_faster).exp_m1());
    let drift = if changes.drift_assumed {
        format!(
            ", and by {} for how much the machine itself may have changed between the runs: no floor \
             was the same in both that would tell, and it is more where most of the other cells of a \
             comparison moved.",
            noise::span(drift)?
        )
    } else {
        format!(
            ", and on one side by how much the machine itself changed between the runs (times: up to \
             {}).",
            value::percent(drift.reduce(f64::max)?)
        )
    };
    Some(format!(
        "Intervals are 95%, unpaired, longer by what builds within each run differ by, and widened by \
         {noise} for the noise within both{drift}"
    ))
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

/// What intervals of several sessions rest on, and what they are widened by.
fn by_sessions(changes: &Changes) -> String {
    let (base, new) = (changes.base_sessions, changes.new_sessions);
    let cells = changes.cells.iter();
    let drift = cells.map(|cell| cell.time.drift_slower.max(cell.time.drift_faster));
    let drift = value::percent(drift.fold(0.0, f64::max).exp_m1());
    let widened = match (changes.turns, changes.drift_assumed) {
        (Turns::Taken, _) => String::new(),
        (_, false) => format!(
            ", and widened on one side by what the floors shifted between them (times: up to {drift})"
        ),
        (_, true) => format!(
            ", and widened by {drift} for what the machine may have done between them, because no \
             floor tells"
        ),
    };
    format!(
        "The unit is the session: {base} of BASE and {new} of NEW. Intervals are 95%, by what \
         sessions of the same side differ by (Welch){widened}."
    )
}

/// What rounds of one session of each side cannot tell (docs/compare.md, "Twenty sessions").
const BETWEEN_SESSIONS: &str = ", if sessions differ by nothing but their rounds; of pairs of single \
                                sessions of one program on a quiet machine 6 of 380 found one, \
                                of fours none";

/// How many false findings are to be expected, and what a regression is held to because of it.
fn by_chance(changes: &Changes) -> Option<String> {
    let cells = changes.judged().count();
    let expected = format!("{:.2}", changes.expected_false());
    let expected = expected.trim_end_matches('0').trim_end_matches('.');
    (cells > 0).then(|| {
        format!(
            "{} decide. Where nothing changed, up to {expected} of their intervals are to be expected \
             to miss 0% by chance, half of them above it. So a regression has to stand by Holm's \
             method among all {}: of comparisons of unchanged cells at most 1 in 20 finds any{}.",
            value::counted(cells, "cell"),
            changes.family,
            match changes.unit {
                Unit::Round => BETWEEN_SESSIONS,
                Unit::Session => "",
            },
        )
    })
}

/// That one session of each tells nothing of the order; nothing of several.
fn order(changes: &Changes) -> Option<String> {
    let first = match changes.turns {
        Turns::BaseFirst => "BASE",
        Turns::NewFirst => "NEW",
        Turns::Taken | Turns::Unknown => return None,
    };
    (changes.unit == Unit::Round).then(|| {
        format!(
            "{first} ran first: only the floors tell what the machine did in between from a change. \
             Several sessions of each, in turns, measure it (compare --base, --new)."
        )
    })
}
