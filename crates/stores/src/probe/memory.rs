//! Memory to copy from, and memory whose pages are touched for the first time.

use crate::{Key, Result, StoreError};
use memmap2::{Mmap, MmapMut};
use std::fs::File;
use std::hint::black_box;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Several times what a processor caches.
const MOST: u64 = 256 << 20;

/// The pages around a touched one that Linux maps with it by default, in bytes
/// (`fault_around_bytes`).
const WINDOW: usize = 64 << 10;

/// First touches before the mapping is made anew: more than any block has operations.
const TOUCHES: usize = 1 << 18;

/// The most mappings at once: a process may have 65,530 by default (`vm.max_map_count`).
const MAPPINGS: usize = 4096;

/// Values, or as many of them as are not cached by the processor, in memory of this process.
pub(super) struct Copies(MmapMut);

impl Copies {
    /// Of a file that has `end` bytes.
    pub(super) fn of(values: &File, end: u64, path: &Path) -> Result<Self> {
        let len = usize::try_from(end.clamp(1, MOST)).unwrap_or(usize::MAX);
        let mut memory =
            MmapMut::map_anon(len).map_err(|source| StoreError::memory(len, source))?;
        let filled = usize::try_from(end.min(MOST)).unwrap_or(len);
        values
            .read_exact_at(&mut memory[..filled], 0)
            .map_err(StoreError::io("read", path))?;
        Ok(Self(memory))
    }

    /// The `len` bytes at this offset, which begins anew behind the end of the memory.
    pub(super) fn at(&self, key: Key, offset: u64, len: usize) -> Result<&[u8]> {
        let memory = &self.0;
        let Some(room) = memory.len().checked_sub(len) else {
            let what = format!("copy the {len} bytes of value {key}");
            return Err(StoreError::unsupported(
                what,
                format!("it copies at most {MOST} at once; take smaller values"),
            ));
        };
        let start = offset % (room as u64 + 1);
        let start = usize::try_from(start).unwrap_or(0);
        Ok(&memory[start..start + len])
    }
}

/// A mapped file, one page after the other of which is touched. Pages are mapped where the fault
/// finds them cached, a window at once, so each touch is in another window.
pub(super) struct Faults {
    maps: Vec<Mmap>,
    /// The map, and the window in it, that is touched next.
    next: (usize, usize),
}

impl Faults {
    /// Nothing is mapped before the first touch: whoever fills page tables before a block does not
    /// find it then.
    pub(super) fn new() -> Self {
        Self {
            maps: Vec::new(),
            next: (0, 0),
        }
    }

    /// Touches a page of this file that was not mapped yet.
    pub(super) fn touch(&mut self, values: &File, path: impl Fn() -> PathBuf) -> Result<()> {
        if self.next.0 >= self.maps.len() {
            self.map(values, &path())?;
        }
        let Some(map) = self.maps.get(self.next.0) else {
            return Ok(());
        };
        // Windows are aligned in memory.
        let first = map.as_ptr().addr().wrapping_neg() % WINDOW;
        let position = first + self.next.1 * WINDOW;
        black_box(map.get(position).or(map.first()).copied());
        self.next.1 += 1;
        if position + WINDOW >= map.len() {
            self.next = (self.next.0 + 1, 0);
        }
        Ok(())
    }

    #[expect(
        unsafe_code,
        reason = "memory maps are the interface under measurement"
    )]
    fn map(&mut self, values: &File, path: &Path) -> Result<()> {
        self.maps.clear();
        self.next = (0, 0);
        let failed = |error| StoreError::io("map", path)(error);
        let bytes = values.metadata().map_err(failed)?.len();
        if bytes == 0 {
            return Ok(());
        }
        let windows = usize::try_from(bytes).unwrap_or(usize::MAX) / WINDOW;
        let maps = (TOUCHES / windows.max(1)).clamp(1, MAPPINGS);
        for _ in 0..maps {
            // SAFETY: the file belongs to this store, which never shortens it; a foreign process that
            // did would end this one by SIGBUS. Bytes that change meanwhile are as valid as others.
            self.maps
                .push(unsafe { Mmap::map(values) }.map_err(failed)?);
        }
        Ok(())
    }
}
