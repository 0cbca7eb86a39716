//! `stowplan report`: what was found, from the record of a run.

use crate::cli::{PrintOptions, ReportOptions};
use crate::error::{CliError, Exit};
use crate::output::{Written, write_report};
use crate::screen;
use crate::screen::{print, warn};
use std::path::{Path, PathBuf};
use stowplan_analysis::{Analysis, analyse};
use stowplan_model::{Record, read_records};
use stowplan_report::{html, json, markdown, terminal};

/// A result as it was read.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// Its file.
    pub(crate) path: PathBuf,
    /// The text of that file; bytes that are no UTF-8 are replaced.
    pub(crate) raw: String,
    /// The lines that could be read.
    pub(crate) records: Vec<Record>,
    /// What they say.
    pub(crate) analysis: Analysis,
}

/// Reads and analyses a result: its directory, or its `result.jsonl`. Lines that cannot be read
/// are named on stderr and left out.
///
/// # Errors
/// It cannot be read, or is no result that this version understands.
pub(crate) fn load(path: &Path) -> Result<Loaded, CliError> {
    let path = if path.is_dir() {
        path.join("result.jsonl")
    } else {
        path.to_owned()
    };
    let bytes = std::fs::read(&path).map_err(CliError::io("read result", &path))?;
    let raw = String::from_utf8_lossy(&bytes).into_owned();
    let (records, problems) = read_records(&raw);
    for problem in problems {
        warn(&format!(
            "{}: {problem}; the line is left out",
            path.display()
        ));
    }
    let analysis = analyse(&records, None).map_err(|error| CliError::Analysis {
        path: path.clone(),
        error,
    })?;
    Ok(Loaded {
        path,
        raw,
        records,
        analysis,
    })
}

/// Renders a result again.
pub(crate) fn report(options: &ReportOptions) -> Result<Exit, CliError> {
    show(&options.result, &options.print)?;
    Ok(Exit::Done)
}

/// Analyses a result, prints it and writes the files beside it. Those that cannot be written are
/// a warning: what was asked for has been printed by then.
pub(crate) fn show(result: &Path, options: &PrintOptions) -> Result<Analysis, CliError> {
    let Loaded {
        path,
        raw,
        analysis,
        ..
    } = load(result)?;
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
    let page = path.with_file_name("report.html");
    keep(
        &path.with_file_name("summary.md"),
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
