//! What a break in a run means for what it found.

use crate::{blocks::Blocks, estimate::median, gathered::Gathered};
use stowplan_model::{Change, Comparison, Environment, Measurement, Role, Session};
use stowplan_model::{Warning, WarningKind};

/// Fewest blocks of a session whose median says how fast it was.
const FEWEST_BLOCKS: usize = 3;

/// What has changed since a run was broken off.
pub(crate) fn warnings(gathered: &Gathered<'_>) -> Vec<Warning> {
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
    Some(Warning {
        kind: WarningKind::Other,
        message: format!(
            "When the run was resumed ({}), {}.",
            session.started,
            changes.join(", ")
        ),
        advice: "Ratios compare blocks of one round, so of one session, but rounds before and \
                 after it may differ: run the study again without a break if that matters."
            .to_owned(),
    })
}

/// Absolute times of two sessions that are not the same times. Ratios are of blocks in the same
/// round, and so of the same session; but the time of a cell is then one of neither session.
fn other_times(gathered: &Gathered<'_>) -> Option<Warning> {
    let plan = &gathered.run.plan;
    let zone = gathered.run.equivalence.ln_1p();
    let mut moved: Vec<(&str, f64)> = plan
        .comparisons
        .iter()
        .filter_map(|comparison| Some((comparison.id.as_str(), shift(comparison, gathered)?)))
        .filter(|(_, shift)| shift.abs() > zone)
        .collect();
    moved.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    let (worst, shift) = *moved.first()?;
    let others = match moved.len() - 1 {
        0 => String::new(),
        n => format!(" (and in {n} other comparisons by less)"),
    };
    let (percent, direction) = in_percent(shift);
    Some(Warning {
        kind: WarningKind::Other,
        message: format!(
            "After the run was resumed, the baseline of comparison {worst} took {percent:.0}% \
             {direction} than before{others}: times per operation mix both sessions, ratios do not."
        ),
        advice: "For absolute times run the study again without a break.".to_owned(),
    })
}

/// By how much the baseline of a comparison took longer in a later session than in its first one,
/// as a natural logarithm; nothing if all its rounds are of one session.
fn shift(comparison: &Comparison, gathered: &Gathered<'_>) -> Option<f64> {
    let baseline = comparison.with_role(Role::Baseline)?;
    let sessions = gathered.by_session(&baseline.id);
    let all = sessions.values().flatten().copied();
    let metric = Blocks::of(comparison, all).metric();
    let level = |measured: &Vec<&Measurement>| {
        let blocks = Blocks::of(comparison, measured.iter().copied());
        let times: Vec<f64> = blocks
            .log_times(&baseline.id, metric)
            .into_iter()
            .map(|(_, time)| time)
            .collect();
        (times.len() >= FEWEST_BLOCKS).then(|| median(times))?
    };
    let mut levels = sessions.values().filter_map(level);
    let first = levels.next()?;
    levels
        .map(|later| later - first)
        .max_by(|a, b| a.abs().total_cmp(&b.abs()))
}

/// A change of a time in percent, and whether it got longer or shorter.
fn in_percent(shift: f64) -> (f64, &'static str) {
    let share = shift.exp_m1();
    if share < 0.0 {
        (-100.0 * share, "less")
    } else {
        (100.0 * share, "longer")
    }
}
