//! How a sweep is shown, and what is said of it.

use crate::by_size::{at_size, sweep, with_page_sizes, with_sweeps};
use crate::holds::{cases, lacks, says};
use crate::said::in_text;
use crate::support::{PLAIN, WIDE, element, forms, html, markdown, markup, screen, terminal};
use proptest::prelude::*;
use stowplan_analysis::{Analysis, BySize};
use stowplan_model::{Operation, RunEnd, RunOutcome};
use stowplan_report::document::Detail;
use stowplan_report::run;

/// What can be read on a page or a part of it: each text between two tags is a line, those of
/// tooltips included.
fn seen(page: &str) -> String {
    let page = markup(page);
    let parts = page.split('<').flat_map(|part| {
        let (tag, text) = part.split_once('>').unwrap_or(("", part));
        let title = tag.split_once(" title=\"");
        let title = title.and_then(|(_, rest)| rest.split('"').next());
        title.into_iter().chain([text])
    });
    let signs = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&amp;", "&"),
    ];
    let plain = |text: &str| {
        let signs = signs.iter();
        signs.fold(text.to_owned(), |text, (name, sign)| {
            text.replace(name, sign)
        })
    };
    let lines = parts.map(plain).filter(|line| !line.trim().is_empty());
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

#[test]
fn shows_points_on_an_axis_in_80_columns() {
    insta::assert_snapshot!(screen(&with_page_sizes(), &PLAIN));
}

/// A sweep of stores whose names are short.
fn short(letters: &str) -> BySize {
    BySize {
        a: "files".to_owned(),
        b: "lmdb".to_owned(),
        ..sweep(letters)
    }
}

fn of(letters: &str) -> Analysis {
    with_sweeps(vec![short(letters)])
}

/// What is said of a sweep with these points.
fn headline(letters: &str) -> String {
    let text = in_text(&run::document(&of(letters), ""), Detail::Full);
    let (_, charts) = text.split_once("\nChart\n").unwrap();
    let item = charts.lines().find_map(|line| line.strip_prefix("• "));
    item.unwrap().trim_matches([' ', '|']).to_owned()
}

/// The answer at the top.
pub(crate) fn answer(analysis: &Analysis) -> String {
    let text = in_text(&run::document(analysis, ""), Detail::Full);
    let item = text.lines().find_map(|line| line.strip_prefix("• "));
    let answer = item.unwrap().split(" | ").nth(1);
    answer.unwrap().to_owned()
}

#[test]
fn every_kind_of_finding_has_a_sentence_and_its_answer_is_no_stronger() {
    // One size of eleven is no "throughout", and nothing is said of the rest.
    let kinds = "A AA?B AB AB?B BB BB?AA BBB AA=A A= b= == =?= A? A?A ABA ?? ?! .=?. .. -- \
                 A----------";
    let said = kinds.split(' ').chain([""]).map(|letters| {
        let (said, answer) = (headline(letters), answer(&of(letters)));
        format!("{letters:11} {said}\n{:11} {answer}\n", "")
    });
    insta::assert_snapshot!(said.collect::<String>());
}

#[test]
fn sizes_of_which_nothing_is_known_or_claimed_are_named() {
    let table = "
        A---------- | Planned and not measured: 2 KiB to 1 MiB.
        A!!B!       | Session unreliable at 2 KiB to 4 KiB and 16 KiB: nothing is claimed there.
    ";
    for (letters, notice) in cases(table) {
        let text = terminal(&of(letters), &WIDE);
        assert!(text.contains(&format!("\n{notice}\n")), "{text}");
    }
}

#[test]
fn a_size_that_is_round_in_no_unit_is_written_alike_in_every_form() {
    let mut odd = short("AAB");
    odd.rows[0].points[1].found.size = 2_880;
    for text in forms(&with_sweeps(vec![odd])) {
        says(&text, ["2.81 KiB"]);
        lacks(&text, &["2,880"]);
    }
}

#[test]
fn every_point_is_drawn_with_its_interval_and_listed() {
    let page = html(&with_page_sizes(), "");
    insta::assert_snapshot!(seen(element(&page, "sizes-read-4096")));
}

#[test]
fn of_stores_that_promise_unlike_things_it_is_said_and_no_winner_announced() {
    for letters in ["AA", "A=", "AB", "==", "AAB"] {
        let mut outcome = short(letters);
        outcome.workload.operation = Operation::Overwrite;
        outcome.same_durability = false;
        let analysis = with_sweeps(vec![outcome]);
        let note = "Different durability: files: none; lmdb: durable, atomic. The ratios compare \
                    stores that do not keep written data alike.";
        for text in [
            terminal(&analysis, &WIDE),
            html(&analysis, ""),
            markdown(&analysis),
        ] {
            says(&text, [note]);
            lacks(&text, &["choose by"]);
        }
        assert!(
            answer(&analysis).starts_with("No choice by time alone"),
            "{letters}"
        );
    }
}

#[test]
fn stores_with_long_labels_are_called_a_and_b_and_introduced_in_the_title() {
    let long = "spin:base=2000,per_kib=100";
    let outcome = BySize {
        a: long.to_owned(),
        ..short("BA")
    };
    let text = terminal(&with_sweeps(vec![outcome]), &WIDE);
    let title = format!("\n“{long}” (A) or lmdb (B), by size of the values\n");
    assert!(text.contains(&title), "{text}");
    let ratio = "the time of B over that of A: above 1, A faster.";
    says(&text, [ratio, "Faster at 1 KiB: B; at 2 KiB: A."]);
    // In the overview, above the sweep, and where it asks which is faster.
    assert_eq!(text.matches(long).count(), 3, "{text}");
    lacks(&terminal(&of("BA"), &WIDE), &["(A)"]);
}

#[test]
fn a_budget_is_said_to_have_done_what_it_did() {
    let table = "
        0 | cut some comparisons short
        1 | left 1 comparison unmeasured
    ";
    for (unmeasured, did) in cases(table) {
        let mut analysis = of("AB");
        let comparisons = analysis.comparisons.iter_mut().rev();
        for comparison in comparisons.take(unmeasured.parse().unwrap()) {
            comparison.cells.iter_mut().for_each(|cell| cell.rounds = 0);
        }
        analysis.end = Some(RunEnd {
            outcome: RunOutcome::Budget,
            seconds: 5.87,
            phases: None,
            needs: None,
        });
        let took = "the run took 5.87 s. A larger --budget narrows what is unresolved.";
        says(
            &terminal(&analysis, &WIDE),
            [&format!("The time budget {did}; {took}")],
        );
    }
}

#[test]
fn comparisons_that_were_replaced_or_never_ran_are_parts_too_and_count_for_nothing() {
    let mut outcome = short("AB-");
    let mut noisy = at_size(&outcome, &outcome.rows[0].points[1]);
    // As it was before its size was measured again.
    noisy.control.as_mut().unwrap().estimate.ratio = 1.3;
    let again = format!("{}-again", noisy.id);
    outcome.rows[0].points[1].comparison = Some(again.clone());
    outcome.comparisons.push(again.clone());
    outcome.superseded.push(noisy.id.clone());
    let mut analysis = with_sweeps(vec![outcome]);
    analysis.comparisons.push(noisy);
    assert!(analysis.comparisons.iter().any(|c| c.id == again));
    let text = terminal(&analysis, &WIDE);
    says(
        &text,
        [
            ", and may by up to 1.7%; intervals",
            "The 3 comparisons that",
        ],
    );
}

proptest! {
    #[test]
    fn a_sentence_names_measured_sizes_and_no_other_number(letters in "[ABab=?!.-]{0,9}") {
        let said = headline(&letters);
        // A size that was tried without a figure may be named as open.
        let sizes = letters.chars().enumerate().filter(|(_, letter)| *letter != '-');
        let tried: Vec<String> = sizes.map(|(power, _)| format!("{} KiB", 1 << power)).collect();
        let words: Vec<&str> = said.split([' ', ';', ':', ',', '.']).collect();
        let named = words.windows(2).filter(|pair| pair[0].parse::<u64>().is_ok());
        let named: Vec<String> = named.map(|pair| pair.join(" ")).collect();
        for size in &named {
            prop_assert!(tried.contains(size), "{}: {}", size, said);
        }
        let numbers = said.split(|c: char| !c.is_ascii_digit() && c != '.');
        let numbers = numbers.filter(|number| number.parse::<f64>().is_ok());
        prop_assert_eq!(numbers.count(), named.len() + said.matches("5%").count(), "{}", said);
    }
}
