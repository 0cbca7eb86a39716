//! What must hold of any archive whatever that somebody may hand to a user. Property tests make up rows and
//! damage bytes, fuzz targets (`fuzz/`) find more by following the code.

#![expect(
    clippy::missing_panics_doc,
    reason = "a check says that it failed by panicking"
)]

use crate::codec::EXPANSION_MAX;
use crate::{Entry, Reader, Refusal, Unpack, list, verify};
use rustix::fs::FileType;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The archive, in the directory that is looked at.
pub const ARCHIVE: &str = "x.sqlar";
/// What it is unpacked to there, which may hold something already.
pub const BACK: &str = "back";

/// By path: mode, bytes, time of the last change, inode.
type Looks = BTreeMap<PathBuf, (u32, u64, i64, u64)>;

/// Looks at the archive `x.sqlar` in `directory` in every way, and unpacks it to `back` beside it: all that
/// is asked is answered or refused in words, and nothing else in `directory` changes. Returns whether it was
/// taken for an archive.
pub fn archive(directory: &Path) -> bool {
    let archive = directory.join(ARCHIVE);
    let before = others(directory);
    let held = looks(&directory.join(BACK));
    let most = fs::metadata(&archive).map_or(0, |found| found.len() * EXPANSION_MAX);
    let unpack = Unpack {
        archive: archive.clone(),
        directory: directory.join(BACK),
        setuid: false,
        sync: false,
    };
    if let Ok(unpacked) = unpack.run(&()) {
        assert!(unpacked.bytes <= most, "{} bytes", unpacked.bytes);
    }
    let after = looks(&directory.join(BACK));
    for (path, look) in held {
        let same = after.get(&path).is_some_and(|after| {
            match FileType::from_raw_mode(look.0) == FileType::Directory {
                // Names come into it, which changes its time and size.
                true => (after.0, after.3) == (look.0, look.3),
                false => *after == look,
            }
        });
        assert!(same, "{} was there before", path.display());
    }
    let _ = verify(&archive, &());
    let is_one = Reader::open(&archive).is_ok_and(|reader| {
        read_all(reader, most);
        true
    });
    assert_eq!(others(directory), before, "nothing outside changes");
    is_one
}

/// Reads every value: as many bytes as its size says, or a refusal.
fn read_all(mut reader: Reader, most: u64) {
    let mut entries: Vec<Entry> = Vec::new();
    let mut keep = |row: Result<Entry, Refusal>| {
        entries.extend(row.ok());
        Ok(())
    };
    let _ = list(reader.archive(), &mut keep);
    for entry in entries {
        let mut counted = Counted(0);
        if reader.write_to(&entry, &mut counted).is_ok() {
            assert_eq!(counted.0, entry.size, "{entry:?}");
        }
        assert!(counted.0 <= entry.size.min(most), "{entry:?}");
    }
    let _ = reader.archive().count();
}

struct Counted(u64);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Everything in `directory` but the archive, what SQLite keeps beside it, and what is unpacked.
fn others(directory: &Path) -> Looks {
    let mut others = looks(directory);
    let back = directory.join(BACK);
    others.retain(|path, _| {
        let text = path.to_string_lossy();
        let of_archive = text.starts_with(&*directory.join(ARCHIVE).to_string_lossy());
        path != directory && !of_archive && !path.starts_with(&back)
    });
    others
}

/// What is at `path` and below it, through no link.
fn looks(path: &Path) -> Looks {
    let mut looks = Looks::new();
    look(path, &mut looks);
    looks
}

fn look(path: &Path, looks: &mut Looks) {
    let Ok(found) = path.symlink_metadata() else {
        return;
    };
    let look_of = (found.mode(), found.len(), found.mtime(), found.ino());
    looks.insert(path.to_owned(), look_of);
    if found.is_dir() {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            look(&entry.path(), looks);
        }
    }
}

/// What a row of an archive says; nothing in it need be true.
#[derive(Debug, Clone)]
pub struct Row {
    /// Bytes of its name, whatever they are.
    pub name: String,
    /// Type and permissions.
    pub mode: i64,
    /// The size that it claims.
    pub sz: i64,
    /// What it holds.
    pub data: Vec<u8>,
}

/// Writes an archive of these rows to `path`, which nothing has.
///
/// # Errors
/// SQLite refuses.
pub fn write(path: &Path, rows: &[Row]) -> rusqlite::Result<()> {
    let connection = rusqlite::Connection::open(path)?;
    let begin = format!(
        "PRAGMA page_size=512; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; {}",
        crate::TABLE
    );
    connection.execute_batch(&begin)?;
    let sql = "INSERT OR IGNORE INTO sqlar VALUES(?1, ?2, 1000, ?3, ?4)";
    for Row {
        name,
        mode,
        sz,
        data,
    } in rows
    {
        connection.execute(sql, rusqlite::params![name, mode, sz, data])?;
    }
    Ok(())
}
