//! The caller's buffer.
//!
//! Page-aligned, always: the kernel's copy into a misaligned buffer can take twice as long
//! (docs/method.md, "Work equivalence"), so an ordinary `Vec` would measure the allocator.

use crate::{Result, StoreError};
use memmap2::MmapMut;

/// A growable buffer that begins on a page boundary.
#[derive(Debug)]
pub struct Buffer {
    memory: MmapMut,
    len: usize,
}

impl Buffer {
    /// A buffer that holds `capacity` bytes without growing. Its pages are touched, so that no
    /// page fault of its own falls into a timed window.
    ///
    /// # Errors
    /// The system has no memory left.
    pub fn with_capacity(capacity: usize) -> Result<Self> {
        let mut memory = MmapMut::map_anon(capacity.max(1).next_multiple_of(4096))
            .map_err(|source| StoreError::memory(capacity, source))?;
        memory.fill(1);
        Ok(Self { memory, len: 0 })
    }

    /// The bytes of the last value.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.memory[..self.len]
    }

    /// Room for exactly `len` bytes, to be overwritten; what was there before is arbitrary.
    ///
    /// # Errors
    /// The buffer had to grow and the system has no memory left.
    pub fn room(&mut self, len: usize) -> Result<&mut [u8]> {
        if len > self.memory.len() {
            self.memory = Self::with_capacity(len)?.memory;
        }
        self.len = len;
        Ok(&mut self.memory[..len])
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
        self.len = self.len.min(len);
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
}
