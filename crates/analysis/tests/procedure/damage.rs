//! Results that are not what they were: whatever is lost, what is left is analysed.

use crate::support::inflated;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;
use std::sync::LazyLock;
use stowplan_analysis::{Verdict, analyse};
use stowplan_model::{read_records, read_result};

/// The record of a small run, as an earlier version wrote it.
static RECORDED: LazyLock<String> = LazyLock::new(|| {
    inflated(include_bytes!(
        "../../../model/tests/data/result-1-before-sessions.jsonl.gz"
    ))
});

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
    for contrast in analysis
        .comparisons
        .iter()
        .flat_map(|found| &found.contrasts)
    {
        assert_ne!(contrast.verdict, Verdict::NoData, "{contrast:?}");
    }
}

/// A value of a record replaced by another one.
fn changed(line: &[u8], at: Index, with: Value) -> Vec<u8> {
    fn leaves<'a>(value: &'a mut Value, found: &mut Vec<&'a mut Value>) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|v| leaves(v, found)),
            Value::Object(map) => map.values_mut().for_each(|v| leaves(v, found)),
            leaf => found.push(leaf),
        }
    }
    let mut value: Value = serde_json::from_slice(line).unwrap();
    let mut found = Vec::new();
    leaves(&mut value, &mut found);
    *found.swap_remove(at.index(found.len())) = with;
    format!("{value}\n").into_bytes()
}

fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
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
        changes in prop::collection::vec((any::<Index>(), any::<u8>()), 0..40),
        cut in any::<Index>(),
    ) {
        let mut bytes = RECORDED.as_bytes().to_vec();
        bytes.truncate(cut.index(bytes.len()) + 1);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let _ = analyse(&read_result(&bytes).0, None);
    }

    #[test]
    fn a_line_with_any_other_value_costs_itself_at_most(
        line in any::<Index>(), at in any::<Index>(), with in any_value(),
    ) {
        let lines = lines();
        let number = line.index(lines.len());
        let mut all: Vec<Vec<u8>> = lines.iter().map(|line| line.to_vec()).collect();
        all[number] = changed(&all[number], at, with);
        let (records, problems) = read_result(&all.concat());
        prop_assert!(records.len() + problems.len() == lines.len());
        prop_assert!(problems.len() <= 1);
        let analysed = analyse(&records, None);
        prop_assert!(analysed.is_ok() || number == 0, "{:?}", analysed.err());
    }
}
