//! The schemas in `docs/` are those of the types, and real records follow them.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "what fails ends the test"
)]

use flate2::read::GzDecoder;
use jsonschema::Validator;
use serde_json::Value;
use std::io::Read;
use std::path::{Path, PathBuf};
use stowplan_model::schema::{driver_line, result_line};
use stowplan_model::{FromDriver, Record, ToDriver, read_records};

fn docs(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs")
        .join(name)
}

/// Compares a schema with its file, or writes the file where that is asked for.
#[track_caller]
fn stands_in_docs(name: &str, schema: &schemars::Schema) {
    let text = serde_json::to_string_pretty(schema).unwrap() + "\n";
    let path = docs(name);
    if std::env::var_os("STOWPLAN_UPDATE").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == text,
        "docs/{name} is not the schema of the types; to write it:\n  \
         STOWPLAN_UPDATE=1 cargo test -p stowplan-model --test schema"
    );
}

#[test]
fn the_schemas_in_the_documents_are_those_of_the_types() {
    stands_in_docs("result.schema.json", &result_line());
    stands_in_docs("driver.schema.json", &driver_line());
}

/// The record of a small run of each version that was ever released or in use.
fn recorded() -> Vec<(&'static str, String)> {
    let files: [(&str, &[u8]); 1] = [(
        "result-1-before-sessions",
        include_bytes!("data/result-1-before-sessions.jsonl.gz"),
    )];
    let text = |bytes: &[u8]| {
        let mut text = String::new();
        GzDecoder::new(bytes).read_to_string(&mut text).unwrap();
        text
    };
    files.map(|(name, bytes)| (name, text(bytes))).into()
}

fn validator(schema: &schemars::Schema) -> Validator {
    jsonschema::validator_for(schema.as_value()).expect("the schema is one")
}

#[test]
fn every_line_of_a_recorded_run_follows_the_schema() {
    let schema = validator(&result_line());
    for (name, text) in recorded() {
        for (number, line) in text.lines().enumerate() {
            let value: Value = serde_json::from_str(line).unwrap();
            let wrong: Vec<String> = schema
                .iter_errors(&value)
                .map(|error| format!("{}: {error}", error.instance_path()))
                .collect();
            assert!(wrong.is_empty(), "{name}, line {}: {wrong:?}", number + 1);
        }
    }
}

#[test]
fn what_is_written_again_follows_the_schema_too_and_unknown_fields_are_no_fault() {
    let schema = validator(&result_line());
    for (name, text) in recorded() {
        let (records, problems) = read_records(&text);
        assert!(problems.is_empty(), "{name}: {problems:?}");
        for record in &records {
            let mut value = serde_json::to_value(record).unwrap();
            assert!(schema.is_valid(&value), "{name}: {value}");
            value["hologram"] = true.into();
            assert!(schema.is_valid(&value), "{name}: {value}");
            let again: Record = serde_json::from_value(value).unwrap();
            assert_eq!(again, *record, "{name}");
        }
    }
}

#[test]
fn a_line_that_lacks_something_does_not_follow_the_schema() {
    let schema = validator(&result_line());
    let (_, text) = &recorded()[0];
    let line = text.lines().find(|line| line.contains("\"measurement\""));
    let whole: Value = serde_json::from_str(line.unwrap()).unwrap();
    for field in ["cell", "round", "wall_ns", "operations", "block"] {
        let mut value = whole.clone();
        value.as_object_mut().unwrap().remove(field);
        assert!(!schema.is_valid(&value), "{field}");
        value[field] = (-1.5).into();
        assert!(!schema.is_valid(&value), "{field}");
    }
}

#[test]
fn messages_of_the_worker_protocol_follow_theirs() {
    let schema = validator(&driver_line());
    let said = [
        serde_json::to_value(ToDriver::Go).unwrap(),
        serde_json::to_value(FromDriver::Progress { done: 1, total: 2 }).unwrap(),
    ];
    for value in said {
        assert!(schema.is_valid(&value), "{value}");
    }
    for value in [
        serde_json::json!("went"),
        serde_json::json!({"progress": {"done": 1}}),
    ] {
        assert!(!schema.is_valid(&value), "{value}");
    }
}
