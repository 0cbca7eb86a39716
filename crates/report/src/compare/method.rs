//! What was compared, and how; and what changed around it.

use super::Source;
use super::sentences::{difference, interval, percent};
use crate::document::{Block, bullets, folded};
use crate::{format, noise};
use stowplan_analysis::compare::{Changes, Decides};

/// A commit is named by so many digits.
const COMMIT: usize = 7;

/// A fold of what was compared, and how.
pub(super) fn fold(base: &Source<'_>, new: &Source<'_>, changes: &Changes) -> Option<Block> {
    let sources = [("BASE", base), ("NEW", new)];
    let sources = sources.map(|(side, source)| format!("{side} is {}", described(source)));
    let notes = [Some(decider(changes)), widening(changes), floors(changes)];
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

/// On which machines the runs were, what decided, and what a regression is.
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
    let cells = changes.cells.iter();
    let noise = noise::span(cells.clone().map(|cell| cell.time.noise_floor.exp_m1()))?;
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
