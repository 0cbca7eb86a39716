//! What holds of every kind of document, whatever it tells.

use crate::said::as_it_is;
use crate::sample_document::sample;
use crate::support::{PLAIN, words};
use crate::{by_size, calibration, compare, fixture, fleet, inserts, measured_run, why_run};
use std::collections::BTreeMap;
use stowplan_analysis::{Analysis, repeated};
use stowplan_model::{
    Action, Check, CheckGroup, CheckState, Checkup, IoCounters, KeySurvey, Measurement, Record,
    SizeBin, Survey,
};
use stowplan_report::document::{Detail, Document};
use stowplan_report::kvtest::{Around, Counted, Run};
use stowplan_report::render::terminal::{TerminalOptions, render};
use stowplan_report::stat::{self, Pages, Stat};
use stowplan_report::{doctor, kvtest, run};
use unicode_width::UnicodeWidthStr as _;

/// A document of every kind, with its name.
pub(crate) fn documents() -> Vec<(&'static str, Document)> {
    let mut unfinished = fixture::analysis();
    unfinished.end = None;
    let runs = [
        ("run", fixture::analysis()),
        ("run of a mix", of_mix()),
        ("run without an end", unfinished),
        ("matrix", by_size::with_matrix()),
        ("sweeps", by_size::with_page_sizes()),
        ("inserts", inserts::analysis()),
        ("bars and lines", measured_run::analysis()),
        ("ladders", why_run::analysis()),
    ];
    let mut documents: Vec<(&'static str, Document)> = runs
        .iter()
        .map(|(name, analysis)| (*name, run::document(analysis, &fixture::raw_result())))
        .collect();
    documents.extend([
        ("run on a screen", run::screen(&fixture::analysis(), 20)),
        ("several machines", fleet::document(&fleet::fleet())),
        ("calibration", calibration::report(&calibration::found())),
        (
            "missed calibration",
            calibration::report(&calibration::off_limits()),
        ),
        ("comparison of results", compare::one()),
        ("comparison of several results", compare::several()),
        ("checkup", doctor::document(&checkup())),
        ("sizes", stat::document(&sizes())),
        ("run of a database", kvtest::document(&run_of_database())),
        ("every kind of block", sample()),
    ]);
    documents
}

/// A run one cell of which had its operations timed by what they did.
fn of_mix() -> Analysis {
    let mut analysis = fixture::analysis();
    let cell = &mut analysis.comparisons[0].cells[3];
    let mut latency = cell.latency.clone().unwrap();
    cell.latencies.insert(Action::Read, latency.clone());
    latency.p50_ns = latency.p50_ns.map(|ns| 7 * ns);
    cell.latencies.insert(Action::Overwrite, latency);
    analysis
}

fn checkup() -> Checkup {
    let states = [
        CheckState::Ok,
        CheckState::Warning,
        CheckState::Problem,
        CheckState::Unavailable,
    ];
    let groups = CheckGroup::ALL.into_iter().zip(states.iter().cycle());
    let checks = groups.map(|(group, state)| Check {
        name: format!("{group:?}"),
        group,
        state: *state,
        found: "12.5 µs – more than on a quiet machine".to_owned(),
        mend: Some("echo off | sudo tee /sys/kernel/mm/damon/admin/kdamonds/0/state".to_owned()),
        why: "A block that waits has a longer time: ± 3%, measured once.".to_owned(),
    });
    Checkup {
        directory: "/dev/shm".to_owned(),
        asked: "study fasterthanfs".to_owned(),
        checks: checks.collect(),
        ..Checkup::default()
    }
}

fn sizes() -> Stat {
    let bin = |from: u64, values| SizeBin {
        from,
        to: from + 999,
        values,
    };
    Stat {
        tool_version: "0.1.0".to_owned(),
        place: "thumbs.db".to_owned(),
        held: "database",
        pages: Some(Pages {
            page_size: 4096,
            page_count: 17,
            free: 2,
            integrity: vec!["ok".to_owned()],
        }),
        survey: Some(Survey {
            values: 4,
            bytes: 39_001,
            smallest: 8_000,
            largest: 12_000,
            histogram: vec![bin(8_000, 1), bin(9_000, 1), bin(10_000, 1), bin(12_000, 1)],
            ..Survey::default()
        }),
    }
}

fn run_of_database() -> Run {
    let measured = fixture::analysis().comparisons.swap_remove(0);
    let summary = measured.cells[3].clone();
    let measurements: Vec<Measurement> = measured_run::records()
        .into_iter()
        .filter_map(|record| match record {
            Record::Measurement(block) if block.cell.0 == "read/sqlite" => Some(block),
            _ => None,
        })
        .collect();
    let mut costs = repeated(&measurements, None, |_| 0).unwrap();
    costs.latency = summary.latency;
    Run {
        tool_version: "0.1.0".to_owned(),
        place: "thumbs.db".to_owned(),
        held: "database",
        sqlite_version: Some("3.51.0".to_owned()),
        options: vec!["--count 1000".to_owned(), "--random".to_owned()],
        page_size: Some(4096),
        cell: summary.cell,
        effective: summary.effective.unwrap_or_default(),
        survey: KeySurvey {
            values: 20_000,
            bytes: 200_000_000,
            largest_key: 20_010,
            max_id: 20_010,
            visited: 19_999,
            missing: 10,
            first_missing: Some(17),
            empty: 1,
            first_empty: Some(19),
        },
        summary: costs,
        around: Around {
            open_ns: 91_000,
            commit_ns: Some(21_000),
            drain_ns: 4_000,
            drain_counts: true,
            open_counts: false,
        },
        integrity: vec!["ok".to_owned()],
        counters: Some(Counted {
            engine: BTreeMap::from([("cache hits".to_owned(), 12_345)]),
            io: Some(IoCounters::default()),
        }),
        notes: vec!["The cache holds 2,000 pages – less than the data.".to_owned()],
        warnings: vec![stowplan_model::Warning::other(
            "a warning".to_owned(),
            "what to do",
        )],
        environment: fixture::analysis().run.environment,
        interrupted: true,
        measurements,
    }
}

const DETAILS: [Detail; 3] = [Detail::Answer, Detail::Summary, Detail::Full];

#[test]
fn no_line_is_wider_than_the_terminal_but_what_is_to_be_pasted() {
    for (name, document) in documents() {
        let pasted = as_it_is(&document.blocks);
        for (width, detail) in [40, 60, 80, 120]
            .into_iter()
            .flat_map(|w| DETAILS.map(|d| (w, d)))
        {
            let options = TerminalOptions {
                width,
                detail,
                ..PLAIN
            };
            let text = render(&document, &options);
            let flowing = text.lines().filter(|line| !pasted.contains(&line.trim()));
            let widest = flowing.map(str::width).max().unwrap_or(0);
            assert!(widest <= width, "{name}, {width}: {text}");
        }
    }
}

#[test]
fn no_bracket_is_cut_off() {
    for (name, document) in documents() {
        for width in [60, 80, 120] {
            let options = TerminalOptions {
                width,
                detail: Detail::Full,
                ..PLAIN
            };
            let text = render(&document, &options);
            let count = |c: char| text.matches(c).count();
            assert_eq!(count('['), count(']'), "{name}, {width}: {text}");
            let is_short = ["bars and lines", "run on a screen"].contains(&name);
            assert!(!text.contains('…') || is_short, "{text}");
        }
    }
}

#[test]
fn who_asks_for_more_is_told_all_that_others_are_told() {
    for (name, document) in documents() {
        let said = |detail| {
            let text = render(&document, &TerminalOptions { detail, ..PLAIN });
            words(&text)
        };
        let brief = said(Detail::Answer);
        assert!(!brief.is_empty(), "{name}");
        let lengths = DETAILS.map(|detail| said(detail).len());
        assert!(lengths.is_sorted(), "{name}: {lengths:?}");
    }
}

#[test]
fn a_comparison_has_its_percentiles_by_operation_when_everything_is_asked_for() {
    let document = run::document(&of_mix(), "");
    let said = |detail| {
        let text = render(&document, &TerminalOptions { detail, ..PLAIN });
        let (_, table) = text.split_once("Latency by operation, wall time:\n")?;
        Some(table.lines().take(3).map(words).collect::<Vec<_>>())
    };
    let table = said(Detail::Full).unwrap();
    for title in ["cell", "operation", "p50", "p99"] {
        assert!(table[0].contains(title), "{table:?}");
    }
    assert!(
        table[1].starts_with("SQLite, prepared SELECT read "),
        "{table:?}"
    );
    assert!(
        table[2].starts_with("SQLite, prepared SELECT overwrite "),
        "{table:?}"
    );
    assert!(
        table[1].contains("4.02 µs") && table[2].contains("28.1 µs"),
        "{table:?}"
    );
}
