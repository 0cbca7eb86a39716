//! Every parser of this crate on random text: what was damaged, and what is none at all.

use crate::{FromDriver, Setting, SettingKind, ToDriver, decode, hostile, parse_size};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::Config;
use std::sync::LazyLock;

/// The text of each built-in study.
static STUDIES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies");
    let entries = std::fs::read_dir(directory).unwrap().flatten();
    let paths = entries.map(|entry| entry.path());
    let mut paths: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    paths.sort();
    let texts = paths.iter().map(std::fs::read_to_string);
    texts.map(Result::unwrap).collect()
});

/// Failures are printed with what led to them, and leave no file behind.
fn cases(cases: u32) -> Config {
    Config {
        failure_persistence: None,
        ..Config::with_cases(cases)
    }
}

/// What is too large a number, no number, or means something elsewhere.
const SPLINTERS: &str = r#"nan inf -inf 1e999 -1 0 18446744073709551615 9223372036854775807
    " ' """ [ ]] { } [] = , : % 0x KiB true null \u001b[31m \u0000 ../x /etc/passwd
    1979-05-27T07:32:00Z"#;
const BLANKS: [&str; 6] = [
    "\u{202e}",
    "\r",
    "\n",
    "\r\n",
    "[[matrix]]\n",
    "[[figure]]\n",
];

/// What people and programs get wrong: a piece of something else, a number that is too large, a
/// character that means something elsewhere.
fn splinter() -> impl Strategy<Value = String> {
    let known: Vec<&str> = SPLINTERS.split_whitespace().chain(BLANKS).collect();
    prop_oneof![
        "\\PC{0,3}",
        any::<char>().prop_map(String::from),
        any::<u64>().prop_map(|number| number.to_string()),
        any::<i64>().prop_map(|number| number.to_string()),
        any::<f64>().prop_map(|number| number.to_string()),
        prop::sample::select(known).prop_map(str::to_owned),
    ]
}

/// A text of which a stretch is replaced; both ends are moved to where characters begin.
fn damaged(text: &str, at: usize, length: usize, with: &str) -> String {
    let from = text.floor_char_boundary(at % (text.len() + 1));
    let to = text.floor_char_boundary((from + length).min(text.len()));
    [&text[..from], with, &text[to.max(from)..]].concat()
}

/// Of a text, one value behind a `=` replaced.
fn with_value(text: &str, which: usize, with: &str) -> String {
    let places: Vec<usize> = text.match_indices("= ").map(|(at, _)| at + 2).collect();
    let from = places[which % places.len()];
    let end = text[from..].find(['\n', ',', '}', ']']);
    let to = end.map_or(text.len(), |end| from + end);
    [&text[..from], with, &text[to..]].concat()
}

#[test]
fn every_built_in_study_holds_what_any_must() {
    for text in STUDIES.iter() {
        assert!(hostile::study(text).is_some(), "{text}");
    }
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn a_damaged_study_is_refused_or_is_another_one(
        which: Index, at: usize, length in 0usize..30, with in splinter()
    ) {
        hostile::study(&damaged(which.get::<String>(&STUDIES), at, length, &with));
    }

    #[test]
    fn a_study_with_another_value_is_refused_or_is_another_one(
        which: Index, at: usize, with in splinter()
    ) {
        hostile::study(&with_value(which.get::<String>(&STUDIES), at, &with));
    }

    #[test]
    fn a_study_with_two_pieces_exchanged_is_refused_or_is_another_one(
        which: Index, other: Index, at: usize, from: usize, length in 0usize..200
    ) {
        let donor = other.get::<String>(&STUDIES);
        let from = donor.floor_char_boundary(from % donor.len());
        let to = donor.floor_char_boundary((from + length).min(donor.len()));
        let piece = &donor[from..to.max(from)];
        hostile::study(&damaged(which.get::<String>(&STUDIES), at, length, piece));
    }
}

/// A setting of each kind.
fn settings() -> [Setting; 5] {
    let bytes = |min, max, power_of_two| SettingKind::Bytes {
        min,
        max,
        power_of_two,
    };
    let kinds = [
        SettingKind::Flag,
        bytes(512, u64::MAX, true),
        bytes(0, 65_536, false),
        SettingKind::Integer { min: 1, max: 1_000 },
        SettingKind::Choice(&["delete", "wal", "wal2"]),
    ];
    kinds.map(|kind| Setting {
        name: "a",
        kind,
        default: "",
        help: "",
        shapes_layout: false,
    })
}

/// Words that there are.
const KNOWN: [&str; 6] = ["page_size", "journal", "synchronous", "cache", "mmap", ""];

proptest! {
    #![proptest_config(cases(2_000))]

    #[test]
    fn a_spec_is_refused_or_reads_back_as_it_is_shown(
        parts in prop::collection::vec(prop_oneof![splinter(), "[a-z_-]{1,6}"], 0..6),
        marks in prop::collection::vec(prop::sample::select(vec![":", "=", ",", " ", ""]), 6)
    ) {
        let text: String = parts.iter().zip(marks).flat_map(|(part, mark)| [part, mark]).collect();
        hostile::spec(&text);
    }

    #[test]
    fn sizes_and_counts_are_refused_or_mean_one_number(
        number in prop_oneof![splinter(), "[0-9_,.]{0,24}", "0x[0-9a-fA-F]{0,18}"],
        space in " {0,2}",
        unit in prop_oneof![splinter(), "[kmgtKMGT]?i?[bB]?"]
    ) {
        hostile::words(&format!("{number}{space}{unit}"), &KNOWN);
    }

    #[test]
    fn a_size_with_a_unit_is_its_number_times_the_unit_or_refused(
        number: u64, power in 1u32..5, binary: bool
    ) {
        let letter = ["k", "M", "G", "T"][power as usize - 1];
        let (unit, factor) = match binary {
            true => (format!("{letter}iB"), 1024u64.pow(power)),
            false => (letter.to_owned(), 1000u64.pow(power)),
        };
        for number in [number, number >> 44] {
            let size = parse_size(&format!("{number}{unit}")).ok();
            prop_assert_eq!(size, number.checked_mul(factor));
        }
    }

    #[test]
    fn a_slip_in_a_word_suggests_a_word_that_there_is(
        which: Index, at: usize, with in splinter()
    ) {
        hostile::words(&damaged(which.get::<&str>(&KNOWN), at, 1, &with), &KNOWN);
    }

    #[test]
    fn a_value_of_a_setting_is_refused_or_reads_back_as_it_is_shown(
        which: Index,
        text in prop_oneof![splinter(), "[0-9]{1,6}[kKMG]?i?", "(?i)on|off|true|wal|wal2|delete"]
    ) {
        hostile::setting(which.get(&settings()), &text);
    }
}

/// A message of each sort, and records of a result, one a line.
const LINES: &[&str] = &[
    r#"{"hello":{"protocol":"stowplan-driver","version":4,"tool":"0.1.0"}}"#,
    r#"{"ready":{"effective":{"journal":"wal","mmap":0,"on":true}}}"#,
    r#"{"progress":{"done":3,"total":18446744073709551615}}"#,
    r#"{"inspected":{"footprint":{"apparent_bytes":3,"allocated_bytes":4096,"files":1,"directories":1},"page_fill":0.5}}"#,
    r#"{"failed":{"message":"files: no such key 7\nand more"}}"#,
    r#"{"described":{"kinds":[{"name":"kv","settings":[{"name":"cache","kind":{"bytes":{"min":1,"max":9}},"default":"3"}]}],"refused":"no"}}"#,
    r#""go""#,
    r#"{"run":{"store":"sqlite:journal=wal","place":"/i","workload":{"operation":"mix","order":"zipfian","per_transaction":"all","delivery":"copy","cache":"warm","operations":null,"mix":{"read":9,"scan":1},"scan_rows":5,"threads":2},"threads":[{"sequence":"/s","first":0,"lead_in":1,"operations":9,"payloads":{"values":"/v","offsets":"/o"},"parts":[4,5],"latencies":"/l"}],"payloads":"timed","largest":7,"counting":false}}"#,
    r#"{"type":"warning","kind":"load","message":"m","advice":"a"}"#,
    r#"{"type":"harness-cost","ratio_ns":1.5,"latency_ns":2e-7,"blocks":3,"operations":10}"#,
    r#"{"type":"footprint","instance":"i","footprint":{"apparent_bytes":1,"allocated_bytes":2,"files":1,"directories":1},"value_bytes":1,"after_workloads":false}"#,
    r#"{"type":"failure","cell":"a/b","message":"m","stderr":"x\ny"}"#,
    r#"{"type":"end","outcome":"complete","seconds":1.5}"#,
    r#"{"type":"run","schema":9}"#,
];

proptest! {
    #![proptest_config(cases(2_000))]

    #[test]
    fn a_damaged_message_is_refused_or_is_another_one(
        which: Index, at: usize, length in 0usize..12, with in splinter()
    ) {
        hostile::message(&damaged(which.get::<&str>(LINES), at, length, &with));
    }

    #[test]
    fn damaged_lines_of_a_result_are_told_by_their_numbers(
        lines in prop::collection::vec(prop::sample::select(LINES), 1..6),
        at: usize, length in 0usize..40, with in prop::collection::vec(any::<u8>(), 0..4)
    ) {
        let text = lines.join("\n");
        let from = at % (text.len() + 1);
        let to = (from + length).min(text.len());
        hostile::result(&[&text.as_bytes()[..from], &with, &text.as_bytes()[to..]].concat());
    }
}

#[test]
fn every_line_that_the_others_are_damaged_from_is_understood() {
    let (records, problems) = crate::read_result(LINES.join("\n").as_bytes());
    assert_eq!((records.len(), problems.len()), (6, 8), "{problems:?}");
    for line in &LINES[..8] {
        let is_known = decode::<ToDriver>(line).is_ok() || decode::<FromDriver>(line).is_ok();
        assert!(is_known, "{line}");
    }
}
