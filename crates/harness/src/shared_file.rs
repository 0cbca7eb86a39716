//! Files that this process shares with a worker for a moment: values to write, keys, latencies. They
//! lie in memory, so that no disk is busy with them while a block is timed.

use crate::{HarnessError, Result};
use rustix::fs::{MemfdFlags, memfd_create};
use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// A file that other processes of this user can open by its path as long as this lives.
#[derive(Debug)]
pub(crate) struct SharedFile {
    file: File,
    path: PathBuf,
}

impl SharedFile {
    /// An empty one.
    pub(crate) fn create() -> Result<Self> {
        let made = memfd_create(c"stowplan", MemfdFlags::CLOEXEC);
        let refused = HarnessError::io("create a file in memory by", Path::new("memfd_create"));
        let file = File::from(made.map_err(refused)?);
        let path = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
        Ok(Self {
            file,
            path: path.into(),
        })
    }

    /// One of this length, whose bytes are still to be written.
    pub(crate) fn of_length(bytes: u64) -> Result<Self> {
        let shared = Self::create()?;
        let sized = shared.file.set_len(bytes);
        let refused = HarnessError::io("get memory for the values to write in", &shared.path);
        sized.map_err(refused)?;
        Ok(shared)
    }

    /// One that holds these numbers, little-endian.
    pub(crate) fn of_numbers(mut numbers: impl Iterator<Item = u64>) -> Result<Self> {
        let mut shared = Self::create()?;
        let mut out = std::io::BufWriter::with_capacity(1 << 16, &shared.file);
        let written = numbers
            .try_for_each(|number| out.write_all(&number.to_le_bytes()))
            .and_then(|()| out.flush());
        drop(out);
        shared.checked(written)?;
        Ok(shared)
    }

    /// Where others find it.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// What became of writing to it or reading from it, with its name.
    pub(crate) fn checked<T>(&mut self, done: std::io::Result<T>) -> Result<T> {
        done.map_err(HarnessError::io("use the shared file", &self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_find_what_was_written_by_its_path_and_write_to_it() {
        let shared = SharedFile::of_numbers([1, 258].into_iter()).unwrap();
        let seen = std::fs::read(shared.path()).unwrap();
        assert_eq!(seen, [1u64.to_le_bytes(), 258u64.to_le_bytes()].concat());
        std::fs::write(shared.path(), "back").unwrap();
        assert_eq!(std::fs::read(shared.path()).unwrap(), b"back");
        let path = shared.path().to_owned();
        drop(shared);
        assert!(std::fs::read(path).is_err());
    }
}
