//! Several results of one study.

use crate::fixture;
use crate::said::{in_text, on_page};
use crate::support::PLAIN;
use stowplan_analysis::{Analysis, Kind, MachinesError, Verdict};
use stowplan_model::CellId;
use stowplan_report::document::{Block, Content, Detail, Document, Rows};
use stowplan_report::fleet::Fleet;
use stowplan_report::render::{markdown, terminal};

/// The invented run, as another machine would have made it.
fn on(host: &str, cpu: &str, cpus: u32, file_system: &str, day: &str) -> Analysis {
    let mut analysis = fixture::analysis();
    analysis.run.started = format!("{day}T10:00:00Z");
    let machine = &mut analysis.run.environment;
    machine.host = host.to_owned();
    machine.cpu = Some(cpu.to_owned());
    machine.cpus = cpus;
    machine.file_system.kind = file_system.to_owned();
    analysis
}

/// Makes a cell slower or faster than it was, by a factor.
fn scaled(mut analysis: Analysis, cell: &str, factor: f64) -> Analysis {
    let id = CellId(cell.to_owned());
    for comparison in analysis.comparisons.iter_mut().filter(|c| c.reliable) {
        let contrasts = comparison.contrasts.iter_mut();
        for contrast in contrasts.filter(|contrast| contrast.cell == id) {
            if let Some(estimate) = &mut contrast.estimate {
                estimate.ratio *= factor;
                estimate.low *= factor;
                estimate.high *= factor;
                contrast.verdict = fixture::judge(estimate);
            }
        }
    }
    let files = CellId("reads/dir".to_owned());
    for row in fixture::ratios(&mut analysis).filter(|row| row.cell.as_ref() == Some(&files)) {
        let mut ratio = row.ratio().unwrap();
        ratio.ratio /= factor;
        ratio.low /= factor;
        ratio.high /= factor;
        *row = row.clone().with_ratio(Some(ratio), fixture::judge(&ratio));
    }
    analysis
}

/// Four results: of two machines, of which one has two file systems, and of a slow one whose second
/// comparison was too noisy.
pub(crate) fn fleet() -> Vec<Analysis> {
    let epyc = on("lab-3", "AMD EPYC 9R14", 2, "ext4", "2026-11-20");
    let core = "Intel(R) Core(TM) i5-8250U CPU @ 1.60GHz";
    let attic = scaled(on("attic", core, 8, "ext4", "2026-11-20"), "reads/sql", 1.4);
    let attic_xfs = scaled(on("attic", core, 8, "xfs", "2026-11-20"), "reads/sql", 2.1);
    let mut nas = scaled(
        on("nas", "ARMv8", 4, "btrfs", "2026-11-21"),
        "reads/sql",
        3.0,
    );
    nas.end = None;
    nas.comparisons[0].fastest = None;
    let noisy = &mut nas.comparisons[1];
    noisy.reliable = false;
    for contrast in &mut noisy.contrasts {
        contrast.verdict = Verdict::Unreliable;
    }
    let groups = nas.figures[3..]
        .iter_mut()
        .flat_map(|found| &mut found.groups);
    for row in groups.flat_map(|group| &mut group.rows) {
        row.verdict = row.verdict.map(|_| Verdict::Unreliable);
    }
    vec![epyc, attic, attic_xfs, nas]
}

fn fleet_of(analyses: &[Analysis]) -> Fleet<'_> {
    Fleet::of(&analyses.iter().collect::<Vec<_>>()).unwrap()
}

pub(crate) fn document(analyses: &[Analysis]) -> Document {
    let raw = vec!["{}"; analyses.len()];
    fleet_of(analyses).document(&raw)
}

/// What a terminal says of it where only the outcome is wanted.
fn said(analyses: &[Analysis]) -> String {
    in_text(&document(analyses), Detail::Full)
}

fn two() -> Vec<Analysis> {
    fleet().into_iter().take(2).collect()
}

#[test]
fn first_it_is_said_on_how_many_machines_each_finding_holds() {
    insta::assert_snapshot!(in_text(&document(&fleet()), Detail::Full));
}

#[test]
fn a_terminal_has_the_findings_and_one_chart() {
    let results = fleet();
    let results: Vec<&Analysis> = results.iter().collect();
    let fleet = Fleet::of(&results).unwrap();
    insta::assert_snapshot!(terminal::on_one_screen(|rows| fleet.screen(rows), &PLAIN));
}

#[test]
fn markdown_has_findings_machines_and_a_row_for_each_of_their_ratios() {
    insta::assert_snapshot!(markdown::render(&document(&fleet())));
}

#[test]
fn factors_have_the_direction_of_the_verdict() {
    let text = said(&fleet());
    assert!(
        text.contains(
            "SQLite, prepared SELECT | faster on lab-3 and attic (ext4) (1.50 to 2.10 times as \
             fast); slower on nas (1.43 times as long); equivalent on attic (xfs)."
        ),
        "{text}"
    );
}

#[test]
fn a_bar_is_drawn_for_each_machine_and_cell_and_for_each_published_figure() {
    fn all(blocks: &[Block]) -> Vec<&Rows> {
        let rows = blocks.iter().flat_map(|block| match &block.content {
            Content::Section(section) => all(&section.blocks),
            Content::Rows(rows) => vec![rows],
            _ => Vec::new(),
        });
        rows.collect()
    }
    let fleet = fleet();
    let document = document(&fleet);
    let charts = document.blocks.iter().filter(|block| match &block.content {
        Content::Section(section) => section.id == "charts",
        _ => false,
    });
    let charts: Vec<Block> = charts.cloned().collect();
    let drawn = all(&charts);
    let drawn = drawn.iter().flat_map(|rows| &rows.groups);
    let drawn: usize = drawn.map(|group| group.rows.len()).sum();
    let mut bars = 0;
    for figure in &fleet[0].figures {
        let published = figure.rows().filter(|row| row.cell.is_none());
        let others = figure.rows().filter(|row| row.verdict.is_some());
        bars += published.count() + others.count() * fleet.len();
    }
    assert_eq!(drawn, bars);
}

#[test]
fn the_page_carries_the_result_of_each_machine() {
    let document = document(&fleet());
    let Some(Content::Section(raw)) = document.blocks.last().map(|block| &block.content) else {
        panic!("the raw results come last");
    };
    let files = raw.blocks.iter().find_map(|block| match &block.content {
        Content::Files(files) => Some(files),
        _ => None,
    });
    let of: Vec<&str> = files.unwrap().iter().map(|file| file.of.as_str()).collect();
    assert_eq!(of, ["lab-3", "attic (ext4)", "attic (xfs)", "nas"]);
}

#[test]
fn csv_has_the_rows_of_every_machine_and_says_which() {
    let fleet = fleet();
    let text = fleet_of(&fleet).csv();
    let single = stowplan_report::csv::render(&fleet[0]);
    assert!(text.starts_with(stowplan_report::csv::START));
    let rows = single.lines().count() - 1;
    assert_eq!(text.lines().count(), 1 + 4 * rows);
    assert!(text.lines().next().unwrap().ends_with(",machine"));
    assert!(text.lines().last().unwrap().ends_with(",nas"));
}

#[test]
fn json_is_one_document_with_what_was_set_side_by_side() {
    let fleet = fleet();
    let text = fleet_of(&fleet).json().unwrap();
    assert!(text.starts_with(stowplan_report::json::START));
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["document"], "machines");
    assert_eq!(document["distinct"], 3);
    assert_eq!(document["machines"][2]["label"], "attic (xfs)");
    let rows = &document["comparisons"][0]["groups"][1]["rows"];
    assert_eq!(rows.as_array().unwrap().len(), 4);
}

#[test]
fn different_zones_are_named() {
    let mut fleet = fleet();
    fleet[1].run.equivalence = 0.1;
    let text = said(&fleet);
    assert!(text.contains("different equivalence zones"), "{text}");
}

#[test]
fn two_scales_are_not_one_study() {
    let mut fleet = fleet();
    fleet[3].run.plan.scale = "quick".to_owned();
    let all: Vec<&Analysis> = fleet.iter().collect();
    let refused = Fleet::of(&all).map(|_| ()).unwrap_err();
    assert!(matches!(refused, MachinesError::SeveralStudies(studies) if studies.len() == 2));
}

#[test]
fn what_was_left_out_on_a_machine_counts_nowhere() {
    let least = "SQLite database takes the least";
    assert!(said(&two()).contains(least));
    let mut other = two();
    for dataset in other[1].run.plan.datasets.values_mut() {
        dataset.seed += 1;
    }
    let text = said(&other);
    assert!(text.contains(&format!("On lab-3: {least}")), "{text}");
    assert!(
        text.contains("on attic: left out, because not the same was measured there"),
        "{text}"
    );
    let noise = |analyses: &[Analysis]| {
        let text = in_text(&document(analyses), Detail::Summary);
        let lines = text
            .lines()
            .filter(|line| line.contains("the same thing twice"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let control = |analysis: &mut Analysis| {
        for comparison in &mut analysis.comparisons {
            if let Some(control) = &mut comparison.control {
                control.estimate.ratio = 1.5;
                control.estimate.high = 1.6;
            }
        }
    };
    let quiet = noise(&other);
    control(&mut other[1]);
    assert_eq!(noise(&other), quiet, "of what was left out");
    control(&mut other[0]);
    assert_ne!(noise(&other), quiet);
}

#[test]
fn beating_all_is_not_counted_where_a_rival_was_left_out() {
    let mut two = two();
    let winner = two[1].comparisons[0].fastest.clone().unwrap();
    let cells = two[1].comparisons[0].cells.iter_mut();
    for summary in cells.filter(|summary| summary.cell.id == winner) {
        summary.cell.workload.threads = 7;
    }
    let text = said(&two);
    let only = "on attic: not the same stores";
    assert!(text.contains(only), "{text}");
    assert!(
        text.contains("Left out on attic, where the workload is not that of the first result"),
        "{text}"
    );
}

#[test]
fn a_baseline_chosen_after_the_run_is_said_once_whatever_its_words() {
    let mut two = two();
    let mut chosen = |message: &str| {
        for analysis in &mut two {
            let warning = stowplan_model::Warning {
                kind: stowplan_model::WarningKind::ChosenBaseline,
                message: message.to_owned(),
                advice: String::new(),
            };
            analysis.warnings.push(warning.into());
        }
    };
    chosen("Another baseline was asked for: sql instead of dir");
    let once = "Another baseline was asked for: sql instead of dir.\n";
    assert_eq!(said(&two).matches(once).count(), 1, "{}", said(&two));
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
    let nothing = &mut results[3].comparisons[0].recommendation;
    nothing.kind = Kind::Equivalent;
    let text = on_page(&document(&results));
    let said =
        "On lab-3 and attic (xfs): prefer “SQLite, prepared SELECT”; on attic (ext4): prefer";
    assert!(text.contains(said), "{text}");
    assert!(text.contains("on nas: any: equivalent"), "{text}");
}

#[test]
fn a_cell_that_does_other_work_than_the_baseline_is_said_to() {
    let mut two = two();
    assert!(!said(&two).contains("4 threads"), "{}", said(&two));
    for analysis in &mut two {
        let sql = CellId("reads/sql".to_owned());
        let cells = analysis.comparisons.iter_mut().flat_map(|c| &mut c.cells);
        for summary in cells.filter(|summary| summary.cell.id == sql) {
            summary.cell.workload.threads = 4;
        }
    }
    let words = "times as fast). It does other work: 4 threads against one thread.";
    assert_eq!(said(&two).matches(words).count(), 1, "{}", said(&two));
}
