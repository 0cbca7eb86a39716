//! Removing what was packed: only what was read back from the archive, and is still what was packed.

use crate::ArchiveError;
use crate::directories::{Directories, Missing, open_below};
use crate::error::{Fault, Refusal};
use crate::names::split;
use crate::pack::{Pack, Packed, Remembered, Seen, told};
use crate::source::{Identity, Summed, open_file};
use crate::sqlar::{Archive, Entry, Kind, Rows};
use rustix::buffer::spare_capacity;
use rustix::fs::{AtFlags, Stat, flistxattr, fstat, statat, unlinkat};
use rustix::io::Errno;
use rustix::process::{getegid, geteuid};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// Bytes of names of extended attributes that are looked at; longer ones are some in any case.
const XATTR_NAMES: usize = 256;

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
    let root = directories
        .at("")
        .map_err(ArchiveError::io("open", &pack.source))?;
    let found = fstat(root).map_err(ArchiveError::io("look at", &pack.source))?;
    match keeps_all(root, &found) {
        Err(fault) => fault.told(told(""), &mut packed.kept)?,
        Ok(()) if std::fs::remove_dir(&pack.source).is_ok() => packed.removed += 1,
        Ok(()) => {}
    }
    Ok(())
}

fn remove(directories: &mut Directories, entry: &Entry, seen: Seen) -> Result<(), Fault> {
    let (directory, name) = split(&entry.path);
    if name.is_empty() {
        return Err(Fault::entry(""));
    }
    let directory = directories.at(directory).map_err(kept)?;
    let found = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).map_err(kept)?;
    match entry.kind {
        Kind::Directory => {
            keeps_all(open_below(directory, name).map_err(kept)?, &found)?;
            return unlinkat(directory, name, AtFlags::REMOVEDIR).map_err(kept);
        }
        Kind::File => keeps_all(open_file(directory, name)?, &found)?,
        Kind::Link => keeps_owner(&found)?,
    }
    let same = Identity::of(&found) == seen.identity
        || (entry.kind == Kind::File && has_same_bytes(directory, name, entry, seen, &found)?);
    match same {
        true => unlinkat(directory, name, AtFlags::empty()).map_err(kept),
        false => Err(Fault::entry("it was changed after it was packed")),
    }
}

/// What the archive does not have of it, and nobody could get back.
fn keeps_all(opened: impl AsFd, found: &Stat) -> Result<(), Fault> {
    keeps_owner(found)?;
    let mut names = Vec::with_capacity(XATTR_NAMES);
    match flistxattr(opened, spare_capacity(&mut names)) {
        // The system gives every file such a label.
        Ok(_)
            if names
                .split(|byte| *byte == 0)
                .all(|name| name.is_empty() || name == b"security.selinux") =>
        {
            Ok(())
        }
        Err(Errno::NOTSUP) => Ok(()),
        Err(errno) if errno != Errno::RANGE => Err(kept(errno)),
        _ => Err(Fault::entry(
            "it has extended attributes or access lists, which are not in the archive",
        )),
    }
}

/// What is unpacked belongs to whoever unpacks it.
fn keeps_owner(found: &Stat) -> Result<(), Fault> {
    let own = (geteuid().as_raw(), getegid().as_raw());
    match (found.st_uid, found.st_gid) == own {
        true => Ok(()),
        false => Err(Fault::entry(format!(
            "its owner {}:{}, who is not in the archive, is another than {}:{}",
            found.st_uid, found.st_gid, own.0, own.1
        ))),
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
