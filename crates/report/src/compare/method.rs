//! What was compared, and how; and what changed around it.

use super::Source;
use super::sentences::{difference, interval, percent};
use crate::document::{Block, Fold, bullets};
use crate::format;
use stowplan_analysis::compare::{Change, Changes, Decides};

/// A commit is named by so many digits.
const COMMIT: usize = 7;

/// A fold of what was compared, and how.
pub(super) fn fold(base: &Source<'_>, new: &Source<'_>, changes: &Changes) -> Option<Block> {
    let sources = [("BASE", base), ("NEW", new)];
    let sources = sources.map(|(side, source)| format!("{side} is {}", described(source)));
    let notes = if changes.cells.is_empty() {
        Vec::new()
    } else {
        notes(changes)
    };
    let list = bullets(sources.into_iter().chain(notes))?;
    Some(Fold::new("What was compared, and how", vec![list]).into())
}

/// A fold of what changed around the measurements; nothing if nothing did.
pub(super) fn surroundings(changes: &Changes) -> Option<Block> {
    let list = bullets(environment(changes))?;
    Some(Fold::new("What changed around it", vec![list]).into())
}

/// `small, scale seed, 2026-11-21 16:20, stowplan 0.1.0 (309e19b) on vm`
fn described(source: &Source<'_>) -> String {
    let run = &source.analysis.run;
    let machine = &run.environment;
    let commit = machine.tool_commit.as_deref().map(|commit| {
        let short: String = commit.chars().take(COMMIT).collect();
        format!(" ({short})")
    });
    let started: String = run.started.chars().take("2026-11-21T16:20".len()).collect();
    format!(
        "{}: {}, scale {}, {}, stowplan {}{} on {}",
        source.name,
        run.plan.study.name,
        run.plan.scale,
        started.replacen('T', " ", 1),
        machine.tool_version,
        commit.unwrap_or_default(),
        machine.host
    )
}

/// What decided, and by what intervals are widened.
fn notes(changes: &Changes) -> Vec<String> {
    let mut notes = vec![decider(changes)];
    notes.extend(widening(changes));
    notes.extend(floors(changes));
    notes
}

fn decider(changes: &Changes) -> String {
    let limit = changes.threshold.unwrap_or(0.0);
    let sign = if limit > 0.0 { "+" } else { "" };
    let regression = format!(
        "A regression is a cell whose whole interval lies above {sign}{}.",
        format::percent(limit)
    );
    let machines = if changes.same_machine {
        "Both ran on the same machine"
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
    let noise = range(changes, |change| change.noise_floor)?;
    let cells = changes.cells.iter();
    let drift = cells.map(|cell| cell.time.drift_slower.max(cell.time.drift_faster));
    let drift = format::percent(drift.reduce(f64::max)?.exp_m1());
    let drift = if changes.drift_assumed {
        format!(
            ", and by {drift} for how much the machine itself may have changed between the runs, \
             because no floor was the same in both that would tell."
        )
    } else {
        format!(
            ", and on one side by how much the machine itself changed between the runs (times: up to \
             {drift})."
        )
    };
    Some(format!(
        "Intervals are 95%, unpaired, and widened by {noise} for the noise within both runs{drift}"
    ))
}

/// The least and the most of a logarithm among the changes of times, as percentages.
fn range(changes: &Changes, of: impl Fn(&Change) -> f64) -> Option<String> {
    let shares = changes.cells.iter().map(|cell| of(&cell.time).exp_m1());
    let (least, most) = (shares.clone().reduce(f64::min)?, shares.reduce(f64::max)?);
    let (least, most) = (format::percent(least), format::percent(most));
    Some(if least == most {
        most
    } else {
        format!("{least} to {most}")
    })
}

/// `The floors, the same trivial code in both: read/floor +0.4% [−1.8%, +2.7%].`
fn floors(changes: &Changes) -> Option<String> {
    let floors = changes.floors.iter().map(|floor| {
        let (change, interval) = (percent(&floor.time), interval(&floor.time));
        format!("{} {change} {interval}", floor.cell)
    });
    let floors: Vec<String> = floors.collect();
    (!floors.is_empty()).then(|| {
        format!(
            "The floors, the same trivial code in both: {}.",
            floors.join(", ")
        )
    })
}

/// What changed around the measurements, an item each; what makes it another machine first.
fn environment(changes: &Changes) -> Vec<String> {
    let (machine, rest): (Vec<_>, Vec<_>) = changes
        .environment
        .iter()
        .partition(|change| change.another_machine);
    let all = machine.into_iter().chain(rest);
    all.map(|change| difference(&change.difference)).collect()
}
