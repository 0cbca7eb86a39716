//! The directory beside an archive, with the files that are larger than its inline limit.

use crate::ArchiveError;
use crate::directories::{Directories, Missing};
use crate::foreign::beside;
use rustix::io::Errno;
use std::path::{Path, PathBuf};

/// Where files of an archive lie that were left outside: `ARCHIVE.d`, under their own names.
pub fn directory_of_outside(archive: &Path) -> PathBuf {
    beside(archive, ".d")
}

/// Of paths those that lie below a directory, from there on: what belongs to an archive is no part of it.
pub(crate) fn paths_in(base: &Path, paths: impl IntoIterator<Item = PathBuf>) -> Vec<String> {
    let Ok(base) = base.canonicalize() else {
        return Vec::new();
    };
    let below = |path: PathBuf| {
        let parent = parent_of(&path).canonicalize().ok()?;
        let path = parent.join(path.file_name()?);
        Some(path.strip_prefix(&base).ok()?.to_str()?.to_owned())
    };
    paths.into_iter().filter_map(below).collect()
}

/// Opens that directory. A link in its place is refused: an archive may come from anybody, and with such a
/// link beside it its rows would stand for files of this user.
pub(crate) fn open_outside_of(archive: &Path) -> Result<Directories, Errno> {
    let directory = directory_of_outside(archive);
    let name = directory.file_name().ok_or(Errno::INVAL)?;
    Directories::below_own(parent_of(&directory), name, Missing::Refuse)
}

/// Refuses a name with what an earlier database left beside it: SQLite would take it for part of the
/// new one.
pub(crate) fn refuse_leftovers(archive: &Path) -> Result<(), ArchiveError> {
    for ending in ["-journal", "-wal"] {
        let beside = beside(archive, ending);
        if beside.symlink_metadata().is_ok() {
            return Err(ArchiveError::invalid(format!(
                "{} is there: it belongs to a database {} that was not closed; \
                 open that with sqlite3 once, or remove it, or choose another name",
                beside.display(),
                archive.display()
            )));
        }
    }
    Ok(())
}

/// The directory in which `path` is a name.
pub fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}
