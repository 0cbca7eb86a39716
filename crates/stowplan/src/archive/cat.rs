//! `stowplan cat`.

use super::CatOptions;
use crate::error::{CliError, Exit};
use std::io::{ErrorKind, Write, stdout};
use stowplan_archive::{ArchiveError, Kind, Reader, find};

/// Writes files of an archive to stdout, as they are.
pub(crate) fn cat(options: &CatOptions) -> Result<Exit, CliError> {
    let mut reader = Reader::open(&options.archive)?;
    let mut found = Vec::new();
    for name in &options.names {
        let entry = find(reader.archive(), name)?;
        if entry.kind != Kind::File {
            return Err(CliError::Usage(format!(
                "{name} of {} is a {}, and no file",
                options.archive.display(),
                if entry.kind == Kind::Link {
                    "link"
                } else {
                    "directory"
                }
            )));
        }
        found.push(entry);
    }
    let mut out = stdout().lock();
    for entry in found {
        match reader.write_to(&entry, &mut out) {
            // A reader that went away wants no more.
            Err(ArchiveError::Io { source, .. }) if source.kind() == ErrorKind::BrokenPipe => {
                return Ok(Exit::Done);
            }
            other => other?,
        }
    }
    match out.flush() {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(CliError::Usage(format!("cannot write to stdout: {error}")))
        }
        _ => Ok(Exit::Done),
    }
}
