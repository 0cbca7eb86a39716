//! Changes as one JSON document.

use super::{Compared, Source};
use crate::json;
use serde::Serialize;
use stowplan_analysis::compare::Changes;
use stowplan_model::RunEnd;

#[derive(Serialize)]
struct Content<'a> {
    /// In all results.
    regressions: usize,
    base: Run<'a>,
    results: Vec<Result<'a>>,
}

/// Which run a result is of.
#[derive(Serialize)]
struct Run<'a> {
    name: &'a str,
    study: &'a str,
    scale: &'a str,
    started: &'a str,
    host: &'a str,
    tool_version: &'a str,
    tool_commit: Option<&'a str>,
    /// How it ended; nothing if it was cut off.
    end: Option<&'a RunEnd>,
}

#[derive(Serialize)]
struct Result<'a> {
    new: Run<'a>,
    regressions: usize,
    #[serde(flatten)]
    changes: &'a Changes,
}

/// Everything as one JSON document. Times are nanoseconds, sizes bytes, ratios NEW over BASE; what intervals are widened by are natural logarithms.
///
/// # Errors
/// None that is known: every key is a text.
pub fn render(compared: &Compared<'_>) -> std::result::Result<String, serde_json::Error> {
    let results = compared.news.iter().map(|(new, changes)| Result {
        new: run(new),
        regressions: changes.regressions().count(),
        changes,
    });
    let results: Vec<Result<'_>> = results.collect();
    let content = Content {
        regressions: results.iter().map(|result| result.regressions).sum(),
        base: run(&compared.base),
        results,
    };
    json::of("compare", &content)
}

fn run<'a>(source: &Source<'a>) -> Run<'a> {
    let run = &source.analysis.run;
    Run {
        name: source.name,
        study: &run.plan.study.name,
        scale: &run.plan.scale,
        started: &run.started,
        host: &run.environment.host,
        tool_version: &run.environment.tool_version,
        tool_commit: run.environment.tool_commit.as_deref(),
        end: source.analysis.end.as_ref(),
    }
}
