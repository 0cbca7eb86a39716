//! A finished file or directory gets its name, unless something has it.

use rustix::fs::{AtFlags, CWD, linkat, unlinkat};
use rustix::io::Errno;
use std::os::fd::BorrowedFd;
use std::path::Path;

/// A name in an opened directory.
pub type At<'a> = (BorrowedFd<'a>, &'a Path);

/// Renames, in one step with the check that nothing has the name.
///
/// # Errors
/// [`Errno::EXIST`]: something has it. Or the file system refuses.
pub fn rename_unless_taken(from: &Path, to: &Path) -> Result<(), Errno> {
    rename_unless_taken_at((CWD, from), (CWD, to))
}

/// The same within opened directories.
///
/// # Errors
/// [`Errno::EXIST`]: something has the name. Or the file system refuses.
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub fn rename_unless_taken_at(from: At<'_>, to: At<'_>) -> Result<(), Errno> {
    use rustix::fs::{RenameFlags, renameat_with};
    match renameat_with(from.0, from.1, to.0, to.1, RenameFlags::NOREPLACE) {
        // The file system, or the kernel, does not know this sort of rename.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => link_unless_taken(from, to),
        other => other,
    }
}

/// The same within opened directories.
///
/// # Errors
/// [`Errno::EXIST`]: something has the name. Or the file system refuses.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub fn rename_unless_taken_at(from: At<'_>, to: At<'_>) -> Result<(), Errno> {
    link_unless_taken(from, to)
}

/// A link fails where a rename would replace.
fn link_unless_taken(from: At<'_>, to: At<'_>) -> Result<(), Errno> {
    linkat(from.0, from.1, to.0, to.1, AtFlags::empty())?;
    unlinkat(from.0, from.1, AtFlags::empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_name_that_is_taken_stays_what_it_is() {
        let directory = tempfile::tempdir().unwrap();
        let (from, to) = (directory.path().join("new"), directory.path().join("old"));
        for rename in [rename_unless_taken_at, link_unless_taken] {
            fs::write(&from, "new").unwrap();
            fs::write(&to, "old").unwrap();
            assert_eq!(rename((CWD, &from), (CWD, &to)), Err(Errno::EXIST));
            assert_eq!(fs::read_to_string(&to).unwrap(), "old");
            fs::remove_file(&to).unwrap();
            assert_eq!(rename((CWD, &from), (CWD, &to)), Ok(()));
            assert_eq!(fs::read_to_string(&to).unwrap(), "new");
            assert!(!from.exists());
        }
    }
}
