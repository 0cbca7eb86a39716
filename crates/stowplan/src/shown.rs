//! Results as they are shown: on the terminal, and in the files beside them.

use crate::error::CliError;
use crate::form::{Format, PrintOptions};
use crate::loaded::Loaded;
use crate::output::{Written, write_report};
use crate::screen::{self, print, warn};
use std::path::{Path, PathBuf};
use stowplan_model::RunOutcome;
use stowplan_report::document::Document;
use stowplan_report::render::{html, markdown, terminal};
use stowplan_report::shell::quoted;
use stowplan_report::{csv, github_action, json, run};

/// Results as they are shown, in any form.
pub(crate) trait Shown {
    /// All of it; with the raw records if they are asked for.
    fn document(&self, raw: bool) -> Document;

    /// What of it a screen has room for, in tables of so many rows.
    fn screen(&self, rows: usize) -> Document {
        self.document(false).shortened(rows)
    }

    /// What programs read.
    fn data(&self, format: Format) -> Result<String, serde_json::Error>;

    /// Where its page stands.
    ///
    /// # Errors
    /// There is no place for one.
    fn page(&self) -> Result<PathBuf, CliError>;

    /// Whether a summary in Markdown stands beside the page.
    fn has_summary(&self) -> bool {
        true
    }

    /// What follows on a terminal, before it is said where the page is.
    fn next_step(&self) -> Option<String> {
        None
    }
}

impl Shown for Loaded {
    fn document(&self, raw: bool) -> Document {
        run::document(&self.analysis, if raw { self.raw.as_str() } else { "" })
    }

    fn screen(&self, rows: usize) -> Document {
        run::screen(&self.analysis, rows)
    }

    fn data(&self, format: Format) -> Result<String, serde_json::Error> {
        match format {
            Format::Csv => Ok(csv::render(&self.analysis)),
            Format::GithubActionBenchmark => github_action::render(&self.analysis),
            _ => json::render(&self.analysis),
        }
    }

    fn page(&self) -> Result<PathBuf, CliError> {
        Ok(self.path.with_file_name("report.html"))
    }

    /// Of an answer that was cut short, how to go on with the same values.
    fn next_step(&self) -> Option<String> {
        let end = self.analysis.end.as_ref();
        let is_whole = end.is_some_and(|end| end.outcome == RunOutcome::Complete);
        self.analysis.advice.as_ref().filter(|_| !is_whole)?;
        let directory = self.path.parent()?.to_string_lossy();
        let command = format!("stowplan resume {}", quoted(&directory));
        Some(format!("More rounds of the same values: {command}\n"))
    }
}

/// Results as the text of a format.
///
/// # Errors
/// They cannot be put into JSON.
pub(crate) fn rendered(shown: &dyn Shown, format: Format) -> Result<String, CliError> {
    Ok(match format {
        Format::Html => html::render(&shown.document(true)),
        Format::Md => markdown::render(&shown.document(false)),
        _ => shown.data(format)?,
    })
}

/// Prints results and writes the files beside them; whether the page could be written. Those that cannot be are a
/// warning: what was asked for has been printed by then.
pub(crate) fn show(shown: &dyn Shown, options: &PrintOptions) -> Result<bool, CliError> {
    let format = options.format();
    match format {
        None => print_on_terminal(shown, options),
        Some(Format::Html) => {}
        Some(format) => print(&rendered(shown, format)?),
    }
    let page = match shown.page() {
        Ok(page) => page,
        Err(error) => {
            warn(&format!("{error}; the report is printed only"));
            return Ok(false);
        }
    };
    if shown.has_summary() {
        let summary = page.with_file_name("summary.md");
        keep(&summary, &markdown::render(&shown.document(false)));
    }
    let is_kept = keep(&page, &html::render(&shown.document(true)));
    let page = page.display();
    if let (None, Some(text)) = (format, shown.next_step()) {
        print(&text);
    }
    match format {
        None if is_kept => print(&format!("\nThe report: {page}\n")),
        Some(Format::Html) if is_kept => print(&format!("The report: {page}\n")),
        _ => {}
    }
    Ok(is_kept)
}

/// Prints on the terminal what of it a screen has room for, or with `--verbose` all of it.
pub(crate) fn print_on_terminal(shown: &dyn Shown, options: &PrintOptions) {
    let terminal = screen::terminal(options.detail());
    print(&match options.verbose {
        true => terminal::render(&shown.document(false), &terminal),
        false => terminal::on_one_screen(|rows| shown.screen(rows), &terminal),
    });
}

/// Writes a report beside the result; warns and returns false if that is not possible.
pub(crate) fn keep(path: &Path, text: &str) -> bool {
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
