//! Rows of an archive that is being made.

use super::{Pack, Packed, Remembered, Seen, told};
use crate::ArchiveError;
use crate::codec::PIECE;
use crate::error::{Fault, Refusal, Refusals};
use crate::names::stored_name;
use crate::source::{Body, Identity, Item, Summed};
use crate::sqlar::{Archive, DIRECTORY, LINK, OUTSIDE_TABLE, TYPE};
use rusqlite::blob::ZeroBlob;
use rusqlite::types::{Null, ToSql};
use rusqlite::{Connection, MAIN_DB};
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use stowplan_dataset::room;

/// After so many bytes of rows the disk is asked to write them.
const WRITTEN_BACK: u64 = 32 << 20;

/// The archive that is being made, row after row.
pub(crate) struct Rows {
    connection: Connection,
    /// The same file, and bytes of rows since the disk began to write it. It is closed after the connection,
    /// since that gives up locks.
    file: File,
    unwritten: u64,
    /// Named in messages: the name that the archive will have.
    name: PathBuf,
    packed: Packed,
    seen: Remembered,
}

impl Rows {
    pub(super) fn create(
        made: &Path,
        pack: &Pack,
        page_size: u32,
        has_outside: bool,
    ) -> Result<Self, ArchiveError> {
        let connection = Archive::create(made, page_size)?;
        if has_outside {
            let failed = ArchiveError::sqlite("make", &pack.archive);
            connection.execute_batch(OUTSIDE_TABLE).map_err(failed)?;
        }
        let file = File::open(made).map_err(ArchiveError::io("open", made))?;
        Ok(Self {
            connection,
            file,
            unwritten: 0,
            name: pack.archive.clone(),
            packed: Packed::default(),
            seen: Remembered::default(),
        })
    }

    pub(super) fn refuse(&mut self, refused: Refusals) {
        self.packed.refused.extend(refused);
    }

    /// How many entries were looked at.
    pub(super) fn done(&self) -> u64 {
        let packed = &self.packed;
        packed.files + packed.directories + packed.links + packed.refused.count
    }

    pub(super) fn write(&mut self, mut item: Item) -> Result<(), ArchiveError> {
        let rowid = self.seen.inside.len() as i64 + 1;
        let is_outside = matches!(item.body, Body::Outside);
        let rowid = (!is_outside).then_some(rowid);
        match insert(&self.connection, &self.name, rowid, &mut item) {
            Ok(()) => {
                self.count(&item);
                self.write_back(&item);
            }
            Err(Fault::Entry(why)) => self.packed.refused.add(Refusal::new(told(&item.path), why)),
            Err(Fault::Fatal(error)) => return Err(error),
        }
        Ok(())
    }

    /// Has the disk write meanwhile, so that little is left for the sync at the end.
    fn write_back(&mut self, item: &Item) {
        self.unwritten += match &item.body {
            Body::Bytes(bytes) => bytes.len() as u64,
            Body::Spool(_, length) => *length,
            Body::File(_) => item.size,
            Body::None | Body::Link(_) | Body::Outside => 0,
        };
        if self.unwritten >= WRITTEN_BACK {
            room::begin_writeback(&self.file);
            self.unwritten = 0;
        }
    }

    fn count(&mut self, item: &Item) {
        let packed = &mut self.packed;
        match item.mode & TYPE {
            DIRECTORY => packed.directories += 1,
            LINK => packed.links += 1,
            _ => {
                packed.files += 1;
                packed.bytes += item.size;
            }
        }
        packed.hard_linked += u64::from(item.hard_linked);
        packed.sparse += u64::from(item.sparse);
        let seen = Seen {
            crc32: item.crc32,
            identity: item.identity,
        };
        match item.body {
            Body::Outside => {
                packed.outside += 1;
                self.seen.outside.push(seen);
            }
            _ => self.seen.inside.push(seen),
        }
    }

    pub(super) fn finish(self) -> Result<(Packed, Remembered), ArchiveError> {
        let failed = || ArchiveError::sqlite("write", &self.name);
        self.connection.execute_batch("COMMIT").map_err(failed())?;
        self.connection
            .close()
            .map_err(|(_, error)| failed()(error))?;
        Ok((self.packed, self.seen))
    }
}

/// Makes a row of an item; with a number of its own, or the next one.
///
/// # Errors
/// [`Fault::Entry`]: the file changed while it was read, and there is no row.
pub(crate) fn insert(
    connection: &Connection,
    archive: &Path,
    rowid: Option<i64>,
    item: &mut Item,
) -> Result<(), Fault> {
    let name = stored_name(&item.path).to_owned();
    let size = item.size as i64;
    let (mode, mtime) = (item.mode, item.mtime);
    let row = |sz: i64, data: &dyn ToSql| {
        let sql =
            "INSERT INTO sqlar(rowid, name, mode, mtime, sz, data) VALUES(?1, ?2, ?3, ?4, ?5, ?6)";
        let mut statement = connection.prepare_cached(sql).map_err(written(archive))?;
        let inserted = statement.insert(rusqlite::params![rowid, name, mode, mtime, sz, data]);
        inserted.map_err(written(archive))
    };
    match &mut item.body {
        Body::None => row(0, &Null).map(drop),
        Body::Link(target) => row(-1, target).map(drop),
        Body::Bytes(bytes) => row(size, bytes).map(drop),
        Body::Spool(spool, length) => {
            let rowid = row(size, &ZeroBlob(*length))?;
            fill(connection, archive, rowid, spool, *length)
        }
        Body::File(file) => {
            let rowid = row(size, &ZeroBlob(item.size))?;
            let summed =
                fill_from_source(connection, archive, rowid, file, item.size, item.identity);
            match summed {
                Ok(crc32) => item.crc32 = crc32,
                Err(fault) => {
                    let deleted = connection.execute("DELETE FROM sqlar WHERE rowid = ?1", [rowid]);
                    deleted.map_err(written(archive))?;
                    return Err(fault);
                }
            }
            Ok(())
        }
        Body::Outside => {
            let sql = "INSERT INTO sqlar_outside VALUES(?1, ?2, ?3, ?4, ?5)";
            let row = rusqlite::params![name, mode, mtime, size, item.crc32];
            connection
                .execute(sql, row)
                .map_err(written(archive))
                .map(drop)
        }
    }
}

fn written(archive: &Path) -> impl FnOnce(rusqlite::Error) -> Fault {
    let failed = ArchiveError::sqlite("write", archive);
    move |error| Fault::Fatal(failed(error))
}

/// Writes `length` bytes of a file into a row of zeros.
fn fill(
    connection: &Connection,
    archive: &Path,
    rowid: i64,
    from: &mut dyn Read,
    length: u64,
) -> Result<(), Fault> {
    let blob = connection.blob_open(MAIN_DB, "sqlar", "data", rowid, false);
    let mut blob = blob.map_err(written(archive))?;
    let mut piece = vec![0; PIECE];
    let mut left = length;
    while left > 0 {
        let most = piece.len().min(left.try_into().unwrap_or(usize::MAX));
        let read = from.read(&mut piece[..most]);
        let read = read.map_err(|error| Fault::entry(format!("it cannot be read: {error}")))?;
        if read == 0 {
            return Err(Fault::entry("it was changed while it was read"));
        }
        let failed = ArchiveError::io("write", archive);
        blob.write_all(&piece[..read])
            .map_err(|error| Fault::Fatal(failed(error)))?;
        left -= read as u64;
    }
    let failed = written(archive);
    blob.close().map_err(failed)
}

/// The same from the packed file itself, which must not change meanwhile; the sum of its bytes.
fn fill_from_source(
    connection: &Connection,
    archive: &Path,
    rowid: i64,
    file: &mut File,
    length: u64,
    identity: Identity,
) -> Result<u32, Fault> {
    use std::io::{Seek, SeekFrom};
    let changed = |_| Fault::entry("it was changed while it was read");
    file.seek(SeekFrom::Start(0)).map_err(changed)?;
    let mut summed = Summed::new(&mut *file);
    fill(connection, archive, rowid, &mut summed, length)?;
    let crc32 = summed.sum.finalize();
    let after = rustix::fs::fstat(&*file)
        .map_err(std::io::Error::from)
        .map_err(changed)?;
    match Identity::of(&after) == identity {
        true => Ok(crc32),
        false => Err(Fault::entry("it was changed while it was read")),
    }
}
