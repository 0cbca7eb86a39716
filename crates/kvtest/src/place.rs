//! Names on the file system: how a finished thing gets its own.

use crate::KvtestError;
use rustix::fs::CWD;
use rustix::io::Errno;
use std::path::{Path, PathBuf};
use stowplan_dataset::room;
use stowplan_model::format_bytes;

/// The directory in which `path` is a name.
pub(super) fn directory_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Refuses what surely does not fit into the directory `parent`, which exists.
///
/// # Errors
/// It does not fit, or the file system refuses to tell.
pub(super) fn require_room(path: &Path, parent: &Path, needed: u64) -> Result<(), KvtestError> {
    let free = room::free_bytes(parent)?;
    if free >= needed {
        return Ok(());
    }
    Err(KvtestError::invalid(format!(
        "{} needs at least {} but its file system has {} free; choose another place, or less data",
        path.display(),
        format_bytes(needed),
        format_bytes(free)
    )))
}

/// Gives a file its final name, which nothing has, and makes that permanent. Both names are on
/// one file system.
///
/// # Errors
/// Something has the name by now, or the file system refuses.
pub(super) fn publish_file(from: &Path, to: &Path) -> Result<(), KvtestError> {
    rename_unless_taken(from, to).map_err(|errno| match errno {
        Errno::EXIST => taken(to),
        errno => KvtestError::io("rename a file to", to)(errno),
    })?;
    Ok(room::sync_directory(&directory_of(to))?)
}

/// The refusal to replace what is there.
pub(super) fn taken(path: &Path) -> KvtestError {
    KvtestError::invalid(format!(
        "{} exists already and is never replaced; choose another name, or remove it first",
        path.display()
    ))
}

/// Renames, in one step with the check that nothing has the name.
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub(super) fn rename_unless_taken(from: &Path, to: &Path) -> Result<(), Errno> {
    use rustix::fs::{RenameFlags, renameat_with};
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // The file system, or the kernel, does not know this sort of rename.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => link_unless_taken(from, to),
        other => other,
    }
}

/// Renames, in one step with the check that nothing has the name.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(super) fn rename_unless_taken(from: &Path, to: &Path) -> Result<(), Errno> {
    link_unless_taken(from, to)
}

/// A link fails where a rename would replace.
fn link_unless_taken(from: &Path, to: &Path) -> Result<(), Errno> {
    rustix::fs::linkat(CWD, from, CWD, to, rustix::fs::AtFlags::empty())?;
    rustix::fs::unlink(from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_name_that_is_taken_stays_what_it_is() {
        let directory = tempfile::tempdir().unwrap();
        let (from, to) = (directory.path().join("new"), directory.path().join("old"));
        for rename in [rename_unless_taken, link_unless_taken] {
            fs::write(&from, "new").unwrap();
            fs::write(&to, "old").unwrap();
            assert_eq!(rename(&from, &to), Err(Errno::EXIST));
            assert_eq!(fs::read_to_string(&to).unwrap(), "old");
            fs::remove_file(&to).unwrap();
            assert_eq!(rename(&from, &to), Ok(()));
            assert_eq!(fs::read_to_string(&to).unwrap(), "new");
            assert!(!from.exists());
        }
    }
}
