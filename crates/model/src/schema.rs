//! The JSON Schemas of what this program writes and speaks, made from the types (feature `schema`).
//!
//! They say what is there, with its unit; unknown fields are no fault, since later versions may add
//! some. `docs/*.schema.json` hold their text.

use crate::{Across, FromDriver, PerTransaction, Record, StoreSpec, ToDriver};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema, schema_for};
use std::borrow::Cow;

/// One line of `result.jsonl`.
#[must_use]
pub fn result_line() -> Schema {
    titled(schema_for!(Record), "A line of result.jsonl")
}

/// One line of the driver protocol, of either side.
#[must_use]
pub fn driver_line() -> Schema {
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

/// A type that is written as text.
macro_rules! text {
    ($type:ty, $name:literal, $description:literal) => {
        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "description": $description, "type": "string" })
            }
        }
    };
}

text!(
    StoreSpec,
    "StoreSpec",
    "A kind of store and its settings: `sqlite:api=blob,page_size=8192`."
);
text!(
    Across,
    "Across",
    "What lies across: `operations`, `per_transaction`, `threads`, or the name of a setting."
);

impl JsonSchema for PerTransaction {
    fn schema_name() -> Cow<'static, str> {
        "PerTransaction".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "How many operations share a transaction: a number, or all of a block.",
            "oneOf": [{ "type": "integer", "minimum": 1 }, { "const": "all" }]
        })
    }
}
