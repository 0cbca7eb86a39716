//! What is in an archive: all of it, or what stands for certain paths.

use crate::ArchiveError;
use crate::error::Refusal;
use crate::names::{path_of, stored_names};
use crate::sqlar::{Archive, BY_NAME, Entry, Visit};

/// Visits all entries, those inside by name and then those beside the archive by name; what is none, with
/// the reason.
///
/// # Errors
/// The archive cannot be read, or whatever `visit` returns.
pub fn list(archive: &Archive, visit: &mut Visit<'_>) -> Result<(), ArchiveError> {
    archive.rows(false, BY_NAME, &[], visit)?;
    archive.rows(true, BY_NAME, &[], visit)
}

/// The entry that a name stands for, as it is stored or as the path that it is unpacked to.
///
/// # Errors
/// There is none, it is refused, or the archive cannot be read.
pub fn find(archive: &Archive, name: &str) -> Result<Entry, ArchiveError> {
    let mut names = vec![name.to_owned()];
    if let Ok(path) = path_of(name) {
        names.extend(stored_names(&path));
    }
    match archive.named(&names)?.into_iter().next() {
        Some(Ok(entry)) => Ok(entry),
        Some(Err(Refusal { why, .. })) => Err(ArchiveError::invalid(format!(
            "{name} of {} cannot be had: {why}",
            archive.path().display()
        ))),
        None => Err(ArchiveError::invalid(format!(
            "{} has no {name}; 'stowplan ls {0}' lists what it has",
            archive.path().display()
        ))),
    }
}
