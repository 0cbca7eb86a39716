//! What a calibration is told as. The figures are invented; those that are off say what to do.

use crate::fixture;
use crate::holds::{says, says_in_order};
use crate::said::on_page;
use crate::support::{PLAIN, VERBOSE, between, in_brief, words};
use std::iter::repeat;
use stowplan_analysis::Interval;
use stowplan_analysis::calibration::{
    Calibration, Figure, FigureUnit, Group, LimitStatus, Subject,
};
use stowplan_report::calibration::{advice, document, json, verdict};
use stowplan_report::document::{Document, paragraph};
use stowplan_report::render::terminal::TerminalOptions;
use stowplan_report::render::{markdown, terminal};

/// Groups, and their figures: name, unit, estimate with its interval, what it rests on, the least
/// and the most that it may be, and how it stands where that is not met.
const FOUND: &str = "
    = Clock
    a reading takes | Ns | 23.4 23.3 23.5
    steps of at most | Ns | 1
    = Cost of the harness
    ratio blocks | Ns | 3.2 3.0 3.4 | 40 || 15
    latency blocks | Ns | 34.1 33.9 34.3 | 12 || 50
    = Known costs
    200 ns | NsOff | 2.5 2.0 3.0 | 10 | -15 | 15
    2 µs | ShareOff | 0.0025 0.0015 0.0035 | 10 | -0.03 | 0.03
    20 µs | ShareOff | -0.0011 -0.0021 -0.0001 | 10 | -0.03 | 0.03
    = Known costs beside 2 busy processes
    200 ns | NsOff | 7.5 7.0 8.0 | 10 | -15 | 15
    2 µs | ShareOff | 0.0075 0.00583 0.00917 | 10 | -0.05 | 0.05
    20 µs | ShareOff | -0.0034 -0.00507 -0.00173 | 10 | -0.05 | 0.05
    waited for a CPU, subtracted | ShareOfTime | 0.52
    = Identical cells
    false claims | ShareOfSessions | 0 0 0.0451 | 80 || 0.05
    SQLite | ShareOfSessions | 0 0 0.088 | 40
    files | ShareOfSessions | 0 0 0.088 | 40
    farthest from 1 | ShareOff | -0.019
    = Known differences
    2% more, claimed | ShareOfSessions | 0.9 0.83 1 | 20
    2% more, found as | ShareOff | 0.0196
    2% more, truth held | ShareOfSessions | 1 | 20 | 0.95
    2% more, other way round | ShareOfSessions | 0 | 20 || 0.05
    5% more, claimed | ShareOfSessions | 1 0.83 1 | 20
    5% more, found as | ShareOff | 0.0496
    5% more, truth held | ShareOfSessions | 1 | 20 | 0.95
    5% more, other way round | ShareOfSessions | 0 | 20 || 0.05
    10% more, claimed | ShareOfSessions | 1 0.83 1 | 20
    10% more, found as | ShareOff | 0.0996
    10% more, truth held | ShareOfSessions | 1 | 20 | 0.95
    10% more, other way round | ShareOfSessions | 0 | 20 || 0.05
    = Cold blocks
    files, before eviction | Pages | 8990 | 9000
    files, after it | Pages | 0 | 9000 || 0
    files, brought in | Pages | 9000 | 9000 | 1
    files, fetched | Bytes | 36864000
    = Warm blocks
    read from storage | Blocks | 0 | 2580 || 0
    measured again | Blocks | 1
";

fn calibration(table: &str) -> Calibration {
    use Subject::{Busy, Clock, Cold, Different, Harness, Identical, Known, Warm};
    let subjects = [
        Clock, Harness, Known, Busy, Identical, Different, Cold, Warm,
    ];
    let mut groups: Vec<Group> = Vec::new();
    for line in table.trim().lines().map(str::trim) {
        if let Some(title) = line.strip_prefix("= ") {
            groups.push(Group {
                subject: subjects[groups.len()],
                title: title.to_owned(),
                status: None,
                figures: Vec::new(),
            });
        } else {
            let (group, figure) = (groups.last_mut().unwrap(), figure(line));
            group.status = group.status.max(figure.status);
            group.figures.push(figure);
        }
    }
    let mut stand = groups.iter().filter_map(|group| group.status);
    Calibration {
        passed: stand.all(LimitStatus::passes),
        groups,
    }
}

fn figure(line: &str) -> Figure {
    use FigureUnit::{Blocks, Bytes, Ns, NsOff, Pages, ShareOfSessions, ShareOfTime, ShareOff};
    use LimitStatus::{Met, Missed, Unknown, Unsure};
    fn named<T: std::fmt::Debug>(name: &str, all: impl IntoIterator<Item = T>) -> Option<T> {
        all.into_iter().find(|it| format!("{it:?}") == name)
    }
    let times = [Ns, NsOff, ShareOfTime, ShareOff];
    let units = times
        .into_iter()
        .chain([Blocks, Bytes, Pages, ShareOfSessions]);
    let mut fields = line.split('|').map(str::trim).chain(repeat(""));
    let mut next = || fields.next().unwrap();
    let (name, unit, found, of) = (next(), next(), next(), next());
    let [at_least, at_most] = [next(), next()].map(|limit| limit.parse().ok());
    let met = at_least.or(at_most).map(|_: f64| Met);
    let mut found = found.split(' ').map_while(|number| number.parse().ok());
    Figure {
        name: name.to_owned(),
        unit: named(unit, units).unwrap(),
        found: found.next().map(|estimate| Interval {
            estimate,
            low: found.next().unwrap_or(estimate),
            high: found.next().unwrap_or(estimate),
        }),
        of: of.parse().ok(),
        at_least,
        at_most,
        status: named(next(), [Missed, Unknown, Unsure]).or(met),
    }
}

pub(crate) fn found() -> Calibration {
    calibration(FOUND)
}

/// The table with other figures, a line each: what stands there and what instead.
fn changed(figures: &str) -> String {
    figures.lines().fold(FOUND.to_owned(), |table, line| {
        let (from, to) = line.trim().split_once(" => ").unwrap();
        assert!(table.contains(from), "{from}");
        table.replace(from, to)
    })
}

/// One that shows three things that are off and one that is not known.
pub(crate) fn off_limits() -> Calibration {
    let table = changed(
        "2.5 2.0 3.0 | 10 | -15 | 15 => 41 40.5 41.5 | 10 | -15 | 15 | Missed
        0 0 0.0451 | 80 || 0.05 => 0.1125 0.0528 0.2028 | 80 || 0.05 | Missed
        34.1 33.9 34.3 | 12 || 50 => 34.1 33.9 51.3 ||| 50 | Unsure",
    );
    let cold = between(FOUND, "    files, before", "    = Warm");
    let unknown = "    measured | Blocks ||| 1 || Unknown\n";
    let mut found = calibration(&table.replace(cold, unknown));
    found.groups.retain(|group| group.subject != Subject::Busy);
    found
}

pub(crate) fn report(found: &Calibration) -> Document {
    document(found, &fixture::analysis(), "{}", Vec::new())
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
    insta::assert_snapshot!(terminal::render(&report(&off_limits()), &options));
}

#[test]
fn the_short_form_is_the_verdict_and_what_to_do() {
    let said = words(&in_brief(&report(&off_limits()), &PLAIN));
    let advice_of_off = advice(&off_limits()).join(" ");
    let expected = format!(" {} {advice_of_off}", verdict(&off_limits()));
    assert!(said.ends_with(&expected), "{said}");
    assert_eq!(advice(&found()), [""; 0]);
}

#[test]
fn a_verdict_claims_no_more_than_the_sessions_of_identical_cells_show() {
    let lost = "0 0 0.048 | 75\nunreliable or lost | ShareOfSessions | 0.0625 | 80 || 0.1";
    let of = |claims| calibration(&FOUND.replace("0 0 0.0451 | 80 || 0.05", claims));
    let unknown = "0 0 0.04 | 80 || 0.05 | Unknown";
    let met = "0 0 0.0451 | 80 || 0.05";
    let said = [met, "0 0 0.07 | 80 || 0.05 | Unsure", unknown, lost];
    insta::assert_snapshot!(said.map(|claims| verdict(&of(claims))).join("\n"));
    // Sessions that say nothing are told beside those that do.
    let page = markdown::render(&report(&of(lost)));
    let limit = "5 of 80 sessions (6.25%) | at most 10% |";
    says(&page, ["0 of 75 sessions (0% \\[0%, 4.80%\\])", limit]);
    let advice = advice(&of(unknown));
    assert!(advice[0].starts_with("Too many sessions say nothing"));
}

#[test]
fn the_document_for_programs_has_the_verdict_and_every_figure() {
    let text = json(&off_limits(), &fixture::analysis()).unwrap();
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["verdict"], verdict(&off_limits()));
    let known = &document["groups"][2];
    assert_eq!([&known["subject"], &known["status"]], ["known", "missed"]);
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

#[test]
fn what_else_there_is_to_know_of_the_run_stands_before_its_raw_result() {
    let more = vec![paragraph("Something else.")];
    let page = on_page(&document(&found(), &fixture::analysis(), "{}", more));
    says_in_order(&page, &["Warm blocks", "Something else.", "result.jsonl"]);
}
