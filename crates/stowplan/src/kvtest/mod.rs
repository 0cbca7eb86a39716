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
use crate::screen::{counted, say_with_time, warn};
use clap::Subcommand;
use std::time::Instant;
use stowplan_harness::HarnessError;
use stowplan_kvtest::export::{Export, ExportSpec, Exported};
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
        force: options.force,
        sync: !options.nosync,
    })?;
    let exported = export.write(&watcher).map_err(CliError::work)?;
    drop(watcher);
    let place = options.directory.display();
    let files = counted(exported.written, "file", "files");
    if exported.added < exported.written {
        warn(&format!(
            "interrupted; {} of {files} were added to {place} and stay; export again to add the others",
            count(exported.added)
        ));
        return Ok(Exit::Interrupted);
    }
    let mut summary = format!("{place}: {files}, {}", format_bytes(exported.written_bytes));
    let before = exported.alike + exported.differing;
    if before > 0 {
        let (alike, differing) = (count(exported.alike), count(exported.differing));
        let before = count(before);
        summary = format!(
            "{summary} added; of {before} there already {alike} alike and {differing} different"
        );
    }
    say_with_time(options.quiet, &summary, began.elapsed());
    told(options, &exported)
}

/// Says what makes the directory another one than the database, and ends accordingly.
fn told(options: &ExportOptions, exported: &Exported) -> Result<Exit, CliError> {
    let (place, database) = (options.directory.display(), options.database.display());
    if exported.strangers > 0 {
        warn(&format!(
            "{place} has {} whose keys {database} does not have; 'stowplan kvtest run' would read them too",
            counted(exported.strangers, "file", "files")
        ));
    }
    if exported.differing == 0 {
        return Ok(Exit::Done);
    }
    let keys: Vec<String> = exported.differing_keys.iter().map(u64::to_string).collect();
    let more = match exported.differing > keys.len() as u64 {
        true => ", …",
        false => "",
    };
    Err(CliError::work(HarnessError::invalid(format!(
        "{} in {place} differ from {database} and were left as they are: the values of key {}{more}; \
         remove those that are wrong and export again",
        counted(exported.differing, "file", "files"),
        keys.join(", ")
    ))))
}
