//! The values that a block writes.

use super::run::slices;
use super::{Window, len, steps};
use crate::HarnessError;
use crate::dataset::{Dataset, Generator};
use crate::sequence::Step;
use stowplan_model::Action;

/// Prepared values of a page or more begin on one.
const PAGE: usize = 4096;
/// Smaller ones begin on a cache line: were each on a page of its own, each would cost a miss of
/// the TLB, which is no part of what is measured, and a hundred times its memory.
const CACHE_LINE: usize = 64;

/// Where a value lies that is put behind others which end at `end`.
fn start_of(end: usize, bytes: usize) -> usize {
    end.next_multiple_of(if bytes < PAGE { CACHE_LINE } else { PAGE })
}

/// The values that a window writes.
pub(crate) enum Payloads<'d> {
    /// None: it reads.
    None,
    /// Generated beforehand, those of a page or more on a page boundary as the destination of
    /// reads is.
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
            let start = start_of(end, bytes);
            ranges.push((start, bytes));
            end = start + bytes;
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

/// Cuts a window into parts whose prepared values take no more than `most` bytes of memory each.
/// Cuts lie only at multiples of `unit` steps, so one unit may take more.
pub(crate) fn parts<'a>(window: &Window<'a>, most: usize, unit: usize) -> Vec<Window<'a>> {
    let total = usize::try_from(len(window)).unwrap_or(usize::MAX);
    let behind = |end: usize, step: Step| {
        let bytes = step.bytes as usize;
        if step.action.puts() {
            start_of(end, bytes) + bytes
        } else {
            end
        }
    };
    let mut parts = Vec::new();
    let (mut from, mut to, mut end) = (0, 0, 0);
    while to < total {
        let next = total.min(to.saturating_add(unit.max(1)));
        let more = slices(window, &(to..next));
        let with_it = steps(&more).fold(end, behind);
        if with_it > most && from < to {
            parts.push(slices(window, &(from..to)));
            (from, end) = (to, 0);
            continue;
        }
        (to, end) = (next, with_it);
    }
    if from < total {
        parts.push(slices(window, &(from..total)));
    }
    parts
}
