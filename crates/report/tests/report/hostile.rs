//! Results that nobody measured: a number of a real one replaced by one that cannot be.

use crate::measured_run::records;
use crate::support::{PLAIN, VERBOSE, html, markdown, terminal};
use proptest::prelude::*;
use proptest::test_runner::Config;
use std::sync::LazyLock;
use stowplan_analysis::{Analysis, analyse};
use stowplan_model::{encode, read_result};
use stowplan_report::{csv, github_action, json};

static LINES: LazyLock<Vec<String>> = LazyLock::new(|| records().iter().map(encode).collect());

/// Where the numbers of a text stand.
fn numbers(text: &str) -> Vec<(usize, usize)> {
    let digit = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | 'e' | '+');
    let starts = text.match_indices(':').map(|(at, _)| at + 1);
    starts
        .filter(|at| text[*at..].starts_with(|c: char| c.is_ascii_digit() || c == '-'))
        .map(|at| {
            (
                at,
                text[at..].find(|c| !digit(c)).unwrap_or(text.len() - at),
            )
        })
        .collect()
}

fn in_every_format(analysis: &Analysis) {
    for options in [PLAIN, VERBOSE] {
        let _ = terminal(analysis, &options);
    }
    let _ = html(analysis, "");
    let _ = markdown(analysis);
    let _ = csv::render(analysis);
    let _ = json::render(analysis).unwrap();
    let _ = github_action::render(analysis).unwrap();
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::with_cases(40) })]

    #[test]
    fn a_result_with_impossible_numbers_is_shown_or_its_line_left_out(
        changes in prop::collection::vec(
            (any::<prop::sample::Index>(), any::<prop::sample::Index>(), prop_oneof![
                Just("0".to_owned()),
                Just("1".to_owned()),
                Just(u64::MAX.to_string()),
                Just(u32::MAX.to_string()),
                Just(i64::MAX.to_string()),
                Just("1e308".to_owned()),
                Just("-1e308".to_owned()),
                Just("5e-324".to_owned()),
                any::<u64>().prop_map(|number| number.to_string()),
            ]),
            1..12
        )
    ) {
        let mut lines = LINES.clone();
        for (which, place, with) in changes {
            let line = which.index(lines.len());
            let places = numbers(&lines[line]);
            if !places.is_empty() {
                let (at, length) = *place.get(&places);
                lines[line].replace_range(at..at + length, &with);
            }
        }
        let (records, _) = read_result(lines.join("\n").as_bytes());
        if let Ok(analysis) = analyse(&records, None) {
            in_every_format(&analysis);
        }
    }
}
