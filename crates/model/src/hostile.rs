//! What must hold of any text whatever that is given to a parser of this crate. Property tests
//! give them random text, fuzz targets (`fuzz/`) what they find by following the code.
//!
//! Each function panics where something does not hold.

#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "a check says that it failed by panicking"
)]

use crate::{
    FromDriver, Setting, StoreSpec, Study, ToDriver, decode, encode, format_bytes, near_miss,
    parse_count, parse_size, read_result,
};
use serde::{Deserialize, Serialize};

/// What can be read as a study can be written and read again, in results as JSON; its matrices can
/// be expanded.
pub fn study(text: &str) -> Option<Study> {
    let study = Study::parse(text, "study.toml")
        .map_err(|error| error.to_string())
        .ok()?;
    assert_eq!(again(&study), study, "it reads back from a result");
    let expanded = study.clone().expanded();
    assert_eq!(again(&expanded), expanded, "and so does what is run of it");
    Some(study)
}

/// A store spec reads back as it is shown.
pub fn spec(text: &str) -> Option<StoreSpec> {
    let spec: StoreSpec = text.parse().ok()?;
    let shown = spec.to_string();
    assert_eq!(shown.parse().as_ref(), Ok(&spec), "{shown:?}");
    assert_eq!(again(&spec), spec);
    Some(spec)
}

/// Sizes, counts and suggestions.
pub fn words(text: &str, known: &[&str]) {
    if let Ok(size) = parse_size(text) {
        assert_eq!(parse_size(&size.to_string()), Ok(size));
        assert!(!format_bytes(size).is_empty());
    }
    if let Ok(count) = parse_count(text) {
        assert_eq!(parse_size(text), Ok(count), "a count is a size, too");
    }
    if let Some(near) = near_miss(text, known.iter().copied()) {
        assert!(known.contains(&near), "{near} is not known");
    }
}

/// A value that a setting accepts is accepted as it is shown, and means the same.
pub fn setting(setting: &Setting, text: &str) {
    if let Ok(value) = setting.parse(text) {
        assert_eq!(setting.parse(&value.to_string()), Ok(value), "{text:?}");
    }
}

/// A line of the worker protocol means one message at most, which reads back as it is sent, in one
/// line.
pub fn message(line: &str) {
    if let Ok(message) = decode::<ToDriver>(line) {
        assert_eq!(sent(&message), message);
    }
    match decode::<FromDriver>(line) {
        Ok(message) => assert_eq!(sent(&message), message),
        Err(error) => assert!(error.line.chars().count() <= 120),
    }
}

/// Each line of a result is a record, or told by its number, or nothing; a record reads back as it
/// is written. Returns how many lines were told.
pub fn result(bytes: &[u8]) -> usize {
    let lines = bytes.split(|byte| *byte == b'\n').count();
    let (records, problems) = read_result(bytes);
    assert!(records.len() + problems.len() <= lines);
    let mut last = 0;
    for problem in &problems {
        let number = problem
            .strip_prefix("line ")
            .and_then(|rest| rest.split(':').next()?.parse().ok());
        let number: usize = number.expect("the number of a line");
        assert!(last < number && number < lines, "{problem}");
        last = number;
    }
    for record in &records {
        // Neither is ever written.
        if !matches!(record, crate::Record::Newer(_) | crate::Record::Unknown) {
            assert_eq!(&sent(record), record);
        }
    }
    problems.len()
}

fn sent<T: Serialize + for<'de> Deserialize<'de>>(message: &T) -> T {
    let line = encode(message);
    assert!(!line.is_empty() && !line.contains('\n'), "{line}");
    decode(&line).expect("what was sent can be read")
}

/// Returns a value as it is read from its JSON.
fn again<T: Serialize + for<'de> Deserialize<'de>>(value: &T) -> T {
    let text = serde_json::to_string(value).expect("it can be written");
    serde_json::from_str(&text).expect("it can be read again")
}
