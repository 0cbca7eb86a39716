//! Single files into an archive that is there, and out of it: each call is one transaction.

use crate::error::{Doing, Fault, Refusals};
use crate::foreign::beside;
use crate::names::{path_of, split, stored_names};
use crate::outside::{directory_of_outside, open_outside_of, parent_of, paths_in};
use crate::pack::insert;
use crate::read::Reader;
use crate::source::{Body, Item, Source};
use crate::sqlar::{Archive, Entry, Kind, Listed, Location, ROW};
use crate::walk::{Found, Walk};
use crate::{ArchiveError, Watch, list};
use rustix::fs::{AtFlags, unlinkat};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use stowplan_dataset::temporary::{Temporary, Use};

/// Where large values are deflated to.
const SCRATCH: Use = Use {
    prefix: ".stowplan-add-",
    suffix: "",
    mode: 0o700,
    holds: |name| name.starts_with(".tmp"),
};

/// What to put into an archive.
#[derive(Debug, Clone)]
pub struct Add {
    /// The archive, which is there.
    pub archive: PathBuf,
    /// Where the paths begin; names in the archive are paths from here.
    pub base: PathBuf,
    /// Files, links and directories with everything in them.
    pub paths: Vec<String>,
    /// Nothing is deflated.
    pub store: bool,
}

/// What was put into it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Added {
    /// Entries that are new.
    pub added: u64,
    /// Entries that took the place of others of their names.
    pub replaced: u64,
    /// What was not added.
    pub refused: Refusals,
}

/// What to take out of an archive.
#[derive(Debug, Clone)]
pub struct Remove {
    /// The archive.
    pub archive: PathBuf,
    /// Names of entries.
    pub names: Vec<String>,
    /// Directories go with everything in them.
    pub recursive: bool,
}

impl Add {
    /// Adds everything that can be added, in one transaction: all of it is there, or nothing.
    ///
    /// # Errors
    /// It is no archive or in use, a path leads out of the base, the disk is full, or `watch` wants it
    /// to end. The archive is then what it was.
    pub fn run(&self, watch: &dyn Watch) -> Result<Added, ArchiveError> {
        let paths = self.paths.iter().map(|path| within(path));
        let paths = paths.collect::<Result<Vec<String>, ArchiveError>>()?;
        let reader = Reader::of(Archive::open_for_change(&self.archive)?);
        self.add(&paths, reader, watch).inspect_err(|_| {
            // After a full disk SQLite leaves it to the next one.
            let _ = Archive::open(&self.archive);
        })
    }

    fn add(
        &self,
        paths: &[String],
        mut reader: Reader,
        watch: &dyn Watch,
    ) -> Result<Added, ArchiveError> {
        let scratch = Temporary::create(&SCRATCH, parent_of(&self.archive))?;
        let mut change = Change {
            source: Source::of(&self.base, scratch.path(), self.store, None)?,
            path: &self.archive,
            added: Added::default(),
            leftover: Vec::new(),
        };
        for path in paths {
            let skip = own_names(&self.base, &self.archive, scratch.path());
            let mut walk = Walk::from(&self.base, path, skip)?;
            while let Some(found) = walk.next(&mut change.added.refused)? {
                if watch.interrupted() {
                    return Err(ArchiveError::Interrupted);
                }
                change.put_or_leave(&mut reader, &found)?;
                let done = change.added.added + change.added.replaced;
                watch.progress(done, done);
            }
        }
        let (added, leftover) = (change.added, change.leftover);
        commit(reader.archive())?;
        remove_files(&mut reader, &leftover);
        Ok(added)
    }
}

/// The path of something that is to be added, from the base.
fn within(path: &str) -> Result<String, ArchiveError> {
    path_of(path).map_err(|why| {
        ArchiveError::invalid(format!(
            "{path} cannot be the name of an entry: {why}; --base says where names begin"
        ))
    })
}

/// Paths from the base that are not added: the archive and what belongs to it.
fn own_names(base: &Path, archive: &Path, scratch: &Path) -> Vec<String> {
    let with = |ending| beside(archive, ending);
    let journals = ["-journal", "-wal", "-shm"].map(with);
    let others = [archive.to_owned(), scratch.to_owned()];
    let all = others.into_iter().chain(journals);
    paths_in(base, all.chain([directory_of_outside(archive)]))
}

struct Change<'a> {
    source: Source,
    path: &'a Path,
    added: Added,
    /// Files beside the archive that it no longer knows once this is done.
    leftover: Vec<Entry>,
}

impl Change<'_> {
    /// One that cannot be added leaves what was there.
    fn put_or_leave(&mut self, reader: &mut Reader, found: &Found) -> Result<(), ArchiveError> {
        let path = self.path;
        let step = |reader: &Reader, sql: &str| {
            let done = reader.archive().connection().execute_batch(sql);
            done.doing("change", path)
        };
        step(reader, "SAVEPOINT entry")?;
        let leftover = self.leftover.len();
        if let Err(fault) = self.put(reader, found) {
            fault.told(&found.path, &mut self.added.refused)?;
            self.leftover.truncate(leftover);
            step(reader, "ROLLBACK TO entry")?;
        }
        step(reader, "RELEASE entry")
    }

    fn put(&mut self, reader: &mut Reader, found: &Found) -> Result<(), Fault> {
        let mut item = self.source.read(found)?;
        let archive = reader.archive();
        check_place(archive, &item)?;
        let mut replaced = false;
        while let Some(entry) = entry_of(archive, &item.path)? {
            delete(archive, &entry)?;
            if entry.place.outside {
                self.leftover.push(entry);
            }
            replaced = true;
        }
        let connection = archive.connection();
        insert(connection, self.path, archive.has_checksums(), &mut item)?;
        let rowid = connection.last_insert_rowid();
        prove(reader, rowid, &item)?;
        match replaced {
            true => self.added.replaced += 1,
            false => self.added.added += 1,
        }
        Ok(())
    }
}

/// Directories stay directories, and nothing lies below anything else.
fn check_place(archive: &Archive, item: &Item) -> Result<(), Fault> {
    let mut above = split(&item.path).0;
    while !above.is_empty() {
        let entry = entry_of(archive, above)?;
        if entry.is_some_and(|entry| entry.kind != Kind::Directory) {
            let why = format!("{above} in the archive is no directory");
            return Err(Fault::Entry(why));
        }
        above = split(above).0;
    }
    let is_directory = matches!(item.body, Body::None);
    match entry_of(archive, &item.path)? {
        Some(entry) if (entry.kind == Kind::Directory) != is_directory => Err(Fault::entry(
            "a directory and something else cannot take each other's place; rm it first",
        )),
        _ => Ok(()),
    }
}

/// Reads back what was written: within the transaction, so that nothing wrong is ever committed.
fn prove(reader: &mut Reader, rowid: i64, item: &Item) -> Result<(), Fault> {
    let wrong = || {
        Fault::Fatal(ArchiveError::invalid(format!(
            "what was read back of {} is not what was added; nothing was changed",
            item.path
        )))
    };
    let mut written = None;
    reader.archive().rows(false, ROW, &[&rowid], &mut |row| {
        written = row.ok();
        Ok(())
    })?;
    let mut sum = crc32fast::Hasher::new();
    let entry = written.ok_or_else(wrong)?;
    reader.copy(&entry, &mut |piece| {
        sum.update(piece);
        Ok(())
    })?;
    let whole = sum.finalize() == item.crc32 && entry.path == item.path;
    match whole && (matches!(item.body, Body::Link(_)) || entry.size == item.size) {
        true => Ok(()),
        false => Err(wrong()),
    }
}

/// The entry of a path, wherever it lies.
fn entry_of(archive: &Archive, path: &str) -> Result<Option<Entry>, ArchiveError> {
    let found = archive.named(&stored_names(path))?;
    Ok(found.into_iter().find_map(Result::ok))
}

fn delete(archive: &Archive, entry: &Entry) -> Result<(), ArchiveError> {
    let connection = archive.connection();
    let sql = match entry.place.outside {
        true => "DELETE FROM sqlar_outside WHERE rowid = ?1",
        false => "DELETE FROM sqlar WHERE rowid = ?1",
    };
    let mut deleted = connection.execute(sql, [entry.place.rowid]);
    if archive.has_checksums() {
        let sql = "DELETE FROM sqlar_crc32 WHERE name = ?1";
        deleted = deleted.and_then(|_| connection.execute(sql, [&entry.name]));
    }
    deleted.map(drop).doing("change", archive.path())
}

fn commit(archive: &Archive) -> Result<(), ArchiveError> {
    let committed = archive.connection().execute_batch("COMMIT");
    committed.doing("change", archive.path())
}

/// Removes files beside the archive that it no longer knows, if they are what it knew: a row alone, which
/// anybody can write, costs no file. What cannot be removed, `verify` tells.
fn remove_files(reader: &mut Reader, leftover: &[Entry]) {
    let beside = open_outside_of(reader.archive().path());
    let Ok(mut directories) = beside else {
        return;
    };
    for entry in leftover {
        let (directory, name) = split(&entry.path);
        if reader.copy(entry, &mut |_| Ok(())).is_ok()
            && let Ok(directory) = directories.at(directory)
        {
            let _ = unlinkat(directory, name, AtFlags::empty());
        }
    }
}

impl Remove {
    /// Removes all of them, in one transaction: all of them are gone, or none. Returns how many there were.
    ///
    /// # Errors
    /// It is no archive or in use, has no such entry, or one is a directory and that was not asked for.
    /// The archive is then what it was.
    pub fn run(&self) -> Result<u64, ArchiveError> {
        let mut reader = Reader::of(Archive::open_for_change(&self.archive)?);
        let archive = reader.archive();
        let mut entries = HashMap::new();
        for name in &self.names {
            self.collect(archive, name, &mut entries)?;
        }
        let mut leftover = Vec::new();
        for entry in entries.values() {
            delete(archive, entry)?;
            if entry.place.outside {
                leftover.push(entry.clone());
            }
        }
        commit(archive)?;
        remove_files(&mut reader, &leftover);
        Ok(entries.len() as u64)
    }

    /// The entries that a name asks for.
    fn collect(
        &self,
        archive: &Archive,
        name: &str,
        entries: &mut HashMap<Location, Entry>,
    ) -> Result<(), ArchiveError> {
        let path = path_of(name).map_err(|why| ArchiveError::invalid(format!("{name}: {why}")))?;
        let below = match path.as_str() {
            "" => String::new(),
            path => format!("{path}/"),
        };
        let mut is_directory = false;
        let mut is_there = false;
        let mut keep = |row: Listed| {
            let Ok(entry) = row else { return Ok(()) };
            let inside = entry.path.starts_with(&below);
            if entry.path == path || inside {
                is_there = true;
                is_directory |= entry.kind == Kind::Directory || inside;
                entries.insert(entry.place, entry);
            }
            Ok(())
        };
        list(archive, &mut keep)?;
        let place = archive.path().display();
        if is_directory && !self.recursive {
            return Err(ArchiveError::invalid(format!(
                "{name} of {place} is a directory; --recursive removes it with all that is in it"
            )));
        }
        match is_there {
            true => Ok(()),
            false => Err(ArchiveError::invalid(format!(
                "{place} has no {name}; 'stowplan ls {place}' lists what it has"
            ))),
        }
    }
}
