//! Values from (seed, key, version).

use crate::HarnessError;
use stowplan_model::DatasetSpec;

/// Makes the sizes and bytes of values, in any order, on any thread.
#[derive(Debug, Clone)]
pub struct Generator {
    seed: u64,
}

impl Generator {
    /// A generator for a dataset.
    ///
    /// # Errors
    /// The numbers of the description contradict each other.
    pub fn new(spec: &DatasetSpec) -> Result<Self, HarnessError> {
        Ok(Self { seed: spec.seed })
    }

    /// Size of the value of `key`, in bytes; the same for every version.
    #[must_use]
    pub fn size(&self, key: u64) -> usize {
        let _ = (self.seed, key);
        0
    }

    /// Fills `out`, which has the value's size, with the bytes of this version; version 0 is
    /// the one that the dataset holds.
    pub fn fill(&self, key: u64, version: u32, out: &mut [u8]) {
        let _ = (key, version, out);
    }

    /// Whether `value` is this version of the value of `key`, byte for byte. Allocates nothing.
    #[must_use]
    pub fn matches(&self, key: u64, version: u32, value: &[u8]) -> bool {
        let _ = (key, version, value);
        false
    }
}
