//! A database looked at from outside the measured path.

use super::refused;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use rustix::fs::{Access, AtFlags, CWD, accessat};
use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use stowplan_archive::foreign::{beside, is_write_ahead, look_at, open};
use stowplan_archive::parent_of;
use stowplan_stores::{FIND_TABLE, Key, Result, StoreError, sqlite_failed as failed};

/// Where the header counts the transactions that wrote the file itself (<https://sqlite.org/fileformat2.html>,
/// section 1.3.7).
const CHANGE_COUNTER_OFFSET: u64 = 24;

/// A database, open for reading.
#[derive(Debug)]
pub struct Database {
    /// As it was named, for messages.
    path: PathBuf,
    /// Behind any link: SQLite keeps its other files beside this one.
    file: PathBuf,
    /// Whether the file is written by way of a write-ahead log. Asked when it is opened: the file
    /// is not looked at while SQLite has it, see [`Snapshot`].
    write_ahead: bool,
    connection: Connection,
}

/// A database seen in one and the same state, whatever others write meanwhile.
///
/// Fields are dropped in this order: the connection, then what must outlive its locks.
#[derive(Debug)]
pub(crate) struct Snapshot {
    database: Database,
    _tidy: Tidy,
    /// The file, open beside SQLite. A process that closes a file loses all its locks on it (POSIX, `fcntl`), those
    /// of SQLite as well: so this is opened before the connection and closed after it.
    open: File,
    /// What it was when the connection saw it first, unless that may miss changes rightly: beside a
    /// write-ahead log it goes on seeing what it saw.
    was: Option<Mark>,
}

/// What a change of a database leaves on its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mark {
    /// SQLite counts transactions here, unless there is a log.
    change_counter: [u8; 4],
    length: u64,
    modified: (i64, i64),
    has_log: bool,
}

/// Removes the empty log and its index that reading a database in WAL mode leaves beside it.
#[derive(Debug)]
struct Tidy {
    file: PathBuf,
    /// Whether there was no log before.
    wanted: bool,
}

impl Database {
    /// Opens a database for reading. The file is not changed, and no other is left beside it,
    /// except the shared memory of a write-ahead log that lay there already.
    ///
    /// # Errors
    /// It is not there, is no database, or an interrupted write must be rolled back first.
    pub fn open(path: &Path) -> Result<Self> {
        let file = std::fs::canonicalize(path).map_err(StoreError::io("open", path))?;
        let write_ahead = writes_ahead(&file).unwrap_or(false);
        let connection =
            looked_at(look_at(&file, write_ahead)).map_err(|e| cannot_open(path, &file, &e))?;
        Ok(Self {
            path: path.to_owned(),
            file,
            write_ahead,
            connection,
        })
    }

    /// A pragma that is a number: `page_size` in bytes, `page_count` with free ones included, `freelist_count` of
    /// those that hold nothing.
    ///
    /// # Errors
    /// SQLite refuses; so for all that follow.
    pub fn number(&self, pragma: &str) -> Result<u64> {
        self.connection
            .pragma_query_value(None, pragma, |row| row.get::<_, i64>(0))
            .map(i64::unsigned_abs)
            .map_err(|e| failed(format!("read PRAGMA {pragma}"), &e))
    }

    /// `delete` or `wal`, the modes that a file remembers, as it was when the database was opened.
    #[must_use]
    pub fn journal_mode(&self) -> &'static str {
        if self.write_ahead { "wal" } else { "delete" }
    }

    /// For `map_err`: names what was done to it.
    fn told(&self, action: &str) -> impl Fn(rusqlite::Error) -> StoreError + use<> {
        let action = format!("{action} {}", self.path.display());
        move |error| failed(action.clone(), &error)
    }

    /// Up to `limit` faults, or the single line `ok`.
    ///
    /// # Errors
    /// The check cannot be run. What SQLite says of a damaged file is no error but a line.
    pub fn integrity_check(&self, limit: u32) -> Result<Vec<String>> {
        let mut lines = Vec::new();
        let ended = self.each(&format!("PRAGMA integrity_check({limit})"), |row| {
            lines.push(row.get::<_, String>(0)?);
            Ok(())
        });
        match ended {
            Ok(()) => Ok(lines),
            Err(error) if is_corrupt(&error) => {
                lines.push(error.to_string());
                Ok(lines)
            }
            Err(error) => Err(failed("run PRAGMA integrity_check", &error)),
        }
    }

    /// Calls `visit(key, bytes)` for every value, by rising key, and reads none.
    ///
    /// # Errors
    /// A value that is neither a blob nor text, a key below 1, or SQLite refuses; and whatever
    /// `visit` returns.
    pub fn values(&self, visit: &mut dyn FnMut(u64, u64) -> Result<()>) -> Result<()> {
        // As `typeof` it looks at a record's header only: no overflow page is read.
        self.each_value("octet_length(v)", |key, bytes| {
            visit(key, bytes.as_i64().unwrap_or(0).unsigned_abs())
        })
    }

    /// Calls `visit(key, value)` for each value, by rising key.
    ///
    /// # Errors
    /// As [`Self::values`].
    pub fn scan<E: From<StoreError>>(
        &self,
        mut visit: impl FnMut(u64, &[u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        self.each_value("v", |key, value| match value {
            ValueRef::Blob(bytes) | ValueRef::Text(bytes) => visit(key, bytes),
            _ => visit(key, &[]),
        })
    }

    /// Calls `visit` with each key, by rising key, and what is asked about its value, once that is one that a file
    /// can hold.
    fn each_value<E: From<StoreError>>(
        &self,
        what: &str,
        mut visit: impl FnMut(u64, ValueRef<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let told = self.told("read the values of");
        let encoding = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
        let encoding = self
            .connection
            .pragma_query_value(None, "encoding", encoding);
        let utf8 = encoding.map_err(&told)? == "UTF-8";
        let sql = format!("SELECT k, typeof(v), {what} FROM kv ORDER BY k");
        let mut statement = self.connection.prepare(&sql).map_err(&told)?;
        let mut rows = statement.query([]).map_err(&told)?;
        let mut last = 0;
        while let Some(row) = rows.next().map_err(&told)? {
            let key: i64 = row.get(0).map_err(&told)?;
            check_rises(key, &mut last)?;
            let kind = row.get_ref(1).and_then(|kind| Ok(kind.as_str()?));
            check_value(key, kind.map_err(&told)?, utf8)?;
            visit(key.unsigned_abs(), row.get_ref(2).map_err(&told)?)?;
        }
        Ok(())
    }

    /// Keeps what is seen from now on as it is, whatever others write.
    fn hold(&self) -> Result<()> {
        // Only the first read takes the lock, or settles on a state of the log.
        self.connection
            .execute_batch("BEGIN; SELECT 1 FROM kv LIMIT 1")
            .map_err(self.told("read"))
    }

    /// The number of values.
    ///
    /// # Errors
    /// As [`Self::number`].
    pub fn count(&self) -> Result<u64> {
        self.connection
            .query_row("SELECT count(*) FROM kv", [], |row| row.get::<_, i64>(0))
            .map(i64::unsigned_abs)
            .map_err(self.told("count the values of"))
    }

    /// Rewrites the database without its free pages (`VACUUM`), and opens it again.
    ///
    /// # Errors
    /// No room: it needs up to twice the size of the database beside it. Or SQLite refuses.
    pub fn vacuum(&mut self) -> Result<()> {
        let directory = parent_of(&self.file).to_owned();
        self.write("vacuum", |connection| {
            // On the same disk, not in the system's temporary directory, which may be small.
            connection.pragma_update(None, "temp_store_directory", directory.to_string_lossy())?;
            connection.execute_batch("VACUUM")
        })
    }

    /// Changes the journal mode that the file remembers, and opens it again.
    ///
    /// # Errors
    /// Another program uses the database, or SQLite refuses.
    pub fn set_journal_mode(&mut self, mode: &str) -> Result<()> {
        let became = self.write("change the journal mode of", |connection| {
            connection
                .pragma_update_and_check(None, "journal_mode", mode, |row| row.get::<_, String>(0))
        })?;
        if became.eq_ignore_ascii_case(mode) {
            return Ok(());
        }
        Err(StoreError::engine(
            format!("set the journal mode of {} to {mode}", self.path.display()),
            format!("it stays {became}"),
        ))
    }

    /// Runs `work` on a connection that may write, while the one that reads is closed: it would
    /// hold a lock against the other.
    fn write<T>(
        &mut self,
        action: &str,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T> {
        let told = self.told(action);
        self.connection = Connection::open_in_memory().map_err(&told)?;
        let done = open(&self.file, false, OpenFlags::SQLITE_OPEN_READ_WRITE)
            .and_then(|connection| {
                let done = work(&connection)?;
                connection.close().map_err(|(_, error)| error)?;
                Ok(done)
            })
            .map_err(told);
        self.write_ahead = writes_ahead(&self.file).unwrap_or(false);
        self.connection = looked_at(look_at(&self.file, self.write_ahead))
            .map_err(|e| cannot_open(&self.path, &self.file, &e))?;
        done
    }

    fn each(
        &self,
        sql: &str,
        mut visit: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            visit(row)?;
        }
        Ok(())
    }
}

impl Snapshot {
    /// Opens a connection, and has it hold what it sees first.
    ///
    /// # Errors
    /// As [`Database::open`].
    pub(crate) fn take(path: &Path) -> Result<Self> {
        let file = std::fs::canonicalize(path).map_err(StoreError::io("open", path))?;
        // Where no log can be made there is none to share, and nothing else can be read.
        let writable = accessat(CWD, parent_of(&file), Access::WRITE_OK, AtFlags::EACCESS);
        Self::take_from(path, file, writable.is_ok())
    }

    fn take_from(path: &Path, file: PathBuf, writable: bool) -> Result<Self> {
        let held = File::open(&file).map_err(StoreError::io("open", path))?;
        let write_ahead = is_write_ahead(&held).unwrap_or(false);
        let rests = write_ahead && !beside(&file, "-wal").exists();
        let unchanging = rests && !writable;
        let tidy = Tidy {
            file: file.clone(),
            wanted: rests && !unchanging,
        };
        // Without locks, from before the first look on; with them, from when they are held.
        let before = mark(&held, path, &file)?;
        let database = Database {
            path: path.to_owned(),
            write_ahead,
            connection: looked_at(open(&file, unchanging, OpenFlags::SQLITE_OPEN_READ_ONLY))
                .map_err(|e| cannot_open(path, &file, &e))?,
            file,
        };
        database.hold()?;
        let was = match write_ahead {
            true => unchanging.then_some(before),
            false => Some(mark(&held, path, &database.file)?),
        };
        Ok(Self {
            database,
            _tidy: tidy,
            open: held,
            was,
        })
    }

    /// What it sees.
    pub(crate) fn database(&self) -> &Database {
        &self.database
    }

    /// Whether the file is still the one that was read first. Locks see to that, but there are
    /// programs that do not ask for them, and places where there are none.
    ///
    /// # Errors
    /// It was changed, or cannot be looked at.
    pub(crate) fn check_unchanged(&self) -> Result<()> {
        let Database { path, file, .. } = &self.database;
        match self.was {
            Some(was) if was != mark(&self.open, path, file)? => Err(StoreError::engine(
                format!("read {}", path.display()),
                "it was changed meanwhile; try again while nobody writes",
            )),
            _ => Ok(()),
        }
    }
}

/// What a database's open file is marked by now.
fn mark(open: &File, path: &Path, file: &Path) -> Result<Mark> {
    let mut change_counter = [0; 4];
    open.read_exact_at(&mut change_counter, CHANGE_COUNTER_OFFSET)
        .map_err(StoreError::io("read", path))?;
    // By its name, for another file may have it by now.
    let metadata = std::fs::metadata(file).map_err(StoreError::io("read", path))?;
    Ok(Mark {
        change_counter,
        length: metadata.len(),
        modified: (metadata.mtime(), metadata.mtime_nsec()),
        has_log: beside(file, "-wal").exists(),
    })
}

impl Drop for Tidy {
    /// By way of SQLite, which removes a log only when it has the database for itself: nobody's
    /// log is taken away. What cannot be removed stays, and harms nobody.
    fn drop(&mut self) {
        let log = beside(&self.file, "-wal");
        if self.wanted && std::fs::metadata(log).is_ok_and(|log| log.len() == 0) {
            let _ = looked_at(open(&self.file, false, OpenFlags::SQLITE_OPEN_READ_WRITE));
        }
    }
}

/// Whether a database has the table `kv`.
///
/// # Errors
/// It has not, or cannot be read.
pub(super) fn check_table(path: &Path) -> Result<()> {
    let database = Database::open(path)?;
    let found = database.connection.prepare(FIND_TABLE);
    let found = found.and_then(|mut statement| statement.exists([]));
    if found.map_err(|e| cannot_open(path, &database.file, &e))? {
        return Ok(());
    }
    Err(refused(
        path,
        "it has no table kv(k INTEGER PRIMARY KEY, v BLOB)",
    ))
}

/// What SQLite may put beside a database: its write-ahead log, its journal, and the index of the
/// log. SQLite applies the first two to whatever database lies beside them.
pub(crate) fn companions(file: &Path) -> [PathBuf; 3] {
    ["-wal", "-journal", "-shm"].map(|suffix| beside(file, suffix))
}

/// A database that was opened, once something was read of it: an unfinished write would only show later.
fn looked_at(opened: rusqlite::Result<Connection>) -> rusqlite::Result<Connection> {
    let connection = opened?;
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(connection)
}

/// Whether the database at a path is written by way of a write-ahead log: see [`is_write_ahead`].
///
/// # Errors
/// It cannot be read, or has no header.
pub(crate) fn writes_ahead(path: &Path) -> Result<bool> {
    let file = File::open(path).and_then(|file| is_write_ahead(&file));
    file.map_err(StoreError::io("read", path))
}

fn is_corrupt(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
    )
}

/// `path` is the name that the file goes by in messages.
fn cannot_open(path: &Path, file: &Path, error: &rusqlite::Error) -> StoreError {
    let readable = File::open(file);
    match (error.sqlite_error_code(), readable) {
        (_, Err(reason)) => StoreError::io("open", path)(reason),
        (Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen), _)
            if beside(file, "-journal").exists() =>
        {
            refused(
                path,
                "a write to it was interrupted, and is to be undone first; \
                 any program that may write does so, such as sqlite3",
            )
        }
        _ => failed(format!("open {}", path.display()), error),
    }
}

/// SQLite takes a table's order for granted: of a damaged one it gives keys as they lie there, some
/// twice. A key below 1 is left to [`check_value`].
fn check_rises(key: i64, last: &mut i64) -> Result<()> {
    if key >= 1 && key <= *last {
        let key = Key(key.unsigned_abs());
        let detail = format!("it stands behind key {last}, so the database is damaged");
        return Err(StoreError::damaged(key, detail));
    }
    *last = key;
    Ok(())
}

/// Whether a value is one that a file can hold.
fn check_value(key: i64, kind: &str, utf8: bool) -> Result<()> {
    let damaged = |detail: String| Err(StoreError::damaged(Key(key.unsigned_abs()), detail));
    match kind {
        _ if key < 1 => Err(StoreError::engine(
            format!("use the key {key}"),
            "keys begin at 1",
        )),
        "blob" => Ok(()),
        "text" if utf8 => Ok(()),
        "text" => damaged("it is text in UTF-16; store it as a blob".to_owned()),
        _ => damaged(format!("it is of type {kind}, not a blob")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::{self, Container};

    #[test]
    fn keys_that_do_not_rise_are_told() {
        let place = Place::with("INSERT INTO kv VALUES(1, x'0102'), (2, x'0304'), (3, x'0506');");
        let whole = std::fs::read(place.path()).unwrap();
        // A cell is the bytes of its payload, its key, and the record with its header of 3 bytes.
        let third = [5, 3, 3, 0, 16, 5, 6];
        let at = whole.windows(7).position(|cell| cell == third).unwrap();
        for wrong in [1, 2] {
            let mut damaged = whole.clone();
            damaged[at + 1] = wrong;
            std::fs::write(place.path(), damaged).unwrap();
            let database = Database::open(&place.path()).unwrap();
            let listed = database.values(&mut |_, _| Ok(())).unwrap_err();
            let read = database.scan::<StoreError>(|_, _| Ok(()));
            for told in [listed, read.unwrap_err()] {
                let told = told.to_string();
                assert!(
                    told.contains("behind key 2, so the database is damaged"),
                    "{told}"
                );
            }
        }
    }

    struct Place(tempfile::TempDir);

    impl Place {
        /// A database in a directory of its own, made by `sql` behind the table.
        fn with(sql: &str) -> Self {
            let place = Self(tempfile::tempdir().unwrap());
            let table = "CREATE TABLE kv(k INTEGER PRIMARY KEY, v BLOB);";
            let connection = Connection::open(place.path()).unwrap();
            connection.execute_batch(&format!("{table}{sql}")).unwrap();
            connection.close().unwrap();
            place
        }

        fn path(&self) -> PathBuf {
            self.0.path().join("a?b#c%41.db")
        }

        fn names(&self) -> usize {
            std::fs::read_dir(self.0.path()).unwrap().count()
        }

        fn values(&self) -> Result<Vec<(u64, u64)>> {
            let mut found = Vec::new();
            inspect::values(&self.path(), Container::Database, &mut |key, bytes| {
                found.push((key, bytes));
                Ok(())
            })?;
            Ok(found)
        }
    }

    #[test]
    fn values_are_listed_and_scanned_by_rising_key_with_their_bytes() {
        let place = Place::with(
            "INSERT INTO kv VALUES(7,zeroblob(100000)),(2,x''),(3,'grün'),(9000000000,x'00ff')",
        );
        let expected = [(2, 0), (3, 5), (7, 100_000), (9_000_000_000, 2)];
        assert_eq!(place.values().unwrap(), expected);
        let database = Database::open(&place.path()).unwrap();
        assert_eq!(database.count().unwrap(), 4);
        let mut scanned = Vec::new();
        let scan = database.scan(|key, value| {
            scanned.push((key, value.to_vec()));
            Ok::<_, StoreError>(())
        });
        scan.unwrap();
        let bytes = |(key, value): &(u64, Vec<u8>)| (*key, value.len() as u64);
        assert_eq!(Vec::from_iter(scanned.iter().map(bytes)), expected);
        assert_eq!(scanned[1].1, "grün".as_bytes());
        assert_eq!(
            inspect::recognise(&place.path()).unwrap().name(),
            "database"
        );
    }

    #[test]
    fn what_no_file_can_hold_is_refused_by_its_key_in_a_scan_too() {
        for (row, named) in [
            ("(5,NULL)", "value 5"),
            ("(6,1.5)", "value 6"),
            ("(6,7)", "value 6"),
            ("(-3,x'00')", "key -3"),
            ("(0,x'00')", "key 0"),
        ] {
            let place = Place::with(&format!("INSERT INTO kv VALUES{row}"));
            let error = place.values().unwrap_err().to_string();
            assert!(error.contains(named), "{error}");
            let database = Database::open(&place.path()).unwrap();
            let scanned = database.scan(|_, _| Ok::<_, StoreError>(()));
            assert_eq!(scanned.unwrap_err().to_string(), error);
        }
    }

    #[test]
    fn text_in_utf_16_is_refused_for_its_length_is_another() {
        let place = Place(tempfile::tempdir().unwrap());
        let connection = Connection::open(place.path()).unwrap();
        connection
            .execute_batch(
                "PRAGMA encoding='UTF-16le';
                 CREATE TABLE kv(k INTEGER PRIMARY KEY, v BLOB); INSERT INTO kv VALUES(1,'abc')",
            )
            .unwrap();
        let error = place.values().unwrap_err().to_string();
        assert!(error.contains("UTF-16"), "{error}");
    }

    #[test]
    fn looking_at_a_database_in_wal_mode_changes_nothing_and_leaves_nothing() {
        let place = Place::with("PRAGMA journal_mode=wal; INSERT INTO kv VALUES(1,zeroblob(10))");
        assert_eq!(place.names(), 1, "the log is gone with its connection");
        let before = std::fs::read(place.path()).unwrap();
        let database = Database::open(&place.path()).unwrap();
        assert_eq!(database.journal_mode(), "wal");
        assert_eq!(database.integrity_check(10).unwrap(), ["ok"]);
        drop(database);
        assert_eq!(place.names(), 1);
        assert_eq!(std::fs::read(place.path()).unwrap(), before);
    }

    #[test]
    fn what_stands_in_a_write_ahead_log_only_is_seen() {
        let place = Place::with("PRAGMA journal_mode=wal");
        let writer = Connection::open(place.path()).unwrap();
        writer
            .execute("INSERT INTO kv VALUES(1,zeroblob(10))", [])
            .unwrap();
        assert_eq!(place.values().unwrap(), [(1, 10)]);
    }

    #[test]
    fn behind_a_link_the_write_ahead_log_is_that_of_the_database() {
        let place = Place::with("PRAGMA journal_mode=wal");
        let writer = Connection::open(place.path()).unwrap();
        writer
            .execute("INSERT INTO kv VALUES(1,zeroblob(10))", [])
            .unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let link = elsewhere.path().join("link.db");
        std::os::unix::fs::symlink(place.path(), &link).unwrap();
        assert_eq!(inspect::recognise(&link).unwrap(), Container::Database);
        let mut keys = Vec::new();
        inspect::values(&link, Container::Database, &mut |key, _| {
            keys.push(key);
            Ok(())
        })
        .unwrap();
        assert_eq!(keys, [1]);
    }

    fn snapshot(place: &Place, writable: bool) -> Snapshot {
        let file = std::fs::canonicalize(place.path()).unwrap();
        Snapshot::take_from(&place.path(), file, writable).unwrap()
    }

    fn lengths(snapshot: &Snapshot) -> Vec<usize> {
        let mut lengths = Vec::new();
        let scanned = snapshot.database().scan(|_, value| {
            lengths.push(value.len());
            Ok::<_, StoreError>(())
        });
        scanned.unwrap();
        lengths
    }

    #[test]
    fn a_database_in_wal_mode_at_rest_is_seen_as_it_was_and_left_without_a_log() {
        let place = Place::with("PRAGMA journal_mode=wal; INSERT INTO kv VALUES(1,zeroblob(10))");
        let snapshot = snapshot(&place, true);
        let writer = Connection::open(place.path()).unwrap();
        writer
            .execute_batch("UPDATE kv SET v=zeroblob(20); PRAGMA wal_checkpoint(PASSIVE)")
            .unwrap();
        drop(writer);
        assert_eq!(lengths(&snapshot), [10]);
        snapshot.check_unchanged().unwrap();
        drop(snapshot);
        let writer = Connection::open(place.path()).unwrap();
        writer.execute("UPDATE kv SET v=zeroblob(30)", []).unwrap();
        writer.close().unwrap();
        assert_eq!((place.values().unwrap(), place.names()), (vec![(1, 30)], 1));
        drop(Snapshot::take(&place.path()).unwrap());
        assert_eq!(place.names(), 1, "neither log nor index is left");
    }

    #[test]
    fn a_log_that_lay_there_before_stays() {
        let place = Place::with("PRAGMA journal_mode=wal");
        let writer = Connection::open(place.path()).unwrap();
        writer
            .execute_batch("INSERT INTO kv VALUES(1,zeroblob(10)); PRAGMA wal_checkpoint(TRUNCATE)")
            .unwrap();
        drop(Snapshot::take(&place.path()).unwrap());
        assert_eq!(place.names(), 3);
        writer.execute("UPDATE kv SET v=zeroblob(20)", []).unwrap();
        assert_eq!(place.values().unwrap(), [(1, 20)]);
    }

    #[test]
    fn a_change_of_what_was_taken_for_unchanging_is_told() {
        let place = Place::with("PRAGMA journal_mode=wal; INSERT INTO kv VALUES(1,zeroblob(10))");
        let snapshot = snapshot(&place, false);
        assert_eq!(place.names(), 1, "without locks there is no log");
        snapshot.check_unchanged().unwrap();
        let writer = Connection::open(place.path()).unwrap();
        writer.execute("UPDATE kv SET v=zeroblob(20)", []).unwrap();
        let told = snapshot.check_unchanged().unwrap_err().to_string();
        assert!(told.contains("changed meanwhile"), "{told}");
        writer.close().unwrap();
        assert!(snapshot.check_unchanged().is_err(), "the log is gone again");
    }

    #[test]
    fn a_change_by_one_who_asks_for_no_lock_is_told() {
        let place = Place::with("INSERT INTO kv VALUES(1,zeroblob(10))");
        let snapshot = snapshot(&place, true);
        snapshot.check_unchanged().unwrap();
        // Opened and kept: closing it would give up the locks of this process.
        let file = std::fs::OpenOptions::new()
            .write(true)
            .open(place.path())
            .unwrap();
        file.write_all_at(&99u32.to_be_bytes(), CHANGE_COUNTER_OFFSET)
            .unwrap();
        assert!(snapshot.check_unchanged().is_err());
    }

    #[test]
    fn a_vacuum_frees_the_free_pages() {
        let place = Place::with(
            "INSERT INTO kv VALUES(1,zeroblob(1000000)),(2,x'01'); DELETE FROM kv WHERE k=1",
        );
        let mut database = Database::open(&place.path()).unwrap();
        assert!(database.number("freelist_count").unwrap() > 200);
        database.vacuum().unwrap();
        assert_eq!(database.number("freelist_count").unwrap(), 0);
        assert_eq!(database.number("page_count").unwrap(), 2);
        assert_eq!(place.values().unwrap(), [(2, 1)]);
    }

    #[test]
    fn the_journal_mode_is_changed_unless_someone_else_has_the_database() {
        let place = Place::with("");
        let mut database = Database::open(&place.path()).unwrap();
        database.set_journal_mode("wal").unwrap();
        assert_eq!(database.journal_mode(), "wal");
        database.set_journal_mode("delete").unwrap();
        assert_eq!(database.journal_mode(), "delete");
        assert_eq!(place.names(), 1);
    }

    #[test]
    fn damage_is_told_by_lines_not_by_an_error() {
        let place = Place::with(
            "WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM c WHERE x<200)
             INSERT INTO kv SELECT x, zeroblob(5000) FROM c",
        );
        let file = std::fs::OpenOptions::new()
            .write(true)
            .open(place.path())
            .unwrap();
        file.write_all_at(&[0xa5; 8192], 40_960).unwrap();
        let database = Database::open(&place.path()).unwrap();
        let lines = database.integrity_check(10).unwrap();
        assert!(
            (1..=10).contains(&lines.len()) && lines != ["ok"],
            "{lines:?}"
        );
    }

    #[test]
    fn an_interrupted_write_is_told_and_not_undone() {
        let place = Place::with("INSERT INTO kv VALUES(1,zeroblob(100))");
        let copy = Place(tempfile::tempdir().unwrap());
        let writer = Connection::open(place.path()).unwrap();
        writer
            .execute_batch(
                "PRAGMA cache_size=1; BEGIN; UPDATE kv SET v=zeroblob(1000000) WHERE k=1",
            )
            .unwrap();
        for suffix in ["", "-journal"] {
            std::fs::copy(beside(&place.path(), suffix), beside(&copy.path(), suffix)).unwrap();
        }
        let error = Database::open(&copy.path()).unwrap_err().to_string();
        assert!(error.contains("interrupted"), "{error}");
        assert_eq!(copy.names(), 2);
    }
}
