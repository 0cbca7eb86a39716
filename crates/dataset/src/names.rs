//! The names of values: relative paths, by key.
//!
//! `names.bin`, little-endian: the eight bytes `stwnames`, a u64 `count`, `count + 1` u64 offsets from
//! the start of the file, then the names one behind the other, by rising key, each ended by a NUL. The
//! name of key `k` begins at the `k-1`th offset, counting from 0. A driver may use them as keys of a
//! store whose keys are names.

use crate::{DatasetError, files};
use memmap2::Mmap;
use std::ffi::CStr;
use std::path::{Path, PathBuf};

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
/// One that is no inner path or not greater than the one before, or the file system refuses.
pub fn write<'n>(
    path: &Path,
    names: impl ExactSizeIterator<Item = &'n [u8]>,
) -> Result<(), DatasetError> {
    let count = names.len();
    let mut end = (OFFSETS + 8 * (count + 1)) as u64;
    let (mut offsets, mut text) = (end.to_le_bytes().to_vec(), Vec::new());
    let mut last: &[u8] = &[];
    for name in names {
        let shown = name.escape_ascii();
        if !is_inner_path(name) {
            let message = format!("'{shown}' is no name of a file below a directory");
            return Err(DatasetError::invalid(message));
        }
        if name <= last {
            let message = format!("the name '{shown}' comes again, or after a greater one");
            return Err(DatasetError::invalid(message));
        }
        last = name;
        text.extend_from_slice(name);
        text.push(0);
        end += name.len() as u64 + 1;
        offsets.extend(end.to_le_bytes());
    }
    let count = (count as u64).to_le_bytes();
    files::write_new(path, &[&MAGIC[..], &count, &offsets, &text].concat())
}

/// Where a store that uses the names of its values finds them: beside its directory.
#[must_use]
pub fn beside(store: &Path) -> PathBuf {
    let mut path = store.as_os_str().to_owned();
    path.push(".names");
    path.into()
}

/// Where the names begin: behind the magic and the count.
const OFFSETS: usize = 16;

/// Names that were written to a file, by key.
#[derive(Debug)]
pub struct Names {
    bytes: Mmap,
    count: usize,
}

impl Names {
    /// Opens what [`write()`] made, and looks at all of it: each name is an inner path, and greater than
    /// the one before.
    ///
    /// # Errors
    /// The file cannot be read, or is none of these.
    pub fn open(path: &Path) -> Result<Self, DatasetError> {
        let damaged = || DatasetError::damaged(path, "it is no list of names in rising order");
        let bytes = files::map(path)?;
        let count = bytes
            .strip_prefix(MAGIC)
            .and_then(|rest| Some(u64::from_le_bytes(*rest.first_chunk()?)));
        let count = count.and_then(|count| usize::try_from(count).ok());
        let names = Self {
            count: count.ok_or_else(damaged)?,
            bytes,
        };
        let mut last: &[u8] = &[];
        for index in 0..names.count {
            let name = names.at(index).ok_or_else(damaged)?;
            if !is_inner_path(name) || name <= last {
                return Err(damaged());
            }
            last = name;
        }
        Ok(names)
    }

    /// Where a name begins, or the last one ends.
    fn offset(&self, index: usize) -> Option<usize> {
        let at = index.checked_mul(8)?.checked_add(OFFSETS)?;
        let bytes = self.bytes.get(at..)?.first_chunk()?;
        usize::try_from(u64::from_le_bytes(*bytes)).ok()
    }

    fn with_nul(&self, index: usize) -> Option<&[u8]> {
        self.bytes.get(self.offset(index)?..self.offset(index + 1)?)
    }

    fn at(&self, index: usize) -> Option<&[u8]> {
        self.with_nul(index)?.strip_suffix(b"\0")
    }

    /// The name of a key; none for 0, or above their number.
    #[must_use]
    #[inline]
    pub fn name(&self, key: u64) -> Option<&CStr> {
        let index = usize::try_from(key.checked_sub(1)?).ok()?;
        let known = (index < self.count).then_some(index)?;
        CStr::from_bytes_with_nul(self.with_nul(known)?).ok()
    }

    /// The key of a name, or the first one whose name is greater, from 1 to one more than there are.
    ///
    /// # Errors
    /// No key has that name; then it is the next one's.
    pub fn key(&self, name: &[u8]) -> Result<u64, u64> {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low.midpoint(high);
            match self.at(middle).unwrap_or_default().cmp(name) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Ok(middle as u64 + 1),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Err(low as u64 + 1)
    }
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

    #[test]
    fn names_are_found_by_key_and_keys_by_name_and_nothing_else_is_taken_for_a_list() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("names.bin");
        write(&path, [&b"a"[..], b"a/b", b"c"].into_iter()).unwrap();
        let names = Names::open(&path).unwrap();
        let at = |key| names.name(key).map(CStr::to_bytes);
        assert_eq!(
            [0, 1, 2, 3, 4].map(at),
            [None, Some(&b"a"[..]), Some(b"a/b"), Some(b"c"), None]
        );
        assert_eq!(
            (names.key(b"a/b"), names.key(b"b"), names.key(b"d")),
            (Ok(2), Err(3), Err(4))
        );
        let whole = std::fs::read(&path).unwrap();
        for end in [0, 8, 15, 30, whole.len() - 1] {
            std::fs::write(&path, &whole[..end]).unwrap();
            assert!(Names::open(&path).is_err(), "{end}");
        }
        let unordered = directory.path().join("unordered");
        let refused = write(&unordered, [&b"b"[..], b"a"].into_iter()).unwrap_err();
        assert!(refused.to_string().contains("'a'"), "{refused}");
        let (mut swapped, names) = (whole, 16 + 8 * 4);
        swapped[names] = b'b';
        std::fs::write(&path, &swapped).unwrap();
        assert!(Names::open(&path).is_err());
    }
}
