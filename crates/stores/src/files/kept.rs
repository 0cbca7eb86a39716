//! Files that stay open.
//!
//! All files of the store are opened with the first session and closed with the last one, so that
//! none is opened within a timed window; one that is added later is opened on first use. A file that
//! another process replaces is not noticed.

use super::STORE;
use super::name::Name;
use super::named::NamedFiles;
use crate::{Found, Key, Result, StoreError};
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::{PoisonError, RwLock};

/// Descriptors beyond those of the files and of what is open already: the engine of another cell's
/// store, temporary ones.
const SPARE: u64 = 64;
/// Keys below this are looked up by position: at most 4 MiB.
const DENSE: u64 = 1 << 20;

/// See the module.
#[derive(Debug)]
pub(super) struct Kept(RwLock<Descriptors>);

/// By key.
#[derive(Debug, Default)]
struct Descriptors {
    dense: Vec<Option<File>>,
    sparse: BTreeMap<u64, File>,
}

impl Descriptors {
    fn get(&self, key: Key) -> Option<&File> {
        match usize::try_from(key.0) {
            Ok(position) if key.0 < DENSE => self.dense.get(position)?.as_ref(),
            _ => self.sparse.get(&key.0),
        }
    }

    fn set(&mut self, key: Key, file: Option<File>) {
        match usize::try_from(key.0) {
            Ok(position) if key.0 < DENSE => {
                if position >= self.dense.len() {
                    self.dense.resize_with(position + 1, || None);
                }
                self.dense[position] = file;
            }
            _ => {
                self.sparse.remove(&key.0);
                self.sparse.extend(file.map(|file| (key.0, file)));
            }
        }
    }
}

impl Kept {
    /// Opens every file of the store, for reading and writing.
    pub(super) fn of(files: &NamedFiles<'_>) -> Result<Self> {
        let store = files.store;
        // A directory that was dropped has no files.
        let keys = match store.keys(Key(0)) {
            Err(error) if error.is_no_table() => Vec::new(),
            keys => keys?,
        };
        make_room_for(keys.len() as u64)?;
        let mut descriptors = Descriptors::default();
        for key in keys {
            let name = store.name(key);
            descriptors.set(key, open(files, &name)?);
        }
        Ok(Self(RwLock::new(descriptors)))
    }

    /// Does something to the file of `key`, which is opened if it is not open yet.
    pub(super) fn at(
        &self,
        key: Key,
        name: &Name,
        files: &NamedFiles<'_>,
        work: impl FnOnce(&File) -> Result<Found>,
    ) -> Result<Found> {
        {
            let open = self.0.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(file) = open.get(key) {
                return work(file);
            }
        }
        // Nobody removes it between its opening and its being noted.
        let mut descriptors = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if descriptors.get(key).is_none() {
            descriptors.set(key, open(files, name)?);
        }
        match descriptors.get(key) {
            Some(file) => work(file),
            None => Ok(Found::Missing),
        }
    }

    /// Has a file removed, and closes it.
    pub(super) fn remove(&self, key: Key, remove: impl FnOnce() -> Result<bool>) -> Result<bool> {
        let mut descriptors = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let removed = remove();
        descriptors.set(key, None);
        removed
    }

    /// Closes every file.
    pub(super) fn close_all(&self) {
        let mut descriptors = self.0.write().unwrap_or_else(PoisonError::into_inner);
        *descriptors = Descriptors::default();
    }
}

fn open(files: &NamedFiles<'_>, name: &Name) -> Result<Option<File>> {
    Ok(files.open(name, OFlags::RDWR)?.map(File::from))
}

/// Sees to it that so many more files can be open at once: raises this process's own limit as far as
/// it may.
fn make_room_for(files: u64) -> Result<()> {
    let needed = files.saturating_add(open_now()).saturating_add(SPARE);
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_none_or(|most| most >= needed) {
        return Ok(());
    }
    let raised = Rlimit {
        current: Some(needed),
        // Beyond the hard limit only privileged processes get.
        maximum: maximum.map(|most| most.max(needed)),
    };
    setrlimit(Resource::Nofile, raised).map_err(|_: Errno| too_many(files, needed, maximum))
}

#[cold]
fn too_many(files: u64, needed: u64, most: Option<u64>) -> StoreError {
    let most = most.map_or("fewer".to_owned(), |most| format!("at most {most}"));
    StoreError::unsupported(
        STORE,
        format!("keep {files} files open (open=kept)"),
        format!(
            "this process may have {most} open at once, and needs {needed}; raise the limit \
             ('ulimit -n {needed}', as root beyond 'ulimit -Hn'), take fewer values, or use \
             open=directory"
        ),
    )
}

/// Descriptors that are open now; where the system does not list them, none.
fn open_now() -> u64 {
    let listed = std::fs::read_dir(Path::new("/dev/fd"));
    listed.map_or(0, |entries| entries.count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_of_any_key_are_found_until_they_are_closed() {
        let mut descriptors = Descriptors::default();
        let keys = [0, 7, DENSE - 1, DENSE, u64::MAX].map(Key);
        for key in keys {
            assert!(descriptors.get(key).is_none());
            descriptors.set(key, Some(File::open("/dev/null").unwrap()));
            assert!(descriptors.get(key).is_some(), "{key}");
        }
        for key in keys {
            descriptors.set(key, None);
            assert!(descriptors.get(key).is_none(), "{key}");
        }
    }

    #[test]
    fn more_files_than_may_be_open_are_refused_with_the_number_that_is_needed() {
        // No system has a limit of that size, and even root does not get beyond its own (nr_open).
        let message = make_room_for(1 << 40).unwrap_err().to_string();
        assert!(message.contains("ulimit -n 10995"), "{message}");
        assert!(!message.contains('\n'), "{message}");
        make_room_for(1).unwrap();
    }
}
