//! What an article says, in every form.

use crate::fixture;
use crate::support::{PLAIN, VERBOSE, between, element, html, in_brief, json, markdown, terminal};
use stowplan_analysis::ClaimAcross;
use stowplan_analysis::{
    Analysis, ClaimOutcome, ClaimVerdict, FigureCell, FigureOutcome, Interval, Ledger, MissingCell,
    PublishedOutcome, PublishedTime,
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

fn figure(verdict: ClaimVerdict, estimate: Option<[f64; 3]>) -> FigureOutcome {
    FigureOutcome {
        of: vec![cell("overwrite/fsync", "files, fsync")],
        to: vec![cell("overwrite/wal", "SQLite, WAL")],
        or_to: Vec::new(),
        measure: ClaimMeasure::Time,
        at_least: Some(8.0),
        at_most: None,
        estimate: estimate.map(|[estimate, low, high]| Interval {
            estimate,
            low,
            high,
        }),
        beside: None,
        rounds: 10,
        across: false,
        verdict,
    }
}

fn claim(id: &str, verdict: ClaimVerdict, figures: Vec<FigureOutcome>) -> ClaimOutcome {
    ClaimOutcome {
        id: id.to_owned(),
        quote: "about 10 times or more slower than writes to SQLite".to_owned(),
        place: Some("35% Faster Than The Filesystem, 2.2. Writes".to_owned()),
        source: None,
        note: Some("About 10: 8 or more".to_owned()),
        verdict,
        figures,
        missing: Vec::new(),
    }
}

fn claims() -> Vec<ClaimOutcome> {
    let holds = figure(ClaimVerdict::Holds, Some([10.8, 9.6, 12.2]));
    let fails = figure(ClaimVerdict::Fails, Some([3.1, 3.0, 3.2]));
    let open = FigureOutcome {
        beside: Some(Interval {
            estimate: 7.0,
            low: 6.0,
            high: 7.5,
        }),
        ..figure(ClaimVerdict::Undecided, Some([8.8, 8.1, 9.4]))
    };
    let share = FigureOutcome {
        to: Vec::new(),
        or_to: Vec::new(),
        measure: ClaimMeasure::PageFill,
        at_least: Some(0.4),
        at_most: Some(0.6),
        ..figure(ClaimVerdict::Fails, Some([0.981, 0.979, 0.982]))
    };
    let sum = FigureOutcome {
        to: vec![
            cell("overwrite/wal", "SQLite, WAL"),
            cell("read/sql", "SQLite SELECT"),
        ],
        at_most: Some(12.5),
        across: true,
        ..holds.clone()
    };
    let mut unmeasured = claim(
        "gone",
        ClaimVerdict::NoData,
        vec![figure(ClaimVerdict::NoData, None)],
    );
    unmeasured.missing = vec![MissingCell {
        cell: "overwrite/fsync".to_owned(),
        why: "it was left out of this run".to_owned(),
    }];
    vec![
        claim("holds", ClaimVerdict::Holds, vec![holds.clone()]),
        claim("fails", ClaimVerdict::Fails, vec![holds.clone(), fails]),
        claim("open", ClaimVerdict::Undecided, vec![open]),
        claim("share", ClaimVerdict::Fails, vec![share]),
        claim("sum", ClaimVerdict::Holds, vec![sum]),
        claim("again", ClaimVerdict::Holds, vec![holds.clone()]),
        claim("once-more", ClaimVerdict::Holds, vec![holds]),
        unmeasured,
    ]
}

fn analysis() -> Analysis {
    let row = |what: &str, cell: Option<&str>, ours: Option<f64>| PublishedTime {
        published: PublishedRow {
            cell: cell.map(|cell| CellId(cell.to_owned())),
            operations: Some(10_000),
            seconds: Some(0.27),
            before_commit_seconds: Some(0.06),
            ..PublishedRow::default()
        },
        what: what.to_owned(),
        ours_seconds: ours.map(|seconds| Interval {
            estimate: seconds,
            low: seconds * 0.9,
            high: seconds * 1.1,
        }),
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
fn a_terminal_shows_what_differs_and_how_to_see_the_rest() {
    let text = terminal(&analysis(), &PLAIN);
    let shown = between(&text, "What the article says", "\n5 charts");
    insta::assert_snapshot!(shown);
    let text = terminal(&analysis(), &VERBOSE);
    insta::assert_snapshot!(
        "every_claim",
        between(&text, "What the article says", "\nCharts")
    );
}

#[test]
fn published_times_stand_beside_ours_in_the_terminal() {
    let text = terminal(&analysis(), &PLAIN);
    insta::assert_snapshot!(between(
        &text,
        "Published times beside ours",
        "\nEach comparison"
    ));
}

#[test]
fn every_form_has_every_claim() {
    let analysis = analysis();
    let text = markdown(&analysis);
    let said = between(&text, "## What the article says", "## Charts");
    assert!(
        said.contains("Of 8 claims, 4 hold here, 2 fail and 1 is undecided; 1 was not measured."),
        "{said}"
    );
    assert_eq!(said.matches("about 10 times or more").count(), 8, "{said}");
    let page = html(&analysis, "");
    let section = element(&page, "claims");
    assert_eq!(section.matches("class=\"badge").count(), 8, "{section}");
    let document = json(&analysis);
    assert_eq!(document["claims"][1]["verdict"], "fails");
    assert_eq!(document["claims"][1]["figures"][1]["estimate"]["low"], 3.0);
    assert_eq!(
        document["published"][0]["rows"][0]["ours_seconds"]["estimate"],
        0.0135
    );
}

/// The ledger of these claims on so many machines, the second of which says otherwise of one.
fn ledger(machines: &[&str]) -> Claims {
    let stated = claims().into_iter().map(|claim| ClaimAcross {
        study: "small".to_owned(),
        on: machines
            .iter()
            .enumerate()
            .map(|(place, _)| {
                Some(if place == 1 {
                    claims().swap_remove(1)
                } else {
                    claim.clone()
                })
            })
            .collect(),
        stated: claim,
    });
    Claims::of(Ledger {
        machines: machines.iter().map(|name| (*name).to_owned()).collect(),
        studies: vec![("small".to_owned(), "A small study".to_owned())],
        claims: stated.collect(),
    })
}

#[test]
fn the_ledger_says_what_would_decide_a_claim_and_what_each_machine_says() {
    let shown =
        |machines: &[&str]| render::terminal::render(&ledger(machines).document(), &VERBOSE);
    insta::assert_snapshot!("ledger_of_none", shown(&[]));
    let one = shown(&["here"]);
    assert!(one.contains("Of 8 claims, 4 hold here"), "{one}");
    let two = shown(&["here", "there"]);
    assert!(two.contains("differs"), "{two}");
    assert!(two.contains("there: fails."), "{two}");
    for text in [one, two] {
        assert!(
            text.lines().all(|line| line.chars().count() <= 80),
            "{text}"
        );
    }
}

#[test]
fn the_table_of_the_ledger_has_a_row_for_each_figure_and_machine() {
    let table = ledger(&["here", "there"]).csv();
    let mut lines = table.lines();
    let head = lines.next().unwrap();
    assert!(
        head.starts_with("study,claim,place,quote,machine,verdict,measure,of,to,figure,low,high")
    );
    assert_eq!(lines.clone().count(), 9 + 16, "{table}");
    let first = lines.next().unwrap();
    assert!(
        first.contains(",here,holds,time,overwrite/fsync,overwrite/wal,10.8,9.6,12.2,8,,holds"),
        "{first}"
    );
    let document = ledger(&["here"]).json().unwrap();
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    assert_eq!(document["document"], "claims");
    assert_eq!(
        document["claims"][3]["on"][0]["figures"][0]["measure"],
        "page-fill"
    );
    let brief = in_brief(&ledger(&["here"]).document(), &PLAIN);
    assert!(!brief.contains("about 10 times"), "{brief}");
}
