//! The forms in which something is written, and where: a document for the terminal, as a page or as
//! Markdown, and what programs read.

use crate::error::CliError;
use crate::output::{Written, report_may_stand, write_report};
use crate::screen::{self, note};
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use stowplan_report::document::{Detail, Document};
use stowplan_report::render::{html, markdown, terminal};

/// What something can be written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// One self-contained page.
    #[value(alias = "htm")]
    Html,
    /// Markdown.
    #[value(alias = "markdown")]
    Md,
    /// A row per cell.
    Csv,
    /// Everything as one document.
    Json,
    /// What github-action-benchmark reads as customSmallerIsBetter.
    GithubActionBenchmark,
}

/// What is found as a document, as which it is written.
pub(crate) const DOCUMENT: &[Format] = &[Format::Html, Format::Md, Format::Json];
/// What has a table beside the document.
pub(crate) const WITH_TABLE: &[Format] = &[Format::Html, Format::Md, Format::Csv, Format::Json];

/// How what was found is printed on stdout, and what besides.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Printing")]
pub(crate) struct PrintOptions {
    /// Write this format, and nothing else, instead of text.
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with = "json")]
    pub(crate) format: Option<Format>,
    /// Short for '--format json'.
    #[arg(long, hide_short_help = true)]
    pub(crate) json: bool,
    /// Print what was found only, and no progress.
    #[arg(long, short, hide_short_help = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Print all that was found or planned, not its summary.
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

impl PrintOptions {
    /// The format that is asked for; nothing is text.
    pub(crate) fn format(&self) -> Option<Format> {
        self.format.or(self.json.then_some(Format::Json))
    }

    /// The option that asked for a format, as it was typed.
    pub(crate) fn asked(&self) -> Option<String> {
        let named = self
            .format
            .map(|format| format!("--format {}", format.name()));
        named.or(self.json.then(|| "--json".to_owned()))
    }

    /// Whether nobody wants to see how far it is.
    pub(crate) fn is_silent(&self) -> bool {
        self.quiet || self.format().is_some()
    }

    /// Says on stderr what is worth knowing, unless nothing but what was found is to be printed.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            note(text);
        }
    }

    /// How much of a document is shown on a terminal.
    pub(crate) fn detail(&self) -> Detail {
        match (self.quiet, self.verbose) {
            (true, _) => Detail::Answer,
            (_, true) => Detail::Full,
            _ => Detail::Summary,
        }
    }
}

/// Options of verbs that find one document.
#[derive(Debug, Args)]
pub(crate) struct DocumentOptions {
    /// Write to this file; without --format, its ending says which format.
    #[arg(long, value_name = "FILE", help_heading = "Printing")]
    to: Option<PathBuf>,
    /// How to print.
    #[command(flatten)]
    pub(crate) print: PrintOptions,
}

impl DocumentOptions {
    /// What is asked for, one of `known`.
    ///
    /// # Errors
    /// As [`Form::asked`].
    pub(crate) fn asked(&self, known: &[Format]) -> Result<Form<'_>, CliError> {
        Form::asked(self.print.format(), self.to.as_deref(), known)
    }
}

impl Format {
    /// The format that a file's name asks for.
    fn of(path: &Path) -> Option<Self> {
        Self::from_str(path.extension()?.to_str()?, true).ok()
    }

    /// As it is typed.
    pub(crate) fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

/// A form, and where it goes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form<'a> {
    /// Nothing is text for the terminal.
    pub(crate) format: Option<Format>,
    /// Nothing is stdout.
    output: Option<&'a Path>,
}

impl<'a> Form<'a> {
    /// The form that is asked for, one of `known`; without a format, the file's name says which.
    ///
    /// # Errors
    /// There is none of that format, or nothing can be written there, which is told before anyone waits for it.
    pub(crate) fn asked(
        format: Option<Format>,
        output: Option<&'a Path>,
        known: &[Format],
    ) -> Result<Self, CliError> {
        if let Some(other) = format.filter(|format| !known.contains(format)) {
            return Err(CliError::Usage(format!(
                "--format {}: there is none of this; it must be one of {}",
                other.name(),
                names(known)
            )));
        }
        let format = match output {
            Some(path) if format.is_none() => {
                let said = Format::of(path).filter(|said| known.contains(said));
                Some(said.ok_or_else(|| unclear(path, known))?)
            }
            _ => format,
        };
        if let Some(path) = output {
            refuse_others(path, report_may_stand, format)?;
        }
        Ok(Self { format, output })
    }

    /// Whether it is text for the terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.format.is_none()
    }

    /// The file that is named, if one is.
    pub(crate) fn file(&self) -> Option<&'a Path> {
        self.output
    }

    /// Writes a document, on the terminal up to this level of detail; `data` is what it is in a format
    /// for programs.
    ///
    /// # Errors
    /// The file cannot be written, or is not ours.
    pub(crate) fn write(
        &self,
        document: &Document,
        detail: Detail,
        data: impl FnOnce(Format) -> serde_json::Result<String>,
    ) -> Result<(), CliError> {
        let text = match self.format {
            None => terminal::in_short(document, &screen::terminal(detail)),
            Some(Format::Html) => html::render(document),
            Some(Format::Md) => markdown::render(document),
            Some(format) => data(format)?,
        };
        self.deliver(&text)
    }

    /// Prints what was asked for, or writes it to the file that was named.
    ///
    /// # Errors
    /// The file cannot be written, or is not ours.
    pub(crate) fn deliver(&self, text: &str) -> Result<(), CliError> {
        match self.output {
            Some(path) => replace(path, text, self.format),
            None => {
                screen::print(text);
                Ok(())
            }
        }
    }
}

/// Writes a report to a file that was named.
///
/// # Errors
/// It cannot be written, or something that stowplan did not write has its name.
pub(crate) fn replace(path: &Path, text: &str, format: Option<Format>) -> Result<(), CliError> {
    refuse_others(path, |path| write_report(path, text), format)
}

/// What has the name and is not ours is an error.
fn refuse_others(
    path: &Path,
    written: impl FnOnce(&Path) -> Result<Written, CliError>,
    format: Option<Format>,
) -> Result<(), CliError> {
    if path.is_dir() {
        return Err(CliError::Usage(format!(
            "--to {} is a directory; name a file in it",
            path.display()
        )));
    }
    match (written(path)?, format) {
        (Written::Yes, _) => Ok(()),
        (Written::NotOurs, Some(format @ Format::GithubActionBenchmark)) => {
            Err(CliError::Usage(format!(
                "{} exists, and nothing in a file of the format {} tells who wrote it; remove it \
                 first, or redirect stdout to it",
                path.display(),
                format.name()
            )))
        }
        (Written::NotOurs, _) => Err(CliError::Usage(format!(
            "{} exists, and stowplan did not write it; choose another name, or move it away",
            path.display()
        ))),
    }
}

fn unclear(path: &Path, known: &[Format]) -> CliError {
    CliError::Usage(format!(
        "--to {}: its name does not say a format that there is of this: end it in one of {}, or add --format",
        path.display(),
        names(known)
    ))
}

/// `html, md, json`
fn names(formats: &[Format]) -> String {
    let names: Vec<String> = formats.iter().map(|format| format.name()).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_file_says_its_format_in_any_case() {
        for (name, format) in [
            ("a.html", Some(Format::Html)),
            ("a.HTM", Some(Format::Html)),
            ("a.b.markdown", Some(Format::Md)),
            ("a.csv", Some(Format::Csv)),
            (".json", None),
            ("json", None),
            ("a.txt", None),
        ] {
            assert_eq!(Format::of(Path::new(name)), format, "{name}");
        }
    }
}
