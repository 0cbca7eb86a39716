//! What the terminal shows, and that it never exceeds its width.

use crate::support::{PLAIN, VERBOSE, brief, html, markdown, screen, terminal, words};
use crate::{by_size, fixture};
use proptest::prelude::*;
use stowplan_analysis::{Answer, Kind};
use stowplan_model::CellId;
use stowplan_report::render::terminal::TerminalOptions;

#[test]
fn shows_verdicts_charts_and_tables_in_80_columns() {
    insta::assert_snapshot!(screen(&fixture::analysis(), &PLAIN));
}

#[test]
fn in_brief_only_headlines_and_advice() {
    insta::assert_snapshot!(brief(&fixture::analysis(), &PLAIN));
}

#[test]
fn shows_the_same_in_40_columns() {
    let options = TerminalOptions { width: 40, ..PLAIN };
    insta::assert_snapshot!(screen(&fixture::analysis(), &options));
}

/// So many comparisons more.
fn with_more(count: usize) -> stowplan_analysis::Analysis {
    let mut analysis = fixture::analysis();
    let first = analysis.comparisons[0].clone();
    for number in 0..count {
        let mut comparison = first.clone();
        comparison.id = format!("more-{number}");
        comparison.title = format!("One more, with number {number}");
        analysis.comparisons.push(comparison);
    }
    analysis.decide();
    analysis
}

#[test]
fn however_much_was_compared_it_is_one_screen() {
    for count in [0, 3, 9, 40] {
        let analysis = with_more(count);
        let text = screen(&analysis, &PLAIN);
        assert!(text.lines().count() <= 38, "{count}: {text}");
        assert!(text.contains("4.11× [4.03, 4.21]"), "{text}");
        let all = terminal(&analysis, &VERBOSE);
        for number in 0..count {
            assert!(all.contains(&format!("One more, with number {number}\n")));
        }
    }
    insta::assert_snapshot!(screen(&with_more(40), &PLAIN));
}

#[test]
fn runs_by_size_are_one_screen() {
    for analysis in [by_size::with_matrix(), by_size::with_page_sizes()] {
        let text = screen(&analysis, &PLAIN);
        assert!(text.lines().count() <= 38, "{text}");
    }
}

#[test]
fn adds_ratios_settings_and_environment_when_verbose() {
    let text = terminal(&fixture::analysis(), &VERBOSE);
    assert!(text.contains("effective settings"), "{text}");
    assert!(text.contains("file system: ext4\n"), "{text}");
    assert!(text.contains("mounted at: /data\n"), "{text}");
}

#[test]
fn in_brief_one_line_says_that_there_are_warnings() {
    let mut analysis = fixture::analysis();
    let text = brief(&analysis, &PLAIN);
    assert!(
        words(&text).contains("1 failed cell and 2 warnings: failing/redb failed: redb: the"),
        "{text}"
    );
    analysis.failures.clear();
    analysis.warnings.truncate(1);
    let text = brief(&analysis, &PLAIN);
    assert!(text.contains("\n1 warning: the load average"), "{text}");
    analysis.warnings.clear();
    assert!(!brief(&analysis, &PLAIN).contains("--quiet"));
}

#[test]
fn a_warning_of_sessions_names_them() {
    let told = |sessions: &[usize], total| {
        let mut analysis = fixture::analysis();
        analysis.failures.clear();
        analysis.sessions = total;
        analysis.warnings[0].sessions = sessions.to_vec();
        analysis.warnings[0].message.push_str(". That is a lot.");
        let line = words(&brief(&analysis, &PLAIN));
        let (_, rest) = line
            .split_once("the load average is 2.31 on 2 CPUs")
            .unwrap();
        let (said, _) = rest.split_once(';').unwrap();
        for form in [terminal(&analysis, &VERBOSE), markdown(&analysis)] {
            let whole = format!("That is a lot{said}.");
            assert!(words(&form).contains(&whole), "{whole}: {form}");
        }
        said.to_owned()
    };
    assert_eq!(told(&[], 1), "");
    assert_eq!(told(&[], 3), "");
    assert_eq!(told(&[2], 2), " (in session 2)");
    assert_eq!(
        told(&[1, 2], 2),
        " (in all 2 sessions, the figure of the last)"
    );
    assert_eq!(
        told(&[1, 2, 3], 3),
        " (in all 3 sessions, the figure of the last)"
    );
    assert_eq!(
        told(&[1, 3], 3),
        " (in sessions 1 and 3, the figure of the last)"
    );
}

#[test]
fn a_failed_cell_is_told_in_a_sentence_before_the_warnings() {
    for text in [
        terminal(&fixture::analysis(), &PLAIN),
        markdown(&fixture::analysis()),
    ] {
        let place = |of: &str| {
            text.find(of)
                .unwrap_or_else(|| panic!("no '{of}' in {text}"))
        };
        assert!(place("failing/redb failed:") < place("the load average is"));
    }
}

#[test]
fn a_comparison_in_which_nothing_was_measured_is_named_and_has_no_numbers() {
    let mut analysis = fixture::analysis();
    let empty = &mut analysis.comparisons[3];
    empty.control = None;
    for cell in &mut empty.cells {
        cell.rounds = 0;
    }
    for contrast in &mut empty.contrasts {
        contrast.estimate = None;
    }
    let all = terminal(&analysis, &VERBOSE);
    let (_, rest) = all.rsplit_once("A store that fails\n").unwrap();
    let (table, _) = rest.split_once("Settings of each cell").unwrap();
    assert!(table.contains("files again  "), "{table}");
    assert!(!table.contains("1.00"), "{table}");
}

#[test]
fn a_label_at_the_start_of_an_answer_stays_as_it_is_written() {
    let mut analysis = fixture::analysis();
    let reads = &mut analysis.comparisons[0];
    let found = &mut reads.recommendation;
    (found.kind, found.choice) = (Kind::Depends, Some(CellId("reads/sql".to_owned())));
    let chosen = reads.cells.iter_mut().find(|c| c.cell.id.0 == "reads/sql");
    chosen.unwrap().cell.label = "lsm".to_owned();
    let store = &mut analysis.space[0].label;
    let former = std::mem::replace(store, "btree".to_owned());
    for answer in &mut analysis.answers {
        if let Answer::Space { choice, .. } = answer
            && *choice == former
        {
            "btree".clone_into(choice);
        }
    }
    let text = screen(&analysis, &PLAIN);
    assert!(text.contains("btree"), "{text}");
    assert!(words(&text).contains("lsm answers sooner"), "{text}");
}

#[test]
fn an_interrupted_run_says_so_first() {
    let mut analysis = fixture::analysis();
    analysis.end = None;
    for text in [screen(&analysis, &PLAIN), terminal(&analysis, &PLAIN)] {
        let first = text
            .lines()
            .take(4)
            .any(|line| line.starts_with("The run was cut off"));
        assert!(first, "{text}");
    }
}

#[test]
fn a_run_without_any_measurement_is_still_a_report() {
    let mut analysis = fixture::analysis();
    analysis.comparisons.clear();
    analysis.figures.clear();
    analysis.space.clear();
    assert!(terminal(&analysis, &PLAIN).contains("Warnings"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn strange_numbers_do_not_break_a_report(ratio in proptest::num::f64::ANY, ns in proptest::num::f64::ANY) {
        let mut analysis = fixture::analysis();
        for row in fixture::ratios(&mut analysis) {
            let quantity = row.quantity.as_mut().unwrap();
            quantity.value = ratio;
            quantity.ends = quantity.ends.map(|(low, _)| (low, ns));
        }
        for comparison in &mut analysis.comparisons {
            comparison.cells[0].time_ns = None;
            comparison.cells[0].wall_ns = ns;
            comparison.contrasts[0].estimate.as_mut().unwrap().ratio = ratio;
        }
        analysis.by_size = by_size::with_matrix().by_size;
        analysis.by_size.extend(by_size::with_page_sizes().by_size);
        for found in &mut analysis.by_size {
            let estimate = found.rows[0].points[0].found.estimate.as_mut().unwrap();
            (estimate.ratio, estimate.low, estimate.high) = (ratio, ns, ns);
        }
        let _ = terminal(&analysis, &PLAIN);
        let _ = html(&analysis, "");
        let _ = markdown(&analysis);
        let _ = stowplan_report::csv::render(&analysis);
    }
}
