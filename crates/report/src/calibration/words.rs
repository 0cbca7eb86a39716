//! What a calibration comes to, and what to do about what is off.

use crate::document::Unit;
use crate::words::note;
use stowplan_analysis::calibration::{
    Calibration, Figure, FigureUnit, Group, LEFT_OUT, LimitStatus, Subject,
};

/// What subjects are, by their names, and what to do about those that are off.
const WORDS: &str = include_str!("../words/calibration.txt");

/// What the figures about something are, in a sentence.
pub(super) fn about(subject: Subject) -> String {
    note(WORDS, &format!("{subject:?}"), &[]).unwrap_or_default()
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
    let count = |figure: &Figure| Some(figure.found?.estimate * crate::value::float(figure.of?));
    let mut others = group.figures.iter();
    let left_out = others.find(|figure| figure.name == LEFT_OUT);
    let left_out = left_out.and_then(count);
    let left_out = left_out.map_or_else(String::new, |some| format!("; {some:.0} {LEFT_OUT}"));
    Some(format!(
        "{:.0} of {} identical pairs called different (at most {}{left_out})",
        count(figure)?,
        figure.of?,
        Unit::Percent.text(figure.found?.high)
    ))
}

/// What to do about what is off, in sentences.
#[must_use]
pub fn advice(calibration: &Calibration) -> Vec<String> {
    let groups = calibration.groups.iter();
    let off = groups.filter_map(|group| Some((group.subject, group.status?)));
    let off = off.filter(|(_, status)| !status.passes());
    let mut advice: Vec<String> = off
        .filter_map(|(subject, status)| {
            let of_subject = note(WORDS, &format!("{subject:?} {status:?}"), &[]);
            of_subject.or_else(|| note(WORDS, &format!("{status:?}"), &[]))
        })
        .collect();
    advice.dedup();
    if advice.is_empty() && worst(calibration) == LimitStatus::Unsure {
        advice.extend(note(WORDS, "Unsure", &[]));
    }
    advice
}
