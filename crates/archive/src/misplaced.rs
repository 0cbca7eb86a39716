//! Which entries cannot stand where they say: `unpack`, `verify` and `mount` refuse the same ones.

use crate::error::Refusal;
use crate::names::split;
use crate::sqlar::{Archive, DIRECTORIES, Entry, Kind, Location};
use crate::{ArchiveError, list};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Entries whose path another one has, or that lie below what is no directory: why, by where they lie.
/// Directories come first, then what comes first by name; a path may be that of several directories.
#[derive(Debug, Default)]
pub(crate) struct Misplaced(HashMap<Location, &'static str>);

impl Misplaced {
    /// Those of an archive. While it looks, it keeps a number for every path.
    pub(crate) fn of(archive: &Archive) -> Result<Self, ArchiveError> {
        let mut paths = Paths::default();
        archive.rows(false, DIRECTORIES, &[], &mut |row| {
            if let Ok(entry) = row {
                paths.imply(&entry.path);
            }
            Ok(())
        })?;
        let mut misplaced = HashMap::new();
        list(archive, &mut |row| {
            if let Ok(entry) = row
                && entry.kind != Kind::Directory
                && let Err(why) = paths.take(&entry.path)
            {
                misplaced.insert(entry.place, why);
            }
            Ok(())
        })?;
        Ok(Self(misplaced))
    }

    /// The entry, unless it is one of them.
    pub(crate) fn admit(&self, entry: Entry) -> Result<Entry, Refusal> {
        match self.0.get(&entry.place) {
            Some(why) => Err(Refusal::new(entry.name, *why)),
            None => Ok(entry),
        }
    }
}

/// Whether a path is that of a directory, by its hash.
#[derive(Default)]
struct Paths(HashMap<u64, bool>);

impl Paths {
    /// A directory, and those that it lies in.
    fn imply(&mut self, mut path: &str) {
        while self.0.insert(number(path), true).is_none() && !path.is_empty() {
            path = split(path).0;
        }
    }

    /// Something else, below directories.
    fn take(&mut self, path: &str) -> Result<(), &'static str> {
        if self.0.contains_key(&number(path)) {
            return Err("another entry stands for the same path");
        }
        let directory = split(path).0;
        let mut above = directory;
        while !above.is_empty() {
            match self.0.get(&number(above)) {
                Some(true) => break,
                Some(false) => return Err("it lies in what is no directory"),
                None => above = split(above).0,
            }
        }
        self.imply(directory);
        self.0.insert(number(path), false);
        Ok(())
    }
}

fn number(path: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    hasher.finish()
}
