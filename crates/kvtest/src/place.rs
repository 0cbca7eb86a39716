//! Names on the file system: how a finished thing gets its own, and what it has before.

use crate::KvtestError;
use rustix::io::Errno;
use std::path::Path;
use stowplan_dataset::publish::rename_unless_taken;
use stowplan_dataset::temporary::Use;
use stowplan_stores::DATABASE_FILE;

/// Gives a file its final name, which nothing has. Both names are on one file system.
///
/// # Errors
/// Something has the name by now, or the file system refuses.
pub(super) fn publish_file(from: &Path, to: &Path) -> Result<(), KvtestError> {
    rename_unless_taken(from, to).map_err(|errno| match errno {
        Errno::EXIST => taken(to),
        errno => KvtestError::io("rename a file to", to)(errno),
    })
}

/// The refusal to replace what is there.
pub(super) fn taken(path: &Path) -> KvtestError {
    KvtestError::invalid(format!(
        "{} exists already and is never replaced; choose another name, or remove it first",
        path.display()
    ))
}

/// A database or a directory that is being made.
pub(super) const MADE: Use = Use {
    prefix: ".stowplan-",
    suffix: ".tmp",
    // As any new directory.
    mode: 0o777,
    holds: |name| {
        let digits = name.bytes().all(|byte| byte.is_ascii_digit());
        digits || name.starts_with(DATABASE_FILE) || name.starts_with(".tmp-")
    },
};

/// What lies beside a run of data that is already there: the list of its keys comes first.
pub const RUN: Use = Use {
    prefix: "stowplan-run-",
    suffix: "",
    mode: 0o700,
    holds: |name| name.ends_with(".bin"),
};
