//! `stowplan pack`.

use super::PackOptions;
use super::words::{Watcher, counted, kinds, left_out, say, threads};
use crate::error::{CliError, Exit};
use crate::screen;
use std::time::Instant;
use stowplan_archive::{Pack, Packed, directory_of_outside};
use stowplan_model::format_bytes;

/// Packs a directory into an archive.
pub(crate) fn pack(options: &PackOptions) -> Result<Exit, CliError> {
    let began = Instant::now();
    let watcher = Watcher::new(options.work.quiet, "entries", &options.archive)?;
    let pack = Pack {
        source: options.directory.clone(),
        archive: options.archive.clone(),
        page_size: options.page_size.and_then(|size| u32::try_from(size).ok()),
        inline_limit: options.inline_limit,
        store: options.store,
        force: options.force,
        remove_source: options.remove_source,
        threads: threads(options.work.threads),
    };
    let packed = match watcher.ended(pack.run(&watcher))? {
        Ok(packed) => packed,
        Err(exit) => return Ok(exit),
    };
    say(
        options.work.quiet,
        &summary(options, &packed),
        began.elapsed(),
    );
    if !options.work.quiet {
        tell_losses(options, &packed);
    }
    let packed_all = left_out("not packed", &packed.refused);
    let removed_all = left_out("not removed", &packed.kept);
    Ok(match (packed_all, removed_all) {
        (Exit::Done, end) => end,
        (end, _) => end,
    })
}

fn summary(options: &PackOptions, packed: &Packed) -> String {
    let what = kinds(packed.files, packed.directories, packed.links);
    let mut text = format!(
        "{}: {what}, {} in {}",
        options.archive.display(),
        format_bytes(packed.bytes),
        format_bytes(packed.archive_bytes)
    );
    if packed.outside > 0 {
        let beside = directory_of_outside(&options.archive);
        text = format!(
            "{text} and {} in {}",
            counted(packed.outside, "file", "files"),
            beside.display()
        );
    }
    if options.remove_source {
        text = format!(
            "{text}; {} removed",
            counted(packed.removed, "original", "originals")
        );
    }
    text
}

/// What an archive cannot say.
fn tell_losses(options: &PackOptions, packed: &Packed) {
    if packed.hard_linked > 0 {
        screen::note(&format!(
            "{} of {} had other names as well (hard links): each name is a file of its own now",
            counted(packed.hard_linked, "file", "files"),
            options.directory.display()
        ));
    }
    if packed.sparse > 0 {
        screen::note(&format!(
            "{} of {} had holes, which are zeros now",
            counted(packed.sparse, "file", "files"),
            options.directory.display()
        ));
    }
}
