//! The bytes of a file: in pages that states share, with holes where nothing was written.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Bytes of a page.
pub(crate) const PAGE: u64 = 4096;
const PAGE_BYTES: usize = 4096;

/// Bytes of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Content {
    len: u64,
    /// By number; one that is missing is a hole.
    pages: BTreeMap<u64, Arc<[u8; PAGE_BYTES]>>,
}

/// A part of a page.
struct Part {
    page: u64,
    /// Within the page.
    from: usize,
    len: usize,
}

/// The parts of pages that a range of bytes touches, in order.
fn parts(offset: u64, len: usize) -> impl Iterator<Item = Part> {
    let mut at = offset;
    let end = offset.saturating_add(len as u64);
    std::iter::from_fn(move || {
        if at >= end {
            return None;
        }
        let from = at % PAGE;
        let len = (PAGE - from).min(end - at);
        let part = Part {
            page: at / PAGE,
            from: small(from),
            len: small(len),
        };
        at += len;
        Some(part)
    })
}

/// Of a number that is at most a page.
fn small(number: u64) -> usize {
    usize::try_from(number).unwrap_or(PAGE_BYTES)
}

impl Content {
    /// How long the file is, bytes.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// The pages that hold anything, with where they begin, bytes.
    pub(crate) fn pages(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.pages.iter().map(|(number, page)| {
            let begin = number * PAGE;
            let len = small(self.len.saturating_sub(begin).min(PAGE));
            (begin, page.get(..len).unwrap_or_default())
        })
    }

    /// Up to `size` bytes from `offset` on.
    pub(crate) fn read(&self, offset: u64, size: usize) -> Vec<u8> {
        let left = self.len.saturating_sub(offset);
        let size = usize::try_from(left).unwrap_or(usize::MAX).min(size);
        let mut bytes = Vec::with_capacity(size);
        for part in parts(offset, size) {
            let held = self.pages.get(&part.page);
            let range = part.from..part.from + part.len;
            match held.and_then(|page| page.get(range)) {
                Some(held) => bytes.extend_from_slice(held),
                None => bytes.resize(bytes.len() + part.len, 0),
            }
        }
        bytes
    }

    /// Puts bytes at `offset`; the file grows where they end beyond it.
    pub(crate) fn write(&mut self, offset: u64, mut data: &[u8]) {
        for part in parts(offset, data.len()) {
            let page = self.pages.entry(part.page);
            let page = Arc::make_mut(page.or_insert_with(|| Arc::new([0; PAGE_BYTES])));
            let (now, later) = data.split_at(part.len);
            if let Some(room) = page.get_mut(part.from..part.from + part.len) {
                room.copy_from_slice(now);
            }
            self.len = self
                .len
                .max(part.page * PAGE + (part.from + part.len) as u64);
            data = later;
        }
    }

    /// Makes a hole.
    pub(crate) fn clear(&mut self, offset: u64, len: u64) {
        let end = offset.saturating_add(len).min(self.len);
        if offset >= end {
            return;
        }
        let touched = self.pages.range_mut(offset / PAGE..end.div_ceil(PAGE));
        for (number, page) in touched {
            let begin = number * PAGE;
            let (from, to) = (offset.max(begin) - begin, end.min(begin + PAGE) - begin);
            if let Some(hole) = Arc::make_mut(page).get_mut(small(from)..small(to)) {
                hole.fill(0);
            }
        }
    }

    /// Makes the file so long: what is cut off is gone, what is added reads as zeros.
    pub(crate) fn resize(&mut self, len: u64) {
        if len < self.len {
            self.pages.split_off(&len.div_ceil(PAGE));
            if let Some(page) = self.pages.get_mut(&(len / PAGE)) {
                let cut = Arc::make_mut(page).get_mut(small(len % PAGE)..);
                cut.unwrap_or_default().fill(0);
            }
        }
        self.len = len;
    }
}

impl Hash for Content {
    /// Pages of zeros and holes are the same.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.len.hash(state);
        for (number, page) in &self.pages {
            if page.iter().any(|byte| *byte != 0) {
                number.hash(state);
                state.write(&page[..]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_file_in_pages_reads_as_one_in_a_vector(
            steps in prop::collection::vec((0u64..20_000, prop::collection::vec(any::<u8>(), 0..9_000), any::<bool>()), 1..20)
        ) {
            let mut paged = Content::default();
            let mut flat: Vec<u8> = Vec::new();
            for (at, data, cuts) in steps {
                let start = usize::try_from(at).unwrap();
                if cuts && data.len() % 2 == 0 {
                    paged.clear(at, data.len() as u64);
                    let end = (start + data.len()).min(flat.len());
                    flat.get_mut(start..end).unwrap_or_default().fill(0);
                } else if cuts {
                    paged.resize(at);
                    flat.resize(start, 0);
                } else if !data.is_empty() {
                    paged.write(at, &data);
                    let end = start + data.len();
                    flat.resize(flat.len().max(end), 0);
                    flat[start..end].copy_from_slice(&data);
                }
                prop_assert_eq!(paged.len(), flat.len() as u64);
                prop_assert_eq!(&paged.read(0, flat.len() + 5), &flat);
                prop_assert_eq!(paged.read(100, 5_000), flat.iter().skip(100).take(5_000).copied().collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn a_file_of_a_terabyte_takes_the_room_of_what_was_written() {
        let mut file = Content::default();
        file.resize(1 << 40);
        file.write((1 << 40) - 3, b"end");
        assert_eq!(file.pages().count(), 1);
        assert_eq!(file.read((1 << 40) - 4, 9), b"\0end");
    }
}
