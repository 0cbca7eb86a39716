//! Results that are not what they were: whatever is lost, what is left is analysed.

use flate2::read::GzDecoder;
use proptest::prelude::*;
use std::io::Read;
use std::sync::LazyLock;
use stowplan_analysis::{Analysis, AnalysisError, Verdict, analyse};
use stowplan_model::{Record, read_records, read_result};

/// The record of a small run, as an earlier version wrote it.
static RECORDED: LazyLock<String> = LazyLock::new(|| {
    let bytes = include_bytes!("../../../model/tests/data/result-1-before-sessions.jsonl.gz");
    let mut text = String::new();
    GzDecoder::new(&bytes[..])
        .read_to_string(&mut text)
        .unwrap();
    text
});

fn found(bytes: &[u8]) -> Result<Analysis, AnalysisError> {
    analyse(&read_result(bytes).0, None)
}

fn lines() -> Vec<&'static [u8]> {
    let bytes = RECORDED.as_bytes();
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}

#[test]
fn a_result_of_an_earlier_version_is_analysed() {
    let (records, problems) = read_records(&RECORDED);
    assert!(problems.is_empty(), "{problems:?}");
    let analysis = analyse(&records, None).unwrap();
    assert_eq!(analysis.run.schema, 1);
    assert!(analysis.end.is_some() && analysis.failures.is_empty());
    for comparison in &analysis.comparisons {
        for contrast in &comparison.contrasts {
            assert_ne!(contrast.verdict, Verdict::NoData, "{contrast:?}");
        }
    }
}

#[test]
fn cut_at_any_byte_it_loses_the_last_line_at_most() {
    let lines = lines();
    for (number, line) in lines.iter().enumerate() {
        // What stands before the line is the same wherever within it the cut lies.
        let before = lines[..number].concat();
        let analysed = found(&before);
        assert_eq!(
            analysed.is_ok(),
            number > 0,
            "{number}: {:?}",
            analysed.err()
        );
        for cut in 0..line.len() {
            let (records, problems) = read_result(&line[..cut]);
            assert!(
                problems.is_empty(),
                "line {number}, byte {cut}: {problems:?}"
            );
            // Without its newline it is whole.
            assert_eq!(records.len(), usize::from(cut + 1 == line.len()), "{cut}");
        }
    }
}

/// A value of a record replaced by another one.
fn changed(line: &[u8], at: usize, with: &serde_json::Value) -> Vec<u8> {
    fn leaves<'a>(value: &'a mut serde_json::Value, found: &mut Vec<&'a mut serde_json::Value>) {
        match value {
            serde_json::Value::Array(items) => items.iter_mut().for_each(|v| leaves(v, found)),
            serde_json::Value::Object(map) => map.values_mut().for_each(|v| leaves(v, found)),
            leaf => found.push(leaf),
        }
    }
    let mut value: serde_json::Value = serde_json::from_slice(line).unwrap();
    let mut found = Vec::new();
    leaves(&mut value, &mut found);
    let number = found.len();
    if let Some(leaf) = found.into_iter().nth(at % number.max(1)) {
        *leaf = with.clone();
    }
    format!("{value}\n").into_bytes()
}

fn any_value() -> impl Strategy<Value = serde_json::Value> {
    prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<u64>().prop_map(Into::into),
        (0..50_u64).prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        "\\PC{0,20}".prop_map(Into::into),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn whatever_becomes_of_its_bytes_nothing_panics(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..40),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = RECORDED.as_bytes().to_vec();
        bytes.truncate(cut.index(bytes.len() + 1));
        for (at, byte) in changes {
            let length = bytes.len();
            if let Some(place) = bytes.get_mut(at.index(length.max(1))) {
                *place = byte;
            }
        }
        let _ = found(&bytes);
    }

    #[test]
    fn a_line_with_any_other_value_costs_itself_at_most(
        line in any::<prop::sample::Index>(),
        at in any::<usize>(),
        with in any_value(),
    ) {
        let lines = lines();
        let number = line.index(lines.len());
        let mut all: Vec<Vec<u8>> = lines.iter().map(|line| line.to_vec()).collect();
        all[number] = changed(&all[number], at, &with);
        let bytes = all.concat();
        let (records, problems) = read_result(&bytes);
        prop_assert!(records.len() + problems.len() == lines.len());
        prop_assert!(problems.len() <= 1);
        let analysed = analyse(&records, None);
        prop_assert!(analysed.is_ok() || number == 0, "{:?}", analysed.err());
    }

    #[test]
    fn records_after_the_header_in_any_order_missing_or_twice_are_analysed(
        order in prop::collection::vec(any::<prop::sample::Index>(), 0..200),
    ) {
        let (records, _) = read_records(&RECORDED);
        let (header, others) = records.split_first().unwrap();
        let mut some: Vec<Record> = order.iter().map(|at| at.get(others).clone()).collect();
        prop_assert!(analyse(&some, None).is_err(), "no header");
        some.insert(0, header.clone());
        prop_assert!(analyse(&some, None).is_ok());
        some.push(header.clone());
        prop_assert_eq!(analyse(&some, None).is_ok(), order.is_empty(), "the same header twice");
    }
}
