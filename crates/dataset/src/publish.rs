//! A finished file or directory gets its name, unless something has it.

use rustix::fs::{AtFlags, CWD, FileType, linkat, renameat, statat, unlinkat};
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

/// Renames between opened directories, unless the new name is taken.
///
/// # Errors
/// [`Errno::EXIST`]: something has the name. Or the file system refuses.
pub fn rename_unless_taken_at(from: At<'_>, to: At<'_>) -> Result<(), Errno> {
    use rustix::fs::{RenameFlags, renameat_with};
    match renameat_with(from.0, from.1, to.0, to.1, RenameFlags::NOREPLACE) {
        // The file system, or the kernel, does not know this sort of rename.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => link_unless_taken(from, to),
        other => other,
    }
}

/// A link fails where a rename would replace. Directories have no links: they are renamed, which could
/// replace no more than an empty directory that came into being meanwhile.
fn link_unless_taken(from: At<'_>, to: At<'_>) -> Result<(), Errno> {
    let found = statat(from.0, from.1, AtFlags::SYMLINK_NOFOLLOW)?;
    if FileType::from_raw_mode(found.st_mode).is_dir() {
        return match statat(to.0, to.1, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) => Err(Errno::EXIST),
            Err(Errno::NOENT) => renameat(from.0, from.1, to.0, to.1).map_err(taken),
            Err(errno) => Err(errno),
        };
    }
    linkat(from.0, from.1, to.0, to.1, AtFlags::empty())?;
    unlinkat(from.0, from.1, AtFlags::empty())
}

/// What a rename of a directory says of a name that something else has.
fn taken(errno: Errno) -> Errno {
    match errno {
        Errno::NOTEMPTY | Errno::NOTDIR => Errno::EXIST,
        errno => errno,
    }
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

    #[test]
    fn a_directory_gets_its_name_too_and_replaces_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let (from, to) = (directory.path().join("new"), directory.path().join("old"));
        for rename in [rename_unless_taken_at, link_unless_taken] {
            fs::create_dir(&from).unwrap();
            fs::write(from.join("x"), "new").unwrap();
            fs::write(&to, "old").unwrap();
            assert_eq!(rename((CWD, &from), (CWD, &to)), Err(Errno::EXIST));
            fs::remove_file(&to).unwrap();
            fs::create_dir(&to).unwrap();
            assert_eq!(rename((CWD, &from), (CWD, &to)), Err(Errno::EXIST));
            fs::remove_dir(&to).unwrap();
            assert_eq!(rename((CWD, &from), (CWD, &to)), Ok(()));
            assert_eq!(fs::read_to_string(to.join("x")).unwrap(), "new");
            assert!(!from.exists());
            fs::remove_dir_all(&to).unwrap();
        }
    }
}
