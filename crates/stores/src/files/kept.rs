//! Files that stay open: all of the store, opened with the session, so that none is opened within a timed
//! window; one that is added later is opened on first use. A file that another process replaces is not
//! noticed.

use super::name::Name;
use super::named::NamedFiles;
use crate::{Key, Result, StoreError};
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs::File;

/// Descriptors beyond those of the files: what is open already, temporary ones.
const SPARE: u64 = 256;

/// Keys below this are looked up by position, at most 4 MiB; those above share the last place.
const DENSE: u64 = 1 << 20;

/// By key.
#[derive(Default)]
pub(super) struct Kept(Vec<Option<File>>);

fn position(key: Key) -> usize {
    usize::try_from(key.0.min(DENSE)).unwrap_or(0)
}

impl Kept {
    /// Opens every file of the store, for reading and writing.
    pub(super) fn of(files: &NamedFiles<'_>) -> Result<Self> {
        // A directory that was dropped has no files.
        let keys = match files.store.keys(Key(0)) {
            Err(error) if error.is_no_table() => Vec::new(),
            keys => keys?,
        };
        make_room_for(keys.len() as u64)?;
        let mut kept = Self::default();
        for key in keys {
            kept.file(key, &files.store.name(key), files)?;
        }
        Ok(kept)
    }

    /// The file of `key`, which is opened if it is not open yet.
    pub(super) fn file(
        &mut self,
        key: Key,
        name: &Name,
        files: &NamedFiles<'_>,
    ) -> Result<Option<&File>> {
        let position = position(key);
        if position >= self.0.len() {
            self.0.resize_with(position + 1, || None);
        }
        let place = &mut self.0[position];
        if place.is_none() || key.0 >= DENSE {
            *place = files.open(name, OFlags::RDWR)?.map(File::from);
        }
        Ok(place.as_ref())
    }

    /// Closes the file of `key`.
    pub(super) fn close(&mut self, key: Key) {
        self.0.get_mut(position(key)).map(Option::take);
    }
}

/// Sees to it that so many more files can be open at once: raises this process's own limit as far as
/// it may.
fn make_room_for(files: u64) -> Result<()> {
    let needed = files.saturating_add(SPARE);
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|most| most >= needed) {
        return Ok(());
    }
    let raised = Rlimit {
        current: Some(needed),
        ..limit
    };
    setrlimit(Resource::Nofile, raised).map_err(|_: Errno| too_many(files, needed))
}

#[cold]
fn too_many(files: u64, needed: u64) -> StoreError {
    StoreError::unsupported(
        format!("keep {files} files open (open=kept)"),
        format!(
            "this process may not have {needed} open at once; raise the limit ('ulimit -n {needed}', as root \
             beyond 'ulimit -Hn'), take fewer values, or use open=directory"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_files_than_may_be_open_are_refused_with_the_number_that_is_needed() {
        // No system has a limit of that size, and even root does not get beyond its own (nr_open).
        let message = make_room_for(1 << 40).unwrap_err().to_string();
        assert!(message.contains("ulimit -n 10995"), "{message}");
        assert!(!message.contains('\n'), "{message}");
        make_room_for(1).unwrap();
    }
}
