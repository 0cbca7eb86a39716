//! Every parser of this crate on random text: what was damaged, and what is none at all.

use crate::{Setting, SettingKind, StoreSpec, hostile, parse_size};
use proptest::prelude::*;
use proptest::test_runner::Config;
use std::sync::LazyLock;

/// Built-in studies, by name.
static STUDIES: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies");
    let entries = std::fs::read_dir(directory).unwrap().flatten();
    let files = entries.filter(|entry| entry.path().extension().is_some_and(|e| e == "toml"));
    let text = |entry: std::fs::DirEntry| {
        let name = entry.file_name().into_string().unwrap();
        (name, std::fs::read_to_string(entry.path()).unwrap())
    };
    let mut studies: Vec<_> = files.map(text).collect();
    studies.sort();
    studies
});

/// Failures are printed with what led to them, and leave no file behind.
fn cases(cases: u32) -> Config {
    Config {
        failure_persistence: None,
        ..Config::with_cases(cases)
    }
}

/// What people and programs get wrong: a piece of something else, a number that is too large, a
/// character that means something elsewhere.
fn splinter() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,3}",
        any::<char>().prop_map(String::from),
        any::<u64>().prop_map(|number| number.to_string()),
        any::<i64>().prop_map(|number| number.to_string()),
        any::<f64>().prop_map(|number| number.to_string()),
        prop::sample::select(vec![
            "nan",
            "inf",
            "-inf",
            "1e999",
            "-1",
            "0",
            "18446744073709551615",
            "9223372036854775807",
            "\"",
            "'",
            "\"\"\"",
            "[",
            "]]",
            "{",
            "}",
            "=",
            "\\u001b[31m",
            "\\u0000",
            "\u{202e}",
            "\r",
            "\n",
            "\r\n",
            "../x",
            "/etc/passwd",
            "true",
            "[[matrix]]\n",
            "[[figure]]\n",
            "[]",
            "1979-05-27T07:32:00Z",
            "null",
            ",",
            ":",
            "%",
            "0x",
            "KiB",
        ])
        .prop_map(str::to_owned),
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
    for (name, text) in STUDIES.iter() {
        assert!(hostile::study(text).is_some(), "{name}");
    }
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn a_damaged_study_is_refused_or_is_another_one(
        which: prop::sample::Index, at: usize, length in 0usize..30, with in splinter()
    ) {
        let (_, text) = which.get(&STUDIES);
        hostile::study(&damaged(text, at, length, &with));
    }

    #[test]
    fn a_study_with_another_value_is_refused_or_is_another_one(
        which: prop::sample::Index, at: usize, with in splinter()
    ) {
        let (_, text) = which.get(&STUDIES);
        hostile::study(&with_value(text, at, &with));
    }

    #[test]
    fn a_study_with_two_pieces_exchanged_is_refused_or_is_another_one(
        which: prop::sample::Index, other: prop::sample::Index, at: usize, from: usize,
        length in 0usize..200
    ) {
        let (_, text) = which.get(&STUDIES);
        let (_, donor) = other.get(&STUDIES);
        let from = donor.floor_char_boundary(from % donor.len());
        let to = donor.floor_char_boundary((from + length).min(donor.len()));
        hostile::study(&damaged(text, at, length, &donor[from..to.max(from)]));
    }
}

/// A study with a number wherever one may stand that TOML knows and JSON does not.
const FIGURES: &str = r#"
name = "t"
title = "T"
question = "?"
[datasets.blobs]
count = 10
size = { distribution = "log-normal", median = 1, sigma = 1.5, max = 2 }
content = { kind = "compressible", ratio = 0.5 }
[systems]
phone = "A phone"
[[comparison]]
id = "reads"
title = "reads"
dataset = "blobs"
baseline = "dir"
[comparison.cells]
dir = { store = "files", published_seconds = 2.5, published_error_seconds = 0.25 }
sql = { store = "sqlite" }
[[figure]]
id = "c"
title = "C"
comparisons = ["reads"]
to = "dir"
cells = ["sql"]
published_ratios = { phone = 1.25 }
published_precision = 0.125
[[figure]]
id = "b"
title = "B"
comparisons = ["reads"]
measure = "block-time"
published = [{ comparison = "reads", label = "x", seconds = 3.5, error_seconds = 0.75 }]
[[matrix]]
id = "m"
title = "M"
sizes = [1000]
bytes = 1000
row_setting = "page_size"
rows = [512]
internal = { store = "sqlite" }
external = { store = "files" }
published = { label = "l", sizes = [1000], ratios = { 512 = [1.75] } }
"#;

#[test]
fn a_number_of_a_result_reads_back_to_its_last_digit() {
    let written = 1.410_629_300_418_966_1e19;
    let text = serde_json::to_string(&written).unwrap();
    assert_eq!(serde_json::from_str::<f64>(&text).unwrap(), written);
}

#[test]
fn a_number_that_a_result_cannot_hold_is_refused_wherever_it_stands() {
    assert!(hostile::study(FIGURES).is_some());
    let figures = [
        "1.5,", "0.5 ", "2.5,", "0.25 ", "1.25 ", "0.125", "3.5,", "0.75 ", "1.75",
    ];
    for figure in figures {
        let (number, behind) = figure.split_at(figure.trim_end_matches([' ', ',']).len());
        for no_number in ["nan", "-nan", "inf", "-inf"] {
            let text = FIGURES.replacen(figure, &format!("{no_number}{behind}"), 1);
            assert_ne!(text, FIGURES, "{number}");
            assert!(hostile::study(&text).is_none(), "{number} as {no_number}");
        }
    }
}

/// A setting of each kind.
fn settings() -> Vec<Setting> {
    let kinds = [
        SettingKind::Flag,
        SettingKind::Bytes {
            min: 512,
            max: u64::MAX,
            power_of_two: true,
        },
        SettingKind::Bytes {
            min: 0,
            max: 65_536,
            power_of_two: false,
        },
        SettingKind::Integer { min: 1, max: 1_000 },
        SettingKind::Choice(&["delete", "wal", "wal2"]),
    ];
    let setting = |kind| Setting {
        name: "a",
        kind,
        default: "",
        help: "",
        shapes_layout: false,
    };
    kinds.map(setting).to_vec()
}

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
    fn a_spec_that_is_made_up_reads_back(
        kind in "[a-z]{1,8}", settings in prop::collection::btree_map("[a-z_]{1,8}", "[a-zA-Z0-9.-]{1,8}", 0..5)
    ) {
        let spec = StoreSpec { kind, settings };
        prop_assert_eq!(hostile::spec(&spec.to_string()), Some(spec));
    }

    #[test]
    fn sizes_and_counts_are_refused_or_mean_one_number(
        number in prop_oneof![splinter(), "[0-9_,.]{0,24}", "0x[0-9a-fA-F]{0,18}"],
        space in " {0,2}",
        unit in prop_oneof![splinter(), "[kmgtKMGT]?i?[bB]?"]
    ) {
        let known = ["page_size", "journal", "synchronous", "cache", "mmap"];
        hostile::words(&format!("{number}{space}{unit}"), &known);
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
        prop_assert_eq!(parse_size(&format!("{number}{unit}")).ok(), number.checked_mul(factor));
        let small = number >> 44;
        prop_assert_eq!(parse_size(&format!("{small}{unit}")).ok(), small.checked_mul(factor));
    }

    #[test]
    fn a_slip_in_a_word_suggests_a_word_that_there_is(
        which: prop::sample::Index, at: usize, with in splinter()
    ) {
        let known = ["page_size", "journal", "synchronous", "cache", "mmap", ""];
        hostile::words(&damaged(which.get::<&str>(&known), at, 1, &with), &known);
    }

    #[test]
    fn a_value_of_a_setting_is_refused_or_reads_back_as_it_is_shown(
        which: prop::sample::Index,
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
        which: prop::sample::Index, at: usize, length in 0usize..12, with in splinter()
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

    #[test]
    fn any_bytes_are_no_result(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        hostile::result(&bytes);
    }
}

#[test]
fn every_line_that_the_others_are_damaged_from_is_understood() {
    let (records, problems) = crate::read_result(LINES.join("\n").as_bytes());
    assert_eq!((records.len(), problems.len()), (6, 8), "{problems:?}");
    for line in &LINES[..8] {
        let to_driver = crate::decode::<crate::ToDriver>(line).is_ok();
        assert!(
            to_driver || crate::decode::<crate::FromDriver>(line).is_ok(),
            "{line}"
        );
    }
}
