//! SQLite's kvtest, verb for verb: `init`, `stat`, `export` and `run`.

mod options;
mod run;
mod stat;

pub(crate) use options::as_typed;
pub(crate) use options::{ColumnOptions, ExportOptions, InitOptions, RunOptions, StatOptions};
pub(crate) use stat::stat;

use crate::error::{CliError, Exit};
use crate::form::Form;
use crate::progress::Watcher;
use crate::screen::{counted, say_with_time};
use clap::Subcommand;
use std::time::Instant;
use stowplan_kvtest::export::{Export, ExportSpec};
use stowplan_kvtest::init::{Init, InitSpec};
use stowplan_model::{Content, DatasetSpec, SizeDistribution, format_bytes};
use stowplan_report::count;
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
        Verb::Init(options) => init(options),
        Verb::Stat(options) => stat(options),
        Verb::Export(options) => export(options),
        Verb::Run(options) => run::run(options),
    }
}

/// On a terminal kvtest's lines stand first, without a title, so that what reads kvtest's output
/// reads ours.
fn under_kvtests_lines(document: Document, form: &Form<'_>) -> Document {
    match form.is_terminal() {
        false => document,
        true => Document {
            title: String::new(),
            ..document
        },
    }
}

/// Makes a database of random blobs.
fn init(options: &InitOptions) -> Result<Exit, CliError> {
    let began = Instant::now();
    let watcher = Watcher::new(options.quiet, "blobs", &options.database)?;
    let init = Init::check(InitSpec {
        database: options.database.clone(),
        dataset: DatasetSpec {
            count: options.count,
            size: sizes(options)?,
            content: Content::Random,
            seed: options.seed,
            from: None,
        },
        page_size: options.pagesize,
    })?;
    let made = init.build(&watcher).map_err(CliError::work)?;
    drop(watcher);
    let sizes = match made.smallest == made.largest {
        true => count(made.largest),
        false => format!("{} to {}", count(made.smallest), count(made.largest)),
    };
    let summary = format!(
        "{}: {} of {sizes} bytes, {} on disk",
        options.database.display(),
        counted(made.values, "blob", "blobs"),
        format_bytes(made.file_bytes)
    );
    say_with_time(options.quiet, &summary, began.elapsed());
    Ok(Exit::Done)
}

fn sizes(options: &InitOptions) -> Result<SizeDistribution, CliError> {
    let (size, variance) = (options.size, options.variance);
    match variance {
        variance if variance > size => Err(CliError::Usage(format!(
            "--variance {variance} is above --size {size}; sizes would be negative"
        ))),
        0 => Ok(SizeDistribution::Fixed { bytes: size }),
        _ if options.as_kvtest => Ok(SizeDistribution::Kvtest { size, variance }),
        _ => Ok(SizeDistribution::Uniform {
            // kvtest makes no empty value either.
            min: (size - variance).max(1),
            max: size.saturating_add(variance),
        }),
    }
}

/// Writes each blob of a database into a file of its own.
fn export(options: &ExportOptions) -> Result<Exit, CliError> {
    let began = Instant::now();
    let watcher = Watcher::new(options.quiet, "files", &options.directory)?;
    let export = Export::check(ExportSpec {
        database: options.database.clone(),
        directory: options.directory.clone(),
        tree: options.tree,
        sync: !options.nosync,
    })?;
    let exported = export.write(&watcher).map_err(CliError::work)?;
    drop(watcher);
    let (place, files) = (
        options.directory.display(),
        counted(exported.files, "file", "files"),
    );
    let summary = format!("{place}: {files}, {}", format_bytes(exported.bytes));
    say_with_time(options.quiet, &summary, began.elapsed());
    Ok(Exit::Done)
}
