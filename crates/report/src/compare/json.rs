//! Changes as one JSON document.

use super::{Compared, Side, Source};
use crate::json;
use serde::Serialize;
use stowplan_analysis::compare::Changes;
use stowplan_model::RunEnd;

#[derive(Serialize)]
struct Content<'a> {
    /// In all results.
    regressions: usize,
    base: Runs<'a>,
    results: Vec<Result<'a>>,
}

/// Which runs the results of a side are of: the first, and the others where there are several.
#[derive(Serialize)]
struct Runs<'a> {
    #[serde(flatten)]
    first: Run<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    more: Vec<Run<'a>>,
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
    new: Runs<'a>,
    regressions: usize,
    /// How many cells would be told apart if nothing had changed and each interval missed as often as it may.
    expected_false: f64,
    #[serde(flatten)]
    changes: &'a Changes,
}

/// Everything as one JSON document. Times are nanoseconds, sizes bytes, ratios NEW over BASE; what intervals are widened by are natural logarithms.
///
/// # Errors
/// None that is known: every key is a text.
pub fn render(compared: &Compared<'_>) -> std::result::Result<String, serde_json::Error> {
    let results = compared.news.iter().map(|(new, changes)| Result {
        new: runs(new),
        regressions: changes.regressions().count(),
        expected_false: changes.expected_false(),
        changes,
    });
    let results: Vec<Result<'_>> = results.collect();
    let content = Content {
        regressions: results.iter().map(|result| result.regressions).sum(),
        base: runs(&compared.base),
        results,
    };
    json::of("compare", &content)
}

fn runs<'a>(side: &Side<'a>) -> Runs<'a> {
    Runs {
        first: run(&side.first),
        more: side.more.iter().map(run).collect(),
    }
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
