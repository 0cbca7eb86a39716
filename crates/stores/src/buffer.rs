//! The caller's buffer.
//!
//! Page-aligned, always: the kernel's copy into a misaligned buffer can take twice as long
//! (docs/method.md, "Work equivalence"), so an ordinary `Vec` would measure the allocator. Only a
//! store that is to measure it asks for new memory, and is told apart by that.

use crate::{Result, StoreError};
use memmap2::MmapMut;
use std::io::{self, ErrorKind};

/// A growable buffer that begins on a page boundary.
#[derive(Debug)]
pub struct Buffer {
    memory: MmapMut,
    len: usize,
    /// Holds the last value instead, if it was read into newly allocated memory.
    new: Option<Vec<u8>>,
}

impl Buffer {
    /// A buffer that holds `capacity` bytes without growing. Its pages are touched, so that no
    /// page fault of its own falls into a timed window.
    ///
    /// # Errors
    /// The system has no memory left.
    pub fn with_capacity(capacity: usize) -> Result<Self> {
        let whole_pages = capacity.max(1).checked_next_multiple_of(4096);
        let mut memory = whole_pages
            .ok_or_else(|| io::ErrorKind::OutOfMemory.into())
            .and_then(MmapMut::map_anon)
            .map_err(|source| StoreError::memory(capacity, source))?;
        memory.fill(1);
        Ok(Self {
            memory,
            len: 0,
            new: None,
        })
    }

    /// The bytes of the last value.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match &self.new {
            None => &self.memory[..self.len],
            Some(new) => new,
        }
    }

    /// Room for exactly `len` bytes, to be overwritten; what was there before is arbitrary.
    ///
    /// # Errors
    /// The buffer had to grow and the system has no memory left.
    pub fn room(&mut self, len: usize) -> Result<&mut [u8]> {
        if len > self.memory.len() {
            self.memory = Self::with_capacity(len)?.memory;
        }
        self.new = None;
        self.len = len;
        Ok(&mut self.memory[..len])
    }

    /// All the room there is without growing, to be overwritten and then truncated.
    pub(crate) fn whole_room(&mut self) -> &mut [u8] {
        self.new = None;
        self.len = self.memory.len();
        &mut self.memory
    }

    /// Twice as much room, and all of it as [`Self::whole_room`] gives it. The content stays.
    pub(crate) fn grow(&mut self) -> Result<&mut [u8]> {
        let more = self.memory.len().saturating_mul(2);
        let mut larger = Self::with_capacity(more)?.memory;
        larger[..self.memory.len()].copy_from_slice(&self.memory);
        self.memory = larger;
        Ok(self.whole_room())
    }

    /// Memory for the next value that is allocated for it alone: for stores that measure what that
    /// costs. It lies wherever the allocator has put it, and its end is what is in it. That of the
    /// last value is given back before.
    pub(crate) fn new_memory(&mut self, capacity: usize) -> Result<&mut Vec<u8>> {
        self.new = None;
        let mut new = Vec::new();
        new.try_reserve_exact(capacity)
            .map_err(|_| StoreError::memory(capacity, ErrorKind::OutOfMemory.into()))?;
        Ok(self.new.insert(new))
    }

    /// Whether the last value lies in memory of its own.
    #[cfg(any(test, feature = "conformance"))]
    pub(crate) fn is_new(&self) -> bool {
        self.new.is_some()
    }

    /// Replaces the content by a copy of `value`.
    ///
    /// # Errors
    /// As [`Self::room`].
    pub fn copy_from(&mut self, value: &[u8]) -> Result<()> {
        self.room(value.len())?.copy_from_slice(value);
        Ok(())
    }

    /// Shortens the content, after less was read than there was room for.
    pub fn truncate(&mut self, len: usize) {
        match &mut self.new {
            None => self.len = self.len.min(len),
            Some(new) => new.truncate(len),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_buffer_begins_on_a_page_boundary_also_after_growing() {
        let mut buffer = Buffer::with_capacity(10).unwrap();
        assert_eq!(buffer.room(5).unwrap().as_ptr().addr() % 4096, 0);
        assert_eq!(buffer.room(1 << 20).unwrap().as_ptr().addr() % 4096, 0);
        buffer.copy_from(b"abc").unwrap();
        assert_eq!(buffer.bytes(), b"abc");
        buffer.truncate(1);
        assert_eq!(buffer.bytes(), b"a");
    }

    #[test]
    fn the_buffer_grows_with_its_content_and_is_back_on_its_page_after_new_memory() {
        let mut buffer = Buffer::with_capacity(4096).unwrap();
        buffer.whole_room().fill(7);
        let room = buffer.grow().unwrap();
        assert_eq!((room.len(), &room[..4096]), (8192, &[7; 4096][..]));
        buffer.truncate(5000);
        assert_eq!(buffer.bytes().len(), 5000);
        buffer.new_memory(3).unwrap().extend(b"new");
        assert!(buffer.is_new());
        assert_eq!(buffer.bytes(), b"new");
        buffer.truncate(1);
        assert_eq!(buffer.bytes(), b"n");
        buffer.copy_from(b"old").unwrap();
        assert!(!buffer.is_new());
        assert_eq!(buffer.bytes().as_ptr().addr() % 4096, 0);
    }

    #[test]
    fn a_length_beyond_all_memory_is_an_error() {
        let mut buffer = Buffer::with_capacity(10).unwrap();
        for len in [usize::MAX, usize::MAX - 4096, 1 << 60] {
            assert!(buffer.room(len).is_err(), "{len}");
        }
    }
}
