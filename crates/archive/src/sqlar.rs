//! The container: the table `sqlar`, its rows, and the table of what lies beside the archive.

use crate::ArchiveError;
use crate::codec::is_possible;
use crate::error::{Doing, Fault, Refusal};
use crate::names::path_of;
use rusqlite::config::DbConfig;
use rusqlite::types::{FromSql, ToSql, ValueRef};
use rusqlite::{Connection, OpenFlags, OptionalExtension, Params, Row};
use rustix::fs::{Access, AtFlags, CWD, FileType, accessat};
use std::path::{Path, PathBuf};
use stowplan_model::format_bytes;

/// The table, column for column and word for word as the `sqlite3` shell makes it.
pub const TABLE: &str = "CREATE TABLE sqlar(
  name TEXT PRIMARY KEY,  -- name of the file
  mode INT,               -- access permissions
  mtime INT,              -- last modification time
  sz INT,                 -- original file size
  data BLOB               -- compressed content
)";
/// What lies in the directory beside the archive. A table of its own, so that whatever reads `sqlar`
/// finds there only what it can read.
pub const OUTSIDE_TABLE: &str = "CREATE TABLE sqlar_outside(
  name TEXT PRIMARY KEY,  -- name of the file, below ARCHIVE.d
  mode INT,               -- access permissions
  mtime INT,              -- last modification time
  sz INT,                 -- file size
  crc32 INT               -- CRC-32 of its bytes, as zlib has it
)";
/// What the bytes of values were, of whatever way they are stored. A table of its own for the same reason.
pub const CHECKSUM_TABLE: &str = "CREATE TABLE sqlar_crc32(
  name TEXT PRIMARY KEY,  -- name of the file in sqlar
  crc32 INT               -- CRC-32 of its bytes, as zlib has it
) WITHOUT ROWID";
/// Whoever changes a value by SQL takes its checksum away: it would be that of other bytes.
pub(crate) const CHECKSUM_TRIGGERS: &str = "
CREATE TRIGGER sqlar_crc32_insert AFTER INSERT ON sqlar BEGIN
  DELETE FROM sqlar_crc32 WHERE name = NEW.name;
END;
CREATE TRIGGER sqlar_crc32_update AFTER UPDATE OF name, sz, data ON sqlar BEGIN
  DELETE FROM sqlar_crc32 WHERE name = OLD.name;
END;
CREATE TRIGGER sqlar_crc32_rename AFTER UPDATE OF name ON sqlar BEGIN
  DELETE FROM sqlar_crc32 WHERE name = NEW.name;
END;
CREATE TRIGGER sqlar_crc32_delete AFTER DELETE ON sqlar BEGIN
  DELETE FROM sqlar_crc32 WHERE name = OLD.name;
END";
/// The largest file that goes into an archive, in bytes: SQLite's limit of a row (10^9 by default)
/// without room for the longest name. Other readers inflate into one value of that limit.
pub const VALUE_MAX: u64 = 1_000_000_000 - 8_192;
/// The longest target of a link, as Linux has it.
pub(crate) const LINK_MAX: u64 = 4_095;

/// The type bits of a mode.
pub(crate) const TYPE: u32 = 0o170_000;

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
}

impl Kind {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Directory => "directory",
            Self::Link => "link",
        }
    }

    /// What is of a type, or why nothing in an archive can be.
    pub(crate) fn of(kind: FileType) -> Result<Self, &'static str> {
        match kind {
            FileType::RegularFile => Ok(Self::File),
            FileType::Directory => Ok(Self::Directory),
            FileType::Symlink => Ok(Self::Link),
            FileType::Fifo => Err("it is a fifo"),
            FileType::Socket => Err("it is a socket"),
            FileType::CharacterDevice | FileType::BlockDevice => Err("it is a device"),
            FileType::Unknown => Err("what it is cannot be told"),
        }
    }
}

/// Where the bytes of an entry lie.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Location {
    /// In the directory beside the archive, under the same path, and not in it.
    pub outside: bool,
    /// The row of the table that says so.
    pub rowid: i64,
    /// Bytes as stored, deflated or not.
    pub stored: u64,
    /// CRC-32 of the bytes as they were before that, if the archive has it.
    pub crc32: Option<u32>,
}

/// One entry of an archive, checked: its path stays below any target, its size is possible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The name as it is stored. Untrusted: it may hold what steers a terminal.
    pub name: String,
    /// The path that it stands for; empty for the packed directory itself.
    pub path: String,
    /// What it is.
    pub kind: Kind,
    /// Permissions, with setuid, setgid and sticky bits, without the type.
    pub permissions: u32,
    /// Seconds since 1970; nothing if the archive does not say.
    pub mtime: Option<i64>,
    /// Bytes of the file, or of the link's target; 0 for a directory.
    pub size: u64,
    /// Where its bytes lie.
    pub place: Location,
}

impl Entry {
    /// Whether its bytes are a deflated stream.
    pub fn is_deflated(&self) -> bool {
        self.kind == Kind::File && self.place.stored != self.size
    }

    /// Whether a changed byte of it would be found: by its CRC-32, or by that which a deflated stream has.
    pub fn has_checksum(&self) -> bool {
        self.place.crc32.is_some() || self.size == 0 || self.is_deflated()
    }

    /// Of a row of one of the two tables.
    fn read(row: &Row<'_>, outside: bool) -> Result<Self, Refusal> {
        let Ok(ValueRef::Text(text)) = row.get_ref(1) else {
            let why = "its name is no text, or longer than a path can be";
            return Err(Refusal::new("?", why));
        };
        let name = std::str::from_utf8(text)
            .map_err(|_| Refusal::new(String::from_utf8_lossy(text), "its name is not UTF-8"))?;
        let entry = Self::checked(row, outside, name);
        entry.map_err(|why| Refusal::new(name, why))
    }

    fn checked(row: &Row<'_>, outside: bool, name: &str) -> Result<Self, &'static str> {
        let path = path_of(name)?;
        let mode = integer(row, 2).and_then(|mode| u32::try_from(mode).ok());
        let mode = mode.ok_or("its mode is no mode")?;
        let kind = match mode & TYPE {
            // Some writers keep the permissions only.
            0 => Kind::File,
            _ => Kind::of(FileType::from_raw_mode(mode))?,
        };
        let mut place = Location {
            outside,
            rowid: integer(row, 0).unwrap_or_default(),
            stored: integer(row, 5).map_or(0, i64::unsigned_abs),
            crc32: integer(row, 6).and_then(|crc32| u32::try_from(crc32).ok()),
        };
        let size = match kind {
            Kind::File if outside && place.crc32.is_none() => return Err("it has no checksum"),
            Kind::File => size_of_file(row, &mut place)?,
            _ if outside => return Err("only files lie beside an archive"),
            Kind::Directory => 0,
            Kind::Link if place.stored == 0 => return Err("it is a link to nothing"),
            Kind::Link if place.stored <= LINK_MAX => place.stored,
            Kind::Link => return Err("its target is longer than a path can be"),
        };
        if path.is_empty() && kind != Kind::Directory {
            return Err("it stands in the place of the directory itself");
        }
        Ok(Self {
            name: name.to_owned(),
            path,
            kind,
            permissions: mode & 0o7777,
            mtime: integer(row, 3),
            size,
            place,
        })
    }
}

fn integer(row: &Row<'_>, column: usize) -> Option<i64> {
    match row.get_ref(column) {
        Ok(ValueRef::Integer(number)) => Some(number),
        _ => None,
    }
}

fn size_of_file(row: &Row<'_>, place: &mut Location) -> Result<u64, &'static str> {
    let size = match row.get_ref(4) {
        Ok(ValueRef::Integer(size)) => u64::try_from(size).map_err(|_| "its size is negative")?,
        // The shell leaves none for what has no data.
        Ok(ValueRef::Null) => 0,
        _ => return Err("its size is no number"),
    };
    if place.outside {
        place.stored = size;
    }
    match place.stored {
        stored if size == stored => Ok(size),
        _ if size > VALUE_MAX => Err("its size is beyond SQLite's limit"),
        stored if size == 0 || !is_possible(stored, size) => {
            Err("its size cannot be that of its data")
        }
        _ => Ok(size),
    }
}

/// An opened archive, within one transaction that reads: what others write meanwhile is not seen.
#[derive(Debug)]
pub struct Archive {
    path: PathBuf,
    connection: Connection,
    has_outside: bool,
    has_checksums: bool,
}

/// A row, as an entry or as the reason why it is none.
pub(crate) type Listed = Result<Entry, Refusal>;
/// Who is shown rows.
pub(crate) type Visit<'v> = dyn FnMut(Listed) -> Result<(), ArchiveError> + 'v;

/// Which rows, and in which order: all, by rising name; directories, by rising name, or by falling name, so that
/// what is in one comes before it; of each so many rows one, by their numbers; a row; those of a name.
pub(crate) const BY_NAME: &str = "ORDER BY name";
pub(crate) const DIRECTORIES: &str = "WHERE mode & 61440 = 16384 ORDER BY name";
pub(crate) const DIRECTORIES_LAST: &str = "WHERE mode & 61440 = 16384 ORDER BY name DESC";
pub(crate) const DEALT: &str = "WHERE abs(rowid % ?1) = ?2 ORDER BY rowid";
pub(crate) const ROW: &str = "WHERE rowid = ?1";
pub(crate) const NAMED: &str = "WHERE name = ?1";

/// What is no number, or longer than any path, is not read at all: it may have a gigabyte.
const COLUMNS: &str = "rowid, iif(octet_length(name) <= 65536, name, NULL), iif(typeof(mode) = 'integer', mode, NULL),
    iif(typeof(mtime) = 'integer', mtime, NULL), iif(typeof(sz) IN ('integer', 'null'), sz, 'x')";
/// The checksum of a row, if it is a number.
const CHECKSUM: &str = "iif(typeof(crc32) = 'integer', crc32, NULL)";
/// A table that is neither of an archive nor of SQLite itself.
const OTHER_TABLE: &str = "SELECT name FROM sqlite_schema WHERE type = 'table'
    AND lower(name) NOT IN ('sqlar', 'sqlar_outside', 'sqlar_crc32') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' LIMIT 1";

impl Archive {
    /// Opens an archive for reading, and looks whether it is one.
    ///
    /// # Errors
    /// There is no such file, it is no database, it has no table `sqlar` of the form that SQLite
    /// Archives have, or it is locked.
    pub fn open(path: &Path) -> Result<Self, ArchiveError> {
        Self::open_with(path, "PRAGMA query_only = 1; BEGIN")
    }

    /// Opens an archive for changing it: nobody else may meanwhile.
    pub(crate) fn open_for_change(path: &Path) -> Result<Self, ArchiveError> {
        Self::open_with(path, "BEGIN IMMEDIATE")
    }

    /// Looks whether a file is an archive and nothing else: a database may have an archive among its tables.
    pub(crate) fn check(path: &Path) -> Result<(), ArchiveError> {
        let archive = Self::open(path)?;
        let other: Option<String> = archive
            .connection
            .query_row(OTHER_TABLE, [], |row| row.get(0))
            .optional()
            .doing("read", path)?;
        match other {
            None => Ok(()),
            Some(name) => Err(ArchiveError::invalid(format!(
                "{} has a table '{}' beside those of an SQLite Archive",
                path.display(),
                name.escape_debug()
            ))),
        }
    }

    /// As one who may write, though only `begin` says whether that is wanted: whoever may only read undoes no
    /// change that was cut off, and of a database in WAL mode leaves the log behind. Where the file may not be
    /// written SQLite only reads.
    fn open_with(path: &Path, begin: &str) -> Result<Self, ArchiveError> {
        let found = std::fs::metadata(path).doing("open", path)?;
        if !found.is_file() {
            let what = if found.is_dir() {
                "a directory"
            } else {
                "no regular file"
            };
            return Err(ArchiveError::invalid(format!(
                "{} is {what}, and no SQLite Archive",
                path.display()
            )));
        }
        // SQLite says of this no more than that it cannot open it.
        accessat(CWD, path, Access::READ_OK, AtFlags::EACCESS).doing("open", path)?;
        let connection = connect(path, OpenFlags::empty())?;
        connection.execute_batch(begin).doing("open", path)?;
        check_form(&connection, path)?;
        let has = |table, columns: &[&str], has_rowid| {
            has_form(&connection, table, columns, has_rowid).doing("open", path)
        };
        let outside = ["name", "mode", "mtime", "sz", "crc32"];
        Ok(Self {
            path: path.to_owned(),
            has_outside: has("sqlar_outside", &outside, true)?,
            has_checksums: has("sqlar_crc32", &["name", "crc32"], false)?,
            connection,
        })
    }

    /// Makes an empty one at a path that nothing has. Nothing protects it against an end in the middle:
    /// whoever makes it gives it its name when it is whole.
    pub(crate) fn create(path: &Path, page_size: u32) -> Result<Connection, ArchiveError> {
        let connection = connect(path, OpenFlags::SQLITE_OPEN_CREATE)?;
        let settings = format!(
            "PRAGMA page_size={page_size}; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;
             PRAGMA locking_mode=EXCLUSIVE; PRAGMA cache_size=-16384; BEGIN;
             {TABLE}; {CHECKSUM_TABLE}; {CHECKSUM_TRIGGERS};"
        );
        connection.execute_batch(&settings).doing("make", path)?;
        Ok(connection)
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether some of its files lie beside it.
    pub fn has_outside(&self) -> bool {
        self.has_outside
    }

    /// Whether it has checksums of what is in it.
    pub(crate) fn has_checksums(&self) -> bool {
        self.has_checksums
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The only value of the only row of a query.
    fn one<T: FromSql>(&self, sql: &str, values: impl Params) -> Result<T, ArchiveError> {
        let mut statement = self
            .connection
            .prepare_cached(sql)
            .doing("read", &self.path)?;
        let found = statement.query_row(values, |row| row.get(0));
        found.doing("read", &self.path)
    }

    /// How many entries it has, inside and beside it.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn count(&self) -> Result<u64, ArchiveError> {
        let outside = match self.has_outside {
            true => "(SELECT count(*) FROM sqlar_outside)",
            false => "0",
        };
        let count: i64 = self.one(&format!("SELECT count(*) + {outside} FROM sqlar"), [])?;
        Ok(count.unsigned_abs())
    }

    /// Bytes that its files have when they are unpacked, as far as rows say what can be true.
    ///
    /// # Errors
    /// It cannot be read, or its rows hold more bytes than its file: they share pages, and a few megabytes
    /// would become any number.
    pub(crate) fn unpacked_bytes(&self) -> Result<u64, ArchiveError> {
        let inside = format!(
            "SELECT total(sz) FILTER (WHERE typeof(sz) = 'integer' AND sz BETWEEN 0 AND
             min({VALUE_MAX}, 1032 * octet_length(data)) AND mode & 61440 = 16384 IS FALSE),
             total(octet_length(data)), (SELECT page_count * page_size FROM pragma_page_count, pragma_page_size)
             FROM sqlar"
        );
        let sums = self.connection.query_row(&inside, [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get::<_, i64>(2)?))
        });
        let (mut bytes, stored, pages): (f64, f64, i64) = sums.doing("read", &self.path)?;
        if stored > pages as f64 {
            return Err(ArchiveError::invalid(format!(
                "{}: its rows hold {} and its pages {}: it is damaged, or made to do harm; nothing was \
                 unpacked; 'stowplan verify' says more",
                self.path.display(),
                format_bytes(stored as u64),
                format_bytes(pages.unsigned_abs())
            )));
        }
        if self.has_outside {
            let outside =
                "SELECT total(sz) FROM sqlar_outside WHERE typeof(sz) = 'integer' AND sz > 0";
            bytes += self.one::<f64>(outside, [])?;
        }
        Ok(bytes as u64)
    }

    /// Visits rows in the archive, or of what lies beside it.
    pub(crate) fn rows(
        &self,
        outside: bool,
        tail: &str,
        values: &[&dyn ToSql],
        visit: &mut Visit<'_>,
    ) -> Result<(), ArchiveError> {
        let sum = match self.has_checksums {
            true => format!("(SELECT {CHECKSUM} FROM sqlar_crc32 AS c WHERE c.name = sqlar.name)"),
            false => "NULL".to_owned(),
        };
        let sql = match outside {
            true if !self.has_outside => return Ok(()),
            true => format!("SELECT {COLUMNS}, NULL, {CHECKSUM} FROM sqlar_outside {tail}"),
            false => format!("SELECT {COLUMNS}, octet_length(data), {sum} FROM sqlar {tail}"),
        };
        let mut statement = self
            .connection
            .prepare_cached(&sql)
            .doing("read", &self.path)?;
        let mut found = statement.query(values).doing("read", &self.path)?;
        while let Some(row) = found.next().doing("read", &self.path)? {
            visit(Entry::read(row, outside))?;
        }
        Ok(())
    }

    /// The rows of certain names, those in the archive first.
    pub(crate) fn named(&self, names: &[String]) -> Result<Vec<Listed>, ArchiveError> {
        let mut found = Vec::new();
        for outside in [false, true] {
            for name in names {
                self.rows(outside, NAMED, &[name], &mut |row| {
                    found.push(row);
                    Ok(())
                })?;
            }
        }
        Ok(found)
    }

    /// What `PRAGMA integrity_check` finds, line by line; nothing if all is well.
    pub(crate) fn integrity(&self) -> Result<Vec<String>, ArchiveError> {
        let mut statement = self
            .connection
            .prepare("PRAGMA integrity_check(20)")
            .doing("read", &self.path)?;
        let lines = statement.query_map([], |row| row.get::<_, String>(0));
        let lines: Result<Vec<String>, _> = lines.doing("read", &self.path)?.collect();
        let mut lines = lines.doing("read", &self.path)?;
        lines.retain(|line| line != "ok");
        Ok(lines)
    }

    /// Calls `use_bytes` with the bytes of a row as they are stored.
    pub(crate) fn with_stored<T>(
        &self,
        rowid: i64,
        use_bytes: impl FnOnce(&[u8]) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let failed = || Fault::sqlite(&self.path);
        let sql = "SELECT data FROM sqlar WHERE rowid = ?1";
        let mut statement = self.connection.prepare_cached(sql).map_err(failed())?;
        let mut rows = statement.query([rowid]).map_err(failed())?;
        let row = rows.next().map_err(failed())?;
        let row = row.ok_or_else(|| Fault::entry("it went away meanwhile"))?;
        match row.get_ref(0).map_err(failed())? {
            ValueRef::Blob(bytes) | ValueRef::Text(bytes) => use_bytes(bytes),
            ValueRef::Null => use_bytes(&[]),
            _ => Err(Fault::entry("its data is a number")),
        }
    }
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, ArchiveError> {
    let flags = flags | OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).doing("open", path)?;
    // What a schema that somebody else wrote may not do.
    for (option, value) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
    ] {
        connection
            .set_db_config(option, value)
            .doing("open", path)?;
    }
    Ok(connection)
}

/// Whether this is a table, with row ids or without, that has these columns, none of them computed.
fn has_form(
    connection: &Connection,
    table: &str,
    columns: &[&str],
    has_rowid: bool,
) -> rusqlite::Result<bool> {
    let sql = "SELECT lower(c.name), c.hidden FROM pragma_table_list(?1) AS t, pragma_table_xinfo(?1) AS c
               WHERE t.schema = 'main' AND t.type = 'table' AND t.wr <> ?2";
    let mut statement = connection.prepare(sql)?;
    let found = statement.query_map((table, has_rowid), |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?))
    });
    let found: Vec<(String, i64)> = found?.collect::<Result<_, _>>()?;
    let has = |name: &str| found.iter().any(|(column, _)| column == name);
    let is_stored = found.iter().all(|(_, hidden)| *hidden == 0);
    Ok(is_stored && columns.iter().all(|name| has(name)) && !has("rowid"))
}

/// An ordinary table with row ids and the columns of an archive.
fn check_form(connection: &Connection, path: &Path) -> Result<(), ArchiveError> {
    let has = |columns: &[&str]| has_form(connection, "sqlar", columns, true).doing("open", path);
    if has(&["name", "mode", "mtime", "sz", "data"])? {
        return Ok(());
    }
    let path = path.display();
    Err(ArchiveError::invalid(format!(
        "{path} is a database, but no SQLite Archive: it has no table sqlar with the columns name, mode, mtime, \
         sz and data"
    )))
}
