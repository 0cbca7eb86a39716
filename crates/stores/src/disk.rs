//! What lies on disk: adding it up, and whether something is there.

use crate::{Result, StoreError};
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use stowplan_model::Footprint;

/// Everything below `root`, itself included; links count as themselves and are not followed.
///
/// # Errors
/// The file system refuses.
pub fn footprint_of_tree(root: &Path) -> Result<Footprint> {
    let mut sum = Footprint::default();
    visit(root, &mut |_, metadata| add(&mut sum, metadata))?;
    Ok(sum)
}

/// The regular files below `root` that are not empty, in no particular order.
///
/// # Errors
/// The file system refuses.
pub fn files_of_tree(root: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    visit(root, &mut |path, metadata| {
        if metadata.is_file() && metadata.len() > 0 {
            files.push(path.to_owned());
        }
    })?;
    Ok(files)
}

/// That nothing is at `path`: for engines that would open what is there instead of making it.
///
/// # Errors
/// Something is.
pub fn refuse_existing(path: &Path) -> Result<()> {
    if fs::symlink_metadata(path).is_ok() {
        let exists = std::io::Error::from(ErrorKind::AlreadyExists);
        return Err(StoreError::io("create", path)(exists));
    }
    Ok(())
}

/// That a regular file is at `path`: for engines that would make what is not there.
///
/// # Errors
/// There is nothing, or something else.
pub fn expect_file(path: &Path) -> Result<()> {
    let metadata = fs::symlink_metadata(path).map_err(StoreError::io("open", path))?;
    if metadata.is_file() {
        return Ok(());
    }
    Err(StoreError::engine(
        format!("open {}", path.display()),
        "it is not a regular file",
    ))
}

/// Shows `root` and everything below it. What vanishes meanwhile is passed over: engines remove
/// files in the background.
fn visit(root: &Path, show: &mut dyn FnMut(&Path, &Metadata)) -> Result<()> {
    show(root, &metadata(root)?);
    let mut pending = vec![root.to_owned()];
    while let Some(directory) = pending.pop() {
        let entries = match fs::read_dir(&directory) {
            Err(e) if e.kind() == ErrorKind::NotFound && directory != root => continue,
            entries => entries.map_err(StoreError::io("list", &directory))?,
        };
        for entry in entries {
            let path = entry.map_err(StoreError::io("list", &directory))?.path();
            let metadata = match fs::symlink_metadata(&path) {
                Err(e) if e.kind() == ErrorKind::NotFound => continue,
                metadata => metadata.map_err(StoreError::io("stat", &path))?,
            };
            show(&path, &metadata);
            if metadata.is_dir() {
                pending.push(path);
            }
        }
    }
    Ok(())
}

/// Those of `paths` that exist.
///
/// # Errors
/// The file system refuses.
pub fn footprint_of_paths<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Result<Footprint> {
    let mut sum = Footprint::default();
    for path in paths {
        match fs::symlink_metadata(path) {
            Ok(metadata) => add(&mut sum, &metadata),
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            Err(e) => return Err(StoreError::io("stat", path)(e)),
        }
    }
    Ok(sum)
}

fn metadata(path: &Path) -> Result<Metadata> {
    fs::symlink_metadata(path).map_err(StoreError::io("stat", path))
}

fn add(sum: &mut Footprint, metadata: &Metadata) {
    // st_blocks counts 512-byte units whatever the file system's block size (POSIX, stat.h).
    sum.allocated_bytes += metadata.blocks() * 512;
    if metadata.is_dir() {
        sum.directories += 1;
    } else {
        sum.files += 1;
        sum.apparent_bytes += metadata.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_the_sum_of_its_files_and_counts_its_directories() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("sub")).unwrap();
        fs::write(directory.path().join("a"), [1; 100]).unwrap();
        fs::write(directory.path().join("sub/b"), [1; 5000]).unwrap();
        let sum = footprint_of_tree(directory.path()).unwrap();
        assert_eq!(
            (sum.apparent_bytes, sum.files, sum.directories),
            (5100, 2, 2)
        );
        assert!(sum.allocated_bytes >= 5100, "{sum:?}");
    }

    #[test]
    fn the_files_of_a_tree_are_those_that_hold_something() {
        let directory = tempfile::tempdir().unwrap();
        let below = directory.path().join("sub");
        fs::create_dir(&below).unwrap();
        fs::write(below.join("data"), [1; 10]).unwrap();
        fs::write(below.join("lock"), []).unwrap();
        let files = files_of_tree(directory.path()).unwrap();
        assert_eq!(files, [below.join("data")]);
    }

    #[test]
    fn paths_that_do_not_exist_take_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let present = directory.path().join("a");
        fs::write(&present, [1; 100]).unwrap();
        let absent = directory.path().join("b");
        let sum = footprint_of_paths([present.as_path(), absent.as_path()]).unwrap();
        assert_eq!(
            (sum.apparent_bytes, sum.files, sum.directories),
            (100, 1, 0)
        );
    }
}
