//! Which version of each value a built store holds: one little-endian u32 per key, from key 1 on.
//! 0 is the version that the dataset holds; a block of overwrites raises it.

use crate::DatasetError;
use std::fs;
use std::path::Path;

/// All keys at one version.
///
/// # Errors
/// The file system refuses.
pub fn reset(path: &Path, count: u64, version: u32) -> Result<(), DatasetError> {
    write(path, &vec![version; index(count)])
}

/// The versions of `count` keys.
///
/// # Errors
/// The file is not one of so many keys, or the file system refuses.
pub fn read(path: &Path, count: u64) -> Result<Vec<u32>, DatasetError> {
    let bytes = fs::read(path).map_err(DatasetError::io("read versions", path))?;
    if bytes.len() != index(count) * 4 {
        return Err(DatasetError::invalid(format!(
            "{} is damaged: it has {} bytes for {count} keys",
            path.display(),
            bytes.len()
        )));
    }
    let words = bytes.as_chunks().0.iter();
    Ok(words.map(|word| u32::from_le_bytes(*word)).collect())
}

/// Gives keys their versions.
///
/// # Errors
/// There is no such key, or the file system refuses.
pub fn update(path: &Path, new: impl Iterator<Item = (u64, u32)>) -> Result<(), DatasetError> {
    let count = fs::metadata(path)
        .map_err(DatasetError::io("read versions", path))?
        .len()
        / 4;
    let mut versions = read(path, count)?;
    for (key, version) in new {
        match versions.get_mut(index(key).wrapping_sub(1)) {
            Some(slot) => *slot = version,
            None => {
                return Err(DatasetError::invalid(format!(
                    "there is no key {key} in {}",
                    path.display()
                )));
            }
        }
    }
    write(path, &versions)
}

fn write(path: &Path, versions: &[u32]) -> Result<(), DatasetError> {
    let bytes: Vec<u8> = versions
        .iter()
        .flat_map(|version| version.to_le_bytes())
        .collect();
    let temporary = path.with_extension("tmp");
    fs::write(&temporary, bytes).map_err(DatasetError::io("write", &temporary))?;
    fs::rename(&temporary, path).map_err(DatasetError::io("rename", &temporary))
}

fn index(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_kept_by_key() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("versions.bin");
        reset(&path, 5, 0).unwrap();
        update(&path, [(2, 7), (5, 7)].into_iter()).unwrap();
        assert_eq!(read(&path, 5).unwrap(), [0, 7, 0, 0, 7]);
        assert!(
            update(&path, [(6, 8)].into_iter()).is_err(),
            "there is no key 6"
        );
        assert!(
            update(&path, [(0, 8)].into_iter()).is_err(),
            "keys begin at 1"
        );
        assert_eq!(
            read(&path, 5).unwrap(),
            [0, 7, 0, 0, 7],
            "a refused update changes nothing"
        );
        assert!(read(&path, 6).is_err(), "the file must fit the dataset");
    }
}
