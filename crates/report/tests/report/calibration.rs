//! What a calibration is told as. The figures are invented; those that are off say what to do.

use crate::fixture;
use crate::said::{in_text, on_page};
use crate::support::{PLAIN, VERBOSE, in_brief, words};
use stowplan_analysis::calibration::{
    Calibration, ClockFinding, ColdFinding, KnownCost, KnownCosts, LimitStatus, Proportion, Series,
    UnusableSessions, VerdictCounts, WarmFinding,
};
use stowplan_analysis::{Interval, Verdict};
use stowplan_model::CellId;
use stowplan_report::calibration::{advice, document, json, verdict};
use stowplan_report::document::{Block, Content, Detail, Document, paragraph};
use stowplan_report::render::terminal::TerminalOptions;
use stowplan_report::render::{html, markdown, terminal};

fn interval(estimate: f64, by: f64) -> Interval {
    Interval {
        estimate,
        low: estimate - by,
        high: estimate + by,
    }
}

fn cost(estimate: f64, rounds: usize, allowed_ns: f64) -> KnownCost {
    KnownCost {
        found_ns: Some(interval(estimate, 0.2)),
        rounds,
        ..known_cost(0.0, 0.0, allowed_ns)
    }
}

fn known_cost(known_ns: f64, error: f64, allowed_ns: f64) -> KnownCost {
    KnownCost {
        known_ns,
        found_ns: Some(interval(known_ns + error, known_ns / 500.0)),
        allowed_ns,
        rounds: 10,
        status: LimitStatus::Met,
    }
}

fn proportion(count: u32, of: u32, [low, high]: [f64; 2]) -> Proportion {
    Proportion {
        count,
        of,
        share: Some(Interval {
            estimate: f64::from(count) / f64::from(of),
            low,
            high,
        }),
    }
}

fn unusable(unreliable: u32, lost: u32, planned: u32) -> UnusableSessions {
    UnusableSessions {
        unreliable,
        lost,
        planned,
    }
}

/// Sessions that met everything that was asked of them.
fn series(label: &str, truth: f64, claimed: Proportion, verdicts: VerdictCounts) -> Series {
    let of = claimed.of;
    Series {
        label: label.to_owned(),
        truth,
        claimed,
        reversed: proportion(0, of, [0.0, 0.17]),
        covered: proportion(of, of, [0.83, 1.0]),
        unusable: unusable(0, 0, of),
        verdicts,
        intervals: vec![fixture::estimate(truth, 0.015); of as usize],
        median: Some(truth - 0.0004),
        farthest: Some(0.981),
        rounds: 860,
        status: LimitStatus::Met,
    }
}

fn difference(share: f64, claimed: u32, verdicts: &[(Verdict, u32)]) -> Series {
    let label = format!("{:.0}% more", share * 100.0);
    let claimed = proportion(claimed, 20, [0.83, 1.0]);
    let verdicts = verdicts.iter().copied().collect();
    series(&label, 1.0 + share, claimed, verdicts)
}

fn identical(label: &str, of: u32, most: f64) -> Series {
    let verdicts = [(Verdict::Equivalent, 78), (Verdict::Unresolved, 2)].into();
    Series {
        intervals: vec![fixture::estimate(1.0, 0.02); of as usize],
        ..series(label, 1.0, proportion(0, of, [0.0, most]), verdicts)
    }
}

pub(crate) fn found() -> Calibration {
    let costs = |error: f64, share: f64| {
        vec![
            known_cost(200.0, error, 15.0),
            known_cost(2_000.0, error * 2.0, (2_000.0 * share).max(15.0)),
            known_cost(20_000.0, -error * 9.0, 20_000.0 * share),
        ]
    };
    Calibration {
        passed: true,
        clock: ClockFinding {
            reading_ns: Some(interval(23.4, 0.1)),
            step_ns: Some(1),
        },
        ratio_cost: cost(3.2, 40, 15.0),
        latency_cost: cost(34.1, 12, 50.0),
        known: KnownCosts {
            title: "Known costs".to_owned(),
            delay_share: Some(0.001),
            costs: costs(2.5, 0.03),
        },
        busy: Some(KnownCosts {
            title: "Known costs beside 2 busy processes".to_owned(),
            delay_share: Some(0.52),
            costs: costs(7.5, 0.05),
        }),
        identical: identical("", 80, 0.0451),
        identical_parts: vec![
            identical("SQLite", 40, 0.088),
            identical("files", 40, 0.088),
        ],
        different: vec![
            difference(0.02, 18, &[(Verdict::Equivalent, 20)]),
            difference(
                0.05,
                20,
                &[(Verdict::SmallDifference, 19), (Verdict::Slower, 1)],
            ),
            difference(0.1, 20, &[(Verdict::Slower, 20)]),
        ],
        cold: vec![ColdFinding {
            cell: CellId("cold/files".to_owned()),
            label: "files".to_owned(),
            blocks: 10,
            checked_pages: 9_000,
            before_pages: Some(8_990),
            evicted_pages: 0,
            after_pages: Some(9_000),
            storage_bytes: Some(36_864_000),
            bytes: 30_000_000,
            status: LimitStatus::Met,
        }],
        warm: WarmFinding {
            blocks: 2_580,
            reading: 0,
            discarded: 1,
            status: LimitStatus::Met,
        },
    }
}

/// One that shows three things that are off and one that is not known.
pub(crate) fn off() -> Calibration {
    let mut found = found();
    found.passed = false;
    found.known.costs[0] = KnownCost {
        status: LimitStatus::Missed,
        ..known_cost(200.0, 41.0, 15.0)
    };
    found.identical.claimed = proportion(9, 80, [0.0528, 0.2028]);
    found.identical.status = LimitStatus::Missed;
    found.latency_cost.status = LimitStatus::Unsure;
    found.cold.clear();
    found.busy = None;
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
        unicode: false,
        ..VERBOSE
    };
    let text = terminal::render(&report(&off()), &options);
    assert!(text.is_ascii(), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn the_document_for_pasting_says_the_same() {
    insta::assert_snapshot!(markdown::render(&report(&found())));
}

#[test]
fn the_short_form_is_the_verdict_and_what_to_do() {
    let said = words(&in_brief(&report(&off()), &PLAIN));
    let advice_of_off = advice(&off()).join(" ");
    assert!(
        said.ends_with(&format!(" {} {advice_of_off}", verdict(&off()))),
        "{said}"
    );
    assert_eq!(advice(&found()), [""; 0]);
}

#[test]
fn truth_is_not_claimed_without_a_word_of_doubt_where_an_interval_leaves_some() {
    let sure = verdict(&found());
    assert!(sure.starts_with("This machine measures truly: "), "{sure}");
    let mut unsure = found();
    unsure.identical.status = LimitStatus::Unsure;
    let said = verdict(&unsure);
    assert!(said.starts_with("By estimate, this machine"), "{said}");
    assert!(said.ends_with("whole interval: identical cells."), "{said}");
}

#[test]
fn sessions_that_say_nothing_are_told_beside_those_that_do() {
    let mut found = found();
    found.identical.claimed = proportion(0, 75, [0.0, 0.048]);
    found.identical.unusable = unusable(3, 2, 80);
    found.different[0].unusable = unusable(0, 1, 20);
    let said = verdict(&found);
    assert!(
        said.contains(
            "0 of 75 identical pairs called different (at most 4.8%; 3 unreliable, 2 lost)"
        ),
        "{said}"
    );
    let page = markdown::render(&report(&found));
    for words in [
        "in 0 of 75 sessions (0% \\[0%, 4.8%\\]), 3 unreliable, 2 lost |",
        "claimed in 18 of 20 sessions (90.0% \\[83.0%, 100%\\]), 1 lost, found",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
}

#[test]
fn where_too_many_sessions_say_nothing_truth_is_not_claimed() {
    let mut found = found();
    found.passed = false;
    found.identical.claimed = Proportion {
        count: 0,
        of: 0,
        share: None,
    };
    found.identical.unusable = unusable(80, 0, 80);
    found.identical.status = LimitStatus::Unknown;
    assert_eq!(
        verdict(&found),
        "Not calibrated: identical cells are not shown."
    );
    assert!(advice(&found)[0].starts_with("Too many sessions say nothing"));
}

#[test]
fn the_document_for_programs_has_the_verdict_and_every_figure() {
    let text = json(&off(), &fixture::analysis()).unwrap();
    assert!(text.starts_with(stowplan_report::json::START));
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["passed"], false);
    assert_eq!(document["verdict"], verdict(&off()));
    assert_eq!(document["known"]["costs"][0]["status"], "missed");
    assert_eq!(document["identical"]["claimed"]["count"], 9);
    assert_eq!(document["identical"]["verdicts"]["equivalent"], 78);
}

#[test]
fn the_page_has_a_state_for_each_figure_and_a_point_for_each_session() {
    let document = document(
        &found(),
        &fixture::analysis(),
        &fixture::raw_result(),
        Vec::new(),
    );
    let page = html::render(&document);
    assert!(page.contains(stowplan_report::MARK));
    for title in [
        "Clock",
        "Identical cells",
        "Known differences",
        "Cold and warm",
    ] {
        assert!(page.contains(&format!("<h3>{title}</h3>")), "{title}");
    }
    assert_eq!(page.matches("<svg class=\"at\"").count(), 80 + 3 * 20);
    assert!(!page.contains("<script>alert"), "labels stay text");
}

pub(crate) fn report(found: &Calibration) -> Document {
    document(found, &fixture::analysis(), "{}", Vec::new())
}

#[test]
fn the_document_says_what_the_text_did() {
    insta::assert_snapshot!(in_text(&report(&found()), Detail::Full));
}

#[test]
fn what_is_off_is_said_in_brief_with_what_to_do_about_it() {
    let expected: String = std::iter::once(verdict(&off()))
        .chain(advice(&off()).into_iter().map(str::to_owned))
        .map(|line| line + "\n")
        .collect();
    let text = in_text(&report(&off()), Detail::Answer);
    assert_eq!(text.trim_start(), expected);
}

#[test]
fn each_session_is_a_point_of_its_series_and_what_is_true_lies_on_the_plane() {
    fn planes(blocks: &[Block]) -> Vec<&stowplan_report::document::Plane> {
        let planes = blocks.iter().flat_map(|block| match &block.content {
            Content::Section(section) => planes(&section.blocks),
            Content::Plane(plane) => vec![plane],
            _ => Vec::new(),
        });
        planes.collect()
    }
    let document = report(&found());
    let drawn = planes(&document.blocks);
    let points: Vec<usize> = drawn
        .iter()
        .map(|plane| plane.panels[0].lines[0].points.len())
        .collect();
    assert_eq!(points, [80, 20, 20, 20]);
    for plane in drawn {
        let inside = |ratio: f64| (0.001..0.999).contains(&plane.y.scale.position(ratio));
        assert!(inside(plane.levels[0].at), "{}", plane.summary);
        let points = &plane.panels[0].lines[0].points;
        let mut ends = points.iter().filter_map(|point| point.value?.ends());
        assert!(ends.all(|(low, high)| inside(low) && inside(high)));
    }
}

#[test]
fn what_else_there_is_to_know_of_the_run_stands_before_its_raw_result() {
    let more = vec![paragraph("Something else.")];
    let document = document(&found(), &fixture::analysis(), "{}", more);
    let page = on_page(&document);
    let place = |what: &str| page.find(what).unwrap_or_else(|| panic!("{what}: {page}"));
    assert!(place("Sessions") < place("Something else."));
    assert!(place("Something else.") < place("result.jsonl"));
}

#[test]
fn json_holds_no_character_that_steers() {
    let mut off = off();
    off.identical_parts[0].label = "SQLite\u{202e}".to_owned();
    let text = json(&off, &fixture::analysis()).unwrap();
    assert!(text.contains("SQLite\\u202e"), "{text}");
}
