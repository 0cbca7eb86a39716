//! What an article says, in every form.

use crate::fixture;
use crate::holds::lacks;
use crate::support::{PLAIN, VERBOSE, between, in_brief, json, terminal};
use stowplan_analysis::{
    Analysis, ClaimAcross, ClaimOutcome, ClaimVerdict, FigureCell, FigureOutcome, Interval, Ledger,
    MissingCell, PublishedOutcome, PublishedTime,
};
use stowplan_model::{CellId, ClaimMeasure, PublishedRow};
use stowplan_report::claims::Claims;
use stowplan_report::render;

fn cell(id: &str, label: &str) -> FigureCell {
    FigureCell {
        cell: CellId(id.to_owned()),
        label: label.to_owned(),
    }
}

fn interval([estimate, low, high]: [f64; 3]) -> Interval {
    Interval {
        estimate,
        low,
        high,
    }
}

fn figure(verdict: ClaimVerdict, estimate: [f64; 3]) -> FigureOutcome {
    FigureOutcome {
        of: vec![cell("overwrite/fsync", "files, fsync")],
        to: vec![cell("overwrite/wal", "SQLite, WAL")],
        or_to: Vec::new(),
        measure: ClaimMeasure::Time,
        at_least: Some(8.0),
        at_most: None,
        estimate: Some(interval(estimate)),
        beside: None,
        rounds: 10,
        across: false,
        verdict,
    }
}

/// A claim that stands as the last of its figures.
fn claim(id: &str, figures: &[&FigureOutcome]) -> ClaimOutcome {
    ClaimOutcome {
        id: id.to_owned(),
        quote: "about 10 times or more slower than writes to SQLite".to_owned(),
        place: Some("35% Faster Than The Filesystem, 2.2. Writes".to_owned()),
        source: None,
        note: Some("About 10: 8 or more".to_owned()),
        verdict: figures[figures.len() - 1].verdict,
        figures: figures.iter().map(|figure| (*figure).clone()).collect(),
        missing: Vec::new(),
    }
}

fn claims() -> Vec<ClaimOutcome> {
    let holds = figure(ClaimVerdict::Holds, [10.8, 9.6, 12.2]);
    let fails = figure(ClaimVerdict::Fails, [3.1, 3.0, 3.2]);
    let open = FigureOutcome {
        beside: Some(interval([7.0, 6.0, 7.5])),
        ..figure(ClaimVerdict::Undecided, [8.8, 8.1, 9.4])
    };
    let share = FigureOutcome {
        to: Vec::new(),
        measure: ClaimMeasure::PageFill,
        at_least: Some(0.4),
        at_most: Some(0.6),
        ..figure(ClaimVerdict::Fails, [0.981, 0.979, 0.982])
    };
    let mut sum = holds.clone();
    sum.to.push(cell("read/sql", "SQLite SELECT"));
    (sum.at_most, sum.across) = (Some(12.5), true);
    let unmeasured = FigureOutcome {
        estimate: None,
        ..figure(ClaimVerdict::NoData, [0.0; 3])
    };
    let missing = MissingCell {
        cell: "overwrite/fsync".to_owned(),
        why: "it was left out of this run".to_owned(),
    };
    vec![
        claim("holds", &[&holds]),
        claim("fails", &[&holds, &fails]),
        claim("open", &[&open]),
        claim("share", &[&share]),
        claim("sum", &[&sum]),
        claim("again", &[&holds]),
        claim("once-more", &[&holds]),
        ClaimOutcome {
            missing: vec![missing],
            ..claim("gone", &[&unmeasured])
        },
    ]
}

pub(crate) fn analysis() -> Analysis {
    let row = |what: &str, cell: Option<&str>, ours: Option<f64>| PublishedTime {
        published: PublishedRow {
            cell: cell.map(|cell| CellId(cell.to_owned())),
            operations: Some(10_000),
            seconds: Some(0.27),
            before_commit_seconds: Some(0.06),
            ..PublishedRow::default()
        },
        what: what.to_owned(),
        ours_seconds: ours.map(|seconds| interval([seconds, seconds * 0.9, seconds * 1.1])),
        ours_before_commit_seconds: None,
        scaled_from: ours.map(|_| 1_000),
    };
    Analysis {
        claims: claims(),
        published: vec![PublishedOutcome {
            id: "mingw".to_owned(),
            title: "MinGW on Windows, 2011".to_owned(),
            place: Some("002:14".to_owned()),
            rows: vec![
                row("disk, one transaction", Some("reads/dir"), Some(0.0135)),
                row("SQL CE 4.0", None, None),
            ],
        }],
        ..fixture::analysis()
    }
}

#[test]
fn a_terminal_shows_every_claim_and_published_times_beside_ours() {
    let text = terminal(&analysis(), &VERBOSE);
    insta::assert_snapshot!(
        "every_claim",
        between(&text, "What the article says", "\nHarness cost")
    );
    let published = between(&text, "Published times beside ours", "\nEach comparison");
    insta::assert_snapshot!("published_times", published);
}

/// The ledger of these claims on so many machines, the second of which says otherwise of one.
pub(crate) fn ledger(machines: &[&str]) -> Claims {
    let on = |place, claim: &ClaimOutcome| match place {
        1 => claims().swap_remove(1),
        _ => claim.clone(),
    };
    let places = 0..machines.len();
    let stated = claims().into_iter().map(|claim| ClaimAcross {
        study: "small".to_owned(),
        on: places
            .clone()
            .map(|place| Some(on(place, &claim)))
            .collect(),
        stated: claim,
    });
    Claims::of(Ledger {
        claims: stated.collect(),
        machines: machines.iter().map(|name| (*name).to_owned()).collect(),
        studies: vec![("small".to_owned(), "A small study".to_owned())],
    })
}

#[test]
fn the_ledger_says_what_would_decide_a_claim_and_what_each_machine_says() {
    let shown =
        |machines: &[&str]| render::terminal::render(&ledger(machines).document(), &VERBOSE);
    insta::assert_snapshot!("ledger_of_none", shown(&[]));
    insta::assert_snapshot!("ledger_of_two", shown(&["here", "there"]));
    let brief = in_brief(&ledger(&["here"]).document(), &PLAIN);
    lacks(&brief, &["about 10 times"]);
}

#[test]
fn the_table_of_the_ledger_has_a_row_for_each_figure_and_machine() {
    let table = ledger(&["here", "there"]).csv();
    insta::assert_snapshot!("ledger_as_table", table);
    let document = ledger(&["here"]).json().unwrap();
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    let figure = &document["claims"][3]["on"][0]["figures"][0];
    assert_eq!(figure["measure"], "page-fill");
    let run = json(&analysis());
    assert_eq!(run["claims"][0]["figures"][0]["estimate"]["low"], 9.6);
    let ours = &run["published"][0]["rows"][0]["ours_seconds"];
    assert_eq!(ours["estimate"], 0.0135);
}
