//! The values that a block writes: which version each has, and the file that holds them.

use crate::sequence::{Step, Window, len, slices, steps};
use std::collections::HashMap;
use std::io::{self, BufWriter, Write};
use stowplan_model::Action;

/// Values of a page or more begin on one, as the destination of reads does.
const PAGE: u64 = 4096;
/// Smaller ones begin on a cache line: were each on a page of its own, each would cost a miss of
/// the TLB, which is no part of what is measured, and a hundred times its memory.
const CACHE_LINE: u64 = 64;

/// Puts the value of a step, if it writes one, behind others which end at `end`; returns where it begins.
fn put(end: &mut u64, step: &Step) -> u64 {
    if !step.action.puts() {
        return *end;
    }
    let bytes = u64::from(step.bytes);
    let unit = if bytes < PAGE { CACHE_LINE } else { PAGE };
    let start = end.next_multiple_of(unit);
    *end = start + bytes;
    start
}

/// Generates the values of steps one behind the other, as `fill` does for a key, a version and its bytes. The
/// versions of the steps begin at `first`.
///
/// # Errors
/// Those of `out`.
pub fn write(
    out: &mut dyn Write,
    windows: &[Window<'_>],
    versions: &Versions,
    first: usize,
    fill: &dyn Fn(u64, u32, &mut [u8]),
) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, out);
    let mut value = Vec::new();
    let mut end = 0;
    let steps = (first..).zip(steps_of(windows));
    for (index, step) in steps.filter(|(_, step)| step.action.puts()) {
        let before = end;
        let gap = usize::try_from(put(&mut end, &step) - before).unwrap_or(0);
        value.clear();
        value.resize(gap + step.bytes as usize, 0);
        let version = versions.given(index, step.action);
        fill(step.key, version, &mut value[gap..]);
        out.write_all(&value)?;
    }
    out.flush()
}

/// Their steps, one after the other.
fn steps_of<'w>(windows: &'w [Window<'_>]) -> impl DoubleEndedIterator<Item = Step> + 'w {
    windows.iter().flat_map(steps)
}

/// Where the value of each step begins, and where the longest part ends; the lead-in goes with the
/// first part.
#[must_use]
pub fn layout(windows: &[Window<'_>], lead_in: u64, parts: &[u64]) -> (Vec<u64>, u64) {
    let mut lengths = parts.iter().copied();
    let mut left = lengths.next().map_or(u64::MAX, |first| lead_in + first);
    let (mut offsets, mut end, mut longest) = (Vec::new(), 0, 0);
    for step in steps_of(windows) {
        if left == 0 {
            left = lengths.next().unwrap_or(u64::MAX);
            end = 0;
        }
        left -= 1;
        offsets.push(put(&mut end, &step));
        longest = end.max(longest);
    }
    (offsets, longest)
}

/// Lengths of parts whose values take no more than `most` bytes each. Cuts lie only at multiples of
/// `unit` steps, so one unit may take more.
#[must_use]
pub fn cut(window: &Window<'_>, most: u64, unit: usize) -> Vec<u64> {
    let total = usize::try_from(len(window)).unwrap_or(usize::MAX);
    let mut parts = Vec::new();
    let (mut from, mut to, mut end) = (0, 0, 0);
    while to < total {
        let next = total.min(to.saturating_add(unit.max(1)));
        let mut with_it = end;
        steps(&slices(window, &(to..next))).for_each(|step| _ = put(&mut with_it, &step));
        if with_it > most && from < to {
            parts.push((to - from) as u64);
            (from, end) = (to, 0);
            continue;
        }
        (to, end) = (next, with_it);
    }
    if from < total {
        parts.push((total - from) as u64);
    }
    parts
}

/// The versions that one thread's steps give.
///
/// An overwrite by the very same bytes is none: an engine may notice, and write nothing. So where a
/// block overwrites a key repeatedly, its versions alternate between two, and each thread has two of
/// its own; the last one that the only thread gives is the block's.
#[derive(Debug, Clone)]
pub struct Versions {
    block: u32,
    thread: u32,
    /// Whether a step gives the other version; nothing where no key comes twice.
    other: Option<Vec<bool>>,
    /// That of what is inserted.
    inserted: u32,
}

/// The bits of a version that tell blocks apart; those above tell apart the versions within one.
const BLOCK_BITS: u32 = 21;

impl Versions {
    /// Those of the steps that a thread does, in their order.
    #[must_use]
    pub fn new(block: u32, thread: u32, repeats: bool, windows: &[Window<'_>]) -> Self {
        let other = repeats.then(|| {
            let mut next: HashMap<u64, bool> = HashMap::new();
            let from_the_end = |step: Step| {
                if !overwrites(step.action) {
                    return false;
                }
                let other = next.entry(step.key).or_insert(true);
                *other = !*other;
                *other
            };
            let mut other: Vec<bool> = steps_of(windows).rev().map(from_the_end).collect();
            other.reverse();
            other
        });
        Self {
            block,
            thread,
            other,
            inserted: 0,
        }
    }

    /// All of one version, what is inserted included.
    #[must_use]
    pub fn all(version: u32) -> Self {
        Self {
            inserted: version,
            ..Self::new(version, 0, false, &[])
        }
    }

    /// The version that a step gives.
    #[must_use]
    pub fn given(&self, index: usize, action: Action) -> u32 {
        match action {
            Action::Insert => self.inserted,
            _ => self.at(index),
        }
    }

    /// The version that an overwrite gives.
    #[must_use]
    pub fn at(&self, index: usize) -> u32 {
        let other = self.other.as_ref().and_then(|other| other.get(index));
        let within = 2 * self.thread + u32::from(other.copied().unwrap_or(false));
        self.block.wrapping_add(within << BLOCK_BITS)
    }
}

/// Whether an action gives a value a new version.
#[must_use]
pub fn overwrites(action: Action) -> bool {
    matches!(action, Action::Overwrite | Action::Modify)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_overwrite_of_a_key_gives_the_blocks_version_and_the_one_before_another() {
        let step = |key, action| Step {
            action,
            ..Step::reading(key, 1)
        };
        let steps = [
            step(1, Action::Overwrite),
            step(2, Action::Modify),
            step(1, Action::Read),
            step(1, Action::Overwrite),
            step(1, Action::Modify),
        ];
        let steps = steps.map(Step::encode);
        let windows = [[&steps[..2], &steps[2..]]];
        let versions = Versions::new(7, 0, true, &windows);
        let [first, second, third, last] = [0, 1, 3, 4].map(|index| versions.at(index));
        assert_eq!((first, second, last), (7, 7, 7));
        assert_ne!(third, 7);
        let others = Versions::new(7, 3, true, &windows);
        for index in [0, 1, 3, 4] {
            assert!(![7, third].contains(&others.at(index)));
        }
        let once = Versions::new(7, 0, false, &windows);
        assert!((0..5).all(|index| once.at(index) == 7));
    }

    fn overwriting(key: u64, bytes: u32) -> Step {
        Step {
            action: Action::Overwrite,
            ..Step::reading(key, bytes)
        }
    }

    #[test]
    fn parts_take_no_more_memory_than_allowed_and_are_cut_where_a_transaction_ends() {
        let steps: Vec<_> = (1..=50).map(|key| overwriting(key, 16).encode()).collect();
        let window: Window<'_> = [&steps[..23], &steps[23..]];
        // Each takes a cache line.
        assert_eq!(cut(&window, 16 * 64, 7), [14, 14, 14, 8]);
        assert_eq!(cut(&window, 64, 20), [20, 20, 10]);
        assert_eq!(cut(&window, 64, usize::MAX), [50]);
        assert_eq!(cut(&window, 64 * 49, 1), [49, 1]);
        assert!(cut(&[&[], &[]], 1, 1).is_empty());
        let (offsets, longest) = layout(&[window], 0, &[49, 1]);
        assert_eq!(
            (offsets[48], offsets[49], longest),
            (48 * 64, 0, 48 * 64 + 16)
        );
        // The lead-in goes with the first part.
        let (offsets, _) = layout(&[window], 10, &[30, 10]);
        assert_eq!((offsets[39], offsets[40]), (39 * 64, 0));
    }
}
