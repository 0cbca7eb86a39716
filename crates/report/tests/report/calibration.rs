//! What a calibration is told as. The figures are invented; those that are off say what to do.

use crate::fixture;
use crate::said::on_page;
use crate::support::{PLAIN, VERBOSE, in_brief, words};
use stowplan_analysis::Interval;
use stowplan_analysis::calibration::{
    Calibration, Figure, FigureUnit, Group, LimitStatus, Subject,
};
use stowplan_report::calibration::{advice, document, json, verdict};
use stowplan_report::document::{Document, paragraph};
use stowplan_report::render::terminal::TerminalOptions;
use stowplan_report::render::{markdown, terminal};

/// A figure without a limit; the interval is `[estimate, low, high]`.
fn fact(name: &str, unit: FigureUnit, [estimate, low, high]: [f64; 3]) -> Figure {
    Figure {
        name: name.to_owned(),
        unit,
        found: Some(Interval {
            estimate,
            low,
            high,
        }),
        of: None,
        at_least: None,
        at_most: None,
        status: None,
    }
}

fn exactly(name: &str, unit: FigureUnit, value: f64) -> Figure {
    fact(name, unit, [value; 3])
}

fn of(figure: Figure, of: u64) -> Figure {
    Figure {
        of: Some(of),
        ..figure
    }
}

/// A figure that met its limit.
fn met(figure: Figure, at_least: Option<f64>, at_most: Option<f64>) -> Figure {
    Figure {
        at_least,
        at_most,
        status: Some(LimitStatus::Met),
        ..figure
    }
}

/// By how much a known cost is off.
fn off(name: &str, unit: FigureUnit, error: f64, allowed: f64) -> Figure {
    let around = fact(
        name,
        unit,
        [error, error - allowed / 30.0, error + allowed / 30.0],
    );
    met(of(around, 10), Some(-allowed), Some(allowed))
}

/// A share of sessions.
fn share(name: &str, count: u64, of: u64, [low, high]: [f64; 2]) -> Figure {
    let estimate = count as f64 / of as f64;
    let share = fact(name, FigureUnit::ShareOfSessions, [estimate, low, high]);
    self::of(share, of)
}

fn group(subject: Subject, title: &str, figures: Vec<Figure>) -> Group {
    Group {
        subject,
        title: title.to_owned(),
        status: figures.iter().filter_map(|figure| figure.status).max(),
        figures,
    }
}

fn known(subject: Subject, title: &str, errors: [f64; 3], allowed: f64) -> Group {
    let figures = vec![
        off("200 ns", FigureUnit::NsOff, errors[0], 15.0),
        off("2 µs", FigureUnit::ShareOff, errors[1], allowed),
        off("20 µs", FigureUnit::ShareOff, errors[2], allowed),
    ];
    group(subject, title, figures)
}

fn different() -> Group {
    let all = [(0.02, 18), (0.05, 20), (0.1, 20)];
    let mut figures = Vec::new();
    for (share_of, claimed) in all {
        let label = format!("{:.0}% more", share_of * 100.0);
        let name = |what: &str| format!("{label}, {what}");
        figures.extend([
            share(&name("claimed"), claimed, 20, [0.83, 1.0]),
            exactly(&name("found as"), FigureUnit::ShareOff, share_of - 0.0004),
            met(
                share(&name("truth held"), 20, 20, [1.0; 2]),
                Some(0.95),
                None,
            ),
            met(
                share(&name("other way round"), 0, 20, [0.0; 2]),
                None,
                Some(0.05),
            ),
        ]);
    }
    group(Subject::Different, "Known differences", figures)
}

pub(crate) fn found() -> Calibration {
    use FigureUnit::{Blocks, Bytes, Ns, Pages, ShareOfTime, ShareOff};
    let mut busy = known(
        Subject::Busy,
        "Known costs beside 2 busy processes",
        [7.5, 0.0075, -0.0034],
        0.05,
    );
    busy.figures
        .push(exactly("waited for a CPU, subtracted", ShareOfTime, 0.52));
    let identical = vec![
        met(
            share("false claims", 0, 80, [0.0, 0.0451]),
            None,
            Some(0.05),
        ),
        share("SQLite", 0, 40, [0.0, 0.088]),
        share("files", 0, 40, [0.0, 0.088]),
        exactly("farthest from 1", ShareOff, -0.019),
    ];
    let pages = |name, count| of(exactly(name, Pages, count), 9_000);
    Calibration {
        passed: true,
        groups: vec![
            group(
                Subject::Clock,
                "Clock",
                vec![
                    fact("a reading takes", Ns, [23.4, 23.3, 23.5]),
                    exactly("steps of at most", Ns, 1.0),
                ],
            ),
            group(
                Subject::Harness,
                "Cost of the harness",
                vec![
                    met(
                        of(fact("ratio blocks", Ns, [3.2, 3.0, 3.4]), 40),
                        None,
                        Some(15.0),
                    ),
                    met(
                        of(fact("latency blocks", Ns, [34.1, 33.9, 34.3]), 12),
                        None,
                        Some(50.0),
                    ),
                ],
            ),
            known(Subject::Known, "Known costs", [2.5, 0.0025, -0.0011], 0.03),
            busy,
            group(Subject::Identical, "Identical cells", identical),
            different(),
            group(
                Subject::Cold,
                "Cold blocks",
                vec![
                    pages("files, before eviction", 8_990.0),
                    met(pages("files, after it", 0.0), None, Some(0.0)),
                    met(pages("files, brought in", 9_000.0), Some(1.0), None),
                    exactly("files, fetched", Bytes, 36_864_000.0),
                ],
            ),
            group(
                Subject::Warm,
                "Warm blocks",
                vec![
                    met(
                        of(exactly("read from storage", Blocks, 0.0), 2_580),
                        None,
                        Some(0.0),
                    ),
                    exactly("measured again", Blocks, 1.0),
                ],
            ),
        ],
    }
}

fn of_subject(found: &mut Calibration, subject: Subject) -> &mut Group {
    let mut groups = found.groups.iter_mut();
    groups.find(|group| group.subject == subject).unwrap()
}

/// One that shows three things that are off and one that is not known.
pub(crate) fn off_limits() -> Calibration {
    let mut found = found();
    found.passed = false;
    let mut stands = |subject, at: usize, figure: Figure, status| {
        let group = of_subject(&mut found, subject);
        let old = &group.figures[at];
        group.figures[at] = Figure {
            at_least: old.at_least,
            at_most: old.at_most,
            status: Some(status),
            ..figure
        };
        group.status = Some(status);
    };
    let missed = off("200 ns", FigureUnit::NsOff, 41.0, 15.0);
    stands(Subject::Known, 0, missed, LimitStatus::Missed);
    let claims = share("false claims", 9, 80, [0.0528, 0.2028]);
    stands(Subject::Identical, 0, claims, LimitStatus::Missed);
    let unsure = fact("latency blocks", FigureUnit::Ns, [34.1, 33.9, 51.3]);
    stands(Subject::Harness, 1, unsure, LimitStatus::Unsure);
    let cold = of_subject(&mut found, Subject::Cold);
    cold.status = Some(LimitStatus::Unknown);
    cold.figures = vec![Figure {
        found: None,
        at_least: Some(1.0),
        status: cold.status,
        ..exactly("measured", FigureUnit::Blocks, 0.0)
    }];
    found.groups.retain(|group| group.subject != Subject::Busy);
    found
}

#[test]
fn a_calibration_without_fault_in_80_columns() {
    insta::assert_snapshot!(terminal::render(&report(&found()), &PLAIN));
}

#[test]
fn what_is_off_is_said_first_with_what_to_do_about_it() {
    let options = TerminalOptions {
        width: 60,
        ..VERBOSE
    };
    let text = terminal::render(&report(&off_limits()), &options);
    insta::assert_snapshot!(text);
}

#[test]
fn the_document_for_pasting_says_the_same() {
    insta::assert_snapshot!(markdown::render(&report(&found())));
}

#[test]
fn the_short_form_is_the_verdict_and_what_to_do() {
    let said = words(&in_brief(&report(&off_limits()), &PLAIN));
    let advice_of_off = advice(&off_limits()).join(" ");
    assert!(
        said.ends_with(&format!(" {} {advice_of_off}", verdict(&off_limits()))),
        "{said}"
    );
    assert_eq!(advice(&found()), [""; 0]);
}

#[test]
fn truth_is_not_claimed_without_a_word_of_doubt_where_an_interval_leaves_some() {
    let sure = verdict(&found());
    assert!(sure.starts_with("This machine measures truly: "), "{sure}");
    let mut unsure = found();
    of_subject(&mut unsure, Subject::Identical).status = Some(LimitStatus::Unsure);
    let said = verdict(&unsure);
    assert!(said.starts_with("By estimate, this machine"), "{said}");
    assert!(said.ends_with("whole interval: identical cells."), "{said}");
}

#[test]
fn sessions_that_say_nothing_are_told_beside_those_that_do() {
    let mut found = found();
    let identical = of_subject(&mut found, Subject::Identical);
    identical.figures[0] = share("false claims", 0, 75, [0.0, 0.048]);
    let unusable = share("unreliable or lost", 5, 80, [0.0625; 2]);
    identical.figures.push(met(unusable, None, Some(0.1)));
    let said = verdict(&found);
    let expected = "0 of 75 identical pairs called different (at most 4.80%; 5 unreliable or lost)";
    assert!(said.contains(expected), "{said}");
    let page = markdown::render(&report(&found));
    for words in [
        "0 of 75 sessions (0% \\[0%, 4.80%\\])",
        "5 of 80 sessions (6.25%) | at most 10% |",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
}

#[test]
fn where_too_many_sessions_say_nothing_truth_is_not_claimed() {
    let mut found = found();
    found.passed = false;
    of_subject(&mut found, Subject::Identical).status = Some(LimitStatus::Unknown);
    assert_eq!(
        verdict(&found),
        "Not calibrated; not shown: identical cells."
    );
    assert!(advice(&found)[0].starts_with("Too many sessions say nothing"));
}

#[test]
fn the_document_for_programs_has_the_verdict_and_every_figure() {
    let text = json(&off_limits(), &fixture::analysis()).unwrap();
    assert!(text.starts_with(stowplan_report::json::START));
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["passed"], false);
    assert_eq!(document["verdict"], verdict(&off_limits()));
    let known = &document["groups"][2];
    assert_eq!(
        (known["subject"].as_str(), known["status"].as_str()),
        (Some("known"), Some("missed"))
    );
    let figure = serde_json::json!({
        "name": "200 ns",
        "unit": "ns-off",
        "found": { "estimate": 41.0, "low": 40.5, "high": 41.5 },
        "of": 10,
        "at_least": -15.0,
        "at_most": 15.0,
        "status": "missed",
    });
    assert_eq!(known["figures"][0], figure);
}

pub(crate) fn report(found: &Calibration) -> Document {
    document(found, &fixture::analysis(), "{}", Vec::new())
}

#[test]
fn what_else_there_is_to_know_of_the_run_stands_before_its_raw_result() {
    let more = vec![paragraph("Something else.")];
    let document = document(&found(), &fixture::analysis(), "{}", more);
    let page = on_page(&document);
    let place = |what: &str| page.find(what).unwrap_or_else(|| panic!("{what}: {page}"));
    assert!(place("Warm blocks") < place("Something else."));
    assert!(place("Something else.") < place("result.jsonl"));
}
