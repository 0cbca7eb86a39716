//! `stowplan unpack`.

use super::UnpackOptions;
use super::words::{Watcher, kinds, left_out, threads};
use crate::error::{CliError, Exit};
use crate::screen;
use crate::screen::{counted, say_with_time};
use std::time::Instant;
use stowplan_archive::Unpack;
use stowplan_model::format_bytes;

/// Unpacks an archive into a directory.
pub(crate) fn unpack(options: &UnpackOptions) -> Result<Exit, CliError> {
    let began = Instant::now();
    let watcher = Watcher::new(options.work.quiet, "entries", &options.directory)?;
    let unpack = Unpack {
        archive: options.archive.clone(),
        directory: options.directory.clone(),
        force: options.force,
        setuid: options.setuid,
        sync: !options.nosync,
        threads: threads(options.work.threads),
    };
    let unpacked = match watcher.ended(unpack.run(&watcher))? {
        Ok(unpacked) => unpacked,
        Err(exit) => return Ok(exit),
    };
    let summary = format!(
        "{}: {}, {}",
        options.directory.display(),
        kinds(unpacked.files, unpacked.directories, unpacked.links),
        format_bytes(unpacked.bytes)
    );
    say_with_time(options.work.quiet, &summary, began.elapsed());
    if unpacked.set_id_dropped > 0 && !options.work.quiet {
        screen::note(&format!(
            "{} had setuid or setgid bits, which were not kept; --setuid keeps them",
            counted(unpacked.set_id_dropped, "file", "files")
        ));
    }
    Ok(left_out("not unpacked", &unpacked.refused))
}
