//! Changes as one JSON document.

use super::{Compared, Side, Source};
use crate::json;
use serde_json::{Error, Value, json, to_value};
use stowplan_analysis::compare::Changes;

/// Everything as one JSON document. Times are nanoseconds, sizes bytes, ratios NEW over BASE; what intervals are widened by are natural logarithms.
///
/// # Errors
/// None that is known: every key is a text.
pub fn render(compared: &Compared<'_>) -> Result<String, Error> {
    let regressions = |changes: &Changes| changes.regressions().count();
    let results = compared
        .news
        .iter()
        .map(|(new, changes)| -> Result<Value, Error> {
            let mut result = to_value(changes)?;
            result["new"] = runs(new);
            result["regressions"] = regressions(changes).into();
            result["expected_false"] = changes.expected_false().into();
            Ok(result)
        });
    let results: Vec<Value> = results.collect::<Result<_, _>>()?;
    let all = compared
        .news
        .iter()
        .map(|(_, changes)| regressions(changes));
    let content = json!({
        "regressions": all.sum::<usize>(),
        "base": runs(&compared.base),
        "results": results,
    });
    json::of("compare", &content)
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
