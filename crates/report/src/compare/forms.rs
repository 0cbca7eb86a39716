//! Changes for spreadsheets and scripts.

use super::{Compared, Side, Source, differences};
use crate::{csv as table, json as documents};
use serde_json::{Error, Value, json, to_value};

/// How the header begins: by it a table of ours is told from a file that someone else wrote.
pub const CSV_START: &str = "base_result,new_result,base_cell,new_cell,";

/// Columns and where their fields stand in a row, see [`table::columns_of`].
const COLUMNS: &str = include_str!("../tables/compare.txt");

/// The cells that were compared as CSV (RFC 4180, but with plain line feeds): a header, then a row
/// per cell of each NEW; results of several sessions are named one behind the other. Changes are NEW over
/// BASE. Empty fields are unknown or do not apply.
#[must_use]
pub fn csv(compared: &Compared<'_>) -> String {
    let names = |side: &Side<'_>| {
        let names: Vec<&str> = side.all().map(|source| source.name).collect();
        names.join(" ")
    };
    let rows = compared.news.iter().flat_map(|(new, changes)| {
        changes.cells.iter().map(move |cell| {
            json!({
                "base_result": names(&compared.base),
                "new_result": names(new),
                "p_slower": cell.decisive(changes.decides).map(|(change, _)| change.p_slower),
                "decides": changes.decides,
                "same_machine": changes.same_machine,
                "threshold": changes.threshold,
                "differences": differences(&cell.differences),
                "cell": cell,
            })
        })
    });
    table::table(&table::columns_of(COLUMNS), rows)
}

/// Everything as one JSON document. Times are nanoseconds, sizes bytes, ratios NEW over BASE; what intervals
/// are widened by are natural logarithms.
///
/// # Errors
/// None that is known: every key is a text.
pub fn json(compared: &Compared<'_>) -> Result<String, Error> {
    let results = compared.news.iter().map(|(new, changes)| {
        let mut result = to_value(changes)?;
        result["new"] = runs(new);
        result["regressions"] = changes.regressions().count().into();
        result["expected_false"] = changes.expected_false().into();
        Ok(result)
    });
    let results: Vec<Value> = results.collect::<Result<_, Error>>()?;
    let news = compared.news.iter();
    let all: usize = news.map(|(_, found)| found.regressions().count()).sum();
    let content = json!({"regressions": all, "base": runs(&compared.base), "results": results});
    documents::of("compare", &content)
}

/// Which runs the results of a side are of: the first, and the others where there are several.
fn runs(side: &Side<'_>) -> Value {
    let mut first = run(&side.first);
    if !side.more.is_empty() {
        first["more"] = side.more.iter().map(run).collect();
    }
    first
}

/// Which run a result is of, and how that ended; nothing if it was cut off.
fn run(source: &Source<'_>) -> Value {
    let run = &source.analysis.run;
    json!({
        "name": source.name,
        "study": run.plan.study.name,
        "scale": run.plan.scale,
        "started": run.started,
        "host": run.environment.host,
        "tool_version": run.environment.tool_version,
        "tool_commit": run.environment.tool_commit,
        "end": source.analysis.end,
    })
}
