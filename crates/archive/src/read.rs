//! Reading values of an archive: whole or piece by piece, from inside it or beside it.

use crate::ArchiveError;
use crate::codec::{Inflater, WHOLE_MAX, each_piece, inflate_stream};
use crate::directories::{Directories, open_file};
use crate::error::{Fault, Refused};
use crate::names::split;
use crate::outside::{directory_of_outside, open_outside_of};
use crate::sqlar::{Archive, Entry, Kind, Location};
use rusqlite::MAIN_DB;
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// Takes a value, or a piece of one.
pub(crate) type Take<'a> = dyn FnMut(&[u8]) -> Result<(), Fault> + 'a;

/// An archive with what it takes to read values of it; one for each thread.
pub struct Reader {
    archive: Archive,
    inflater: Inflater,
    /// Opened when the first value of it is asked for.
    outside: Option<Directories>,
}

impl From<io::Error> for Fault {
    /// What can fail of a read of a value.
    fn from(error: io::Error) -> Self {
        Self::entry(format!("its data is damaged: {error}"))
    }
}

impl Reader {
    /// Opens an archive for reading.
    ///
    /// # Errors
    /// See [`Archive::open`].
    pub fn open(path: &Path) -> Result<Self, ArchiveError> {
        Ok(Self::of(Archive::open(path)?))
    }

    pub(crate) fn of(archive: Archive) -> Self {
        Self {
            archive,
            inflater: Inflater::new(),
            outside: None,
        }
    }

    /// The archive.
    pub fn archive(&self) -> &Archive {
        &self.archive
    }

    /// Writes the bytes of a file, or the target of a link.
    ///
    /// # Errors
    /// They cannot be read, are damaged, or cannot be written (the error's source says so).
    pub fn write_to(&mut self, entry: &Entry, out: &mut dyn Write) -> Result<(), ArchiveError> {
        let mut refused = None;
        let copied = self.copy(entry, &mut |piece| {
            out.write_all(piece).map_err(|error| {
                refused = Some(error);
                Fault::entry("")
            })
        });
        let path = self.archive.path().join(&entry.path);
        match (copied, refused) {
            (_, Some(error)) => Err(error.refused("write out", &path)),
            (Err(Fault::Entry(why)), _) => Err(ArchiveError::invalid(format!(
                "cannot read {} of {}: {why}",
                entry.name,
                self.archive.path().display()
            ))),
            (Err(Fault::Fatal(error)), _) => Err(error),
            (Ok(()), None) => Ok(()),
        }
    }

    /// Hands out the bytes of an entry: exactly as many as its size says, in one piece where they are
    /// few. A directory has none. If they are not those of its checksum it fails, after the last piece where
    /// there are several.
    pub(crate) fn copy(&mut self, entry: &Entry, take: &mut Take<'_>) -> Result<(), Fault> {
        let mut sum = crc32fast::Hasher::new();
        let mut summed = |piece: &[u8]| {
            if entry.kind == Kind::Link && piece.contains(&0) {
                return Err(Fault::entry(
                    "the name that it leads to has a zero byte in it",
                ));
            }
            sum.update(piece);
            take(piece)
        };
        match entry.place.outside {
            true => copy_pieces(self.open_outside(entry)?, entry.size, &mut summed)?,
            false => self.copy_inside(entry, &mut summed)?,
        }
        match entry.place.crc32 {
            Some(crc32) if crc32 != sum.finalize() => {
                Err(Fault::entry(match entry.place.outside {
                    true => "its file beside the archive was changed",
                    false => "its bytes are damaged: they have another checksum",
                }))
            }
            _ => Ok(()),
        }
    }

    /// The bytes of an entry, as [`Reader::copy`] hands them out.
    pub(crate) fn whole(&mut self, entry: &Entry) -> Result<Vec<u8>, Fault> {
        let mut bytes = Vec::with_capacity(entry.size.min(WHOLE_MAX) as usize);
        self.copy(entry, &mut |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        })?;
        Ok(bytes)
    }

    fn copy_inside(&mut self, entry: &Entry, take: &mut Take<'_>) -> Result<(), Fault> {
        let Location { rowid, stored, .. } = entry.place;
        if entry.kind == Kind::Directory || entry.size == 0 {
            return Ok(());
        }
        if stored.max(entry.size) > WHOLE_MAX {
            return self.stream(entry, rowid, take);
        }
        let inflater = &mut self.inflater;
        let size = entry.size as usize;
        self.archive.with_stored(rowid, |bytes| {
            if !entry.is_deflated() {
                let whole = bytes.len() == size;
                return if whole { take(bytes) } else { Err(changed()) };
            }
            let value = inflater.inflate(bytes, size);
            take(value.ok_or_else(|| Fault::entry("its data is damaged, or its size is wrong"))?)
        })
    }

    fn stream(&self, entry: &Entry, rowid: i64, take: &mut Take<'_>) -> Result<(), Fault> {
        let connection = self.archive.connection();
        let blob = connection.blob_open(MAIN_DB, "sqlar", "data", rowid, true);
        let blob = blob.map_err(Fault::sqlite(self.archive.path()))?;
        match entry.is_deflated() {
            true => inflate_stream(blob, entry.size, take),
            false => copy_pieces(blob, entry.size, take),
        }
    }

    /// Opens a file beside the archive: a regular one of the right size, reached through no link.
    pub(crate) fn open_outside(&mut self, entry: &Entry) -> Result<File, Fault> {
        let place = directory_of_outside(self.archive.path());
        let refused = |why: io::Error| {
            let (place, path) = (place.display(), &entry.path);
            Fault::entry(format!("its file {place}/{path} cannot be opened: {why}"))
        };
        let denied = |errno: Errno| refused(errno.into());
        let directories = match &mut self.outside {
            Some(directories) => directories,
            none => none.insert(open_outside_of(self.archive.path()).map_err(denied)?),
        };
        let (directory, name) = split(&entry.path);
        let directory = directories.at(directory).map_err(denied)?;
        let file = open_file(directory, name).map_err(refused)?;
        match file.metadata()?.len() == entry.size {
            true => Ok(file),
            false => Err(Fault::entry("its file beside the archive has another size")),
        }
    }
}

fn changed() -> Fault {
    Fault::entry("it was changed meanwhile")
}

/// Hands out exactly `size` bytes.
fn copy_pieces(from: impl Read, size: u64, take: &mut Take<'_>) -> Result<(), Fault> {
    match each_piece(from.take(size), Fault::from, take)? {
        copied if copied == size => Ok(()),
        _ => Err(changed()),
    }
}
