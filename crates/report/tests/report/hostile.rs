//! Results that nobody measured: a number of a real one replaced by one that cannot be.

use crate::measured_run::records;
use crate::support::{PLAIN, forms, screen};
use proptest::prelude::*;
use proptest::test_runner::Config;
use std::ops::Range;
use std::sync::LazyLock;
use stowplan_analysis::analyse;
use stowplan_model::{encode, read_result};
use stowplan_report::{csv, github_action, json};

static LINES: LazyLock<Vec<String>> = LazyLock::new(|| records().iter().map(encode).collect());

/// Where the numbers of a text stand.
fn numbers(text: &str) -> Vec<Range<usize>> {
    let is_digit = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | 'e' | '+');
    let starts = text.match_indices(':').map(|(at, _)| at + 1);
    let numbers = starts.map(|at| at..text[at..].find(|c| !is_digit(c)).map_or(at, |end| at + end));
    numbers.filter(|number| !number.is_empty()).collect()
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::with_cases(40) })]

    #[test]
    fn a_result_with_impossible_numbers_is_shown_or_its_line_left_out(
        changes in prop::collection::vec(
            (any::<prop::sample::Index>(), any::<prop::sample::Index>(), prop_oneof![
                5 => prop::sample::select(vec![0, 1, u32::MAX.into(), i64::MAX as u64, u64::MAX])
                    .prop_map(|number| number.to_string()),
                3 => prop::sample::select(vec!["1e308", "-1e308", "5e-324"])
                    .prop_map(str::to_owned),
                1 => any::<u64>().prop_map(|number| number.to_string()),
            ]),
            1..12
        )
    ) {
        let mut lines = LINES.clone();
        for (which, place, with) in changes {
            let line = which.index(lines.len());
            let places = numbers(&lines[line]);
            if !places.is_empty() {
                lines[line].replace_range(place.get(&places).clone(), &with);
            }
        }
        let (records, _) = read_result(lines.join("\n").as_bytes());
        if let Ok(analysis) = analyse(&records, None) {
            let _ = (forms(&analysis), screen(&analysis, &PLAIN), csv::render(&analysis));
            json::render(&analysis).unwrap();
            github_action::render(&analysis).unwrap();
        }
    }
}
