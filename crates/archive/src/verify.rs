//! Whether an archive is whole: its database, every name, every value.

use crate::error::{Fault, Refusal, Refusals};
use crate::outside::directory_of_outside;
use crate::pack::Remembered;
use crate::read::Reader;
use crate::rows::{Row, each_row};
use crate::sqlar::{Archive, Entry, Kind, Place, Rows};
use crate::walk::Walk;
use crate::{ArchiveError, Watch};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// What was looked at, and what is wrong with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verified {
    /// Entries that are whole.
    pub entries: u64,
    /// Bytes of the files among them.
    pub bytes: u64,
    /// What SQLite finds wrong with the database, line by line.
    pub database: Vec<String>,
    /// What is wrong with entries.
    pub refused: Refusals,
}

impl Verified {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.database.is_empty() && self.refused.is_empty()
    }
}

/// Looks at everything in an archive and beside it.
///
/// # Errors
/// It is no archive, or cannot be read at all, or `watch` wants it to end. What is wrong with a part of
/// it is in what is returned.
pub fn verify(
    archive: &Path,
    threads: NonZeroUsize,
    watch: &dyn Watch,
) -> Result<Verified, ArchiveError> {
    let opened = Archive::open(archive)?;
    let mut verified = Verified {
        database: opened.integrity()?,
        ..Verified::default()
    };
    let paths = Mutex::new(HashSet::new());
    let look = |part: &mut Verified, reader: &mut Reader, row: Row| {
        match row {
            Ok(entry) => look_at(part, reader, &entry, &paths)?,
            Err(refusal) => part.refused.add(refusal),
        }
        Ok(())
    };
    let parts = each_row(archive, threads, watch, &|| Ok(Verified::default()), &look)?;
    for part in parts {
        verified.entries += part.entries;
        verified.bytes += part.bytes;
        verified.refused.extend(part.refused);
    }
    look_beside(&opened, &mut verified)?;
    Ok(verified)
}

fn look_at(
    part: &mut Verified,
    reader: &mut Reader,
    entry: &Entry,
    paths: &Mutex<HashSet<u64>>,
) -> Result<(), ArchiveError> {
    let mut hasher = DefaultHasher::new();
    entry.path.hash(&mut hasher);
    let mut paths = paths.lock().unwrap_or_else(PoisonError::into_inner);
    let is_new = paths.insert(hasher.finish());
    drop(paths);
    if !is_new {
        let why = "another entry stands for the same path";
        part.refused.add(Refusal::new(&entry.name, why));
        return Ok(());
    }
    match reader.copy(entry, &mut |_| Ok(())) {
        Ok(()) => {
            part.entries += 1;
            if entry.kind == Kind::File {
                part.bytes += entry.size;
            }
            Ok(())
        }
        Err(fault) => fault.told(&entry.name, &mut part.refused),
    }
}

/// Files beside the archive that it does not know.
fn look_beside(archive: &Archive, verified: &mut Verified) -> Result<(), ArchiveError> {
    let beside = directory_of_outside(archive.path());
    // A link in its place is none of ours; each file that should be there is told.
    let is_directory = beside.symlink_metadata().is_ok_and(|found| found.is_dir());
    if !archive.has_outside() || !is_directory {
        return Ok(());
    }
    let mut walk = Walk::of(&beside, Vec::new())?;
    while let Some(found) = walk.next(&mut verified.refused)? {
        if found.kind == Kind::Directory {
            continue;
        }
        let mut is_known = false;
        archive.outside(Rows::Named(std::slice::from_ref(&found.path)), &mut |_| {
            is_known = true;
            Ok(())
        })?;
        if !is_known {
            let shown = format!("{}/{}", beside.display(), found.path);
            let why = "it lies beside the archive, which does not know it";
            verified.refused.add(Refusal::new(shown, why));
        }
    }
    Ok(())
}

/// Whether an archive that was just made holds what was read: nothing, or the first entry that is not as
/// it was read.
pub(crate) fn compare(
    made: &Path,
    seen: &Remembered,
    threads: NonZeroUsize,
    watch: &dyn Watch,
) -> Result<Option<Refusal>, ArchiveError> {
    let look = |part: &mut (u64, Refusals), reader: &mut Reader, row: Row| {
        part.0 += 1;
        match row {
            Ok(entry) => match is_as_read(reader, &entry, seen) {
                Ok(()) => Ok(()),
                Err(fault) => fault.told(&entry.name, &mut part.1),
            },
            Err(refusal) => {
                part.1.add(refusal);
                Ok(())
            }
        }
    };
    let parts = each_row(
        made,
        threads,
        watch,
        &|| Ok((0, Refusals::default())),
        &look,
    )?;
    let rows: u64 = parts.iter().map(|part| part.0).sum();
    let first = parts
        .into_iter()
        .find_map(|part| part.1.named.into_iter().next());
    if first.is_none() && rows != (seen.inside.len() + seen.outside.len()) as u64 {
        return Ok(Some(Refusal::new(
            "the list of names",
            format!("{rows} rows"),
        )));
    }
    Ok(first)
}

fn is_as_read(reader: &mut Reader, entry: &Entry, seen: &Remembered) -> Result<(), Fault> {
    let mut sum = crc32fast::Hasher::new();
    reader.copy(entry, &mut |piece| {
        sum.update(piece);
        Ok(())
    })?;
    match seen.of(entry) {
        Some(seen) if seen.crc32 == sum.finalize() => Ok(()),
        Some(_) => Err(Fault::entry("other bytes")),
        None => Err(Fault::entry(match entry.place {
            Place::Inside { .. } => "a row that was not written",
            Place::Outside { .. } => "a file that was not written",
        })),
    }
}
