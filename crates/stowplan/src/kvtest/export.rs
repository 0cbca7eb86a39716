//! `stowplan kvtest export`.

use super::ExportOptions;
use super::words::broken_off;
use crate::error::{CliError, Exit};
use crate::progress::Steps;
use crate::screen;
use crate::screen::{counted, say_with_time};
use std::time::Instant;
use stowplan_harness::HarnessError;
use stowplan_harness::interrupt::Interrupt;
use stowplan_kvtest::export::{Export, ExportSpec, Exported};
use stowplan_model::format_bytes;

/// Writes each blob of a database into a file of its own.
pub(crate) fn export(options: &ExportOptions) -> Result<Exit, CliError> {
    let began = Instant::now();
    let interrupt = Interrupt::on_signals()
        .map_err(CliError::io("watch for Ctrl-C for", &options.directory))?;
    let export = Export::check(ExportSpec {
        database: options.database.clone(),
        directory: options.directory.clone(),
        tree: options.tree,
        force: options.force,
        sync: !options.nosync,
    })?;
    let values = export.values();
    let steps = Steps::new(options.quiet, "files");
    let exported = export.write(&interrupt, &|done| steps.at(done, values));
    steps.finish();
    match exported {
        Ok(exported) if exported.added < exported.written => {
            screen::warn(&format!(
                "interrupted; {} of {} were added to {} and stay; export again to add the others",
                stowplan_report::count(exported.added),
                counted(exported.written, "file", "files"),
                options.directory.display()
            ));
            Ok(Exit::Interrupted)
        }
        Ok(exported) => {
            say_with_time(options.quiet, &summary(options, &exported), began.elapsed());
            told(options, &exported)
        }
        Err(error) => broken_off(error.into()),
    }
}

fn summary(options: &ExportOptions, exported: &Exported) -> String {
    let place = options.directory.display();
    let written = format!(
        "{place}: {}, {}",
        counted(exported.written, "file", "files"),
        format_bytes(exported.written_bytes)
    );
    if exported.alike + exported.differing == 0 {
        return written;
    }
    format!(
        "{written} added; of {} there already {} alike and {} different",
        stowplan_report::count(exported.alike + exported.differing),
        stowplan_report::count(exported.alike),
        stowplan_report::count(exported.differing)
    )
}

/// Says what makes the directory another one than the database, and ends accordingly.
fn told(options: &ExportOptions, exported: &Exported) -> Result<Exit, CliError> {
    if exported.strangers > 0 {
        screen::warn(&format!(
            "{} has {} whose keys {} does not have; 'stowplan kvtest run' would read them too",
            options.directory.display(),
            counted(exported.strangers, "file", "files"),
            options.database.display()
        ));
    }
    if exported.differing == 0 {
        return Ok(Exit::Done);
    }
    let keys: Vec<String> = exported
        .differing_keys
        .iter()
        .map(ToString::to_string)
        .collect();
    let more = if exported.differing > keys.len() as u64 {
        ", …"
    } else {
        ""
    };
    let error = HarnessError::invalid(format!(
        "{} in {} differ from {} and were left as they are: the values of key {}{more}; \
         remove those that are wrong and export again",
        counted(exported.differing, "file", "files"),
        options.directory.display(),
        options.database.display(),
        keys.join(", ")
    ));
    Err(CliError::Work(Box::new(error)))
}
