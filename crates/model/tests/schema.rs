//! The schemas in `docs/` are those of the types, and real records follow them.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what fails ends the test"
)]

use flate2::read::GzDecoder;
use schemars::{JsonSchema, Schema, schema_for};
use serde_json::{Value, json};
use std::io::Read;
use std::path::Path;
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

#[test]
fn the_schemas_in_the_documents_are_those_of_the_types() {
    for (name, schema) in [
        ("result.schema.json", result_line()),
        ("driver.schema.json", driver_line()),
    ] {
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let path = docs.join(name);
        if std::env::var_os("STOWPLAN_UPDATE").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        assert!(
            std::fs::read_to_string(&path).unwrap_or_default() == text,
            "docs/{name} is not the schema of the types; to write it:\n  \
             STOWPLAN_UPDATE=1 cargo test -p stowplan-model --test schema"
        );
    }
}

/// The record of a small run of the oldest version in use.
fn recorded() -> String {
    let bytes: &[u8] = include_bytes!("data/result-1-before-sessions.jsonl.gz");
    let mut text = String::new();
    GzDecoder::new(bytes).read_to_string(&mut text).unwrap();
    text
}

/// JSON Schema, as far as these schemas go: a keyword that it does not know ends the test.
struct Validator {
    root: Value,
}

impl Validator {
    fn of(schema: Schema) -> Self {
        let root = schema.to_value();
        Self { root }
    }

    /// What does not follow the schema, each with its place in the value.
    fn wrong(&self, value: &Value) -> Vec<String> {
        self.look(&self.root, value, "")
    }

    fn look(&self, schema: &Value, value: &Value, at: &str) -> Vec<String> {
        let Some(keywords) = schema.as_object() else {
            let is_refused = *schema == Value::Bool(false);
            return Vec::from_iter(is_refused.then(|| format!("{at}: nothing may be here")));
        };
        let broken = keywords
            .iter()
            .filter(|(key, said)| !self.holds(key, said, value));
        let mut wrong: Vec<String> = broken
            .map(|(key, said)| format!("{at}: {key} {said}"))
            .collect();
        let inner = |list: &str, rest: &str, place: &dyn Fn(&Value) -> Option<&Value>| {
            keywords.get(list).and_then(place).or(keywords.get(rest))
        };
        let fields = value.as_object().into_iter().flatten();
        let fields = fields.map(|(name, field)| {
            let schema = inner("properties", "additionalProperties", &|known| {
                known.get(name)
            });
            (schema, field, name.clone())
        });
        let entries = value.as_array().into_iter().flatten().enumerate();
        let entries = entries.map(|(place, entry)| {
            let schema = inner("prefixItems", "items", &|fixed| fixed.get(place));
            (schema, entry, place.to_string())
        });
        for (schema, inner, name) in fields.chain(entries) {
            let look = |schema| self.look(schema, inner, &format!("{at}/{name}"));
            wrong.extend(schema.map(look).unwrap_or_default());
        }
        wrong
    }

    /// Whether a keyword holds of the value itself.
    fn holds(&self, keyword: &str, said: &Value, value: &Value) -> bool {
        let list = || said.as_array().into_iter().flatten();
        let follows = |one: &&Value| self.look(one, value, "").is_empty();
        let number = value.as_f64().zip(said.as_f64());
        let entries = value.as_array().map(Vec::len);
        let entries = entries.zip(said.as_u64().map(|limit| limit as usize));
        match keyword {
            "$schema" | "$defs" | "title" | "description" | "default" | "format" | "writeOnly" => {
                true
            }
            // Of what it holds, in its place.
            "properties" | "additionalProperties" | "items" | "prefixItems" => true,
            "$ref" => {
                let pointer = said.as_str().unwrap().trim_start_matches('#');
                follows(&self.root.pointer(pointer).unwrap())
            }
            "type" if said.is_string() => is_of(said, value),
            "type" => list().any(|kind| is_of(kind, value)),
            "const" => said == value,
            "minimum" => number.is_none_or(|(value, least)| value >= least),
            "maximum" => number.is_none_or(|(value, most)| value <= most),
            "minItems" => entries.is_none_or(|(count, least)| count >= least),
            "maxItems" => entries.is_none_or(|(count, most)| count <= most),
            "anyOf" => list().any(|one| follows(&one)),
            "oneOf" => list().filter(follows).count() == 1,
            "required" => value.as_object().is_none_or(|fields| {
                list().all(|name| fields.contains_key(name.as_str().unwrap()))
            }),
            unknown => panic!("the keyword '{unknown}' is not known here"),
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
    let schema = Validator::of(result_line());
    for (number, line) in recorded().lines().enumerate() {
        let wrong = schema.wrong(&serde_json::from_str(line).unwrap());
        assert!(wrong.is_empty(), "line {}: {wrong:?}", number + 1);
    }
}

#[test]
fn what_is_written_again_follows_the_schema_too_and_unknown_fields_are_no_fault() {
    let schema = Validator::of(result_line());
    let (records, problems) = read_records(&recorded());
    assert!(problems.is_empty(), "{problems:?}");
    for record in &records {
        let mut value = serde_json::to_value(record).unwrap();
        assert_eq!(schema.wrong(&value), [""; 0], "{value}");
        value["hologram"] = true.into();
        assert_eq!(schema.wrong(&value), [""; 0], "{value}");
        let again: Record = serde_json::from_value(value).unwrap();
        assert_eq!(again, *record);
    }
}

#[test]
fn a_line_that_lacks_something_does_not_follow_the_schema() {
    let schema = Validator::of(result_line());
    let text = recorded();
    let line = text.lines().find(|line| line.contains("\"measurement\""));
    let whole: Value = serde_json::from_str(line.unwrap()).unwrap();
    for field in ["cell", "round", "wall_ns", "operations", "block"] {
        let mut value = whole.clone();
        value.as_object_mut().unwrap().remove(field);
        assert!(!schema.wrong(&value).is_empty(), "{field}");
        value[field] = (-1.5).into();
        assert!(!schema.wrong(&value).is_empty(), "{field}");
    }
}

#[test]
fn messages_of_the_worker_protocol_follow_theirs() {
    let schema = Validator::of(driver_line());
    for (value, is_right) in [
        (json!(ToDriver::Go), true),
        (json!(FromDriver::Progress { done: 1, total: 2 }), true),
        (json!("went"), false),
        (json!({"progress": {"done": 1}}), false),
    ] {
        assert_eq!(schema.wrong(&value).is_empty(), is_right, "{value}");
    }
}
