//! Removing what was packed: only what was read back from the archive, and is still what was packed.

use crate::ArchiveError;
use crate::directories::{Directories, Missing};
use crate::error::{Fault, Refusal};
use crate::names::split;
use crate::pack::{Pack, Packed, Remembered, Seen, told};
use crate::source::{Identity, Summed, open_file};
use crate::sqlar::{Archive, Entry, Kind, Rows};
use rustix::fs::{AtFlags, Stat, statat, unlinkat};
use rustix::io::Errno;
use std::io;
use std::os::fd::BorrowedFd;

/// Removes from the last row to the first: what is in a directory goes before it. What stays is in
/// [`Packed::kept`].
pub(crate) fn verified(
    pack: &Pack,
    seen: &Remembered,
    packed: &mut Packed,
) -> Result<(), ArchiveError> {
    let archive = Archive::open(&pack.archive)?;
    let mut directories = Directories::below(&pack.source, Missing::Refuse)
        .map_err(ArchiveError::io("open", &pack.source))?;
    let mut remove = |row: Result<Entry, Refusal>| {
        let Ok(entry) = row else { return Ok(()) };
        match seen
            .of(&entry)
            .map(|seen| remove(&mut directories, &entry, seen))
        {
            Some(Ok(())) => packed.removed += 1,
            // The packed directory itself goes last, and what else is not empty tells what is in it.
            Some(Err(Fault::Entry(why))) if entry.path.is_empty() && why.is_empty() => {}
            Some(Err(fault)) => fault.told(told(&entry.path), &mut packed.kept)?,
            None => {}
        }
        Ok(())
    };
    archive.outside(Rows::Backwards, &mut remove)?;
    archive.inside(Rows::Backwards, &mut remove)?;
    if std::fs::remove_dir(&pack.source).is_ok() {
        packed.removed += 1;
    }
    Ok(())
}

fn remove(directories: &mut Directories, entry: &Entry, seen: Seen) -> Result<(), Fault> {
    let (directory, name) = split(&entry.path);
    if name.is_empty() {
        return Err(Fault::entry(""));
    }
    let directory = directories.at(directory).map_err(kept)?;
    if entry.kind == Kind::Directory {
        return unlinkat(directory, name, AtFlags::REMOVEDIR).map_err(kept);
    }
    let found = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).map_err(kept)?;
    let same = Identity::of(&found) == seen.identity
        || (entry.kind == Kind::File && has_same_bytes(directory, name, entry, seen, &found)?);
    match same {
        true => unlinkat(directory, name, AtFlags::empty()).map_err(kept),
        false => Err(Fault::entry("it was changed after it was packed")),
    }
}

/// Of a file with several names each looks changed when another one was removed.
fn has_same_bytes(
    directory: BorrowedFd<'_>,
    name: &str,
    entry: &Entry,
    seen: Seen,
    found: &Stat,
) -> Result<bool, Fault> {
    if found.st_mode & 0o7777 != entry.permissions || found.st_mtime != entry.mtime.unwrap_or(0) {
        return Ok(false);
    }
    let mut summed = Summed::new(open_file(directory, name)?);
    io::copy(&mut summed, &mut io::sink()).map_err(kept)?;
    Ok(summed.length == entry.size && summed.sum.finalize() == seen.crc32)
}

fn kept<E: Into<io::Error>>(error: E) -> Fault {
    let error = error.into();
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOTEMPTY | Errno::EXIST) => Fault::entry("it is not empty"),
        Some(Errno::NOENT) => Fault::entry("it went away meanwhile"),
        _ => Fault::entry(error.to_string()),
    }
}
