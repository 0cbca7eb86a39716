//! `stowplan verify`.

use super::VerifyOptions;
use super::words::{Watcher, left_out, threads};
use crate::error::{CliError, Exit};
use crate::screen;
use crate::screen::{counted, say_with_time};
use std::time::Instant;
use stowplan_model::format_bytes;

/// Looks whether an archive is whole.
pub(crate) fn verify(options: &VerifyOptions) -> Result<Exit, CliError> {
    let began = Instant::now();
    let watcher = Watcher::new(options.work.quiet, "entries", &options.archive)?;
    let verified =
        stowplan_archive::verify(&options.archive, threads(options.work.threads), &watcher);
    let verified = match watcher.ended(verified)? {
        Ok(verified) => verified,
        Err(exit) => return Ok(exit),
    };
    let place = options.archive.display();
    let whole = format!(
        "{} whole, {}",
        counted(verified.entries, "entry is", "entries are"),
        format_bytes(verified.bytes)
    );
    say_with_time(
        options.work.quiet,
        &format!("{place}: {whole}"),
        began.elapsed(),
    );
    if verified.unchecked > 0 && !options.work.quiet {
        screen::note(&format!(
            "{place}: {} no checksum, since another program stored them: in these a changed byte is not found",
            counted(verified.unchecked, "value has", "values have")
        ));
    }
    for line in &verified.database {
        screen::warn(&format!("damaged: {place}: {line}"));
    }
    Ok(
        match (left_out("damaged", &verified.refused), verified.is_whole()) {
            (Exit::Done, false) => Exit::Failed,
            (end, _) => end,
        },
    )
}
