//! The names that values had where they come from, for stores that keep them under these (`names=on`).

use crate::options::{Described, flag, refuse};
use crate::{Key, Result, StoreError};
use std::ffi::CStr;
use std::path::Path;
use std::sync::Arc;
use stowplan_dataset::names::{self, beside};

/// The setting `names` of stores that have it.
pub(crate) const NAMES: Described<bool> = flag(
    false,
    "whether values lie under the names that they had where they come from: paths in a directory (datasets with from = a directory)",
)
.shapes_layout();

/// How a name begins that a key has which is not among them: one that was added later.
const ADDED: &str = "~";

/// Digits of the key in such a name: all that a key may have, so that they are in order.
const DIGITS: usize = 20;

/// The names of a store's values, in the order of their keys.
#[derive(Debug)]
pub(crate) struct Names(names::Names);

impl Names {
    /// Those of the store in a directory, if it is to keep them.
    ///
    /// # Errors
    /// There are none, or the file is damaged.
    pub(crate) fn of(directory: &Path, wanted: bool) -> Result<Option<Arc<Self>>> {
        if !wanted {
            return Ok(None);
        }
        let path = beside(directory);
        refuse! {
            !path.exists() => "keep values under their names (names=on)",
                "the dataset has no names; it has them where it is made from a directory (from = \"DIR\")";
        }
        let names = names::Names::open(&path);
        let names = names
            .map_err(|error| StoreError::engine("read the names of values", error.to_string()))?;
        Ok(Some(Arc::new(Self(names))))
    }

    /// The name of a key; nothing where it was added later, and for key 0.
    #[inline]
    pub(crate) fn name(&self, key: Key) -> Option<&CStr> {
        self.0.name(key.0)
    }

    /// The key of a name; nothing where it is none of ours.
    pub(crate) fn key(&self, name: &[u8]) -> Option<Key> {
        let added = || {
            let digits = name.strip_prefix(ADDED.as_bytes())?;
            let number = str::from_utf8(digits).ok()?.parse().ok()?;
            (added(Key(number)).as_bytes() == name).then_some(number)
        };
        self.0.key(name).ok().or_else(added).map(Key)
    }
}

/// The name of a key that is not among the names: behind those in letters and digits.
pub(crate) fn added(key: Key) -> String {
    format!("{ADDED}{:0DIGITS$}", key.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_their_names_and_those_that_are_added_have_others_and_both_are_found_again() {
        let directory = tempfile::tempdir().unwrap();
        let store = directory.path().join("store");
        let refused = Names::of(&store, true).unwrap_err().to_string();
        assert!(refused.contains("the dataset has no names"), "{refused}");
        names::write(&beside(&store), [&b"a/b"[..], b"c"].into_iter()).unwrap();
        assert!(Names::of(&store, false).unwrap().is_none());
        let names = Names::of(&store, true).unwrap().unwrap();
        assert_eq!(names.name(Key(2)), Some(c"c"));
        assert_eq!((names.name(Key(0)), names.name(Key(3))), (None, None));
        for key in [3, u64::MAX] {
            assert_eq!(names.key(added(Key(key)).as_bytes()), Some(Key(key)));
        }
        assert_eq!(names.key(b"a/b"), Some(Key(1)));
        for strange in [&b"a"[..], b"~3", b"~0000000000000000000x", b"~", b"\xff"] {
            assert_eq!(names.key(strange), None);
        }
        assert!(added(Key(3)) < added(Key(u64::MAX)));
    }
}
