//! What must hold of any bytes whatever that lie where a store is looked for. Property
//! tests damage what was written, fuzz targets (`fuzz/`) find more by following the code.
//!
//! Each function panics where something does not hold.

#![expect(
    clippy::missing_panics_doc,
    reason = "a check says that it failed by panicking"
)]

use crate::files::name::{Layout, Name};
use std::path::{Component, Path};

/// A name that was found in a directory or in a database: what is taken for one of ours is the name
/// of exactly one key, and leads nowhere else.
pub fn name(text: &[u8]) {
    for layout in [Layout::Dir, Layout::Tree] {
        let Some(name) = Name::parse(layout, text) else {
            continue;
        };
        assert_eq!(name.as_str().as_bytes(), text, "it is written one way only");
        let plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        assert!(name.as_path().components().all(plain), "{name:?}");
    }
}

/// An index of the flat store: it is refused, or lists its values by rising key within the file.
pub fn flat_index(path: &Path) {
    crate::flat::hostile(path);
}
