//! What a store takes on disk, and whether something is there.

use crate::{Result, StoreError};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use stowplan_dataset::tree;
use stowplan_model::Footprint;

/// Everything below `root`, itself included; links count as themselves and are not followed.
///
/// # Errors
/// The file system refuses.
pub fn footprint_of_tree(root: &Path) -> Result<Footprint> {
    Ok(tree::below(root, refused)?.0)
}

/// The regular files below `root` that are not empty, in no particular order.
///
/// # Errors
/// The file system refuses.
pub fn files_of_tree(root: &Path) -> Result<Vec<PathBuf>> {
    Ok(tree::below(root, refused)?.1)
}

/// That nothing is at `path`: for engines that would open what is there instead of making it.
///
/// # Errors
/// Something is.
pub fn refuse_existing(path: &Path) -> Result<()> {
    if fs::symlink_metadata(path).is_ok() {
        let exists = io::Error::from(ErrorKind::AlreadyExists);
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

/// Those of `paths` that exist.
///
/// # Errors
/// The file system refuses.
pub fn footprint_of_paths<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Result<Footprint> {
    tree::at(paths, refused)
}

fn refused(action: &'static str, path: &Path, error: io::Error) -> StoreError {
    StoreError::io(action, path)(error)
}
