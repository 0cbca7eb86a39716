//! What was found as one JSON document: indented, ended by a newline, and begun alike.

use crate::sanitise;
use serde::Serialize;
use stowplan_analysis::Analysis;

/// The version of the documents; a change that old readers would misread raises it.
pub const SCHEMA_VERSION: u32 = 1;

/// How a document begins: by it one of ours is told from a file that someone else wrote.
pub const START: &str = "{\n  \"tool\": \"stowplan\",";

#[derive(Serialize)]
struct Document<'a, T> {
    tool: &'static str,
    document: &'static str,
    schema: u32,
    #[serde(flatten)]
    content: &'a T,
}

/// The analysis. Times are nanoseconds, sizes bytes, ratios times over times.
///
/// # Errors
/// None that is known: every key is a text.
pub fn render(analysis: &Analysis) -> Result<String, serde_json::Error> {
    of("analysis", analysis)
}

/// Anything that was found, as a document of this name.
pub(crate) fn of(
    document: &'static str,
    content: &impl Serialize,
) -> Result<String, serde_json::Error> {
    sanitise::pretty(&Document {
        tool: "stowplan",
        document,
        schema: SCHEMA_VERSION,
        content,
    })
}
