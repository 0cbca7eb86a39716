//! The values that a block writes.

use super::{Window, steps};
use crate::HarnessError;
use crate::dataset::{Dataset, Generator};
use crate::sequence::{RawStep, Step};
use stowplan_model::Action;

/// Prepared values begin on a page.
const PAYLOAD_ALIGNMENT: usize = 4096;

/// The values that a window writes.
pub(crate) enum Payloads<'d> {
    /// None: it reads.
    None,
    /// Generated beforehand, each on a page boundary as the destination of reads is.
    Prepared(Prepared),
    /// The same; but what is inserted lies in a dataset, as far as that has it.
    Inserting(Prepared, &'d Dataset),
    /// Drawn one by one while the clock runs.
    Timed(Vec<u8>),
    /// Those of a dataset, where they lie.
    Stored(&'d Dataset),
}

/// Values in memory.
pub(crate) struct Prepared {
    memory: memmap2::Mmap,
    /// Begin and length of each.
    ranges: Vec<(usize, usize)>,
}

impl Prepared {
    fn get(&self, index: usize) -> &[u8] {
        let (start, bytes) = self.ranges[index];
        &self.memory[start..start + bytes]
    }
}

impl<'d> Payloads<'d> {
    /// Generates what a window writes: the version that `version` gives for each step, counted from
    /// the window's first; what is inserted has version 0, and is taken from `stored` where that
    /// holds it.
    pub(crate) fn prepare(
        generator: &Generator,
        stored: Option<&'d Dataset>,
        window: &Window<'_>,
        version: impl Fn(usize) -> u32,
    ) -> Result<Self, HarnessError> {
        let count = stored.map_or(0, Dataset::count);
        let generated = |step: &Step| match step.action {
            Action::Insert => step.key > count,
            action => action.puts(),
        };
        let mut ranges = Vec::new();
        let mut end = 0;
        for step in steps(window) {
            let bytes = if generated(&step) {
                step.bytes as usize
            } else {
                0
            };
            ranges.push((end, bytes));
            end += bytes.next_multiple_of(PAYLOAD_ALIGNMENT);
        }
        let memory_error = |error| {
            HarnessError::invalid(format!(
                "cannot get {end} bytes of memory for the values to write: {error}; free some, or measure smaller values"
            ))
        };
        let mut memory = memmap2::MmapMut::map_anon(end.max(1)).map_err(memory_error)?;
        for (index, (step, (start, bytes))) in steps(window).zip(&ranges).enumerate() {
            let version = match step.action {
                Action::Insert => 0,
                _ => version(index),
            };
            generator.fill(step.key, version, &mut memory[*start..start + bytes]);
        }
        let memory = memory.make_read_only().map_err(memory_error)?;
        let prepared = Prepared { memory, ranges };
        Ok(match stored {
            Some(dataset) => Self::Inserting(prepared, dataset),
            None => Self::Prepared(prepared),
        })
    }

    #[inline]
    pub(super) fn get(&mut self, index: usize, step: &Step) -> &[u8] {
        match self {
            Self::None => &[],
            Self::Prepared(prepared) => prepared.get(index),
            Self::Stored(dataset) => dataset.value(step.key),
            Self::Inserting(_, dataset)
                if step.action == Action::Insert && step.key <= dataset.count() =>
            {
                dataset.value(step.key)
            }
            Self::Inserting(prepared, _) => prepared.get(index),
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
}

/// Cuts a window into parts whose prepared values take no more than `most` bytes of memory each,
/// one value at least.
pub(crate) fn parts<'a>(window: &Window<'a>, most: usize) -> Vec<Window<'a>> {
    let mut parts = Vec::new();
    for slice in window {
        let mut rest = *slice;
        while !rest.is_empty() {
            let mut bytes = 0;
            let fits = |raw: &&RawStep| {
                let step = Step::decode(raw);
                if step.action.puts() {
                    bytes += (step.bytes as usize).next_multiple_of(PAYLOAD_ALIGNMENT);
                }
                bytes <= most
            };
            let count = rest.iter().take_while(fits).count().max(1);
            let (part, after) = rest.split_at(count);
            parts.push([part, &[][..]]);
            rest = after;
        }
    }
    parts
}
