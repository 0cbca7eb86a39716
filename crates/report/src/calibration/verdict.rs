//! What a calibration comes to, and what to do about what is off.

use super::numbers::{fine_percent, significant};
use crate::value::time;
use stowplan_analysis::calibration::{
    Calibration, KnownCost, LimitStatus, Subject, UnusableSessions,
};

/// The worst of how its subjects stand.
pub(super) fn worst(calibration: &Calibration) -> LimitStatus {
    let statuses = calibration.statuses();
    statuses.into_values().max().unwrap_or(LimitStatus::Unknown)
}

/// In which of the subjects figures stand so.
fn subjects(calibration: &Calibration, wanted: LimitStatus) -> Vec<&'static str> {
    let statuses = calibration.statuses().into_iter();
    statuses
        .filter(|(_, status)| *status == wanted)
        .map(|(subject, _)| name(subject))
        .collect()
}

fn name(subject: Subject) -> &'static str {
    match subject {
        Subject::Harness => "the harness's own cost",
        Subject::Known => "known costs",
        Subject::Busy => "known costs beside busy processes",
        Subject::Identical => "identical cells",
        Subject::Different => "known differences",
        Subject::Cold => "cold blocks",
        Subject::Warm => "warm blocks",
    }
}

/// The verdict, in a sentence or two.
#[must_use]
pub fn verdict(calibration: &Calibration) -> String {
    let [unsure, missed, unknown] = [
        LimitStatus::Unsure,
        LimitStatus::Missed,
        LimitStatus::Unknown,
    ]
    .map(|status| subjects(calibration, status));
    let mut text = if calibration.passed {
        let figures = figures(calibration);
        // What no interval shows is not said without a word of doubt.
        let start = match unsure.is_empty() {
            true => "This machine measures truly",
            false => "By estimate, this machine measures truly",
        };
        format!("{start}: {}.", figures.join(", "))
    } else {
        let wrong = [(&missed, "missed"), (&unknown, "not shown")];
        let wrong = wrong
            .into_iter()
            .filter(|(subjects, _)| !subjects.is_empty());
        let wrong = wrong.map(|(subjects, how)| format!("{} are {how}", subjects.join(", ")));
        format!("Not calibrated: {}.", wrong.collect::<Vec<_>>().join("; "))
    };
    if !unsure.is_empty() {
        let s = if unsure.len() == 1 { "" } else { "s" };
        text.push_str(&format!(
            " Within the limit{s} by estimate, but not with the whole interval: {}.",
            unsure.join(", ")
        ));
    }
    text
}

/// What makes a machine measure truly, in figures.
fn figures(calibration: &Calibration) -> Vec<String> {
    let mut figures = Vec::new();
    let relative = |cost: &KnownCost| Some((cost.error_ns()? / cost.known_ns).abs());
    let largest = |costs: &[KnownCost]| costs.iter().filter_map(relative).reduce(f64::max);
    let known = calibration.known.costs.as_slice();
    figures.extend(known.first().and_then(|cost| {
        let error = significant(cost.error_ns()?.abs());
        Some(format!("{} found to {error} ns", time(cost.known_ns)))
    }));
    let busy = calibration.busy.as_ref().map(|busy| busy.costs.as_slice());
    for (what, costs) in [
        ("longer times", known.get(1..)),
        ("beside busy processes", busy),
    ] {
        let error = costs.and_then(largest).map(fine_percent);
        figures.extend(error.map(|error| format!("{what} to {error}")));
    }
    let claims = calibration.identical.claimed;
    figures.extend(claims.share.map(|share| {
        format!(
            "{} of {} identical pairs called different (at most {}{})",
            claims.count,
            claims.of,
            fine_percent(share.high),
            unusable("; ", &calibration.identical.unusable)
        )
    }));
    figures
}

/// What to do about what is off, in sentences.
#[must_use]
pub fn advice(calibration: &Calibration) -> Vec<&'static str> {
    let statuses = calibration.statuses().into_iter();
    let mut advice: Vec<&str> = statuses
        .filter(|(_, status)| !status.passes())
        .map(|(subject, status)| mend(subject, status))
        .collect();
    advice.dedup();
    if advice.is_empty() && worst(calibration) == LimitStatus::Unsure {
        advice.push(
            "Stop other work and run it again, or give it more --sessions, for narrower intervals.",
        );
    }
    advice
}

fn mend(subject: Subject, status: LimitStatus) -> &'static str {
    match (subject, status) {
        (Subject::Cold, LimitStatus::Unknown) => {
            "Cold could not be produced or proved there: have the data on a disk (--work DIR), or \
             measure warm only."
        }
        (Subject::Busy, LimitStatus::Missed) => {
            "Beside other work this machine adds time that no correction sees: measure on it only \
             while it is quiet."
        }
        (Subject::Identical | Subject::Different, LimitStatus::Unknown) => {
            "Too many sessions say nothing, for their control failed or they were not measured: \
             stop other work, and run it again without --budget."
        }
        (_, LimitStatus::Unknown) => {
            "Too little was measured to say: run it again, without --budget and with more --sessions."
        }
        (Subject::Harness, _) => {
            "The harness costs more than it may: use a build with optimisation, and see what a \
             reading of the clock takes ('stowplan doctor' knows slow clocks)."
        }
        (Subject::Known, _) => {
            "Known costs are not recovered: stop other work, have the CPU run at one frequency \
             ('stowplan doctor'), and distrust absolute times until they are."
        }
        (Subject::Identical, _) => {
            "Differences are claimed between identical cells: stop other work, and believe only \
             what a second run repeats ('stowplan compare')."
        }
        (Subject::Different, _) => {
            "Intervals miss known differences: stop other work, and take a ratio for rougher than \
             its interval says."
        }
        (Subject::Cold, _) => {
            "Files stayed in the page cache though they were evicted, or blocks read nothing: do \
             not use cold figures of this machine."
        }
        (Subject::Warm, _) => {
            "Warm blocks read from storage: something empties the page cache; free memory, and see \
             'stowplan doctor'."
        }
        (Subject::Busy, _) => "",
    }
}

/// `, 3 unreliable, 2 lost`, after what separates it from what was said; nothing where every session
/// says something.
pub(super) fn unusable(separator: &str, sessions: &UnusableSessions) -> String {
    let counts = [(sessions.unreliable, "unreliable"), (sessions.lost, "lost")];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let texts: Vec<String> = counts
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    match texts.is_empty() {
        true => String::new(),
        false => format!("{separator}{}", texts.join(", ")),
    }
}
