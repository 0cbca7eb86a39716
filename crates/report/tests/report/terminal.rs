//! What the terminal shows, and that it never exceeds its width.

use crate::holds::says;
use crate::support::{PLAIN, VERBOSE, between, brief, changed, forms, markdown, screen, terminal};
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

#[test]
fn however_much_was_compared_it_is_one_screen() {
    let with_more = |count| {
        changed(|run| {
            for number in 0..count {
                let mut comparison = run.comparisons[0].clone();
                comparison.id = format!("more-{number}");
                comparison.title = format!("One more, with number {number}");
                run.comparisons.push(comparison);
            }
        })
    };
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
    for analysis in [by_size::with_matrix(), by_size::with_page_sizes()] {
        let text = screen(&analysis, &PLAIN);
        assert!(text.lines().count() <= 38, "{text}");
    }
    insta::assert_snapshot!(screen(&with_more(40), &PLAIN));
}

#[test]
fn in_brief_one_line_says_that_there_are_warnings() {
    let mut analysis = fixture::analysis();
    let both = "1 failed cell and 2 warnings: failing/redb failed: redb: the";
    says(&brief(&analysis, &PLAIN), [both]);
    analysis.failures.clear();
    analysis.warnings.truncate(1);
    let text = brief(&analysis, &PLAIN);
    assert!(text.contains("\n1 warning: the load average"), "{text}");
    analysis.warnings.clear();
    assert!(!brief(&analysis, &PLAIN).contains("--quiet"));
}

#[test]
fn a_warning_of_sessions_names_them() {
    let last = "the figure of the last)";
    for (sessions, total, said) in [
        (&[][..], 1, String::new()),
        (&[], 3, String::new()),
        (&[2], 2, " (in session 2)".to_owned()),
        (&[1, 2], 2, format!(" (in all 2 sessions, {last}")),
        (&[1, 2, 3], 3, format!(" (in all 3 sessions, {last}")),
        (&[1, 3], 3, format!(" (in sessions 1 and 3, {last}")),
    ] {
        let analysis = changed(|run| {
            run.failures.clear();
            run.sessions = total;
            run.warnings[0].sessions = sessions.to_vec();
            run.warnings[0].message.push_str(". That is a lot.");
        });
        let line = format!("the load average is 2.31 on 2 CPUs{said};");
        says(&brief(&analysis, &PLAIN), [&*line]);
        let whole = format!("That is a lot{said}.");
        for form in [terminal(&analysis, &VERBOSE), markdown(&analysis)] {
            says(&form, [&*whole]);
        }
    }
}

#[test]
fn a_comparison_in_which_nothing_was_measured_is_named_and_has_no_numbers() {
    let analysis = changed(|run| {
        let empty = &mut run.comparisons[3];
        empty.control = None;
        empty.cells.iter_mut().for_each(|cell| cell.rounds = 0);
        let contrasts = empty.contrasts.iter_mut();
        contrasts.for_each(|contrast| contrast.estimate = None);
    });
    let all = terminal(&analysis, &VERBOSE);
    let (_, rest) = all.rsplit_once("A store that fails\n").unwrap();
    let table = between(rest, "", "Settings of each cell");
    assert!(table.contains("files again  "), "{table}");
    assert!(!table.contains("1.00"), "{table}");
}

#[test]
fn a_label_at_the_start_of_an_answer_stays_as_it_is_written() {
    let mut analysis = fixture::analysis();
    let reads = &mut analysis.comparisons[0];
    let found = &mut reads.recommendation;
    (found.kind, found.choice) = (Kind::Depends, Some(CellId("reads/sql".to_owned())));
    "lsm".clone_into(&mut reads.cells[3].cell.label);
    "btree".clone_into(&mut analysis.space[0].label);
    for answer in &mut analysis.answers {
        if let Answer::Space { choice, .. } = answer {
            "btree".clone_into(choice);
        }
    }
    says(&screen(&analysis, &PLAIN), ["btree", "lsm answers sooner"]);
}

#[test]
fn an_interrupted_run_says_so_first() {
    let analysis = changed(|run| run.end = None);
    for text in [screen(&analysis, &PLAIN), terminal(&analysis, &PLAIN)] {
        let mut first = text.lines().take(4);
        let is_said = first.any(|line| line.starts_with("The run was cut off"));
        assert!(is_said, "{text}");
    }
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
        let _ = forms(&analysis);
        let _ = stowplan_report::csv::render(&analysis);
    }
}
