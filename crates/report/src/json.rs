//! The analysis as one JSON document.
use serde::Serialize;
use stowplan_analysis::Analysis;

/// The version of this document; a change that old readers would misread raises it.
pub const SCHEMA_VERSION: u32 = 1;

/// How a document begins: by it one of ours is told from a file that someone else wrote.
pub const START: &str = "{\n  \"tool\": \"stowplan\",";

#[derive(Serialize)]
struct Document<'a> {
    tool: &'static str,
    document: &'static str,
    schema: u32,
    #[serde(flatten)]
    analysis: &'a Analysis,
}

/// The analysis as one JSON document, indented, ended by a newline. Times are nanoseconds, sizes
/// bytes, ratios times over times.
///
/// # Errors
/// None that is known: every key is a text.
pub fn render(analysis: &Analysis) -> Result<String, serde_json::Error> {
    let document = Document {
        tool: "stowplan",
        document: "analysis",
        schema: SCHEMA_VERSION,
        analysis,
    };
    let mut text = crate::sanitise::pretty(&document)?;
    text.push('\n');
    Ok(text)
}

/// Something else that was found as one JSON document, indented, ended by a newline, which begins as
/// all of ours do.
pub(crate) fn of(
    name: &'static str,
    content: &impl Serialize,
) -> Result<String, serde_json::Error> {
    #[derive(Serialize)]
    struct Named<'a, T> {
        tool: &'static str,
        document: &'static str,
        schema: u32,
        #[serde(flatten)]
        content: &'a T,
    }
    let document = Named {
        tool: "stowplan",
        document: name,
        schema: SCHEMA_VERSION,
        content,
    };
    let mut text = crate::sanitise::pretty(&document)?;
    text.push('\n');
    Ok(text)
}
