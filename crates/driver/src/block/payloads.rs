//! The values that a block writes.

use crate::{DriverError, Result};
use memmap2::{Mmap, MmapOptions};
use std::fs::File;
use std::path::Path;
use stowplan_dataset::sequence::Step;

/// The values that a thread writes, from the first of its steps on.
pub(crate) enum Payloads {
    /// None: it reads.
    None,
    /// As the parent wrote them.
    Prepared(Prepared),
    /// Drawn one by one while the clock runs.
    Timed(Vec<u8>),
}

/// Values in a file, mapped.
pub(crate) struct Prepared {
    values: Mmap,
    offsets: Mmap,
    /// The step that a window's first one is.
    base: usize,
}

impl Prepared {
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "offsets into a mapping")]
    fn get(&self, index: usize, step: &Step) -> &[u8] {
        let offsets: &[[u8; 8]] = self.offsets.as_chunks().0;
        let start = u64::from_le_bytes(offsets[self.base + index]) as usize;
        &self.values[start..start + step.bytes as usize]
    }
}

impl Payloads {
    /// Maps the files of a thread with these steps, and has all of both in memory.
    ///
    /// # Errors
    /// They cannot be read, or do not hold a value for each step.
    pub(crate) fn prepared_in(
        files: &stowplan_model::Payloads,
        mut steps: impl Iterator<Item = Step>,
    ) -> Result<Self> {
        let prepared = Prepared {
            values: map(&files.values)?,
            offsets: map(&files.offsets)?,
            base: 0,
        };
        let length = prepared.values.len() as u64;
        let mut offsets = prepared.offsets.as_chunks().0.iter();
        let inside = steps.all(|step| {
            let bytes = if step.action.puts() { step.bytes } else { 0 };
            let start = offsets.next().map(|offset| u64::from_le_bytes(*offset));
            start.is_some_and(|start| start.saturating_add(u64::from(bytes)) <= length)
        });
        if inside {
            return Ok(Self::Prepared(prepared));
        }
        Err(DriverError::invalid(format!(
            "{} does not hold a value for each step",
            files.values.display()
        )))
    }

    /// Those of a window whose first step is the one with this number.
    pub(crate) fn begin(&mut self, step: usize) {
        if let Self::Prepared(prepared) = self {
            prepared.base = step;
        }
    }

    #[inline]
    pub(super) fn get(&mut self, index: usize, step: &Step) -> &[u8] {
        match self {
            Self::None => &[],
            Self::Prepared(prepared) => prepared.get(index, step),
            Self::Timed(buffer) => {
                let bytes = step.bytes as usize;
                if buffer.len() < bytes {
                    buffer.resize(bytes, 0);
                }
                stowplan_stores::randomness(&mut buffer[..bytes]);
                &buffer[..bytes]
            }
        }
    }

    /// One of those that the parent wrote.
    #[inline]
    pub(super) fn prepared(&self, index: usize, step: &Step) -> &[u8] {
        match self {
            Self::Prepared(prepared) => prepared.get(index, step),
            Self::None | Self::Timed(_) => &[],
        }
    }
}

/// Maps a file, and brings all of it into memory and into the page tables.
fn map(path: &Path) -> Result<Mmap> {
    let file = File::open(path).map_err(DriverError::io("open", path))?;
    #[expect(unsafe_code, reason = "mapping a file is unsafe by nature")]
    // SAFETY: the parent wrote it for this block, and changes it only while this waits for `go`.
    unsafe { MmapOptions::new().populate().map(&file) }.map_err(DriverError::io("map", path))
}
