//! Rows of an archive that is being made.

use super::{Pack, Packed};
use crate::ArchiveError;
use crate::codec::each_piece;
use crate::error::{Doing, Fault, Refusal, Refusals, Refused};
use crate::names::stored_name;
use crate::source::{Body, Identity, Item, Summed};
use crate::sqlar::{Archive, OUTSIDE_TABLE};
use rusqlite::blob::ZeroBlob;
use rusqlite::types::{Null, ToSql};
use rusqlite::{Connection, MAIN_DB};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use stowplan_dataset::room;

/// After so many bytes of rows the disk is asked to write them.
const WRITTEN_BACK: u64 = 32 << 20;

/// The archive that is being made, row after row.
pub(crate) struct Rows {
    connection: Connection,
    /// Its file, and bytes of rows since the disk began to write it. It is closed after the connection,
    /// since that gives up locks.
    file: File,
    unwritten: u64,
    /// Named in messages: the name that the archive will have.
    name: PathBuf,
    packed: Packed,
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
            connection
                .execute_batch(OUTSIDE_TABLE)
                .doing("make", &pack.archive)?;
        }
        let file = File::open(made).doing("open", made)?;
        Ok(Self {
            connection,
            file,
            unwritten: 0,
            name: pack.archive.clone(),
            packed: Packed::default(),
        })
    }

    /// How many entries were looked at.
    pub(super) fn done(&self) -> u64 {
        self.packed.entries() + self.packed.refused.count
    }

    /// Notes what cannot have a row.
    pub(super) fn refuse(&mut self, refused: Refusals) {
        self.packed.refused.extend(refused);
    }

    /// Makes a row of what was read, or notes why it was not.
    pub(super) fn put(&mut self, read: Result<Item, Refusal>) -> Result<(), ArchiveError> {
        let mut item = match read {
            Ok(item) => item,
            Err(refusal) => {
                self.packed.refused.add(refusal);
                return Ok(());
            }
        };
        if let Err(fault) = insert(&self.connection, &self.name, true, &mut item) {
            return fault.told(stored_name(&item.path), &mut self.packed.refused);
        }
        // Has the disk write meanwhile, so that little is left for the sync at the end.
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
        self.packed.count(item);
        Ok(())
    }

    pub(super) fn finish(self) -> Result<Packed, ArchiveError> {
        self.connection
            .execute_batch("COMMIT")
            .doing("write", &self.name)?;
        let closed = self.connection.close();
        closed.map_err(|(_, error)| error.refused("write", &self.name))?;
        Ok(self.packed)
    }
}

/// Makes a row of an item, and one of its checksum if the archive has such a table.
///
/// # Errors
/// [`Fault::Entry`]: the file changed while it was read, and there is no row.
pub(crate) fn insert(
    connection: &Connection,
    archive: &Path,
    has_checksums: bool,
    item: &mut Item,
) -> Result<(), Fault> {
    let name = stored_name(&item.path).to_owned();
    let size = item.size as i64;
    let (mode, mtime) = (item.mode, item.mtime);
    let row = |sz: i64, data: &dyn ToSql| {
        let sql = "INSERT INTO sqlar(name, mode, mtime, sz, data) VALUES(?1, ?2, ?3, ?4, ?5)";
        let mut statement = connection.prepare_cached(sql).doing("write", archive)?;
        let row = rusqlite::params![name, mode, mtime, sz, data];
        statement.insert(row).doing("write", archive)
    };
    match &mut item.body {
        Body::None => return Ok(row(0, &Null).map(drop)?),
        Body::Outside => {
            let sql = "INSERT INTO sqlar_outside VALUES(?1, ?2, ?3, ?4, ?5)";
            let row = rusqlite::params![name, mode, mtime, size, item.crc32];
            connection.execute(sql, row).doing("write", archive)?;
            return Ok(());
        }
        Body::Link(target) => row(-1, target).map(drop)?,
        Body::Bytes(bytes) => row(size, bytes).map(drop)?,
        Body::Spool(spool, length) => {
            let rowid = row(size, &ZeroBlob(*length))?;
            or_give_up(connection, archive, rowid, || {
                fill(connection, archive, rowid, spool, *length)
            })?;
        }
        Body::File(file) => {
            let rowid = row(size, &ZeroBlob(item.size))?;
            item.crc32 = or_give_up(connection, archive, rowid, || {
                fill_from_source(connection, archive, rowid, (file, item.size, item.identity))
            })?;
        }
    }
    if has_checksums && item.size > 0 {
        let sql = "INSERT OR REPLACE INTO sqlar_crc32 VALUES(?1, ?2)";
        let statement = connection.prepare_cached(sql);
        let inserted = statement.and_then(|mut made| made.execute((name, item.crc32)));
        inserted.doing("write", archive)?;
    }
    Ok(())
}

fn changed<E>(_: E) -> Fault {
    Fault::entry("it was changed while it was read")
}

/// Fills a row. What cannot be read has none; what cannot be written ends all, and where nothing could be written,
/// the row could not be taken away either.
fn or_give_up<T>(
    connection: &Connection,
    archive: &Path,
    rowid: i64,
    fill: impl FnOnce() -> Result<T, Fault>,
) -> Result<T, Fault> {
    let filled = fill();
    if let Err(Fault::Entry(_)) = filled {
        let deleted = connection.execute("DELETE FROM sqlar WHERE rowid = ?1", [rowid]);
        deleted.doing("write", archive)?;
    }
    filled
}

/// Writes `length` bytes of a file into a row whose value is as many zeros.
fn fill(
    connection: &Connection,
    archive: &Path,
    rowid: i64,
    from: &mut dyn Read,
    length: u64,
) -> Result<(), Fault> {
    let blob = connection.blob_open(MAIN_DB, "sqlar", "data", rowid, false);
    let mut blob = blob.doing("write", archive)?;
    let unreadable = |error| Fault::entry(format!("it cannot be read: {error}"));
    let mut at = 0;
    let copied = each_piece(from.take(length), unreadable, &mut |piece| {
        blob.write_at(piece, at).doing("write", archive)?;
        at += piece.len();
        Ok(())
    })?;
    match copied == length {
        true => Ok(blob.close().doing("write", archive)?),
        false => Err(changed(())),
    }
}

/// Fills a row from the packed file itself, which must not change meanwhile, and sums its bytes up.
fn fill_from_source(
    connection: &Connection,
    archive: &Path,
    rowid: i64,
    (file, length, identity): (&mut File, u64, Identity),
) -> Result<u32, Fault> {
    file.seek(SeekFrom::Start(0)).map_err(changed)?;
    let mut summed = Summed::new(&mut *file);
    fill(connection, archive, rowid, &mut summed, length)?;
    let crc32 = summed.sum.finalize();
    let after = rustix::fs::fstat(&*file).map_err(changed)?;
    match Identity::of(&after) == identity {
        true => Ok(crc32),
        false => Err(changed(())),
    }
}
