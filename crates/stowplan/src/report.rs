//! `stowplan report`: what was found, from the record of a run.

use crate::cli::{PrintOptions, ReportOptions};
use crate::error::{CliError, Exit};
use crate::output::{Written, write_report};
use crate::screen;
use crate::screen::{print, warn};
use std::path::Path;
use stowplan_analysis::{Analysis, analyse};
use stowplan_model::read_records;
use stowplan_report::{html, json, markdown, terminal};

/// Renders a result again.
pub(crate) fn report(options: &ReportOptions) -> Result<Exit, CliError> {
    let path = if options.result.is_dir() {
        options.result.join("result.jsonl")
    } else {
        options.result.clone()
    };
    show(&path, &options.print)?;
    Ok(Exit::Done)
}

/// Analyses a result, prints it and writes the files beside it. Those that cannot be written are
/// a warning: what was asked for has been printed by then.
pub(crate) fn show(result: &Path, options: &PrintOptions) -> Result<Analysis, CliError> {
    let bytes = std::fs::read(result).map_err(CliError::io("read result", result))?;
    let raw = String::from_utf8_lossy(&bytes);
    let (records, problems) = read_records(&raw);
    for problem in problems {
        warn(&format!(
            "{}: {problem}; the line is left out",
            result.display()
        ));
    }
    let analysis = analyse(&records, None).map_err(|error| CliError::Analysis {
        path: result.to_owned(),
        error,
    })?;
    if options.json {
        print(&json::render(&analysis).map_err(|error| CliError::Usage(error.to_string()))?);
    } else {
        let screen = screen::options(options.verbose);
        print(&if options.quiet {
            terminal::brief(&analysis, &screen)
        } else {
            terminal::render(&analysis, &screen)
        });
    }
    let page = result.with_file_name("report.html");
    keep(
        &result.with_file_name("summary.md"),
        &markdown::render(&analysis),
    );
    let written = keep(&page, &html::render(&analysis, &raw));
    if written && !options.json {
        print(&format!("\nThe report: {}\n", page.display()));
    }
    Ok(analysis)
}

/// Writes a report beside the result; warns and returns false if that is not possible.
fn keep(path: &Path, text: &str) -> bool {
    match write_report(path, text) {
        Ok(Written::Yes) => return true,
        Ok(Written::NotOurs) => warn(&format!(
            "{} is left as it is, because stowplan did not write it; move it away to have the \
             report written there",
            path.display()
        )),
        Err(error) => warn(&format!("{error}; the report is printed only")),
    }
    false
}
