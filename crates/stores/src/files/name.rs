//! From keys to file names and back, without allocating.

use crate::{Key, names};
use smallvec::SmallVec;
use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

crate::choice! {
    /// Where the file of a key lies below the store's directory.
    pub enum Layout {
        /// `000123`.
        Dir = "dir",
        /// `00/01/23`.
        Tree = "tree",
    }
}

/// Longer than any name that is made here: 16 digits, two levels of two, and a temporary name of at most
/// 36 bytes.
const CAPACITY: usize = 64;

/// How temporary names begin.
const TEMPORARY: &[u8; 5] = b".tmp-";

/// A path relative to the store's directory, ended by a NUL, ready for system calls. It lies on the stack but
/// where a value's own is longer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name(SmallVec<[u8; CAPACITY]>);

/// The path of a directory, behind which names are put for calls that take a whole path.
pub(crate) struct WholePath {
    path: Vec<u8>,
    directory: usize,
}

impl WholePath {
    pub(crate) fn below(directory: &Path) -> Self {
        let path = [directory.as_os_str().as_bytes(), b"/"].concat();
        Self {
            directory: path.len(),
            path,
        }
    }

    /// Puts a name behind the directory, in place of the one before.
    pub(crate) fn aim(&mut self, name: &Name) {
        self.path.truncate(self.directory);
        self.path
            .extend_from_slice(name.as_c_str().to_bytes_with_nul());
    }

    /// The path of the name that was put last. No path has a NUL before its end: the directory was opened by
    /// it.
    pub(crate) fn as_c_str(&self) -> &CStr {
        CStr::from_bytes_with_nul(&self.path).unwrap_or_default()
    }
}

/// Puts a number's digits behind a name, at least so many.
fn push_number(name: &mut SmallVec<[u8; CAPACITY]>, number: u64, min_digits: usize) {
    let mut digits = [b'0'; 20];
    let mut start = digits.len();
    let mut rest = number;
    while rest > 0 {
        start -= 1;
        digits[start] += (rest % 10) as u8;
        rest /= 10;
    }
    name.extend_from_slice(&digits[start.min(digits.len() - min_digits)..]);
}

impl Name {
    /// The name that a value had where it comes from.
    pub(super) fn own(name: &CStr) -> Self {
        Self(SmallVec::from_slice(name.to_bytes_with_nul()))
    }

    /// The file of a key that was added to values with names of their own.
    pub(super) fn added(key: Key) -> Self {
        Self::ended(SmallVec::from_slice(names::added(key).as_bytes()))
    }

    /// The file of `key`, named as kvtest does (`%06d`, or `%02d/%02d/%02d`). Keys above 999,999
    /// only make the first number longer, so every key has a name of its own.
    pub(crate) fn of(layout: Layout, key: Key) -> Self {
        let mut name = SmallVec::new();
        match layout {
            Layout::Dir => push_number(&mut name, key.0, 6),
            Layout::Tree => {
                push_number(&mut name, key.0 / 10_000, 2);
                for number in [key.0 / 100 % 100, key.0 % 100] {
                    name.push(b'/');
                    push_number(&mut name, number, 2);
                }
            }
        }
        Self::ended(name)
    }

    fn ended(mut name: SmallVec<[u8; CAPACITY]>) -> Self {
        name.push(0);
        Self(name)
    }

    /// A name that was written down, if the layout gives it to any key. Nothing else becomes a
    /// path: an absolute one, `..` and a temporary file are no names.
    pub(crate) fn parse(layout: Layout, text: &[u8]) -> Option<Self> {
        let key = match layout {
            Layout::Dir => parse_number(text, 6)?,
            Layout::Tree => {
                let mut numbers = text.split(|b| *b == b'/').map(|part| parse_number(part, 2));
                let key = tree_key(numbers.next()??, numbers.next()??, numbers.next()??)?;
                if numbers.next().is_some() {
                    return None;
                }
                key
            }
        };
        Some(Self::of(layout, Key(key)))
    }

    /// A temporary file in the directory of this one, where a rename stays within one directory.
    pub(super) fn temporary(&self, process: u32, number: u64) -> Self {
        let text = self.as_bytes();
        let directory = text
            .iter()
            .rposition(|b| *b == b'/')
            .map_or(0, |end| end + 1);
        let mut name = SmallVec::from_slice(&text[..directory]);
        name.extend_from_slice(TEMPORARY);
        push_number(&mut name, u64::from(process), 1);
        name.push(b'-');
        push_number(&mut name, number, 1);
        Self::ended(name)
    }

    /// The directory this file lies in; empty for the store's own.
    pub(super) fn directory(&self) -> Self {
        let end = self.as_bytes().iter().rposition(|b| *b == b'/');
        Self::ended(SmallVec::from_slice(&self.as_bytes()[..end.unwrap_or(0)]))
    }

    /// A number that differs for most names (FNV-1a).
    pub(super) fn scatter(&self) -> usize {
        let mix = |hash: u32, byte: &u8| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
        self.as_bytes().iter().fold(0x811c_9dc5, mix) as usize
    }

    pub(super) fn is_empty(&self) -> bool {
        self.as_bytes().is_empty()
    }

    /// For system calls.
    pub(crate) fn as_c_str(&self) -> &CStr {
        // It ends by its only NUL, so the default is never taken.
        CStr::from_bytes_with_nul(&self.0).unwrap_or_default()
    }

    /// For messages and listings.
    pub(crate) fn as_path(&self) -> &Path {
        Path::new(OsStr::from_bytes(self.as_bytes()))
    }

    /// To be written down; of names that are made of keys.
    pub(crate) fn as_str(&self) -> &str {
        // They are ASCII, so the default is never taken.
        str::from_utf8(self.as_bytes()).unwrap_or_default()
    }

    fn as_bytes(&self) -> &[u8] {
        self.0.strip_suffix(b"\0").unwrap_or_default()
    }
}

/// The number that `text` is a name of, if it has exactly the digits this module would give it.
pub(super) fn parse_number(text: &[u8], min_digits: usize) -> Option<u64> {
    let all_digits = text.len() >= min_digits && text.iter().all(u8::is_ascii_digit);
    if !all_digits || (text.len() > min_digits && text[0] == b'0') {
        return None;
    }
    str::from_utf8(text).ok()?.parse().ok()
}

/// Whether this is the name of a temporary file.
pub(super) fn is_temporary(text: &[u8]) -> bool {
    let numbers = text.strip_prefix(TEMPORARY).unwrap_or_default();
    let mut numbers = numbers.split(|b| *b == b'-').map(|n| parse_number(n, 1));
    matches!(
        (numbers.next(), numbers.next(), numbers.next()),
        (Some(Some(_)), Some(Some(_)), None)
    )
}

/// The key whose file is `top/middle/leaf`, unless no key has such a file.
pub(super) fn tree_key(top: u64, middle: u64, leaf: u64) -> Option<u64> {
    (middle < 100 && leaf < 100)
        .then(|| top.checked_mul(10_000)?.checked_add(middle * 100 + leaf))
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(layout: Layout, key: u64) -> String {
        Name::of(layout, Key(key)).as_path().display().to_string()
    }

    #[test]
    fn names_are_those_of_kvtest() {
        assert_eq!(path(Layout::Dir, 1), "000001");
        assert_eq!(path(Layout::Dir, 123_456), "123456");
        assert_eq!(path(Layout::Tree, 1), "00/00/01");
        assert_eq!(path(Layout::Tree, 123_456), "12/34/56");
        assert_eq!(Name::of(Layout::Dir, Key(0)).as_c_str(), c"000000");
    }

    #[test]
    fn keys_beyond_six_digits_still_have_names_of_their_own() {
        assert_eq!(path(Layout::Dir, 1_000_000), "1000000");
        assert_eq!(path(Layout::Tree, 1_000_001), "100/00/01");
        assert_eq!(path(Layout::Tree, u64::MAX), "1844674407370955/16/15");
        assert_eq!(path(Layout::Dir, u64::MAX), u64::MAX.to_string());
    }

    #[test]
    fn a_temporary_file_lies_beside_the_file_it_replaces() {
        let text = |layout, key| {
            let name = Name::of(layout, Key(key)).temporary(u32::MAX, u64::MAX);
            name.as_path().display().to_string()
        };
        let tail = format!(".tmp-{}-{}", u32::MAX, u64::MAX);
        assert_eq!(text(Layout::Dir, 5), tail);
        assert_eq!(text(Layout::Tree, 5), format!("00/00/{tail}"));
        assert!(text(Layout::Tree, u64::MAX).ends_with(&tail));
        assert!(is_temporary(tail.as_bytes()));
        for other in ["", ".tmp-", ".tmp-1", ".tmp-1-", ".tmp-1-2-3", ".tmp-a-1"] {
            assert!(!is_temporary(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn a_long_name_of_a_value_has_a_directory_and_a_temporary_file_beside_it() {
        let long = "d".repeat(200);
        let text = std::ffi::CString::new(format!("{long}/e/f")).unwrap();
        let name = Name::own(&text);
        assert_eq!(name.as_c_str(), text.as_c_str());
        assert_eq!(name.directory().as_str(), format!("{long}/e"));
        assert_eq!(name.directory().directory().as_str(), long);
        let temporary = name.temporary(1, 2);
        assert_eq!(temporary.as_str(), format!("{long}/e/.tmp-1-2"));
        assert_eq!(
            temporary.as_c_str().to_bytes(),
            temporary.as_str().as_bytes()
        );
        assert!(name.directory().directory().directory().is_empty());
        assert_eq!(Name::added(Key(7)).as_str(), "~00000000000000000007");
    }

    #[test]
    fn only_names_as_written_here_are_read_back() {
        assert_eq!(parse_number(b"000123", 6), Some(123));
        assert_eq!(parse_number(b"1000000", 6), Some(1_000_000));
        assert_eq!(parse_number(b"0000123", 6), None);
        assert_eq!(parse_number(b"123", 6), None);
        assert_eq!(parse_number(b".tmp-1-1", 6), None);
        assert_eq!(parse_number(b"99999999999999999999", 6), None);
    }

    #[test]
    fn a_name_that_the_layout_gives_is_read_back_and_nothing_else_is_a_name() {
        for layout in [Layout::Dir, Layout::Tree] {
            for key in [0, 1, 99, 123_456, 999_999, 1_000_000, u64::MAX] {
                let name = Name::of(layout, Key(key));
                let parsed = Name::parse(layout, name.as_str().as_bytes());
                assert_eq!(parsed, Some(name), "{layout:?} {key}");
            }
        }
        for strange in [
            "",
            "1",
            "0000001",
            "../000001",
            "/000001",
            "000001/",
            "000001\0",
            " 00001",
            "+00001",
            "00/00/01",
            ".tmp-1-1",
            "18446744073709551616",
        ] {
            let name = Name::parse(Layout::Dir, strange.as_bytes());
            assert_eq!(name, None, "{strange:?}");
        }
        for strange in [
            "",
            "00",
            "00/00",
            "00/00/1",
            "00/00/001",
            "00/100/00",
            "00/00/01/",
            "/00/00/01",
            "00//01",
            "../00/01",
            "00/../01",
            "00/00/01/02",
            "000/00/01",
            "000001",
            "1844674407370955/16/16",
        ] {
            let name = Name::parse(Layout::Tree, strange.as_bytes());
            assert_eq!(name, None, "{strange:?}");
        }
    }
}
