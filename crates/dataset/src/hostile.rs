//! What must hold of any bytes whatever in the files that this crate reads. Property tests damage
//! what was written, fuzz targets (`fuzz/`) find more by following the code.
//!
//! Each function panics where something does not hold.

#![expect(
    clippy::missing_panics_doc,
    reason = "a check says that it failed by panicking"
)]

use crate::Dataset;
use crate::sequence::{Sequence, Step};
use std::path::Path;

/// A dataset on disk: it is refused, or every value lies within its file, and none is larger than
/// it says. Returns whether it was taken for a whole one.
pub fn dataset(directory: &Path) -> bool {
    let Ok(dataset) = Dataset::open(directory) else {
        return false;
    };
    let mut bytes = 0;
    for key in 1..=dataset.count() {
        let value = dataset.value(key);
        assert_eq!(value.len(), dataset.size(key));
        assert!(value.len() <= dataset.largest());
        bytes += value.len() as u64;
    }
    assert_eq!(bytes, dataset.total_bytes());
    // The sizes that the description gives need not be those of the file.
    for key in [0, 1, dataset.count(), u64::MAX] {
        let size = dataset.generator().size(key);
        assert!(u32::try_from(size).is_ok(), "{size}");
    }
    true
}

/// A sequence on disk: it is refused, or any window of it is what single steps are.
pub fn sequence(path: &Path) -> bool {
    let Ok(sequence) = Sequence::open(path) else {
        return false;
    };
    let count = sequence.count();
    for first in [0, 1, count - 1, count, u64::MAX - count] {
        let length = count.min(3);
        let steps = sequence.window(first, length).map(|window| {
            let steps = window.into_iter().flatten().map(Step::decode);
            steps.collect::<Vec<_>>()
        });
        let one_by_one = (0..length).map(|n| sequence.get(first % count + n));
        assert_eq!(steps.ok(), Some(one_by_one.collect()));
    }
    assert!(sequence.window(0, count + 1).is_err());
    true
}
