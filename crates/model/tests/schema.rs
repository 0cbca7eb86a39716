//! The schemas in `docs/` are those of the types, and real records follow them.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what fails ends the test"
)]

use flate2::read::GzDecoder;
use schemars::{JsonSchema, Schema, schema_for};
use serde_json::Value;
use std::io::Read;
use std::path::{Path, PathBuf};
use stowplan_model::{FromDriver, Record, ToDriver, read_records};

/// One line of `result.jsonl`.
fn result_line() -> Schema {
    titled(schema_for!(Record), "A line of result.jsonl")
}

/// One line of the driver protocol, of either side.
fn driver_line() -> Schema {
    /// What the parent says, or what the driver says.
    #[derive(JsonSchema)]
    #[schemars(untagged)]
    #[expect(dead_code, reason = "only its shape is wanted")]
    enum Line {
        Parent(ToDriver),
        Driver(FromDriver),
    }
    titled(schema_for!(Line), "A line of the driver protocol")
}

fn titled(mut schema: Schema, title: &str) -> Schema {
    schema.insert("title".to_owned(), title.into());
    schema
}

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

fn validator(schema: schemars::Schema) -> Validator {
    Validator {
        root: schema.to_value(),
    }
}

/// JSON Schema, as far as these schemas go: a keyword that it does not know ends the test.
struct Validator {
    root: Value,
}

impl Validator {
    fn is_valid(&self, value: &Value) -> bool {
        self.wrong(value).is_empty()
    }

    /// What does not follow the schema, each with its place in the value.
    fn wrong(&self, value: &Value) -> Vec<String> {
        let mut wrong = Vec::new();
        self.look(&self.root, value, "", &mut wrong);
        wrong
    }

    fn follows(&self, schema: &Value, value: &Value) -> bool {
        let mut wrong = Vec::new();
        self.look(schema, value, "", &mut wrong);
        wrong.is_empty()
    }

    fn look(&self, schema: &Value, value: &Value, at: &str, wrong: &mut Vec<String>) {
        let Some(keywords) = schema.as_object() else {
            if *schema == Value::Bool(false) {
                wrong.push(format!("{at}: nothing may be here"));
            }
            return;
        };
        for (keyword, said) in keywords {
            let list = || said.as_array().unwrap().iter();
            let number = |compare: fn(f64, f64) -> bool| {
                value
                    .as_f64()
                    .is_none_or(|v| compare(v, said.as_f64().unwrap()))
            };
            let entries = |compare: fn(u64, u64) -> bool| {
                let entries = value.as_array().map(|all| all.len() as u64);
                entries.is_none_or(|n| compare(n, said.as_u64().unwrap()))
            };
            let right = match keyword.as_str() {
                "$schema" | "$defs" | "title" | "description" | "default" | "format"
                | "writeOnly" => true,
                "$ref" => {
                    let pointer = said.as_str().unwrap().trim_start_matches('#');
                    self.look(self.root.pointer(pointer).unwrap(), value, at, wrong);
                    true
                }
                "type" => match said {
                    Value::Array(types) => types.iter().any(|kind| is_of(kind, value)),
                    kind => is_of(kind, value),
                },
                "const" => said == value,
                "minimum" => number(|v, least| v >= least),
                "maximum" => number(|v, most| v <= most),
                "minItems" => entries(|n, least| n >= least),
                "maxItems" => entries(|n, most| n <= most),
                "anyOf" => list().any(|one| self.follows(one, value)),
                "oneOf" => list().filter(|one| self.follows(one, value)).count() == 1,
                "required" => value.as_object().is_none_or(|fields| {
                    list().all(|name| fields.contains_key(name.as_str().unwrap()))
                }),
                "properties" | "additionalProperties" => {
                    let known = keywords.get("properties").and_then(Value::as_object);
                    for (name, field) in value.as_object().into_iter().flatten() {
                        let known = known.and_then(|known| known.get(name));
                        let asked = match keyword == "properties" {
                            true => known,
                            false => Some(said).filter(|_| known.is_none()),
                        };
                        if let Some(schema) = asked {
                            self.look(schema, field, &format!("{at}/{name}"), wrong);
                        }
                    }
                    true
                }
                "items" | "prefixItems" => {
                    let fixed = keywords.get("prefixItems").and_then(Value::as_array);
                    let fixed = fixed.map_or(0, Vec::len);
                    for (place, entry) in value.as_array().into_iter().flatten().enumerate() {
                        let asked = match keyword == "prefixItems" {
                            true => said.get(place),
                            false => Some(said).filter(|_| place >= fixed),
                        };
                        if let Some(schema) = asked {
                            self.look(schema, entry, &format!("{at}/{place}"), wrong);
                        }
                    }
                    true
                }
                unknown => panic!("the keyword '{unknown}' is not known here"),
            };
            if !right {
                wrong.push(format!("{at}: {keyword} {said}"));
            }
        }
    }
}

fn is_of(kind: &Value, value: &Value) -> bool {
    match kind.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        unknown => panic!("the type '{unknown}' is not known here"),
    }
}

#[test]
fn every_line_of_a_recorded_run_follows_the_schema() {
    let schema = validator(result_line());
    for (name, text) in recorded() {
        for (number, line) in text.lines().enumerate() {
            let value: Value = serde_json::from_str(line).unwrap();
            let wrong = schema.wrong(&value);
            assert!(wrong.is_empty(), "{name}, line {}: {wrong:?}", number + 1);
        }
    }
}

#[test]
fn what_is_written_again_follows_the_schema_too_and_unknown_fields_are_no_fault() {
    let schema = validator(result_line());
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
    let schema = validator(result_line());
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
    let schema = validator(driver_line());
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
