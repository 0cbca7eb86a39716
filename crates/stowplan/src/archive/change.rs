//! `stowplan add` and `stowplan rm`.

use super::words::{Watcher, left_out};
use super::{AddOptions, RmOptions};
use crate::error::{CliError, Exit};
use crate::screen::{counted, say_with_time};
use std::time::Instant;
use stowplan_archive::{Add, Remove};
use stowplan_model::format_bytes;

/// Puts files into an archive.
pub(crate) fn add(options: &AddOptions) -> Result<Exit, CliError> {
    let began = Instant::now();
    let watcher = Watcher::new(options.quiet, "entries", &options.archive)?;
    let add = Add {
        archive: options.archive.clone(),
        base: options.base.clone(),
        paths: options.paths.clone(),
        store: options.no_deflate,
    };
    let added = match watcher.ended(add.run(&watcher))? {
        Ok(added) => added,
        Err(exit) => return Ok(exit),
    };
    let summary = format!(
        "{}: {} added, {} replaced",
        options.archive.display(),
        counted(added.added, "entry", "entries"),
        stowplan_report::count(added.replaced)
    );
    say_with_time(options.quiet, &summary, began.elapsed());
    Ok(left_out("not added", &added.refused))
}

/// Takes files out of an archive.
pub(crate) fn rm(options: &RmOptions) -> Result<Exit, CliError> {
    let began = Instant::now();
    let remove = Remove {
        archive: options.archive.clone(),
        names: options.names.clone(),
        recursive: options.recursive,
        vacuum: options.vacuum,
    };
    let removed = remove.run()?;
    let mut summary = format!(
        "{}: {} removed",
        options.archive.display(),
        counted(removed.entries, "entry", "entries")
    );
    if removed.bytes_after < removed.bytes_before {
        let less = format_bytes(removed.bytes_before - removed.bytes_after);
        summary = format!("{summary}, {less} smaller");
    }
    say_with_time(options.quiet, &summary, began.elapsed());
    Ok(Exit::Done)
}
