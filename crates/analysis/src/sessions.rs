//! What a break in a run means for what it found.

use crate::blocks::{Blocks, logs};
use crate::{estimate::median, gathered::Gathered};
use stowplan_model::{Change, Comparison, Environment, Role, Session, Warning};

/// Fewest blocks of a session whose median says how fast it was.
const FEWEST_BLOCKS: usize = 3;

/// What has changed since a run was broken off.
pub(crate) fn breaks(gathered: &Gathered<'_>) -> Vec<Warning> {
    let changed = gathered.resumed.iter().filter_map(|s| changed(s, gathered));
    changed.chain(other_times(gathered)).collect()
}

/// What is not as it was when the run began.
fn changed(session: &Session, gathered: &Gathered<'_>) -> Option<Warning> {
    let now: &Environment = session.environment.as_deref()?;
    let changes = gathered.run.environment.changes(now);
    if changes.is_empty() {
        return None;
    }
    let changes: Vec<String> = changes.iter().map(Change::to_string).collect();
    let (when, changes) = (&session.started, changes.join(", "));
    Some(Warning::other(
        format!("When the run was resumed ({when}), {changes}."),
        "Ratios compare blocks of one round, so of one session, but rounds before and after it may \
         differ: run the study again without a break if that matters.",
    ))
}

/// Absolute times of two sessions that are not the same times. Ratios are of blocks in the same
/// round, and so of the same session; but the time of a cell is then one of neither session.
fn other_times(gathered: &Gathered<'_>) -> Option<Warning> {
    let zone = gathered.run.equivalence.ln_1p();
    let comparisons = gathered.run.plan.comparisons.iter();
    let moved = comparisons.filter_map(|of| Some((of.id.as_str(), shift(of, gathered)?)));
    let (worst, shift) = moved.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
    let share = 100.0 * shift.exp_m1().abs();
    let direction = if shift < 0.0 { "less" } else { "longer" };
    let message = format!(
        "After the run was resumed, the baseline of comparison {worst} took {share:.0}% {direction} \
         than before: times per operation mix both sessions, ratios do not."
    );
    let advice = "For absolute times run the study again without a break.";
    (shift.abs() > zone).then(|| Warning::other(message, advice))
}

/// By how much the baseline of a comparison took longer in a later session than in its first one,
/// as a natural logarithm; nothing if all its rounds are of one session.
fn shift(comparison: &Comparison, gathered: &Gathered<'_>) -> Option<f64> {
    let baseline = comparison.with_role(Role::Baseline)?;
    let sessions = gathered.by_session(&baseline.id);
    let all = sessions.values().flatten().copied();
    let metric = Blocks::of(comparison, all).metric();
    let mut levels = sessions.values().filter_map(|measured| {
        let blocks = Blocks::of(comparison, measured.iter().copied());
        let times = logs(&blocks.log_times(&baseline.id, metric));
        let is_enough = times.len() >= FEWEST_BLOCKS;
        median(times).filter(|_| is_enough)
    });
    let first = levels.next()?;
    levels
        .map(|later| later - first)
        .max_by(|a, b| a.abs().total_cmp(&b.abs()))
}
