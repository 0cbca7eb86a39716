//! SQLite's kvtest, verb for verb: `init`, `stat`, `export` and `run`.

mod export;
mod init;
mod options;
mod run;
mod stat;
mod words;

pub(crate) use options::as_typed;
pub(crate) use options::{ColumnOptions, ExportOptions, InitOptions, RunOptions, StatOptions};
pub(crate) use stat::stat;

use crate::error::{CliError, Exit};
use crate::form::Form;
use clap::Subcommand;
use stowplan_report::document::Document;

/// kvtest's verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Make a database of random blobs.
    Init(InitOptions),
    /// Show what is in a database of blobs, or in a directory of them.
    Stat(StatOptions),
    /// Write each blob of a database into a file of its own.
    Export(ExportOptions),
    /// Time reading or overwriting the blobs of a database or of a directory.
    Run(Box<RunOptions>),
}

/// Does what kvtest does.
pub(crate) fn kvtest(verb: &Verb) -> Result<Exit, CliError> {
    match verb {
        Verb::Init(options) => init::init(options),
        Verb::Stat(options) => stat(options),
        Verb::Export(options) => export::export(options),
        Verb::Run(options) => run::run(options),
    }
}

/// On a terminal kvtest's lines stand first, without a title, so that what reads kvtest's output
/// reads ours.
fn under_kvtests_lines(document: Document, form: &Form<'_>) -> Document {
    if !form.is_terminal() {
        return document;
    }
    Document {
        title: String::new(),
        ..document
    }
}
