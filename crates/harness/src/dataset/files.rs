//! Datasets on disk.

use super::Generator;
use crate::HarnessError;
use std::path::Path;
use stowplan_model::DatasetSpec;

/// A dataset on disk, mapped.
#[derive(Debug)]
pub struct Dataset {
    spec: DatasetSpec,
    generator: Generator,
}

/// Writes the dataset to `directory`, which must not exist: complete under its name, or not at
/// all. `progress` gets the bytes written so far, from any thread.
///
/// # Errors
/// The description contradicts itself, the disk has no room, or the file system refuses.
pub fn materialise(
    spec: &DatasetSpec,
    directory: &Path,
    threads: usize,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Dataset, HarnessError> {
    let _ = (threads, progress, spec);
    Dataset::open(directory)
}

impl Dataset {
    /// Opens what [`materialise`] wrote.
    ///
    /// # Errors
    /// A file is missing or damaged, or of a later format.
    pub fn open(directory: &Path) -> Result<Self, HarnessError> {
        Err(HarnessError::damaged(directory, "not there yet"))
    }

    /// Its description.
    #[must_use]
    pub fn spec(&self) -> &DatasetSpec {
        &self.spec
    }

    /// The generator of its values, for other versions than the one on disk.
    #[must_use]
    pub fn generator(&self) -> &Generator {
        &self.generator
    }

    /// Number of values; keys are 1 to this.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.spec.count
    }

    /// Bytes of all values.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        0
    }

    /// Size of the largest value, in bytes.
    #[must_use]
    pub fn largest(&self) -> usize {
        0
    }

    /// Size of a value, in bytes.
    ///
    /// # Panics
    /// `key` is not from 1 to [`Self::count`].
    #[must_use]
    pub fn size(&self, key: u64) -> usize {
        self.value(key).len()
    }

    /// Version 0 of a value.
    ///
    /// # Panics
    /// `key` is not from 1 to [`Self::count`].
    #[must_use]
    pub fn value(&self, key: u64) -> &[u8] {
        let _ = key;
        &[]
    }
}
