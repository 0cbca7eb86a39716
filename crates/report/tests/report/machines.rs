//! Several results of one study.

use crate::fixture;
use stowplan_analysis::{Analysis, MachinesError, Verdict};
use stowplan_model::CellId;
use stowplan_report::MARK;
use stowplan_report::machines::Report;
use stowplan_report::terminal::TerminalOptions;

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
    for chart in &mut analysis.charts {
        for bar in chart
            .bars
            .iter_mut()
            .filter(|bar| bar.cell.0 == "reads/dir")
        {
            if let Some(estimate) = &mut bar.estimate {
                estimate.ratio /= factor;
                estimate.low /= factor;
                estimate.high /= factor;
                bar.verdict = fixture::judge(estimate);
            }
        }
    }
    analysis
}

/// Four results: of two machines, of which one has two file systems, and of a slow one whose second
/// comparison was too noisy.
fn fleet() -> Vec<Analysis> {
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
    for chart in &mut nas.charts[3..] {
        for bar in &mut chart.bars {
            bar.verdict = Verdict::Unreliable;
        }
    }
    vec![epyc, attic, attic_xfs, nas]
}

fn report(analyses: &[Analysis]) -> Report<'_> {
    Report::of(&analyses.iter().collect::<Vec<_>>()).unwrap()
}

fn options(verbose: bool) -> TerminalOptions {
    TerminalOptions {
        width: 80,
        colour: false,
        unicode: true,
        verbose,
    }
}

#[test]
fn the_terminal_says_first_on_how_many_machines_each_finding_holds() {
    let fleet = fleet();
    let text = report(&fleet).terminal(&options(false));
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    insta::assert_snapshot!(text);
}

#[test]
fn in_brief_only_the_findings_are_said() {
    let fleet = fleet();
    insta::assert_snapshot!(report(&fleet).brief(&options(false)));
}

#[test]
fn every_cell_of_every_chart_is_drawn_when_verbose() {
    let fleet = fleet();
    let unwrapped = |verbose: bool| {
        let text = report(&fleet).terminal(&options(verbose));
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let title = "separate files in a tree / SQLite, prepared SELECT";
    assert!(unwrapped(true).contains(title));
    assert!(!unwrapped(false).contains(title));
    assert!(unwrapped(false).contains("drawn with --verbose"));
}

#[test]
fn markdown_has_findings_machines_and_a_column_per_machine() {
    let fleet = fleet();
    let text = report(&fleet).markdown();
    assert!(text.starts_with(MARK));
    insta::assert_snapshot!(text);
}

#[test]
fn csv_has_the_rows_of_every_machine_and_says_which() {
    let fleet = fleet();
    let text = report(&fleet).csv();
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
    let text = report(&fleet).json().unwrap();
    assert!(text.starts_with(stowplan_report::json::START));
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["document"], "machines");
    assert_eq!(document["distinct"], 3);
    assert_eq!(document["machines"][2]["label"], "attic (xfs)");
    assert_eq!(
        document["comparisons"][0]["cells"][1]["on"]
            .as_array()
            .unwrap()
            .len(),
        4
    );
}

#[test]
fn the_page_holds_every_number_and_needs_nothing_else() {
    let fleet = fleet();
    let page = report(&fleet).html(&["{}\n", "{}\n", "{}\n", "{}\n"]);
    assert!(page.find(MARK).unwrap() < 200);
    let hosts = ["lab-3", "attic (ext4)", "attic (xfs)", "nas"];
    for host in hosts {
        assert!(
            page.contains(&format!("<li>{host}: <a download=")),
            "{host}"
        );
    }
    // One bar per machine and cell, and one per published figure.
    let charts = report(&fleet).json().unwrap();
    let charts: serde_json::Value = serde_json::from_str(&charts).unwrap();
    let mut bars = 0;
    for chart in charts["charts"].as_array().unwrap() {
        bars += chart["published"].as_array().unwrap().len();
        bars += chart["groups"].as_array().unwrap().len() * hosts.len();
    }
    assert_eq!(page.matches("<rect class=").count(), bars);
    assert!(
        !page.contains("{{") && !page.contains("NaN"),
        "all is filled in"
    );
    let linked = page.matches("http").count();
    let allowed = page.matches("https://sqlite.org/fasterthanfs.html").count()
        + page.matches("http-equiv").count()
        + page.matches("http://www.w3.org/").count();
    assert_eq!(linked, allowed, "nothing is loaded from anywhere");
    assert!(!page.contains(fixture::HOSTILE_LABEL));
}

#[test]
fn every_link_within_the_page_leads_somewhere() {
    let fleet = fleet();
    let page = report(&fleet).html(&["", "", "", ""]);
    for link in page.split("href=\"#").skip(1) {
        let target = link.split('"').next().unwrap();
        assert!(page.contains(&format!("id=\"{target}\"")), "{target}");
    }
}

#[test]
fn results_too_large_to_send_are_not_embedded() {
    let fleet = fleet();
    let mut state = 1_u64;
    let noise: String = (0..24 << 20)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            char::from(b'a' + ((state >> 33) % 26) as u8)
        })
        .collect();
    let page = report(&fleet).html(&[&noise, "", "", ""]);
    assert!(page.contains("The results are not embedded"));
    assert!(page.len() < 2 << 20);
}

#[test]
fn different_zones_are_named() {
    let mut fleet = fleet();
    fleet[1].run.equivalence = 0.1;
    let text = report(&fleet).brief(&options(false));
    assert!(text.contains("different equivalence zones"), "{text}");
}

#[test]
fn two_scales_are_not_one_study() {
    let mut fleet = fleet();
    fleet[3].run.plan.scale = "quick".to_owned();
    let all: Vec<&Analysis> = fleet.iter().collect();
    let refused = Report::of(&all).map(|_| ()).unwrap_err();
    assert!(matches!(refused, MachinesError::SeveralStudies(studies) if studies.len() == 2));
}

/// The text of the report in brief, without line breaks.
fn said(analyses: &[Analysis]) -> String {
    let text = report(analyses).brief(&options(false));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn what_was_left_out_on_a_machine_counts_nowhere() {
    let two = || fleet().into_iter().take(2).collect::<Vec<_>>();
    assert!(said(&two()).contains("Disk space, allocated • On both machines:"));
    let mut other = two();
    let datasets = &mut other[1].run.plan.datasets;
    for dataset in datasets.values_mut() {
        dataset.seed += 1;
    }
    let text = said(&other);
    assert!(!text.contains("On both machines"), "{text}");
    assert!(
        text.contains("attic: left out, because not the same was measured there"),
        "{text}"
    );
    let noise = |analyses: &[Analysis]| {
        let text = report(analyses).terminal(&options(false));
        let lines = text.lines().filter(|line| line.contains("identical cells"));
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
    let mut two: Vec<Analysis> = fleet().into_iter().take(2).collect();
    assert!(said(&two).contains("on both machines."), "{}", said(&two));
    let winner = two[1].comparisons[0].fastest.clone().unwrap();
    let cells = two[1].comparisons[0].cells.iter_mut();
    for summary in cells.filter(|summary| summary.cell.id == winner) {
        summary.cell.workload.threads = 7;
    }
    let text = said(&two);
    let headline = text.split("Beats each of the others: ").nth(1).unwrap();
    assert!(
        headline
            .split(" •")
            .next()
            .unwrap()
            .ends_with("only on lab-3; not the same rivals on attic."),
        "{text}"
    );
    assert!(
        text.contains("Left out on attic, where the workload is not that of the first result"),
        "{text}"
    );
}

#[test]
fn bars_to_another_reference_are_left_out_and_named() {
    let mut two: Vec<Analysis> = fleet().into_iter().take(2).collect();
    two[1].run.plan.study.charts[0].reference = "another".to_owned();
    let markdown = report(&two).markdown();
    let note = "Left out on attic, where the ratios of this chart are not to";
    assert_eq!(markdown.matches(note).count(), 1, "{markdown}");
    let page = report(&two).html(&["", ""]);
    assert_eq!(page.matches(note).count(), 1);
}

#[test]
fn a_baseline_chosen_after_the_run_is_said() {
    let mut two: Vec<Analysis> = fleet().into_iter().take(2).collect();
    for analysis in &mut two {
        analysis.warnings.push(stowplan_model::Warning {
            kind: stowplan_model::WarningKind::Other,
            message: "The baseline was chosen after the run: sql instead of dir".to_owned(),
            advice: String::new(),
        });
    }
    let once = "The baseline was chosen after the run: sql instead of dir. ";
    assert_eq!(said(&two).matches(once).count(), 1);
}
