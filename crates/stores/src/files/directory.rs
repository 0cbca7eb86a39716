//! A directory of values looked at from outside: its layout, keys and sizes.

pub use super::name::Layout;

use super::name::{Name, parse_number};
use super::store::{entries, numbered_keys, numbers};
use crate::{Key, Result, StoreError};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The layout of the files in a directory; other files beside them do not matter.
///
/// # Errors
/// There is no file of ours, or there are files of both layouts.
pub fn layout(path: &Path) -> Result<Layout> {
    let (mut dir, mut tree) = (false, false);
    for entry in entries(path)? {
        let entry = entry?;
        let name = entry.file_name();
        let numbered = |digits| parse_number(name.as_bytes(), digits).is_some();
        let kind = entry.file_type();
        let kind = kind.map_err(StoreError::io("stat", &entry.path()))?;
        dir |= kind.is_file() && numbered(6);
        // One file below is enough to know; looking on would only cost.
        tree = tree || (kind.is_dir() && numbered(2) && has_leaf(&entry.path())?);
    }
    match (dir, tree) {
        (true, false) => Ok(Layout::Dir),
        (false, true) => Ok(Layout::Tree),
        (true, true) => Err(unusable(
            path,
            "it has files named like 000001 and others like 00/00/01; move one sort away",
        )),
        (false, false) => Err(unusable(
            path,
            "it has no files named like 000001 or 00/00/01; \
             'stowplan kvtest export' makes such a directory",
        )),
    }
}

/// Whether a directory of the first level has a file of ours.
fn has_leaf(top: &Path) -> Result<bool> {
    for middle in numbers(top, 2)?.into_iter().filter(|number| *number < 100) {
        let middle = top.join(format!("{middle:02}"));
        if middle.is_dir() && numbers(&middle, 2)?.iter().any(|leaf| *leaf < 100) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Calls `visit(key, bytes)` for each file, by rising key.
///
/// # Errors
/// An entry that has a file's name but is no regular file, the key 0, or the file system refuses.
pub fn values(
    path: &Path,
    layout: Layout,
    visit: &mut dyn FnMut(u64, u64) -> Result<()>,
) -> Result<()> {
    let mut keys = numbered_keys(path, layout, Key(0)).map_err(|error| error.of(super::STORE))?;
    keys.sort_unstable();
    for key in keys {
        let file = path.join(Name::of(layout, Key(key)).as_path());
        let found = fs::symlink_metadata(&file).map_err(StoreError::io("stat", &file))?;
        let kind = found.file_type();
        let why = match key {
            0 => "it would be that of key 0, and keys begin at 1",
            _ if kind.is_symlink() => "it is a symbolic link, no regular file",
            _ if kind.is_dir() => "it is a directory, no regular file",
            _ if !kind.is_file() => "it is no regular file",
            _ => {
                visit(key, found.len())?;
                continue;
            }
        };
        return Err(unfit(&file, why));
    }
    Ok(())
}

/// `cannot open PATH: why`.
fn unusable(path: &Path, why: &str) -> StoreError {
    StoreError::io("open", path)(std::io::Error::other(why))
}

/// `cannot use as a value PATH: why; move it away`.
fn unfit(path: &Path, why: &str) -> StoreError {
    let told = std::io::Error::other(format!("{why}; move it away"));
    StoreError::Io {
        action: "use as a value",
        path: path.to_owned(),
        source: told,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &Path, layout: Layout) -> Vec<(u64, u64)> {
        let mut found = Vec::new();
        values(path, layout, &mut |key, bytes| {
            found.push((key, bytes));
            Ok(())
        })
        .unwrap();
        found
    }

    fn write(path: &Path, name: &str, bytes: usize) {
        let path = path.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, vec![1; bytes]).unwrap();
    }

    #[test]
    fn files_are_visited_by_rising_key_with_their_sizes_and_others_are_not() {
        let directory = tempfile::tempdir().unwrap();
        write(directory.path(), "000010", 5);
        write(directory.path(), "000002", 0);
        write(directory.path(), "1000000", 7);
        write(directory.path(), "README", 99);
        assert_eq!(layout(directory.path()).unwrap(), Layout::Dir);
        let expected = [(2, 0), (10, 5), (1_000_000, 7)];
        assert_eq!(found(directory.path(), Layout::Dir), expected);
    }

    #[test]
    fn a_tree_is_visited_by_rising_key_and_an_empty_one_is_none() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir_all(directory.path().join("00/00")).unwrap();
        assert!(layout(directory.path()).is_err());
        write(directory.path(), "00/01/02", 3);
        write(directory.path(), "12/00/00", 4);
        assert_eq!(layout(directory.path()).unwrap(), Layout::Tree);
        assert_eq!(
            found(directory.path(), Layout::Tree),
            [(102, 3), (120_000, 4)]
        );
        write(directory.path(), "000001", 1);
        let error = layout(directory.path()).unwrap_err().to_string();
        assert!(error.contains("move one sort away"), "{error}");
    }

    #[test]
    fn the_key_0_and_what_is_no_file_are_refused_by_name() {
        let directory = tempfile::tempdir().unwrap();
        write(directory.path(), "000000", 3);
        let refused = |path: &Path| values(path, Layout::Dir, &mut |_, _| Ok(())).unwrap_err();
        let told = |named: &str, why: &str| {
            let error = refused(directory.path()).to_string();
            assert!(error.contains(named) && error.contains(why), "{error}");
            assert!(!error.contains("os error"), "{error}");
        };
        told("000000", "key 0");
        fs::remove_file(directory.path().join("000000")).unwrap();
        write(directory.path(), "000001", 3);
        let odd = directory.path().join("000002");
        std::os::unix::fs::symlink("000001", &odd).unwrap();
        told("000002", "is a symbolic link");
        fs::remove_file(&odd).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, &odd, rustix::fs::Mode::RUSR).unwrap();
        told("000002", "is no regular file");
        fs::remove_file(&odd).unwrap();
        fs::create_dir(&odd).unwrap();
        told("000002", "is a directory");
        fs::remove_dir(&odd).unwrap();
        write(directory.path(), "00", 3);
        let error = values(directory.path(), Layout::Tree, &mut |_, _| Ok(())).unwrap_err();
        assert!(error.to_string().contains("Not a directory"), "{error}");
    }
}
