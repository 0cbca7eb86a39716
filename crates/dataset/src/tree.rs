//! What lies in a file system, added up.

use std::fs::Metadata;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use stowplan_model::Footprint;

/// What lies at `root` and below it: what it takes, and its regular files that are not empty, in no particular
/// order. Links count as themselves and are not followed; what vanishes meanwhile is passed over: engines remove
/// files in the background.
///
/// # Errors
/// The file system refuses: `failed` is told what was attempted, and on what.
pub fn below<E>(
    root: &Path,
    failed: impl Fn(&'static str, &Path, io::Error) -> E,
) -> Result<(Footprint, Vec<PathBuf>), E> {
    let (mut sum, mut files) = (Footprint::default(), Vec::new());
    let mut pending = vec![root.to_owned()];
    while let Some(path) = pending.pop() {
        let vanished = |error: &io::Error| error.kind() == ErrorKind::NotFound && path != root;
        let found = match path.symlink_metadata() {
            Err(error) if vanished(&error) => continue,
            found => found.map_err(|error| failed("look at", &path, error))?,
        };
        add(&mut sum, &found);
        if found.is_dir() {
            let entries = match path.read_dir() {
                Err(error) if vanished(&error) => continue,
                entries => entries.map_err(|error| failed("list", &path, error))?,
            };
            for entry in entries {
                pending.push(entry.map_err(|error| failed("list", &path, error))?.path());
            }
        } else if found.is_file() && found.len() > 0 {
            files.push(path);
        }
    }
    Ok((sum, files))
}

/// What those of `paths` take that exist.
///
/// # Errors
/// The file system refuses: `failed` is told what was attempted, and on what.
pub fn at<E>(
    paths: impl IntoIterator<Item = impl AsRef<Path>>,
    failed: impl Fn(&'static str, &Path, io::Error) -> E,
) -> Result<Footprint, E> {
    let mut sum = Footprint::default();
    for path in paths {
        let path = path.as_ref();
        match path.symlink_metadata() {
            Ok(found) => add(&mut sum, &found),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(failed("look at", path, error)),
        }
    }
    Ok(sum)
}

fn add(sum: &mut Footprint, found: &Metadata) {
    // In units of 512 bytes, whatever the file system's block size (POSIX, stat.h).
    sum.allocated_bytes += found.blocks() * 512;
    if found.is_dir() {
        sum.directories += 1;
    } else {
        sum.files += 1;
        sum.apparent_bytes += found.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_tree_is_the_sum_of_its_files_and_counts_its_directories() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::create_dir(at("sub")).unwrap();
        fs::write(at("lock"), []).unwrap();
        fs::write(at("sub/data"), [1; 5000]).unwrap();
        let (sum, files) = below(directory.path(), |_, _, error| error).unwrap();
        let counted = (sum.apparent_bytes, sum.files, sum.directories);
        assert_eq!(counted, (5000, 2, 2));
        assert!(sum.allocated_bytes >= 5000, "{sum:?}");
        assert_eq!(files, [at("sub/data")], "only what holds something");
    }

    #[test]
    fn paths_that_do_not_exist_take_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let [present, absent] = ["a", "b"].map(|name| directory.path().join(name));
        fs::write(&present, [1; 100]).unwrap();
        let sum = at([present, absent], |_, _, error| error).unwrap();
        let counted = (sum.apparent_bytes, sum.files, sum.directories);
        assert_eq!(counted, (100, 1, 0));
    }
}
