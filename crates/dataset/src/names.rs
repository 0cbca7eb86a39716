//! The names of values: relative paths, by key.
//!
//! `names.bin`, little-endian: the eight bytes `stwnames`, a u64 `count`, `count + 1` u64 offsets from
//! the start of the file, then the names one behind the other, by rising key, each ended by a NUL. The
//! name of key `k` begins at the `k-1`th offset, counting from 0. A driver may use them as keys of a
//! store whose keys are names.

use crate::DatasetError;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// What such a file begins with.
pub const MAGIC: &[u8; 8] = b"stwnames";

/// Whether a name can be a path below a directory: relative, without `.`, `..`, empty components or
/// NUL, of at most 4,000 bytes and 255 in each component.
#[must_use]
pub fn is_inner_path(name: &[u8]) -> bool {
    let fits = |part: &[u8]| {
        (1..=255).contains(&part.len()) && part != b"." && part != b".." && !part.contains(&0)
    };
    name.len() <= 4_000 && name.split(|byte| *byte == b'/').all(fits)
}

/// Writes names to a file that does not exist yet.
///
/// # Errors
/// One that is no inner path, or the file system refuses.
pub fn write<'n>(
    path: &Path,
    names: impl ExactSizeIterator<Item = &'n [u8]> + Clone,
) -> Result<(), DatasetError> {
    let failed = || DatasetError::io("write", path);
    let file = File::create_new(path).map_err(failed())?;
    let mut out = BufWriter::with_capacity(1 << 18, &file);
    let count = names.len() as u64;
    let mut put = |bytes: &[u8]| out.write_all(bytes).map_err(failed());
    put(MAGIC)?;
    put(&count.to_le_bytes())?;
    let mut offset = 16 + 8 * (count + 1);
    put(&offset.to_le_bytes())?;
    for name in names.clone() {
        if !is_inner_path(name) {
            return Err(DatasetError::invalid(format!(
                "'{}' is no name of a file below a directory",
                name.escape_ascii()
            )));
        }
        offset += name.len() as u64 + 1;
        put(&offset.to_le_bytes())?;
    }
    for name in names {
        put(name)?;
        put(&[0])?;
    }
    out.flush().map_err(failed())?;
    drop(out);
    file.sync_data().map_err(DatasetError::io("sync", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_leads_out_of_a_directory() {
        for name in ["a", "a/b c/ü", "...", "a/.b", ".git"] {
            assert!(is_inner_path(name.as_bytes()), "{name}");
        }
        let long = "x".repeat(256);
        for name in [
            "", "/", "/etc/x", "..", "../x", "a/../b", "a//b", "a/", "./a", "a\0b", &long,
        ] {
            assert!(!is_inner_path(name.as_bytes()), "{name}");
        }
        let directory = tempfile::tempdir().unwrap();
        let names = [&b"a"[..], b"../b"];
        let refused = write(&directory.path().join("n"), names.into_iter()).unwrap_err();
        assert!(refused.to_string().contains("'../b'"), "{refused}");
    }

    #[test]
    fn names_lie_where_the_offsets_say() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("names.bin");
        write(&path, [&b"a/b"[..], b"c"].into_iter()).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        assert_eq!((&bytes[..8], number(8)), (&MAGIC[..], 2));
        let offsets = [16, 24, 32].map(number);
        assert_eq!(offsets, [40, 44, 46]);
        assert_eq!(&bytes[40..], b"a/b\0c\0");
    }
}
