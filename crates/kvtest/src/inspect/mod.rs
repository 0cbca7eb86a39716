//! Databases and directories looked at from outside the measured path: what lies at a path, which
//! values it holds, and how large they are.
//!
//! Nothing here reads a value's bytes or changes what it looks at, except [`Database::vacuum`] and
//! [`Database::set_journal_mode`], which say so by their names.

mod database;

pub use database::Database;
pub(crate) use database::{Snapshot, companions, writes_ahead};

use std::io;
use std::path::Path;
use stowplan_archive::foreign::is_database;
use stowplan_stores::directory::{self, Layout};
use stowplan_stores::{Result, StoreError};

/// What lies at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Container {
    /// A database with the table `kv(k INTEGER PRIMARY KEY, v BLOB)`.
    Database,
    /// A directory of files named like `000001`.
    Dir,
    /// A directory of directories with files named like `00/00/01`.
    Tree,
}

impl Container {
    /// In messages and documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Database => "database",
            Self::Dir => "dir",
            Self::Tree => "tree",
        }
    }
}

/// Tells what lies at `path`.
///
/// # Errors
/// Nothing is there, or nothing of ours: neither file nor directory, a file that is no SQLite
/// database, a database without the table, a directory without any file of ours or with files of
/// both layouts.
pub fn recognise(path: &Path) -> Result<Container> {
    let metadata = std::fs::metadata(path).map_err(StoreError::io("open", path))?;
    if metadata.is_dir() {
        return Ok(match directory::layout(path)? {
            Layout::Dir => Container::Dir,
            Layout::Tree => Container::Tree,
        });
    }
    if !metadata.is_file() {
        return Err(refused(path, "it is neither a file nor a directory"));
    }
    if metadata.len() == 0 {
        return Err(refused(path, "the file is empty, not an SQLite database"));
    }
    if !is_database(path).map_err(StoreError::io("open", path))? {
        return Err(refused(path, "the file is not an SQLite database"));
    }
    database::check_table(path)?;
    Ok(Container::Database)
}

/// Calls `visit(key, bytes)` for every value, by rising key. Reads no value.
///
/// # Errors
/// A value that is neither a blob nor text, a key below 1, a file that is no regular one, or the
/// engine or the file system refuses; and whatever `visit` returns.
pub fn values(
    path: &Path,
    container: Container,
    visit: &mut dyn FnMut(u64, u64) -> Result<()>,
) -> Result<()> {
    match container {
        Container::Database => Database::open(path)?.values(visit),
        Container::Dir => directory::values(path, Layout::Dir, visit),
        Container::Tree => directory::values(path, Layout::Tree, visit),
    }
}

/// `cannot open PATH: why`.
fn refused(path: &Path, why: impl Into<String>) -> StoreError {
    StoreError::io("open", path)(io::Error::other(why.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn told(path: &Path) -> String {
        recognise(path).unwrap_err().to_string()
    }

    #[test]
    fn what_is_no_place_of_ours_is_told_with_the_reason() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        assert!(told(&at("nowhere")).contains("nowhere"));
        fs::write(at("empty"), "").unwrap();
        assert!(told(&at("empty")).contains("empty, not an SQLite database"));
        fs::write(at("text"), [b'x'; 1024]).unwrap();
        assert!(told(&at("text")).contains("not an SQLite database"));
        assert!(told(Path::new("/dev/null")).contains("neither a file nor a directory"));
        fs::create_dir(at("bare")).unwrap();
        fs::write(at("bare/letter"), "dear").unwrap();
        assert!(told(&at("bare")).contains("no files named like 000001 or 00/00/01"));
    }

    #[test]
    fn a_database_without_the_table_is_told() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.db");
        for (table, fits) in [
            ("other(k INTEGER PRIMARY KEY, v BLOB)", false),
            ("kv(k TEXT PRIMARY KEY, v BLOB)", false),
            ("kv(k INTEGER PRIMARY KEY, w BLOB)", false),
            ("kv(k INTEGER PRIMARY KEY, v BLOB) WITHOUT ROWID", false),
            ("kv(k INTEGER PRIMARY KEY DESC, v BLOB)", false),
            ("kv(k INTEGER, x INTEGER, v BLOB, PRIMARY KEY(k,x))", false),
            ("kv(x INTEGER, k INTEGER, v BLOB, PRIMARY KEY(k,x))", false),
            ("kv(k INT PRIMARY KEY, v BLOB)", false),
            ("kv(k INTEGER, v BLOB, PRIMARY KEY(k))", true),
            ("kv(k INTEGER PRIMARY KEY, v BLOB UNIQUE)", true),
            ("kv(k INTEGER PRIMARY KEY, v BLOB)", true),
        ] {
            let _ = fs::remove_file(&path);
            let connection = rusqlite::Connection::open(&path).unwrap();
            connection
                .execute_batch(&format!("CREATE TABLE {table}"))
                .unwrap();
            drop(connection);
            assert_eq!(recognise(&path).is_ok(), fits, "{table}");
            if !fits {
                assert!(told(&path).contains("no table kv(k INTEGER"), "{table}");
            }
        }
    }
}
