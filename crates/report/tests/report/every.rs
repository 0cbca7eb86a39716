//! What holds of every kind of document that tells of runs, whatever it tells.

use crate::holds::says;
use crate::said::as_it_is;
use crate::support::{changed, on_terminal, words};
use crate::{
    by_size, calibration, compare, crash, doctor, fixture, fleet, inserts, ledger, measured_run,
    place, why_run,
};
use std::sync::LazyLock;
use stowplan_analysis::{Analysis, Choice};
use stowplan_model::Action;
use stowplan_report::document::{Detail, Document};
use stowplan_report::run;
use unicode_width::UnicodeWidthStr as _;

/// A document of every kind that tells of runs, with its name.
pub(crate) static DOCUMENTS: LazyLock<Vec<(&'static str, Document)>> = LazyLock::new(|| {
    let runs = [
        ("run", fixture::analysis()),
        ("run of a mix", of_mix()),
        ("run without an end", changed(|run| run.end = None)),
        ("run without a measurement", fixture::empty("Nothing")),
        ("matrix", by_size::with_matrix()),
        ("sweeps", by_size::with_page_sizes()),
        ("inserts", inserts::analysis()),
        ("bars and lines", measured_run::analysis()),
        ("ladders", why_run::analysis()),
        ("claims", ledger::analysis()),
        ("advice", place::advised(Choice::Database, |_| ())),
    ];
    let runs = runs.map(|(name, found)| (name, run::document(&found, &fixture::raw_result())));
    let mut documents = Vec::from(runs);
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
        (
            "checkup",
            stowplan_report::doctor::document(&doctor::checkup()),
        ),
        (
            "crashes",
            stowplan_report::crash::document(&crash::run(crash::unclaimed())),
        ),
        ("ledger", ledger::ledger(&["here", "there"]).document()),
    ]);
    documents
});

/// A run one cell of which had its operations timed by what they did.
pub(crate) fn of_mix() -> Analysis {
    let mut analysis = fixture::analysis();
    let cell = &mut analysis.comparisons[0].cells[3];
    let mut latency = cell.latency.clone().unwrap();
    cell.latencies.insert(Action::Read, latency.clone());
    latency.p50_ns = latency.p50_ns.map(|ns| 7 * ns);
    cell.latencies.insert(Action::Overwrite, latency);
    analysis
}

const DETAILS: [Detail; 3] = [Detail::Answer, Detail::Summary, Detail::Full];

#[test]
fn no_line_is_wider_than_the_terminal_but_what_is_to_be_pasted_and_no_bracket_is_cut_off() {
    for (name, document) in DOCUMENTS.iter() {
        let pasted = as_it_is(&document.blocks);
        for width in [40, 60, 80, 120] {
            let texts = DETAILS.map(|detail| on_terminal(document, width, detail));
            for text in &texts {
                let flowing = text.lines().filter(|line| !pasted.contains(&line.trim()));
                let widest = flowing.map(str::width).max().unwrap_or(0);
                assert!(widest <= width, "{name}, {width}: {text}");
            }
            let [brief, _, all] = &texts;
            assert!(!brief.is_empty(), "{name}");
            if width > 40 {
                let count = |c: char| all.matches(c).count();
                assert_eq!(count('['), count(']'), "{name}, {width}: {all}");
                let is_short = ["bars and lines", "run on a screen"].contains(name);
                assert!(!all.contains('…') || is_short, "{all}");
            }
            if width == 80 {
                let lengths = texts.each_ref().map(|text| words(text).len());
                assert!(
                    lengths.is_sorted(),
                    "who asks for more: {name}: {lengths:?}"
                );
            }
        }
    }
}

#[test]
fn a_comparison_has_its_percentiles_by_operation_when_everything_is_asked_for() {
    let text = on_terminal(&run::document(&of_mix(), ""), 80, Detail::Full);
    let (_, table) = text
        .split_once("Latency by operation, wall time:\n")
        .unwrap();
    let expected = [
        &["cell", "operation", "p50", "p99"][..],
        &["SQLite, prepared SELECT read ", "4.02 µs"],
        &["SQLite, prepared SELECT overwrite ", "28.1 µs"],
    ];
    for (line, expected) in table.lines().zip(expected) {
        says(line, expected.iter().copied());
    }
}
