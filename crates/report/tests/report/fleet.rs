//! Several results of one study.

use crate::fixture;
use crate::holds::says;
use crate::said::{in_text, on_page};
use crate::support::PLAIN;
use stowplan_analysis::{Analysis, CellSummary, Kind, RatioEstimate, Verdict};
use stowplan_model::{CellId, Warning, WarningKind};
use stowplan_report::document::{Detail, Document};
use stowplan_report::fleet::Fleet;
use stowplan_report::render::terminal;

/// The invented run, as another machine would have made it, on which `reads/sql` takes so many
/// times as long.
fn on([host, cpu, file_system, day]: [&str; 4], cpus: u32, factor: f64) -> Analysis {
    let mut analysis = fixture::analysis();
    analysis.run.started = format!("{day}T10:00:00Z");
    let machine = &mut analysis.run.environment;
    machine.host = host.to_owned();
    machine.cpu = Some(cpu.to_owned());
    machine.cpus = cpus;
    machine.file_system.kind = file_system.to_owned();
    let scaled = |estimate: RatioEstimate, factor: f64| RatioEstimate {
        ratio: estimate.ratio * factor,
        low: estimate.low * factor,
        high: estimate.high * factor,
        ..estimate
    };
    let comparisons = analysis.comparisons.iter_mut();
    let contrasts = comparisons.flat_map(|comparison| &mut comparison.contrasts);
    for contrast in contrasts.filter(|contrast| contrast.cell.0 == "reads/sql") {
        let estimate = scaled(contrast.estimate.unwrap(), factor);
        (contrast.estimate, contrast.verdict) = (Some(estimate), fixture::judge(&estimate));
    }
    let files = CellId("reads/dir".to_owned());
    for row in fixture::ratios(&mut analysis).filter(|row| row.cell.as_ref() == Some(&files)) {
        let ratio = scaled(row.ratio().unwrap(), 1.0 / factor);
        *row = row.clone().with_ratio(Some(ratio), fixture::judge(&ratio));
    }
    analysis
}

/// Four results: of two machines, of which one has two file systems, and of a slow one whose second
/// comparison was too noisy.
pub(crate) fn fleet() -> Vec<Analysis> {
    let core = "Intel(R) Core(TM) i5-8250U CPU @ 1.60GHz";
    let mut nas = on(["nas", "ARMv8", "btrfs", "2026-11-21"], 4, 3.0);
    nas.end = None;
    nas.comparisons[0].fastest = None;
    let noisy = &mut nas.comparisons[1];
    noisy.reliable = false;
    for contrast in &mut noisy.contrasts {
        contrast.verdict = Verdict::Unreliable;
    }
    let figures = nas.figures[3..].iter_mut();
    let groups = figures.flat_map(|found| &mut found.groups);
    for row in groups.flat_map(|group| &mut group.rows) {
        row.verdict = row.verdict.map(|_| Verdict::Unreliable);
    }
    vec![
        on(["lab-3", "AMD EPYC 9R14", "ext4", "2026-11-20"], 2, 1.0),
        on(["attic", core, "ext4", "2026-11-20"], 8, 1.4),
        on(["attic", core, "xfs", "2026-11-20"], 8, 2.1),
        nas,
    ]
}

fn two() -> Vec<Analysis> {
    fleet().into_iter().take(2).collect()
}

fn of(analyses: &[Analysis]) -> Fleet<'_> {
    Fleet::of(&analyses.iter().collect::<Vec<_>>()).unwrap()
}

pub(crate) fn document(analyses: &[Analysis]) -> Document {
    let raw = vec!["{}"; analyses.len()];
    of(analyses).document(&raw)
}

/// All that is said of it but what only a page has.
fn said(analyses: &[Analysis]) -> String {
    in_text(&document(analyses), Detail::Full)
}

/// Every summary of a cell, of whichever result.
fn summaries<'a>(all: &'a mut [Analysis], id: &str) -> impl Iterator<Item = &'a mut CellSummary> {
    let comparisons = all
        .iter_mut()
        .flat_map(|analysis| &mut analysis.comparisons);
    let cells = comparisons.flat_map(|comparison| &mut comparison.cells);
    cells.filter(move |summary| summary.cell.id.0 == id)
}

#[test]
fn first_it_is_said_on_how_many_machines_each_finding_holds() {
    insta::assert_snapshot!(said(&fleet()));
}

#[test]
fn a_terminal_has_the_findings_and_one_chart() {
    let results = fleet();
    let fleet = of(&results);
    insta::assert_snapshot!(terminal::on_one_screen(|rows| fleet.screen(rows), &PLAIN));
}

#[test]
fn factors_have_the_direction_of_the_verdict() {
    let factors = "SQLite, prepared SELECT | faster on lab-3 and attic (ext4) (1.50 to 2.10 times \
                   as fast); slower on nas (1.43 times as long); equivalent on attic (xfs).";
    says(&said(&fleet()), [factors]);
}

#[test]
fn different_zones_are_named() {
    let mut fleet = fleet();
    fleet[1].run.equivalence = 0.1;
    says(&said(&fleet), ["different equivalence zones"]);
}

#[test]
fn what_was_left_out_on_a_machine_counts_nowhere() {
    let least = "SQLite database takes the least";
    says(&said(&two()), [least]);
    let mut other = two();
    for dataset in other[1].run.plan.datasets.values_mut() {
        dataset.seed += 1;
    }
    let left_out = "on attic: left out, because not the same was measured there";
    says(&said(&other), [&format!("On lab-3: {least}"), left_out]);
    let noise = |analyses: &[Analysis]| {
        let text = in_text(&document(analyses), Detail::Summary);
        let lines = text
            .lines()
            .filter(|line| line.contains("the same thing twice"));
        lines.collect::<String>()
    };
    let quiet = noise(&other);
    for (machine, is_heard) in [(1, false), (0, true)] {
        let comparisons = other[machine].comparisons.iter_mut();
        for control in comparisons.filter_map(|comparison| comparison.control.as_mut()) {
            control.estimate.ratio = 1.5;
            control.estimate.high = 1.6;
        }
        assert_eq!(noise(&other) != quiet, is_heard, "{machine}");
    }
}

#[test]
fn beating_all_is_not_counted_where_a_rival_was_left_out() {
    let mut two = two();
    let winner = two[1].comparisons[0].fastest.clone().unwrap();
    for summary in summaries(&mut two[1..], &winner.0) {
        summary.cell.workload.threads = 7;
    }
    let left_out = "Left out on attic, where the workload is not that of the first result";
    says(&said(&two), ["on attic: not the same stores", left_out]);
}

#[test]
fn a_baseline_chosen_after_the_run_is_said_once_whatever_its_words() {
    let mut two = two();
    let message = "Another baseline was asked for: sql instead of dir";
    for analysis in &mut two {
        let warning = Warning {
            kind: WarningKind::ChosenBaseline,
            message: message.to_owned(),
            advice: String::new(),
        };
        analysis.warnings.push(warning.into());
    }
    let said = said(&two);
    assert_eq!(said.matches(&format!("{message}.\n")).count(), 1, "{said}");
}

#[test]
fn where_nothing_beats_all_the_page_says_what_the_report_of_each_recommends() {
    let mut results = fleet();
    for (analysis, choice) in results.iter_mut().zip(["sql", "blob", "sql"]) {
        let reads = &mut analysis.comparisons[0];
        reads.fastest = None;
        reads.recommendation.kind = Kind::Prefer;
        reads.recommendation.choice = Some(CellId(format!("reads/{choice}")));
    }
    results[3].comparisons[0].recommendation.kind = Kind::Equivalent;
    let said =
        "On lab-3 and attic (xfs): prefer “SQLite, prepared SELECT”; on attic (ext4): prefer";
    says(
        &on_page(&document(&results)),
        [said, "on nas: any: equivalent"],
    );
}

#[test]
fn a_cell_that_does_other_work_than_the_baseline_is_said_to() {
    let mut two = two();
    assert!(!said(&two).contains("4 threads"));
    for summary in summaries(&mut two, "reads/sql") {
        summary.cell.workload.threads = 4;
    }
    let (said, work) = (
        said(&two),
        "It does other work: 4 threads against one thread.",
    );
    assert_eq!(
        said.matches(&format!("times as fast). {work}")).count(),
        1,
        "{said}"
    );
}
