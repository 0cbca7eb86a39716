//! Databases of others, opened without leaving a trace.

use rusqlite::{Connection, OpenFlags};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long another connection's lock is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
/// Where the header says by which version of the format it is read: 1 is a rollback journal, 2 a
/// write-ahead log (<https://sqlite.org/fileformat2.html>, section 1.3.3). By this one SQLite decides
/// whether to open a log, not by the version before it, by which the file is to be written.
const READ_VERSION_OFFSET: u64 = 19;

/// Whether a file begins as every SQLite database does (same place, section 1.3).
///
/// # Errors
/// It cannot be read.
pub fn is_database(path: &Path) -> io::Result<bool> {
    let mut start = [0; 16];
    let read = File::open(path)?.read_at(&mut start, 0)?;
    Ok(start[..read] == *b"SQLite format 3\0")
}

/// Whether a database is written by way of a write-ahead log, as its file says. Not to be asked by path
/// while this process has the database open: closing the file gives up SQLite's locks on it.
///
/// # Errors
/// It cannot be read, or has no header.
pub fn is_write_ahead(file: &File) -> io::Result<bool> {
    let mut version = [0];
    file.read_exact_at(&mut version, READ_VERSION_OFFSET)?;
    Ok(version == [2])
}

/// The file beside a database whose name is the database's and an ending.
pub fn beside(database: &Path, ending: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Opens a database for looking at it. In WAL mode, without its log nobody has it open and nothing is missing
/// from it: SQLite would make an empty log and leave it; told that the file does not change, it makes none.
///
/// # Errors
/// SQLite refuses.
pub fn look_at(path: &Path, write_ahead: bool) -> rusqlite::Result<Connection> {
    let unchanging = write_ahead && !beside(path, "-wal").exists();
    open(path, unchanging, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

/// Opens a database; one that is `unchanging` without locks, so that nobody's changes are noticed.
///
/// # Errors
/// SQLite refuses.
pub fn open(path: &Path, unchanging: bool, access: OpenFlags) -> rusqlite::Result<Connection> {
    let flags = access | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(uri(path, unchanging), flags)?;
    connection.busy_timeout(PATIENCE)?;
    Ok(connection)
}

/// A path as SQLite's URI: absolute, so that no name means something else, with the characters
/// escaped that end a path there (<https://sqlite.org/uri.html>).
fn uri(path: &Path, unchanging: bool) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut uri = b"file://".to_vec();
    for byte in absolute.as_os_str().as_bytes() {
        match byte {
            b'%' | b'?' | b'#' => uri.extend_from_slice(format!("%{byte:02x}").as_bytes()),
            byte => uri.push(*byte),
        }
    }
    if unchanging {
        uri.extend_from_slice(b"?immutable=1");
    }
    PathBuf::from(OsString::from_vec(uri))
}
