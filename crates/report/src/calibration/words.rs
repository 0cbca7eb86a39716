//! What a calibration comes to, and what to do about what is off.

use crate::document::Unit;
use stowplan_analysis::calibration::{
    Calibration, FigureUnit, Group, LimitStatus, Series, Subject,
};

/// What the figures about something are, in a sentence.
pub(super) fn about(subject: Subject) -> &'static str {
    match subject {
        Subject::Clock => {
            "Ratio blocks read it at their two ends, latency blocks once per operation."
        }
        Subject::Harness => {
            "Each operation of the store that does nothing, through plan, runner and worker \
             process; every measured time contains it."
        }
        Subject::Known | Subject::Busy => {
            "By how much a store that lasts a set time is off, less the store that does nothing, in the \
             same rounds."
        }
        Subject::Identical => {
            "The whole procedure (rounds, looks, noise floor, gate, verdict) on a store and \
             itself, each session with a baseline of its own."
        }
        Subject::Different => {
            "The same on stores of known cost. Claimed: the interval lies above 1; held: it holds \
             the truth; other way round: it lies below 1. How often a difference is claimed \
             (power) has no limit: that is what noise leaves of it."
        }
        Subject::Cold => {
            "Pages of the files that a block reads, as cachestat or mincore found them in the \
             page cache."
        }
        Subject::Warm => "Blocks that count read nothing from storage.",
    }
}

/// The worst of how its subjects stand.
pub(super) fn worst(calibration: &Calibration) -> LimitStatus {
    let statuses = calibration.groups.iter().filter_map(|group| group.status);
    statuses.max().unwrap_or(LimitStatus::Unknown)
}

/// Of which subjects figures stand so.
fn subjects(calibration: &Calibration, wanted: LimitStatus) -> Option<String> {
    let groups = calibration.groups.iter();
    let groups = groups.filter(|group| group.status == Some(wanted));
    let titles: Vec<String> = groups.map(|group| group.title.to_lowercase()).collect();
    (!titles.is_empty()).then(|| titles.join(", "))
}

/// The verdict, in a sentence or two.
#[must_use]
pub fn verdict(calibration: &Calibration) -> String {
    let standing = |status| subjects(calibration, status);
    let unsure = standing(LimitStatus::Unsure);
    let text = if calibration.passed {
        // What no interval shows is not said without a word of doubt.
        let start = match unsure {
            None => "This machine measures truly",
            Some(_) => "By estimate, this machine measures truly",
        };
        format!("{start}: {}.", figures(calibration).join(", "))
    } else {
        let missed = standing(LimitStatus::Missed).map(|all| format!("; missed: {all}"));
        let unknown = standing(LimitStatus::Unknown).map(|all| format!("; not shown: {all}"));
        let wrong: String = missed.into_iter().chain(unknown).collect();
        format!("Not calibrated{wrong}.")
    };
    let doubt = unsure.map_or_else(String::new, |unsure| {
        format!(" Within the limit by estimate, but not with the whole interval: {unsure}.")
    });
    text + &doubt
}

/// What makes a machine measure truly, in figures.
fn figures(calibration: &Calibration) -> Vec<String> {
    let of = |group: &Group| match group.subject {
        Subject::Known => errors(group),
        Subject::Busy => errors(group).map(|errors| format!("beside busy processes {errors}")),
        Subject::Identical => false_claims(group),
        _ => None,
    };
    calibration.groups.iter().filter_map(of).collect()
}

/// `200 ns found to 2.50 ns, longer times to 0.250%`
fn errors(group: &Group) -> Option<String> {
    let largest = |unit| {
        let figures = group
            .figures
            .iter()
            .filter(move |figure| figure.unit == unit);
        let errors = figures.filter_map(|f| Some((f.found?.estimate.abs(), f.name.as_str())));
        errors.max_by(|a, b| a.0.total_cmp(&b.0))
    };
    let (short, name) = largest(FigureUnit::NsOff)?;
    let (long, _) = largest(FigureUnit::ShareOff)?;
    let [short, long] = [Unit::Time.text(short), Unit::Percent.text(long)];
    Some(format!("{name} found to {short}, longer times to {long}"))
}

/// `0 of 80 identical pairs called different (at most 4.51%)`
fn false_claims(group: &Group) -> Option<String> {
    let figure = group.figures.first()?;
    let (found, of) = figure.found.zip(figure.of)?;
    let claims = found.estimate * crate::value::float(of);
    let unusable: usize = group.series.iter().map(Series::unusable).sum();
    let unusable = match unusable {
        0 => String::new(),
        some => format!("; {some} unreliable or lost"),
    };
    Some(format!(
        "{claims:.0} of {of} identical pairs called different (at most {}{unusable})",
        Unit::Percent.text(found.high)
    ))
}

/// What to do about what is off, in sentences.
#[must_use]
pub fn advice(calibration: &Calibration) -> Vec<&'static str> {
    let groups = calibration.groups.iter();
    let mut advice: Vec<&str> = groups
        .filter_map(|group| Some((group.subject, group.status?)))
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
        (Subject::Busy | Subject::Clock, _) => "",
    }
}
