//! How a sweep is shown, and what is said of it.

use crate::by_size::{at_size, planned_sweep, sweep, sweep_points, with_page_sizes, with_sweeps};
use crate::said::in_text;
use crate::support::{PLAIN, WIDE, brief, html, markdown, screen, terminal, words};
use proptest::prelude::*;
use stowplan_analysis::{Analysis, BySize, SizeRow};
use stowplan_model::{Operation, WorkloadSpec};
use stowplan_report::document::Detail;
use stowplan_report::run;

#[test]
fn shows_points_on_an_axis_in_80_columns() {
    insta::assert_snapshot!(screen(&with_page_sizes(), &PLAIN));
}

#[test]
fn in_brief_only_what_was_found() {
    insta::assert_snapshot!(brief(&with_page_sizes(), &PLAIN));
}

/// What is said of a sweep with these points.
fn headline(letters: &str) -> String {
    let analysis = with_sweeps(vec![planned_sweep(letters)]);
    let text = in_text(&run::document(&analysis, ""), Detail::Full);
    let (_, charts) = text.split_once("\nChart\n").unwrap();
    let item = charts.lines().find_map(|line| line.strip_prefix("• "));
    item.unwrap().trim_matches([' ', '|']).to_owned()
}

/// The answer at the top and why, each in a line.
fn answer(analysis: &Analysis) -> String {
    let text = in_text(&run::document(analysis, ""), Detail::Full);
    let item = text.lines().find_map(|line| line.strip_prefix("• "));
    let parts: Vec<&str> = item.unwrap().split(" | ").collect();
    parts[1].to_owned()
}

/// What is said of a run, without line breaks.
fn said(analysis: &Analysis) -> String {
    words(&terminal(analysis, &WIDE))
}

/// Store A and store B, as sentences name them.
const A: &str = "files in a tree";
const B: &str = "“SQLite, prepared SELECT”";

#[test]
fn every_kind_of_finding_has_a_sentence() {
    let cases = [
        (
            "AA?B",
            format!("Faster at 1 KiB to 2 KiB: {A}; at 8 KiB: {B}. Not decided at 4 KiB."),
        ),
        (
            "AB?B",
            format!(
                "Faster at 1 KiB: {A}; at 8 KiB: {B}. Of single sizes only, faster at 2 KiB: {B}. \
                 Not decided at 4 KiB."
            ),
        ),
        ("BBB", format!("Faster at 1 KiB to 4 KiB: {B}.")),
        (
            "AA=A",
            format!("Faster at 1 KiB to 2 KiB: {A}; at 8 KiB: {A}. Equivalent within 5% at 4 KiB."),
        ),
        (
            "b=",
            format!(
                "Faster, perhaps by less than 5%, at 1 KiB: {B}. Equivalent within 5% at 2 KiB."
            ),
        ),
        ("==", "Equivalent within 5% at 1 KiB to 2 KiB.".to_owned()),
        (
            "=?=",
            "Equivalent within 5% at 1 KiB; at 4 KiB. Not decided at 2 KiB.".to_owned(),
        ),
        (
            "A?A",
            format!("Faster at 1 KiB: {A}; at 4 KiB: {A}. Not decided at 2 KiB."),
        ),
        (
            "ABA",
            format!("Of single sizes only, faster at 1 KiB: {A}; at 2 KiB: {B}; at 4 KiB: {A}."),
        ),
        (
            "?!",
            "No verdict: not decided at 1 KiB to 2 KiB.".to_owned(),
        ),
        (
            ".=?.",
            "Equivalent within 5% at 2 KiB. Not decided at 1 KiB; at 4 KiB to 8 KiB.".to_owned(),
        ),
        (
            "..",
            "No verdict: not decided at 1 KiB to 2 KiB.".to_owned(),
        ),
        ("--", "No verdict: no size was measured.".to_owned()),
        ("", "No verdict: no size was measured.".to_owned()),
    ];
    for (letters, expected) in cases {
        assert_eq!(headline(letters), expected, "{letters}");
    }
}

#[test]
fn overview_answers_are_no_stronger_than_the_sentence() {
    let cases = [
        ("AB", format!("At 1 KiB: {A}; at 2 KiB: {B}")),
        ("BB", format!("At 1 KiB to 2 KiB: {B}")),
        ("A=", format!("At 1 KiB: {A}; else equivalent")),
        ("==", "Equivalent within 5%".to_owned()),
        ("=?=", "No difference above 5% shown".to_owned()),
        (
            "A?A",
            format!("At 1 KiB and 4 KiB: {A}; other sizes are open"),
        ),
        ("A?", format!("At 1 KiB: {A}; other sizes are open")),
        (
            "BB?AA",
            format!("At 1 KiB to 2 KiB: {B}; at 8 KiB to 16 KiB: {A}; other sizes are open"),
        ),
        ("ABA", "No order by size".to_owned()),
        ("??", "No verdict".to_owned()),
    ];
    for (letters, expected) in cases {
        let analysis = with_sweeps(vec![sweep("s", sweep_points(letters))]);
        assert_eq!(answer(&analysis), expected, "{letters}");
    }
}

#[test]
fn every_point_is_drawn_with_its_interval_and_listed() {
    let analysis = with_page_sizes();
    let page = html(&analysis, "");
    let document = markdown(&analysis);
    for point in analysis.by_size.iter().flat_map(BySize::points) {
        let estimate = point.found.estimate.unwrap();
        let digits = |ratio: f64| {
            let decimals = if ratio < 1.0 { 3 } else { 2 };
            format!("{ratio:.decimals$}")
        };
        let [ratio, low, high] = [estimate.ratio, estimate.low, estimate.high].map(digits);
        let tooltip = format!("{ratio}, interval {low} to {high}, 20 rounds: ");
        assert!(page.contains(&tooltip), "{tooltip}");
        assert!(page.contains(&format!("[{low},\u{a0}{high}]")), "{low}");
        let row = format!("| {ratio} | \\[{low}, {high}\\] | 20 |");
        assert!(document.contains(&row), "{row}");
    }
    assert!(page.contains("no claim between these sizes"));
}

#[test]
fn stores_that_promise_unlike_things_are_not_compared_in_silence() {
    let mut outcome = sweep("s", sweep_points("AAB"));
    outcome.workload.operation = Operation::Overwrite;
    outcome.same_durability = false;
    let analysis = with_sweeps(vec![outcome]);
    let note = format!(
        "Different durability: {A}: none; {B}: durable, atomic. The ratios compare stores that do \
         not keep written data alike."
    );
    for text in [
        terminal(&analysis, &WIDE),
        html(&analysis, ""),
        markdown(&analysis),
    ] {
        assert!(words(&text).contains(&note), "{text}");
    }
}

#[test]
fn no_winner_is_announced_where_promises_differ() {
    for letters in ["AA", "A=", "AB", "=="] {
        let mut outcome = planned_sweep(letters);
        outcome.workload.operation = Operation::Overwrite;
        outcome.same_durability = false;
        let text = markdown(&with_sweeps(vec![outcome]));
        let mut rows = text
            .lines()
            .filter(|line| line.starts_with("- **files in a tree or"));
        let row = rows.next().unwrap();
        assert!(row.contains(": **No choice by time alone"), "{row}");
        assert!(!row.contains("choose by"), "{row}");
    }
}

#[test]
fn mixes_and_old_stores_are_said_to_be_that() {
    let mut outcome = sweep("s", sweep_points("AB"));
    outcome.workload = WorkloadSpec {
        operation: Some(Operation::Mix),
        mix: Some(stowplan_model::Mix {
            read: 90,
            overwrite: 10,
            ..stowplan_model::Mix::default()
        }),
        age: Some(4),
        ..WorkloadSpec::default()
    }
    .complete();
    let text = said(&with_sweeps(vec![outcome]));
    let asked = "Which is faster to do a mix of operations on values (90 reads to 10 \
                 overwrites) in random order, storage age: 4: ";
    assert!(text.contains(asked), "{text}");
}

#[test]
fn an_unreliable_session_is_said_to_be_one() {
    let analysis = with_sweeps(vec![sweep("s", sweep_points("A!!B!"))]);
    let text = said(&analysis);
    let note = "Session unreliable at 2 KiB to 4 KiB and 16 KiB: nothing is claimed there.";
    assert!(text.contains(note), "{text}");
}

#[test]
fn sizes_that_were_only_planned_are_said_to_be_that() {
    let shown = |letters: &str| terminal(&with_sweeps(vec![planned_sweep(letters)]), &WIDE);
    let row = |letters: &str| answer(&with_sweeps(vec![planned_sweep(letters)]));
    // One size of eleven is no "throughout", and nothing is said of the rest.
    let only = format!("At 1 KiB: {A}; other sizes are open");
    assert_eq!(row("A----------"), only);
    assert!(shown("A----------").contains("\nPlanned and not measured: 2 KiB to 1 MiB.\n"));
}

#[test]
fn stores_with_long_labels_are_called_a_and_b_and_introduced_in_the_title() {
    let long = "spin:base=2000,per_kib=100";
    let mut outcome = planned_sweep("BA");
    outcome.a = long.to_owned();
    let analysis = with_sweeps(vec![outcome]);
    let text = terminal(&analysis, &WIDE);
    let title = format!("\n“{long}” (A) or {B} (B), by size of the values\n");
    assert!(text.contains(&title), "{text}");
    let text = words(&text);
    assert!(text.contains("the time of B over that of A: above 1, A faster."));
    assert!(text.contains("Faster at 1 KiB: B; at 2 KiB: A."), "{text}");
    // In the overview, above the sweep, and where it asks which is faster.
    assert_eq!(text.matches(long).count(), 3, "{text}");
    assert!(!terminal(&with_page_sizes(), &WIDE).contains("(A)"));
}

#[test]
fn a_size_that_is_round_in_no_unit_is_written_alike_everywhere() {
    let mut outcome = planned_sweep("BA");
    let mut points = outcome.rows.remove(0).points;
    points[1].found.size = 2_880;
    outcome.rows.push(SizeRow::of("", points));
    let analysis = with_sweeps(vec![outcome]);
    let document = markdown(&analysis);
    assert!(document.contains("| 2.81 KiB | 1.25 |"), "{document}");
    for text in [terminal(&analysis, &WIDE), html(&analysis, ""), document] {
        assert!(text.contains("at 2.81 KiB:"), "{text}");
        assert!(!text.contains("2,880"), "{text}");
    }
}

#[test]
fn a_budget_is_said_to_have_done_what_it_did() {
    let ending = |letters: &str, unmeasured: usize| {
        let mut analysis = with_sweeps(vec![planned_sweep(letters)]);
        let comparisons = analysis.comparisons.iter_mut();
        for cell in comparisons
            .rev()
            .take(unmeasured)
            .flat_map(|c| &mut c.cells)
        {
            cell.rounds = 0;
        }
        analysis.end = Some(stowplan_model::RunEnd {
            outcome: stowplan_model::RunOutcome::Budget,
            seconds: 5.87,
            phases: None,
            needs: None,
        });
        terminal(&analysis, &WIDE)
            .lines()
            .find(|line| line.starts_with("The time budget"))
            .unwrap()
            .to_owned()
    };
    let took = "the run took 5.87 s. A larger --budget narrows what is unresolved.";
    let short = format!("The time budget cut some comparisons short; {took}");
    assert_eq!(ending("AB", 0), short);
    let left = format!("The time budget left 1 comparison unmeasured; {took}");
    assert_eq!(ending("AB", 1), left);
}

#[test]
fn comparisons_that_were_replaced_or_never_ran_are_parts_too_and_count_for_nothing() {
    let mut outcome = planned_sweep("AB-");
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
    let text = said(&analysis);
    assert!(
        text.contains(", and may by up to 1.7%; intervals"),
        "{text}"
    );
    assert!(text.contains("The 3 comparisons that"), "{text}");
}

/// All sizes that a text names: `2 KiB`.
fn sizes_in(text: &str) -> Vec<String> {
    let words: Vec<&str> = text
        .split([' ', ';', ':', ',', '.', '(', ')'])
        .filter(|word| !word.is_empty())
        .collect();
    let pairs = words.windows(2);
    pairs
        .filter(|pair| pair[0].parse::<u64>().is_ok())
        .map(|pair| pair.join(" "))
        .collect()
}

proptest! {
    #[test]
    fn a_sentence_names_measured_sizes_and_no_other_number(letters in "[ABab=?!.-]{0,9}") {
        let said = headline(&letters);
        let sizes_of = |left_out: &[char]| -> Vec<String> {
            let sizes = letters.chars().enumerate();
            let sizes = sizes.filter(|(_, letter)| !left_out.contains(letter));
            sizes.map(|(power, _)| format!("{} KiB", 1 << power)).collect()
        };
        // A size that was tried without a figure may be named as open.
        let tried = sizes_of(&['-']);
        for size in sizes_in(&said) {
            prop_assert!(tried.contains(&size), "{size}: {said}");
        }
        let numbers = said.split(|c: char| !c.is_ascii_digit() && c != '.');
        let numbers = numbers.filter(|number| number.parse::<f64>().is_ok());
        let sizes = sizes_in(&said).len();
        let zones = said.matches("5%").count();
        prop_assert_eq!(numbers.count(), sizes + zones, "{}", said);
    }
}
